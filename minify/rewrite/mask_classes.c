/* What calls do with rows: the classes of mask_rules.def. Each check says which dimension of the
 * result has the rows, and with which numbers the rows that the mask leaves out are computed. */
#include <math.h>
#include <stdlib.h>

#include "minify/rewrite/mask_call.h"

/* ---- The value of rows that the mask leaves out ---- */

static struct row_value left_of(const struct row_call *c, const struct arg *arg)
{
    struct row_value ret = { false, 0 };
    if (row_is_arg(c, arg)) {
        const struct meta *meta = mask_tensor(c->m, arg->u.node);
        bool floats = meta && mask_is_floating(meta->dtype);
        if (floats && c->ret.refill.floats)
            return (struct row_value){ true, c->ret.refill.float_value };
        if (!floats && c->ret.refill.ints)
            return (struct row_value){ true, (double)c->ret.refill.int_value };
        return mask_is_written(c->m, arg->u.node) ? ret : c->m->nodes[arg->u.node].left;
    }
    ret.known = mask_number(arg, &ret.value);
    return ret;
}

/* A sum that is small beside what was added may be 0 in a dtype of few bits. */
static struct row_value add_values(double a, double b)
{
    enum { LOST_MOST = 16 };
    double sum = a + b;
    bool known = sum == 0 || LOST_MOST * fabs(sum) >= fmax(fabs(a), fabs(b));
    return (struct row_value){ known, sum };
}

static struct row_value compute_left(const struct row_call *c)
{
    static const char *const same[] = {
        "alias",  "clone",    "contiguous", "detach",  "float",      "double",
        "to",     "_to_copy", "view",       "reshape", "unsqueeze",  "squeeze",
        "abs",    "mean",     "amax",       "amin",    "square",     "slice",
        "select", "flatten",  "transpose",  "permute", "unflatten",  "flip",
        "relu",   "t",        "sqrt",       "rsqrt",   "reciprocal", "expand"
    };
    struct row_value a = left_of(c, mask_arg(c->m, c->id, 0, "self"));
    struct row_value b = left_of(c, mask_arg(c->m, c->id, 1, "other"));
    struct row_value none = { false, 0 };
    if (!a.known || c->ret.counts)
        return none;
    if (str_is(c->base, "sqrt") && a.value > 0)
        return (struct row_value){ true, sqrt(a.value) };
    if (str_is(c->base, "rsqrt") && a.value > 0)
        return (struct row_value){ true, 1 / sqrt(a.value) };
    if (str_is(c->base, "reciprocal") && a.value != 0)
        return (struct row_value){ true, 1 / a.value };
    if (STR_IS_ANY(c->base, same) && a.value == 1)
        return a;
    bool extra = c->node->n_args > 2;
    if (!b.known || extra)
        return none;
    if (str_is(c->base, "add"))
        return add_values(a.value, b.value);
    if (str_is(c->base, "sub"))
        return add_values(a.value, -b.value);
    if (str_is(c->base, "mul"))
        return (struct row_value){ true, a.value * b.value };
    if ((str_is(c->base, "div") || str_is(c->base, "truediv")) && b.value != 0)
        return (struct row_value){ true, a.value / b.value };
    if (str_is(c->base, "pow") && a.value > 0)
        return (struct row_value){ true, pow(a.value, b.value) };
    return none;
}

/* Each dtype has the values that are returned: other ones may become 0 or infinite in it. */
struct row_value row_compute_left(const struct row_call *c)
{
    const double most = 64;
    struct row_value ret = compute_left(c);
    double size = fabs(ret.value);
    ret.known = ret.known && (size == 0 || (size >= 1 / most && size <= most));
    return ret;
}

/* ---- Derivatives and errors of the rows that the mask leaves out ---- */

static void refill_floats(struct row_call *c, double value)
{
    c->ret.refill.floats = true;
    c->ret.refill.float_value = value;
}

static void refill_ints(struct row_call *c, int64_t value)
{
    c->ret.refill.ints = true;
    c->ret.refill.int_value = value;
}

static void refill(struct row_call *c, int64_t value)
{
    refill_ints(c, value);
    refill_floats(c, (double)value);
}

static bool is_float_arg(const struct row_call *c, const struct arg *arg)
{
    const struct meta *meta = arg && arg->kind == ARG_NODE ? mask_tensor(c->m, arg->u.node) : NULL;
    return meta && mask_is_floating(meta->dtype);
}

/* A division by 0 fails for integers, and has no finite derivative for floats. */
static void check_divisor(struct row_call *c)
{
    const struct arg *divisor = mask_arg(c->m, c->id, 1, "other");
    struct row_value value = left_of(c, divisor);
    if (!row_is_arg(c, divisor) || (value.known && value.value != 0))
        return;
    if (!is_float_arg(c, divisor))
        refill_ints(c, 1);
    else if (c->m->options->differentiated)
        refill_floats(c, 1);
}

static void check_power(struct row_call *c)
{
    double exponent;
    const struct arg *self = mask_arg(c->m, c->id, 0, "self");
    const struct arg *arg = mask_arg(c->m, c->id, 1, "exponent");
    struct row_value base = left_of(c, self);
    bool plain = mask_number(arg, &exponent) && exponent >= 1 && exponent == floor(exponent);
    if (plain || (base.known && base.value > 0))
        return;
    if (!c->result || !mask_is_floating(c->result->dtype))
        refill_ints(c, 1);
    else if (c->m->options->differentiated)
        refill(c, 1);
}

bool row_check_derivative(struct row_call *c, enum row_derivative derivative)
{
    struct row_value value = left_of(c, mask_arg(c->m, c->id, 0, "self"));
    bool differentiated = c->m->options->differentiated;
    switch (derivative) {
    case DERIV_NOWHERE: break;
    case DERIV_DIVISOR: check_divisor(c); break;
    case DERIV_POWER: check_power(c); break;
    case DERIV_AT_0:
        if (differentiated && !(value.known && value.value > 0))
            refill_floats(c, 1);
        break;
    case DERIV_LARGE:
        if (differentiated && !(value.known && fabs(value.value) <= 1))
            refill_floats(c, 1);
        break;
    case DERIV_SAFE_0:
        if (differentiated)
            refill_floats(c, 0);
        break;
    case DERIV_SAFE_2:
        if (differentiated)
            refill_floats(c, 2);
        break;
    case DERIV_SOMEWHERE:
        return !differentiated ||
               row_refuse(c, "its derivative need not be finite for rows that the mask leaves out");
    }
    return true;
}

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

static uint32_t dim_of_rows(const struct row_call *c)
{
    return c->m->nodes[c->row].dim;
}

static bool is_named(uint64_t dims, uint32_t dim)
{
    return dims >> dim & 1;
}

static uint32_t count_below(uint64_t dims, uint32_t dim)
{
    return (uint32_t)__builtin_popcountll(dims & ((UINT64_C(1) << dim) - 1));
}

void row_set_dim(struct row_call *c, uint64_t named)
{
    uint32_t dim = dim_of_rows(c), below = count_below(named, dim);
    c->ret.dim = dim;
    c->ret.ndim = row_ndim(c);
    c->ret.below = below;
    if (c->result && c->result->n_sizes < row_ndim(c))
        c->ret.dim = dim - below;
}

static bool depends(const struct row_call *c, const struct arg *arg)
{
    return arg->kind == ARG_NODE && mask_is_dependent(c->m->nodes[arg->u.node].role);
}

/* Returns whether a list among the arguments has something that depends on the mask. */
static bool has_nested(const struct row_call *c)
{
    for (uint32_t i = 0; i < c->node->n_args; i++) {
        const struct arg *arg = &c->args[i];
        if (arg->kind != ARG_LIST && arg->kind != ARG_TUPLE)
            continue;
        for (uint32_t k = 0; k < arg->u.items.n; k++)
            if (depends(c, &c->m->graph->args[arg->u.items.first + k]))
                return true;
    }
    return false;
}

bool row_check_first(struct row_call *c)
{
    if (!c->node->n_args || !row_is_arg(c, &c->args[0]) || c->count || has_nested(c))
        return row_refuse(c, "its argument is not the rows alone");
    for (uint32_t i = 1; i < c->node->n_args; i++)
        if (depends(c, &c->args[i]))
            return row_refuse(c, "its argument is not the rows alone");
    return true;
}

static const struct meta *meta_of(const struct row_call *c, const struct arg *arg)
{
    return arg && arg->kind == ARG_NODE ? mask_tensor(c->m, arg->u.node) : NULL;
}

/* ---- Pointwise, along other dimensions ---- */

/* All rows line up from the right, where arguments are broadcast; other arguments have 1 there. */
static bool check_aligned(struct row_call *c, uint32_t *right)
{
    *right = mask_rows_from_right(c->m, c->row);
    for (uint32_t i = 0; i < c->node->n_args; i++) {
        const struct meta *meta = meta_of(c, &c->args[i]);
        if (!meta)
            continue;
        bool rows = row_is_arg(c, &c->args[i]);
        if (rows && mask_rows_from_right(c->m, c->args[i].u.node) != *right)
            return row_refuse(c, "its rows are broadcast to another dimension");
        if (!rows && meta->n_sizes >= *right &&
            !mask_size_is(c->m, meta, meta->n_sizes - *right, 1))
            return row_refuse(c, "another argument has rows that the mask did not select");
    }
    return !has_nested(c) || row_refuse(c, "a list has rows");
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
        const struct meta *meta = meta_of(c, &c->args[i]);
        good = !meta || meta->dtype == c->result->dtype;
    }
    good = good && mask_can_count(c->m, c->id, 0);
    c->ret.counts = good;
    return good || row_refuse(c, "it uses the number of rows");
}

static bool check_each(struct row_call *c)
{
    uint32_t right;
    if (!c->result)
        return row_refuse(c, "its result was not recorded");
    if (!check_aligned(c, &right) || ((c->count || c->number) && !check_count_operand(c)))
        return false;
    if (c->result->n_sizes < right)
        return row_refuse(c, "its result was not recorded");
    c->ret.dim = c->result->n_sizes - right;
    return true;
}

/* All tensors among the arguments have rows in the same dimension. */
static bool check_same_rows(struct row_call *c)
{
    if (c->count || !c->node->n_args || !row_is_arg(c, &c->args[0]) || has_nested(c))
        return row_refuse(c, "its arguments are not all rows");
    for (uint32_t i = 1; i < c->node->n_args; i++) {
        const struct meta *meta = meta_of(c, &c->args[i]);
        if (meta && !(row_is_arg(c, &c->args[i]) && meta->n_sizes == row_ndim(c) &&
                      c->m->nodes[c->args[i].u.node].dim == dim_of_rows(c)))
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
    if (is_named(named, dim_of_rows(c)))
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
    if (is_named(named, dim_of_rows(c)))
        refill(c, str_is(c->base, "cumprod"));
    row_set_dim(c, named);
    return true;
}

/* Elements that rows of positions pick: 0 is a position in each dimension that has one. */
static bool check_pick(struct row_call *c, uint32_t position)
{
    if (!check_same_rows(c) || !check_along(c, position))
        return false;
    refill_ints(c, 0);
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
    if (!sizes || c->count || has_nested(c) || n >= right)
        return row_refuse(c, "it goes along the dimension of the rows");
    for (uint32_t i = 0; i < c->node->n_args; i++) {
        const struct meta *meta = meta_of(c, &c->args[i]);
        bool rows = row_is_arg(c, &c->args[i]);
        if (meta && (rows ? mask_rows_from_right(c->m, c->args[i].u.node) != right
                          : meta->n_sizes >= right))
            return row_refuse(c, "its arguments have other rows");
    }
    refill(c, 0);
    row_set_dim(c, 0);
    c->ret.row_items = 1;
    return true;
}

/* Rows are samples of a batch, which stand in the first of `ndim` dimensions; 0: as many as the
 * second argument has. */
static bool check_sample(struct row_call *c, uint32_t ndim)
{
    const struct meta *weight = c->node->n_args > 1 ? meta_of(c, &c->args[1]) : NULL;
    if (!row_check_first(c))
        return false;
    uint32_t needed = ndim ? ndim : weight ? weight->n_sizes : 0;
    if (dim_of_rows(c) != 0 || needed < 2 || row_ndim(c) < needed ||
        (!ndim && row_ndim(c) != needed))
        return row_refuse(c, "its rows are no samples of a batch");
    row_set_dim(c, 0);
    return true;
}

static bool check_attention(struct row_call *c)
{
    uint32_t right;
    if (c->count || !c->result || !check_aligned(c, &right))
        return row_refuse(c, "its rows are no samples of a batch");
    const struct arg *p = mask_arg(c->m, c->id, 4, "dropout_p");
    if (row_is_arg(c, mask_arg(c->m, c->id, 3, "attn_mask")))
        refill(c, 1); /* a row without any True would be NaN */
    double dropout = 0;
    if (right <= 2 || c->result->n_sizes < right)
        return row_refuse(c, "it goes along the dimension of the rows");
    if (p && !(mask_number(p, &dropout) && dropout == 0))
        return row_refuse(c, "its random numbers depend on the number of rows");
    c->ret.dim = c->result->n_sizes - right;
    return true;
}

/* ---- Matmuls ---- */

/* The dimension of a factor that has the rows. */
enum factor_dim { FACTOR_NONE, FACTOR_OUTER, FACTOR_INNER, FACTOR_BATCH };

/* `transposed`: the factor is that of linear(). `left`: its inner dimension is the last one. */
static enum factor_dim factor_dim(const struct row_call *c, const struct arg *arg, bool left)
{
    if (!row_is_arg(c, arg))
        return FACTOR_NONE;
    uint32_t n = mask_tensor(c->m, arg->u.node)->n_sizes, dim = c->m->nodes[arg->u.node].dim;
    if (n == 1)
        return FACTOR_INNER;
    if (dim + 2 < n)
        return FACTOR_BATCH;
    return (dim + 1 == n) == left ? FACTOR_INNER : FACTOR_OUTER;
}

/* What is added to a product has no rows, or 1 in their place. */
static bool check_addend(struct row_call *c, uint32_t position, uint32_t right)
{
    for (uint32_t i = 0; i < c->node->n_args; i++) {
        const struct meta *meta = meta_of(c, &c->args[i]);
        if (!meta || i == position || i == position + 1)
            continue;
        bool rows = row_is_arg(c, &c->args[i]);
        if (rows ? !right || mask_rows_from_right(c->m, c->args[i].u.node) != right
                 : right && meta->n_sizes >= right &&
                       !mask_size_is(c->m, meta, meta->n_sizes - right, 1))
            return row_refuse(c, "what it adds has rows that the mask did not select");
    }
    return true;
}

static bool check_product(struct row_call *c, uint32_t position)
{
    bool linear = str_is(c->base, "linear");
    if (c->count || has_nested(c) || c->node->n_args < position + 2 || !c->result)
        return row_refuse(c, "its factors are not known");
    const struct arg *a = &c->args[position], *b = &c->args[position + 1];
    const struct meta *left = meta_of(c, a), *right = meta_of(c, b);
    if (!left || !right || !left->n_sizes || !right->n_sizes || a->key.n || b->key.n)
        return row_refuse(c, "its factors are not known");
    enum factor_dim of_a = factor_dim(c, a, true), of_b = factor_dim(c, b, linear);
    uint32_t from_right = 0; /* the place of the rows in the result; 0: it has none */
    if (of_a == FACTOR_INNER && of_b == FACTOR_INNER) {
        c->ret.role = ROLE_COUNTED; /* a sum over the rows */
        refill(c, 0);
        return check_addend(c, position, 0);
    }
    if (linear && right->n_sizes != 2)
        return row_refuse(c, "its right factor is no matrix");
    bool vector = right->n_sizes == 1;
    if (of_a == FACTOR_OUTER && of_b == FACTOR_NONE)
        from_right = vector ? 1 : 2;
    else if (of_a == FACTOR_NONE && of_b == FACTOR_OUTER)
        from_right = 1;
    else if (of_a == FACTOR_BATCH && (of_b == FACTOR_NONE || of_b == FACTOR_BATCH))
        from_right = mask_rows_from_right(c->m, a->u.node) - vector;
    else if (of_a == FACTOR_NONE && of_b == FACTOR_BATCH)
        from_right = mask_rows_from_right(c->m, b->u.node) - (left->n_sizes == 1);
    else
        return row_refuse(c, "its factors have rows in other dimensions");
    if (of_a == FACTOR_BATCH && of_b == FACTOR_BATCH &&
        mask_rows_from_right(c->m, a->u.node) != mask_rows_from_right(c->m, b->u.node))
        return row_refuse(c, "its factors have rows in other dimensions");
    /* the other factor has no such dimension of the batch, or 1 there */
    const struct meta *other = of_a == FACTOR_NONE ? left : right;
    uint32_t place = from_right + (of_a == FACTOR_BATCH ? vector : left->n_sizes == 1);
    if ((of_a == FACTOR_BATCH) != (of_b == FACTOR_BATCH) && !linear && other->n_sizes >= place &&
        !mask_size_is(c->m, other, other->n_sizes - place, 1))
        return row_refuse(c, "another argument has rows that the mask did not select");
    if (c->result->n_sizes < from_right)
        return row_refuse(c, "its result was not recorded");
    c->ret.dim = c->result->n_sizes - from_right;
    return check_addend(c, position, from_right);
}

/* ---- Views ---- */

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
        if (i != at && depends(c, &items[i]))
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
static bool check_view(struct row_call *c, uint32_t position)
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
    if (!equal_before(c, from, dim_of_rows(c), c->result, at))
        return row_refuse(c, "it merges rows with other dimensions");
    c->ret.dim = at;
    return true;
}

/* x.new_zeros(sizes) reads the dtype and the device of x only. */
static bool check_create(struct row_call *c, uint32_t position)
{
    uint32_t n, at = 0;
    const struct arg *items = listed_items(c, position, &n);
    for (uint32_t i = 0; i < position; i++)
        if (depends(c, &c->args[i]) && !row_is_arg(c, &c->args[i]))
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
static bool check_expand(struct row_call *c, uint32_t position)
{
    uint32_t n, at;
    const struct arg *items = listed_items(c, position, &n);
    const struct meta *self = meta_of(c, &c->args[0]);
    if (!row_is_arg(c, &c->args[0])) {
        if (!self || !check_create(c, position))
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
    uint32_t ndim = row_ndim(c), dim = dim_of_rows(c);
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
    uint32_t ndim = row_ndim(c), dim = dim_of_rows(c);
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
    if (is_named(named, dim_of_rows(c)))
        return row_refuse(c, "it depends on whether there is one row");
    uint32_t removed = 0;
    for (uint32_t d = 0; d < dim_of_rows(c); d++)
        removed += is_named(named, d) && mask_size_is(c->m, from, d, 1);
    c->ret.dim = dim_of_rows(c) - removed;
    return true;
}

static bool check_move(struct row_call *c)
{
    uint64_t named;
    static const char *const swaps[] = { "t",         "T",        "mT",      "numpy_T",
                                         "transpose", "swapaxes", "swapdims" };
    if (!row_check_first(c) || !c->result)
        return row_refuse(c, "its argument is not the rows alone");
    uint32_t dim = dim_of_rows(c), ndim = row_ndim(c);
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

static bool check_permute(struct row_call *c)
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
        if (is_named(one, dim_of_rows(c)))
            return true;
    }
    return row_refuse(c, "its dimensions are not known");
}

/* cat(), stack() of lists whose items all have rows in the same dimension. */
static bool check_cat(struct row_call *c)
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
            c->m->nodes[item->u.node].dim != dim_of_rows(c))
            return row_refuse(c, "its arguments are not all rows");
    }
    const struct arg *dim = row_dim_arg(c, 1);
    if (dim && !row_read_dims(c, dim, row_ndim(c) + stack, &named))
        return row_refuse(c, "its dimension is not known");
    uint32_t at = (uint32_t)__builtin_ctzll(named);
    if (!stack && at == dim_of_rows(c))
        return row_refuse(c, "it goes along the dimension of the rows");
    c->ret.dim = dim_of_rows(c) + (stack && at <= dim_of_rows(c));
    return true;
}

/* ---- Tables, sums over rows, losses ---- */

/* Rows of a table that are picked by integers: embedding(table, rows), one_hot(rows). 0 is the
 * number of a row of each table that has one. */
static bool check_lookup(struct row_call *c, uint32_t position)
{
    bool swapped = position && row_is_arg(c, &c->args[0]); /* torch.nn.functional.embedding() */
    const struct meta *table = NULL;
    if (position && c->node->n_args > position)
        table = meta_of(c, &c->args[swapped ? position : 0]);
    bool tabled = position;
    position = swapped ? 0 : position;
    if (c->count || has_nested(c) || c->node->n_args <= position ||
        !row_is_arg(c, &c->args[position]) || !c->result ||
        mask_is_floating(mask_tensor(c->m, c->row)->dtype))
        return row_refuse(c, "its argument is not the rows alone");
    for (uint32_t i = 0; i < c->node->n_args; i++)
        if (i != position && depends(c, &c->args[i]))
            return row_refuse(c, "its argument is not the rows alone");
    const struct arg *norm = mask_arg(c->m, c->id, swapped ? 3 : UINT32_MAX, "max_norm");
    const struct arg *scale = mask_arg(c->m, c->id, swapped ? 5 : 3, "scale_grad_by_freq");
    if (tabled && ((norm && norm->kind != ARG_NONE) ||
                   (scale && !(scale->kind == ARG_BOOL && !scale->u.integer))))
        return row_refuse(c, "it writes to its table, or counts the rows");
    if (tabled && (!table || !table->n_sizes || mask_size_is(c->m, table, 0, 0)))
        return row_refuse(c, "its table has no rows");
    refill_ints(c, 0);
    c->ret.dim = dim_of_rows(c);
    return true;
}

/* A sum to which zeros at position 0 add nothing: scatter_add(), the gradient of embedding(). All
 * arguments with rows have them in the same dimension, and `argument` the others first. */
static bool check_add_up(struct row_call *c, uint32_t position)
{
    bool grad = str_is(c->base, "embedding_dense_backward");
    if (c->count || has_nested(c) || !c->result || c->node->n_args < position + 2 ||
        !row_is_arg(c, &c->args[position]) || !row_is_arg(c, &c->args[position + 1]))
        return row_refuse(c, "its arguments are not all rows");
    for (uint32_t i = 0; i < c->node->n_args; i++)
        if (i != position && i != position + 1 && depends(c, &c->args[i]))
            return row_refuse(c, "it adds to rows");
    const struct arg *a = &c->args[position], *b = &c->args[position + 1];
    uint64_t named;
    const struct arg *scale = grad ? mask_arg(c->m, c->id, 4, "scale_grad_by_freq") : NULL;
    if (scale && !(scale->kind == ARG_BOOL && !scale->u.integer))
        return row_refuse(c, "it counts the rows");
    if (c->m->nodes[a->u.node].dim != c->m->nodes[b->u.node].dim ||
        (!grad && (mask_tensor(c->m, a->u.node)->n_sizes != mask_tensor(c->m, b->u.node)->n_sizes ||
                   !row_read_dims(c, row_dim_arg(c, 1), row_ndim(c), &named) ||
                   !is_named(named, dim_of_rows(c)))))
        return row_refuse(c, "it adds along another dimension than that of the rows");
    c->ret.role = ROLE_COUNTED;
    refill(c, 0);
    return true;
}

/* The reduction of a loss: false if it is not known. */
static bool read_reduction(const struct row_call *c, uint32_t position, enum loss_reduction *ret)
{
    bool aten = str_starts(c->node->target, STR("torch.ops."));
    const struct arg *arg = mask_arg(c->m, c->id, aten ? position : UINT32_MAX, "reduction");
    int64_t number;
    for (uint32_t i = 2; !aten && i < c->node->n_args; i++)
        if (!c->args[i].key.n ||
            ((str_is(c->args[i].key, "size_average") || str_is(c->args[i].key, "reduce")) &&
             c->args[i].kind != ARG_NONE))
            return false;
    *ret = LOSS_MEAN;
    if (arg && arg->kind == ARG_STRING)
        *ret = str_is(arg->text, "none")  ? LOSS_NONE
               : str_is(arg->text, "sum") ? LOSS_SUM
                                          : LOSS_MEAN;
    else if (arg && mask_int(c->m, arg, &number) && number >= 0 && number <= 2)
        *ret = (enum loss_reduction)number;
    else if (arg)
        return false;
    return true;
}

/* A pointwise loss and its sum or mean. */
static bool check_loss(struct row_call *c, uint32_t position)
{
    enum loss_reduction reduction;
    uint32_t right;
    if (!c->result || !read_reduction(c, position, &reduction))
        return row_refuse(c, "its reduction is not known");
    for (uint32_t i = 0; i < c->node->n_args; i++) {
        struct row_value value = left_of(c, &c->args[i]);
        if (row_is_arg(c, &c->args[i]) && !(value.known && value.value >= 0 && value.value <= 1))
            refill_floats(c, 0.5); /* in the domain of each loss */
    }
    if (reduction == LOSS_NONE)
        return check_each(c);
    if (c->count || !check_aligned(c, &right))
        return row_refuse(c, "its arguments have other rows");
    uint32_t ndim = 0;
    for (uint32_t i = 0; i < c->node->n_args; i++) {
        const struct meta *meta = meta_of(c, &c->args[i]);
        ndim = meta && meta->n_sizes > ndim ? meta->n_sizes : ndim;
    }
    c->ret.role = ROLE_LOSS;
    c->ret.loss = reduction;
    c->ret.dim = ndim - right;
    c->ret.ndim = ndim;
    return true;
}

/* The gradient of such a loss; that of a mean is that of the sum, divided by the number of
 * elements. */
static bool check_loss_grad(struct row_call *c, uint32_t position)
{
    enum loss_reduction reduction;
    const struct arg *arg = mask_arg(c->m, c->id, position, "reduction");
    if (!arg || !read_reduction(c, position, &reduction))
        return row_refuse(c, "its reduction is not known");
    c->ret.loss = reduction;
    return check_each(c);
}

/* Losses of rows of classes with a label for each row: a label that is ignored stands for the rows
 * that the mask leaves out. `argument` is the position of the labels. */
static bool check_labels(struct row_call *c, uint32_t position)
{
    enum loss_reduction reduction;
    bool aten = str_starts(c->node->target, STR("torch.ops."));
    bool grad = str_is(c->base, "nll_loss_backward");
    int64_t ignored = -100;
    if (!read_reduction(c, position + 2, &reduction))
        return row_refuse(c, "its reduction is not known");
    const struct arg *index =
        mask_arg(c->m, c->id, aten ? position + 3 : UINT32_MAX, "ignore_index");
    const struct arg *labels = &c->args[position < c->node->n_args ? position : 0];
    const struct meta *meta = meta_of(c, labels);
    const struct meta *classes = position ? meta_of(c, &c->args[position - 1]) : NULL;
    if ((index && !mask_int(c->m, index, &ignored)) || c->count || has_nested(c) ||
        c->node->n_args <= position || !row_is_arg(c, labels) || meta->dtype != DTYPE_I64 ||
        !row_is_arg(c, &c->args[position - 1]) || classes->n_sizes != meta->n_sizes + 1)
        return row_refuse(c, "its arguments are not rows of classes and a label for each");
    for (uint32_t i = 0; i < c->node->n_args; i++) {
        if (depends(c, &c->args[i]) &&
            (!row_is_arg(c, &c->args[i]) || c->m->nodes[c->args[i].u.node].dim != 0))
            return row_refuse(c, "it uses the number or the positions of the True elements");
        if (i + 1 != position && i != position && row_is_arg(c, &c->args[i]) && !(grad && i == 0))
            return row_refuse(c, "its weights are rows");
    }
    refill_ints(c, ignored);
    if (c->m->options->differentiated && !left_of(c, &c->args[position - 1]).known)
        refill_floats(c, 0);
    row_set_dim(c, 0);
    bool forward = !grad && !c->result;
    c->ret.row_items = forward && reduction == LOSS_NONE;
    if (forward)
        return true;
    if (!grad && reduction != LOSS_NONE)
        c->ret.role = ROLE_COUNTED;
    c->ret.dim = 0;
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
    case ROW_EACH: return check_each(c);
    case ROW_DIM: return check_same_rows(c) && check_along(c, rule->argument);
    case ROW_SCAN: return check_scan(c, rule->argument);
    case ROW_PICK: return check_pick(c, rule->argument);
    case ROW_CHOOSE: return row_check_first(c) && check_along(c, rule->argument);
    case ROW_NORM: return check_norm(c, rule->argument);
    case ROW_NORM_GRAD: return check_norm_grad(c, rule->argument);
    case ROW_SAMPLE: return check_sample(c, rule->argument);
    case ROW_ATTENTION: return check_attention(c);
    case ROW_PRODUCT: return check_product(c, rule->argument);
    case ROW_VIEW: return check_view(c, rule->argument);
    case ROW_EXPAND: return check_expand(c, rule->argument);
    case ROW_CREATE: return check_create(c, rule->argument);
    case ROW_MOVE: return check_move(c);
    case ROW_PERMUTE: return check_permute(c);
    case ROW_CAT: return check_cat(c);
    case ROW_LOOKUP: return check_lookup(c, rule->argument);
    case ROW_ADD_UP: return check_add_up(c, rule->argument);
    case ROW_LOSS: return check_loss(c, rule->argument);
    case ROW_LOSS_GRAD: return check_loss_grad(c, rule->argument);
    case ROW_LABELS: return check_labels(c, rule->argument);
    }
    return false;
}
