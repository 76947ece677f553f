/* Indexing by tensors. */
#include <string.h>

#include "replay/ops/layout/strides.h"
#include "replay/ops/rules/reduce/reduce.h"

struct indices {
    uint32_t n;
    struct tensor at[TENSOR_MAX_DIM]; /* .meta is NULL for a whole dimension */
};

static bool is_mask(const struct call *c, enum dtype dtype)
{
    /* Eager PyTorch accepts uint8 masks; meta_index_Tensor accepts int8. */
    return dtype == DTYPE_B8 || dtype == (eager(c) ? DTYPE_U8 : DTYPE_I8);
}

static struct tensor select_column(struct call *c, struct tensor nonzero, uint32_t column)
{
    struct value args[] = { value_tensor(nonzero), value_number(c, 1), value_number(c, column) };
    return call_tensor(c, "aten.select.int", args, 3);
}

/* A mask indexes as many dimensions as it has: it is replaced by the columns of its nonzero(). */
static bool expand_mask(struct call *c, struct tensor x, struct tensor mask, uint32_t place,
                        struct indices *ret)
{
    uint32_t k = ret->n, n = ndim_of(mask);
    if (!require(c, k + n <= ndim_of(x), "IndexError",
                 "too many indices for tensor of dimension %u", ndim_of(x)))
        return false;
    struct tensor nonzero = call1(c, "aten.nonzero.default", value_tensor(mask));
    for (uint32_t j = 0; j < n && !c->failed; j++) {
        check(c, py_eq(c, size_of(mask, j), size_of(x, k + j)), "IndexError",
              "The shape of the mask %s at index %u does not match the shape of the indexed tensor "
              "%s at index %u",
              sizes_text(c, mask.meta->size, n), place, sizes_text(c, x.meta->size, ndim_of(x)),
              k + j);
        ret->at[ret->n++] = select_column(c, nonzero, j);
    }
    return !c->failed;
}

/* expandTensors of IndexingUtils.h */
static bool expand_indices(struct call *c, struct tensor x, const struct tensor *list, uint32_t n,
                           struct indices *ret)
{
    ret->n = 0;
    for (uint32_t i = 0; i < n && !c->failed; i++) {
        enum dtype dtype = dtype_of(list[i]);
        if (!require(c,
                     !list[i].meta || dtype == DTYPE_I64 || dtype == DTYPE_I32 || is_mask(c, dtype),
                     "IndexError",
                     "tensors used as indices must be long, int, byte or bool "
                     "tensors"))
            return false;
        if (list[i].meta && is_mask(c, dtype)) {
            expand_mask(c, x, list[i], i, ret);
            continue;
        }
        if (!require(c, ret->n < TENSOR_MAX_DIM, "IndexError",
                     "too many indices for tensor of dimension %u (got %u)", ndim_of(x), n))
            return false;
        ret->at[ret->n++] = list[i];
    }
    return require(c, ret->n <= ndim_of(x), "IndexError",
                   "too many indices for tensor of dimension %u (got %u)", ndim_of(x), ret->n);
}

static bool check_values(struct call *c, struct tensor x, const struct indices *indices)
{
    int64_t size, bad;
    for (uint32_t i = 0; i < indices->n; i++)
        if (indices->at[i].meta && sym_to_i64(c->pool, size_of(x, i), &size) &&
            index_outside(c, indices->at[i], -size, size - 1, &bad))
            return refuse(c, "IndexError",
                          "index %lld is out of bounds for dimension %u with size %lld",
                          (long long)bad, i, (long long)size);
    return !c->failed;
}

/* Computes the shape to which all index tensors are broadcast. */
static bool broadcast_indices(struct call *c, const struct indices *indices, sym_id *shape,
                              uint32_t *ndim)
{
    struct tensor given[TENSOR_MAX_DIM];
    uint32_t n = 0;
    for (uint32_t i = 0; i < indices->n; i++)
        if (indices->at[i].meta)
            given[n++] = indices->at[i];
    *ndim = 0;
    return n == 0 || broadcast_shapes(c, given, n, shape, ndim);
}

struct index_layout {
    uint32_t before, inner, after; /* dimensions of each part of the result */
    sym_id sizes[2 * TENSOR_MAX_DIM];
    sym_id strides[2 * TENSOR_MAX_DIM]; /* strides of the indexed tensor, 0 for dimensions of the
                                           indices */
    uint32_t n;
};

static bool are_adjacent(const struct indices *indices)
{
    int state = 0;
    for (uint32_t i = 0; i < indices->n; i++) {
        bool given = indices->at[i].meta != NULL;
        if (state == 0 && given)
            state = 1;
        else if (state == 1 && !given)
            state = 2;
        else if (state == 2 && given)
            return false;
    }
    return true;
}

static void put_dim(struct index_layout *r, sym_id size, sym_id stride)
{
    r->sizes[r->n] = size;
    r->strides[r->n++] = stride;
}

/* Orders the dimensions: those of the indices replace the first indexed one, or are in front if
 * the indices are not adjacent (transposeToFront). */
static void order_dims(struct tensor x, const struct indices *indices, const sym_id *shape,
                       uint32_t inner, struct index_layout *r)
{
    bool front = !are_adjacent(indices), placed = false;
    r->n = 0;
    for (uint32_t pass = front ? 0 : 1; pass < 2; pass++)
        for (uint32_t i = 0; i < ndim_of(x); i++) {
            bool given = i < indices->n && indices->at[i].meta;
            if (given && !placed) {
                placed = true;
                for (uint32_t k = 0; k < inner; k++)
                    put_dim(r, shape[k], SYM_ID_ZERO);
            } else if (!given && pass == 1) {
                put_dim(r, size_of(x, i), stride_of(x, i));
            }
        }
}

/* _maybe_broadcast of torch/_refs/__init__.py expands the indices that have another shape, which
 * asks whether a size is -1. The shape becomes that of the last index, whose sizes stay as they are
 * where they are known to be 1 and it is not expanded. */
static void expand_to(struct call *c, const struct indices *indices, sym_id *shape, uint32_t n)
{
    const struct tensor_meta *kept = NULL;
    for (uint32_t i = 0; i < indices->n && !eager(c); i++) {
        const struct tensor_meta *meta = indices->at[i].meta;
        if (!meta || meta->ndim > n)
            continue;
        const sym_id *wanted = shape + n - meta->ndim;
        bool expands = meta->ndim != n;
        for (uint32_t d = 0; d < meta->ndim && !expands; d++)
            expands =
                meta->size[d] != wanted[d] && guard_or_false(c, py_ne(c, meta->size[d], wanted[d]));
        for (uint32_t d = 0; d < meta->ndim && expands && !c->failed; d++)
            (void)guard_or_false(c, eq_int(c, wanted[d], -1));
        kept = expands ? NULL : meta;
    }
    if (kept)
        memcpy(shape, kept->size, n * sizeof *shape);
}

/* meta_index_Tensor of torch/_meta_registrations.py: the strides follow the indexed tensor's as
 * those of TensorIterator do. */
static struct tensor index_result(struct call *c, struct tensor x, const struct indices *indices)
{
    struct tensor none = { .meta = NULL };
    sym_id shape[TENSOR_MAX_DIM], strides[TENSOR_MAX_DIM];
    uint32_t inner;
    struct index_layout r;
    if (c->failed || !broadcast_indices(c, indices, shape, &inner))
        return none;
    expand_to(c, indices, shape, inner);
    order_dims(x, indices, shape, inner, &r);
    if (!require(c, r.n <= TENSOR_MAX_DIM, "RuntimeError", "too many dimensions: %u", r.n))
        return none;
    if (guard_or_false(c, eq_int(c, numel(c, x), 0)))
        return new_beside(c, x, dtype_of(x), r.sizes, r.n);
    struct tensor restrided = new_view(c, x, r.sizes, r.strides, r.n, SYM_ID_ZERO);
    uint32_t perm[TENSOR_MAX_DIM];
    if (c->failed)
        return none;
    uint32_t n = elementwise_permutation(c, &restrided, 1, perm);
    permuted_strides(c, r.sizes, n, perm, strides);
    return new_tensor_permuted(c, dtype_of(x), device_of(x), r.sizes, strides, r.n);
}

static bool find_indices(struct call *c, struct tensor x, uint32_t i, struct indices *ret)
{
    const struct tensor *list = NULL;
    uint32_t n = arg_tensors(c, i, &list);
    return require(c, n > 0, "IndexError", "at least one index must be provided") &&
           expand_indices(c, x, list, n, ret) && check_values(c, x, ret);
}

/* index_tensor of torch/_subclasses/fake_impls.py calls the meta function within FakeTensorMode. */
static void count_index(struct call *c, const struct indices *indices, struct tensor result)
{
    sym_id shape[TENSOR_MAX_DIM], strides[TENSOR_MAX_DIM];
    uint32_t inner, n = ndim_of(result);
    if (c->failed || !broadcast_indices(c, indices, shape, &inner))
        return;
    /* new_empty and empty, as_strided, to, and two reads of the device */
    uint32_t count = 6;
    for (uint32_t i = 0; i < indices->n; i++) {
        struct tensor index = indices->at[i];
        bool same = !index.meta || ndim_of(index) == inner;
        for (uint32_t k = 0; k < inner && same && index.meta; k++)
            same = env_replace(c->env, size_of(index, k)) == env_replace(c->env, shape[k]);
        count += same ? 0 : 3; /* expand */
    }
    if (!are_adjacent(indices))
        count += 3; /* permute */
    contiguous_strides(c, result.meta->size, n, strides);
    if (memcmp(strides, result.meta->stride, n * sizeof *strides) != 0)
        count += 1; /* as_strided */
    count_dispatches(c, count);
}

/* param is 1 for _unsafe_index, which calls the meta function below FakeTensorMode. */
bool rule_index(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    struct indices indices;
    if (!find_indices(c, x, 1, &indices))
        return false;
    struct tensor result = index_result(c, x, &indices);
    if (!c->param && !eager(c))
        count_index(c, &indices, result);
    return ret_tensor(c, result);
}

/* index_put, _unsafe_index_put, index_put_, ...: the result is a copy of self. */
bool rule_index_put(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), source = arg_tensor(c, 2);
    struct indices indices;
    sym_id shape[TENSOR_MAX_DIM];
    uint32_t inner;
    if (!eager(c))
        return ret_tensor(c, new_empty_like(c, x, dtype_of(x)));
    const struct tensor *list = NULL;
    uint32_t n = arg_tensors(c, 1, &list);
    if (!require(c, n <= ndim_of(x), "IndexError",
                 "too many indices for tensor of dimension %u (got %u)", ndim_of(x), n) ||
        !require(c, dtype_of(x) == dtype_of(source), "RuntimeError",
                 "Index put requires the source and destination dtypes match, got %s for the "
                 "destination and %s for the source.",
                 dtype_scalar_name(dtype_of(x)), dtype_scalar_name(dtype_of(source))))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (list[i].meta && is_mask(c, dtype_of(list[i])))
            return ret_tensor(c, new_empty_like(c, x, dtype_of(x))); /* sizes that depend on data */
    if (!expand_indices(c, x, list, n, &indices) || !check_values(c, x, &indices) ||
        !broadcast_indices(c, &indices, shape, &inner))
        return false;
    struct index_layout r;
    order_dims(x, &indices, shape, inner, &r);
    uint32_t m = ndim_of(source);
    bool fits = m <= r.n;
    for (uint32_t i = 0; i < m && fits; i++)
        fits = is_int(c, size_of(source, m - 1 - i), 1) ||
               size_of(source, m - 1 - i) == r.sizes[r.n - 1 - i];
    if (!require(c, fits, "RuntimeError",
                 "shape mismatch: value tensor of shape %s cannot be broadcast to indexing result "
                 "of shape %s",
                 sizes_text(c, source.meta->size, m), sizes_text(c, r.sizes, r.n)))
        return false;
    return ret_tensor(c, new_empty_like(c, x, dtype_of(x)));
}

/* --- _unsafe_masked_index, _unsafe_masked_index_put_accumulate --- */

static bool check_masked(struct call *c, uint32_t i, struct tensor mask)
{
    const struct tensor *list = NULL;
    uint32_t n = arg_tensors(c, i, &list);
    for (uint32_t k = 0; k < n; k++)
        if (!require(c,
                     !list[k].meta || dtype_of(list[k]) == DTYPE_I64 ||
                         dtype_of(list[k]) == DTYPE_I32,
                     "RuntimeError", "tensors used as indices must be long or int tensors"))
            return false;
    return require(c, dtype_of(mask) == DTYPE_B8, "RuntimeError",
                   "tensors used as masks must be bool tensors");
}

/* Clamps each index to [low, size - 1]. */
static struct value clamp_indices(struct call *c, struct tensor x, uint32_t i, bool negative)
{
    const struct tensor *list = NULL;
    uint32_t n = arg_tensors(c, i, &list);
    struct value *items = values(c, n);
    for (uint32_t k = 0; k < n && items && !c->failed; k++) {
        items[k] = value_none();
        if (!list[k].meta)
            continue;
        sym_id size = size_of(x, k);
        sym_id low = negative ? sub(c, SYM_ID_ZERO, size) : SYM_ID_ZERO;
        items[k] = value_tensor(call3(c, "aten.clamp.default", value_tensor(list[k]),
                                      value_int(low), value_int(sub(c, size, SYM_ID_ONE))));
    }
    return items ? value_items(VALUE_LIST, items, n) : value_none();
}

/* _unsafe_masked_index of torch/_decomp/decompositions.py */
bool rule_masked_index(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), mask = arg_tensor(c, 1);
    if (!check_masked(c, 2, mask))
        return false;
    if (guard_or_false(c, eq_int(c, numel(c, x), 0))) {
        struct indices indices;
        if (!find_indices(c, x, 2, &indices))
            return false;
        struct tensor shaped = index_result(c, x, &indices);
        return ret_tensor(c, new_contiguous_like(c, shaped, dtype_of(x)));
    }
    struct value clamped = clamp_indices(c, x, 2, false);
    struct tensor found = call2(c, "aten._unsafe_index.Tensor", arg(c, 0), clamped);
    struct tensor hidden = call1(c, "aten.bitwise_not.default", arg(c, 1));
    return ret_tensor(c, call3(c, "aten.masked_fill.Scalar", value_tensor(found),
                               value_tensor(hidden), arg(c, 3)));
}

/* _unsafe_masked_index_put_accumulate */
bool rule_masked_index_put(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), mask = arg_tensor(c, 1);
    if (!check_masked(c, 2, mask))
        return false;
    if (guard_or_false(c, eq_int(c, numel(c, x), 0)))
        return ret_tensor(c, call1(c, "aten.clone.default", arg(c, 0)));
    struct value clamped = clamp_indices(c, x, 2, true);
    struct tensor hidden = call1(c, "aten.bitwise_not.default", arg(c, 1));
    struct tensor shown =
        call3(c, "aten.masked_fill.Scalar", arg(c, 3), value_tensor(hidden), value_number(c, 0));
    struct value args[] = { arg(c, 0), clamped, value_tensor(shown), value_bool(true) };
    return ret_value(c, call_op(c, "aten._unsafe_index_put.default", args, 4));
}
