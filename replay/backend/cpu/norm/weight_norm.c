/* _weight_norm_interface: scales v so that its slices along a dimension have the norms g. */
#include <math.h>

#include "replay/backend/cpu/kernel.h"

struct norm_slices {
    struct dense v, g, norm;
    struct around a;
};

static int64_t slice_of(const struct norm_slices *s, int64_t i)
{
    return i / s->a.inner % s->a.n;
}

static struct norm_slices read_slices(struct kernel *k, const char *v, const char *g)
{
    struct norm_slices s = { .v = load_as(k, tensor_arg(k, v), DENSE_REAL),
                             .g = load_as(k, tensor_arg(k, g), DENSE_REAL) };
    s.norm = dense_new(k, DENSE_REAL, s.g.size, s.g.ndim);
    s.a = around_dim(&s.v, wrapped_dim(int_arg(k, "dim", 0), s.v.ndim));
    if (!k->failed && s.g.n != s.a.n)
        kernel_fail(k, "expected as many norms as slices");
    return s;
}

void kernel_weight_norm(struct kernel *k)
{
    struct norm_slices s = read_slices(k, "v", "g");
    for (int64_t i = 0; i < s.v.n && !k->failed; i++)
        s.norm.u.r[slice_of(&s, i)] += s.v.u.r[i] * s.v.u.r[i];
    for (int64_t i = 0; i < s.norm.n && !k->failed; i++)
        s.norm.u.r[i] = sqrt(s.norm.u.r[i]);
    for (int64_t i = 0; i < s.v.n && !k->failed; i++)
        s.v.u.r[i] *= s.g.u.r[slice_of(&s, i)] / s.norm.u.r[slice_of(&s, i)];
    store_tensor(k, result(k, 0), s.v);
    store_tensor(k, result(k, 1), s.norm);
}

/* Computes the gradients of v and g from the norms that forward saved. */
void kernel_weight_norm_backward(struct kernel *k)
{
    struct norm_slices s = read_slices(k, "saved_v", "saved_g");
    struct dense up = load_as(k, tensor_arg(k, "grad_w"), DENSE_REAL);
    struct dense norm = load_as(k, tensor_arg(k, "saved_norms"), DENSE_REAL);
    for (int64_t i = 0; i < s.v.n && !k->failed; i++)
        s.norm.u.r[slice_of(&s, i)] += up.u.r[i] * s.v.u.r[i];
    for (int64_t i = 0; i < s.v.n && !k->failed; i++) {
        int64_t j = slice_of(&s, i);
        double n = norm.u.r[j], along = s.norm.u.r[j] / (n * n);
        s.v.u.r[i] = s.g.u.r[j] / n * (up.u.r[i] - s.v.u.r[i] * along);
    }
    for (int64_t j = 0; j < s.norm.n && !k->failed; j++)
        s.norm.u.r[j] /= norm.u.r[j];
    store_tensor(k, result(k, 0), s.v);
    store_tensor(k, result(k, 1), s.norm);
}
