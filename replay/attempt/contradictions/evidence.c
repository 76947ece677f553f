#include "replay/attempt/contradictions/evidence.h"

#include "replay/shape/expr/solve.h"

bool evidence_init(struct evidence *e, const struct attempt_records *records,
                   struct contradictions *found, struct err *err)
{
    *e = (struct evidence){ .records = records, .found = found };
    e->pool = sym_pool_new(err);
    return e->pool != NULL;
}

void evidence_release(struct evidence *e)
{
    intern_release(&e->names);
    vec_release(&e->hints);
    intern_release(&e->size_texts);
    vec_release(&e->text_sizes);
    vec_release(&e->sizes);
    intern_release(&e->tree_sources);
    vec_release(&e->tree_facts);
    arena_release(&e->arena);
    sym_pool_free(e->pool);
}

/* Reads a number, or SYM_NONE. */
static sym_id read_number(struct evidence *e, struct str text)
{
    struct err ignored = { 0 };
    sym_id ret = text.n ? sym_parse(e->pool, text, NULL, NULL) : SYM_NONE;
    sym_ok(e->pool, &ignored);
    return ret != SYM_NONE && sym_is_number(e->pool, ret) ? ret : SYM_NONE;
}

void evidence_set_hint(struct evidence *e, struct str name, struct str value)
{
    if (name.n == 0)
        return;
    uint32_t id = intern(&e->names, name);
    if (id == INTERN_NONE || (id == e->hints.n && !vec_push(&e->hints, read_number(e, value))))
        e->failed = true;
}

struct value_reader {
    struct evidence *e;
    struct str name; /* a symbol with another value than its hint, or "" */
    sym_id value;
};

static sym_id value_of_symbol(void *user, sym_id symbol)
{
    const struct value_reader *r = user;
    struct str name = sym_name(r->e->pool, symbol);
    uint32_t id = intern_find(&r->e->names, name);
    if (r->name.n && str_eq(r->name, name))
        return r->value;
    return id == INTERN_NONE ? SYM_NONE : r->e->hints.v[id];
}

static sym_id evaluate(struct evidence *e, sym_id expr, struct value_reader reader)
{
    struct err ignored = { 0 };
    if (expr == SYM_NONE || sym_is_number(e->pool, expr))
        return expr;
    sym_id ret = sym_evaluate(e->pool, expr, value_of_symbol, &reader);
    sym_ok(e->pool, &ignored);
    return ret;
}

sym_id evidence_value(struct evidence *e, struct str text, struct str name, sym_id value)
{
    struct err ignored = { 0 };
    sym_id expr = sym_parse(e->pool, text, NULL, NULL);
    sym_ok(e->pool, &ignored); /* a text that is no expression must not fail the next one */
    return evaluate(e, expr, (struct value_reader){ e, name, value });
}

/* Returns the value of an expression, or the expression; it is evaluated once. */
static sym_id size_of(struct evidence *e, sym_id expr)
{
    if (expr == SYM_NONE || sym_is_number(e->pool, expr))
        return expr;
    while (e->sizes.n <= expr)
        if (!vec_push(&e->sizes, SYM_NONE)) {
            e->failed = true;
            return expr;
        }
    if (e->sizes.v[expr] == SYM_NONE) {
        sym_id value = evaluate(e, expr, (struct value_reader){ .e = e });
        e->sizes.v[expr] = value == SYM_NONE ? expr : value;
    }
    return e->sizes.v[expr];
}

sym_id evidence_size(struct evidence *e, struct str text)
{
    struct err ignored = { 0 };
    int64_t number;
    if (str_to_i64(text, &number))
        return sym_integer(e->pool, number);
    uint32_t id = intern(&e->size_texts, text);
    if (id == INTERN_NONE)
        return e->failed = true, SYM_NONE;
    if (id == e->text_sizes.n) {
        sym_id size = size_of(e, sym_parse(e->pool, text, NULL, NULL));
        sym_ok(e->pool, &ignored);
        e->failed |= !vec_push(&e->text_sizes, size);
        return size;
    }
    return id < e->text_sizes.n ? e->text_sizes.v[id] : SYM_NONE;
}

static const sym_id *evaluate_list(struct evidence *e, const struct graph *graph,
                                   const expr_id *exprs, uint32_t n)
{
    sym_id *ret = arena_array(&e->arena, sym_id, (size_t)n + 1);
    e->failed |= !ret;
    for (uint32_t i = 0; ret && i < n; i++) {
        struct err ignored = { 0 };
        ret[i] = size_of(e, sym_read(e->pool, &graph->pool->exprs, exprs[i], NULL, NULL));
        sym_ok(e->pool, &ignored);
    }
    return ret;
}

struct shape evidence_shape(struct evidence *e, const struct graph *graph, const struct node *node)
{
    struct shape ret = { .kind = SHAPE_NOTHING };
    if (node->meta == META_NONE)
        return ret;
    const struct meta *meta = &graph->pool->metas[node->meta];
    if (meta->kind == META_SYM) {
        const sym_id *number = evaluate_list(e, graph, meta->sizes, 1);
        ret.kind = SHAPE_NUMBER;
        ret.number = number ? number[0] : SYM_NONE;
        return ret;
    }
    /* The parts of a wrapper may be described instead of itself. */
    bool plain = !meta->wrapper.n || str_is(meta->wrapper, "Parameter");
    if (meta->kind != META_TENSOR || !plain || meta->placement.n || meta->n_sizes > TENSOR_MAX_DIM)
        return ret;
    ret.dtype = meta->dtype;
    ret.ndim = meta->n_sizes;
    if (!device_parse(meta->device, &ret.device))
        ret.device = (struct device){ DEVICE_NONE, -1 };
    ret.size = evaluate_list(e, graph, meta->sizes, meta->n_sizes);
    if (meta->has_strides)
        ret.stride = evaluate_list(e, graph, meta->strides, meta->n_sizes);
    ret.kind = ret.size ? SHAPE_TENSOR : SHAPE_NOTHING;
    return ret;
}

struct shape evidence_described(struct evidence *e, const struct input_tensor *t)
{
    struct shape ret = { .kind = SHAPE_NOTHING };
    sym_id *size = arena_array(&e->arena, sym_id, (size_t)t->ndim + 1);
    sym_id *stride = arena_array(&e->arena, sym_id, (size_t)t->ndim + 1);
    e->failed |= !size || !stride;
    if (!t->concrete || !size || !stride)
        return ret;
    for (uint32_t d = 0; d < t->ndim; d++) {
        size[d] = sym_integer(e->pool, t->size[d]);
        stride[d] = sym_integer(e->pool, t->stride[d]);
    }
    return (struct shape){ .kind = SHAPE_TENSOR,
                           .dtype = t->dtype,
                           .device = t->device,
                           .ndim = t->ndim,
                           .size = size,
                           .stride = stride };
}

struct symbol_list {
    sym_id symbols[8];
    uint32_t n;
};

static void list_symbol(void *user, sym_id symbol)
{
    struct symbol_list *list = user;
    if (list->n < sizeof list->symbols / sizeof *list->symbols)
        list->symbols[list->n] = symbol;
    list->n++;
}

/* Two expressions without a value differ for certain if they are of the same symbols; a retrace
 * gives unbacked symbols other names. */
static bool sizes_agree(struct sym_pool *pool, sym_id a, sym_id b)
{
    struct symbol_list x = { .n = 0 }, y = { .n = 0 };
    if (a == b || a == SYM_NONE || b == SYM_NONE)
        return true;
    bool numbers[] = { sym_is_number(pool, a), sym_is_number(pool, b) };
    if (numbers[0] || numbers[1])
        return numbers[0] != numbers[1];
    sym_free_symbols(pool, a, list_symbol, &x);
    sym_free_symbols(pool, b, list_symbol, &y);
    return x.n != y.n || x.n > 8 || memcmp(x.symbols, y.symbols, x.n * sizeof *x.symbols) != 0;
}

/* A device without an index is the current one. */
static bool devices_agree(struct device a, struct device b)
{
    if (a.type == DEVICE_NONE || b.type == DEVICE_NONE || device_equal(a, b))
        return true;
    return a.type == b.type && (a.index < 0 || b.index < 0);
}

bool shapes_agree(struct sym_pool *pool, const struct shape *a, const struct shape *b)
{
    if (a->kind == SHAPE_NOTHING || b->kind == SHAPE_NOTHING)
        return true;
    if (a->kind != b->kind)
        return false;
    if (a->kind == SHAPE_NUMBER)
        return sizes_agree(pool, a->number, b->number);
    bool whole = !a->sizes_only && !b->sizes_only;
    if (a->ndim != b->ndim ||
        (whole && (a->dtype != b->dtype || !devices_agree(a->device, b->device))))
        return false;
    bool ret = true;
    for (uint32_t d = 0; d < a->ndim && ret; d++)
        ret = sizes_agree(pool, a->size[d], b->size[d]) &&
              (!a->stride || !b->stride || sizes_agree(pool, a->stride[d], b->stride[d]));
    return ret;
}

bool storage_needs(const struct input_tensor *t, int dim, int64_t size, int64_t *ret)
{
    int64_t extent = t->offset, unit = dtype_size(t->dtype), step;
    if (t->storage_bytes <= 0 || !unit || !t->concrete)
        return false;
    for (uint32_t d = 0; d < t->ndim; d++) {
        int64_t n = (int)d == dim ? size : t->size[d];
        if (n == 0)
            return false;
        if (__builtin_mul_overflow(n - 1, t->stride[d], &step) ||
            __builtin_add_overflow(extent, step, &extent))
            extent = INT64_MAX / 2;
    }
    if (__builtin_add_overflow(extent, 1, &extent) || __builtin_mul_overflow(extent, unit, ret))
        *ret = INT64_MAX;
    return true;
}

int storage_fits(const struct input_tensor *t, int dim, int64_t size)
{
    int64_t bytes;
    return storage_needs(t, dim, size, &bytes) ? bytes == t->storage_bytes : -1;
}

void evidence_add(struct evidence *e, struct contradiction row)
{
    struct arena *arena = &e->found->arena;
    row.attempt = e->records->attempt;
    row.name = arena_copy(arena, row.name);
    row.recorded = arena_copy(arena, row.recorded);
    row.expected = arena_copy(arena, row.expected);
    e->failed |= !row.name.p || !row.recorded.p || !row.expected.p;
    e->failed |= !vec_push(&e->found->list, row);
}
