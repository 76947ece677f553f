/* Reads elements of small tensors whose values are known. */
#include <math.h>
#include <stdlib.h>

#include "replay/ops/rules/reduce/reduce.h"

bool elements_known(const struct call *c, struct tensor x)
{
    int64_t numel;
    return x.data && !x.counted && plain_numel(c, x, &numel);
}

static uint64_t load(const unsigned char *p, unsigned size)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < size && i < 8; i++)
        bits |= (uint64_t)p[i] << (8 * i);
    return bits;
}

static double half(uint64_t bits)
{
    int exponent = (int)(bits >> 10 & 31);
    double fraction = (double)(bits & 1023);
    double value = exponent == 31  ? (fraction != 0 ? NAN : INFINITY)
                   : exponent == 0 ? ldexp(fraction, -24)
                                   : ldexp(fraction + 1024, exponent - 25);
    return bits >> 15 & 1 ? -value : value;
}

static double single(uint64_t bits)
{
    uint32_t word = (uint32_t)bits;
    float value;
    memcpy(&value, &word, sizeof value);
    return (double)value;
}

/* Reads the floating-point number at p, or the real part of the complex number there. Returns
 * false for other dtypes. */
static bool load_double(enum dtype dtype, const unsigned char *p, double *ret)
{
    uint64_t bits;
    switch (dtype) {
    case DTYPE_F64:
    case DTYPE_C128:
        bits = load(p, 8);
        memcpy(ret, &bits, sizeof *ret);
        return true;
    case DTYPE_F32:
    case DTYPE_C64: *ret = single(load(p, 4)); return true;
    case DTYPE_BF16: *ret = single(load(p, 2) << 16); return true;
    case DTYPE_F16:
    case DTYPE_C32: *ret = half(load(p, 2)); return true;
    default: return false;
    }
}

bool element_int(const struct call *c, struct tensor x, uint64_t i, int64_t *ret)
{
    (void)c;
    if (!x.data || x.counted)
        return false;
    unsigned size = dtype_size(dtype_of(x));
    uint64_t bits = load(x.data + i * size, size);
    switch (dtype_of(x)) {
    case DTYPE_I64:
    case DTYPE_U64: *ret = (int64_t)bits; return true;
    case DTYPE_I32: *ret = (int32_t)bits; return true;
    case DTYPE_I16: *ret = (int16_t)bits; return true;
    case DTYPE_I8: *ret = (int8_t)bits; return true;
    case DTYPE_U8:
    case DTYPE_U16:
    case DTYPE_U32: *ret = (int64_t)bits; return true;
    case DTYPE_B8: *ret = bits != 0; return true;
    default: return false;
    }
}

bool element_double(const struct call *c, struct tensor x, uint64_t i, double *ret)
{
    int64_t integer;
    if (!x.data || x.counted)
        return false;
    if (load_double(dtype_of(x), x.data + i * dtype_size(dtype_of(x)), ret))
        return true;
    if (!element_int(c, x, i, &integer))
        return false;
    *ret = dtype_of(x) == DTYPE_U64 ? (double)(uint64_t)integer : (double)integer;
    return true;
}

bool element_is_zero(struct tensor x, uint64_t i)
{
    unsigned size = dtype_size(dtype_of(x));
    const unsigned char *p = x.data + i * size;
    double part;
    if (dtype_is_complex(dtype_of(x))) {
        double im;
        return load_double(dtype_of(x), p, &part) && part == 0 &&
               load_double(dtype_of(x), p + size / 2, &im) && im == 0;
    }
    if (load_double(dtype_of(x), p, &part))
        return part == 0;
    for (unsigned k = 0; k < size; k++)
        if (p[k])
            return false;
    return true;
}

bool index_outside(const struct call *c, struct tensor index, int64_t low, int64_t high,
                   int64_t *ret)
{
    int64_t n, value;
    if (!index.data || !plain_numel(c, index, &n))
        return false;
    for (int64_t i = 0; i < n; i++)
        if (element_int(c, index, (uint64_t)i, &value) && (value < low || value > high)) {
            *ret = value;
            return true;
        }
    return false;
}

/* --- Distinct elements --- */

/* Writes element i so that equal elements have equal bytes: -0.0 becomes 0.0. Returns false for
 * NaN, which equals nothing. */
static bool canonical(struct tensor x, uint64_t i, unsigned char *to)
{
    unsigned size = dtype_size(dtype_of(x));
    memcpy(to, x.data + i * size, size);
    unsigned part = dtype_is_complex(dtype_of(x)) ? size / 2 : size;
    bool comparable = true;
    for (unsigned k = 0; part && k < size; k += part) {
        double value;
        if (!load_double(dtype_of(x), to + k, &value))
            break;
        if (value == 0)
            memset(to + k, 0, part);
        comparable &= !isnan(value);
    }
    return comparable;
}

struct row {
    const unsigned char *p;
    size_t n;
};

static int compare_rows(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return memcmp(x->p, y->p, x->n);
}

static uint64_t count_runs(const struct row *rows, uint64_t n)
{
    uint64_t count = n ? 1 : 0;
    for (uint64_t i = 1; i < n; i++)
        count += memcmp(rows[i].p, rows[i - 1].p, rows[i].n) != 0;
    return count;
}

bool count_distinct(struct call *c, struct tensor x, uint64_t row, bool consecutive, uint64_t *ret)
{
    int64_t numel;
    if (!plain_numel(c, x, &numel) || (numel && !x.data))
        return false;
    uint64_t n = row ? (uint64_t)numel / row : 0;
    size_t size = (size_t)(row * dtype_size(dtype_of(x)));
    unsigned char *bytes = scratch(c, (size_t)numel * dtype_size(dtype_of(x)) + 1);
    struct row *rows = scratch(c, (size_t)(n + 1) * sizeof *rows);
    if (!bytes || !rows)
        return false;
    uint64_t distinct = 0, kept = 0;
    for (uint64_t i = 0; i < n; i++) {
        bool comparable = true;
        for (uint64_t k = 0; k < row; k++)
            comparable &= canonical(x, i * row + k, bytes + i * size + k * dtype_size(dtype_of(x)));
        rows[kept] = (struct row){ bytes + i * size, size };
        if (comparable || consecutive)
            kept++;
        else
            distinct++;
    }
    if (!consecutive && kept)
        qsort(rows, (size_t)kept, sizeof *rows, compare_rows);
    *ret = distinct + count_runs(rows, kept);
    return true;
}
