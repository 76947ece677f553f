/* Teams: the threads that process one row together, and the combination of their results.
 *
 * A block has THREADS / lanes teams. Along a row, adjacent threads read adjacent elements: a team
 * is a part of a warp, a warp or the whole block. Across, for rows that are adjacent in memory,
 * each thread of a warp has a row, and a team is one thread of each warp. All threads take part in
 * combining, whether they have a row or not. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_TEAM_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_TEAM_H

#include "replay/backend/cuda/device/prologue.h"

struct team_shape {
    u32 lanes; /* a power of two up to WARP, or the whole block; across: a power of two */
    u32 across;
};

enum { TEAM_THREADS = 256 }; /* the maximum of a block */

#ifdef KERNEL
struct team {
    u32 lane, lanes, row, rows, across;
};

DEVICE struct team team_of(struct team_shape shape)
{
    struct team t;
    t.lanes = shape.lanes;
    t.across = shape.across;
    t.rows = THREADS / shape.lanes;
    t.lane = shape.across ? THREAD / t.rows : THREAD % shape.lanes;
    t.row = shape.across ? THREAD % t.rows : THREAD / shape.lanes;
    return t;
}

/* name(team, v, shared): combines the lanes' values with `join` in a fixed order, and returns the
 * result to all lanes. `exchange` returns another lane's value (SHUFFLE_XOR_f32 ...); shared:
 * TEAM_THREADS values of shared memory. */
#define TEAM_JOIN(name, type, exchange, join)                                              \
    DEVICE type name(struct team t, type v, type *shared)                                  \
    {                                                                                      \
        if (t.across) {                                                                    \
            shared[THREAD] = v;                                                            \
            SYNC();                                                                        \
            ROLLED                                                                         \
            for (u32 half = t.lanes / 2; half; half /= 2) {                                \
                if (t.lane < half)                                                         \
                    shared[THREAD] = join(shared[THREAD], shared[THREAD + half * t.rows]); \
                SYNC();                                                                    \
            }                                                                              \
            v = shared[t.row];                                                             \
            SYNC();                                                                        \
            return v;                                                                      \
        }                                                                                  \
        ROLLED                                                                             \
        for (u32 mask = MIN(t.lanes, WARP) / 2; mask; mask /= 2) {                         \
            type other = exchange(v, mask);                                                \
            v = join(v, other);                                                            \
        }                                                                                  \
        if (t.lanes > WARP) {                                                              \
            if (LANE == 0)                                                                 \
                shared[THREAD / WARP] = v;                                                 \
            SYNC();                                                                        \
            v = shared[0];                                                                 \
            ROLLED                                                                         \
            for (u32 i = 1; i < THREADS / WARP; i++)                                       \
                v = join(v, shared[i]);                                                    \
            SYNC();                                                                        \
        }                                                                                  \
        return v;                                                                          \
    }
#endif

#endif
