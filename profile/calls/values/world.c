#include "profile/calls/values/world.h"

#include "profile/calls/values/python_scan.h"

enum { MOST_PARTS = 32 };

static const struct py_value UNKNOWN = { .kind = PY_UNKNOWN, .object = OBJECT_NONE };
static const struct py_value NONE = { .kind = PY_NONE,
                                      .type = { "NoneType", 8 },
                                      .object = OBJECT_NONE };
static const struct py_value MISSING = { .kind = PY_MISSING, .object = OBJECT_NONE };

/* Returns the offset of the bracket that the last one closes, or text.n. */
static size_t last_bracket(struct str text)
{
    struct python_scan scan = { text };
    size_t open[MOST_PARTS], ret = text.n;
    while (python_scan_next(&scan)) {
        if (scan.depth >= MOST_PARTS)
            return text.n;
        if (python_is_bracket(scan.c, true))
            open[scan.depth] = scan.at;
        else if (scan.closes)
            ret = open[scan.depth + 1];
    }
    return scan.depth || scan.unended ? text.n : ret;
}

static bool is_quoted(struct str text)
{
    return text.n >= 2 && (text.p[0] == '\'' || text.p[0] == '"') &&
           text.p[text.n - 1] == text.p[0];
}

static struct str between(struct str text, size_t from, size_t to)
{
    return str_from(str_first(text, to), from);
}

/* Splits the last part off. *parent and *key are texts of sources, "" where there is none. */
static struct source_path split_path(struct str source, struct str *parent, struct str *key)
{
    static const struct str KEYS = { "list(dict.keys(", 15 }, ITEM = { "dict.__getitem__(", 17 };
    struct source_path ret = { .step = PATH_ROOT, .parent = INTERN_NONE, .key = INTERN_NONE };
    *parent = *key = STR("");
    size_t open = source.n && source.p[source.n - 1] == ']' ? last_bracket(source) : source.n;
    size_t name = source.n;
    while (name && is_word_char(source.p[name - 1]))
        name--;
    if (open < source.n) {
        struct str inside = between(source, open + 1, source.n - 1),
                   before = str_first(source, open);
        if (str_is(before, "L") || str_is(before, "G"))
            return ret;
        if (is_quoted(inside)) {
            ret.step = PATH_KEY;
            ret.name = between(inside, 1, inside.n - 1);
            *parent = before;
        } else if (str_to_u64(inside, &ret.index)) {
            bool keys = str_starts(before, KEYS) && str_ends(before, STR("))"));
            ret.step = keys ? PATH_NTH_KEY : PATH_INDEX;
            *parent = keys ? between(before, KEYS.n, before.n - 2) : before;
        }
    } else if (str_starts(source, ITEM) && source.p[source.n - 1] == ')') {
        size_t comma = source.n;
        while (comma > ITEM.n && source.p[comma - 1] != ',')
            comma--;
        struct str rest = str_trim(between(source, comma, source.n - 1));
        *parent = comma > ITEM.n ? between(source, ITEM.n, comma - 1) : STR("");
        /* A comma inside of Q's own call would split it elsewhere. */
        ret.step = parent->n && str_find(rest, STR("(")) == rest.n ? PATH_GETITEM : PATH_ROOT;
        *key = rest;
        if (str_starts(rest, STR("list(dict.keys(")))
            ret.step = PATH_GETITEM;
        if (ret.step == PATH_ROOT)
            *parent = *key = STR("");
    } else if (name && name < source.n && source.p[name - 1] == '.') {
        ret.step = PATH_ATTR;
        ret.name = str_from(source, name);
        ret.training = str_is(ret.name, "training");
        *parent = str_first(source, name - 1);
    }
    return ret;
}

/* A source that was not split yet is its own parent. */
static bool is_split(const struct world *world, uint32_t source)
{
    return source < world->paths.n && world->paths.v[source].parent != source;
}

static uint32_t number_source(struct world *world, struct str source, unsigned parts)
{
    struct str parent, key;
    uint32_t id = intern(world->sources, source);
    if (id == INTERN_NONE)
        return INTERN_NONE;
    while (world->paths.n <= id) {
        struct source_path unsplit = { .parent = (uint32_t)world->paths.n };
        if (!vec_push(&world->paths, unsplit) || !vec_push(&world->values, UNKNOWN) ||
            !vec_push(&world->given, 0) || !vec_push(&world->known, 0))
            return INTERN_NONE;
    }
    if (is_split(world, id))
        return id;
    struct source_path path = split_path(intern_text(world->sources, id), &parent, &key);
    if (parts == MOST_PARTS)
        path.step = PATH_ROOT;
    if (path.step != PATH_ROOT) {
        path.parent = number_source(world, parent, parts + 1);
        if (path.parent == INTERN_NONE)
            return INTERN_NONE;
    }
    if (path.step == PATH_GETITEM) {
        path.key = number_source(world, key, parts + 1);
        if (path.key == INTERN_NONE)
            return INTERN_NONE;
    }
    world->paths.v[id] = path;
    return id;
}

uint32_t world_source(struct world *world, struct str source)
{
    return number_source(world, source, 0);
}

bool world_enter(struct world *world, const struct program_call *call)
{
    world->now++;
    world->module = call->module;
    world->self = number_source(world, STR("L['self']"), 0);
    world->training = number_source(world, STR("L['self'].training"), 0);
    if (world->self == INTERN_NONE || world->training == INTERN_NONE)
        return false;
    for (uint32_t i = 0; i < call->n_values; i++) {
        uint32_t source = call->values[i].source;
        if (!is_split(world, source) &&
            number_source(world, intern_text(world->sources, source), 0) == INTERN_NONE)
            return false;
        world->values.v[source] = program_call_value(call, i);
        world->given.v[source] = world->known.v[source] = world->now;
    }
    return true;
}

static struct py_value item_of(const struct py_value *dict, struct str key)
{
    for (uint32_t i = 0; i < dict->n; i++)
        if (str_eq(dict->keys[i], key))
            return UNKNOWN;
    return MISSING;
}

static uint32_t fact_hash(int64_t module, uint32_t source)
{
    return ((uint32_t)module * 2654435761u) ^ (source * 2246822519u);
}

static const struct module_fact *find_fact(const struct world *world, uint32_t source)
{
    uint32_t row, hash = fact_hash(world->module, source);
    const struct hash_index *index = &world->fact_index;
    for (size_t at = hash_index_start(index, hash); hash_index_next(index, hash, &at, &row);)
        if (world->facts.v[row].module == world->module && world->facts.v[row].source == source)
            return &world->facts.v[row];
    return NULL;
}

/* Modules inside of the one that is called train as it does: train() and eval() set them all. */
static bool is_training(const struct world *world, const struct source_path *path)
{
    return path->training && path->parent != world->self && world_of_module(world, path->parent);
}

/* Returns what a parent that is given says of a part that is not. */
static struct py_value derive(struct world *world, const struct source_path *path)
{
    const struct py_value *parent = world_value(world, path->parent), *key;
    switch (parent->kind) {
    case PY_UNKNOWN: return UNKNOWN;
    case PY_MISSING: return MISSING;
    case PY_NONE: return path->step == PATH_INDEX || path->step == PATH_ATTR ? MISSING : UNKNOWN;
    case PY_TENSOR:
        return path->step == PATH_ATTR && parent->tensor->plain && str_is(path->name, "_base")
                   ? NONE
                   : UNKNOWN;
    case PY_LIST: return path->step == PATH_INDEX && path->index >= parent->n ? MISSING : UNKNOWN;
    case PY_DICT: break;
    default: return UNKNOWN;
    }
    switch (path->step) {
    case PATH_KEY: return item_of(parent, path->name);
    case PATH_GETITEM:
        key = world_value(world, path->key);
        return key->kind == PY_STR ? item_of(parent, key->text) : UNKNOWN;
    case PATH_NTH_KEY:
        if (path->index >= parent->n)
            return MISSING;
        return (struct py_value){ .kind = PY_STR,
                                  .type = STR("str"),
                                  .text = parent->keys[path->index],
                                  .object = OBJECT_NONE };
    default: return UNKNOWN;
    }
}

const struct py_value *world_derive_value(struct world *world, uint32_t source)
{
    struct py_value *value = &world->values.v[source];
    const struct source_path *path = &world->paths.v[source];
    const struct module_fact *fact = NULL;
    bool unknown = path->step == PATH_ROOT ||
                   (!path->training && world_value(world, path->parent)->kind == PY_UNKNOWN);
    if (!unknown) {
        *value =
            is_training(world, path) ? *world_value(world, world->training) : derive(world, path);
        unknown = value->kind == PY_UNKNOWN;
    }
    if (unknown && path->has_facts && world->module >= 0)
        fact = find_fact(world, source);
    if (unknown)
        *value = fact ? fact->value : UNKNOWN;
    world->known.v[source] = world->now;
    return value;
}

/* ---- Facts ---- */

bool world_of_module(const struct world *world, uint32_t source)
{
    while (world->paths.v[source].step != PATH_ROOT)
        source = world->paths.v[source].parent;
    return source == world->self;
}

bool world_learn(struct world *world, uint32_t source, const struct py_value *value)
{
    if (world->module < 0 || find_fact(world, source))
        return true;
    struct module_fact fact = { world->module, source, *value };
    if (!hash_index_reserve(&world->fact_index, 1) || !vec_push(&world->facts, fact))
        return false;
    hash_index_add(&world->fact_index, fact_hash(world->module, source),
                   (uint32_t)world->facts.n - 1);
    world->paths.v[source].has_facts = true;
    world->known.v[source] = 0;
    return true;
}

void world_forget(struct world *world)
{
    world->facts.n = 0;
    hash_index_clear(&world->fact_index);
    world->now++;
}

void world_release(struct world *world)
{
    vec_release(&world->paths);
    vec_release(&world->values);
    vec_release(&world->given);
    vec_release(&world->known);
    vec_release(&world->facts);
    hash_index_release(&world->fact_index);
}
