#include "replay/backend/values/elements.h"

#include <math.h>
#include <string.h>

enum dense_kind dense_kind_of(enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_F64:
    case DTYPE_F32:
    case DTYPE_F16:
    case DTYPE_BF16:
    case DTYPE_F8E4M3FN:
    case DTYPE_F8E5M2:
    case DTYPE_F8E4M3FNUZ:
    case DTYPE_F8E5M2FNUZ:
    case DTYPE_F8E8M0FNU: return DENSE_REAL;
    case DTYPE_C32:
    case DTYPE_C64:
    case DTYPE_C128: return DENSE_COMPLEX;
    default: return DENSE_INT;
    }
}

/* ---- Small floats: sign, exponent, fraction ---- */

struct small_float {
    unsigned exponent_bits, fraction_bits;
    int bias;
    bool infinities;    /* the greatest exponent means infinity or NaN; otherwise only all ones mean
                           NaN */
    bool unsigned_zero; /* "fnuz": there is one zero, and the bits of the other mean NaN */
};

static const struct small_float FLOAT16 = { 5, 10, 15, true, false };
static const struct small_float E4M3FN = { 4, 3, 7, false, false };
static const struct small_float E5M2 = { 5, 2, 15, true, false };
static const struct small_float E4M3FNUZ = { 4, 3, 8, false, true };
static const struct small_float E5M2FNUZ = { 5, 2, 16, false, true };

static double small_to_double(const struct small_float *f, unsigned bits)
{
    unsigned fraction_mask = (1u << f->fraction_bits) - 1, top = (1u << f->exponent_bits) - 1;
    unsigned sign = bits >> (f->exponent_bits + f->fraction_bits);
    unsigned exponent = bits >> f->fraction_bits & top, fraction = bits & fraction_mask;
    if (f->unsigned_zero && sign && !exponent && !fraction)
        return NAN;
    if (f->infinities && exponent == top)
        return fraction ? NAN : sign ? -INFINITY : INFINITY;
    if (!f->infinities && !f->unsigned_zero && exponent == top && fraction == fraction_mask)
        return NAN;
    double x = exponent
                   ? ldexp(1.0 + ldexp(fraction, -(int)f->fraction_bits), (int)exponent - f->bias)
                   : ldexp(fraction, 1 - f->bias - (int)f->fraction_bits);
    return sign ? -x : x;
}

/* Rounds to nearest, ties to even. Beyond the greatest value the result is infinity, or NaN if the
 * format has no infinity. */
static unsigned small_from_double(const struct small_float *f, double x)
{
    unsigned top = (1u << f->exponent_bits) - 1, sign_at = f->exponent_bits + f->fraction_bits;
    unsigned sign = signbit(x) ? 1u << sign_at : 0;
    unsigned nan = f->unsigned_zero ? 1u << sign_at
                   : f->infinities  ? (top << f->fraction_bits) | 1u << (f->fraction_bits - 1)
                                    : (1u << sign_at) - 1;
    unsigned over = f->infinities      ? sign | top << f->fraction_bits
                    : f->unsigned_zero ? nan
                                       : sign | nan;
    if (isnan(x))
        return f->unsigned_zero ? nan : sign | nan;
    x = fabs(x);
    int exponent = 0;
    if (isinf(x))
        return over;
    if (x > 0)
        exponent = ilogb(x);
    if (exponent < 1 - f->bias)
        exponent = 1 - f->bias;
    double units = nearbyint(ldexp(x, (int)f->fraction_bits - exponent));
    if (units >= (double)(2u << f->fraction_bits)) {
        units /= 2;
        exponent++;
    }
    unsigned n = (unsigned)units, hidden = 1u << f->fraction_bits;
    unsigned e = n < hidden ? 0 : (unsigned)(exponent + f->bias);
    unsigned bits = e << f->fraction_bits | (n & (hidden - 1));
    bool beyond =
        f->infinities ? e >= top : bits >= (1u << sign_at) || (!f->unsigned_zero && bits == nan);
    if (beyond || e > top)
        return over;
    return f->unsigned_zero && !bits ? 0 : sign | bits;
}

static double bfloat16_to_double(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float x;
    memcpy(&x, &wide, sizeof x);
    return (double)x;
}

/* Rounds once, from float64; a conversion through float32 would round twice. */
static uint16_t bfloat16_from_double(double x)
{
    float nearest = (float)x;
    uint32_t bits;
    if (isnan(x))
        return 0x7fc0;
    memcpy(&bits, &nearest, sizeof bits);
    if (!isinf(nearest) && (bits & 0xffff) == 0x8000 && (double)nearest != x)
        bits += (fabs(x) > fabs((double)nearest)) ? 1 : -1u;
    bits += 0x7fff + (bits >> 16 & 1);
    return (uint16_t)(bits >> 16);
}

/* ---- Elements ---- */

/* Arrays in files (safetensors, archives) have any alignment. */
#define UNALIGNED(type) \
    struct at_##type {  \
        type x;         \
    } __attribute__((packed, may_alias));
UNALIGNED(double)
UNALIGNED(float)
UNALIGNED(int8_t)
UNALIGNED(uint8_t)
UNALIGNED(int16_t)
UNALIGNED(uint16_t)
UNALIGNED(int32_t)
UNALIGNED(uint32_t)
UNALIGNED(int64_t)
UNALIGNED(uint64_t)
UNALIGNED(cfloat)
UNALIGNED(cdouble)
#undef UNALIGNED

#define AT(type)         ((const struct at_##type *)p)[i].x
#define PUT(type, value) ((struct at_##type *)p)[i].x = (type)(value)

double load_real(enum dtype dtype, const void *p, int64_t i)
{
    switch (dtype) {
    case DTYPE_F64: return AT(double);
    case DTYPE_F32: return (double)AT(float);
    case DTYPE_F16: return small_to_double(&FLOAT16, AT(uint16_t));
    case DTYPE_BF16: return bfloat16_to_double(AT(uint16_t));
    case DTYPE_F8E4M3FN: return small_to_double(&E4M3FN, AT(uint8_t));
    case DTYPE_F8E5M2: return small_to_double(&E5M2, AT(uint8_t));
    case DTYPE_F8E4M3FNUZ: return small_to_double(&E4M3FNUZ, AT(uint8_t));
    case DTYPE_F8E5M2FNUZ: return small_to_double(&E5M2FNUZ, AT(uint8_t));
    case DTYPE_F8E8M0FNU: return AT(uint8_t) == 255 ? NAN : ldexp(1, AT(uint8_t) - 127);
    case DTYPE_C32:
    case DTYPE_C64:
    case DTYPE_C128: return creal(load_complex(dtype, p, i));
    case DTYPE_U64: return (double)AT(uint64_t);
    default: return (double)load_int(dtype, p, i);
    }
}

int64_t load_int(enum dtype dtype, const void *p, int64_t i)
{
    switch (dtype) {
    case DTYPE_I8: return AT(int8_t);
    case DTYPE_I16: return AT(int16_t);
    case DTYPE_I32: return AT(int32_t);
    case DTYPE_I64:
    case DTYPE_U64: return AT(int64_t);
    case DTYPE_B8: return AT(uint8_t) != 0;
    case DTYPE_U16:
    case DTYPE_B16:
    case DTYPE_B16X1: return AT(uint16_t);
    case DTYPE_U32: return AT(uint32_t);
    case DTYPE_U8: return AT(uint8_t);
    default:
        return dense_kind_of(dtype) == DENSE_INT ? AT(uint8_t)
                                                 : saturated_int(load_real(dtype, p, i));
    }
}

cdouble load_complex(enum dtype dtype, const void *p, int64_t i)
{
    switch (dtype) {
    case DTYPE_C128: return AT(cdouble);
    case DTYPE_C64: return (cdouble)AT(cfloat);
    case DTYPE_C32:
        return complex_of(load_real(DTYPE_F16, p, 2 * i), load_real(DTYPE_F16, p, 2 * i + 1));
    default: return load_real(dtype, p, i);
    }
}

void store_real(enum dtype dtype, void *p, int64_t i, double x)
{
    switch (dtype) {
    case DTYPE_F64: PUT(double, x); break;
    case DTYPE_F32: PUT(float, x); break;
    case DTYPE_F16: PUT(uint16_t, small_from_double(&FLOAT16, x)); break;
    case DTYPE_BF16: PUT(uint16_t, bfloat16_from_double(x)); break;
    case DTYPE_F8E4M3FN: PUT(uint8_t, small_from_double(&E4M3FN, x)); break;
    case DTYPE_F8E5M2: PUT(uint8_t, small_from_double(&E5M2, x)); break;
    case DTYPE_F8E4M3FNUZ: PUT(uint8_t, small_from_double(&E4M3FNUZ, x)); break;
    case DTYPE_F8E5M2FNUZ: PUT(uint8_t, small_from_double(&E5M2FNUZ, x)); break;
    case DTYPE_F8E8M0FNU:
        PUT(uint8_t, isnan(x) ? 255 : fmax(0, fmin(254, rint(log2(x)) + 127)));
        break;
    case DTYPE_B8: PUT(uint8_t, x != 0); break;
    case DTYPE_C32:
    case DTYPE_C64:
    case DTYPE_C128: store_complex(dtype, p, i, x); break;
    case DTYPE_U64: PUT(uint64_t, x >= 0x1p63 ? (uint64_t)x : (uint64_t)saturated_int(x)); break;
    default: store_int(dtype, p, i, saturated_int(x));
    }
}

void store_int(enum dtype dtype, void *p, int64_t i, int64_t x)
{
    switch (dtype) {
    case DTYPE_I8: PUT(int8_t, (uint8_t)x); break;
    case DTYPE_I16: PUT(int16_t, (uint16_t)x); break;
    case DTYPE_I32: PUT(int32_t, (uint32_t)x); break;
    case DTYPE_I64:
    case DTYPE_U64: PUT(int64_t, x); break;
    case DTYPE_B8: PUT(uint8_t, x != 0); break;
    case DTYPE_U16:
    case DTYPE_B16:
    case DTYPE_B16X1: PUT(uint16_t, x); break;
    case DTYPE_U32: PUT(uint32_t, x); break;
    case DTYPE_U8: PUT(uint8_t, x); break;
    default:
        if (dense_kind_of(dtype) == DENSE_INT)
            PUT(uint8_t, x);
        else
            store_real(dtype, p, i, (double)x);
    }
}

void store_complex(enum dtype dtype, void *p, int64_t i, cdouble x)
{
    switch (dtype) {
    case DTYPE_C128: PUT(cdouble, x); break;
    case DTYPE_C64: PUT(cfloat, x); break;
    case DTYPE_C32:
        store_real(DTYPE_F16, p, 2 * i, creal(x));
        store_real(DTYPE_F16, p, 2 * i + 1, cimag(x));
        break;
    case DTYPE_B8: PUT(uint8_t, creal(x) != 0 || cimag(x) != 0); break;
    default: store_real(dtype, p, i, creal(x));
    }
}

double round_real(enum dtype dtype, double x)
{
    double stored = 0;
    store_real(dtype, &stored, 0, x);
    return load_real(dtype, &stored, 0);
}
