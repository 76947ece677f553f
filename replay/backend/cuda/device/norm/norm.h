/* Arguments of norm.cu's kernels. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_NORM_NORM_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_NORM_NORM_H

#include "replay/backend/cuda/device/span.h"
#include "replay/backend/cuda/device/team.h"

/* Rows that are normalised, and their backward. The tensors of the spans: */
enum { NORM_X, NORM_TO, NORM_WEIGHT, NORM_STATS, NORM_OTHER, NORM_TENSORS };
struct norm_args {
    struct span rows, cols;
    u64 x, to;
    u64 weight, other; /* 0: none. other: the bias; backward: the gradient of the result */
    u64 mean, rstd;    /* of a row: written by forward, read by backward */
    u64 sum,
        along; /* norm_apply_backward: sums of the gradient, and of its product with the values */
    struct team_shape team;
    u32 kept;     /* rows fit in shared memory */
    u32 centred;  /* 0: the mean is not subtracted (RMS) */
    u32 weighted; /* the sums include the weight, but not rstd */
    f64 eps, count;
};

/* Converts statistics, one for each thread. A step is a tensor's stride in elements. */
struct norm_stats_args {
    i64 n;
    u64 mean, var;            /* M */
    u64 to_mean, to_rstd;     /* ACC */
    u64 save_mean, save_rstd; /* S; 0: not requested */
    u64 old_mean, old_var;    /* R: the running statistics */
    u64 new_mean, new_var;    /* R; 0: not requested */
    i64 step, running_step;
    f64 eps, momentum,
        unbiased; /* unbiased: the factor from the population's variance to that of a sample */
};

#endif
