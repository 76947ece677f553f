/* Reductions of rows to one value each, which also norms and losses launch. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_KERNELS_REDUCE_REDUCE_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_KERNELS_REDUCE_REDUCE_H

#include "replay/backend/cuda/device/reduce/reduce.h"
#include "replay/backend/cuda/kernels/spans.h"

struct reduction {
    const char *op;  /* of reduce.cu: "OP_SUM" */
    const char *acc; /* the type of states: "f32", "f64", "i64" */
    struct dims dims;
    uint32_t n_inputs;
    struct span_operand x[SPAN_TENSORS]; /* inputs, and from REDUCE_INPUTS on outputs */
    double p, scale;
    struct cuda_live live;  /* the limit of rows, or of columns ... */
    const char *live_field; /* ... "rows.n" or "cols.n"; NULL: none */
    bool places;            /* computes indices along the columns, which must stay in order */
};

void run_reduction(struct kernel *k, const struct reduction *r);
/* Returns the type to compute x in; NULL: declined. */
const char *sum_type_of(struct kernel *k, struct kernel_tensor x);

#endif
