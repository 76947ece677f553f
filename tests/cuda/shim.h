/* The words of replay/backend/cuda/device/prologue.h on the host, whose threads are fibers: one
 * runs at a time, so what is atomic there is plain here. Blocks run one after the other, so a
 * block's shared memory is a static array of the module; it lies in a section of its own, which is
 * filled with bytes that are no number before each block. Behind shim_state.h. */
#include <math.h>
#include <string.h>

struct shim *symtape_shim;
extern char __start_symtape_shared[] __attribute__((weak, visibility("hidden")));
extern char __stop_symtape_shared[] __attribute__((weak, visibility("hidden")));
char *const symtape_shared_bounds[2] = { __start_symtape_shared, __stop_symtape_shared };

#define KERNEL(name, type) KERNEL_OF(name, type, 1024)
#ifdef LIVE_FIELD
#define KERNEL_OF(name, type, threads)                                   \
    struct live_##name {                                                 \
        type a;                                                          \
        struct live_count live;                                          \
    };                                                                   \
    static void name##_thread(const type a);                             \
    void name(const void *args);                                         \
    const u32 name##_facts[2] = { sizeof(struct live_##name), threads }; \
    void name(const void *args)                                          \
    {                                                                    \
        struct live_##name with = *(const struct live_##name *)args;     \
        LIVE_LIMIT(with.a, with.live);                                   \
        name##_thread(with.a);                                           \
    }                                                                    \
    static void name##_thread(const type a)
#else
#define KERNEL_OF(name, type, threads)                     \
    static void name##_thread(const type a);               \
    void name(const void *args);                           \
    const u32 name##_facts[2] = { sizeof(type), threads }; \
    void name(const void *args)                            \
    {                                                      \
        name##_thread(*(const type *)args);                \
    }                                                      \
    static void name##_thread(const type a)
#endif
#define DEVICE   static inline __attribute__((unused))
#define CONSTANT static const
#define UNROLL
#define ROLLED
#define THREAD                     (symtape_shim->thread)
#define THREADS                    (symtape_shim->threads)
#define BLOCK_X                    (symtape_shim->block[0])
#define BLOCK_Y                    (symtape_shim->block[1])
#define BLOCK_Z                    (symtape_shim->block[2])
#define GRID_X                     (symtape_shim->grid[0])
#define GRID_Y                     (symtape_shim->grid[1])
#define GRID_Z                     (symtape_shim->grid[2])
#define SHARED(type, name, n)      static type name[n] __attribute__((section("symtape_shared")))
#define DYNAMIC_SHARED(type, name) type *const name = (type *)symtape_shim->dynamic_shared
#define SYNC()                     (symtape_shim->sync(__LINE__))
#define SYNC_WARP()                (symtape_shim->sync_warp(__LINE__))
#define FENCE()                    ((void)0)
#define BALLOT(x)                  (symtape_shim->ballot((x) != 0, __LINE__))

#define SHUFFLES(T)                                     \
    DEVICE T shuffle_##T(T v, u32 lane, int line)       \
    {                                                   \
        u64 bits = 0;                                   \
        memcpy(&bits, &v, sizeof v);                    \
        bits = symtape_shim->shuffle(bits, lane, line); \
        memcpy(&v, &bits, sizeof v);                    \
        return v;                                       \
    }
#define SHUFFLE_XOR_f32(v, mask) shuffle_f32((v), LANE ^ (u32)(mask), __LINE__)
#define SHUFFLE_XOR_f64(v, mask) shuffle_f64((v), LANE ^ (u32)(mask), __LINE__)
#define SHUFFLE_XOR_i32(v, mask) shuffle_i32((v), LANE ^ (u32)(mask), __LINE__)
#define SHUFFLE_XOR_i64(v, mask) shuffle_i64((v), LANE ^ (u32)(mask), __LINE__)
#define SHUFFLE_XOR_u32(v, mask) shuffle_u32((v), LANE ^ (u32)(mask), __LINE__)
#define SHUFFLE_XOR_u64(v, mask) shuffle_u64((v), LANE ^ (u32)(mask), __LINE__)
#define SHUFFLE_DOWN_f32(v, by)  shuffle_f32((v), LANE + (u32)(by), __LINE__)
#define SHUFFLE_DOWN_f64(v, by)  shuffle_f64((v), LANE + (u32)(by), __LINE__)
#define SHUFFLE_DOWN_i32(v, by)  shuffle_i32((v), LANE + (u32)(by), __LINE__)
#define SHUFFLE_DOWN_i64(v, by)  shuffle_i64((v), LANE + (u32)(by), __LINE__)
#define SHUFFLE_DOWN_u32(v, by)  shuffle_u32((v), LANE + (u32)(by), __LINE__)
#define SHUFFLE_DOWN_u64(v, by)  shuffle_u64((v), LANE + (u32)(by), __LINE__)
#define SHUFFLE_UP_f32(v, by)    shuffle_f32((v), LANE - (u32)(by), __LINE__)
#define SHUFFLE_UP_f64(v, by)    shuffle_f64((v), LANE - (u32)(by), __LINE__)
#define SHUFFLE_UP_i32(v, by)    shuffle_i32((v), LANE - (u32)(by), __LINE__)
#define SHUFFLE_UP_i64(v, by)    shuffle_i64((v), LANE - (u32)(by), __LINE__)
#define SHUFFLE_UP_u32(v, by)    shuffle_u32((v), LANE - (u32)(by), __LINE__)
#define SHUFFLE_UP_u64(v, by)    shuffle_u64((v), LANE - (u32)(by), __LINE__)
#define SHUFFLE_f32(v, lane)     shuffle_f32((v), (u32)(lane) % WARP, __LINE__)
#define SHUFFLE_f64(v, lane)     shuffle_f64((v), (u32)(lane) % WARP, __LINE__)
#define SHUFFLE_i32(v, lane)     shuffle_i32((v), (u32)(lane) % WARP, __LINE__)
#define SHUFFLE_i64(v, lane)     shuffle_i64((v), (u32)(lane) % WARP, __LINE__)
#define SHUFFLE_u32(v, lane)     shuffle_u32((v), (u32)(lane) % WARP, __LINE__)
#define SHUFFLE_u64(v, lane)     shuffle_u64((v), (u32)(lane) % WARP, __LINE__)

DEVICE void copy_async(void *to, const void *from, b8 is, size_t bytes)
{
    if (is)
        memcpy(to, from, bytes);
    else
        memset(to, 0, bytes);
}
#define COPY_ASYNC_16(to, from, is) copy_async((to), (from), (is), 16)
#define COPY_ASYNC_4(to, from, is)  copy_async((to), (from), (is), 4)
#define ASYNC_COMMIT()              ((void)0)
#define ASYNC_WAIT(n)               ((void)(n))

/* What each thread of the block gave to a product of its warp. */
static struct {
    u32 a[4], b[2];
} symtape_factors[1024] __attribute__((unused));

#define MULTIPLY_TF32(c, a, b) multiply_tf32((c), (a), (b), __LINE__)
DEVICE f32 tf32_of_lane(u32 lane, u32 of_b, u32 i)
{
    u32 thread = THREAD / WARP * WARP + lane,
        bits = of_b ? symtape_factors[thread].b[i] : symtape_factors[thread].a[i];
    f32 x;
    bits &= 0xffffe000u;
    memcpy(&x, &bits, sizeof x);
    return x;
}
DEVICE void multiply_tf32(f32 *c, const u32 *a, const u32 *b, int line)
{
    memcpy(symtape_factors[THREAD].a, a, sizeof symtape_factors->a);
    memcpy(symtape_factors[THREAD].b, b, sizeof symtape_factors->b);
    symtape_shim->sync_warp(line);
    for (u32 i = 0; i < 4; i++)
        for (u32 k = 0; k < 8; k++)
            c[i] += tf32_of_lane(LANE / 4 * 4 + k % 4, 0, i / 2 + k / 4 * 2) *
                    tf32_of_lane((LANE % 4 * 2 + i % 2) * 4 + k % 4, 1, k / 4);
    symtape_shim->sync_warp(line);
}

#define ATOMICS(T, type)                      \
    DEVICE T ATOMIC_ADD_##T(T *p, T v)        \
    {                                         \
        T x = *p;                             \
        *p = (T)((u64)x + (u64)v);            \
        return x;                             \
    }                                         \
    DEVICE T ATOMIC_CAS_##T(T *p, T old, T v) \
    {                                         \
        T x = *p;                             \
        if (x == old)                         \
            *p = v;                           \
        return x;                             \
    }
#define ATOMIC_EXTREMES(T)             \
    DEVICE T ATOMIC_MAX_##T(T *p, T v) \
    {                                  \
        T x = *p;                      \
        *p = MAX(x, v);                \
        return x;                      \
    }                                  \
    DEVICE T ATOMIC_MIN_##T(T *p, T v) \
    {                                  \
        T x = *p;                      \
        *p = MIN(x, v);                \
        return x;                      \
    }

DEVICE u32 bits_of_f32(f32 x)
{
    u32 bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
DEVICE f32 f32_of_bits(u32 bits)
{
    f32 x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
DEVICE u64 bits_of_f64(f64 x)
{
    u64 bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
DEVICE f64 f64_of_bits(u64 bits)
{
    f64 x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

DEVICE f32 f32_of_f16(f16 x)
{
    u32 magnitude = x & 0x7fffu, sign = (u32)(x & 0x8000u) << 16;
    if (magnitude >= 0x7c00) /* infinite, or no number */
        return f32_of_bits(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
    if (magnitude < 0x400)
        return f32_of_bits(sign | bits_of_f32((f32)magnitude * 0x1p-24f));
    return f32_of_bits(sign | ((magnitude << 13) + ((127u - 15) << 23)));
}

DEVICE f16 f16_of_f32(f32 x)
{
    u32 bits = bits_of_f32(x), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u)
        return 0x7fff;
    if (magnitude >= 0x477ff000u) /* rounds to more than the largest */
        return (f16)(sign | 0x7c00);
    if (magnitude < 0x38800000u) /* in units of the smallest: the sum rounds */
        return (f16)(sign | (bits_of_f32(f32_of_bits(magnitude) + 0.5f) - bits_of_f32(0.5f)));
    magnitude += 0xfff + (magnitude >> 13 & 1);
    return (f16)(sign | ((magnitude >> 13) - ((127u - 15) << 10)));
}

DEVICE bf16 bf16_of_f32(f32 x)
{
    u32 bits = bits_of_f32(x);
    if (x != x)
        return 0x7fff;
    return (bf16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* What CUDA has besides the functions of C. */
DEVICE f32 rsqrtf(f32 x)
{
    return 1 / sqrtf(x);
}
DEVICE f64 rsqrt(f64 x)
{
    return 1 / sqrt(x);
}
