/* isin, tril_indices, triu_indices. */
#include <stdio.h>

#include "replay/backend/cuda/device/index/members.h"
#include "replay/backend/cuda/kernels/strided.h"

enum { MOST_COMPARED = 1 << 30 }; /* pairs */

static int64_t element_count(struct kernel_tensor x)
{
    int64_t size[TENSOR_MAX_DIM], n = 1;
    uint32_t ndim = tensor_sizes(x, size);
    for (uint32_t d = 0; d < ndim; d++)
        n *= size[d];
    return n;
}

/* Returns a tensor, or a number as one element. */
static bool read_side(struct kernel *k, const char *name, const char *other,
                      struct kernel_tensor *x, double *number, const char **type)
{
    struct kernel_value v = value_arg(k, has_arg(k, name) ? name : other);
    *x = v.kind == KERNEL_TENSOR ? v.u.tensor : (struct kernel_tensor){ 0 };
    *number = x->meta ? 0 : number_as_real(v, 0);
    *type = x->meta ? cuda_type(x->meta->dtype) : "f64";
    return *type && is_stored_real(*x);
}

void cuda_isin(struct kernel *k)
{
    struct kernel_tensor x, y, to = result(k, 0);
    const char *type, *among;
    struct member_args a = { .invert = bool_arg(k, "invert", false) };
    struct cuda_layout l;
    char defines[96];
    bool known = read_side(k, "elements", "element", &x, &a.element, &type) &&
                 read_side(k, "test_elements", "test_element", &y, &a.other, &among);
    if (k->failed || !to.meta)
        return;
    a.n = x.meta ? element_count(x) : 1;
    a.n_among = known && y.meta ? element_count(y) : 1;
    if (!known || to.meta->dtype != DTYPE_B8 || (a.n_among && a.n > MOST_COMPARED / a.n_among) ||
        !cuda_layout_of(k, &to, 1, &l) || l.n != a.n ||
        !(l.n <= 1 || (l.ndim == 1 && l.stride[0][0] == 1))) {
        if (!k->failed)
            cuda_decline(k);
        return;
    }
    if (a.n == 0)
        return;
    a.elements = x.meta ? cuda_contiguous(k, x) : 0;
    a.among = y.meta && a.n_among ? cuda_contiguous(k, y) : 0;
    a.to = cuda_address(k, to);
    snprintf(defines, sizeof defines, "#define T %s\n#define E %s\n#define O i64\n", type, among);
    cuda_launch(k, cuda_function(k, "members", "members", defines),
                (struct cuda_grid){ cuda_blocks(k, a.n, 256), 1, 1, 256, 0 }, &a, sizeof a);
}

/* tril_indices; triu_indices (PARAM 1). */
void cuda_triangle_indices(struct kernel *k)
{
    struct kernel_tensor to = result(k, 0);
    int64_t size[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM];
    struct triangle_args a = { .rows = int_arg(k, "row", 0),
                               .columns = int_arg(k, "col", 0),
                               .offset = int_arg(k, "offset", 0),
                               .upper = (uint32_t)k->row->param };
    char defines[96];
    if (k->failed || !to.meta || tensor_sizes(to, size) != 2 || !tensor_strides(to, stride))
        return;
    const char *type = cuda_type(to.meta->dtype);
    if (!type || a.rows > INT32_MAX || a.columns > INT32_MAX) {
        cuda_decline(k);
        return;
    }
    a.n = size[1];
    a.next = stride[0];
    a.step = stride[1];
    if (a.n == 0)
        return;
    a.to = cuda_address(k, to);
    snprintf(defines, sizeof defines, "#define T i64\n#define E i64\n#define O %s\n", type);
    cuda_launch(k, cuda_function(k, "members", "triangle", defines),
                (struct cuda_grid){ cuda_blocks(k, a.rows * a.columns, 1024), 1, 1, 256, 0 }, &a,
                sizeof a);
}
