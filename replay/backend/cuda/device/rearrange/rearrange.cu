/* Moves elements by a rule. Defines: T (elements by their bits), I, DIMS. */
#include "replay/backend/cuda/device/rearrange/rearrange.h"

DEVICE I source_of(u32 how, I at, I by, I n)
{
    I x = at - by;
    switch (how) {
    case REARRANGE_SHIFT: return x;
    case REARRANGE_ROLL: x %= n; return x < 0 ? x + n : x;
    case REARRANGE_FLIP: return n - 1 - at;
    case REARRANGE_REPEAT: return at % n;
    case REARRANGE_REFLECT: x = x < 0 ? -x : x; return x > n - 1 ? 2 * (n - 1) - x : x;
    case REARRANGE_CLAMP: return x < 0 ? 0 : x >= n ? n - 1 : x;
    default: return at;
    }
}

/* Returns the position in `from` of a position of the result; -1: none. */
DEVICE I place_in_source(const struct rearrange_args *a, const I *at)
{
    I place = 0;
    UNROLL
    for (u32 d = 0; d < DIMS; d++) {
        if (d >= a->ndim)
            break;
        I n = (I)a->from_size[d], x = source_of(a->how[d], at[d], (I)a->by[d], n);
        if (x < 0 || x >= n)
            return -1;
        place += x * (I)a->from_stride[d];
    }
    return place;
}

KERNEL(rearrange, struct rearrange_args)
{
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < a.n; i += (i64)GRID_X * THREADS) {
        I at[DIMS];
        coordinates(a.size, a.ndim, (I)i, at);
        I place = place_in_source(&a, at);
        PTR(T, a.to)[offset_of(a.to_stride, a.ndim, at)] =
            place < 0 ? *(const T *)a.fill : PTR(const T, a.from)[place];
    }
}
MOVES16(rearrange, sizeof(T) == 16, sizeof(T) == 16)

/* For the backward: writes the source of each element of the result as its key. */
KERNEL(rearrange_keys, struct rearrange_args)
{
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < a.n; i += (i64)GRID_X * THREADS) {
        I at[DIMS];
        coordinates(a.size, a.ndim, (I)i, at);
        I place = place_in_source(&a, at);
        PTR(u32, a.to)[i] = place < 0 ? (u32)a.limit : (u32)place;
        PTR(u32, a.order)[i] = (u32)i;
    }
}
