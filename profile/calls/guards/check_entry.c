#include "profile/calls/guards/check_leaf.h"

struct entry_check {
    struct entry_guards *guards;
    struct world *world;
    const struct call_mode *mode;
    struct leaf_failure why;
    struct guards_answer answer;
};

enum leaf_verdict { LEAF_PASS, LEAF_FAIL, LEAF_OPEN };

void put_without_scope(struct str text, struct buf *out)
{
    while (text.n) {
        size_t at = str_find(text, STR("L["));
        struct str rest = str_from(text, at + 2);
        char quote = rest.n ? rest.p[0] : 0;
        size_t end =
            quote == '\'' || quote == '"' ? str_find_char(str_from(rest, 1), quote) + 1 : 0;
        buf_put(out, str_first(text, at));
        if (at == text.n)
            return;
        if (end && end + 1 < rest.n && rest.p[end + 1] == ']') {
            buf_put(out, str_from(str_first(rest, end), 1));
            text = str_from(rest, end + 2);
        } else {
            buf_puts(out, "L[");
            text = rest;
        }
    }
}

static enum leaf_verdict fail_with_text(struct entry_check *c, const struct guard_leaf *leaf)
{
    if (c->why.reason)
        put_without_scope(leaf->text, c->why.reason);
    return LEAF_FAIL;
}

static enum leaf_verdict missing(struct entry_check *c, uint32_t source)
{
    if (c->why.reason) {
        struct source_path path = c->world->paths.v[source];
        if (world_value(c->world, source)->kind == PY_NONE) {
            buf_puts(c->why.reason, "'NoneType' object has no attribute 'size'");
            return LEAF_FAIL;
        }
        buf_puts(c->why.reason, path.step == PATH_KEY ? "KeyError on " : "no value of ");
        put_without_scope(intern_text(c->world->sources, source), c->why.reason);
    }
    return LEAF_FAIL;
}

/* ---- Leaves ---- */

/* Returns the constant that an EQUALS_MATCH compares a value with, and that value; or NULL. */
static const struct py_value *constant_of(struct entry_check *c, const struct guard_leaf *leaf,
                                          const struct py_value **value)
{
    const struct condition *all = c->guards->conditions.nodes.v, *node = &all[leaf->condition];
    if (!leaf->compares_types || node->op != COND_EQUAL || all[node->first].op != COND_SOURCE ||
        all[node->second].op != COND_CONSTANT)
        return NULL;
    *value = world_value(c->world, all[node->first].source);
    return &all[node->second].value;
}

/* Of an object, as a complex number or a set, whose class is told. */
static bool has_other_class(struct entry_check *c, const struct guard_leaf *leaf)
{
    const struct py_value *value, *constant = constant_of(c, leaf, &value);
    return constant && constant->kind == PY_OBJECT && constant->type.n && value->type.n &&
           !str_eq(value->type, constant->type);
}

/* EQUALS_MATCH compares types, too: True is not 1 (class EQUALS_MATCH). */
static bool has_other_type(struct entry_check *c, const struct guard_leaf *leaf)
{
    const struct py_value *value, *constant = constant_of(c, leaf, &value);
    bool plain = constant && constant->kind != PY_OBJECT && value->kind != PY_UNKNOWN;
    return plain ? value->kind != constant->kind : has_other_class(c, leaf);
}

static void put_dims(uint64_t dims, struct buf *out)
{
    bool first = true;
    for (unsigned d = 0; d < 64; d++)
        if (dims >> d & 1) {
            buf_printf(out, "%s%u", first ? "" : ", ", d);
            first = false;
        }
}

/* Returns whether the entry was compiled with a mark on the tensor of a guard: one of the guards on
 * its marks, which follow each other, allows some. */
static bool was_marked(const struct entry_guards *guards, const struct guard_leaf *leaf)
{
    const struct guard_leaf *first = leaf, *end = leaf;
    while (first > guards->leaves.v && first[-1].source == leaf->source &&
           str_eq(first[-1].kind, leaf->kind))
        first--;
    while (end < guards->leaves.v + guards->leaves.n && end->source == leaf->source &&
           str_eq(end->kind, leaf->kind))
        end++;
    for (; first < end; first++)
        if (first->condition != CONDITION_NONE &&
            guards->conditions.nodes.v[first->condition].op == COND_CHOICE)
            return true;
    return false;
}

/* The mark that a call has on a tensor and that the entry was compiled without: "hasattr(L['x'],
 * '_dynamo_static_indices') == False". */
static struct str unexpected_mark(const struct condition_pool *pool, const struct condition *node)
{
    if (node->op == COND_EQUAL)
        node = &pool->nodes.v[node->first];
    return node->op == COND_HASATTR ? node->text : STR("");
}

/* class DIMENSION_DYNAMIC_MARKING_GUARD, check_verbose_nopybind() */
static enum leaf_verdict fail_with_marks(struct entry_check *c, const struct guard_leaf *leaf)
{
    const struct condition_pool *pool = &c->guards->conditions;
    const struct condition *node = &pool->nodes.v[leaf->condition];
    const struct py_value *value = world_value(c->world, leaf->source);
    if (!c->why.reason)
        return LEAF_FAIL;
    if (node->op == COND_CHOICE)
        node = &pool->nodes.v[node->first];
    int mark = node->op == COND_MARKED ? tensor_mark_of(node->text) : -1;
    struct str unexpected = unexpected_mark(pool, node);
    if (unexpected.n && was_marked(c->guards, leaf)) {
        buf_put(c->why.reason, unexpected);
        buf_puts(c->why.reason, " should be absent but is present on runtime tensor");
        return LEAF_FAIL;
    }
    if (mark < 0 || value->kind != PY_TENSOR) {
        buf_puts(c->why.reason,
                 "_has_dynamo_dim_marking is present on runtime tensor but was absent at "
                 "compile time");
        return LEAF_FAIL;
    }
    buf_printf(c->why.reason, "%.*s not a subset: runtime {", STR_ARG(node->text));
    put_dims(value->tensor->marks[mark], c->why.reason);
    buf_puts(c->why.reason, "} is not a subset of compiled {");
    put_dims(node->index, c->why.reason);
    buf_puts(c->why.reason, "}");
    return LEAF_FAIL;
}

/* A condition that was not read: a value of another class fails it nevertheless. */
static enum leaf_verdict check_unread(struct entry_check *c, const struct guard_leaf *leaf)
{
    const struct py_value *value =
        leaf->source == INTERN_NONE ? NULL : world_value(c->world, leaf->source);
    if (!value || value->kind == PY_UNKNOWN)
        return LEAF_PASS;
    bool differs = leaf->type.n && value->type.n && !str_eq(value->type, leaf->type);
    return differs ? fail_with_text(c, leaf) : LEAF_OPEN;
}

static enum leaf_verdict check_condition(struct entry_check *c, const struct guard_leaf *leaf)
{
    uint32_t absent = leaf->source;
    if (leaf->condition == CONDITION_NONE)
        return check_unread(c, leaf);
    enum condition_verdict verdict =
        condition_check(&c->guards->conditions, c->world, leaf->condition, &absent);
    if (verdict == CONDITION_MISSING)
        return missing(c, absent);
    /* What nothing is said about did not change. */
    if (verdict == CONDITION_UNKNOWN && !has_other_class(c, leaf))
        return LEAF_PASS;
    if (verdict != CONDITION_HOLDS || has_other_type(c, leaf))
        return str_is(leaf->kind, "DIMENSION_DYNAMIC_MARKING_GUARD") ? fail_with_marks(c, leaf)
                                                                     : fail_with_text(c, leaf);
    return LEAF_PASS;
}

static enum leaf_verdict check_type(struct entry_check *c, const struct guard_leaf *leaf)
{
    const struct py_value *value = world_value(c->world, leaf->source);
    if (value->kind == PY_MISSING)
        return missing(c, leaf->source);
    if (value->kind == PY_UNKNOWN || !value->type.n || !leaf->type.n)
        return LEAF_PASS;
    return str_eq(value->type, leaf->type) ? LEAF_PASS : fail_with_text(c, leaf);
}

static enum leaf_verdict check_identity(struct entry_check *c, const struct guard_leaf *leaf)
{
    if (world_value(c->world, leaf->source)->kind == PY_MISSING)
        return missing(c, leaf->source);
    if (leaf->owner == INTERN_NONE || leaf->then.kind == PY_UNKNOWN)
        return LEAF_PASS;
    const struct py_value *value = world_value(c->world, leaf->owner);
    if (value->kind == PY_UNKNOWN)
        return LEAF_PASS;
    return py_equal(value, &leaf->then) ? LEAF_PASS : fail_with_text(c, leaf);
}

static enum leaf_verdict check_tensor_leaf(struct entry_check *c, const struct guard_leaf *leaf)
{
    const struct py_value *value = world_value(c->world, leaf->source);
    if (value->kind == PY_MISSING)
        return missing(c, leaf->source);
    if (value->kind == PY_UNKNOWN)
        return LEAF_PASS;
    if (check_tensor(c->guards, leaf, value, c->mode, &c->why))
        return LEAF_PASS;
    if (c->why.reason && str_is(value->type, "Parameter") &&
        str_is(c->guards->tensors.v[leaf->tensor].type, "Parameter"))
        buf_puts(c->why.reason,
                 ". Guard failed on a parameter, consider using "
                 "torch._dynamo.config.force_parameter_static_shapes = False to allow "
                 "dynamism on parameters.");
    return LEAF_FAIL;
}

static void put_source_name(struct entry_check *c, uint32_t source)
{
    buf_putc(c->why.reason, '"');
    put_without_scope(intern_text(c->world->sources, source), c->why.reason);
    buf_putc(c->why.reason, '"');
}

/* Names two tensors in the order of the first of these guards, which lists all of them. */
static void put_duplicates(struct entry_check *c, uint32_t a, uint32_t b)
{
    const struct entry_guards *g = c->guards;
    struct str list = g->aliasing == TENSOR_NONE ? STR("") : g->leaves.v[g->aliasing].code;
    bool turned = str_find(list, intern_text(c->world->sources, a)) >
                  str_find(list, intern_text(c->world->sources, b));
    buf_puts(c->why.reason, "Duplicate tensors found: [");
    put_source_name(c, turned ? b : a);
    buf_puts(c->why.reason, ", ");
    put_source_name(c, turned ? a : b);
    buf_puts(c->why.reason, "]");
}

/* A relational guard: it stands at each of its tensors, and fails at the second of two that are one
 * (class NO_TENSOR_ALIASING). */
static enum leaf_verdict check_aliasing(struct entry_check *c, const struct guard_leaf *leaf)
{
    struct entry_guards *g = c->guards;
    const struct py_value *value = world_value(c->world, leaf->source);
    uint32_t row, id = (uint32_t)(leaf - g->leaves.v), hash = value->object * 2654435761u;
    if (value->kind != PY_TENSOR || value->object == OBJECT_NONE)
        return LEAF_PASS;
    for (size_t at = hash_index_start(&g->seen, hash);
         hash_index_next(&g->seen, hash, &at, &row);) {
        uint32_t other = g->leaves.v[row].source;
        if (world_value(c->world, other)->object != value->object)
            continue;
        if (c->why.reason)
            put_duplicates(c, other, leaf->source);
        return LEAF_FAIL;
    }
    if (hash_index_reserve(&g->seen, 1))
        hash_index_add(&g->seen, hash, id);
    else
        c->why.no_memory = true;
    return LEAF_PASS;
}

static enum leaf_verdict check_leaf(struct entry_check *c, const struct guard_leaf *leaf)
{
    switch (leaf->how) {
    case LEAF_CONDITION: return check_condition(c, leaf);
    case LEAF_MODE:
        return check_mode(&c->guards->mode, c->mode, c->why.reason) ? LEAF_PASS : LEAF_FAIL;
    case LEAF_FUNCTION_MODES:
    case LEAF_DEFAULT_DEVICE:
        return check_function_modes(&c->guards->mode, c->mode, leaf->how == LEAF_DEFAULT_DEVICE)
                   ? LEAF_PASS
                   : fail_with_text(c, leaf);
    case LEAF_SAME: return LEAF_PASS;
    default: break;
    }
    if (leaf->source == INTERN_NONE)
        return LEAF_PASS;
    if (leaf->how == LEAF_ALIASING)
        return check_aliasing(c, leaf);
    return leaf->how == LEAF_TENSOR ? check_tensor_leaf(c, leaf)
           : leaf->how == LEAF_TYPE ? check_type(c, leaf)
                                    : check_identity(c, leaf);
}

/* ---- Managers ---- */

/* What nothing is said about did not change. */
static inline bool is_unknown(struct entry_check *c, const struct guard_leaf *leaf)
{
    return leaf->subject != INTERN_NONE && world_value(c->world, leaf->subject)->kind == PY_UNKNOWN;
}

static bool check_leaves(struct entry_check *c, uint32_t manager)
{
    const struct guard_leaf *leaves = c->guards->leaves.v;
    for (uint32_t id = c->guards->managers.v[manager].first_leaf; id != TENSOR_NONE;
         id = leaves[id].next) {
        const struct guard_leaf *leaf = &leaves[id];
        c->answer.evaluated += !leaf->joined;
        if (is_unknown(c, leaf))
            continue;
        enum leaf_verdict verdict = check_leaf(c, leaf);
        if (verdict == LEAF_PASS)
            continue;
        if (verdict == LEAF_FAIL || c->answer.verdict == GUARDS_PASS) {
            c->answer.leaf = id;
            c->answer.source = leaf->source;
        }
        c->answer.verdict = verdict == LEAF_FAIL ? GUARDS_FAIL : GUARDS_UNDECIDED;
        if (verdict == LEAF_FAIL) {
            c->answer.manager = manager;
            return false;
        }
    }
    return true;
}

/* Moves a manager before those of its siblings that failed less often; siblings that failed as
 * often keep their order. All the others are in order. */
static void move_up(struct entry_guards *g, uint32_t id)
{
    struct guard_manager *all = g->managers.v, *moved = &all[id], *parent = &all[moved->parent];
    uint32_t before = moved->previous;
    if (before == MANAGER_NONE || all[before].failures >= moved->failures)
        return;
    all[before].next = moved->next;
    if (moved->next == MANAGER_NONE)
        parent->last_child = before;
    else
        all[moved->next].previous = before;
    while (before != MANAGER_NONE && all[before].failures < moved->failures)
        before = all[before].previous;
    uint32_t *link = before == MANAGER_NONE ? &parent->first_child : &all[before].next;
    moved->next = *link;
    moved->previous = before;
    all[moved->next].previous = id;
    *link = id;
    g->version++;
}

/* A DictGuardManager checks its pairs in the order of the dict, and a failure in one of them does
 * not count as its own (DictGuardManager::check_nopush()). */
void entry_guards_count(struct entry_guards *guards, uint32_t manager)
{
    const struct guard_manager *all = guards->managers.v;
    while (manager != MANAGER_NONE) {
        uint32_t parent = all[manager].parent;
        if (all[manager].is_pair) {
            manager = parent == MANAGER_NONE ? parent : all[parent].parent;
            continue;
        }
        guards->managers.v[manager].failures++;
        if (parent != MANAGER_NONE && !all[parent].is_pair)
            move_up(guards, manager);
        manager = parent;
    }
}

enum dict_mismatch guard_manager_mismatch(const struct guard_manager *manager, struct world *world)
{
    if (manager->length < 0 && !manager->keeps_type)
        return DICT_SAME;
    const struct py_value *dict = world_value(world, manager->source);
    if (dict->kind == PY_UNKNOWN || dict->kind == PY_MISSING)
        return DICT_SAME;
    if (manager->keeps_type && dict->type.n && !str_eq(dict->type, manager->type))
        return DICT_TYPE;
    bool resized = dict->kind == PY_DICT && manager->length >= 0 && dict->n != manager->length;
    return resized ? DICT_LENGTH : DICT_SAME;
}

/* class DictGuardManager: the dict is of the same class, and has as many keys as before. */
static bool check_dict(struct entry_check *c, const struct guard_manager *manager)
{
    enum dict_mismatch mismatch = guard_manager_mismatch(manager, c->world);
    if (mismatch == DICT_SAME)
        return true;
    if (c->why.reason) {
        buf_puts(c->why.reason, mismatch == DICT_TYPE ? "TYPE_MISMATCH(" : "len(");
        put_without_scope(intern_text(c->world->sources, manager->source), c->why.reason);
        if (mismatch == DICT_TYPE)
            buf_puts(c->why.reason, ")");
        else
            buf_printf(c->why.reason, ") != %lld", (long long)manager->length);
    }
    c->answer.verdict = GUARDS_FAIL;
    c->answer.leaf = TENSOR_NONE;
    c->answer.source = manager->source;
    return false;
}

static bool check_manager(struct entry_check *c, uint32_t id)
{
    const struct entry_guards *g = c->guards;
    if (!check_dict(c, &g->managers.v[id])) {
        c->answer.manager = id;
        return false;
    }
    if (!check_leaves(c, id))
        return false;
    for (uint32_t child = g->managers.v[id].first_child; child != MANAGER_NONE;
         child = g->managers.v[child].next) {
        c->answer.accessors += g->managers.v[child].source != INTERN_NONE;
        if (!check_manager(c, child))
            return false;
    }
    return true;
}

struct guards_answer entry_guards_check(struct entry_guards *guards, struct world *world,
                                        const struct call_mode *mode, bool count)
{
    struct entry_check c = {
        .guards = guards,
        .world = world,
        .mode = mode,
        .why = { .dim = { .dim = NO_DIM } },
        .answer = { .leaf = TENSOR_NONE, .source = INTERN_NONE, .manager = MANAGER_NONE }
    };
    hash_index_clear(&guards->seen);
    if (check_manager(&c, 0))
        check_leaves(&c, 1);
    if (count && c.answer.verdict == GUARDS_FAIL)
        entry_guards_count(guards, c.answer.manager);
    c.answer.dim = c.why.dim;
    c.answer.no_memory = c.why.no_memory;
    return c.answer;
}

bool entry_guards_explain(struct entry_guards *guards, struct world *world,
                          const struct call_mode *mode, const struct guards_answer *answer,
                          struct buf *reason)
{
    struct entry_check c = {
        .guards = guards, .world = world, .mode = mode, .why = { .reason = reason }
    };
    if (answer->verdict != GUARDS_FAIL)
        return true;
    if (answer->leaf == TENSOR_NONE)
        check_dict(&c, &guards->managers.v[answer->manager]);
    else
        check_leaf(&c, &guards->leaves.v[answer->leaf]);
    return !c.why.no_memory;
}

void entry_guards_begin(struct entry_guards *guards)
{
    hash_index_clear(&guards->seen);
}

struct guards_answer entry_guards_check_leaf(struct entry_guards *guards, struct world *world,
                                             const struct call_mode *mode, uint32_t leaf)
{
    struct entry_check c = { .guards = guards, .world = world, .mode = mode };
    const struct guard_leaf *l = &guards->leaves.v[leaf];
    enum leaf_verdict verdict = is_unknown(&c, l) ? LEAF_PASS : check_leaf(&c, l);
    c.answer = (struct guards_answer){
        .verdict = verdict == LEAF_PASS   ? GUARDS_PASS
                   : verdict == LEAF_FAIL ? GUARDS_FAIL
                                          : GUARDS_UNDECIDED,
        .leaf = verdict == LEAF_PASS ? TENSOR_NONE : leaf,
        .source = guards->leaves.v[leaf].source,
        .evaluated = 1,
        .no_memory = c.why.no_memory,
    };
    return c.answer;
}
