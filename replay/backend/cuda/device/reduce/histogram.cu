/* histc. Defines: T, ACC (f64). Counts are integers, so that the order of additions does not
 * matter. */
#include "replay/backend/cuda/device/reduce/histogram.h"
#include "replay/backend/cuda/device/math.h"

/* One block clears the bins and computes the range. NaN is ignored. */
KERNEL_OF(histogram_begin, struct histogram_args, 1024)
{
    SHARED(f64, least, WARP);
    SHARED(f64, most, WARP);
    f64 low = INFINITY, high = -INFINITY;
    ROLLED
    for (i64 i = THREAD; i < a.bins; i += THREADS)
        PTR(u64, a.counts)[i] = 0;
    ROLLED
    for (i64 i = THREAD; a.of_data && i < a.n; i += THREADS) {
        f64 x = (f64)LOAD(T, PTR(const T, a.x), i);
        low = x < low ? x : low;
        high = x > high ? x : high;
    }
    ROLLED
    for (u32 mask = WARP / 2; mask; mask /= 2) {
        f64 p = SHUFFLE_XOR_f64(low, mask), q = SHUFFLE_XOR_f64(high, mask);
        low = MIN(low, p);
        high = MAX(high, q);
    }
    if (LANE == 0) {
        least[THREAD / WARP] = low;
        most[THREAD / WARP] = high;
    }
    SYNC();
    if (THREAD != 0)
        return;
    ROLLED
    for (u32 w = 1; w < THREADS / WARP; w++) {
        low = MIN(low, least[w]);
        high = MAX(high, most[w]);
    }
    low = a.of_data ? low : a.low;
    high = a.of_data ? high : a.high;
    PTR(f64, a.range)[0] = low == high ? low - 1 : low;
    PTR(f64, a.range)[1] = low == high ? high + 1 : high;
}

KERNEL(histogram_count, struct histogram_args)
{
    const f64 low = PTR(const f64, a.range)[0], high = PTR(const f64, a.range)[1];
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < a.n; i += (i64)GRID_X * THREADS) {
        f64 x = (f64)LOAD(T, PTR(const T, a.x), i);
        if (!(x >= low && x <= high))
            continue;
        i64 bin = (i64)((x - low) / (high - low) * (f64)a.bins);
        ATOMIC_ADD_u64(PTR(u64, a.counts) + MIN(bin, a.bins - 1), 1);
    }
}

KERNEL(histogram_give, struct histogram_args)
{
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < a.bins; i += (i64)GRID_X * THREADS)
        STORE(T, PTR(T, a.to), i * a.to_step, PTR(const u64, a.counts)[i]);
}
