#include "replay/backend/cuda/libraries/cudnn_graph.h"

/* ---- Descriptors ---- */

void cudnn_drop(const struct cudnn_table *t, void *descriptor)
{
    if (descriptor)
        t->drop(descriptor);
}

struct cudnn_builder cudnn_make(const struct cudnn_table *t, int kind)
{
    struct cudnn_builder m = { .t = t };
    m.status = t->make(kind, &m.descriptor);
    return m;
}

void cudnn_set(struct cudnn_builder *m, int attribute, int type, int64_t n, const void *values)
{
    if (m->status == CUDNN_OK)
        m->status = m->t->set(m->descriptor, attribute, type, n, values);
}

void *cudnn_made(struct cudnn_builder *m, int *status)
{
    if (m->status == CUDNN_OK)
        m->status = m->t->finish(m->descriptor);
    *status = m->status;
    if (m->status == CUDNN_OK)
        return m->descriptor;
    cudnn_drop(m->t, m->descriptor);
    return NULL;
}

/* ---- Parts ---- */

void cudnn_graph_open(struct cudnn_graph *g, const struct cudnn_table *t)
{
    *g = (struct cudnn_graph){ .t = t, .next_id = 1000 };
}

void cudnn_graph_close(struct cudnn_graph *g)
{
    cudnn_drop(g->t, g->graph);
    for (int i = g->n_operations; i-- > 0;)
        cudnn_drop(g->t, g->operations[i]);
    for (int i = g->n_parts; i-- > 0;)
        cudnn_drop(g->t, g->parts[i]);
    *g = (struct cudnn_graph){ .t = g->t };
}

static void *adopt_descriptor(struct cudnn_graph *g, struct cudnn_builder *m, void **list, int *n,
                              int most)
{
    int status;
    void *made;
    if (g->status != CUDNN_OK || *n >= most) {
        cudnn_drop(m->t, m->descriptor);
        g->status = g->status != CUDNN_OK ? g->status : CUDNN_NOT_SUPPORTED;
        return NULL;
    }
    made = cudnn_made(m, &status);
    if (made)
        list[(*n)++] = made;
    g->status = status;
    return made;
}

void *cudnn_graph_part(struct cudnn_graph *g, struct cudnn_builder *m)
{
    return adopt_descriptor(g, m, g->parts, &g->n_parts, CUDNN_GRAPH_PARTS);
}

void *cudnn_graph_operation(struct cudnn_graph *g, struct cudnn_builder *m)
{
    return adopt_descriptor(g, m, g->operations, &g->n_operations, CUDNN_GRAPH_OPERATIONS);
}

void *cudnn_graph_tensor(struct cudnn_graph *g, const struct cudnn_tensor *x)
{
    struct cudnn_builder m = cudnn_make(g->t, CUDNN_TENSOR);
    int64_t id = x->id ? x->id : g->next_id++;
    cudnn_set(&m, TENSOR_TYPE, CUDNN_DATA_TYPES, 1, &x->type);
    cudnn_set(&m, TENSOR_SIZES, CUDNN_INT64S, x->ndim, x->size);
    cudnn_set(&m, TENSOR_STRIDES, CUDNN_INT64S, x->ndim, x->stride);
    cudnn_set(&m, TENSOR_ID, CUDNN_INT64S, 1, &id);
    cudnn_set(&m, TENSOR_ALIGNMENT, CUDNN_INT64S, 1, &x->alignment);
    if (x->virtual)
        cudnn_set(&m, TENSOR_IS_VIRTUAL, CUDNN_BOOLS, 1, &x->virtual);
    if (x->by_value)
        cudnn_set(&m, TENSOR_IS_BY_VALUE, CUDNN_BOOLS, 1, &x->by_value);
    return cudnn_graph_part(g, &m);
}

/* ---- Operations ---- */

static void add_operation(struct cudnn_graph *g, struct cudnn_builder *of, void *x, void *b,
                          void *t, void *y)
{
    void *described = cudnn_graph_part(g, of);
    if (!described)
        return;
    struct cudnn_builder m = cudnn_make(g->t, CUDNN_POINT);
    cudnn_set(&m, POINT_DESCRIPTOR, CUDNN_DESCRIPTORS, 1, &described);
    cudnn_set(&m, POINT_X, CUDNN_DESCRIPTORS, 1, &x);
    if (b)
        cudnn_set(&m, POINT_B, CUDNN_DESCRIPTORS, 1, &b);
    if (t)
        cudnn_set(&m, POINT_T, CUDNN_DESCRIPTORS, 1, &t);
    cudnn_set(&m, POINT_Y, CUDNN_DESCRIPTORS, 1, &y);
    cudnn_graph_operation(g, &m);
}

void cudnn_graph_point(struct cudnn_graph *g, int32_t mode, int32_t compute, void *x, void *b,
                       void *t, void *y)
{
    struct cudnn_builder of = cudnn_make(g->t, CUDNN_POINT_OF);
    cudnn_set(&of, POINT_MODE, CUDNN_POINT_MODES, 1, &mode);
    cudnn_set(&of, POINT_COMPUTE, CUDNN_DATA_TYPES, 1, &compute);
    add_operation(g, &of, x, b, t, y);
}

void cudnn_graph_index(struct cudnn_graph *g, int64_t axis, void *x, void *y)
{
    struct cudnn_builder of = cudnn_make(g->t, CUDNN_POINT_OF);
    int32_t mode = POINT_INDEX, compute = CUDNN_I32;
    cudnn_set(&of, POINT_MODE, CUDNN_POINT_MODES, 1, &mode);
    cudnn_set(&of, POINT_COMPUTE, CUDNN_DATA_TYPES, 1, &compute);
    cudnn_set(&of, POINT_AXIS, CUDNN_INT64S, 1, &axis);
    add_operation(g, &of, x, NULL, NULL, y);
}

void cudnn_graph_reduce(struct cudnn_graph *g, int32_t mode, void *x, void *y)
{
    struct cudnn_builder of = cudnn_make(g->t, CUDNN_REDUCTION_OF);
    int32_t compute = CUDNN_F32;
    cudnn_set(&of, REDUCTION_MODE, CUDNN_REDUCTION_MODES, 1, &mode);
    cudnn_set(&of, REDUCTION_COMPUTE, CUDNN_DATA_TYPES, 1, &compute);
    void *described = cudnn_graph_part(g, &of);
    if (!described)
        return;
    struct cudnn_builder m = cudnn_make(g->t, CUDNN_REDUCTION);
    cudnn_set(&m, REDUCTION_X, CUDNN_DESCRIPTORS, 1, &x);
    cudnn_set(&m, REDUCTION_X + 1, CUDNN_DESCRIPTORS, 1, &y);
    cudnn_set(&m, REDUCTION_X + 2, CUDNN_DESCRIPTORS, 1, &described);
    cudnn_graph_operation(g, &m);
}

void cudnn_graph_multiply(struct cudnn_graph *g, void *a, void *b, void *c)
{
    struct cudnn_builder of = cudnn_make(g->t, CUDNN_PRODUCT_OF);
    int32_t compute = CUDNN_F32;
    cudnn_set(&of, PRODUCT_COMPUTE, CUDNN_DATA_TYPES, 1, &compute);
    void *described = cudnn_graph_part(g, &of);
    if (!described)
        return;
    struct cudnn_builder m = cudnn_make(g->t, CUDNN_PRODUCT);
    cudnn_set(&m, PRODUCT_A, CUDNN_DESCRIPTORS, 1, &a);
    cudnn_set(&m, PRODUCT_A + 1, CUDNN_DESCRIPTORS, 1, &b);
    cudnn_set(&m, PRODUCT_A + 2, CUDNN_DESCRIPTORS, 1, &c);
    cudnn_set(&m, PRODUCT_A + 3, CUDNN_DESCRIPTORS, 1, &described);
    cudnn_graph_operation(g, &m);
}

void cudnn_graph_reshape(struct cudnn_graph *g, void *x, void *y)
{
    if (g->status != CUDNN_OK)
        return;
    struct cudnn_builder m = cudnn_make(g->t, CUDNN_RESHAPE);
    cudnn_set(&m, RESHAPE_X, CUDNN_DESCRIPTORS, 1, &x);
    cudnn_set(&m, RESHAPE_X + 1, CUDNN_DESCRIPTORS, 1, &y);
    cudnn_graph_operation(g, &m);
}

void *cudnn_graph_finish(struct cudnn_graph *g, void *handle)
{
    if (g->status != CUDNN_OK)
        return NULL;
    struct cudnn_builder m = cudnn_make(g->t, CUDNN_GRAPH);
    if (handle)
        cudnn_set(&m, GRAPH_HANDLE, CUDNN_HANDLES, 1, &handle);
    cudnn_set(&m, GRAPH_OPERATIONS, CUDNN_DESCRIPTORS, g->n_operations, g->operations);
    return g->graph = cudnn_made(&m, &g->status);
}
