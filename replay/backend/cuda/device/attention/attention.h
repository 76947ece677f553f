/* Arguments of replay/backend/cuda/device/attention/attention.cu. Strides are in elements; rows are
 * queries or keys. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_ATTENTION_ATTENTION_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_ATTENTION_ATTENTION_H

#include "replay/backend/cuda/device/prologue.h"

struct attention_tensor {
    u64 p; /* 0: none */
    i64 batch, head, row, column;
};

struct attention_args {
    struct attention_tensor q, k, v, out, grad_out, grad_q, grad_k, grad_v;
    struct attention_tensor bias, grad_bias; /* [batch, heads, n, m] */
    u64 logarithms;                          /* [batch, heads, n] of ACC: the divisors of weights */
    u64 sums; /* [batch, heads, n] of ACC: weights times their gradients */
    struct attention_tensor
        given;  /* the caller's tensor of the logarithms, of TL, without columns */
    i64 padded; /* rows of `given` */
    i64 batch, heads, key_heads, n, m, depth, value_depth;
    i64 tiles;              /* tiles of rows for each head */
    u64 bounds_q, bounds_k; /* of X: the starts of concatenated sequences and the end of the last;
                               each sequence is a batch, n and m count the rows of all */
    u64 error;
    f64 scale;
    i64 causal;
};

#endif
