/* True elements of a mask. Defines: T (of the mask), PARTS (2: complex, with parts of T), V
 * (elements by their bits), I, DIMS. A thread has SELECT_EACH adjacent elements. */
#define N u32
#include "replay/backend/cuda/device/reduce/block_scan.h"
#include "replay/backend/cuda/device/index/select.h"

DEVICE i64 first_of(void)
{
    return (i64)BLOCK_X * SELECT_TILE + (i64)THREAD * SELECT_EACH;
}

/* Returns a bit for each of the thread's elements. */
DEVICE u32 selected(const struct select_args *a, u32 *count)
{
    u32 bits = 0;
    *count = 0;
    ROLLED
    for (u32 j = 0; j < SELECT_EACH && first_of() + j < a->n; j++) {
        I at[DIMS];
        coordinates(a->size, a->ndim, (I)(first_of() + j), at);
        i64 place = (i64)offset_of(a->mask_stride, a->ndim, at) * PARTS;
        u32 is = LOAD(T, PTR(const T, a->mask), place) != 0;
#if PARTS == 2
        is |= LOAD(T, PTR(const T, a->mask), place + 1) != 0;
#endif
        bits |= is << j;
        *count += is;
    }
    return bits;
}

/* If there is one tile, its count is the total. */
KERNEL(select_count, struct select_args)
{
    SHARED(u32, shared, BLOCK_SCAN_WARPS);
    u32 mine, all;
    selected(&a, &mine);
    sum_before(shared, mine, &all);
    if (THREAD == 0)
        PTR(u32, a.tiles)[BLOCK_X] = GRID_X == 1 ? 0 : all;
    if (THREAD == 0 && GRID_X == 1)
        *PTR(u32, a.total) = all;
}

#define EACH_HELD(i, rank, ...) \
    SHARED(u32, shared, BLOCK_SCAN_WARPS); \
    u32 mine, all, bits = selected(&a, &mine); \
    i64 rank = (i64)PTR(const u32, a.tiles)[BLOCK_X] + sum_before(shared, mine, &all); \
    ROLLED \
    for (u32 j = 0; j < SELECT_EACH; j++) \
        if (bits >> j & 1) { \
            i64 i = first_of() + j; \
            __VA_ARGS__; \
            rank++; \
        }

DEVICE void give_coordinates(const struct select_args *a, i64 i, i64 rank)
{
    i64 *to = PTR(i64, a->to) + rank * a->to_step;
    ROLLED
    for (u32 d = a->n_coordinates; d-- > 0;) {
        i64 next = i / a->coordinate_size[d];
        to[d * a->to_column] = i - next * a->coordinate_size[d];
        i = next;
    }
}

/* Writes the indices of each element, one for each dimension. */
KERNEL(select_places, struct select_args)
{
    EACH_HELD(i, rank, if (rank < a.limit) give_coordinates(&a, i, rank))
}

/* Fills the rows after the last element. */
KERNEL(select_fill, struct select_args)
{
    i64 found = *PTR(const u32, a.total), all = a.limit * a.n_coordinates;
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < all; i += (i64)GRID_X * THREADS) {
        i64 row = i / a.n_coordinates, d = i - row * a.n_coordinates;
        if (row >= found)
            PTR(i64, a.to)[row * a.to_step + d * a.to_column] = a.fill;
    }
}

DEVICE i64 other_place(const struct select_args *a, i64 i)
{
    I at[DIMS];
    coordinates(a->size, a->ndim, (I)i, at);
    return (i64)offset_of(a->other_stride, a->ndim, at);
}

/* Writes the selected values contiguously. */
KERNEL(select_values, struct select_args)
{
    EACH_HELD(i, rank, if (rank < a.limit) PTR(V, a.to)[rank * a.to_step] =
                           PTR(const V, a.values)[other_place(&a, i)])
}

/* Copies contiguous values to the selected elements. */
KERNEL(select_put, struct select_args)
{
    EACH_HELD(i, rank, if (rank < a.limit) PTR(V, a.to)[other_place(&a, i)] =
                           PTR(const V, a.values)[rank];
              else REPORT(a.error, rank))
}
