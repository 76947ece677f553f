/* Descriptors of cuDNN's backend API: one in the making, and graphs of operations.
 *
 *     struct cudnn_graph g;
 *     cudnn_graph_open(&g, table);
 *     void *x = cudnn_graph_tensor(&g, &(struct cudnn_tensor){ ... });
 *     void *y = ...;
 *     cudnn_graph_point(&g, POINT_EXP, CUDNN_F32, x, NULL, NULL, y);
 *     void *graph = cudnn_graph_finish(&g, handle);
 *     ...                                            plans are made of it (cudnn_engines.h)
 *     cudnn_graph_close(&g);
 *
 * Failure is sticky: g.status is the first status that was not CUDNN_OK, and what follows does
 * nothing. Nothing here needs a device. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_CUDNN_GRAPH_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_CUDNN_GRAPH_H

#include <stdbool.h>

#include "replay/backend/cuda/libraries/cudnn_abi.h"

/* --- A descriptor in the making: the first failure stays --- */

struct cudnn_making {
    const struct cudnn_table *t;
    void *descriptor;
    int status;
};
struct cudnn_making cudnn_make(const struct cudnn_table *t, int kind);
void cudnn_set(struct cudnn_making *m, int attribute, int type, int64_t n, const void *values);
void *cudnn_made(struct cudnn_making *m, int *status); /* NULL: it failed, and is dropped */
void cudnn_drop(const struct cudnn_table *t, void *descriptor); /* NULL is fine */

/* --- Graphs --- */

enum { CUDNN_DIMS = 5, CUDNN_GRAPH_PARTS = 96, CUDNN_GRAPH_OPERATIONS = 32 };

/* Strides in elements. */
struct cudnn_tensor {
    int64_t size[CUDNN_DIMS], stride[CUDNN_DIMS];
    int64_t alignment; /* bytes */
    int64_t id;        /* its pointer's in a pack; 0: it gets one of its own */
    int32_t type, ndim;
    bool virtual, by_value; /* between operations, without memory; a number of the host's */
};

struct cudnn_graph {
    const struct cudnn_table *t;
    int status;
    int64_t next_id;
    int n_parts, n_operations;
    void *parts[CUDNN_GRAPH_PARTS], *operations[CUDNN_GRAPH_OPERATIONS];
    void *graph;
};

void cudnn_graph_open(struct cudnn_graph *g, const struct cudnn_table *t);
void cudnn_graph_close(struct cudnn_graph *g);

/* A descriptor that operations refer to, or an operation: the graph's own from now on. */
void *cudnn_graph_part(struct cudnn_graph *g, struct cudnn_making *m);
void *cudnn_graph_operation(struct cudnn_graph *g, struct cudnn_making *m);

void *cudnn_graph_tensor(struct cudnn_graph *g, const struct cudnn_tensor *x);
/* y = mode(x), mode(x, b), or of POINT_SELECT t ? x : b. */
void cudnn_graph_point(struct cudnn_graph *g, int32_t mode, int32_t compute, void *x, void *b,
                       void *t, void *y);
/* y[i] = the index along dimension `axis` of x's element i. */
void cudnn_graph_index(struct cudnn_graph *g, int64_t axis, void *x, void *y);
/* Over the dimensions that y has 1 of. */
void cudnn_graph_reduce(struct cudnn_graph *g, int32_t mode, void *x, void *y);
void cudnn_graph_multiply(struct cudnn_graph *g, void *a, void *b, void *c); /* c = a b */
void cudnn_graph_reshape(struct cudnn_graph *g, void *x, void *y);

/* NULL: g.status. handle NULL: of no device. */
void *cudnn_graph_finish(struct cudnn_graph *g, void *handle);

#endif
