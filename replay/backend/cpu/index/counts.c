/* repeat_interleave and bincount. */
#include <string.h>

#include "replay/backend/cpu/kernel.h"

/* repeat_interleave(repeats): the number i, repeats[i] times; or elements of self along a
 * dimension. */
void kernel_repeat_interleave(struct kernel *k)
{
    struct kernel_value repeats = value_arg(k, "repeats");
    struct dense n = load_value(k, repeats, DENSE_INT);
    struct dense out = like_result(
        k, 0, has_arg(k, "self") ? load_tensor(k, tensor_arg(k, "self")).kind : DENSE_INT);
    int64_t at = 0;
    if (!has_arg(k, "self")) {
        for (int64_t i = 0; i < n.n && !k->failed; i++)
            for (int64_t j = 0; j < n.u.i[i] && at < out.n; j++)
                out.u.i[at++] = i;
        store_tensor(k, result(k, 0), out);
        return;
    }
    struct dense x = load_tensor(k, tensor_arg(k, "self"));
    if (!has_arg(k, "dim"))
        x = dense_reshape(x, &x.n, 1);
    struct around a =
        around_dim(&x, has_arg(k, "dim") ? wrapped_dim(int_arg(k, "dim", 0), x.ndim) : 0);
    size_t size = dense_size(x.kind) * (size_t)a.inner;
    for (int64_t o = 0; o < a.outer && !k->failed; o++)
        for (int64_t i = 0; i < a.n; i++) {
            int64_t times = n.u.i[n.n == 1 ? 0 : i];
            for (int64_t j = 0; j < times && (at + 1) * a.inner <= out.n; j++, at++)
                memcpy((char *)out.u.p + (size_t)at * size,
                       (char *)x.u.p + (size_t)(o * a.n + i) * size, size);
        }
    store_tensor(k, result(k, 0), out);
}

void kernel_bincount(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "self"), DENSE_INT);
    bool weighted = has_arg(k, "weights");
    struct dense w = weighted ? load_as(k, tensor_arg(k, "weights"), DENSE_REAL) : x;
    struct dense out = like_result(k, 0, DENSE_REAL);
    for (int64_t i = 0; i < x.n && !k->failed; i++) {
        if (x.u.i[i] < 0 || x.u.i[i] >= out.n) {
            kernel_fail(k, "bincount only supports 1-d non-negative integral inputs.");
            return;
        }
        out.u.r[x.u.i[i]] += weighted ? w.u.r[i] : 1;
    }
    store_tensor(k, result(k, 0), out);
}
