/* Arguments of norm.cu's kernels. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_NORM_NORM_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_NORM_NORM_H

#include "replay/backend/cuda/device/span.h"
#include "replay/backend/cuda/device/team.h"

/* Rows that are normalised, and their backward. Tensors of the spans: */
enum { NORM_X, NORM_TO, NORM_WEIGHT, NORM_STATS, NORM_OTHER, NORM_TENSORS };
struct norm_args {
    struct span rows, cols;
    u64 x, to;
    u64 weight,
        other;      /* 0: none. other: the bias; backward: the gradient, which x is told beside */
    u64 mean, rstd; /* of a row: written forward, read backward */
    u64 sum, along; /* norm_apply_backward: sums of the gradient, and along the values */
    struct team_shape team;
    u32 kept;     /* rows fit the shared memory */
    u32 centred;  /* 0: the mean is left alone (RMS) */
    u32 weighted; /* the sums hold the weight, not yet rstd */
    f64 eps, count;
};

/* What statistics become, one thread each. A step is a tensor's stride in elements. */
struct norm_stats_args {
    i64 n;
    u64 mean, var;            /* M */
    u64 to_mean, to_rstd;     /* ACC */
    u64 save_mean, save_rstd; /* S; 0: not wanted */
    u64 old_mean, old_var;    /* R: running ones */
    u64 new_mean, new_var;    /* R; 0: not wanted */
    i64 step, running_step;
    f64 eps, momentum, unbiased; /* unbiased: what makes the variance of a sample */
};

#endif
