/* Arguments and metas of calls, as the rewrite reads them. */
#include <math.h>
#include <stdlib.h>

#include "minify/rewrite/mask_graph.h"

#include "minify/candidate/engines.h"
#include "trace/graph/graph_operator.h"

const struct meta *mask_tensor(const struct masker *m, node_id id)
{
    const struct meta *meta = node_meta(m->graph, &m->graph->nodes[id]);
    bool plain = meta && meta->kind == META_TENSOR && !meta->wrapper.n;
    return plain && meta->n_sizes <= TENSOR_MAX_DIM ? meta : NULL;
}

struct str mask_base(const struct node *node)
{
    const struct graph_operator *row =
        node->op == NODE_CALL_FUNCTION ? graph_operator_by_target(node->target) : NULL;
    struct str target = row && str_eq(row->inplace, node->target) ? row->infix : node->target;
    struct str base = target_base_name(target);
    bool inplace = base.n > 1 && base.p[base.n - 1] == '_' && base.p[base.n - 2] != '_';
    return inplace ? str_first(base, base.n - 1) : base;
}

const struct arg *mask_arg(const struct masker *m, node_id id, uint32_t position, const char *name)
{
    const struct node *node = &m->graph->nodes[id];
    const struct arg *args = node_args(m->graph, node);
    for (uint32_t i = 0; i < node->n_args; i++)
        if (args[i].key.n ? str_is(args[i].key, name) : i == position)
            return &args[i];
    return NULL;
}

bool mask_int(const struct masker *m, const struct arg *arg, int64_t *ret)
{
    if (arg && arg->kind == ARG_NODE) {
        const struct meta *meta = node_meta(m->graph, &m->graph->nodes[arg->u.node]);
        const struct expr *expr =
            meta && meta->kind == META_SYM ? expr_at(&m->graph->pool->exprs, meta->sizes[0]) : NULL;
        if (!expr || expr->kind != EXPR_INT || !expr->fits)
            return false;
        *ret = expr->value;
        return true;
    }
    if (!arg || arg->kind != ARG_INT)
        return false;
    *ret = arg->u.integer;
    return true;
}

bool mask_number(const struct arg *arg, double *ret)
{
    if (!arg || (arg->kind != ARG_INT && arg->kind != ARG_FLOAT && arg->kind != ARG_BOOL))
        return false;
    *ret = arg->kind == ARG_FLOAT ? arg->u.number : (double)arg->u.integer;
    return true;
}

bool mask_size_is(const struct masker *m, const struct meta *meta, uint32_t dim, int64_t size)
{
    const struct expr *expr = expr_at(&m->graph->pool->exprs, meta->sizes[dim]);
    return expr->kind == EXPR_INT && expr->fits && expr->value == size;
}

bool mask_sizes_equal(const struct masker *m, const struct meta *a, uint32_t i,
                      const struct meta *b, uint32_t j)
{
    const struct expr_pool *pool = &m->graph->pool->exprs;
    return expr_equal(pool, a->sizes[i], pool, b->sizes[j]);
}

static bool has_unbacked(const struct expr_pool *pool, expr_id id)
{
    const struct expr *expr = expr_at(pool, id);
    if (expr->kind == EXPR_SYMBOL)
        return is_unbacked_name(expr->text);
    for (uint32_t i = 0; i < expr->n_children; i++)
        if (has_unbacked(pool, expr_child(pool, id, i)))
            return true;
    return false;
}

bool mask_size_is_unbacked(const struct masker *m, const struct meta *meta, uint32_t dim)
{
    return has_unbacked(&m->graph->pool->exprs, meta->sizes[dim]);
}

bool mask_row_block(const struct masker *m, expr_id size, expr_id unit, int64_t *ret)
{
    const struct expr_pool *pool = &m->graph->pool->exprs;
    const struct expr *expr = expr_at(pool, size);
    *ret = 1;
    if (unit == EXPR_NONE)
        return false;
    if (expr_equal(pool, size, pool, unit))
        return true;
    if (expr->kind != EXPR_OP || !str_is(expr->text, "*") || expr->n_children != 2)
        return false;
    for (uint32_t i = 0; i < 2; i++) {
        const struct expr *factor = expr_at(pool, expr_child(pool, size, i));
        *ret = factor->value;
        if (factor->kind == EXPR_INT && factor->fits && factor->value > 0 &&
            expr_equal(pool, expr_child(pool, size, !i), pool, unit))
            return true;
    }
    return false;
}

bool mask_is_floating(enum dtype dtype)
{
    return dtype == DTYPE_F64 || dtype == DTYPE_F32 || dtype == DTYPE_F16 || dtype == DTYPE_BF16;
}

bool mask_is_setitem(const struct node *node)
{
    return node->form == FORM_SETITEM || str_is(node->target, "operator.setitem");
}

bool mask_accumulates(const struct masker *m, node_id id, bool *ret)
{
    const struct node *node = &m->graph->nodes[id];
    const struct arg *arg = mask_is_setitem(node) ? NULL : mask_arg(m, id, 3, "accumulate");
    *ret = str_is(mask_base(node), "index_add");
    if (*ret || str_is(mask_base(node), "index_copy") || !arg)
        return true;
    *ret = arg->u.integer != 0;
    return arg->kind == ARG_BOOL || arg->kind == ARG_INT;
}

uint32_t mask_rows_from_right(const struct masker *m, node_id id)
{
    return mask_tensor(m, id)->n_sizes - m->nodes[id].dim;
}

bool mask_can_count(const struct masker *m, node_id id, uint32_t depth)
{
    enum { DEPTH_MOST = 8 };
    static const char *const arithmetic[] = { "add", "sub", "mul" };
    const struct node *node = &m->graph->nodes[id];
    const struct arg *args = node_args(m->graph, node);
    for (uint32_t i = 0; i < node->n_args; i++) {
        if (args[i].kind != ARG_NODE || m->nodes[args[i].u.node].role != ROLE_NUMBER)
            continue;
        node_id from = args[i].u.node;
        bool good = depth < DEPTH_MOST && m->graph->nodes[from].n_args == 2 &&
                    STR_IS_ANY(mask_base(&m->graph->nodes[from]), arithmetic);
        if (!good || !mask_can_count(m, from, depth + 1))
            return false;
    }
    return true;
}

/* ---- Sizes that guards make numbers ---- */

static bool walk_whole(struct masker *m, struct err *err)
{
    m->replay = engines_take(data_of(m->whole)->texts->engines, err);
    return m->replay && engines_walk(m->replay, m->whole, NULL, &m->arena, err);
}

/* Returns the size in the walk, in which guards replace symbols; SYM_NONE: it is not known. */
static sym_id walked_size(struct masker *m, node_id id, uint32_t dim)
{
    struct err err = { 0 };
    if (!m->walked && !walk_whole(m, &err)) {
        m->failed |= err.no_memory;
        mask_end_walk(m);
    }
    m->walked = true;
    if (!m->replay || id >= m->replay->program->n_steps)
        return SYM_NONE;
    const struct value value = m->replay->program->first[id];
    if (value.kind != VALUE_TENSOR || dim >= value.u.tensor.meta->ndim)
        return SYM_NONE;
    return env_replace(m->replay->env, value.u.tensor.meta->size[dim]);
}

bool mask_known_size(struct masker *m, node_id id, uint32_t dim, int64_t *ret)
{
    sym_id size = walked_size(m, id, dim);
    return size != SYM_NONE && sym_to_i64(ops_pool(m->replay->ops), size, ret);
}

bool mask_same_size(struct masker *m, node_id a, uint32_t i, node_id b, uint32_t j)
{
    if (mask_sizes_equal(m, mask_tensor(m, a), i, mask_tensor(m, b), j))
        return true;
    sym_id size = walked_size(m, a, i);
    return size != SYM_NONE && size == walked_size(m, b, j);
}

void mask_end_walk(struct masker *m)
{
    if (m->replay)
        engines_give(data_of(m->whole)->texts->engines, m->replay);
    m->replay = NULL;
}
