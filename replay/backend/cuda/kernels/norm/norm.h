/* Functions that the files of normalisation share. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_KERNELS_NORM_NORM_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_KERNELS_NORM_NORM_H

#include "replay/backend/cuda/device/norm/norm.h"
#include "replay/backend/cuda/kernels/reduce/reduce.h"

struct norm_call {
    struct dims dims; /* reduced: the dimensions that share a mean */
    struct span_operand x[NORM_TENSORS];
    const char *acc, *stats_type;
    uint64_t mean, rstd, sum, along;
    double eps, count;
    bool centred, weighted, backward;
};

enum dtype norm_acc_dtype(const char *acc);
/* Returns the type to compute x in. NULL: declined. */
const char *norm_start(struct kernel *k, struct kernel_tensor x);
/* Computes mean and variance of the population in workspaces. */
void norm_moments(struct kernel *k, const struct norm_call *n, struct span_operand *mean,
                  struct span_operand *var);
/* types: those that are read, saved, and of the running statistics. */
void norm_stats(struct kernel *k, const struct norm_stats_args *a, const char *acc,
                const char *const *types);
/* Normalises all elements with n->mean and n->rstd, by the strides of x[NORM_STATS]. */
void norm_apply(struct kernel *k, const struct norm_call *n);

#endif
