/* Converts recorded metas into the environment's expressions. */
#include "replay/program/program.h"

static bool is_unbacked_name(struct str name)
{
    struct str rest = str_from(name, str_starts(name, STR("zuf")) ? 3 : 1);
    uint64_t number;
    return name.n && (name.p[0] == 'u' || str_starts(name, STR("zuf"))) &&
           str_to_u64(rest, &number);
}

struct unbacked_name_search {
    struct sym_pool *pool;
    bool found;
};

static void find_unbacked_name(void *user, sym_id symbol)
{
    struct unbacked_name_search *search = user;
    search->found |= is_unbacked_name(sym_name(search->pool, symbol));
}

static bool has_unbacked_name(struct sym_pool *pool, sym_id e)
{
    struct unbacked_name_search search = { pool, false };
    if (!sym_is_number(pool, e))
        sym_free_symbols(pool, e, find_unbacked_name, &search);
    return search.found;
}

struct meta_reader {
    struct sym_pool *pool;
    const struct graph *graph;
    sym_resolver *symbol;
    void *user;
    struct expected *expected;
    bool failed, no_memory;
};

static sym_id convert_meta_expr(struct meta_reader *r, expr_id expr)
{
    sym_id ret = sym_read(r->pool, &r->graph->pool->exprs, expr, r->symbol, r->user);
    if (ret == SYM_NONE) {
        struct err why = { 0 };
        sym_ok(r->pool, &why);
        r->failed = true;
        r->no_memory |= why.kind == ERR_ENV;
    } else if (!r->expected->unbacked) {
        r->expected->unbacked = has_unbacked_name(r->pool, ret);
    }
    return ret;
}

/* A size or a stride that was computed from a division by 0 is none. */
static sym_id convert_size(struct meta_reader *r, expr_id expr)
{
    sym_id ret = convert_meta_expr(r, expr);
    r->failed |=
        ret != SYM_NONE && (sym_has(r->pool, ret, SYM_ID_NAN) || sym_has(r->pool, ret, SYM_ID_ZOO));
    return ret;
}

static const sym_id *read_exprs(struct meta_reader *r, const expr_id *exprs, uint32_t n,
                                struct arena *arena)
{
    sym_id *ret = arena_array(arena, sym_id, (size_t)n + 1);
    for (uint32_t i = 0; ret && i < n; i++)
        ret[i] = convert_size(r, exprs[i]);
    r->no_memory |= !ret;
    return ret;
}

static void convert_tensor_meta(struct meta_reader *r, const struct meta *meta, struct arena *arena)
{
    struct expected *e = r->expected;
    e->kind = EXPECT_TENSOR;
    e->dtype = meta->dtype;
    e->layout = str_is(meta->wrapper, "NestedTensor") ? LAYOUT_JAGGED : LAYOUT_STRIDED;
    if (!device_parse(meta->device, &e->device))
        e->device = (struct device){ DEVICE_NONE, -1 };
    e->ndim = meta->n_sizes;
    e->size = read_exprs(r, meta->sizes, meta->n_sizes, arena);
    if (meta->has_strides)
        e->stride = read_exprs(r, meta->strides, meta->n_sizes, arena);
}

const struct expected *expected_read(struct ops *ops, const struct graph *graph, uint32_t meta_id,
                                     sym_resolver *symbol, void *user, struct arena *arena)
{
    struct expected *ret = arena_new(arena, struct expected);
    struct meta_reader r = { ops_pool(ops), graph, symbol, user, ret, false, false };
    if (!ret || meta_id == META_NONE)
        return ret;
    const struct meta *meta = &graph->pool->metas[meta_id];
    ret->text = meta->text;
    if (meta->kind == META_TENSOR && meta->n_sizes <= TENSOR_MAX_DIM) {
        convert_tensor_meta(&r, meta, arena);
    } else if (meta->kind == META_SYM) {
        ret->kind = EXPECT_NUMBER;
        ret->number = convert_meta_expr(&r, meta->sizes[0]);
    }
    if (r.no_memory)
        return NULL;
    if (r.failed) {
        ret->kind = EXPECT_NOTHING;
        ret->unreadable = true;
    }
    return ret;
}

static sym_id contiguous_stride(struct sym_pool *pool, const struct expected *e, uint32_t dim)
{
    sym_id stride = SYM_ID_ONE;
    for (uint32_t i = e->ndim; i-- > dim + 1;)
        stride = sym_mul(pool, sym_max(pool, e->size[i], SYM_ID_ONE), stride);
    return stride;
}

struct value expected_value(struct ops *ops, const struct expected *e)
{
    sym_id strides[TENSOR_MAX_DIM];
    if (e->kind == EXPECT_NUMBER) {
        enum number_type type = number_type_of(ops_env(ops), e->number);
        return value_sym(type == NUMBER_BOOL    ? VALUE_BOOL
                         : type == NUMBER_FLOAT ? VALUE_FLOAT
                                                : VALUE_INT,
                         e->number);
    }
    if (e->kind != EXPECT_TENSOR)
        return value_none();
    for (uint32_t i = 0; i < e->ndim && !e->stride; i++)
        strides[i] = contiguous_stride(ops_pool(ops), e, i);
    return value_tensor(
        ops_new_tensor(ops, &(struct tensor_meta){ .dtype = e->dtype,
                                                   .layout = e->layout,
                                                   .device = e->device,
                                                   .ndim = e->ndim,
                                                   .size = e->size,
                                                   .stride = e->stride ? e->stride : strides,
                                                   .offset = SYM_ID_ZERO }));
}
