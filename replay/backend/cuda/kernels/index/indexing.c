#include "replay/backend/cuda/kernels/index/indexing.h"

#include <string.h>

/* Adds an index tensor whose dimensions are among those of the entries. */
static void add_index_tensor(struct kernel *k, struct indexed_access *ix,
                             struct kernel_tensor index, uint32_t at, int64_t bound, int64_t step)
{
    int64_t own[TENSOR_MAX_DIM], size[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM] = { 0 };
    uint32_t ndim = tensor_sizes(index, size);
    if (!tensor_strides(index, own) || at + ndim > ix->set.ndim) {
        kernel_fail(k, "an index of %u dimensions", ndim);
        return;
    }
    for (uint32_t d = 0; d < ndim; d++)
        stride[at + d] = size[d] == 1 ? 0 : own[d];
    if (ix->n_tensors == INDEX_MAX_TENSORS) {
        kernel_fail(k, "more than %d indices", INDEX_MAX_TENSORS);
        return;
    }
    strided_add_strides(k, &ix->set, stride);
    ix->tensor[ix->n_tensors] = index;
    ix->bound[ix->n_tensors] = bound;
    ix->step[ix->n_tensors++] = step;
}

/* Starts the set of tensors with the entries and x's own strides; tensors 0 and 2 are added
 * later. */
static void start_indexing(struct kernel *k, struct indexed_access *ix, struct kernel_tensor x,
                           const int64_t *size, const int64_t *x_stride, uint32_t ndim)
{
    static const int64_t none[TENSOR_MAX_DIM];
    ix->x = x;
    strided_of_sizes(&ix->set, size, ndim);
    strided_add_strides(k, &ix->set, none);
    strided_add_strides(k, &ix->set, x_stride);
    strided_add_strides(k, &ix->set, none);
}

void index_rows(struct kernel *k, struct indexed_access *ix, struct kernel_tensor x,
                struct kernel_tensor index, uint32_t dim)
{
    int64_t size[2 * TENSOR_MAX_DIM], of_x[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM],
        places[2 * TENSOR_MAX_DIM] = { 0 };
    memset(ix, 0, sizeof *ix);
    uint32_t x_ndim = tensor_sizes(x, of_x), n = 0;
    if (!x.meta || !index.meta || !tensor_strides(x, stride))
        return;
    for (uint32_t d = 0; d < dim; d++) {
        size[n] = of_x[d];
        places[n++] = stride[d];
    }
    n += tensor_sizes(index, size + n);
    for (uint32_t d = dim + 1; d < x_ndim; d++) {
        size[n] = of_x[d];
        places[n++] = stride[d];
    }
    if (n > TENSOR_MAX_DIM) {
        cuda_decline(k);
        return;
    }
    start_indexing(k, ix, x, size, places, n);
    add_index_tensor(k, ix, index, dim, x_ndim ? of_x[dim] : 1, x_ndim ? stride[dim] : 0);
}

void index_along(struct kernel *k, struct indexed_access *ix, struct kernel_tensor x,
                 struct kernel_tensor index, uint32_t dim)
{
    int64_t size[TENSOR_MAX_DIM], of_x[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM] = { 0 };
    memset(ix, 0, sizeof *ix);
    uint32_t ndim = tensor_sizes(index, size), x_ndim = tensor_sizes(x, of_x);
    if (!x.meta || !index.meta || !tensor_strides(x, stride))
        return;
    int64_t step = x_ndim ? stride[dim] : 0;
    for (uint32_t d = x_ndim; d < ndim; d++)
        stride[d] = 0;
    stride[dim] = 0;
    start_indexing(k, ix, x, size, stride, ndim);
    add_index_tensor(k, ix, index, 0, x_ndim ? of_x[dim] : 1, step);
}

void index_flat(struct kernel *k, struct indexed_access *ix, struct kernel_tensor x,
                struct kernel_tensor index)
{
    static const int64_t none[TENSOR_MAX_DIM];
    int64_t size[TENSOR_MAX_DIM], of_x[TENSOR_MAX_DIM], n = 1;
    memset(ix, 0, sizeof *ix);
    uint32_t ndim = tensor_sizes(index, size), x_ndim = tensor_sizes(x, of_x);
    for (uint32_t d = 0; d < x_ndim; d++)
        n *= of_x[d];
    start_indexing(k, ix, x, size, none, ndim);
    add_index_tensor(k, ix, index, 0, n, 1);
}

void index_of_view(struct kernel *k, struct indexed_access *ix, struct kernel_tensor x,
                   struct kernel_tensor view)
{
    int64_t size[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM];
    memset(ix, 0, sizeof *ix);
    uint32_t ndim = tensor_sizes(view, size);
    if (view.meta && tensor_strides(view, stride))
        start_indexing(k, ix, x, size, stride, ndim);
}

/* ---- Several indices ---- */

struct listed {
    uint32_t n_dims; /* the dimensions of x that have been matched */
    struct kernel_tensor by[TENSOR_MAX_DIM];
    int64_t common[TENSOR_MAX_DIM]; /* the sizes that the indices broadcast to */
    uint32_t common_dims, at;       /* at: position of the indices' dimensions in the result */
};

/* Converts a mask to the indices of its true elements, one tensor for each of its dimensions. */
static void list_mask(struct kernel *k, struct listed *l, struct kernel_tensor mask)
{
    struct kernel_value args[] = { value_of_tensor(mask) };
    struct kernel_tensor places = run_tensor(k, "aten.nonzero.default", args, 1);
    for (uint32_t d = 0; d < mask.meta->ndim && l->n_dims < TENSOR_MAX_DIM && !k->failed; d++) {
        struct kernel_value column[] = { value_of_tensor(places), value_of_int(1),
                                         value_of_int(d) };
        l->by[l->n_dims++] = run_tensor(k, "aten.select.int", column, 3);
    }
}

static void list_indices(struct kernel *k, struct listed *l)
{
    const struct kernel_value *items;
    uint32_t n = list_arg(k, "indices", &items);
    for (uint32_t i = 0; i < n && l->n_dims < TENSOR_MAX_DIM && !k->failed; i++) {
        struct kernel_tensor t =
            items[i].kind == KERNEL_TENSOR ? items[i].u.tensor : (struct kernel_tensor){ 0 };
        if (t.meta && (t.meta->dtype == DTYPE_B8 || t.meta->dtype == DTYPE_U8))
            list_mask(k, l, t);
        else
            l->by[l->n_dims++] = t;
    }
    bool any = false, gap = false;
    for (uint32_t i = 0, last = 0; i < l->n_dims; i++) {
        if (!l->by[i].meta)
            continue;
        gap |= any && i != last + 1;
        l->at = any ? l->at : i;
        last = i;
        any = true;
    }
    l->at = gap ? 0 : l->at; /* adjacent indices keep their position, others come first */
}

static void broadcast_listed(struct listed *l)
{
    int64_t size[TENSOR_MAX_DIM];
    for (uint32_t i = 0; i < l->n_dims; i++) {
        uint32_t ndim = tensor_sizes(l->by[i], size);
        l->common_dims = l->by[i].meta && ndim > l->common_dims ? ndim : l->common_dims;
    }
    for (uint32_t d = 0; d < l->common_dims; d++)
        l->common[d] = 1;
    for (uint32_t i = 0; i < l->n_dims; i++) {
        uint32_t ndim = tensor_sizes(l->by[i], size);
        for (uint32_t d = 0; l->by[i].meta && d < ndim; d++)
            if (size[d] != 1)
                l->common[l->common_dims - ndim + d] = size[d];
    }
}

bool index_by_list(struct kernel *k, struct indexed_access *ix, struct kernel_tensor x)
{
    struct listed l = { 0 };
    int64_t size[2 * TENSOR_MAX_DIM], places[2 * TENSOR_MAX_DIM] = { 0 }, of_x[TENSOR_MAX_DIM],
                                                 stride[TENSOR_MAX_DIM];
    uint32_t x_ndim = tensor_sizes(x, of_x), n = 0;
    bool placed = false;
    memset(ix, 0, sizeof *ix);
    list_indices(k, &l);
    if (l.n_dims > x_ndim)
        kernel_fail(k, "too many indices");
    if (k->failed || !tensor_strides(x, stride))
        return false;
    broadcast_listed(&l);
    for (uint32_t d = 0; d <= x_ndim; d++) {
        if (n == l.at && !placed) { /* after `at` dimensions without an index */
            for (uint32_t c = 0; c < l.common_dims; c++)
                size[n++] = l.common[c];
            placed = true;
        }
        if (d == x_ndim || (d < l.n_dims && l.by[d].meta))
            continue;
        places[n] = stride[d];
        size[n++] = of_x[d];
    }
    if (n > TENSOR_MAX_DIM) {
        cuda_decline(k);
        return false;
    }
    start_indexing(k, ix, x, size, places, n);
    for (uint32_t d = 0; d < l.n_dims; d++)
        if (l.by[d].meta)
            add_index_tensor(k, ix, l.by[d], l.at + l.common_dims - l.by[d].meta->ndim, of_x[d],
                             stride[d]);
    return !k->failed;
}

/* ---- For kernels ---- */

void index_entries(struct kernel *k, struct indexed_access *ix, struct kernel_tensor entries)
{
    uint32_t n = ix->set.n_tensors;
    if (k->failed || n == 0)
        return;
    uint32_t at = strided_add(k, &ix->set, entries);
    memcpy(ix->set.stride[INDEXED_ENTRIES], ix->set.stride[at], sizeof ix->set.stride[0]);
    ix->set.n_tensors = n;
    if (!ix->mask.meta)
        return;
    at = strided_add(k, &ix->set, ix->mask);
    memcpy(ix->set.stride[INDEXED_MASK], ix->set.stride[at], sizeof ix->set.stride[0]);
    ix->set.n_tensors = n;
}

bool index_give(struct kernel *k, const struct indexed_access *ix, struct index_args *args)
{
    memset(args, 0, sizeof *args);
    if (k->failed || !strided_fits(k, &ix->set))
        return false;
    args->error = cuda_error_word(k);
    args->mask = ix->mask.meta ? cuda_address(k, ix->mask) : 0;
    args->n = ix->set.n;
    args->ndim = ix->set.ndim;
    args->n_tensors = ix->n_tensors;
    args->clamp = ix->clamp;
    args->has_skip = ix->has_skip;
    args->skip = ix->skip;
    args->unit = 1;
    args->live = (struct live_count){ ix->live.at, ix->live.times };
    strided_give_sizes(&ix->set, args->size);
    strided_give(&ix->set, INDEXED_ENTRIES, args->to_stride);
    strided_give(&ix->set, INDEXED_X, args->from_stride);
    strided_give(&ix->set, INDEXED_MASK, args->mask_stride);
    for (uint32_t i = 0; i < ix->n_tensors; i++) {
        struct index_tensor *t = &args->tensor[i];
        enum dtype dtype = ix->tensor[i].meta->dtype;
        if (dtype != DTYPE_I64 && dtype != DTYPE_I32) {
            cuda_decline(k);
            return false;
        }
        t->address = cuda_address(k, ix->tensor[i]);
        t->narrow = dtype == DTYPE_I32;
        t->bound = ix->bound[i];
        t->step = ix->step[i];
        strided_give(&ix->set, INDEXED_FIRST + i, t->stride);
    }
    return !k->failed;
}
