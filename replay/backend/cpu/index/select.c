/* where and isin. */
#include "replay/backend/cpu/pointwise/pointwise.h"

/* where(condition, self, other); where(condition) returns coordinates. */
void kernel_where(struct kernel *k)
{
    if (has_arg(k, "self")) {
        run_point(k, POINT_where, result(k, 0));
        return;
    }
    struct dense x = load_as(k, tensor_arg(k, "condition"), DENSE_REAL);
    int64_t step = 1;
    for (uint32_t d = x.ndim; d-- > 0; step *= x.size[d]) {
        struct dense out = like_result(k, d, DENSE_INT);
        int64_t at = 0;
        for (int64_t i = 0; i < x.n && !k->failed; i++)
            if (x.u.r[i] != 0 && at < out.n)
                out.u.i[at++] = i / step % x.size[d];
        store_tensor(k, result(k, d), out);
    }
}

void kernel_isin(struct kernel *k)
{
    const char *in = has_arg(k, "elements") ? "elements" : "element";
    const char *of = has_arg(k, "test_elements") ? "test_elements" : "test_element";
    struct dense x = load_value(k, value_arg(k, in), DENSE_REAL);
    struct dense y = load_value(k, value_arg(k, of), DENSE_REAL);
    bool invert = bool_arg(k, "invert", false);
    struct dense out = like_result(k, 0, DENSE_INT);
    for (int64_t i = 0; i < x.n && !k->failed; i++) {
        bool found = false;
        for (int64_t j = 0; j < y.n && !found; j++)
            found = x.u.r[i] == y.u.r[j];
        out.u.i[i] = found != invert;
    }
    store_tensor(k, result(k, 0), out);
}
