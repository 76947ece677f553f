/* Tensors as kernels over rows use them: some dimensions are kept, the others are reduced. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_KERNELS_SPANS_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_KERNELS_SPANS_H

#include "replay/backend/cuda/device/span.h"
#include "replay/backend/cuda/device/team.h"
#include "replay/backend/cuda/runtime/kernel.h"

/* A tensor or a workspace, along the dimensions that a kernel iterates over. */
struct span_operand {
    uint64_t at;      /* 0: absent */
    const char *type; /* its name in texts */
    enum dtype dtype;
    int64_t stride[TENSOR_MAX_DIM]; /* in elements; 0 if it is broadcast */
};

struct dims {
    uint32_t ndim;
    int64_t size[TENSOR_MAX_DIM];
    bool reduced[TENSOR_MAX_DIM]; /* belongs to the columns */
};

/* Returns the sizes of x; no dimension is reduced yet. */
struct dims dims_of(struct kernel_tensor x);
/* Returns the operand broadcast to the dims, the last ones to the last. Without a tensor it is
 * absent. Declines dtypes that kernels do not support. */
struct span_operand operand_broadcast(struct kernel *k, struct kernel_tensor x,
                                      const struct dims *d);
/* Returns the operand of a tensor with the dims that are not reduced, or with all dims, those of
 * size 1 included. */
struct span_operand operand_kept(struct kernel *k, struct kernel_tensor x, const struct dims *d);
/* Allocates a contiguous workspace for the kept dims. */
struct span_operand operand_workspace(struct kernel *k, enum dtype dtype, const struct dims *d);
/* Returns the operand of a vector, whose elements vary along `dim` only. */
struct span_operand operand_along(struct kernel *k, struct kernel_tensor x, uint32_t dim);

struct spans {
    struct span rows, cols;
    bool wide;                     /* offsets need more than 32 bits */
    bool contiguous[SPAN_TENSORS]; /* its columns are contiguous and in order */
    bool across;                   /* the first tensor's rows are adjacent, its columns apart */
};

/* Computes the spans of up to SPAN_TENSORS operands. ordered: columns keep the order of the dims,
 * which indices need; otherwise their order is that of memory. False: declined. */
bool spans_of(struct kernel *k, const struct dims *d, const struct span_operand *x, uint32_t n,
              bool ordered, struct spans *ret);
/* Returns whether its columns can be read 16 bytes at a time, if rows begin at multiples of `chunk`
 * elements. */
bool spans_vector(const struct spans *s, const struct span_operand *x, uint32_t i);
/* Returns whether the answer may be another one at other sizes. */
bool spans_may_be_vectors(const struct spans *s, uint32_t i);

/* Returns the number of threads for a row that is not split. */
struct team_shape team_for(const struct spans *s, uint32_t each);
uint32_t team_blocks(const struct kernel *k, const struct spans *s, struct team_shape shape);

/* The lines of a text's defines. */
struct defines {
    char text[640];
    size_t n;
};
void define(struct defines *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Returns the kernel with VECTOR defined or not. both: other sizes may need the other one, which is
 * compiled between runs. */
struct cuda_function *spans_function(struct kernel *k, const char *file, const char *name,
                                     const struct defines *d, bool vector, bool both);

#endif
