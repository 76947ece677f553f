/* New tensors that are no rows of pointwise.def: of nothing in particular, of ends, permuted. */
#include <math.h>

#include "replay/backend/cpu/pointwise.h"

/* empty: whatever the memory holds, which is zeros here. */
void kernel_nothing(struct kernel *k)
{
    (void)k;
}

/* From both ends, as PyTorch does (aten/src/ATen/native/RangeFactories.cpp). PARAM: logspace. */
void kernel_linspace(struct kernel *k)
{
    struct tensor to = result(k, 0);
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(k, to, size);
    cdouble start, end, base = complex_arg(k, "base", 10);
    struct value a = value_arg(k, "start"), b = value_arg(k, "end");
    struct dense first = load_value(k, a, DENSE_COMPLEX), last = load_value(k, b, DENSE_COMPLEX);
    bool is_int = to.meta && dense_kind_of(to.meta->dtype) == DENSE_INT;
    struct dense out = dense_new(k, DENSE_COMPLEX, size, ndim);
    if (k->failed)
        return;
    start = first.u.c[0];
    end = last.u.c[0];
    if (is_int) {
        start = trunc(creal(start));
        end = trunc(creal(end));
    }
    cdouble step = out.n > 1 ? (end - start) / (double)(out.n - 1) : 0;
    if (is_int && !k->row->param) /* PyTorch's step is a float there */
        step = (double)(float)creal(step);
    for (int64_t i = 0; i < out.n; i++) {
        cdouble x = i < out.n / 2 || out.n == 1 ? start + step * (double)i : end - step * (double)(out.n - i - 1);
        if (k->row->param)
            x = cimag(base) == 0 && cimag(x) == 0 ? pow(creal(base), creal(x)) : cpow(base, x);
        out.u.c[i] = x;
    }
    store(k, to, out);
}

/* tril_indices, triu_indices: coordinates, row by row. */
void kernel_triangle_indices(struct kernel *k)
{
    int64_t rows = int_arg(k, "row", 0), columns = int_arg(k, "col", 0), size[2];
    int64_t offset = int_arg(k, "offset", 0), at = 0;
    struct tensor to = result(k, 0);
    tensor_sizes(k, to, size);
    struct dense out = dense_new(k, DENSE_INT, size, 2);
    for (int64_t r = 0; r < rows && !k->failed; r++)
        for (int64_t c = 0; c < columns; c++)
            if ((k->row->param ? c - r >= offset : c - r <= offset) && at < size[1]) {
                out.u.i[at] = r;
                out.u.i[size[1] + at++] = c;
            }
    store(k, to, out);
}

/* A permutation of n numbers, by Fisher and Yates. */
void kernel_randperm(struct kernel *k)
{
    struct tensor to = result(k, 0);
    int64_t n = int_arg(k, "n", 0);
    struct dense out = dense_new(k, DENSE_INT, &n, 1);
    struct random r = random_of(k);
    for (int64_t i = 0; i < out.n; i++) {
        int64_t j = (int64_t)(random_bits(&r) % (uint64_t)(i + 1));
        out.u.i[i] = out.u.i[j];
        out.u.i[j] = i;
    }
    store(k, to, out);
}

/* native_dropout: the values that were kept, scaled, and the mask. */
void kernel_dropout(struct kernel *k)
{
    run_point(k, POINT_native_dropout, result(k, 0));
    run_point(k, POINT_native_dropout_mask, result(k, 1));
}
