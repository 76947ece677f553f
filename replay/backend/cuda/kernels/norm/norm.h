/* What the files of normalisation share. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_KERNELS_NORM_NORM_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_KERNELS_NORM_NORM_H

#include "replay/backend/cuda/device/norm/norm.h"
#include "replay/backend/cuda/kernels/reduce/reduce.h"

struct norm {
    struct dims dims; /* reduced: what shares a mean */
    struct operand x[NORM_TENSORS];
    const char *acc, *stats_type;
    uint64_t mean, rstd, sum, along;
    double eps, count;
    bool centred, weighted, backward;
};

enum dtype norm_acc_dtype(const char *acc);
/* What x is computed in. NULL: it declined. */
const char *norm_start(struct kernel *k, struct kernel_tensor x);
/* Mean and variance of the population, in room. */
void norm_moments(struct kernel *k, const struct norm *n, struct operand *mean,
                  struct operand *var);
/* types: of what is read, saved, and of the running statistics. */
void norm_stats(struct kernel *k, const struct norm_stats_args *a, const char *acc,
                const char *const *types);
/* All elements. n->mean and n->rstd are there, by x[NORM_STATS]'s strides. */
void norm_apply(struct kernel *k, const struct norm *n);

#endif
