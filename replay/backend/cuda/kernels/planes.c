#include "replay/backend/cuda/kernels/planes.h"

bool planes_of(struct kernel *k, struct kernel_tensor x, uint32_t dims, i64 *size, i64 *stride)
{
    int64_t of_x[TENSOR_MAX_DIM], own[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(x, of_x);
    if (k->failed || !x.meta || !tensor_strides(x, own) || ndim < dims || ndim > dims + 2)
        return false;
    for (uint32_t i = 0; i < PLANE_STRIDES; i++) {
        size[i] = 1;
        stride[i] = 0;
    }
    for (uint32_t i = 0; i < ndim; i++) {
        bool plane = i + dims < ndim; /* a channel, or the batch before it */
        uint32_t at = plane ? 2 - (ndim - dims) + i : PLANE_STRIDES - ndim + i;
        size[at] = of_x[i];
        stride[at] = own[i];
    }
    return true;
}

void plane_numbers(const struct kernel *k, const char *name, uint32_t dims, i64 *ret,
                   const i64 *otherwise, int64_t fill)
{
    int64_t given[PLANE_DIMS];
    uint32_t n = ints_arg(k, name, given, PLANE_DIMS);
    for (uint32_t i = 0; i < PLANE_DIMS; i++) {
        uint32_t d = i + dims - PLANE_DIMS; /* wraps around for the first dimensions */
        bool own = i + dims >= PLANE_DIMS;
        ret[i] = !own ? fill : n ? given[d < n ? d : n - 1] : otherwise ? otherwise[i] : fill;
    }
}

int64_t planes_reach(const struct kernel_tensor *x, uint32_t n)
{
    int64_t most = 0;
    for (uint32_t i = 0; i < n; i++) {
        int64_t reach = x[i].meta ? tensor_extent(x[i]) : 0;
        most = reach > most ? reach : most;
    }
    return most;
}
