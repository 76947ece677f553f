#include "replay/backend/call/collective_args.h"

#include <string.h>

struct kernel_tensor collective_input(const struct kernel *k, uint32_t i)
{
    struct kernel_value v = k->call->op->n_args ? k->call->args[0] : value_of_none();
    if (value_has_items(v))
        v = i < v.n ? v.u.items[i] : value_of_none();
    return v.kind == KERNEL_TENSOR ? v.u.tensor : (struct kernel_tensor){ 0 };
}

static int64_t numel(const int64_t *size, uint32_t ndim)
{
    uint64_t ret = 1; /* wraps around if another dimension is 0 */
    for (uint32_t i = 0; i < ndim; i++)
        ret *= (uint64_t)size[i];
    return (int64_t)ret;
}

static bool read_reduction(struct kernel *k, struct str name, enum dtype dtype, enum reduce_op *ret)
{
    static const char *const names[REDUCE_OPS] = { "sum", "avg",  "product", "min",
                                                   "max", "band", "bor",     "bxor" };
    int op = 0;
    while (op < REDUCE_OPS && !str_is(name, names[op]))
        op++;
    if (op == REDUCE_OPS)
        return kernel_fail(k, "there is no reduction \"%.*s\"", STR_ARG(name)), false;
    *ret = (enum reduce_op)op;
    enum dense_kind kind = dense_kind_of(dtype);
    if ((op >= REDUCE_BAND && kind != DENSE_INT) ||
        ((op == REDUCE_MIN || op == REDUCE_MAX) && kind == DENSE_COMPLEX))
        return kernel_fail(k, "reduction \"%.*s\" of %s", STR_ARG(name), dtype_short_name(dtype)),
               false;
    return true;
}

/* Reads how many of the tensor's rows are for each rank, or divides them evenly. A row has `row`
 * elements. */
static bool read_splits(struct kernel *k, const char *name, int64_t total, int64_t row, uint32_t n,
                        int64_t *each, int64_t *at)
{
    int64_t rows[RANKS_MAX], sum = 0;
    uint32_t given = ints_arg(k, name, rows, RANKS_MAX);
    if (given && given != n)
        return kernel_fail(k, "%s has %u sizes for %u ranks", name, given, n), false;
    for (uint32_t i = 0; i < n; i++) {
        rows[i] = given ? rows[i] : total / n;
        if (rows[i] < 0 || rows[i] > total - sum)
            return kernel_fail(k, "%s: %lld rows for rank %u, of the %lld that are left", name,
                               (long long)rows[i], i, (long long)(total - sum)),
                   false;
        each[i] = rows[i] * row;
        at[i] = sum * row;
        sum += rows[i];
    }
    return sum == total || (kernel_fail(k, "%s: %lld rows for %u ranks, and there are %lld", name,
                                        (long long)sum, n, (long long)total),
                            false);
}

static bool check_elements(struct kernel *k, enum collective_kind kind, int64_t in, int64_t out,
                           uint32_t n, int64_t root)
{
    bool fits = kind == COLLECTIVE_GATHER    ? out == in * (int64_t)n
                : kind == COLLECTIVE_SCATTER ? in == out * (int64_t)n
                                             : kind == COLLECTIVE_EXCHANGE || in == out;
    if (!fits)
        kernel_fail(k, "%lld elements become %lld among %u ranks", (long long)in, (long long)out,
                    n);
    else if (kind == COLLECTIVE_BROADCAST && (root < 0 || root >= (int64_t)n))
        kernel_fail(k, "rank %lld sends, and the group has %u", (long long)root, n);
    return !k->failed;
}

bool collective_read(struct kernel *k, struct kernel_tensor from, struct kernel_tensor to,
                     struct collective *ret, enum reduce_op *op, struct collective_splits *splits)
{
    enum collective_kind kind = (enum collective_kind)k->row->param;
    int64_t out[TENSOR_MAX_DIM];
    uint32_t number, n;
    *ret = (struct collective){
        .op = k->call->op->base,
        .group = text_arg(k, "group_name"),
        .reduce = text_arg(k, "reduce_op"),
        .group_size = int_arg(k, "group_size", 0),
        .root = kind == COLLECTIVE_BROADCAST ? int_arg(k, "src", 0) : -1,
        .dtype = from.meta->dtype,
        .uneven = kind == COLLECTIVE_EXCHANGE,
        .node = k->call->node,
    };
    ret->ndim = tensor_sizes(from, ret->size);
    if (!rank_in_group(k->call->caller->backend->rank, ret->group, &number, &n, k->err)) {
        k->failed = true;
        return false;
    }
    if (to.meta->dtype != ret->dtype)
        return kernel_fail(k, "an input of %s, and a result of %s", dtype_short_name(ret->dtype),
                           dtype_short_name(to.meta->dtype)),
               false;
    int64_t sent = numel(ret->size, ret->ndim), received = numel(out, tensor_sizes(to, out));
    if (ret->reduce.n && !read_reduction(k, ret->reduce, ret->dtype, op))
        return false;
    /* rank_meet() says it if the group had another size. */
    if (ret->group_size && ret->group_size != (int64_t)n)
        return true;
    if (!check_elements(k, kind, sent, received, n, ret->root) || kind != COLLECTIVE_EXCHANGE)
        return !k->failed;
    int64_t row = ret->ndim ? numel(ret->size + 1, ret->ndim - 1) : 0;
    if (!ret->ndim || !to.meta->ndim || numel(out + 1, to.meta->ndim - 1) != row)
        return kernel_fail(k, "the rows sent and received have different sizes"), false;
    return read_splits(k, "input_split_sizes", ret->size[0], row, n, splits->sends,
                       splits->sends_at) &&
           read_splits(k, "output_split_sizes", out[0], row, n, splits->receives,
                       splits->receives_at);
}

bool collective_splits_match(const struct collective_splits *const *splits, uint32_t n,
                             struct err *err)
{
    for (uint32_t to = 0; to < n; to++)
        for (uint32_t from = 0; from < n; from++)
            if (splits[from]->sends[to] != splits[to]->receives[from])
                return err_set(err, ERR_USAGE,
                               "rank %u sends %lld elements to rank %u, which receives %lld", from,
                               (long long)splits[from]->sends[to], to,
                               (long long)splits[to]->receives[from]);
    return true;
}
