#include "profile/calls/guards/entry_guards.h"

#include "profile/calls/values/python_scan.h"
#include "trace/events/guard_tree.h"

enum { MOST_DEPTH = 128 };

struct guards_reader {
    struct entry_guards *guards;
    struct world *world;
    uint32_t open[MOST_DEPTH]; /* managers by depth */
    struct err *err;
};

static enum leaf_how how_of(struct str kind)
{
    static const struct {
        const char *name;
        enum leaf_how how;
    } rows[] = {
#define LEAF(name, how) { #name, LEAF_##how },
#include "profile/calls/guards/leaf_kinds.def"
#undef LEAF
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_is(kind, rows[i].name))
            return rows[i].how;
    return LEAF_CONDITION;
}

/* ---- Managers ---- */

static uint32_t add_manager(struct guards_reader *in, uint32_t parent, uint32_t source)
{
    struct entry_guards *g = in->guards;
    uint32_t id = (uint32_t)g->managers.n;
    struct guard_manager manager = { .source = source,
                                     .parent = parent,
                                     .previous = MANAGER_NONE,
                                     .length = -1,
                                     .first_leaf = TENSOR_NONE,
                                     .last_leaf = TENSOR_NONE,
                                     .first_child = MANAGER_NONE,
                                     .last_child = MANAGER_NONE,
                                     .next = MANAGER_NONE };
    if (!vec_push(&g->managers, manager)) {
        err_nomem(in->err);
        return MANAGER_NONE;
    }
    if (parent == MANAGER_NONE)
        return id;
    struct guard_manager *p = &g->managers.v[parent];
    g->managers.v[id].previous = p->last_child;
    if (p->last_child == MANAGER_NONE)
        p->first_child = id;
    else
        g->managers.v[p->last_child].next = id;
    p->last_child = id;
    return id;
}

/* Returns the manager of a line at this depth: the nearest above it. */
static uint32_t manager_at(const struct guards_reader *in, uint32_t depth)
{
    return depth == 0 ? 1 : in->open[depth - 1 < MOST_DEPTH ? depth - 1 : MOST_DEPTH - 1];
}

/* "type=<class 'torch.nn.modules.linear.Linear'>": "Linear". */
static struct str class_name(struct str code)
{
    size_t at = str_find(code, STR("type=<class '"));
    struct str name = str_from(code, at + STR("type=<class '").n);
    name = str_first(name, str_find_char(name, '\''));
    size_t dot = name.n;
    while (dot && name.p[dot - 1] != '.')
        dot--;
    return str_from(name, dot);
}

/* Notes that an object is a torch.nn.Module where the tree has a manager of a part of it that only
 * modules have. */
static void note_module(struct guards_reader *in, uint32_t id)
{
    static const char *const PARTS[] = { "_modules", "_parameters", "_buffers" };
    struct guard_manager *all = in->guards->managers.v;
    struct source_path path = in->world->paths.v[all[id].source];
    bool is_part = false;
    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++)
        is_part |= path.step == PATH_ATTR && str_is(path.name, PARTS[i]);
    for (unsigned k = 0; is_part && k < MOST_DEPTH && id != MANAGER_NONE; k++, id = all[id].parent)
        if (all[id].source == path.parent) {
            all[id].of_module = true;
            return;
        }
}

static bool read_manager(struct guards_reader *in, const struct tree_guard *line)
{
    uint32_t source = line->source.n ? world_source(in->world, line->source) : INTERN_NONE;
    if (line->source.n && source == INTERN_NONE)
        return err_nomem(in->err);
    uint32_t parent = line->depth ? manager_at(in, line->depth) : 0;
    uint32_t id = line->depth ? add_manager(in, parent, source) : 0;
    if (id == MANAGER_NONE)
        return false;
    in->guards->managers.v[id].is_pair = str_starts(line->kind, STR("KeyValueManager"));
    if (line->depth && source != INTERN_NONE) {
        in->guards->managers.v[id].type = class_name(line->text);
        note_module(in, id);
    }
    if (line->depth && source != INTERN_NONE && str_contains(line->text, STR("type=<class")) &&
        (str_is(line->kind, "DictGuardManager") ||
         str_starts(line->text, STR("DictGuardManager")))) {
        const struct py_value *dict = world_value(in->world, source);
        in->guards->managers.v[id].length = dict->kind == PY_DICT ? (int64_t)dict->n : -1;
        in->guards->managers.v[id].keeps_type = in->guards->managers.v[id].type.n != 0;
    }
    for (uint32_t depth = line->depth; depth < MOST_DEPTH; depth++)
        in->open[depth] = id; /* deeper lines without a manager of their own belong to it */
    return true;
}

/* ---- Leaves ---- */

/* Returns the text of argument `i` of a call such as check_tensor(...). */
static struct str argument(struct str code, unsigned i)
{
    size_t from = str_find_char(code, '(') + 1;
    struct python_scan scan = { code, .next = from - 1 };
    while (from <= code.n && python_scan_next(&scan)) {
        bool last = scan.depth == 0;
        if (!last && !(scan.depth == 1 && scan.c == ','))
            continue;
        if (i == 0)
            return str_trim(str_from(str_first(code, scan.at), from));
        if (last)
            break;
        i--;
        from = scan.at + 1;
    }
    return STR("");
}

/* Returns what follows "name=" in an argument; the argument itself if it has no such name. */
static struct str named(struct str code, unsigned i, struct str name)
{
    struct str text = argument(code, i);
    return str_starts(text, name) ? str_from(text, name.n) : text;
}

/* Reads "[None, 8]". */
static bool read_dims(struct guards_reader *in, struct str text, uint32_t *n)
{
    *n = 0;
    text = str_trim(text);
    if (text.n < 2 || text.p[0] != '[')
        return true;
    text = str_from(str_first(text, text.n - 1), 1);
    while (text.n) {
        size_t comma = str_find_char(text, ',');
        int64_t value;
        if (!str_to_i64(str_trim(str_first(text, comma)), &value))
            value = ANY_SIZE;
        if (!vec_push(&in->guards->dims, value))
            return err_nomem(in->err);
        ++*n;
        text = str_from(text, comma + 1);
    }
    return true;
}

/* "check_tensor(L['x'], Tensor, DispatchKeySet(CPU), torch.float32, device=None,
 * requires_grad=False, size=[None, 8], stride=[8, 1])" */
static bool read_tensor(struct guards_reader *in, struct guard_leaf *leaf)
{
    struct entry_guards *g = in->guards;
    struct tensor_check check = { .first = (uint32_t)g->dims.n };
    struct str code = leaf->code, keys = argument(code, 2);
    check.name = argument(code, 0);
    check.type = argument(code, 1);
    if (str_starts(keys, STR("DispatchKeySet(")) && keys.p[keys.n - 1] == ')')
        check.keys = str_from(str_first(keys, keys.n - 1), STR("DispatchKeySet(").n);
    check.ordinary_keys = str_contains(check.keys, STR("ADInplaceOrView")) &&
                          str_contains(check.keys, STR("Autograd"));
    check.dtype = argument(code, 3);
    check.device = named(code, 4, STR("device="));
    check.requires_grad = str_is(named(code, 5, STR("requires_grad=")), "True");
    if (!read_dims(in, named(code, 6, STR("size=")), &check.n_sizes) ||
        !read_dims(in, named(code, 7, STR("stride=")), &check.n_strides))
        return false;
    leaf->tensor = (uint32_t)g->tensors.n;
    return vec_push(&g->tensors, check) || err_nomem(in->err);
}

/* The identity of a part of a function, as its __code__, is that of the function. */
static void read_identity(struct guards_reader *in, struct guard_leaf *leaf)
{
    uint32_t owner = leaf->source;
    if (owner == INTERN_NONE)
        return;
    while (world_value(in->world, owner)->kind == PY_UNKNOWN &&
           in->world->paths.v[owner].step != PATH_ROOT)
        owner = in->world->paths.v[owner].parent;
    const struct py_value *value = world_value(in->world, owner);
    if (owner == leaf->source || str_is(value->type, "function")) {
        leaf->then = *value;
        leaf->owner = owner;
    }
}

static bool is_attribute(const struct guards_reader *in, const struct guard_leaf *leaf)
{
    const struct condition *nodes = in->guards->conditions.nodes.v;
    if (leaf->how != LEAF_CONDITION || leaf->condition == CONDITION_NONE ||
        nodes[leaf->condition].op != COND_EQUAL)
        return false;
    const struct condition *left = &nodes[nodes[leaf->condition].first];
    return left->op == COND_SOURCE && nodes[nodes[leaf->condition].second].op == COND_CONSTANT &&
           world_of_module(in->world, left->source);
}

/* Adds a leaf to the lists of its kind. */
static bool list_leaf(struct guards_reader *in, const struct guard_leaf *leaf, uint32_t id)
{
    bool identity = leaf->how == LEAF_IDENTITY && leaf->source != INTERN_NONE &&
                    leaf->then.kind != PY_UNKNOWN && leaf->then.object != OBJECT_NONE;
    return (!identity || vec_push(&in->guards->identities, id)) &&
           (!is_attribute(in, leaf) || vec_push(&in->guards->attributes, id));
}

/* Finds what a leaf is about: the first source of a condition, else the whole first argument. A
 * source that is no chain of attributes and items, such as "type(L['x']).__call__", is read as one
 * that has no parts. */
static bool read_about(struct guards_reader *in, struct guard_leaf *leaf)
{
    struct str about = leaf->how == LEAF_CONDITION ? leaf->code : argument(leaf->code, 0);
    while (leaf->how == LEAF_CONDITION && about.n && !source_length(about))
        about = str_from(about, 1);
    if (leaf->how == LEAF_CONDITION)
        about = str_first(about, source_length(about));
    if (about.n)
        leaf->source = world_source(in->world, about);
    return !about.n || leaf->source != INTERN_NONE || err_nomem(in->err);
}

/* Returns the only source that the nodes from `first` on read; INTERN_NONE if they read several or
 * none, or if not all of them are read when they are evaluated. */
static uint32_t only_source(const struct condition_pool *pool, size_t first)
{
    uint32_t ret = INTERN_NONE;
    for (size_t i = first; i < pool->nodes.n; i++) {
        const struct condition *node = &pool->nodes.v[i];
        if (node->op == COND_AND || node->op == COND_OR || node->op == COND_CHOICE)
            return INTERN_NONE;
        if (node->source == INTERN_NONE)
            continue;
        if (ret != INTERN_NONE && ret != node->source)
            return INTERN_NONE;
        ret = node->source;
    }
    return ret;
}

static bool read_condition(struct guards_reader *in, struct guard_leaf *leaf)
{
    struct condition_pool *pool = &in->guards->conditions;
    size_t first = pool->nodes.n;
    if (!condition_parse(pool, in->world, leaf->code, &leaf->condition))
        return err_nomem(in->err);
    if (leaf->condition == CONDITION_NONE)
        in->guards->n_undecidable++;
    leaf->subject = leaf->condition == CONDITION_NONE ? leaf->source : only_source(pool, first);
    return true;
}

static bool read_code(struct guards_reader *in, struct guard_leaf *leaf)
{
    leaf->subject = leaf->how == LEAF_TENSOR || leaf->how == LEAF_TYPE ? leaf->source : INTERN_NONE;
    switch (leaf->how) {
    case LEAF_CONDITION: return read_condition(in, leaf);
    case LEAF_TENSOR: return read_tensor(in, leaf);
    case LEAF_TYPE: leaf->type = class_name(leaf->code); return true;
    case LEAF_IDENTITY: read_identity(in, leaf); return true;
    default: return true;
    }
}

/* Each part of a guard's code is a line of the tree (GuardManagerWrapper.get_guard_lines() in
 * torch/_dynamo/guards.py): one DIMENSION_DYNAMIC_MARKING_GUARD reads all marks of a tensor, one
 * function has all conditions on sizes, and another one those on objects that are the same
 * ("L['x'] is L['y']"). */
static bool is_joined(const struct guards_reader *in, uint32_t manager, struct str kind,
                      struct str code)
{
    static const struct str SAME = { " is ", 4 };
    const struct entry_guards *g = in->guards;
    uint32_t last = g->managers.v[manager].last_leaf;
    bool several_parts = str_is(kind, "DIMENSION_DYNAMIC_MARKING_GUARD") ||
                         str_is(kind, "SYMBOLIC_SHAPE_GUARD") ||
                         (manager == 1 && str_is(kind, "LAMBDA_GUARD"));
    return several_parts && last != TENSOR_NONE && str_eq(g->leaves.v[last].kind, kind) &&
           str_contains(g->leaves.v[last].code, SAME) == str_contains(code, SAME);
}

/* 1 == True, but guards compare the type or the object. */
static bool compares_types(struct str kind)
{
    return str_is(kind, "EQUALS_MATCH") || str_is(kind, "TRUE_MATCH") ||
           str_is(kind, "FALSE_MATCH");
}

static bool add_leaf(struct guards_reader *in, const struct tree_guard *line)
{
    struct entry_guards *g = in->guards;
    struct guard_leaf leaf = { .how = how_of(line->kind),
                               .kind = line->kind,
                               .text = line->text,
                               .code = line->code,
                               .comment = line->comment,
                               .compares_types = compares_types(line->kind),
                               .source = INTERN_NONE,
                               .owner = INTERN_NONE,
                               .condition = CONDITION_NONE,
                               .subject = INTERN_NONE,
                               .tensor = TENSOR_NONE,
                               .then = { .object = OBJECT_NONE },
                               .next = TENSOR_NONE };
    uint32_t id = (uint32_t)g->leaves.n, at = manager_at(in, line->depth);
    struct guard_manager *manager = &g->managers.v[at];
    leaf.joined = is_joined(in, at, line->kind, line->code);
    if (!read_about(in, &leaf) || !read_code(in, &leaf))
        return false;
    if (leaf.compares_types && leaf.condition == CONDITION_NONE && leaf.source == manager->source)
        leaf.type = manager->type;
    if (leaf.how == LEAF_ALIASING) { /* the first one lists all tensors, each stands for its own */
        leaf.source = manager->source;
        g->aliasing = g->aliasing == TENSOR_NONE ? id : g->aliasing;
    }
    if (!vec_push(&g->leaves, leaf) || !list_leaf(in, &leaf, id))
        return err_nomem(in->err);
    if (manager->last_leaf == TENSOR_NONE)
        manager->first_leaf = id;
    else
        g->leaves.v[manager->last_leaf].next = id;
    manager->last_leaf = id;
    return true;
}

/* A call need not say of an object that it is a module. */
static void find_modules(struct entry_guards *g, const struct world *world)
{
    for (size_t i = 0; i < g->managers.n; i++)
        for (uint32_t id = g->managers.v[i].first_leaf; id != TENSOR_NONE;
             id = g->leaves.v[id].next) {
            struct guard_leaf *leaf = &g->leaves.v[id];
            leaf->of_module = g->managers.v[i].of_module || leaf->then.nn_module ||
                              leaf->source == world->self ||
                              str_contains(leaf->code, STR("type=<class 'torch.nn."));
        }
}

bool entry_guards_read(struct entry_guards *guards, struct str tree, struct world *world,
                       const struct call_mode *mode, struct err *err)
{
    struct guards_reader in = { .guards = guards, .world = world, .err = err };
    struct tree_guard line;
    guards->mode = *mode;
    guards->aliasing = TENSOR_NONE;
    if (add_manager(&in, MANAGER_NONE, INTERN_NONE) == MANAGER_NONE ||
        add_manager(&in, MANAGER_NONE, INTERN_NONE) == MANAGER_NONE)
        return false;
    while (guard_tree_next(&tree, &line)) {
        bool manager =
            str_ends(line.kind, STR("Manager")) || str_starts(line.kind, STR("KeyValueManager"));
        if (!(manager ? read_manager(&in, &line) : add_leaf(&in, &line)))
            return false;
    }
    find_modules(guards, world);
    return true;
}

void entry_guards_release(struct entry_guards *guards)
{
    vec_release(&guards->leaves);
    vec_release(&guards->managers);
    vec_release(&guards->tensors);
    vec_release(&guards->dims);
    vec_release(&guards->identities);
    vec_release(&guards->attributes);
    hash_index_release(&guards->seen);
    hash_index_release(&guards->by_source);
    condition_pool_release(&guards->conditions);
    arena_release(&guards->arena);
}
