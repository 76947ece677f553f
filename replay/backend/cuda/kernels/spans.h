/* Tensors as kernels over rows see them: the dimensions that are kept, and those along which
 * something is made of many elements. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_KERNELS_SPANS_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_KERNELS_SPANS_H

#include "replay/backend/cuda/device/span.h"
#include "replay/backend/cuda/device/team.h"
#include "replay/backend/cuda/runtime/kernel.h"

/* A tensor, or room, along the dimensions that a kernel goes over. */
struct operand {
    uint64_t at;      /* 0: not there */
    const char *type; /* as the text calls it */
    enum dtype dtype;
    int64_t stride[TENSOR_MAX_DIM]; /* in elements; 0 where it is broadcast */
};

struct dims {
    uint32_t ndim;
    int64_t size[TENSOR_MAX_DIM];
    bool reduced[TENSOR_MAX_DIM]; /* belongs to the columns */
};

/* Sizes of x; nothing is reduced yet. */
struct dims dims_of(struct kernel_tensor x);
/* Broadcast to the dims, the last ones to the last. No tensor: an operand that is not there.
 * Declines what kernels do not take. */
struct operand operand_of(struct kernel *k, struct kernel_tensor x, const struct dims *d);
/* Of a tensor that has the dims that are not reduced, or all of them with those of size 1. */
struct operand operand_kept(struct kernel *k, struct kernel_tensor x, const struct dims *d);
/* Room for the kept dims' elements in order. */
struct operand operand_room(struct kernel *k, enum dtype dtype, const struct dims *d);
/* Elements by dimension `dim` alone: of a vector. */
struct operand operand_along(struct kernel *k, struct kernel_tensor x, uint32_t dim);

struct spans {
    struct span rows, cols;
    bool wide;                     /* offsets beyond 32 bits */
    bool contiguous[SPAN_TENSORS]; /* its columns lie one behind the other, in their order */
    bool across;                   /* the first tensor's rows lie side by side, its columns apart */
};

/* Of up to SPAN_TENSORS operands. ordered: columns stay in the order of the dims, as places are
 * counted; otherwise they are ordered by where they lie. False: it declined. */
bool spans_of(struct kernel *k, const struct dims *d, const struct operand *x, uint32_t n,
              bool ordered, struct spans *ret);
/* Can its columns be read 16 bytes at a time, when rows begin at multiples of `chunk` elements? */
bool spans_vector(const struct spans *s, const struct operand *x, uint32_t i);

/* How many threads a row gets, where none is split. */
struct team_shape team_for(const struct spans *s, uint32_t each);
uint32_t team_blocks(const struct kernel *k, const struct spans *s, struct team_shape shape);

/* Lines of a text's defines. */
struct defines {
    char text[640];
    size_t n;
};
void define(struct defines *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
