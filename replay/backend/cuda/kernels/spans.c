#include "replay/backend/cuda/kernels/spans.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void define(struct defines *d, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(d->text + d->n, sizeof d->text - d->n, format, args);
    va_end(args);
    if (n > 0 && d->n + (size_t)n < sizeof d->text)
        d->n += (size_t)n;
}

struct dims dims_of(struct kernel_tensor x)
{
    struct dims d = { 0 };
    d.ndim = tensor_sizes(x, d.size);
    return d;
}

/* ---- Operands ---- */

static bool start_operand(struct kernel *k, struct kernel_tensor x, struct span_operand *ret)
{
    *ret = (struct span_operand){ 0 };
    if (!x.meta)
        return false;
    ret->dtype = x.meta->dtype;
    ret->type = cuda_type(x.meta->dtype);
    if (!ret->type || x.meta->conj || x.meta->neg) {
        ret->type = "f32"; /* for a text that is not launched */
        cuda_decline(k);
        return false;
    }
    ret->at = cuda_address(k, x);
    return true;
}

static int64_t stride_along(struct kernel_tensor x, uint32_t dim)
{
    return x.meta->size[dim] == 1 ? 0 : x.meta->stride[dim];
}

struct span_operand operand_broadcast(struct kernel *k, struct kernel_tensor x,
                                      const struct dims *d)
{
    struct span_operand ret;
    if (!start_operand(k, x, &ret))
        return ret;
    for (uint32_t i = 0; i < x.meta->ndim && i < d->ndim; i++)
        ret.stride[d->ndim - 1 - i] = stride_along(x, x.meta->ndim - 1 - i);
    return ret;
}

struct span_operand operand_kept(struct kernel *k, struct kernel_tensor x, const struct dims *d)
{
    struct span_operand ret;
    uint32_t at = 0;
    if (!start_operand(k, x, &ret))
        return ret;
    for (uint32_t i = 0; i < d->ndim; i++)
        if (!d->reduced[i] && x.meta->ndim == d->ndim)
            ret.stride[i] = stride_along(x, i);
        else if (!d->reduced[i] && at < x.meta->ndim)
            ret.stride[i] = stride_along(x, at++);
    return ret;
}

struct span_operand operand_workspace(struct kernel *k, enum dtype dtype, const struct dims *d)
{
    struct span_operand ret = { .dtype = dtype, .type = cuda_type(dtype) };
    int64_t n = 1;
    for (uint32_t i = d->ndim; i-- > 0;)
        if (!d->reduced[i]) {
            ret.stride[i] = d->size[i] == 1 ? 0 : n;
            n *= d->size[i];
        }
    ret.at = cuda_workspace(k, (size_t)n * dtype_size(dtype));
    return ret;
}

struct span_operand operand_along(struct kernel *k, struct kernel_tensor x, uint32_t dim)
{
    struct span_operand ret;
    if (start_operand(k, x, &ret) && x.meta->ndim)
        ret.stride[dim] = stride_along(x, 0);
    return ret;
}

/* ---- Spans ---- */

/* Returns the step of a dimension: that of the first tensor with a stride along it. */
static int64_t step_along(const struct span_operand *x, uint32_t n, uint32_t dim)
{
    for (uint32_t t = 0; t < n; t++)
        if (x[t].stride[dim])
            return x[t].stride[dim];
    return 0;
}

static bool merge_into_span(struct span *s, const int64_t *stride, int64_t size, uint32_t n)
{
    int64_t last = s->ndim - 1;
    if (last < 0)
        return false;
    for (uint32_t t = 0; t < n; t++)
        if (s->stride[t][last] != stride[t] * size)
            return false;
    for (uint32_t t = 0; t < n; t++)
        s->stride[t][last] = stride[t];
    s->size[last] *= size;
    return true;
}

static bool make_span(const struct dims *d, const struct span_operand *x, uint32_t n, bool reduced,
                      bool ordered, struct span *ret)
{
    uint32_t order[TENSOR_MAX_DIM], count = 0;
    *ret = (struct span){ .n = 1 };
    for (uint32_t i = 0; i < d->ndim; i++) {
        if (d->reduced[i] != reduced)
            continue;
        if (__builtin_mul_overflow(ret->n, d->size[i], &ret->n))
            return false;
        if (d->size[i] == 1)
            continue;
        uint32_t at = count++;
        for (; !ordered && at > 0 && step_along(x, n, order[at - 1]) < step_along(x, n, i); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (uint32_t i = 0; i < count; i++) {
        int64_t stride[SPAN_TENSORS] = { 0 };
        for (uint32_t t = 0; t < n; t++)
            stride[t] = x[t].stride[order[i]];
        if (merge_into_span(ret, stride, d->size[order[i]], n))
            continue;
        if (ret->ndim == SPAN_DIMS)
            return false;
        ret->size[ret->ndim] = d->size[order[i]];
        for (uint32_t t = 0; t < n; t++)
            ret->stride[t][ret->ndim] = stride[t];
        ret->ndim++;
    }
    return true;
}

/* Returns the greatest offset of a tensor along a span, in elements. */
static int64_t furthest(const struct span *s, uint32_t t)
{
    int64_t at = 0;
    for (int64_t d = 0; d < s->ndim; d++)
        at += (s->size[d] > 0 ? s->size[d] - 1 : 0) * s->stride[t][d];
    return at;
}

/* Returns whether its elements are contiguous. */
static bool is_contiguous_span(const struct span *s, uint32_t t)
{
    int64_t step = 1;
    for (int64_t d = s->ndim; d-- > 0; step *= s->size[d])
        if (s->stride[t][d] != step)
            return false;
    return true;
}

static int64_t innermost(const struct span *s, uint32_t t)
{
    return s->ndim ? s->stride[t][s->ndim - 1] : 0;
}

bool spans_of(struct kernel *k, const struct dims *d, const struct span_operand *x, uint32_t n,
              bool ordered, struct spans *ret)
{
    *ret = (struct spans){ 0 };
    if (k->failed)
        return false;
    if (!make_span(d, x, n, false, false, &ret->rows) ||
        !make_span(d, x, n, true, ordered, &ret->cols)) {
        cuda_decline(k);
        return false;
    }
    int64_t most = INT32_MAX - 65536; /* loops step beyond the end by this much */
    ret->wide = cuda_always_wide(k) || ret->rows.n > most || ret->cols.n > most;
    for (uint32_t t = 0; t < n; t++) {
        ret->wide |= furthest(&ret->rows, t) + furthest(&ret->cols, t) > most;
        ret->contiguous[t] = is_contiguous_span(&ret->cols, t);
    }
    int64_t row = innermost(&ret->rows, 0), col = innermost(&ret->cols, 0);
    ret->across = ret->rows.ndim && ret->cols.ndim && row > 0 && (row < col || col == 0) &&
                  ret->rows.size[ret->rows.ndim - 1] >= 8;
    return true;
}

bool spans_vector(const struct spans *s, const struct span_operand *x, uint32_t i)
{
    int64_t each = 16 / (int64_t)dtype_size(x[i].dtype);
    if (s->across || !s->contiguous[i] || s->cols.n < each || x[i].at % 16)
        return false;
    for (int64_t d = 0; d < s->rows.ndim; d++)
        if (s->rows.stride[i][d] % each)
            return false;
    return true;
}

bool spans_may_be_vectors(const struct spans *s, uint32_t i)
{
    return !s->across && s->contiguous[i];
}

struct cuda_function *spans_function(struct kernel *k, const char *file, const char *name,
                                     const struct defines *d, bool vector, bool both)
{
    struct defines with = *d;
    define(&with, "#define VECTOR\n");
    struct cuda_function *f = cuda_function(k, file, name, vector ? with.text : d->text);
    if (both)
        cuda_function_later(k, file, name, vector ? d->text : with.text);
    return f;
}

/* ---- Teams ---- */

struct team_shape team_for(const struct spans *s, uint32_t each)
{
    int64_t n = s->cols.n / (each ? each : 1);
    uint32_t lanes = 1;
    if (s->across)
        return (struct team_shape){ .lanes = TEAM_THREADS / 32, .across = 1 };
    while (lanes < 32 && lanes * 2 <= n)
        lanes *= 2;
    bool block = n > 32 * 8 || (n > 32 * 2 && s->rows.n < 1024);
    return (struct team_shape){ .lanes = block ? TEAM_THREADS : lanes };
}

uint32_t team_blocks(const struct kernel *k, const struct spans *s, struct team_shape shape)
{
    int64_t rows = TEAM_THREADS / shape.lanes;
    return cuda_blocks(k, s->rows.n, rows);
}
