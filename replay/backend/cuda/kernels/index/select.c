/* The true elements of a mask: nonzero, where(condition), masked_select, masked_scatter. Each tile
 * of the mask counts its elements; the sums of these counts are the positions at which tiles write
 * theirs, in order. */
#include <stdio.h>

#include "replay/backend/cuda/device/index/select.h"
#include "replay/backend/cuda/kernels/index/indexing.h"
#include "replay/backend/cuda/kernels/index/sort_keys.h"
#include "replay/backend/cuda/kernels/strided.h"
#include "replay/backend/cuda/runtime/data_counts.h"

struct selection {
    struct strided_set set; /* tensor 0: the mask; 1: the tensor beside it, if there is one */
    struct select_args a;
    struct cuda_live live; /* of the mask */
    char defines[160];
};

/* Returns the mask's type. A complex number is zero if both of its parts are. */
static const char *mask_type(struct kernel_tensor mask, int *parts)
{
    enum dtype dtype = mask.meta->dtype;
    bool complex = dense_kind_of(dtype) == DENSE_COMPLEX;
    *parts = complex ? 2 : 1;
    return !complex              ? cuda_type(dtype)
           : dtype == DTYPE_C128 ? "f64"
           : dtype == DTYPE_C64  ? "f32"
                                 : "f16";
}

/* Returns the elements of the mask for one of the dimension whose size the device knows. */
static int64_t elements_inside(struct kernel_tensor mask)
{
    int64_t n = 1;
    for (uint32_t d = 0; d < mask.meta->ndim; d++)
        n *= mask.meta->extent.is && d == mask.meta->extent.dim ? 1 : mask.meta->size[d];
    return n;
}

/* Starts. beside: a tensor with the mask's elements; bytes: the size of elements that are moved.
 * False: failed or declined. */
static bool start_selection(struct kernel *k, struct selection *s, struct kernel_tensor mask,
                            struct kernel_tensor beside, uint32_t bytes)
{
    int parts;
    const char *type = mask_type(mask, &parts), *moved = cuda_bits_type(bytes);
    *s = (struct selection){ 0 };
    strided_start(k, &s->set, mask);
    if (beside.meta)
        strided_add(k, &s->set, beside);
    strided_merge(&s->set);
    if (k->failed || !strided_fits(k, &s->set))
        return false;
    if (!type || !moved || s->set.n >= UINT32_MAX) {
        cuda_decline(k);
        return false;
    }
    snprintf(s->defines, sizeof s->defines,
             "#define T %s\n#define PARTS %d\n#define V %s\n#define I %s\n#define DIMS %d\n", type,
             parts, moved, strided_index(&s->set, 0), strided_dims(&s->set));
    s->a.mask = cuda_address(k, mask);
    s->a.n = s->set.n;
    s->live = cuda_live_of(k, mask, elements_inside(mask));
    s->a.ndim = s->set.ndim;
    strided_give_sizes(&s->set, s->a.size);
    strided_give(&s->set, 0, s->a.mask_stride);
    if (beside.meta)
        strided_give(&s->set, 1, s->a.other_stride);
    return !k->failed;
}

static uint32_t tiles_of(const struct selection *s)
{
    return (uint32_t)((s->a.n + SELECT_TILE - 1) / SELECT_TILE);
}

static void launch_select(struct kernel *k, const struct selection *s, const char *name)
{
    cuda_launch_live(k, "select", name, s->defines,
                     (struct cuda_grid){ tiles_of(s), 1, 1, SELECT_THREADS, 0 }, &s->a, sizeof s->a,
                     "n", s->live);
}

void find_ones(struct kernel *k, struct kernel_tensor x, struct cuda_count_result *ret)
{
    struct selection s;
    if (!start_selection(k, &s, x, (struct kernel_tensor){ 0 }, 1) || s.a.n == 0)
        return;
    ret->at[0] = s.a.total = cuda_workspace(k, sizeof(uint32_t));
    ret->at[1] = s.a.tiles = cuda_workspace(k, tiles_of(&s) * sizeof(uint32_t));
    cuda_traffic(k, (uint64_t)s.a.n * dtype_size(x.meta->dtype), 0);
    launch_select(k, &s, "select_count");
    if (tiles_of(&s) > 1)
        cuda_offsets(k, s.a.tiles, tiles_of(&s), false, s.a.total);
}

/* Launches the kernel that uses the counts. */
static void select_by(struct kernel *k, struct selection *s, struct kernel_tensor mask,
                      const char *name)
{
    struct cuda_count_result found;
    if (k->failed || s->a.n == 0 || !cuda_find(k, find_ones, mask, &found))
        return;
    s->a.total = found.at[0];
    s->a.tiles = found.at[1];
    launch_select(k, s, name);
}

/* ---- Indices ---- */

static void give_places(struct kernel *k, struct kernel_tensor x, struct kernel_tensor to,
                        int64_t rows, const int64_t *step, bool fill)
{
    struct selection s;
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(x, size);
    if (ndim > STRIDED_MAX_DIM) {
        cuda_decline(k);
        return;
    }
    if (!start_selection(k, &s, x, (struct kernel_tensor){ 0 }, 1) || rows == 0 || ndim == 0)
        return;
    s.a.to = cuda_address(k, to);
    s.a.limit = rows;
    s.a.to_step = step[0];
    s.a.to_column = step[1];
    s.a.n_coordinates = ndim;
    s.a.fill = int_arg(k, "fill_value", -1);
    for (uint32_t d = 0; d < ndim; d++)
        s.a.coordinate_size[d] = size[d];
    select_by(k, &s, x, "select_places");
    if (!fill)
        return;
    uint64_t none = s.a.total ? 0 : cuda_workspace(k, sizeof(uint32_t));
    uint32_t zero = 0;
    if (none && cuda_upload(k, none, &zero, sizeof zero))
        s.a.total = none;
    cuda_launch(k, cuda_function(k, "select", "select_fill", s.defines),
                (struct cuda_grid){ cuda_blocks(k, rows * ndim, 1024), 1, 1, 256, 0 }, &s.a,
                sizeof s.a);
}

/* nonzero; nonzero_static (PARAM 1), which fills further rows. */
void cuda_nonzero(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "self"), to = result(k, 0);
    int64_t size[TENSOR_MAX_DIM], step[TENSOR_MAX_DIM];
    if (k->failed || !x.meta || tensor_sizes(to, size) != 2 || !tensor_strides(to, step))
        return;
    give_places(k, x, to, size[0], step, k->row->param == 1);
}

/* where(condition), nonzero_numpy: each dimension has a result; all results are columns of one
 * tensor. */
void cuda_places(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, k->row->param ? "self" : "condition"), to = result(k, 0);
    struct kernel_tensor next = result(k, 1);
    int64_t size[TENSOR_MAX_DIM], step[TENSOR_MAX_DIM], one[] = { 1 };
    if (k->failed || !x.meta || tensor_sizes(to, size) != 1 || !tensor_strides(to, step))
        return;
    if (next.meta && next.storage != to.storage) {
        cuda_decline(k);
        return;
    }
    step[1] = next.meta ? next.meta->offset - to.meta->offset : 0;
    give_places(k, x.meta->ndim ? x : reshaped(k, x, one, 1), to, size[0], step, false);
}

/* ---- Values ---- */

/* Returns x with the sizes that both broadcast to. */
static struct kernel_tensor broadcast_to(struct kernel *k, struct kernel_tensor x,
                                         const int64_t *size, uint32_t ndim)
{
    int64_t own[TENSOR_MAX_DIM], strides[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM] = { 0 };
    uint32_t n = tensor_sizes(x, own);
    if (!tensor_strides(x, strides) || n > ndim) {
        kernel_fail(k, "a tensor whose strides are not numbers, or that has too many dimensions");
        return (struct kernel_tensor){ 0 };
    }
    for (uint32_t i = 0; i < n; i++)
        stride[ndim - n + i] = own[i] == 1 ? 0 : strides[i];
    bool same = n == ndim;
    for (uint32_t i = 0; i < n && same; i++)
        same = own[i] == size[i];
    return same ? x : strided_view(k, x, size, stride, ndim);
}

static uint32_t sizes_of_both(struct kernel_tensor a, struct kernel_tensor b, int64_t *size)
{
    int64_t x[TENSOR_MAX_DIM], y[TENSOR_MAX_DIM];
    uint32_t n = tensor_sizes(a, x), m = tensor_sizes(b, y), ndim = n > m ? n : m;
    for (uint32_t i = 0; i < ndim; i++) {
        int64_t p = i + n >= ndim ? x[i + n - ndim] : 1, q = i + m >= ndim ? y[i + m - ndim] : 1;
        size[i] = p == 1 ? q : p;
    }
    return ndim;
}

void select_masked(struct kernel *k, struct kernel_tensor x, struct kernel_tensor mask,
                   struct kernel_tensor to)
{
    int64_t found[TENSOR_MAX_DIM], step[TENSOR_MAX_DIM];
    struct selection s;
    if (tensor_sizes(to, found) != 1 || !tensor_strides(to, step))
        return;
    if (!is_stored_real(x) || x.meta->dtype != to.meta->dtype) {
        cuda_decline(k);
        return;
    }
    if (!start_selection(k, &s, mask, x, (uint32_t)dtype_size(x.meta->dtype)) || found[0] == 0)
        return;
    s.a.to = cuda_address(k, to);
    s.a.values = cuda_address(k, x);
    s.a.limit = found[0];
    s.a.to_step = step[0];
    cuda_traffic(k, (uint64_t)s.a.n + 2 * (uint64_t)found[0] * dtype_size(x.meta->dtype), 0);
    select_by(k, &s, mask, "select_values");
}

void cuda_masked_select(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "self"), mask = tensor_arg(k, "mask");
    int64_t size[TENSOR_MAX_DIM];
    if (k->failed || !x.meta || !mask.meta)
        return;
    uint32_t ndim = sizes_of_both(x, mask, size);
    x = broadcast_to(k, x, size, ndim);
    mask = broadcast_to(k, mask, size, ndim);
    if (!k->failed)
        select_masked(k, x, mask, result(k, 0));
}

/* Copies the elements of `source`, in order, to the true elements of the mask. */
void cuda_masked_scatter(struct kernel *k)
{
    struct kernel_tensor self = tensor_arg(k, "self"), mask = tensor_arg(k, "mask");
    struct kernel_tensor source = tensor_arg(k, "source"), to = result(k, 0);
    int64_t size[TENSOR_MAX_DIM], n = 1;
    struct selection s;
    if (k->failed || !to.meta || !mask.meta || !source.meta || !self.meta)
        return;
    uint32_t bytes = (uint32_t)dtype_size(to.meta->dtype);
    if (!is_stored_real(to) || !is_stored_real(self) || !is_stored_real(source) ||
        source.meta->dtype != to.meta->dtype || !cuda_bits_type(bytes) || bytes > 8) {
        cuda_decline(k);
        return;
    }
    uint32_t ndim = tensor_sizes(to, size);
    mask = broadcast_to(k, mask, size, ndim);
    if (k->failed || !start_selection(k, &s, mask, to, bytes))
        return;
    if (to.storage != self.storage)
        copy_elements(k, broadcast_to(k, self, size, ndim), to);
    ndim = tensor_sizes(source, size);
    for (uint32_t d = 0; d < ndim; d++)
        n *= size[d];
    s.a.to = cuda_address(k, to);
    s.a.values = cuda_contiguous(k, source);
    s.a.limit = n;
    s.a.error = cuda_error_word(k);
    select_by(k, &s, mask, "select_put");
}
