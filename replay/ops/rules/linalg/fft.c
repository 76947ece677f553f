/* Fourier transforms (torch/_meta_registrations.py, meta_fft_*). The mode determines the sizes.
 * The strides follow from the order in which the libraries take the dimensions: MKL on a CPU,
 * cuFFT on a GPU. */
#include "replay/ops/layout/layout.h"
#include "replay/ops/layout/storage.h"
#include "replay/ops/rules/compose.h"

enum { CUFFT_MAX_DIMS = 3 };

/* Returns whether stride a precedes b in a descending sort, with the guards of Python's
 * list.sort(reverse=True). */
static bool precedes(struct call *c, sym_id a, sym_id b)
{
    return guard_bool(c, lt(c, a, b));
}

static void reverse(uint32_t *dims, uint32_t n)
{
    for (uint32_t i = 0; i < n / 2; i++) {
        uint32_t swap = dims[i];
        dims[i] = dims[n - 1 - i];
        dims[n - 1 - i] = swap;
    }
}

/* Finds the first run of the list (count_run of CPython's listobject.c) and makes it ascending. */
static uint32_t first_run(struct call *c, uint32_t *dims, uint32_t n, const sym_id *key)
{
    if (n < 2)
        return n;
    uint32_t run = 2;
    bool descending = precedes(c, key[dims[1]], key[dims[0]]);
    while (run < n && precedes(c, key[dims[run]], key[dims[run - 1]]) == descending)
        run++;
    if (descending)
        reverse(dims, run);
    return run;
}

/* Sorts dims by descending key, with the comparisons of CPython's sort for so short a list. */
static void sort_descending(struct call *c, uint32_t *dims, uint32_t n, const sym_id *key)
{
    reverse(dims, n);
    for (uint32_t start = first_run(c, dims, n, key); start < n; start++) {
        uint32_t pivot = dims[start], low = 0, high = start;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (precedes(c, key[pivot], key[dims[middle]]))
                high = middle;
            else
                low = middle + 1;
        }
        for (uint32_t i = start; i > low; i--)
            dims[i] = dims[i - 1];
        dims[low] = pivot;
    }
    reverse(dims, n);
}

/* out.resize_() of _exec_fft: does nothing where the result has the collapsed sizes already, which
 * it returns, and asks otherwise whether it needs storage (maybe_resize_storage_meta of
 * ATen/native/Resize.cpp). */
static bool resize_collapsed(struct call *c, const sym_id *sizes, uint32_t n, const uint32_t *order,
                             const struct value *collapsed, uint32_t n_collapsed)
{
    sym_id numel = SYM_ID_ONE;
    bool same = n == n_collapsed;
    for (uint32_t i = 0; i < n_collapsed && !c->failed; i++) {
        sym_id size = i ? sizes[order[n - n_collapsed + i]] : collapsed[0].u.sym;
        same = same && guard_bool(c, eq(c, sizes[i], size));
        numel = mul(c, numel, size);
    }
    if (!same && !c->failed)
        guard_bool(c, eq(c, numel, SYM_ID_ZERO));
    return same;
}

/* Adds the guards of _exec_fft for symbolic sizes: it collapses the batch dimensions into one,
 * and resizes the result to that shape. Returns whether the result has that shape already. */
static bool guard_collapsed(struct call *c, struct tensor x, const sym_id *sizes,
                            const uint32_t *order, uint32_t n_batch)
{
    uint32_t n = x.meta->ndim;
    struct value *dims = values(c, n), *shape = values(c, n + 1);
    if (!dims || !shape)
        return false;
    for (uint32_t i = 0; i < n; i++)
        dims[i] = value_int(num(c, order[i]));
    shape[0] = value_int(SYM_ID_MINUS_ONE);
    for (uint32_t i = n_batch; i < n; i++)
        shape[1 + i - n_batch] = value_int(x.meta->size[order[i]]);
    uint32_t n_shape = 1 + n - n_batch;
    struct value permuted[] = { value_tensor(x), value_items(VALUE_LIST, dims, n) };
    struct value collapsed[] = { value_tensor(call_tensor(c, "aten.permute.default", permuted, 2)),
                                 value_items(VALUE_LIST, shape, n_shape) };
    struct tensor batched = call_tensor(c, "aten.reshape.default", collapsed, 2);
    if (c->failed)
        return false;
    shape[0] = value_int(batched.meta->size[0]);
    return resize_collapsed(c, sizes, n, order, shape, n_shape);
}

/* _exec_fft: the batch dimensions in the order of the input's strides, then the transformed
 * ones. */
static struct tensor transform(struct call *c, struct tensor x, enum dtype dtype,
                               const sym_id *sizes, const uint32_t *dims, uint32_t n_dims)
{
    uint32_t n = x.meta->ndim, order[TENSOR_MAX_DIM], n_batch = 0;
    if (c->symbolic && behaves(c->env, BEHAVIOR_FFT_ENDS_EARLY_WHEN_EMPTY) &&
        guard_or_false(c, py_eq(c, product(c, sizes, n), SYM_ID_ZERO)))
        return new_tensor(c, dtype, x.meta->device, sizes, n);
    for (uint32_t i = 0; i < n; i++) {
        bool transformed = false;
        for (uint32_t j = 0; j < n_dims; j++)
            transformed |= dims[j] == i;
        if (!transformed)
            order[n_batch++] = i;
    }
    sort_descending(c, order, n_batch, x.meta->stride);
    for (uint32_t i = 0; i < n_dims; i++)
        order[n_batch + i] = dims[i];
    bool as_is = c->symbolic && guard_collapsed(c, x, sizes, order, n_batch);
    sym_id *strides = syms(c, n), *whole = syms(c, n), step = SYM_ID_ONE;
    if (!strides || !whole)
        return x;
    if (as_is)
        contiguous_strides(c, sizes, n, whole); /* of a result that is not resized */
    for (uint32_t i = n_dims; i-- > 0;) {
        strides[dims[i]] = as_is ? whole[n_batch + i] : step;
        step = mul(c, step, sym_max2(c, sizes[dims[i]], SYM_ID_ONE));
    }
    step = as_is ? whole[0] : step;
    for (uint32_t i = n_batch; i-- > 0;) {
        strides[order[i]] = step;
        step = mul(c, step, sizes[order[i]]);
    }
    if (c->symbolic) { /* as_strided_() of the result that was contiguous */
        struct tensor out = new_tensor(c, dtype, x.meta->device, sizes, n);
        if (!c->failed)
            check_in_bounds(c, out, dtype, sizes, strides, n, SYM_ID_ZERO);
    }
    return new_tensor_strided(c, dtype, x.meta->device, sizes, strides, n);
}

/* Reads the dims of the call and makes them nonnegative. Returns false if one does not exist. */
static bool transformed_dims(struct call *c, struct tensor x, uint32_t *ret, uint32_t *n)
{
    const int64_t *dims;
    *n = arg_ints(c, 1, &dims);
    if (!require(c, *n <= x.meta->ndim, "RuntimeError", "FFT dims must be unique"))
        return false;
    for (uint32_t i = 0; i < *n; i++) {
        ret[i] = wrap_dim(c, dims[i], x.meta->ndim);
        for (uint32_t j = 0; j < i; j++)
            require(c, ret[j] != ret[i], "RuntimeError", "FFT dims must be unique");
    }
    return !c->failed;
}

/* Transforms complex to complex over dims, on a GPU three at a time. Each step sorts the dims by
 * the strides of the last result. */
static struct tensor complex_steps(struct call *c, struct tensor x, const sym_id *sizes,
                                   uint32_t *dims, uint32_t n)
{
    if (!on_cuda(x)) {
        sort_descending(c, dims, n, x.meta->stride);
        return transform(c, x, x.meta->dtype, sizes, dims, n);
    }
    while (n && !c->failed) {
        sort_descending(c, dims, n, x.meta->stride);
        uint32_t step = n < CUFFT_MAX_DIMS ? n : CUFFT_MAX_DIMS;
        x = transform(c, x, x.meta->dtype, sizes, dims + n - step, step);
        n -= step;
    }
    return x;
}

bool rule_fft_c2c(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    uint32_t dims[TENSOR_MAX_DIM], n;
    if (!require(c, dtype_is_complex(x.meta->dtype), "RuntimeError",
                 "Expected self.is_complex() to be true, but got false.") ||
        !transformed_dims(c, x, dims, &n))
        return false;
    if (!n)
        return ret_tensor(c, new_like(c, x));
    return ret_tensor(c, complex_steps(c, x, x.meta->size, dims, n));
}

/* use_optimized_cufft_path */
static bool one_step(const uint32_t *dims, uint32_t n)
{
    return !(n > CUFFT_MAX_DIMS || (n >= 2 && dims[0] == 0 && dims[1] == 1));
}

bool rule_fft_r2c(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    uint32_t dims[TENSOR_MAX_DIM], n;
    bool onesided = arg_bool(c, 3);
    if (!require(c, dtype_is_float(x.meta->dtype), "RuntimeError",
                 "Expected self.is_floating_point() to be true, but got false.") ||
        !transformed_dims(c, x, dims, &n) ||
        !require(c, n > 0, "IndexError", "list index out of range"))
        return false;
    uint32_t last = dims[n - 1];
    sym_id *full = syms(c, x.meta->ndim), *half = syms(c, x.meta->ndim);
    if (!full || !half)
        return false;
    for (uint32_t i = 0; i < x.meta->ndim; i++)
        full[i] = half[i] = x.meta->size[i];
    half[last] = add(c, floordiv(c, half[last], num(c, 2)), SYM_ID_ONE);
    const sym_id *sizes = onesided ? half : full;
    enum dtype dtype = dtype_complex(x.meta->dtype);
    /* meta_fft_r2c of a CPU tensor was contiguous, although MKL's real transform may differ. */
    if (!on_cuda(x) && c->symbolic && !behaves(c->env, BEHAVIOR_REAL_FFT_FOLLOWS_STRIDES))
        return ret_tensor(c, new_tensor(c, dtype, x.meta->device, sizes, x.meta->ndim));
    if (!on_cuda(x))
        sort_descending(c, dims, n - 1, x.meta->stride);
    if (!on_cuda(x) || one_step(dims, n))
        return ret_tensor(c, transform(c, x, dtype, sizes, dims, n));
    struct tensor y = transform(c, x, dtype, n == 1 ? sizes : half, &last, 1);
    y = complex_steps(c, y, half, dims, n - 1);
    if (onesided || c->failed)
        return ret_tensor(c, y);
    return ret_tensor(c, new_tensor(c, dtype, x.meta->device, full, x.meta->ndim));
}

bool rule_fft_c2r(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    uint32_t dims[TENSOR_MAX_DIM], n;
    if (!require(c, dtype_is_complex(x.meta->dtype), "RuntimeError",
                 "Expected self.is_complex() to be true, but got false.") ||
        !transformed_dims(c, x, dims, &n) ||
        !require(c, n > 0, "IndexError", "list index out of range"))
        return false;
    sym_id *sizes = syms(c, x.meta->ndim);
    if (!sizes)
        return false;
    for (uint32_t i = 0; i < x.meta->ndim; i++)
        sizes[i] = x.meta->size[i];
    sizes[dims[n - 1]] = arg_sym(c, 3);
    enum dtype dtype = dtype_real(x.meta->dtype);
    if (on_cuda(x) && one_step(dims, n)) {
        x = new_tensor(c, x.meta->dtype, x.meta->device, x.meta->size, x.meta->ndim);
        return ret_tensor(c, transform(c, x, dtype, sizes, dims, n));
    }
    if (n > 1)
        x = complex_steps(c, x, x.meta->size, dims, n - 1);
    else if (on_cuda(x))
        x = new_tensor(c, x.meta->dtype, x.meta->device, x.meta->size, x.meta->ndim);
    if (c->failed)
        return false;
    return ret_tensor(c, transform(c, x, dtype, sizes, &dims[n - 1], 1));
}
