#include "replay/backend/cpu/pointwise/pointwise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay/backend/call/collective_args.h"

static const struct kernel_row rows[] = {
#define KERNEL(base, run, param) { base, kernel_##run, param },
#include "replay/backend/cpu/kernels.def"
#undef KERNEL
#define BACKEND_COMPOSITE(base, run, param) { base, composite_##run, param },
#include "replay/backend/call/composite.def"
#undef BACKEND_COMPOSITE
#define POINT(base, ...) { #base, kernel_point, POINT_##base },
#include "replay/backend/pointwise/pointwise.def"
#undef POINT
};

_Static_assert(sizeof rows / sizeof *rows <= KERNEL_MOST_ROWS, "a slot for each row");

void cpu_kernels(struct kernel_table *ret)
{
    kernel_table_make(ret, rows, sizeof rows / sizeof *rows);
}

/* ---- Arrays ---- */

/* Returns what a kernel that failed gets: no element in any dimension. */
static struct dense no_elements(enum dense_kind kind, uint32_t ndim)
{
    return (struct dense){ .kind = kind, .ndim = ndim };
}

struct dense dense_new(struct kernel *k, enum dense_kind kind, const int64_t *size, uint32_t ndim)
{
    struct dense ret = { .kind = kind, .ndim = ndim, .n = 1 };
    for (uint32_t i = 0; i < ndim; i++) {
        ret.size[i] = size[i];
        if (__builtin_mul_overflow(ret.n, size[i], &ret.n))
            ret.n = size[i] == 0 ? 0 : INT64_MAX;
    }
    ret.u.p = workspace(k, ret.n, dense_size(kind));
    return ret.u.p ? ret : no_elements(kind, ndim);
}

struct dense like_result(struct kernel *k, uint32_t i, enum dense_kind kind)
{
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(result(k, i), size);
    return dense_new(k, kind, size, ndim);
}

/* Iterates over a tensor's elements in order, as offsets in its memory. */
struct element_cursor {
    uint32_t ndim;
    int64_t size[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM], at[TENSOR_MAX_DIM], place, n;
};

static bool cursor_of(struct kernel *k, struct kernel_tensor x, struct element_cursor *c)
{
    struct memory *m = storage_at(k->call->storages, x.storage);
    if (!x.meta || !x.meta->addressable || (x.meta->reach && (!m || m->bytes < x.meta->reach)))
        return kernel_fail(k, "a tensor whose strides are not numbers, or that has no memory"),
               false;
    *c = (struct element_cursor){ .ndim = x.meta->ndim, .n = 1, .place = x.meta->offset };
    tensor_sizes(x, c->size);
    for (uint32_t i = 0; i < c->ndim; i++) {
        c->stride[i] = x.meta->stride[i];
        if (__builtin_mul_overflow(c->n, c->size[i], &c->n))
            return kernel_fail(k, "a tensor of more than 2^63 elements"), false;
    }
    return true;
}

static void cursor_next(struct element_cursor *c)
{
    for (uint32_t i = c->ndim; i-- > 0;) {
        c->place += c->stride[i];
        if (++c->at[i] < c->size[i])
            return;
        c->place -= c->stride[i] * c->size[i];
        c->at[i] = 0;
    }
}

/* Copies contiguous elements of the most common dtypes, which is the most common case. */
static bool dense_in_memory(const struct element_cursor *c)
{
    int64_t step = 1;
    for (uint32_t i = c->ndim; i-- > 0; step *= c->size[i])
        if (c->size[i] != 1 && c->stride[i] != step)
            return false;
    return true;
}

static bool load_run(struct dense *to, enum dtype dtype, const void *p, int64_t place)
{
    if (to->kind == DENSE_REAL && dtype == DTYPE_F32)
        for (int64_t i = 0; i < to->n; i++)
            to->u.r[i] = (double)((const float *)p)[place + i];
    else if ((to->kind == DENSE_REAL && dtype == DTYPE_F64) ||
             (to->kind == DENSE_INT && dtype == DTYPE_I64))
        memcpy(to->u.p, (const double *)p + place, (size_t)to->n * sizeof(double));
    else if (to->kind == DENSE_INT && dtype == DTYPE_B8)
        for (int64_t i = 0; i < to->n; i++)
            to->u.i[i] = ((const uint8_t *)p)[place + i] != 0;
    else if (to->kind == DENSE_REAL && dtype == DTYPE_BF16)
        for (int64_t i = 0; i < to->n; i++)
            to->u.r[i] = load_real(DTYPE_BF16, p, place + i);
    else if (to->kind == DENSE_REAL && dtype == DTYPE_F16)
        for (int64_t i = 0; i < to->n; i++)
            to->u.r[i] = load_real(DTYPE_F16, p, place + i);
    else
        return false;
    return true;
}

static bool store_run(const struct dense *x, enum dtype dtype, void *p, int64_t place)
{
    if (x->kind == DENSE_REAL && dtype == DTYPE_F32)
        for (int64_t i = 0; i < x->n; i++)
            ((float *)p)[place + i] = (float)x->u.r[i];
    else if ((x->kind == DENSE_REAL && dtype == DTYPE_F64) ||
             (x->kind == DENSE_INT && dtype == DTYPE_I64))
        memcpy((double *)p + place, x->u.p, (size_t)x->n * sizeof(double));
    else
        return false;
    return true;
}

void dense_read(struct dense *x, enum dtype dtype, const void *p, int64_t place)
{
    bool run = load_run(x, dtype, p, place);
    for (int64_t i = 0; i < x->n && !run; i++)
        switch (x->kind) {
        case DENSE_INT: x->u.i[i] = load_int(dtype, p, place + i); break;
        case DENSE_REAL: x->u.r[i] = load_real(dtype, p, place + i); break;
        case DENSE_COMPLEX: x->u.c[i] = load_complex(dtype, p, place + i); break;
        }
}

void dense_write(const struct dense *x, enum dtype dtype, void *p, int64_t place)
{
    bool run = store_run(x, dtype, p, place);
    for (int64_t i = 0; i < x->n && !run; i++)
        switch (x->kind) {
        case DENSE_INT: store_int(dtype, p, place + i, x->u.i[i]); break;
        case DENSE_REAL: store_real(dtype, p, place + i, x->u.r[i]); break;
        case DENSE_COMPLEX: store_complex(dtype, p, place + i, x->u.c[i]); break;
        }
}

void *elements_in_order(struct kernel *k, struct kernel_tensor x)
{
    struct element_cursor c;
    if (k->failed || !cursor_of(k, x, &c) || !c.n || !dense_in_memory(&c) || x.meta->conj ||
        x.meta->neg)
        return NULL;
    return (char *)storage_at(k->call->storages, x.storage)->p +
           (size_t)c.place * dtype_size(x.meta->dtype);
}

struct dense load_as(struct kernel *k, struct kernel_tensor x, enum dense_kind kind)
{
    struct element_cursor c;
    if (k->failed || !cursor_of(k, x, &c))
        return no_elements(kind, x.meta ? x.meta->ndim : 0);
    struct dense ret = dense_new(k, kind, c.size, c.ndim);
    enum dtype dtype = x.meta->dtype;
    const void *p = ret.n ? storage_at(k->call->storages, x.storage)->p : NULL;
    bool run = ret.n && dense_in_memory(&c) && load_run(&ret, dtype, p, c.place);
    for (int64_t i = 0; i < ret.n && !run; i++, cursor_next(&c)) {
        switch (kind) {
        case DENSE_INT: ret.u.i[i] = load_int(dtype, p, c.place); break;
        case DENSE_REAL: ret.u.r[i] = load_real(dtype, p, c.place); break;
        case DENSE_COMPLEX: ret.u.c[i] = load_complex(dtype, p, c.place); break;
        }
    }
    for (int64_t i = 0; x.meta->conj && kind == DENSE_COMPLEX && i < ret.n; i++)
        ret.u.c[i] = conj(ret.u.c[i]);
    for (int64_t i = 0; x.meta->neg && kind == DENSE_REAL && i < ret.n; i++)
        ret.u.r[i] = -ret.u.r[i];
    return ret;
}

struct dense load_tensor(struct kernel *k, struct kernel_tensor x)
{
    return load_as(k, x, x.meta ? dense_kind_of(x.meta->dtype) : DENSE_REAL);
}

struct dense load_optional(struct kernel *k, const char *name)
{
    return has_arg(k, name) ? load_as(k, tensor_arg(k, name), DENSE_REAL) : (struct dense){ 0 };
}

struct dense load_value(struct kernel *k, struct kernel_value value, enum dense_kind kind)
{
    if (value.kind == KERNEL_TENSOR)
        return load_as(k, value.u.tensor, kind);
    struct dense ret = dense_new(k, kind, NULL, 0);
    if (!ret.u.p)
        return ret;
    if (kind == DENSE_INT)
        ret.u.i[0] = number_as_int(value, 0);
    else if (kind == DENSE_REAL)
        ret.u.r[0] = number_as_real(value, 0);
    else
        ret.u.c[0] = value.kind == KERNEL_COMPLEX
                         ? complex_of(value.u.complex.re, value.u.complex.im)
                         : number_as_real(value, 0);
    return ret;
}

/* Gathers the elements of x for sizes and strides. */
static struct dense gather_strided(struct kernel *k, struct dense x, const int64_t *size,
                                   const int64_t *stride, uint32_t ndim)
{
    struct dense ret = dense_new(k, x.kind, size, ndim);
    struct element_cursor c = { .ndim = ndim };
    memcpy(c.size, size, ndim * sizeof *size);
    memcpy(c.stride, stride, ndim * sizeof *stride);
    for (int64_t i = 0; i < ret.n; i++, cursor_next(&c))
        copy_element(&ret, i, &x, c.place);
    return ret;
}

struct dense dense_broadcast(struct kernel *k, struct dense x, const int64_t *size, uint32_t ndim)
{
    int64_t stride[TENSOR_MAX_DIM], step = 1;
    bool same = x.ndim == ndim;
    for (uint32_t i = 0; i < ndim && same; i++)
        same = x.size[i] == size[i];
    if (same || k->failed)
        return x;
    if (x.ndim > ndim)
        return kernel_fail(k, "a tensor of %u dimensions does not broadcast to %u", x.ndim, ndim),
               x;
    for (uint32_t i = ndim; i-- > 0;) {
        uint32_t from = i + x.ndim - ndim;
        bool there = i + x.ndim >= ndim;
        stride[i] = !there || x.size[from] == 1 ? 0 : step;
        if (there && x.size[from] != 1 && x.size[from] != size[i])
            return kernel_fail(k, "sizes %lld and %lld do not broadcast", (long long)x.size[from],
                               (long long)size[i]),
                   x;
        step *= there ? x.size[from] : 1;
    }
    return gather_strided(k, x, size, stride, ndim);
}

struct dense dense_permute(struct kernel *k, struct dense x, const uint32_t *order)
{
    int64_t size[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM], from[TENSOR_MAX_DIM], step = 1;
    for (uint32_t i = x.ndim; i-- > 0; step *= x.size[i])
        from[i] = step;
    for (uint32_t i = 0; i < x.ndim; i++) {
        size[i] = x.size[order[i]];
        stride[i] = from[order[i]];
    }
    return k->failed ? x : gather_strided(k, x, size, stride, x.ndim);
}

struct dense dense_reshape(struct dense x, const int64_t *size, uint32_t ndim)
{
    x.ndim = ndim;
    memcpy(x.size, size, ndim * sizeof *size);
    return x;
}

struct dense dense_convert(struct kernel *k, struct dense x, enum dense_kind kind)
{
    if (x.kind == kind || k->failed)
        return x;
    struct dense ret = dense_new(k, kind, x.size, x.ndim);
    for (int64_t i = 0; i < ret.n; i++) {
        double re = x.kind == DENSE_INT    ? (double)x.u.i[i]
                    : x.kind == DENSE_REAL ? x.u.r[i]
                                           : creal(x.u.c[i]);
        if (kind == DENSE_INT)
            ret.u.i[i] = saturated_int(re);
        else if (kind == DENSE_REAL)
            ret.u.r[i] = re;
        else
            ret.u.c[i] = re;
    }
    return ret;
}

void store_tensor(struct kernel *k, struct kernel_tensor to, struct dense x)
{
    struct element_cursor c;
    if (k->failed || !to.meta || !cursor_of(k, to, &c))
        return;
    if (c.n != x.n) {
        kernel_fail(k, "%lld values for %lld elements", (long long)x.n, (long long)c.n);
        return;
    }
    if (c.n == 0)
        return;
    struct memory *m = storage_at(k->call->storages, to.storage);
    if (m->borrowed) {
        kernel_fail(k, "a weight of the archive would be written in place");
        return;
    }
    enum dtype dtype = to.meta->dtype;
    if (!to.meta->neg && dense_in_memory(&c) && store_run(&x, dtype, m->p, c.place))
        return;
    for (int64_t i = 0; i < c.n; i++, cursor_next(&c)) {
        if (x.kind == DENSE_INT)
            store_int(dtype, m->p, c.place, x.u.i[i]);
        else if (x.kind == DENSE_REAL)
            store_real(dtype, m->p, c.place, to.meta->neg ? -x.u.r[i] : x.u.r[i]);
        else
            store_complex(dtype, m->p, c.place, to.meta->conj ? conj(x.u.c[i]) : x.u.c[i]);
    }
}

struct around around_dim(const struct dense *x, uint32_t dim)
{
    struct around ret = { 1, x->u.p ? 1 : 0, 1 };
    for (uint32_t i = 0; i < x->ndim; i++) {
        if (i < dim)
            ret.outer *= x->size[i];
        else if (i == dim)
            ret.n = x->size[i];
        else
            ret.inner *= x->size[i];
    }
    return ret;
}

/* ---- Random numbers: splitmix64 ---- */

struct random random_of(const struct kernel *k)
{
    return (struct random){ k->call->seed * 0x9e3779b97f4a7c15u + 0x2545f4914f6cdd1du };
}

uint64_t random_bits(struct random *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

double random_uniform(struct random *r)
{
    return (double)(random_bits(r) >> 11) * 0x1p-53;
}

double random_normal(struct random *r)
{
    double radius = sqrt(-2 * log1p(-random_uniform(r)));
    return radius * cos(2 * 3.14159265358979323846 * random_uniform(r));
}
