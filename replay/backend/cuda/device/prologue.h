/* The macros and types of kernel texts, which are written in the common subset of C17 and CUDA C:
 * no templates, no overloads, no header of CUDA. The same text is compiled in three ways:
 *
 *     by NVRTC                     for the device
 *     with SYMTAPE_SHIM defined    for the host, by tests: its value names the header to include
 *     otherwise                    by the C file that launches, for the struct of the arguments
 *
 *     #include ".../device/scale.h"       struct scale_args { u64 to, from; i64 n; };
 *
 *     KERNEL(scale, struct scale_args)                     T is a define: f32, bf16, i64 ...
 *     {
 *         T *to = PTR(T, a.to);
 *         const T *from = PTR(T, a.from);
 *         ROLLED
 *         for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < a.n; i += (i64)GRID_X * THREADS)
 *             STORE(T, to, i, LOAD(T, from, i) * 2);
 *     }
 *
 * Types of elements: i8 i16 i32 i64 u8 u16 u32 u64 b8 f64 f32 f16 bf16 f8e4m3 f8e5m2; the last four
 * are only bits, without arithmetic. LOAD(T, p, i) returns COMPUTE(T): f32 for f32 and smaller
 * floats, f64, u64 for u64, i64 for other integers, 0 or 1 for b8; STORE(T, p, i, v) rounds to
 * nearest even, wraps integers, and stores v != 0 as b8.
 *
 * VEC(T) is 16 bytes with the elements .v[PER16(T)]; LOAD16(T, p, i) and STORE16(T, p, i, x) move
 * it from and to the elements that start at p + i, an address that is a multiple of 16. AT(T, x, j)
 * is element j in COMPUTE(T), PUT(T, x, j, v) sets it.
 *
 * MOVES16(kernel, loads, stores), after a kernel, states the least number of loads and stores of 16
 * bytes in its code; a test checks the compiled code (tests/cuda/nvrtc_programs.py, with
 * SYMTAPE_CHECKED defined), and otherwise it has no effect.
 *
 * With LIVE_FIELD defined, the name of a field, such as cols.n, kernels get a struct live_count
 * after their own: the field is at most that number, which the device computed. So grids are made
 * for the greatest size, and threads beyond the real one do nothing.
 *
 * KERNEL_OF(name, struct, threads) declares the maximum number of threads of a block; more than 256
 * need it, because of registers. All threads of the block or warp must call SYNC(), SHUFFLE_...()
 * and BALLOT(), and blocks that shuffle must have whole warps. ATOMIC_...(p, v) return the previous
 * value. REPORT(error, index): `error` is the address of two u64, the number of reports and the
 * first index.
 *
 * From compute capability 8.0 on: COPY_ASYNC_16(to, from, is) and COPY_ASYNC_4() copy so many bytes
 * to shared memory, or zeros if not `is`; ASYNC_COMMIT() ends a group of copies, and ASYNC_WAIT(n)
 * waits until at most n of the thread's groups are left, after which SYNC() shows them to the
 * block. MULTIPLY_TF32(c, a, b) adds the product of a [16][8] and b [8][8], bits of f32 of which
 * the last 13 are ignored, to c [16][8]. By g = LANE / 4 and t = LANE % 4, a lane has in a: [g][t],
 * [g + 8][t], [g][t + 4], [g + 8][t + 4]; in b: [t][g], [t + 4][g]; in c: [g][2 * t],
 * [g][2 * t + 1], [g + 8][2 * t], [g + 8][2 * t + 1]. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_PROLOGUE_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_PROLOGUE_H

#ifdef __CUDACC_RTC__
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
#else
#include <stdbool.h>
#include <stdint.h>
typedef int8_t i8;
typedef int16_t i16;
typedef int32_t i32;
typedef int64_t i64;
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
#endif
typedef u8 b8;
typedef float f32;
typedef double f64;
typedef u16 f16;
typedef u16 bf16;
typedef u8 f8e4m3; /* e4m3fn */
typedef u8 f8e5m2;

/* A size that a kernel reads from device memory. */
struct live_count {
    u64 at;    /* i64 */
    i64 times; /* it is multiplied by that */
};

#if defined __CUDACC_RTC__ || defined SYMTAPE_SHIM

#define LIVE_COUNT(live)    (*PTR(const i64, (live).at) * (live).times)
#define LIVE_LIMIT(a, live) (a).LIVE_FIELD = MAX(0, MIN((a).LIVE_FIELD, LIVE_COUNT(live)))
#define CAT_(a, b)          a##b
#define CAT(a, b)           CAT_(a, b)
#define WARP                32
#define LANE                (THREAD % WARP)
#define MIN(a, b)           ((a) < (b) ? (a) : (b))
#define MAX(a, b)           ((a) > (b) ? (a) : (b))
#define PTR(T, address)     ((T *)(address))

#ifdef __CUDACC_RTC__

#ifdef LIVE_FIELD
#define KERNEL(name, type)             KERNEL_WITH_LIVE(name, type, )
#define KERNEL_OF(name, type, threads) KERNEL_WITH_LIVE(name, type, __launch_bounds__(threads))
/* The block's threads copy the arguments to shared memory, whose field is limited: in a copy of
 * each thread's own they would be in local memory, since sizes and strides are indexed. */
#define KERNEL_WITH_LIVE(name, type, bounds)                                                \
    struct live_##name {                                                                    \
        type a;                                                                             \
        struct live_count live;                                                             \
    };                                                                                      \
    static __device__ __forceinline__ void body_of_##name(const type &a);                   \
    extern "C" __global__ void bounds name(const __grid_constant__ struct live_##name with) \
    {                                                                                       \
        __shared__ type a;                                                                  \
        for (u32 i = threadIdx.x; i < sizeof a / sizeof(u32); i += blockDim.x)              \
            ((u32 *)&a)[i] = ((const u32 *)&with.a)[i];                                     \
        __syncthreads();                                                                    \
        if (threadIdx.x == 0)                                                               \
            LIVE_LIMIT(a, with.live);                                                       \
        __syncthreads();                                                                    \
        body_of_##name(a);                                                                  \
    }                                                                                       \
    static __device__ __forceinline__ void body_of_##name(const type &a)
#else
#define KERNEL(name, type) extern "C" __global__ void name(const __grid_constant__ type a)
#define KERNEL_OF(name, type, threads) \
    extern "C" __global__ void __launch_bounds__(threads) name(const __grid_constant__ type a)
#endif
#define DEVICE   static __device__ __forceinline__
#define CONSTANT static __constant__ const
#define UNROLL   _Pragma("unroll")
#define ROLLED   _Pragma("unroll 1")
#ifdef SYMTAPE_CHECKED
#define MOVES16(name, loads, stores) \
    extern "C" __device__ int moves16_##name = (loads) << 16 | (stores);
#endif
#define THREAD                threadIdx.x
#define THREADS               blockDim.x
#define BLOCK_X               blockIdx.x
#define BLOCK_Y               blockIdx.y
#define BLOCK_Z               blockIdx.z
#define GRID_X                gridDim.x
#define GRID_Y                gridDim.y
#define GRID_Z                gridDim.z
#define SHARED(type, name, n) __shared__ type name[n]
#define DYNAMIC_SHARED(type, name)                    \
    extern __shared__ union vec_u32 dynamic_shared[]; \
    type *const name = (type *)dynamic_shared
#define SYNC()      __syncthreads()
#define SYNC_WARP() __syncwarp()
#define FENCE()     __threadfence()
#define BALLOT(x)   __ballot_sync(0xffffffffu, (x))

#define SHUFFLES(T)                                   \
    DEVICE T SHUFFLE_XOR_##T(T v, u32 mask)           \
    {                                                 \
        return __shfl_xor_sync(0xffffffffu, v, mask); \
    }                                                 \
    DEVICE T SHUFFLE_DOWN_##T(T v, u32 by)            \
    {                                                 \
        return __shfl_down_sync(0xffffffffu, v, by);  \
    }                                                 \
    DEVICE T SHUFFLE_UP_##T(T v, u32 by)              \
    {                                                 \
        return __shfl_up_sync(0xffffffffu, v, by);    \
    }                                                 \
    DEVICE T SHUFFLE_##T(T v, u32 lane)               \
    {                                                 \
        return __shfl_sync(0xffffffffu, v, lane);     \
    }
#define ATOMICS(T, type)                                    \
    DEVICE T ATOMIC_ADD_##T(T *p, T v)                      \
    {                                                       \
        return (T)atomicAdd((type *)p, (type)v);            \
    }                                                       \
    DEVICE T ATOMIC_CAS_##T(T *p, T old, T v)               \
    {                                                       \
        return (T)atomicCAS((type *)p, (type)old, (type)v); \
    }
#define ATOMIC_EXTREMES(T)             \
    DEVICE T ATOMIC_MAX_##T(T *p, T v) \
    {                                  \
        return atomicMax(p, v);        \
    }                                  \
    DEVICE T ATOMIC_MIN_##T(T *p, T v) \
    {                                  \
        return atomicMin(p, v);        \
    }

#define INFINITY __int_as_float(0x7f800000)
#define NAN      __int_as_float(0x7fffffff)
DEVICE u32 bits_of_f32(f32 x)
{
    return __float_as_uint(x);
}
DEVICE f32 f32_of_bits(u32 x)
{
    return __uint_as_float(x);
}
DEVICE u64 bits_of_f64(f64 x)
{
    return (u64)__double_as_longlong(x);
}
DEVICE f64 f64_of_bits(u64 x)
{
    return __longlong_as_double((i64)x);
}
DEVICE f32 f32_of_f16(f16 x)
{
    f32 y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
    return y;
}
DEVICE f16 f16_of_f32(f32 x)
{
    f16 y;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x));
    return y;
}
DEVICE bf16 bf16_of_f32(f32 x)
{
    bf16 y;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
    return y;
}

DEVICE void COPY_ASYNC_16(void *to, const void *from, b8 is)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"((u32)__cvta_generic_to_shared(to)), "l"(from), "r"(is ? 16 : 0)
                 : "memory");
}
DEVICE void COPY_ASYNC_4(void *to, const void *from, b8 is)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
                 :
                 : "r"((u32)__cvta_generic_to_shared(to)), "l"(from), "r"(is ? 4 : 0)
                 : "memory");
}
#define ASYNC_COMMIT() asm volatile("cp.async.commit_group;" : : : "memory")
#define ASYNC_WAIT(n)  asm volatile("cp.async.wait_group %0;" : : "n"(n) : "memory")
DEVICE void MULTIPLY_TF32(f32 *c, const u32 *a, const u32 *b)
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

#else /* the host */
#include SYMTAPE_SHIM
#endif

#ifndef MOVES16
#define MOVES16(name, loads, stores)
#endif
#define I32_MAX 0x7fffffff
#define I64_MAX 0x7fffffffffffffffLL
#define I64_MIN (-I64_MAX - 1)
#define F32_MAX 3.402823466e+38f
#define F64_MAX 1.7976931348623158e+308

/* --- Small floats --- */

DEVICE f32 f32_of_bf16(bf16 x)
{
    return f32_of_bits((u32)x << 16);
}

/* Converts a float of eight bits: `mantissa` bits, exponents biased by `bias`. */
DEVICE f32 f32_of_f8(u8 x, u32 mantissa, i32 bias)
{
    u32 magnitude = x & 0x7fu, m = magnitude & ((1u << mantissa) - 1);
    i32 e = (i32)(magnitude >> mantissa);
    /* 2^(e - bias - mantissa), which is a normal f32 in either case */
    f32 unit = f32_of_bits((u32)((e ? e : 1) - bias - (i32)mantissa + 127) << 23);
    f32 y = (f32)(e ? m + (1u << mantissa) : m) * unit;
    return x & 0x80 ? -y : y;
}
DEVICE f32 f32_of_f8e4m3(f8e4m3 x)
{
    return (x & 0x7f) == 0x7f ? NAN : f32_of_f8(x, 3, 7);
}
DEVICE f32 f32_of_f8e5m2(f8e5m2 x)
{
    return f32_of_f16((f16)(x << 8));
}
/* Rounds to nearest even; `over` is the first magnitude beyond the largest, `otherwise` the result
 * for it. */
DEVICE u8 f8_of_f32(f32 x, u32 mantissa, i32 bias, u32 over, u8 otherwise)
{
    u32 bits = bits_of_f32(x), sign = bits >> 24 & 0x80, magnitude = bits & 0x7fffffffu;
    i32 e = (i32)(magnitude >> 23) - 127 + bias;
    u32 y;
    if (e >= 1) {
        u32 drop = 23 - mantissa;
        u32 rounded = magnitude + (1u << (drop - 1)) - 1 + (magnitude >> drop & 1);
        y = (rounded >> drop) - ((u32)(127 - bias) << mantissa);
    } else {
        /* In units of the smallest number: the addition drops the bits below, rounding to even. */
        f32 big = f32_of_bits((u32)(127 + 23 + 1 - bias - (i32)mantissa) << 23);
        y = bits_of_f32(f32_of_bits(magnitude) + big) - bits_of_f32(big);
    }
    return (u8)(sign | (y >= over ? otherwise : y));
}
DEVICE f8e4m3 f8e4m3_of_f32(f32 x)
{
    return f8_of_f32(x, 3, 7, 0x7f, 0x7f);
}
DEVICE f8e5m2 f8e5m2_of_f32(f32 x)
{
    return x != x ? 0x7f : f8_of_f32(x, 2, 15, 0x7c, 0x7c);
}

/* --- Elements --- */

#define COMPUTE(T)          CAT(compute_, T)
#define LOAD(T, p, i)       CAT(load_, T)((p), (i))
#define STORE(T, p, i, v)   CAT(store_, T)((p), (i), TO_STORE(T, v))
#define TO_STORE(T, v)      CAT(to_store_, T)(v)
#define VEC(T)              union CAT(vec_, T)
#define PER16(T)            (16 / (i32)sizeof(T))
#define LOAD16(T, p, i)     CAT(load16_, T)((p), (i))
#define STORE16(T, p, i, x) CAT(store16_, T)((p), (i), (x))
#define AT(T, x, j)         CAT(to_compute_, T)((x).v[j])
#define PUT(T, x, j, value) ((x).v[j] = CAT(of_compute_, T)(TO_STORE(T, value)))

struct __attribute__((aligned(16))) words16 {
    u32 x, y, z, w;
};

#define ELEMENT(T, C, LOADED, STORED)                          \
    typedef C compute_##T;                                     \
    union vec_##T {                                            \
        struct words16 words;                                  \
        T v[16 / sizeof(T)];                                   \
    };                                                         \
    DEVICE C to_compute_##T(T x)                               \
    {                                                          \
        return LOADED;                                         \
    }                                                          \
    DEVICE T of_compute_##T(C x)                               \
    {                                                          \
        return STORED;                                         \
    }                                                          \
    DEVICE C load_##T(const void *p, i64 i)                    \
    {                                                          \
        return to_compute_##T(((const T *)p)[i]);              \
    }                                                          \
    DEVICE void store_##T(void *p, i64 i, C x)                 \
    {                                                          \
        ((T *)p)[i] = of_compute_##T(x);                       \
    }                                                          \
    DEVICE union vec_##T load16_##T(const void *p, i64 i) {    \
        union vec_##T x;                                       \
        x.words = *(const struct words16 *)((const T *)p + i); \
        return x;                                              \
    } DEVICE void store16_##T(void *p, i64 i, union vec_##T x) \
    {                                                          \
        *(struct words16 *)((T *)p + i) = x.words;             \
    }
ELEMENT(f64, f64, x, x)
ELEMENT(f32, f32, x, x)
ELEMENT(f16, f32, f32_of_f16(x), f16_of_f32(x))
ELEMENT(bf16, f32, f32_of_bf16(x), bf16_of_f32(x))
ELEMENT(f8e4m3, f32, f32_of_f8e4m3(x), f8e4m3_of_f32(x))
ELEMENT(f8e5m2, f32, f32_of_f8e5m2(x), f8e5m2_of_f32(x))
ELEMENT(i64, i64, x, x)
ELEMENT(i32, i64, x, (i32)x)
ELEMENT(i16, i64, x, (i16)x)
ELEMENT(i8, i64, x, (i8)x)
ELEMENT(u64, u64, x, x)
ELEMENT(u32, i64, x, (u32)x)
ELEMENT(u16, i64, x, (u16)x)
ELEMENT(u8, i64, x, (u8)x)
ELEMENT(b8, i64, x != 0, x != 0)
/* Numbers of any type are converted; a conversion to bool tests for zero, which a half is not. */
#define to_store_f64(v)    (f64)(v)
#define to_store_f32(v)    (f32)(v)
#define to_store_f16(v)    (f32)(v)
#define to_store_bf16(v)   (f32)(v)
#define to_store_f8e4m3(v) (f32)(v)
#define to_store_f8e5m2(v) (f32)(v)
#define to_store_i64(v)    (i64)(v)
#define to_store_i32(v)    (i64)(v)
#define to_store_i16(v)    (i64)(v)
#define to_store_i8(v)     (i64)(v)
#define to_store_u64(v)    (u64)(v)
#define to_store_u32(v)    (i64)(v)
#define to_store_u16(v)    (i64)(v)
#define to_store_u8(v)     (i64)(v)
#define to_store_b8(v)     ((v) != 0)

/* --- Warps and atomics --- */

SHUFFLES(f32)
SHUFFLES(f64)
SHUFFLES(i32)
SHUFFLES(i64)
SHUFFLES(u32)
SHUFFLES(u64)

ATOMICS(i32, int)
ATOMICS(u32, unsigned)
ATOMICS(i64, unsigned long long)
ATOMICS(u64, unsigned long long)
ATOMIC_EXTREMES(i32)
ATOMIC_EXTREMES(u32)
ATOMIC_EXTREMES(i64)
ATOMIC_EXTREMES(u64)
#ifdef __CUDACC_RTC__
DEVICE f32 ATOMIC_ADD_f32(f32 *p, f32 v)
{
    return atomicAdd(p, v);
}
DEVICE f64 ATOMIC_ADD_f64(f64 *p, f64 v)
{
    return atomicAdd(p, v);
}
/* An element of less than 4 bytes is changed within the word that contains it. */
#define ATOMIC_BY_WORD(NAME, T, EXPRESSION)                                                   \
    DEVICE T NAME##_##T(T *p, compute_##T v)                                                  \
    {                                                                                         \
        u32 *word = (u32 *)((u64)p & ~(u64)3), shift = (u32)((u64)p & 3) * 8;                 \
        u32 mask = (sizeof(T) == 1 ? 0xffu : 0xffffu) << shift, seen = *(volatile u32 *)word; \
        for (;;) {                                                                            \
            T old = (T)(seen >> shift);                                                       \
            compute_##T x = to_compute_##T(old);                                              \
            u32 wanted = (seen & ~mask) | ((u32)of_compute_##T(EXPRESSION) << shift & mask);  \
            u32 found = atomicCAS(word, seen, wanted);                                        \
            if (found == seen)                                                                \
                return old;                                                                   \
            seen = found;                                                                     \
        }                                                                                     \
    }
#define ATOMIC_BY_BITS(NAME, T, BITS, OF, TO, EXPRESSION)                    \
    DEVICE T NAME##_##T(T *p, T v)                                           \
    {                                                                        \
        BITS seen = *(volatile BITS *)p;                                     \
        for (;;) {                                                           \
            T x = OF(seen);                                                  \
            BITS found = ATOMIC_CAS_##BITS((BITS *)p, seen, TO(EXPRESSION)); \
            if (found == seen)                                               \
                return x;                                                    \
            seen = found;                                                    \
        }                                                                    \
    }
#else
DEVICE f32 ATOMIC_ADD_f32(f32 *p, f32 v)
{
    f32 x = *p;
    *p = x + v;
    return x;
}
DEVICE f64 ATOMIC_ADD_f64(f64 *p, f64 v)
{
    f64 x = *p;
    *p = x + v;
    return x;
}
#define ATOMIC_BY_WORD(NAME, T, EXPRESSION)  \
    DEVICE T NAME##_##T(T *p, compute_##T v) \
    {                                        \
        T old = *p;                          \
        compute_##T x = to_compute_##T(old); \
        *p = of_compute_##T(EXPRESSION);     \
        return old;                          \
    }
#define ATOMIC_BY_BITS(NAME, T, BITS, OF, TO, EXPRESSION) \
    DEVICE T NAME##_##T(T *p, T v)                        \
    {                                                     \
        T x = *p;                                         \
        *p = EXPRESSION;                                  \
        return x;                                         \
    }
#endif
#define ATOMIC_SMALL(T)                                    \
    ATOMIC_BY_WORD(ATOMIC_ADD, T, x + v)                   \
    ATOMIC_BY_WORD(ATOMIC_MUL, T, x *v)                    \
    ATOMIC_BY_WORD(ATOMIC_MAX, T, v > x || v != v ? v : x) \
    ATOMIC_BY_WORD(ATOMIC_MIN, T, v < x || v != v ? v : x)
ATOMIC_SMALL(f16)
ATOMIC_SMALL(bf16)
ATOMIC_SMALL(i16)
ATOMIC_SMALL(i8)
ATOMIC_SMALL(u16)
ATOMIC_SMALL(u8)
ATOMIC_SMALL(b8)
ATOMIC_BY_BITS(ATOMIC_MUL, f32, u32, f32_of_bits, bits_of_f32, x *v)
ATOMIC_BY_BITS(ATOMIC_MAX, f32, u32, f32_of_bits, bits_of_f32, v > x || v != v ? v : x)
ATOMIC_BY_BITS(ATOMIC_MIN, f32, u32, f32_of_bits, bits_of_f32, v < x || v != v ? v : x)
ATOMIC_BY_BITS(ATOMIC_MUL, f64, u64, f64_of_bits, bits_of_f64, x *v)
ATOMIC_BY_BITS(ATOMIC_MAX, f64, u64, f64_of_bits, bits_of_f64, v > x || v != v ? v : x)
ATOMIC_BY_BITS(ATOMIC_MIN, f64, u64, f64_of_bits, bits_of_f64, v < x || v != v ? v : x)
ATOMIC_BY_BITS(ATOMIC_MUL, i32, u32, (i32), (u32), x *v)
ATOMIC_BY_BITS(ATOMIC_MUL, i64, u64, (i64), (u64), x *v)
ATOMIC_BY_BITS(ATOMIC_MUL, u32, u32, (u32), (u32), x *v)
ATOMIC_BY_BITS(ATOMIC_MUL, u64, u64, (u64), (u64), x *v)
#define ATOMIC_ADD(T, p, v) CAT(ATOMIC_ADD_, T)((p), TO_STORE(T, v))
#define ATOMIC_MUL(T, p, v) CAT(ATOMIC_MUL_, T)((p), TO_STORE(T, v))
#define ATOMIC_MAX(T, p, v) CAT(ATOMIC_MAX_, T)((p), TO_STORE(T, v))
#define ATOMIC_MIN(T, p, v) CAT(ATOMIC_MIN_, T)((p), TO_STORE(T, v))

DEVICE void report_index(u64 error, i64 index)
{
    u64 *words = PTR(u64, error);
    if (ATOMIC_ADD_u64(words, 1) == 0)
        words[1] = (u64)index;
}
#define REPORT(error, index) report_index((error), (index))

#endif
#endif
