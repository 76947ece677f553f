/* Collectives of a world of one rank, which receives what it sends. */
#include <string.h>

#include "replay/backend/cpu/kernel.h"

static struct kernel_tensor collective_input(const struct kernel *k, uint32_t i)
{
    struct kernel_value v = k->call->op->n_args ? k->call->args[0] : value_of_none();
    if (value_has_items(v))
        v = i < v.n ? v.u.items[i] : value_of_none();
    return v.kind == KERNEL_TENSOR ? v.u.tensor : (struct kernel_tensor){ 0 };
}

/* Returns the elements of x, repeated if more ranks would send some, or cut off if they would
 * receive some. */
static struct dense as_many(struct kernel *k, struct dense x, const int64_t *size, uint32_t ndim)
{
    struct dense out = dense_new(k, x.kind, size, ndim);
    size_t each = dense_size(x.kind);
    for (int64_t at = 0; at < out.n && x.n && !k->failed; at += x.n) {
        int64_t n = out.n - at < x.n ? out.n - at : x.n;
        memcpy((char *)out.u.p + (size_t)at * each, x.u.p, (size_t)n * each);
    }
    return out;
}

void kernel_collective(struct kernel *k)
{
    for (uint32_t i = 0; i < n_results(k) && !k->failed; i++) {
        struct kernel_tensor to = result(k, i), from = collective_input(k, i);
        int64_t size[TENSOR_MAX_DIM];
        uint32_t ndim = tensor_sizes(to, size);
        if (from.meta && to.meta && to.storage != from.storage)
            store_tensor(k, to, as_many(k, load_tensor(k, from), size, ndim));
    }
}
