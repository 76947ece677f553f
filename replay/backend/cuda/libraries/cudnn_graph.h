/* Builders of descriptors of cuDNN's backend API, and of graphs of operations.
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
 * Failure is sticky: g.status is the first status that is not CUDNN_OK, and later calls do nothing.
 * No device is needed. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_CUDNN_GRAPH_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_CUDNN_GRAPH_H

#include <stdbool.h>

#include "replay/backend/cuda/libraries/cudnn_abi.h"

/* --- The builder of a descriptor: the first failure is sticky --- */

struct cudnn_builder {
    const struct cudnn_table *t;
    void *descriptor;
    int status;
};
struct cudnn_builder cudnn_make(const struct cudnn_table *t, int kind);
void cudnn_set(struct cudnn_builder *m, int attribute, int type, int64_t n, const void *values);
void *cudnn_made(struct cudnn_builder *m, int *status); /* NULL: it failed, and was dropped */
void cudnn_drop(const struct cudnn_table *t, void *descriptor); /* NULL is fine */

/* --- Graphs --- */

enum { CUDNN_DIMS = 5, CUDNN_GRAPH_PARTS = 96, CUDNN_GRAPH_OPERATIONS = 32 };

/* Strides in elements. */
struct cudnn_tensor {
    int64_t size[CUDNN_DIMS], stride[CUDNN_DIMS];
    int64_t alignment; /* bytes */
    int64_t id;        /* of its pointer; 0: the graph assigns one */
    int32_t type, ndim;
    bool virtual,
        by_value; /* virtual: between operations, without memory; by_value: a number on the host */
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

/* Finishes a descriptor or operation, which the graph owns from now on. */
void *cudnn_graph_part(struct cudnn_graph *g, struct cudnn_builder *m);
void *cudnn_graph_operation(struct cudnn_graph *g, struct cudnn_builder *m);

void *cudnn_graph_tensor(struct cudnn_graph *g, const struct cudnn_tensor *x);
/* Adds y = mode(x), mode(x, b), or for POINT_SELECT t ? x : b. */
void cudnn_graph_point(struct cudnn_graph *g, int32_t mode, int32_t compute, void *x, void *b,
                       void *t, void *y);
/* Adds y[i] = the index of x's element i along dimension `axis`. */
void cudnn_graph_index(struct cudnn_graph *g, int64_t axis, void *x, void *y);
/* Adds a reduction over the dimensions that have size 1 in y. */
void cudnn_graph_reduce(struct cudnn_graph *g, int32_t mode, void *x, void *y);
void cudnn_graph_multiply(struct cudnn_graph *g, void *a, void *b, void *c); /* c = a b */
void cudnn_graph_reshape(struct cudnn_graph *g, void *x, void *y);

/* NULL: see g.status. handle NULL: for no device. */
void *cudnn_graph_finish(struct cudnn_graph *g, void *handle);

#endif
