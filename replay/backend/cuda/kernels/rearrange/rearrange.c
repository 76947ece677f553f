/* Operators that move elements: cat, pad, roll, flip, repeat, shuffles. */
#include "replay/backend/cuda/device/rearrange/rearrange.h"

#include <stdio.h>
#include <string.h>

#include "replay/backend/cuda/kernels/index/scatter.h"
#include "replay/backend/cuda/kernels/strided.h"

/* cat; stack (PARAM 1) has a new dimension. */
void cuda_cat(struct kernel *k)
{
    const struct kernel_value *items;
    uint32_t n = list_arg(k, "tensors", &items);
    struct kernel_tensor to = result(k, 0);
    int64_t at = 0, size[TENSOR_MAX_DIM];
    if (!to.meta)
        return;
    uint32_t dim = wrapped_dim(int_arg(k, "dim", 0), to.meta->ndim);
    for (uint32_t i = 0; i < n && !k->failed; i++) {
        struct kernel_tensor x =
            items[i].kind == KERNEL_TENSOR ? items[i].u.tensor : (struct kernel_tensor){ 0 };
        uint32_t ndim = tensor_sizes(x, size);
        if (k->row->param) {
            copy_elements(k, x, narrowed(k, to, dim, at++, 0));
            continue;
        }
        if (!x.meta || ndim != to.meta->ndim ||
            size[dim] == 0) /* empty vectors are allowed and skipped */
            continue;
        copy_elements(k, x, narrowed(k, to, dim, at, size[dim]));
        at += size[dim];
    }
}

/* ---- Positions that follow a rule in each dimension ---- */

struct rules {
    uint32_t how[TENSOR_MAX_DIM];
    int64_t by[TENSOR_MAX_DIM];
};

/* Dimensions with a rule must not be merged or moved by several elements at once. Tensor 2 prevents
 * this: there, its strides are their numbers from 1 on, elsewhere 0. */
enum { RULED_TO, RULED_FROM, RULED_DIMS };

/* Treats a dimension of the result of size 1, whose source position is constant: `skip` is the
 * number of elements before it. */
static bool fold_unit_dim(struct rules *r, const int64_t *size, int64_t *from_size,
                          int64_t *from_stride, uint32_t ndim, int64_t *skip)
{
    *skip = 0;
    for (uint32_t d = 0; d < ndim; d++) {
        if (r->how[d] == REARRANGE_REPEAT && from_size[d] == 1) {
            from_stride[d] = 0;
            from_size[d] = size[d];
            r->how[d] = REARRANGE_SAME;
        }
        bool moves = r->how[d] != REARRANGE_FLIP && r->how[d] != REARRANGE_REPEAT;
        if (moves && r->by[d] == 0 && from_size[d] == size[d])
            r->how[d] = REARRANGE_SAME;
        if (size[d] != 1 || r->how[d] == REARRANGE_SAME)
            continue;
        bool from_start = !moves || r->how[d] == REARRANGE_ROLL;
        int64_t at = from_start ? 0 : -r->by[d];
        if (at < 0 || at >= from_size[d])
            return false;
        *skip += at * from_stride[d];
        r->how[d] = REARRANGE_SAME;
        from_size[d] = 1;
    }
    return true;
}

/* Prepares x with the sizes that rules use. False: failed or declined. */
static bool ruled(struct kernel *k, struct kernel_tensor to, struct kernel_tensor x, struct rules r,
                  struct strided_set *set, struct rearrange_args *args, int64_t *skip)
{
    int64_t from_size[TENSOR_MAX_DIM], from_stride[TENSOR_MAX_DIM], marks[TENSOR_MAX_DIM] = { 0 };
    memset(args, 0, sizeof *args);
    if (k->failed || !to.meta || !x.meta || !tensor_strides(x, from_stride))
        return false;
    uint32_t ndim = tensor_sizes(x, from_size);
    strided_start(k, set, to);
    if (ndim != set->ndim || !fold_unit_dim(&r, set->size, from_size, from_stride, ndim, skip)) {
        cuda_decline(k);
        return false;
    }
    for (uint32_t d = 0; d < ndim; d++)
        marks[d] = r.how[d] == REARRANGE_SAME ? 0 : d + 1;
    strided_add_strides(k, set, from_stride);
    strided_add_strides(k, set, marks);
    strided_merge(set);
    if (!strided_fits(k, set))
        return false;
    for (uint32_t d = 0; d < set->ndim; d++) {
        int64_t mark = set->stride[RULED_DIMS][d];
        args->how[d] = mark ? r.how[mark - 1] : REARRANGE_SAME;
        args->by[d] = mark ? r.by[mark - 1] : 0;
        args->from_size[d] = mark ? from_size[mark - 1] : set->size[d];
    }
    return true;
}

static void copy_rules(const struct strided_set *set, struct rearrange_args *args)
{
    args->n = set->n;
    args->ndim = set->ndim;
    strided_give_sizes(set, args->size);
    strided_give(set, RULED_TO, args->to_stride);
    strided_give(set, RULED_FROM, args->from_stride);
    for (uint32_t d = 0; d < set->ndim; d++)
        if (args->how[d] == REARRANGE_SAME)
            args->from_size[d] = set->size[d];
}

static void rearrange(struct kernel *k, struct kernel_tensor to, struct kernel_tensor x,
                      struct rules r, const uint64_t *fill)
{
    struct strided_set set;
    struct rearrange_args args;
    int64_t skip;
    if (!to.meta || !x.meta || to.meta->dtype != x.meta->dtype || !is_stored_real(to) ||
        !is_stored_real(x) || !cuda_bits_type((uint32_t)dtype_size(to.meta->dtype))) {
        cuda_decline(k);
        return;
    }
    if (!ruled(k, to, x, r, &set, &args, &skip) || set.n == 0)
        return;
    uint32_t bytes = (uint32_t)dtype_size(to.meta->dtype);
    int64_t beyond = tensor_extent(x);
    for (uint32_t d = 0; d < set.ndim; d++)
        beyond = args.from_size[d] > beyond ? args.from_size[d] : beyond;
    args.to = cuda_address(k, to);
    args.from = cuda_address(k, x) + (uint64_t)skip * bytes;
    uint32_t wide = fill ? bytes : strided_widen(&set, bytes, args.to, args.from);
    copy_rules(&set, &args);
    if (fill)
        memcpy(args.fill, fill, sizeof args.fill);
    char defines[128];
    snprintf(defines, sizeof defines, "#define T %s\n#define I %s\n#define DIMS %d\n",
             cuda_bits_type(wide), strided_index(&set, beyond), strided_dims(&set));
    cuda_traffic(k, 2 * (uint64_t)args.n * wide, 0);
    cuda_launch(k, cuda_function(k, "rearrange", "rearrange", defines),
                (struct cuda_grid){ cuda_blocks(k, args.n, 1024), 1, 1, 256, 0 }, &args,
                sizeof args);
}

/* Reads pairs of padding from the last dimension on; the first of a pair shifts positions. */
static struct rules padding_rules(const struct kernel *k, const char *name, uint32_t ndim,
                                  enum rearrange how)
{
    int64_t pad[2 * TENSOR_MAX_DIM];
    struct rules r = { 0 };
    uint32_t n = ints_arg(k, name, pad, 2 * TENSOR_MAX_DIM);
    for (uint32_t i = 0; 2 * i < n && i < ndim; i++) {
        r.how[ndim - 1 - i] = how;
        r.by[ndim - 1 - i] = pad[2 * i];
    }
    return r;
}

void cuda_constant_pad(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "self");
    struct kernel_value value = value_arg(k, "value");
    uint64_t bits[2] = { 0 };
    if (!x.meta)
        return;
    if (dense_kind_of(x.meta->dtype) == DENSE_INT)
        store_int(x.meta->dtype, bits, 0, number_as_int(value, 0));
    else if (dense_kind_of(x.meta->dtype) == DENSE_REAL)
        store_real(x.meta->dtype, bits, 0, number_as_real(value, 0));
    else
        store_complex(x.meta->dtype, bits, 0, complex_arg(k, "value", 0));
    rearrange(k, result(k, 0), x, padding_rules(k, "pad", x.meta->ndim, REARRANGE_SHIFT), bits);
}

/* PARAM 0 reflection, 1 replication. */
void cuda_pad(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "self");
    enum rearrange how = k->row->param ? REARRANGE_CLAMP : REARRANGE_REFLECT;
    if (x.meta)
        rearrange(k, result(k, 0), x, padding_rules(k, "padding", x.meta->ndim, how), NULL);
}

/* Adds the gradient of the padding to the elements that were copied there. */
void cuda_pad_backward(struct kernel *k)
{
    struct kernel_tensor g = tensor_arg(k, "grad_output"), to = result(k, 0);
    enum rearrange how = k->row->param ? REARRANGE_CLAMP : REARRANGE_REFLECT;
    struct strided_set set;
    struct rearrange_args args;
    int64_t skip;
    if (!to.meta || !g.meta)
        return;
    if (!ruled(k, g, to, padding_rules(k, "padding", to.meta->ndim, how), &set, &args, &skip))
        return;
    if (skip != 0) {
        cuda_decline(k);
        return;
    }
    copy_rules(&set, &args);
    struct keyed_entries keyed = { .to = to, .values = g, .set = &set };
    if (!keyed_workspace(k, &keyed))
        return;
    args.to = keyed.keys;
    args.order = keyed.order;
    args.limit = keyed.limit;
    char defines[128];
    snprintf(defines, sizeof defines, "#define T u32\n#define I %s\n#define DIMS %d\n",
             strided_index(&set, tensor_extent(to)), strided_dims(&set));
    cuda_launch(k, cuda_function(k, "rearrange", "rearrange_keys", defines),
                (struct cuda_grid){ cuda_blocks(k, args.n, 1024), 1, 1, 256, 0 }, &args,
                sizeof args);
    zero_elements(k, to);
    keyed_add(k, &keyed);
}

void cuda_roll(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "self"), to = result(k, 0);
    struct rules r = { 0 };
    int64_t shifts[TENSOR_MAX_DIM], dims[TENSOR_MAX_DIM], size[TENSOR_MAX_DIM], all = 1;
    uint32_t n = ints_arg(k, "shifts", shifts, TENSOR_MAX_DIM);
    uint32_t n_dims = ints_arg(k, "dims", dims, TENSOR_MAX_DIM), ndim = tensor_sizes(x, size);
    for (uint32_t d = 0; d < ndim; d++)
        all *= size[d];
    if (n_dims == 0) { /* without dims the tensor is treated as one-dimensional */
        x = reshaped(k, x, &all, 1);
        to = reshaped_view(k, to, &all, 1);
        r.how[0] = REARRANGE_ROLL;
        r.by[0] = n ? shifts[0] : 0;
    }
    for (uint32_t i = 0; i < n_dims && i < n; i++) {
        r.how[wrapped_dim(dims[i], ndim)] = REARRANGE_ROLL;
        r.by[wrapped_dim(dims[i], ndim)] += shifts[i];
    }
    rearrange(k, to, x, r, NULL);
}

void cuda_flip(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "self");
    struct rules r = { 0 };
    int64_t dims[TENSOR_MAX_DIM];
    uint32_t n = ints_arg(k, "dims", dims, TENSOR_MAX_DIM);
    for (uint32_t i = 0; i < n && x.meta; i++)
        r.how[wrapped_dim(dims[i], x.meta->ndim)] = REARRANGE_FLIP;
    rearrange(k, result(k, 0), x, r, NULL);
}

void cuda_repeat(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "self"), to = result(k, 0);
    int64_t size[TENSOR_MAX_DIM], own[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(to, size), x_ndim = tensor_sizes(x, own);
    struct rules r = { 0 };
    for (uint32_t d = 0; d < ndim; d++) {
        size[d] = d + x_ndim >= ndim ? own[d + x_ndim - ndim] : 1;
        r.how[d] = REARRANGE_REPEAT;
    }
    rearrange(k, to, reshaped(k, x, size, ndim), r, NULL);
}

/* ---- Dimensions in another order ---- */

/* Copies x, viewed under `size` and permuted, to the result, viewed under the permuted sizes. */
static void copy_turned(struct kernel *k, const int64_t *size, const uint32_t *order, uint32_t ndim)
{
    struct kernel_tensor x = reshaped(k, tensor_arg(k, "self"), size, ndim);
    int64_t stride[TENSOR_MAX_DIM], to_size[TENSOR_MAX_DIM], turned[TENSOR_MAX_DIM];
    if (k->failed || !tensor_strides(x, stride))
        return;
    for (uint32_t d = 0; d < ndim; d++) {
        to_size[d] = size[order[d]];
        turned[d] = stride[order[d]];
    }
    struct kernel_tensor to = reshaped_view(k, result(k, 0), to_size, ndim);
    if (to.meta)
        copy_elements(k, strided_view(k, x, to_size, turned, ndim), to);
    else if (!k->failed)
        cuda_decline(k);
}

/* pixel_shuffle; pixel_unshuffle (PARAM 1). */
void cuda_pixel_shuffle(struct kernel *k)
{
    bool back = k->row->param == 1;
    int64_t size[TENSOR_MAX_DIM], planes = 1;
    uint32_t ndim = tensor_sizes(tensor_arg(k, "self"), size);
    int64_t r = int_arg(k, back ? "downscale_factor" : "upscale_factor", 1);
    if (ndim < 3 || r <= 0)
        return;
    for (uint32_t d = 0; d + 2 < ndim; d++)
        planes *= size[d];
    int64_t h = size[ndim - 2], w = size[ndim - 1];
    if (back)
        copy_turned(k, (int64_t[]){ planes, h / r, r, w / r, r }, (uint32_t[]){ 0, 2, 4, 1, 3 }, 5);
    else
        copy_turned(k, (int64_t[]){ planes / r / r, r, r, h, w }, (uint32_t[]){ 0, 3, 1, 4, 2 }, 5);
}

void cuda_channel_shuffle(struct kernel *k)
{
    int64_t size[TENSOR_MAX_DIM], inner = 1, groups = int_arg(k, "groups", 1);
    uint32_t ndim = tensor_sizes(tensor_arg(k, "self"), size);
    if (ndim < 3 || groups <= 0)
        return;
    for (uint32_t d = 2; d < ndim; d++)
        inner *= size[d];
    copy_turned(k, (int64_t[]){ size[0], groups, size[1] / groups, inner },
                (uint32_t[]){ 0, 2, 1, 3 }, 4);
}
