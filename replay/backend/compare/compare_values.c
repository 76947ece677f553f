#include "replay/backend/compare/compare_values.h"

#include <math.h>
#include <string.h>

#include "replay/backend/values/elements.h"

struct tolerance tolerance_of(enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_F64:
    case DTYPE_C128: return (struct tolerance){ 1e-7, 1e-7 };
    case DTYPE_F32:
    case DTYPE_C64: return (struct tolerance){ 1.3e-6, 1e-5 };
    case DTYPE_BF16: return (struct tolerance){ 1.6e-2, 1e-5 };
    case DTYPE_F16:
    case DTYPE_C32: return (struct tolerance){ 1e-3, 1e-5 };
    default:
        return dense_kind_of(dtype) == DENSE_INT ? (struct tolerance){ 0, 0 }
                                                 : (struct tolerance){ 0.125, 1e-2 };
    }
}

/* Returns the bits as an integer, so that floats of one sign are ordered like their integers. */
static int64_t ordered_bits(enum dtype dtype, const void *p, uint64_t i)
{
    uint64_t bits = 0;
    size_t size = dtype_size(dtype);
    if (size > 8)
        return 0;
    memcpy(&bits, (const char *)p + i * size, size);
    uint64_t sign = (uint64_t)1 << (8 * size - 1);
    return bits & sign ? -(int64_t)(bits & (sign - 1)) : (int64_t)bits;
}

static bool equal_array_shapes(const struct array *a, const struct array *b)
{
    if (a->dtype != b->dtype || a->ndim != b->ndim || a->bytes != b->bytes)
        return false;
    return memcmp(a->size, b->size, a->ndim * sizeof *a->size) == 0;
}

static void note_odd(struct difference *d, uint64_t at, bool nan, bool in_got)
{
    if (d->n_odd < ODD_PLACES && (d->n_odd == 0 || d->odd[d->n_odd - 1].at != at))
        d->odd[d->n_odd++] = (struct odd_place){ at, nan, in_got };
    d->nans += nan;
    d->infs += !nan;
}

/* Compares one component; returns whether the difference is beyond the tolerance. */
static bool compare_one(struct difference *d, uint64_t at, double x, double y, struct tolerance t)
{
    if (isnan(x) != isnan(y))
        return note_odd(d, at, true, isnan(y)), true;
    if (isnan(x) || x == y)
        return false;
    if (isinf(x) || isinf(y))
        return note_odd(d, at, false, isinf(y)), true;
    double error = fabs(x - y);
    d->max_absolute = fmax(d->max_absolute, error);
    if (x != 0)
        d->max_relative = fmax(d->max_relative, error / fabs(x));
    return error > t.absolute + t.relative * fabs(x);
}

static struct array_shape array_shape_of(const struct array *a)
{
    struct array_shape ret = { .dtype = a->dtype, .ndim = a->ndim };
    for (uint32_t i = 0; i < a->ndim && i < SHAPE_SIZES; i++)
        ret.size[i] = a->size[i];
    return ret;
}

void array_shape_print(const struct array_shape *shape, struct buf *out)
{
    buf_printf(out, "%s[", dtype_short_name(shape->dtype));
    for (uint32_t i = 0; i < shape->ndim && i < SHAPE_SIZES; i++)
        buf_printf(out, "%s%lld", i ? ", " : "", (long long)shape->size[i]);
    buf_puts(out, shape->ndim > SHAPE_SIZES ? ", ...]" : "]");
}

struct difference compare_arrays(const struct array *expected, const struct array *got,
                                 struct tolerance tolerance)
{
    struct difference d = { .comparable = equal_array_shapes(expected, got),
                            .has_shapes = true,
                            .expected_shape = array_shape_of(expected),
                            .got_shape = array_shape_of(got) };
    enum dtype dtype = expected->dtype;
    size_t size = dtype_size(dtype);
    if (!d.comparable || !size)
        return d;
    d.elements = expected->bytes / size;
    for (uint64_t i = 0; i < d.elements; i++) {
        cdouble x = load_complex(dtype, expected->p, (int64_t)i);
        cdouble y = load_complex(dtype, got->p, (int64_t)i);
        bool bad = compare_one(&d, i, creal(x), creal(y), tolerance);
        bad |= compare_one(&d, i, cimag(x), cimag(y), tolerance);
        d.both_nan += isnan(creal(x) + cimag(x)) && isnan(creal(y) + cimag(y));
        if (bad &&
            dense_kind_of(dtype) ==
                DENSE_COMPLEX) /* compares the distance of complex numbers, as PyTorch does */
            bad = !(cabs(x - y) <= tolerance.absolute + tolerance.relative * cabs(x));
        if (dense_kind_of(dtype) == DENSE_INT)
            bad = load_int(dtype, expected->p, (int64_t)i) != load_int(dtype, got->p, (int64_t)i);
        if (dense_kind_of(dtype) == DENSE_REAL && isfinite(creal(x)) && isfinite(creal(y))) {
            int64_t a = ordered_bits(dtype, expected->p, i), b = ordered_bits(dtype, got->p, i);
            uint64_t steps = a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
            d.max_ulps = steps > d.max_ulps ? steps : d.max_ulps;
        }
        if (bad && d.bad++ == 0) {
            d.first_bad = i;
            d.expected = creal(x);
            d.got = creal(y);
        }
    }
    return d;
}
