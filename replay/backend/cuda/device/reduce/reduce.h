/* Arguments of reduce.cu's kernels. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_REDUCE_REDUCE_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_REDUCE_REDUCE_H

#include "replay/backend/cuda/device/span.h"
#include "replay/backend/cuda/device/team.h"

enum { REDUCE_INPUTS = 4, REDUCE_OUTPUTS = 2 };

/* rows: the kept dimensions; cols: the reduced ones. Tensors of both spans: the inputs, then the
 * outputs. */
struct reduce_args {
    struct span rows, cols;
    u64 from[REDUCE_INPUTS], to[REDUCE_OUTPUTS]; /* 0: absent */
    u64 partial;                                 /* struct state [rows][splits] */
    i64 chunk; /* elements of a row that a block reads; all of them if splits is 1 */
    i64 splits;
    struct team_shape team;
    f64 p;     /* of norms; the correction of variances; the parameter of losses */
    f64 scale; /* multiplies sums at the end */
};

#endif
