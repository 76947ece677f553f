/* Complex numbers: c64 and c128, two floats each. On the host they are C's types, on the device a
 * struct with operators, so that the same expression compiles for both. Functions have the names of
 * C's library, with a suffix f for c64. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_COMPLEX_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_COMPLEX_H

#include "replay/backend/cuda/device/prologue.h"

#ifdef __CUDACC_RTC__

struct c128;
#define COMPLEX(T, R, OTHER)                                      \
    struct __align__(2 * sizeof(R)) T                             \
    {                                                             \
        R re, im;                                                 \
        T() = default;                                            \
        __device__ __forceinline__ T(R r, R i = 0) : re(r), im(i) \
        {                                                         \
        }                                                         \
        __device__ __forceinline__ explicit T(const OTHER &x);    \
    };
struct c64;
COMPLEX(c64, f32, c128)
COMPLEX(c128, f64, c64)
__device__ __forceinline__ c64::c64(const c128 &x) : re((f32)x.re), im((f32)x.im)
{
}
__device__ __forceinline__ c128::c128(const c64 &x) : re(x.re), im(x.im)
{
}

/* F(name): the name of a function of this type; M(name): of the type of its parts. */
#define COMPLEX_ARITHMETIC(T, R, M)                                           \
    DEVICE T operator+(T a, T b)                                              \
    {                                                                         \
        return T(a.re + b.re, a.im + b.im);                                   \
    }                                                                         \
    DEVICE T operator-(T a, T b)                                              \
    {                                                                         \
        return T(a.re - b.re, a.im - b.im);                                   \
    }                                                                         \
    DEVICE T operator-(T a)                                                   \
    {                                                                         \
        return T(-a.re, -a.im);                                               \
    }                                                                         \
    DEVICE T operator*(T a, T b)                                              \
    {                                                                         \
        return T(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);       \
    }                                                                         \
    DEVICE T operator/(T a, T b)                                              \
    {                                                                         \
        /* Scaled by the greater part of the divisor (Smith, 1962). */        \
        if (M(fabs)(b.re) >= M(fabs)(b.im)) {                                 \
            if (b.re == 0 && b.im == 0)                                       \
                return T(a.re / M(fabs)(b.re), a.im / M(fabs)(b.re));         \
            R ratio = b.im / b.re, by = 1 / (b.re + b.im * ratio);            \
            return T((a.re + a.im * ratio) * by, (a.im - a.re * ratio) * by); \
        }                                                                     \
        R ratio = b.re / b.im, by = 1 / (b.re * ratio + b.im);                \
        return T((a.re * ratio + a.im) * by, (a.im * ratio - a.re) * by);     \
    }                                                                         \
    DEVICE bool operator==(T a, T b)                                          \
    {                                                                         \
        return a.re == b.re && a.im == b.im;                                  \
    }                                                                         \
    DEVICE bool operator!=(T a, T b)                                          \
    {                                                                         \
        return a.re != b.re || a.im != b.im;                                  \
    }

#define COMPLEX_PARTS(T, R, F, M)       \
    DEVICE T complex_of_##T(R re, R im) \
    {                                   \
        return T(re, im);               \
    }                                   \
    DEVICE R F(creal)(T x)              \
    {                                   \
        return x.re;                    \
    }                                   \
    DEVICE R F(cimag)(T x)              \
    {                                   \
        return x.im;                    \
    }                                   \
    DEVICE T F(conj)(T x)               \
    {                                   \
        return T(x.re, -x.im);          \
    }                                   \
    DEVICE R F(cabs)(T x)               \
    {                                   \
        return M(hypot)(x.re, x.im);    \
    }                                   \
    DEVICE R F(carg)(T x)               \
    {                                   \
        return M(atan2)(x.im, x.re);    \
    }                                   \
    DEVICE T F(by_i)(T x)               \
    {                                   \
        return T(-x.im, x.re);          \
    }                                   \
    DEVICE T F(by_minus_i)(T x)         \
    {                                   \
        return T(x.im, -x.re);          \
    }

#define COMPLEX_POWERS(T, R, F, M)                                                            \
    DEVICE T F(cexp)(T x)                                                                     \
    {                                                                                         \
        R e = M(exp)(x.re);                                                                   \
        return x.im == 0 ? T(e, x.im) : T(e * M(cos)(x.im), e * M(sin)(x.im));                \
    }                                                                                         \
    DEVICE T F(clog)(T x)                                                                     \
    {                                                                                         \
        R a = M(fabs)(x.re), b = M(fabs)(x.im), h = M(hypot)(a, b);                           \
        R most = M(fmax)(a, b), least = M(fmin)(a, b);                                        \
        R log_h = h > (R)0.5 && h < 2 ? M(log1p)((most - 1) * (most + 1) + least * least) / 2 \
                                      : M(log)(h);                                            \
        return T(log_h, F(carg)(x));                                                          \
    }                                                                                         \
    DEVICE T F(csqrt)(T x)                                                                    \
    {                                                                                         \
        if (x.re == 0 && x.im == 0)                                                           \
            return T(0, x.im);                                                                \
        R t = M(sqrt)((M(fabs)(x.re) + F(cabs)(x)) / 2);                                      \
        return x.re >= 0 ? T(t, x.im / (2 * t))                                               \
                         : T(M(fabs)(x.im) / (2 * t), M(copysign)(t, x.im));                  \
    }                                                                                         \
    DEVICE T F(cpow)(T x, T y)                                                                \
    {                                                                                         \
        return x == T(0) ? T(0) : F(cexp)(y * F(clog)(x));                                    \
    }

#define COMPLEX_WAVES(T, R, F, M)                                                      \
    DEVICE T F(csinh)(T x)                                                             \
    {                                                                                  \
        return T(M(sinh)(x.re) * M(cos)(x.im), M(cosh)(x.re) * M(sin)(x.im));          \
    }                                                                                  \
    DEVICE T F(ccosh)(T x)                                                             \
    {                                                                                  \
        return T(M(cosh)(x.re) * M(cos)(x.im), M(sinh)(x.re) * M(sin)(x.im));          \
    }                                                                                  \
    DEVICE T F(ctanh)(T x) /* Kahan, 1987 */                                           \
    {                                                                                  \
        if (M(fabs)(x.re) > 20)                                                        \
            return T(M(copysign)((R)1, x.re),                                          \
                     4 * M(sin)(x.im) * M(cos)(x.im) * M(exp)(-2 * M(fabs)(x.re)));    \
        R t = M(tan)(x.im), s = M(sinh)(x.re), beta = 1 + t * t, d = 1 + beta * s * s; \
        return T(beta * M(sqrt)(1 + s * s) * s / d, t / d);                            \
    }                                                                                  \
    DEVICE T F(csin)(T x)                                                              \
    {                                                                                  \
        return F(by_minus_i)(F(csinh)(F(by_i)(x)));                                    \
    }                                                                                  \
    DEVICE T F(ccos)(T x)                                                              \
    {                                                                                  \
        return F(ccosh)(F(by_i)(x));                                                   \
    }                                                                                  \
    DEVICE T F(ctan)(T x)                                                              \
    {                                                                                  \
        return F(by_minus_i)(F(ctanh)(F(by_i)(x)));                                    \
    }

/* Kahan, 1987: branch cuts as in C. */
#define COMPLEX_INVERSES(T, R, F, M)                                                   \
    DEVICE T F(casin)(T x)                                                             \
    {                                                                                  \
        T p = F(csqrt)(T(1) - x), q = F(csqrt)(T(1) + x);                              \
        return T(M(atan2)(x.re, F(creal)(p * q)), M(asinh)(F(cimag)(F(conj)(p) * q))); \
    }                                                                                  \
    DEVICE T F(cacos)(T x)                                                             \
    {                                                                                  \
        T p = F(csqrt)(T(1) - x), q = F(csqrt)(T(1) + x);                              \
        return T(2 * M(atan2)(p.re, q.re), M(asinh)(F(cimag)(F(conj)(q) * p)));        \
    }                                                                                  \
    DEVICE T F(catanh)(T x)                                                            \
    {                                                                                  \
        R y = x.im * x.im, under = (1 - x.re) * (1 - x.re) + y;                        \
        return T(M(log1p)(4 * x.re / under) / 4,                                       \
                 M(atan2)(2 * x.im, (1 - x.re) * (1 + x.re) - y) / 2);                 \
    }                                                                                  \
    DEVICE T F(casinh)(T x)                                                            \
    {                                                                                  \
        return F(by_minus_i)(F(casin)(F(by_i)(x)));                                    \
    }                                                                                  \
    DEVICE T F(cacosh)(T x)                                                            \
    {                                                                                  \
        T p = F(csqrt)(x - T(1)), q = F(csqrt)(x + T(1));                              \
        return T(M(asinh)(F(creal)(F(conj)(p) * q)), 2 * M(atan2)(p.im, q.re));        \
    }                                                                                  \
    DEVICE T F(catan)(T x)                                                             \
    {                                                                                  \
        return F(by_minus_i)(F(catanh)(F(by_i)(x)));                                   \
    }

#define WITH_F(name)  name##f
#define WITHOUT(name) name
#define COMPLEX_FUNCTIONS(T, R, F) \
    COMPLEX_ARITHMETIC(T, R, F)    \
    COMPLEX_PARTS(T, R, F, F)      \
    COMPLEX_POWERS(T, R, F, F)     \
    COMPLEX_WAVES(T, R, F, F)      \
    COMPLEX_INVERSES(T, R, F, F)
COMPLEX_FUNCTIONS(c64, f32, WITH_F)
COMPLEX_FUNCTIONS(c128, f64, WITHOUT)

#else /* the host */

typedef float _Complex c64;
typedef double _Complex c128;
DEVICE c64 complex_of_c64(f32 re, f32 im)
{
    union {
        f32 part[2];
        c64 whole;
    } x = { { re, im } };
    return x.whole;
}
DEVICE c128 complex_of_c128(f64 re, f64 im)
{
    union {
        f64 part[2];
        c128 whole;
    } x = { { re, im } };
    return x.whole;
}
#define creal(x)  __builtin_creal(x)
#define cimag(x)  __builtin_cimag(x)
#define conj(x)   __builtin_conj(x)
#define cabs(x)   __builtin_cabs(x)
#define carg(x)   __builtin_carg(x)
#define crealf(x) __builtin_crealf(x)
#define cimagf(x) __builtin_cimagf(x)
#define conjf(x)  __builtin_conjf(x)
#define cabsf(x)  __builtin_cabsf(x)
#define cargf(x)  __builtin_cargf(x)
#define COMPLEX_ON_HOST(name) \
    c128 name(c128 x);        \
    c64 name##f(c64 x);
COMPLEX_ON_HOST(cexp)
COMPLEX_ON_HOST(clog)
COMPLEX_ON_HOST(csqrt)
COMPLEX_ON_HOST(csin)
COMPLEX_ON_HOST(ccos)
COMPLEX_ON_HOST(ctan)
COMPLEX_ON_HOST(csinh)
COMPLEX_ON_HOST(ccosh)
COMPLEX_ON_HOST(ctanh)
COMPLEX_ON_HOST(casin)
COMPLEX_ON_HOST(cacos)
COMPLEX_ON_HOST(catan)
COMPLEX_ON_HOST(casinh)
COMPLEX_ON_HOST(cacosh)
COMPLEX_ON_HOST(catanh)
c128 cpow(c128 x, c128 y);
c64 cpowf(c64 x, c64 y);

#endif

ELEMENT(c64, c64, x, x)
ELEMENT(c128, c128, x, x)
#define to_store_c64(v)  (c64)(v)
#define to_store_c128(v) (c128)(v)

#endif
