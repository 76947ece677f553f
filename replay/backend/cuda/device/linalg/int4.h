/* The arguments of int4.cu: weights of four bits, packed for tensor cores
 * (replay/backend/call/packed_weights.h). */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_LINALG_INT4_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_LINALG_INT4_H

#include "replay/backend/cuda/device/prologue.h"

struct int4_args {
    u64 packed, scales; /* [n / 8][blocks][32][words] and [k / group][n][2] */
    u64 to;             /* [n][k] of T; of a multiplication [m][n] */
    u64 x;              /* [m][k] */
    i64 x_row, x_column, to_row, to_column;
    i64 m, n, k, group;
    i64 blocks, words; /* along k; of a lane in each */
};

/* self [n][k / 2] of bytes becomes words. */
struct int4_pack_args {
    u64 packed, from;
    i64 from_row, from_column;
    i64 count; /* words */
    i64 blocks, words;
};

#endif
