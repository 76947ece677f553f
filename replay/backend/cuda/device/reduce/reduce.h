/* Arguments of reduce.cu's kernels. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_REDUCE_REDUCE_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_REDUCE_REDUCE_H

#include "replay/backend/cuda/device/span.h"
#include "replay/backend/cuda/device/team.h"

enum { REDUCE_INPUTS = 4, REDUCE_OUTPUTS = 2 };

/* rows: what is kept; cols: what is reduced. Tensors of both spans: the inputs, then the outputs.
 */
struct reduce_args {
    struct span rows, cols;
    u64 from[REDUCE_INPUTS], to[REDUCE_OUTPUTS]; /* 0: not there */
    u64 partial;                                 /* struct state [rows][splits] */
    i64 chunk; /* elements of a row that a block goes over; all of them where splits is 1 */
    i64 splits;
    struct team_shape team;
    f64 p;     /* of norms; of variances the correction; of losses their parameter */
    f64 scale; /* what sums are multiplied by at last */
};

#endif
