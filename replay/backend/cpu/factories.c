/* New tensors: of one value, of a range, of a pattern, of nothing in particular. */
#include <math.h>
#include <string.h>

#include "replay/backend/cpu/kernel.h"

static struct dense filled(struct kernel *k, struct tensor to, struct value value)
{
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(k, to, size);
    enum dense_kind kind = kind_of_value(k, value), own = dense_kind_of(to.meta->dtype);
    return dense_broadcast(k, load_value(k, value, kind > own ? kind : own), size, ndim);
}

/* empty: whatever the memory holds, which is zeros here. */
void kernel_nothing(struct kernel *k)
{
    (void)k;
}

void kernel_fill(struct kernel *k)
{
    struct tensor to = result(k, 0);
    const char *const names[] = { "fill_value", "value", "s" };
    struct value value = value_int(k->row->param ? SYM_ID_ONE : SYM_ID_ZERO);
    for (size_t i = 0; k->row->param == 2 && i < 3; i++)
        if (has_arg(k, names[i]))
            value = value_arg(k, names[i]);
    if (to.meta)
        store(k, to, filled(k, to, value));
}

void kernel_eye(struct kernel *k)
{
    struct tensor to = result(k, 0);
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(k, to, size);
    struct dense out = dense_new(k, DENSE_INT, size, ndim);
    for (int64_t i = 0; ndim == 2 && !k->failed && i < size[0] && i < size[1]; i++)
        out.u.i[i * size[1] + i] = 1;
    store(k, to, out);
}

void kernel_arange(struct kernel *k)
{
    struct tensor to = result(k, 0);
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(k, to, size);
    bool real = kind_of_value(k, value_arg(k, "start")) == DENSE_REAL ||
                kind_of_value(k, value_arg(k, "end")) == DENSE_REAL ||
                kind_of_value(k, value_arg(k, "step")) == DENSE_REAL;
    struct dense out = dense_new(k, real ? DENSE_REAL : DENSE_INT, size, ndim);
    for (int64_t i = 0; i < out.n; i++) {
        if (real)
            out.u.r[i] = real_arg(k, "start", 0) + (double)i * real_arg(k, "step", 1);
        else
            out.u.i[i] = int_arg(k, "start", 0) + i * int_arg(k, "step", 1);
    }
    store(k, to, out);
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

/* tril and triu. PARAM: 1 for triu. */
void kernel_triangle(struct kernel *k)
{
    struct dense x = load(k, tensor_arg(k, "self"));
    int64_t diagonal = int_arg(k, "diagonal", 0);
    if (x.ndim < 2 || k->failed)
        return;
    int64_t rows = x.size[x.ndim - 2], columns = x.size[x.ndim - 1];
    size_t size = dense_size(x.kind);
    struct dense zero = dense_new(k, x.kind, NULL, 0);
    for (int64_t i = 0; i < x.n && !k->failed; i++) {
        int64_t row = i / columns % rows, column = i % columns;
        if (k->row->param ? column - row < diagonal : column - row > diagonal)
            memcpy((char *)x.u.p + (size_t)i * size, zero.u.p, size);
    }
    store(k, result(k, 0), x);
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

/* ---- Random: PyTorch's distributions, other values ---- */

enum distribution { UNIFORM, NORMAL, INTEGERS, BERNOULLI, EXPONENTIAL, CAUCHY, LOG_NORMAL, GEOMETRIC };

static double sample(const struct kernel *k, enum distribution what, struct random *r)
{
    double u = random_uniform(r);
    switch (what) {
    case NORMAL: return real_arg(k, "mean", 0) + real_arg(k, "std", 1) * random_normal(r);
    case LOG_NORMAL: return exp(real_arg(k, "mean", 1) + real_arg(k, "std", 2) * random_normal(r));
    case INTEGERS:
        return floor(real_arg(k, "low", 0) + u * (real_arg(k, "high", 1) - real_arg(k, "low", 0)));
    case BERNOULLI: return u < real_arg(k, "p", 0.5);
    case EXPONENTIAL: return -log1p(-u) / real_arg(k, "lambd", 1);
    case CAUCHY:
        return real_arg(k, "median", 0) +
               real_arg(k, "sigma", 1) * tan(3.14159265358979323846 * (u - 0.5));
    case GEOMETRIC: return ceil(log1p(-u) / log1p(-real_arg(k, "p", 0.5)));
    default: return real_arg(k, "from", 0) + u * (real_arg(k, "to", 1) - real_arg(k, "from", 0));
    }
}

void kernel_random(struct kernel *k)
{
    struct tensor to = result(k, 0);
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(k, to, size);
    struct dense out = dense_new(k, DENSE_REAL, size, ndim);
    struct random r = random_of(k);
    for (int64_t i = 0; i < out.n; i++)
        out.u.r[i] = sample(k, (enum distribution)k->row->param, &r);
    store(k, to, out);
}

/* Each value a probability of its own: bernoulli(self). */
void kernel_bernoulli(struct kernel *k)
{
    struct dense p = load_as(k, tensor_arg(k, has_arg(k, "p") ? "p" : "self"), DENSE_REAL);
    struct random r = random_of(k);
    for (int64_t i = 0; i < p.n; i++)
        p.u.r[i] = random_uniform(&r) < p.u.r[i];
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(k, result(k, 0), size);
    store(k, result(k, 0), dense_broadcast(k, p, size, ndim));
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
    struct dense x = load_as(k, tensor_arg(k, "input"), DENSE_REAL);
    struct dense mask = dense_new(k, DENSE_INT, x.size, x.ndim);
    double p = real_arg(k, "p", 0.5);
    bool train = !has_arg(k, "train") || bool_arg(k, "train", true);
    struct random r = random_of(k);
    for (int64_t i = 0; i < x.n && !k->failed; i++) {
        mask.u.i[i] = !train || random_uniform(&r) >= p;
        x.u.r[i] = !train ? x.u.r[i] : mask.u.i[i] && p < 1 ? x.u.r[i] / (1 - p) : 0;
    }
    store(k, result(k, 0), x);
    store(k, result(k, 1), mask);
}
