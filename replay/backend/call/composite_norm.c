/* linalg_matrix_norm, computed with vector norms and singular values
 * (aten/src/ATen/native/LinearAlgebra.cpp). */
#include <math.h>
#include <string.h>

#include "replay/backend/call/kernel.h"

struct matrix_norm {
    struct kernel_tensor x;
    int64_t dims[2];
    struct kernel_value dtype;
};

static struct kernel_tensor run_vector_norm(struct kernel *k, const struct matrix_norm *n, double p,
                                            const int64_t *dims, uint32_t count)
{
    struct kernel_value args[] = { value_of_tensor(n->x), value_of_float(p),
                                   value_of_ints(k, dims, count), value_of_bool(true) };
    return run_tensor(k, "aten.linalg_vector_norm.default", args, 4);
}

static struct kernel_tensor extreme(struct kernel *k, struct kernel_tensor x, int64_t dim,
                                    bool most)
{
    struct kernel_value args[] = { value_of_tensor(x), value_of_ints(k, &dim, 1),
                                   value_of_bool(true) };
    return run_tensor(k, most ? "aten.amax.default" : "aten.amin.default", args, 3);
}

/* Returns the singular values of the matrices in the two dimensions, which are moved last. */
static struct kernel_tensor singular_values(struct kernel *k, const struct matrix_norm *n)
{
    int64_t size[TENSOR_MAX_DIM], order[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(n->x, size), at = 0;
    for (uint32_t i = 0; i < ndim; i++)
        if (i != n->dims[0] && i != n->dims[1])
            order[at++] = i;
    order[at++] = n->dims[0];
    order[at++] = n->dims[1];
    struct kernel_value args[] = { value_of_tensor(n->x), value_of_ints(k, order, ndim) };
    struct kernel_value turned = value_of_tensor(run_tensor(k, "aten.permute.default", args, 2));
    return run_tensor(k, "aten.linalg_svdvals.default", &turned, 1);
}

static struct kernel_tensor of_singular_values(struct kernel *k, const struct matrix_norm *n,
                                               bool sum, double p)
{
    struct kernel_tensor s = singular_values(k, n);
    struct kernel_value args[] = { value_of_tensor(s),
                                   value_of_ints(k, (const int64_t[]){ -1 }, 1) };
    return sum ? run_tensor(k, "aten.sum.dim_IntList", args, 2) : extreme(k, s, -1, p > 0);
}

void composite_matrix_norm(struct kernel *k)
{
    int64_t size[TENSOR_MAX_DIM], dims[2] = { -2, -1 };
    struct matrix_norm n = { .x = tensor_arg(k, "self") };
    uint32_t ndim = tensor_sizes(n.x, size);
    struct str name = text_arg(k, "ord");
    double p = real_arg(k, "ord", 2);
    ints_arg(k, "dim", dims, 2);
    n.dims[0] = wrapped_dim(dims[0], ndim);
    n.dims[1] = wrapped_dim(dims[1], ndim);
    if (has_arg(k, "dtype")) {
        struct kernel_value args[] = { value_of_tensor(n.x), value_arg(k, "dtype") };
        n.x = run_tensor(k, "aten.to.dtype", args, 2);
    }
    struct kernel_tensor ret;
    if (str_is(name, "fro") || (name.n == 0 && !has_arg(k, "ord")))
        ret = run_vector_norm(k, &n, 2, n.dims, 2);
    else if (str_is(name, "nuc") || fabs(p) == 2)
        ret = of_singular_values(k, &n, name.n != 0, p);
    else
        ret = extreme(k, run_vector_norm(k, &n, 1, &n.dims[isinf(p) ? 1 : 0], 1),
                      n.dims[isinf(p) ? 0 : 1], p > 0);
    if (!k->failed && ret.meta)
        copy_elements(k, ret, result(k, 0));
}
