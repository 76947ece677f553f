/* _weight_norm_interface and its gradient, with operators of this backend: v is scaled so that its
 * slices along a dimension have the norms g. Half precision would be rounded between the steps. */
#include "replay/backend/cuda/runtime/kernel.h"

/* Starts; dims: all others than that of the slices. False: declined. */
static bool find_slices(struct kernel *k, struct kernel_tensor v, struct kernel_tensor norms,
                        struct kernel_value *dims)
{
    int64_t size[TENSOR_MAX_DIM], of_norms[TENSOR_MAX_DIM], others[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(v, size), n = 0;
    bool ok = v.meta && norms.meta && ndim > 0 && tensor_sizes(norms, of_norms) == ndim &&
              (v.meta->dtype == DTYPE_F32 || v.meta->dtype == DTYPE_F64);
    uint32_t dim = ok ? wrapped_dim(int_arg(k, "dim", 0), ndim) : 0;
    for (uint32_t d = 0; d < ndim && ok; d++) {
        ok = of_norms[d] == (d == dim ? size[d] : 1);
        if (d != dim)
            others[n++] = d;
    }
    if (!ok || n == 0) {
        cuda_decline(k);
        return false;
    }
    *dims = value_of_ints(k, others, n);
    return !k->failed;
}

static struct kernel_value of_two(struct kernel *k, const char *name, struct kernel_value x,
                                  struct kernel_value y)
{
    struct kernel_value args[] = { x, y };
    return run_op(k, name, args, 2);
}

void cuda_weight_norm(struct kernel *k)
{
    struct kernel_value v = value_arg(k, "v"), g = value_arg(k, "g"), dims;
    struct kernel_value norms = value_of_tensor(result(k, 1));
    if (!find_slices(k, tensor_arg(k, "v"), result(k, 1), &dims))
        return;
    struct kernel_value args[] = { v, value_of_int(2), dims, value_of_bool(true) };
    run_into(k, "aten.linalg_vector_norm.default", args, 4, norms);
    struct kernel_value scaled[] = { v, of_two(k, "aten.div.Tensor", g, norms) };
    run_into(k, "aten.mul.Tensor", scaled, 2, value_of_tensor(result(k, 0)));
}

/* The gradients of v and g, from the norms that forward saved: with s, the sums of up * v over
 * slices, s / norms for g and g / norms * (up - v * s / norms ** 2) for v. */
void cuda_weight_norm_backward(struct kernel *k)
{
    struct kernel_value up = value_arg(k, "grad_w"), v = value_arg(k, "saved_v"), dims;
    struct kernel_value g = value_arg(k, "saved_g"), norms = value_arg(k, "saved_norms");
    struct kernel_value to_g = value_of_tensor(result(k, 1));
    if (!find_slices(k, tensor_arg(k, "saved_v"), result(k, 1), &dims))
        return;
    struct kernel_value summed[] = { of_two(k, "aten.mul.Tensor", up, v), dims,
                                     value_of_bool(true) };
    struct kernel_value quotient[] = { run_op(k, "aten.sum.dim_IntList", summed, 3), norms };
    run_into(k, "aten.div.Tensor", quotient, 2, to_g);
    struct kernel_value along =
        of_two(k, "aten.mul.Tensor", v, of_two(k, "aten.div.Tensor", to_g, norms));
    struct kernel_value scaled[] = { of_two(k, "aten.sub.Tensor", up, along),
                                     of_two(k, "aten.div.Tensor", g, norms) };
    run_into(k, "aten.mul.Tensor", scaled, 2, value_of_tensor(result(k, 0)));
}
