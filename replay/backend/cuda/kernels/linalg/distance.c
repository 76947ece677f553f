/* cdist: the distance of each pair of rows. */
#include "replay/backend/cuda/device/linalg/distance.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "replay/backend/cuda/kernels/strided.h"

enum { DISTANCE_THREADS = 256, DISTANCE_SHORT = 16 };

/* Computes the strides of x's rows over the distances; `beside` is the dimension that x lacks. */
static bool row_strides(struct kernel_tensor x, const struct strided_set *set, uint32_t beside,
                        int64_t *ret, i64 *inner)
{
    int64_t size[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(x, size);
    if (ndim < 2 || ndim > set->ndim || !tensor_strides(x, stride))
        return false;
    *inner = stride[ndim - 1];
    for (uint32_t d = 0; d < set->ndim; d++) {
        bool row = d + 2 >= set->ndim;
        uint32_t own = row ? ndim - 2 : d - (set->ndim - ndim);
        bool has = row ? d != beside : d >= set->ndim - ndim;
        ret[d] = has && size[own] != 1 ? stride[own] : 0;
    }
    return true;
}

static int distance_norm(double p)
{
    return p == 0     ? DISTANCE_COUNT
           : p == 1   ? DISTANCE_SUM
           : p == 2   ? DISTANCE_ROOT
           : isinf(p) ? DISTANCE_MOST
                      : DISTANCE_POWER;
}

static bool is_distance_supported(struct kernel_tensor x, enum dtype dtype)
{
    return x.meta && x.meta->dtype == dtype && dense_kind_of(dtype) == DENSE_REAL &&
           cuda_type(dtype) && is_stored_real(x);
}

void cuda_cdist(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "x1"), y = tensor_arg(k, "x2"), to = result(k, 0);
    struct distance_args a = { .p = real_arg(k, "p", 2) };
    struct strided_set set;
    int64_t of_x[TENSOR_MAX_DIM], of_y[TENSOR_MAX_DIM], size[TENSOR_MAX_DIM];
    if (!to.meta || to.meta->ndim < 2 || !is_distance_supported(to, to.meta->dtype) ||
        !is_distance_supported(x, to.meta->dtype) || !is_distance_supported(y, to.meta->dtype)) {
        cuda_decline(k);
        return;
    }
    strided_start(k, &set, to);
    if (!row_strides(x, &set, set.ndim - 1, of_x, &a.x_inner) ||
        !row_strides(y, &set, set.ndim - 2, of_y, &a.y_inner)) {
        cuda_decline(k);
        return;
    }
    a.inner = size[tensor_sizes(x, size) - 1];
    uint32_t of_rows = strided_add_strides(k, &set, of_x),
             of_columns = strided_add_strides(k, &set, of_y);
    strided_merge(&set);
    if (!strided_fits(k, &set) || set.n == 0)
        return;
    a.n = set.n;
    a.ndim = set.ndim;
    strided_give_sizes(&set, a.size);
    strided_give(&set, 0, a.to_stride);
    strided_give(&set, of_rows, a.x_stride);
    strided_give(&set, of_columns, a.y_stride);
    a.to = cuda_address(k, to);
    a.x = cuda_address(k, x);
    a.y = cuda_address(k, y);
    int64_t reach = tensor_extent(x), other = tensor_extent(y);
    int lanes = a.inner < DISTANCE_SHORT ? 1 : 32;
    char defines[192];
    snprintf(defines, sizeof defines,
             "#define T %s\n#define ACC %s\n#define I %s\n#define DIMS %d\n#define NORM %d\n"
             "#define LANES %d\n",
             cuda_type(to.meta->dtype), cuda_sum_type(to.meta->dtype),
             strided_index(&set, reach > other ? reach : other), strided_dims(&set),
             distance_norm(a.p), lanes);
    cuda_traffic(k, (uint64_t)(reach + other + a.n) * dtype_size(to.meta->dtype),
                 3 * (uint64_t)a.n * (uint64_t)a.inner);
    cuda_launch(k, cuda_function(k, "distance", "distance", defines),
                (struct cuda_grid){ cuda_blocks(k, a.n, DISTANCE_THREADS / lanes), 1, 1,
                                    DISTANCE_THREADS, 0 },
                &a, sizeof a);
}
