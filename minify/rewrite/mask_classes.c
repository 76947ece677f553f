/* The classes of mask_rules.def, for calls that have rows. Each check says which dimension of the
 * result has the rows, and with which numbers the rows that the mask leaves out are computed. */
#include <stdlib.h>

#include "minify/rewrite/mask_call.h"

/* ---- Arguments ---- */

bool row_read_dims(const struct row_call *c, const struct arg *arg, uint32_t ndim, uint64_t *ret)
{
    *ret = 0;
    if (!arg || !ndim || ndim > 64)
        return false;
    bool list = arg->kind == ARG_LIST || arg->kind == ARG_TUPLE;
    uint32_t n = list ? arg->u.items.n : 1;
    const struct arg *items = !list ? arg : n ? &c->m->graph->args[arg->u.items.first] : NULL;
    for (uint32_t i = 0; i < n; i++) {
        int64_t dim;
        if (!mask_int(c->m, &items[i], &dim) || dim < -(int64_t)ndim || dim >= (int64_t)ndim)
            return false;
        *ret |= UINT64_C(1) << (dim < 0 ? dim + (int64_t)ndim : dim);
    }
    return n > 0;
}

const struct arg *row_dim_arg(const struct row_call *c, uint32_t position)
{
    const struct arg *ret = mask_arg(c->m, c->id, position, "dim");
    return ret ? ret : mask_arg(c->m, c->id, UINT32_MAX, "axis");
}

static uint32_t count_below(uint64_t dims, uint32_t dim)
{
    return (uint32_t)__builtin_popcountll(dims & ((UINT64_C(1) << dim) - 1));
}

void row_set_dim(struct row_call *c, uint64_t named)
{
    uint32_t dim = row_dim(c), below = count_below(named, dim);
    c->ret.dim = dim;
    c->ret.ndim = row_ndim(c);
    c->ret.below = below;
    if (c->result && c->result->n_sizes < row_ndim(c))
        c->ret.dim = dim - below;
}

/* Returns whether a list among the arguments has something that depends on the mask. */
bool row_has_nested(const struct row_call *c)
{
    for (uint32_t i = 0; i < c->node->n_args; i++) {
        const struct arg *arg = &c->args[i];
        if (arg->kind != ARG_LIST && arg->kind != ARG_TUPLE)
            continue;
        for (uint32_t k = 0; k < arg->u.items.n; k++)
            if (row_depends(c, &c->m->graph->args[arg->u.items.first + k]))
                return true;
    }
    return false;
}

bool row_check_first(struct row_call *c)
{
    if (!c->node->n_args || !row_is_arg(c, &c->args[0]) || c->count || row_has_nested(c))
        return row_refuse(c, "its argument is not the rows alone");
    for (uint32_t i = 1; i < c->node->n_args; i++)
        if (row_depends(c, &c->args[i]))
            return row_refuse(c, "its argument is not the rows alone");
    return true;
}

/* ---- Pointwise, along other dimensions ---- */

/* All rows line up from the right, where arguments are broadcast; other arguments have 1 there. */
bool row_check_aligned(struct row_call *c, uint32_t *right)
{
    *right = mask_rows_from_right(c->m, c->row);
    for (uint32_t i = 0; i < c->node->n_args; i++) {
        const struct meta *meta = row_meta(c, &c->args[i]);
        if (!meta)
            continue;
        bool rows = row_is_arg(c, &c->args[i]);
        if (rows && mask_rows_from_right(c->m, c->args[i].u.node) != *right)
            return row_refuse(c, "its rows are broadcast to another dimension");
        if (!rows && meta->n_sizes >= *right &&
            !mask_size_is(c->m, meta, meta->n_sizes - *right, 1))
            return row_refuse(c, "another argument has rows that the mask did not select");
    }
    return !row_has_nested(c) || row_refuse(c, "a list has rows");
}

/* Arithmetic with the number of rows: a tensor replaces it, whose dtype changes no result of
 * floats. */
static bool check_count_operand(struct row_call *c)
{
    static const char *const arithmetic[] = {
        "add", "sub", "mul", "div", "truediv", "true_divide"
    };
    bool good = c->result && STR_IS_ANY(c->base, arithmetic) && c->node->n_args == 2 &&
                mask_is_floating(c->result->dtype);
    for (uint32_t i = 0; good && i < 2; i++) {
        const struct meta *meta = row_meta(c, &c->args[i]);
        good = !meta || meta->dtype == c->result->dtype;
    }
    good = good && mask_can_count(c->m, c->id, 0);
    c->ret.counts = good;
    return good || row_refuse(c, "it uses the number of rows");
}

bool row_check_each(struct row_call *c)
{
    uint32_t right;
    if (!c->result)
        return row_refuse(c, "its result was not recorded");
    if (!row_check_aligned(c, &right) || ((c->count || c->number) && !check_count_operand(c)))
        return false;
    if (c->result->n_sizes < right)
        return row_refuse(c, "its result was not recorded");
    c->ret.dim = c->result->n_sizes - right;
    return true;
}

/* All tensors among the arguments have rows in the same dimension. */
static bool check_same_rows(struct row_call *c)
{
    if (c->count || !c->node->n_args || !row_is_arg(c, &c->args[0]) || row_has_nested(c))
        return row_refuse(c, "its arguments are not all rows");
    for (uint32_t i = 1; i < c->node->n_args; i++) {
        const struct meta *meta = row_meta(c, &c->args[i]);
        if (meta && !(row_is_arg(c, &c->args[i]) && meta->n_sizes == row_ndim(c) &&
                      c->m->nodes[c->args[i].u.node].dim == row_dim(c)))
            return row_refuse(c, "its arguments are not all rows");
    }
    return true;
}

/* Sets the dimension that a call goes along where none is passed; returns false if there is none.
 */
static bool default_dim(const struct row_call *c, uint64_t *named)
{
    static const char *const first[] = { "unbind", "slice", "chunk", "split", "split_with_sizes" };
    static const char *const last[] = { "topk", "sort", "argsort", "glu" };
    *named = UINT64_C(1) << (STR_IS_ANY(c->base, last) && row_ndim(c) ? row_ndim(c) - 1 : 0);
    return STR_IS_ANY(c->base, first) || STR_IS_ANY(c->base, last);
}

static bool check_along(struct row_call *c, uint32_t position)
{
    uint64_t named;
    const struct arg *dim = row_dim_arg(c, position);
    if (!(dim ? row_read_dims(c, dim, row_ndim(c), &named) : default_dim(c, &named)))
        return row_refuse(c, "its dimension is not known");
    if (row_is_named(named, row_dim(c)))
        return row_refuse(c, "it goes along the dimension of the rows");
    row_set_dim(c, named);
    return true;
}

/* Along the rows, numbers that change no sum or product stand for those that are left out. */
static bool check_scan(struct row_call *c, uint32_t position)
{
    uint64_t named;
    if (!row_check_first(c))
        return false;
    if (!row_read_dims(c, row_dim_arg(c, position), row_ndim(c), &named))
        return row_refuse(c, "its dimension is not known");
    if (row_is_named(named, row_dim(c)))
        row_refill(c, str_is(c->base, "cumprod"));
    row_set_dim(c, named);
    return true;
}

/* Elements that rows of positions pick: 0 is a position in each dimension that has one. */
static bool check_pick(struct row_call *c, uint32_t position)
{
    if (!check_same_rows(c) || !check_along(c, position))
        return false;
    row_refill_ints(c, 0);
    return true;
}

/* ---- Norms, samples, attention ---- */

static bool check_norm(struct row_call *c, uint32_t position)
{
    double eps = 1;
    const struct arg *sizes = mask_arg(c->m, c->id, position, "normalized_shape");
    if (!row_check_first(c))
        return false;
    bool list = sizes && (sizes->kind == ARG_LIST || sizes->kind == ARG_TUPLE);
    uint32_t n = list ? sizes->u.items.n : 1;
    if (!sizes || n >= mask_rows_from_right(c->m, c->row))
        return row_refuse(c, "it goes along the dimension of the rows");
    row_set_dim(c, 0);
    const struct arg *arg = mask_arg(c->m, c->id, str_is(c->base, "rms_norm") ? 3 : 4, "eps");
    if (c->m->options->differentiated && mask_number(arg, &eps) && eps <= 0)
        return row_refuse(c, "its derivative is not finite for rows that the mask leaves out");
    return true;
}

/* The first item has rows, those of the weights are sums over them. */
static bool check_norm_grad(struct row_call *c, uint32_t position)
{
    uint32_t right = mask_rows_from_right(c->m, c->row);
    const struct arg *sizes = mask_arg(c->m, c->id, position, "normalized_shape");
    bool list = sizes && (sizes->kind == ARG_LIST || sizes->kind == ARG_TUPLE);
    uint32_t n = list ? sizes->u.items.n : 1;
    if (!sizes || c->count || row_has_nested(c) || n >= right)
        return row_refuse(c, "it goes along the dimension of the rows");
    for (uint32_t i = 0; i < c->node->n_args; i++) {
        const struct meta *meta = row_meta(c, &c->args[i]);
        bool rows = row_is_arg(c, &c->args[i]);
        if (meta && (rows ? mask_rows_from_right(c->m, c->args[i].u.node) != right
                          : meta->n_sizes >= right))
            return row_refuse(c, "its arguments have other rows");
    }
    row_refill(c, 0);
    row_set_dim(c, 0);
    c->ret.row_items = 1;
    return true;
}

/* Rows are samples of a batch, which stand in the first of `ndim` dimensions; 0: as many as the
 * second argument has. */
static bool check_sample(struct row_call *c, uint32_t ndim)
{
    const struct meta *weight = c->node->n_args > 1 ? row_meta(c, &c->args[1]) : NULL;
    if (!row_check_first(c))
        return false;
    uint32_t needed = ndim ? ndim : weight ? weight->n_sizes : 0;
    if (row_dim(c) != 0 || needed < 2 || row_ndim(c) < needed || (!ndim && row_ndim(c) != needed))
        return row_refuse(c, "its rows are no samples of a batch");
    row_set_dim(c, 0);
    return true;
}

static bool check_attention(struct row_call *c)
{
    uint32_t right;
    if (c->count || !c->result || !row_check_aligned(c, &right))
        return row_refuse(c, "its rows are no samples of a batch");
    const struct arg *p = mask_arg(c->m, c->id, 4, "dropout_p");
    if (row_is_arg(c, mask_arg(c->m, c->id, 3, "attn_mask")))
        row_refill(c, 1); /* a row without any True would be NaN */
    double dropout = 0;
    if (right <= 2 || c->result->n_sizes < right)
        return row_refuse(c, "it goes along the dimension of the rows");
    if (p && !(mask_number(p, &dropout) && dropout == 0))
        return row_refuse(c, "its random numbers depend on the number of rows");
    c->ret.dim = c->result->n_sizes - right;
    return true;
}

/* ---- The table ---- */

bool row_check_class(struct row_call *c, const struct row_rule *rule)
{
    bool makes = rule->class == ROW_CREATE || rule->class == ROW_EXPAND;
    c->ret.role = c->result ? ROLE_ROWS : ROLE_TUPLE;
    c->ret.row_items = UINT32_MAX;
    if (c->row == NODE_NONE && !makes)
        return row_refuse(c, "it uses the number or the positions of the True elements");
    if (c->number && rule->class != ROW_EACH && rule->class != ROW_VIEW && !makes)
        return row_refuse(c, "it uses what is computed from the number of rows");
    switch (rule->class) {
    case ROW_EACH: return row_check_each(c);
    case ROW_DIM: return check_same_rows(c) && check_along(c, rule->argument);
    case ROW_SCAN: return check_scan(c, rule->argument);
    case ROW_PICK: return check_pick(c, rule->argument);
    case ROW_CHOOSE: return row_check_first(c) && check_along(c, rule->argument);
    case ROW_NORM: return check_norm(c, rule->argument);
    case ROW_NORM_GRAD: return check_norm_grad(c, rule->argument);
    case ROW_SAMPLE: return check_sample(c, rule->argument);
    case ROW_ATTENTION: return check_attention(c);
    case ROW_MATMUL: return row_check_matmul(c, rule->argument);
    case ROW_VIEW: return row_check_view(c, rule->argument);
    case ROW_EXPAND: return row_check_expand(c, rule->argument);
    case ROW_CREATE: return row_check_create(c, rule->argument);
    case ROW_MOVE: return row_check_move(c);
    case ROW_PERMUTE: return row_check_permute(c);
    case ROW_CAT: return row_check_cat(c);
    case ROW_LOOKUP: return row_check_lookup(c, rule->argument);
    case ROW_ADD_UP: return row_check_add_up(c, rule->argument);
    case ROW_LOSS: return row_check_loss(c, rule->argument);
    case ROW_LOSS_GRAD: return row_check_loss_grad(c, rule->argument);
    case ROW_LABELS: return row_check_labels(c, rule->argument);
    }
    return false;
}
