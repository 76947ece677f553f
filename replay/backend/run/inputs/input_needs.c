#include "replay/backend/run/inputs/input_needs.h"

#include "replay/ops/dispatch/schema.h"

/* ---- The table ---- */

/* The kinds of rows that are no kinds of needs. */
enum row_kind {
    ROW_PASS = NEED_OFFSETS + 1,
    ROW_PASS_RANGE,
    ROW_PASS_INDEX,
    ROW_COMPLEMENT,
    ROW_SPREAD,
    ROW_SMALL = NEED_SMALL,
    ROW_FACTOR = NEED_FACTOR,
    ROW_TERMS = NEED_TERMS,
    ROW_FRACTION = NEED_FRACTION,
    ROW_LOGARITHM = NEED_LOGARITHM,
    ROW_POSITIVE = NEED_POSITIVE,
    ROW_SORTED = NEED_SORTED,
    ROW_INDEX = NEED_INDEX,
    ROW_DISTINCT = NEED_DISTINCT,
    ROW_OFFSETS = NEED_OFFSETS,
};

enum extent {
    EXTENT_NONE,
    EXTENT_FIRST,
    EXTENT_SECOND,
    EXTENT_LAST,
    EXTENT_SECOND_LAST,
    EXTENT_CLASSES,
    EXTENT_DIM,
    EXTENT_ITEM,
    EXTENT_ELEMENTS,
    EXTENT_FILTER,
    EXTENT_PLANE,
    EXTENT_SPACE,
    EXTENT_NUMBER
};

struct need_row {
    struct str base, argument;
    enum row_kind kind;
    enum extent extent;
    struct str relative;
};

static const struct need_row rows[] = {
#define NEED(base, argument, kind, extent, relative) \
    { { #base, sizeof #base - 1 },                   \
      { #argument, sizeof #argument - 1 },           \
      ROW_##kind,                                    \
      EXTENT_##extent,                               \
      { #relative, sizeof #relative - 1 } },
#include "replay/backend/run/inputs/input_needs.def"
#undef NEED
};
enum { ROWS = sizeof rows / sizeof *rows };

/* ---- The arguments of a step ---- */

struct need_walk {
    const struct program *program;
    const struct sym_pool *pool;
    struct input_need *needs;
};

/* One argument of a call that is the result of another step. */
struct needed {
    const struct step *step;
    const struct schema *schema;
    struct str base;
    const struct patch *patch;
    struct str name; /* of the argument */
    uint32_t item;   /* its place, if the argument is a list */
};

/* Returns whether the place is the value, or an item of its list, and sets the item's number. */
static bool is_place_in(const struct value *value, const struct value *at, uint32_t *item)
{
    *item = 0;
    if (at == value)
        return true;
    if (!value_is_sequence(*value) || at < value->u.items || at >= value->u.items + value->n)
        return false;
    *item = (uint32_t)(at - value->u.items);
    return true;
}

static bool find_argument_name(struct needed *n)
{
    const struct step *step = n->step;
    for (uint32_t i = 0; i < step->n_args && i < n->schema->n_args; i++)
        if (is_place_in(&step->args[i], n->patch->at, &n->item)) {
            n->name = n->schema->args[i].name;
            return true;
        }
    for (uint32_t i = 0; i < step->n_keywords && i < n->schema->n_args; i++)
        if (is_place_in(&step->keywords[i].value, n->patch->at, &n->item)) {
            n->name = step->keywords[i].name;
            return true;
        }
    return false;
}

/* Returns the recorded meta of the argument's value; NULL: it is no result of a step. The search
 * ends after as many patches as an operator has arguments. */
static const struct expected *meta_of(const struct need_walk *w, const struct needed *n,
                                      const struct value *argument)
{
    uint32_t item;
    for (uint32_t i = 0; i < n->step->n_patches && i < SCHEMA_MAX_SLOTS; i++) {
        const struct patch *patch = &w->program->patches[n->step->first_patch + i];
        if (patch->from < w->program->n_steps && is_place_in(argument, patch->at, &item))
            return w->program->steps[patch->from].expected;
    }
    return NULL;
}

static int64_t number_of(const struct need_walk *w, const struct needed *n, struct str name)
{
    const struct value *argument = step_argument(n->step, n->schema, name);
    const struct expected *meta = argument ? meta_of(w, n, argument) : NULL;
    int64_t number;
    if (meta)
        return meta->kind == EXPECT_NUMBER && sym_to_i64(w->pool, meta->number, &number) ? number
                                                                                         : -1;
    bool is_int = argument && argument->kind == VALUE_INT;
    return is_int && sym_to_i64(w->pool, argument->u.sym, &number) ? number : -1;
}

/* ---- Numbers of needs ---- */

static int64_t size_at(const struct need_walk *w, const struct expected *meta, int64_t dim)
{
    int64_t size;
    dim += dim < 0 ? meta->ndim : 0;
    if (dim < 0 || dim >= meta->ndim || !sym_to_i64(w->pool, meta->size[dim], &size))
        return -1;
    return size;
}

/* Returns the product of the sizes from that dimension on. */
static int64_t elements_from(const struct need_walk *w, const struct expected *meta, int64_t dim)
{
    int64_t ret = 1;
    for (; dim < meta->ndim && ret >= 0; dim++) {
        int64_t size = size_at(w, meta, dim);
        if (size < 0 || (size > 0 && ret > INT64_MAX / size))
            return -1;
        ret *= size;
    }
    return ret;
}

static int64_t extent_of(const struct need_walk *w, const struct needed *n,
                         const struct need_row *row)
{
    const struct value *argument;
    const struct expected *meta;
    if (row->extent == EXTENT_NONE)
        return -1;
    if (row->extent == EXTENT_NUMBER)
        return number_of(w, n, row->relative);
    argument = step_argument(n->step, n->schema, row->relative);
    meta = argument ? meta_of(w, n, argument) : NULL;
    if (!meta || meta->kind != EXPECT_TENSOR)
        return -1;
    switch (row->extent) {
    case EXTENT_FIRST: return size_at(w, meta, 0);
    case EXTENT_SECOND: return size_at(w, meta, 1);
    case EXTENT_LAST: return size_at(w, meta, -1);
    case EXTENT_SECOND_LAST: return size_at(w, meta, -2);
    case EXTENT_CLASSES: return size_at(w, meta, meta->ndim > 1);
    case EXTENT_DIM: return size_at(w, meta, number_of(w, n, STR("dim")));
    case EXTENT_ITEM: return size_at(w, meta, n->item);
    case EXTENT_ELEMENTS: return elements_from(w, meta, 0);
    case EXTENT_FILTER: return elements_from(w, meta, 1);
    case EXTENT_PLANE: return elements_from(w, meta, meta->ndim > 2 ? meta->ndim - 2 : 0);
    case EXTENT_SPACE: return elements_from(w, meta, meta->ndim > 3 ? meta->ndim - 3 : 0);
    default: return -1;
    }
}

/* ---- Needs ---- */

static bool is_range(enum need_kind kind)
{
    return kind == NEED_FRACTION || kind == NEED_POSITIVE;
}
static bool is_index(enum need_kind kind)
{
    return kind == NEED_INDEX || kind == NEED_DISTINCT;
}

static void merge_need(struct input_need *into, struct input_need need)
{
    bool same = into->kind == need.kind || (is_index(into->kind) && is_index(need.kind));
    bool least = need.kind != NEED_TERMS;
    if (!same) {
        *into = need.kind > into->kind ? need : *into;
        return;
    }
    into->kind = need.kind > into->kind ? need.kind : into->kind;
    if (into->number < 0 || (need.number >= 0 && (need.number < into->number) == least))
        into->number = need.number;
}

/* Returns the bound of an argument whose sum with others, or product with a number, is below
 * `bound`. */
static int64_t shifted_bound(const struct need_walk *w, const struct needed *n, int64_t bound)
{
    int64_t number = number_of(w, n, STR("other"));
    const struct value *other = step_argument(n->step, n->schema, STR("other"));
    const struct expected *meta = other ? meta_of(w, n, other) : NULL;
    bool tensor = meta && meta->kind == EXPECT_TENSOR;
    if (str_starts(n->base, STR("mul")))
        return !tensor && number > 0 ? (bound - 1) / number + 1 : -1;
    if (str_starts(n->base, STR("sub")))
        return tensor || number < 0 ? -1 : bound;
    if (tensor)
        return (bound + 1) / 2;
    return number >= 0 && number < bound ? bound - number : -1;
}

/* Returns whether the argument multiplies more elements than it has. */
static bool is_spread(const struct need_walk *w, const struct needed *n)
{
    const struct expected *result = n->step->expected;
    const struct expected *own = w->program->steps[n->patch->from].expected;
    if (result->kind != EXPECT_TENSOR || own->kind != EXPECT_TENSOR)
        return false;
    int64_t most = elements_from(w, result, 0), few = elements_from(w, own, 0);
    return few >= 0 && few < most;
}

/* x * x is positive whatever x is. */
static bool is_square(const struct need_walk *w, const struct needed *n)
{
    const struct patch *patches = &w->program->patches[n->step->first_patch];
    return str_starts(n->base, STR("mul")) && n->step->n_patches == 2 &&
           patches[0].from == patches[1].from;
}

/* An even power is positive whatever its base is. */
static bool is_even_power(const struct need_walk *w, const struct needed *n)
{
    int64_t exponent = str_is(n->base, "pow") ? number_of(w, n, STR("exponent")) : -1;
    return exponent >= 0 && exponent % 2 == 0;
}

/* Returns what a row needs of the argument, given what is needed of the result. */
static struct input_need need_by_row(const struct need_walk *w, const struct needed *n,
                                     const struct need_row *row, struct input_need result)
{
    const struct input_need nothing = { NEED_NOTHING, -1 };
    switch (row->kind) {
    case ROW_PASS: return result;
    case ROW_PASS_RANGE:
        return is_range(result.kind) && !is_square(w, n) && !is_even_power(w, n) ? result : nothing;
    case ROW_COMPLEMENT:
        return is_range(result.kind) ? (struct input_need){ NEED_FRACTION, -1 } : nothing;
    case ROW_PASS_INDEX:
        if (!is_index(result.kind) || result.number < 0)
            return nothing;
        result.number = shifted_bound(w, n, result.number);
        return result.number < 0 ? nothing : result;
    case ROW_SPREAD: return is_spread(w, n) ? (struct input_need){ NEED_FACTOR, -1 } : nothing;
    default: return (struct input_need){ (enum need_kind)row->kind, extent_of(w, n, row) };
    }
}

static void add_needs(const struct need_walk *w, const struct needed *n)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        const struct need_row *row = &rows[i];
        if (!str_eq(n->name, row->argument) ||
            !(str_eq(n->base, row->base) || str_is(row->base, "*")))
            continue;
        merge_need(&w->needs[n->patch->from],
                   need_by_row(w, n, row, w->needs[n->step - w->program->steps]));
    }
}

/* Returns the base name; "add_" and _foreach_add are add. */
static struct str base_of(const struct step *step)
{
    struct str base = op_schema(step->op)->base;
    if (str_starts(base, STR("_foreach_")))
        base = str_from(base, sizeof "_foreach_" - 1);
    base.n -= base.n > 1 && base.p[base.n - 1] == '_' && base.p[0] != '_';
    return base;
}

static bool walk_call(const struct need_walk *w, const struct step *step)
{
    const struct patch *patches = &w->program->patches[step->first_patch];
    struct needed n = { .step = step, .schema = ops_prepare(w->program->ops, step->op) };
    if (!n.schema)
        return false;
    n.base = base_of(step);
    for (uint32_t i = 0; i < step->n_patches; i++) {
        n.patch = &patches[i];
        if (n.patch->from < w->program->n_steps && find_argument_name(&n))
            add_needs(w, &n);
    }
    return true;
}

bool input_needs_find(const struct program *program, struct input_need *needs)
{
    const struct need_walk w = { program, ops_pool(program->ops), needs };
    for (uint32_t i = 0; i < program->n_steps; i++)
        needs[i] = (struct input_need){ NEED_NOTHING, -1 };
    for (uint32_t i = program->n_steps; i-- > 0;) {
        const struct step *step = &program->steps[i];
        bool renames = step->kind == STEP_ALIAS || step->kind == STEP_GETITEM;
        node_id from =
            renames && step->n_patches ? program->patches[step->first_patch].from : NODE_NONE;
        if (step->kind == STEP_OPERATOR && !walk_call(&w, step))
            return false;
        if (from < program->n_steps)
            merge_need(&needs[from], needs[i]);
    }
    return true;
}
