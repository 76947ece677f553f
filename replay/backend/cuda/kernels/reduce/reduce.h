/* Rows made into one value each: what reductions, norms and losses launch. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_KERNELS_REDUCE_REDUCE_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_KERNELS_REDUCE_REDUCE_H

#include "replay/backend/cuda/device/reduce/reduce.h"
#include "replay/backend/cuda/kernels/spans.h"

struct reduction {
    const char *op;  /* of reduce.cu: "OP_SUM" */
    const char *acc; /* what it is computed in: "f32", "f64", "i64" */
    struct dims dims;
    uint32_t n_inputs;
    struct operand x[SPAN_TENSORS]; /* inputs, and from REDUCE_INPUTS on the outputs */
    double p, scale;
    bool places; /* tells of places along the columns, which therefore stay in order */
};

void run_reduction(struct kernel *k, const struct reduction *r);
/* A type to compute it in; NULL: there is none, and it declined. */
const char *sum_type_of(struct kernel *k, struct kernel_tensor x);

#endif
