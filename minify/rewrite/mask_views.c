/* Calls that move rows: views, permutations, creation and concatenation. Each check says which
 * dimension of the result has the rows. */
#include <stdlib.h>

#include "minify/rewrite/mask_call.h"

/* ---- Lists of sizes ---- */

/* Returns the first of the sizes or dimensions that a call lists, in a list or one by one, from
 * argument `at` on, and their number. */
static const struct arg *listed_items(const struct row_call *c, uint32_t at, uint32_t *n)
{
    *n = 0;
    if (c->node->n_args <= at || c->args[at].key.n)
        return NULL;
    const struct arg *first = &c->args[at];
    if (first->kind == ARG_LIST || first->kind == ARG_TUPLE) {
        *n = first->u.items.n;
        return *n ? &c->m->graph->args[first->u.items.first] : NULL;
    }
    while (*n + at < c->node->n_args && !c->args[*n + at].key.n)
        ++*n;
    return first;
}

/* Returns whether an argument is a size of the result that is a multiple of the number of rows. */
static bool is_count(const struct row_call *c, const struct arg *arg, uint32_t dim)
{
    int64_t block;
    node_id from = c->row == NODE_NONE ? c->first : c->row;
    if (arg->kind != ARG_NODE || dim >= c->result->n_sizes)
        return false;
    enum mask_role role = c->m->nodes[arg->u.node].role;
    const struct meta *meta = node_meta(c->m->graph, &c->m->graph->nodes[arg->u.node]);
    const struct expr_pool *pool = &c->m->graph->pool->exprs;
    return (role == ROLE_COUNT || role == ROLE_NUMBER) && meta && meta->kind == META_SYM &&
           expr_equal(pool, meta->sizes[0], pool, c->result->sizes[dim]) &&
           mask_row_block(c->m, meta->sizes[0], c->m->nodes[from].unit, &block) &&
           mask_can_count(c->m, c->id, 0);
}

/* Returns whether item `at` of a list of sizes is that of the rows, or -1 where that is allowed,
 * and no other depends on it. */
static bool is_rows_size(const struct row_call *c, const struct arg *items, uint32_t n, uint32_t at,
                         bool minus)
{
    int64_t size;
    for (uint32_t i = 0; i < n; i++)
        if (i != at && row_depends(c, &items[i]))
            return false;
    return at < n &&
           (is_count(c, &items[at], at) || (minus && items[at].kind == ARG_INT &&
                                            mask_int(c->m, &items[at], &size) && size == -1));
}

static bool read_size(const struct row_call *c, const struct meta *meta, uint32_t dim, int64_t *ret)
{
    const struct expr *expr = expr_at(&c->m->graph->pool->exprs, meta->sizes[dim]);
    *ret = expr->value;
    return expr->kind == EXPR_INT && expr->fits && expr->value >= 0;
}

/* Returns whether the first dimensions of two shapes have equally many elements. */
static bool equal_before(const struct row_call *c, const struct meta *a, uint32_t n,
                         const struct meta *b, uint32_t k)
{
    bool same = n == k;
    for (uint32_t i = 0; same && i < n; i++)
        same = mask_sizes_equal(c->m, a, i, b, i);
    int64_t left = 1, right = 1, size;
    for (uint32_t i = 0; !same && i < n; i++)
        if (!read_size(c, a, i, &size) || __builtin_mul_overflow(left, size, &left))
            return false;
    for (uint32_t i = 0; !same && i < k; i++)
        if (!read_size(c, b, i, &size) || __builtin_mul_overflow(right, size, &right))
            return false;
    return left == right;
}

/* The rows' dimension stays one of its own. */
bool row_check_view(struct row_call *c, uint32_t position)
{
    uint32_t n, at = 0;
    const struct arg *items = listed_items(c, position, &n);
    if (!row_is_arg(c, &c->args[0]) || !items || !c->result || c->result->n_sizes != n)
        return row_refuse(c, "its sizes are not listed");
    const struct meta *from = mask_tensor(c->m, c->row);
    int64_t block;
    while (at < n && !mask_row_block(c->m, c->result->sizes[at], c->m->nodes[c->row].unit, &block))
        at++;
    if (!is_rows_size(c, items, n, at, true))
        return row_refuse(c, "none of its sizes is the number of rows");
    if (!equal_before(c, from, row_dim(c), c->result, at))
        return row_refuse(c, "it merges rows with other dimensions");
    c->ret.dim = at;
    return true;
}

/* x.new_zeros(sizes) reads the dtype and the device of x only. */
bool row_check_create(struct row_call *c, uint32_t position)
{
    uint32_t n, at = 0;
    const struct arg *items = listed_items(c, position, &n);
    for (uint32_t i = 0; i < position; i++)
        if (row_depends(c, &c->args[i]) && !row_is_arg(c, &c->args[i]))
            return row_refuse(c, "it uses the number or the positions of the True elements");
    while (items && c->result && at < n && !is_count(c, &items[at], at))
        at++;
    if (items && at == n && c->row != NODE_NONE && !c->count && c->result) {
        c->ret.role = ROLE_COUNTED;
        return true;
    }
    if (!items || !c->result || c->result->n_sizes != n || !is_rows_size(c, items, n, at, false))
        return row_refuse(c, "none of its sizes is the number of rows");
    c->ret.dim = at;
    return true;
}

/* expand() of rows, or of a tensor that gets rows, all equal. */
bool row_check_expand(struct row_call *c, uint32_t position)
{
    uint32_t n, at;
    const struct arg *items = listed_items(c, position, &n);
    const struct meta *self = row_meta(c, &c->args[0]);
    if (!row_is_arg(c, &c->args[0])) {
        if (!self || !row_check_create(c, position))
            return row_refuse(c, "none of its sizes is the number of rows");
        uint32_t right = n - c->ret.dim;
        return self->n_sizes < right || mask_size_is(c->m, self, self->n_sizes - right, 1) ||
               row_refuse(c, "another argument has rows that the mask did not select");
    }
    uint32_t right = mask_rows_from_right(c->m, c->row);
    if (!items || n < right || !c->result || c->result->n_sizes != n)
        return row_refuse(c, "its sizes are not listed");
    at = n - right;
    if (!is_rows_size(c, items, n, at, true))
        return row_refuse(c, "none of its sizes is the number of rows");
    c->ret.dim = at;
    return true;
}

/* The place of a dimension when two are exchanged. */
static uint32_t swap_dims(uint32_t dim, uint32_t a, uint32_t b)
{
    return dim == a ? b : dim == b ? a : dim;
}

static bool check_swap(struct row_call *c)
{
    uint64_t a, b;
    uint32_t ndim = row_ndim(c), dim = row_dim(c);
    if (str_is(c->base, "t") || str_is(c->base, "numpy_T") || str_is(c->base, "T")) {
        c->ret.dim = ndim - 1 - dim;
        return ndim <= 2 || row_refuse(c, "its dimensions are not known");
    }
    if (str_is(c->base, "mT")) {
        c->ret.dim = ndim < 2 ? dim : swap_dims(dim, ndim - 2, ndim - 1);
        return ndim >= 2 || row_refuse(c, "its dimensions are not known");
    }
    if (!row_read_dims(c, mask_arg(c->m, c->id, 1, "dim0"), ndim, &a) ||
        !row_read_dims(c, mask_arg(c->m, c->id, 2, "dim1"), ndim, &b))
        return row_refuse(c, "its dimensions are not known");
    c->ret.dim = swap_dims(dim, (uint32_t)__builtin_ctzll(a), (uint32_t)__builtin_ctzll(b));
    return true;
}

static bool check_flatten(struct row_call *c)
{
    uint64_t first, last;
    uint32_t ndim = row_ndim(c), dim = row_dim(c);
    const struct arg *end = mask_arg(c->m, c->id, 2, "end_dim");
    if (!row_read_dims(c, mask_arg(c->m, c->id, 1, "start_dim"), ndim, &first) ||
        (end && !row_read_dims(c, end, ndim, &last)))
        return row_refuse(c, "its dimensions are not known");
    uint32_t from = (uint32_t)__builtin_ctzll(first);
    uint32_t to = end ? (uint32_t)__builtin_ctzll(last) : ndim - 1;
    if (dim > from && dim <= to)
        return row_refuse(c, "it merges rows with other dimensions");
    c->ret.dim = dim > to && to > from ? dim - (to - from) : dim;
    return true;
}

static bool check_squeeze(struct row_call *c)
{
    uint64_t named;
    const struct meta *from = mask_tensor(c->m, c->row);
    if (!row_read_dims(c, mask_arg(c->m, c->id, 1, "dim"), from->n_sizes, &named))
        return row_refuse(c, "its dimensions are not known");
    if (row_is_named(named, row_dim(c)))
        return row_refuse(c, "it depends on whether there is one row");
    uint32_t removed = 0;
    for (uint32_t d = 0; d < row_dim(c); d++)
        removed += row_is_named(named, d) && mask_size_is(c->m, from, d, 1);
    c->ret.dim = row_dim(c) - removed;
    return true;
}

bool row_check_move(struct row_call *c)
{
    uint64_t named;
    static const char *const swaps[] = { "t",         "T",        "mT",      "numpy_T",
                                         "transpose", "swapaxes", "swapdims" };
    if (!row_check_first(c) || !c->result)
        return row_refuse(c, "its argument is not the rows alone");
    uint32_t dim = row_dim(c), ndim = row_ndim(c);
    if (STR_IS_ANY(c->base, swaps))
        return check_swap(c);
    if (str_is(c->base, "flatten"))
        return check_flatten(c);
    if (str_is(c->base, "squeeze"))
        return check_squeeze(c);
    bool adds = str_is(c->base, "unsqueeze");
    if (!row_read_dims(c, mask_arg(c->m, c->id, 1, "dim"), ndim + adds, &named))
        return row_refuse(c, "its dimensions are not known");
    uint32_t at = (uint32_t)__builtin_ctzll(named);
    if (adds)
        c->ret.dim = dim + (at <= dim);
    else if (c->result->n_sizes < ndim)
        return row_refuse(c, "it splits the dimension of the rows");
    else
        c->ret.dim = at < dim ? dim + c->result->n_sizes - ndim : dim;
    return true;
}

bool row_check_permute(struct row_call *c)
{
    uint32_t n;
    if (!row_check_first(c))
        return false;
    const struct arg *items = listed_items(c, 1, &n);
    for (uint32_t i = 0; items && n == row_ndim(c) && i < n; i++) {
        uint64_t one;
        if (!row_read_dims(c, &items[i], n, &one))
            break;
        c->ret.dim = i;
        if (row_is_named(one, row_dim(c)))
            return true;
    }
    return row_refuse(c, "its dimensions are not known");
}

/* cat(), stack() of lists whose items all have rows in the same dimension. */
bool row_check_cat(struct row_call *c)
{
    bool stack = str_is(c->base, "stack");
    uint64_t named = 1;
    const struct arg *list = c->node->n_args ? &c->args[0] : NULL;
    if (!list || (list->kind != ARG_LIST && list->kind != ARG_TUPLE) || c->count || !c->result ||
        c->row == NODE_NONE)
        return row_refuse(c, "its arguments are not all rows");
    for (uint32_t i = 0; i < list->u.items.n; i++) {
        const struct arg *item = &c->m->graph->args[list->u.items.first + i];
        if (!row_is_arg(c, item) || mask_tensor(c->m, item->u.node)->n_sizes != row_ndim(c) ||
            c->m->nodes[item->u.node].dim != row_dim(c))
            return row_refuse(c, "its arguments are not all rows");
    }
    const struct arg *dim = row_dim_arg(c, 1);
    if (dim && !row_read_dims(c, dim, row_ndim(c) + stack, &named))
        return row_refuse(c, "its dimension is not known");
    uint32_t at = (uint32_t)__builtin_ctzll(named);
    if (!stack && at == row_dim(c))
        return row_refuse(c, "it goes along the dimension of the rows");
    c->ret.dim = row_dim(c) + (stack && at <= row_dim(c));
    return true;
}
