/* Graphs of kernels and events, as much of them as tests/device/experiments.c measures, and graphs
 * that are captured from a stream. A launch runs its nodes at once, in the order in which they were
 * added, which their dependencies must follow. */
#include "tests/cuda/fake.h"

#include <stdlib.h>
#include <string.h>

#include "tests/device/lab/graph_abi.h"

struct CUgraphNode_st {
    struct cu_kernel_node params; /* its arguments are `parameters` */
    void *argument;               /* a copy of them, one after the other */
    void *parameters[2];
    bool cluster;
    cu_event event;  /* of an event's node; NULL: a kernel's */
    fake_work *work; /* of a captured node, whose data is `argument`; NULL: another node */
    size_t bytes;
    bool off;
};
struct CUgraph_st {
    cu_node *nodes;
    size_t n;
};
struct CUgraphExec_st {
    struct CUgraphNode_st *nodes; /* copies, */
    cu_node *of;                  /* of these */
    size_t n;
};

int cuLaunchKernel(cu_function f, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                   cu_stream stream, void **arguments, void **extra);
int cuEventRecord(cu_event event, cu_stream stream);

static bool set_params(struct CUgraphNode_st *node, const struct cu_kernel_node *params)
{
    size_t n = fake_argument_bytes(params->function);
    void *copy = malloc(n);
    if (!copy)
        return false;
    fake_copy_arguments(params->function, params->arguments, copy);
    free(node->argument);
    node->argument = copy;
    node->params = *params;
    node->parameters[0] = copy;
    node->parameters[1] = n < 8 ? NULL : (char *)copy + n - 8;
    node->params.arguments = node->parameters;
    return true;
}

static int new_graph(cu_graph *ret)
{
    *ret = calloc(1, sizeof **ret);
    if (!*ret)
        return CU_OUT_OF_MEMORY;
    fake_made(FAKE_GRAPH);
    return CU_OK;
}

EXPORT int cuGraphCreate(cu_graph *ret, unsigned flags);
EXPORT int cuGraphCreate(cu_graph *ret, unsigned flags)
{
    int error = fake_enter_context(__func__);
    if (error || flags)
        return error ? error : CU_INVALID_VALUE;
    return new_graph(ret);
}

EXPORT int cuGraphDestroy(cu_graph graph);
EXPORT int cuGraphDestroy(cu_graph graph)
{
    for (size_t i = 0; i < graph->n; i++) {
        free(graph->nodes[i]->argument);
        free(graph->nodes[i]);
    }
    free(graph->nodes);
    free(graph);
    fake_gone(FAKE_GRAPH);
    return CU_OK;
}

/* Nodes depend on nothing, or on the one before. */
static int add(cu_graph graph, const cu_node *after, size_t n_after, cu_node *ret)
{
    if (n_after > 1 || (n_after == 1 && (graph->n == 0 || *after != graph->nodes[graph->n - 1])))
        return CU_INVALID_VALUE;
    cu_node *nodes = realloc(graph->nodes, (graph->n + 1) * sizeof *nodes);
    if (nodes)
        graph->nodes = nodes;
    *ret = nodes ? calloc(1, sizeof **ret) : NULL;
    if (!*ret)
        return CU_OUT_OF_MEMORY;
    graph->nodes[graph->n++] = *ret;
    return CU_OK;
}

EXPORT int cuGraphAddKernelNode_v2(cu_node *ret, cu_graph graph, const cu_node *after,
                                   size_t n_after, const void *node);
EXPORT int cuGraphAddKernelNode_v2(cu_node *ret, cu_graph graph, const cu_node *after,
                                   size_t n_after, const void *node)
{
    int error = fake_enter_context(__func__);
    if (error || (error = add(graph, after, n_after, ret)))
        return error;
    return set_params(*ret, node) ? CU_OK : CU_OUT_OF_MEMORY;
}

EXPORT int cuGraphAddEventRecordNode(cu_node *ret, cu_graph graph, const cu_node *after,
                                     size_t n_after, cu_event event);
EXPORT int cuGraphAddEventRecordNode(cu_node *ret, cu_graph graph, const cu_node *after,
                                     size_t n_after, cu_event event)
{
    int error = fake_enter_context(__func__);
    if (error || (error = add(graph, after, n_after, ret)))
        return error;
    (*ret)->event = event;
    return CU_OK;
}

EXPORT int cuGraphExecDestroy(cu_exec exec);
EXPORT int cuGraphExecDestroy(cu_exec exec)
{
    for (size_t i = 0; i < exec->n && exec->nodes; i++)
        free(exec->nodes[i].argument);
    free(exec->nodes);
    free(exec->of);
    free(exec);
    fake_gone(FAKE_EXEC);
    return CU_OK;
}

static bool set_work(struct CUgraphNode_st *node, fake_work *work, const void *data, size_t bytes)
{
    void *copy = malloc(bytes);
    if (!copy)
        return false;
    memcpy(copy, data, bytes);
    free(node->argument);
    node->argument = copy;
    node->bytes = bytes;
    node->work = work;
    return true;
}

static bool copy_node(struct CUgraphNode_st *to, cu_node from)
{
    if (from->work)
        return set_work(to, from->work, from->argument, from->bytes);
    to->event = from->event;
    return from->event || set_params(to, &from->params);
}

EXPORT int cuGraphInstantiateWithFlags(cu_exec *ret, cu_graph graph, unsigned long long flags);
EXPORT int cuGraphInstantiateWithFlags(cu_exec *ret, cu_graph graph, unsigned long long flags)
{
    int error = fake_enter_context(__func__);
    if (error || flags)
        return error ? error : CU_INVALID_VALUE;
    cu_exec exec = calloc(1, sizeof *exec);
    if (!exec)
        return CU_OUT_OF_MEMORY;
    fake_made(FAKE_EXEC);
    exec->nodes = calloc(graph->n + 1, sizeof *exec->nodes);
    exec->of = calloc(graph->n + 1, sizeof(cu_node));
    bool ok = exec->nodes && exec->of;
    for (size_t i = 0; ok && i < graph->n; i++) {
        ok = copy_node(&exec->nodes[i], graph->nodes[i]);
        exec->of[exec->n++] = graph->nodes[i];
    }
    if (ok)
        return *ret = exec, CU_OK;
    cuGraphExecDestroy(exec);
    return CU_OUT_OF_MEMORY;
}

/* An executable graph's nodes go by those of the graph it was made from. */
static struct CUgraphNode_st *node_of(cu_exec exec, cu_node node)
{
    for (size_t i = 0; i < exec->n; i++)
        if (exec->of[i] == node)
            return &exec->nodes[i];
    return NULL;
}

EXPORT int cuGraphExecKernelNodeSetParams_v2(cu_exec exec, cu_node node, const void *params);
EXPORT int cuGraphExecKernelNodeSetParams_v2(cu_exec exec, cu_node node, const void *params)
{
    int error = fake_enter_context(__func__);
    struct CUgraphNode_st *at = node_of(exec, node);
    if (error || !at || at->event)
        return error ? error : CU_INVALID_VALUE;
    return set_params(at, params) ? CU_OK : CU_OUT_OF_MEMORY;
}

EXPORT int cuGraphNodeSetEnabled(cu_exec exec, cu_node node, unsigned on);
EXPORT int cuGraphNodeSetEnabled(cu_exec exec, cu_node node, unsigned on)
{
    int error = fake_enter_context(__func__);
    struct CUgraphNode_st *at = node_of(exec, node);
    if (error || !at || at->event)
        return error ? error : CU_INVALID_VALUE;
    at->off = !on;
    return CU_OK;
}

/* The driver promises no order. */
EXPORT int cuGraphGetNodes(cu_graph graph, cu_node *ret, size_t *n);
EXPORT int cuGraphGetNodes(cu_graph graph, cu_node *ret, size_t *n)
{
    int error = fake_enter_context(__func__);
    if (error)
        return error;
    for (size_t i = 0; ret && i < *n && i < graph->n; i++)
        ret[i] = graph->nodes[graph->n - 1 - i];
    *n = graph->n;
    return CU_OK;
}

/* Each node depends on the one before. */
EXPORT int cuGraphGetEdges_v2(cu_graph graph, cu_node *from, cu_node *to, void *kinds, size_t *n);
EXPORT int cuGraphGetEdges_v2(cu_graph graph, cu_node *from, cu_node *to, void *kinds, size_t *n)
{
    const size_t edges = graph->n ? graph->n - 1 : 0;
    int error = fake_enter_context(__func__);
    if (error)
        return error;
    for (size_t i = 0; from && i < edges && i < *n; i++) {
        from[i] = graph->nodes[i];
        to[i] = graph->nodes[i + 1];
        memset((struct cu_edge *)kinds + i, 0, sizeof(struct cu_edge));
    }
    *n = edges;
    return CU_OK;
}

/* A kind of other work is a type of nodes; the driver has other numbers for them. */
EXPORT int cuGraphNodeGetType(cu_node node, void *ret);
EXPORT int cuGraphNodeGetType(cu_node node, void *ret)
{
    int error = fake_enter_context(__func__);
    struct cu_memset_node ignored;
    *(int *)ret = fake_is_memset(node->work, node->argument, &ignored) ? CU_NODE_MEMSET
                  : node->work                                         ? (int)(uintptr_t)node->work
                  : node->event                                        ? 1
                                                                       : CU_NODE_KERNEL;
    return error;
}

EXPORT int cuGraphMemsetNodeGetParams(cu_node node, void *ret);
EXPORT int cuGraphMemsetNodeGetParams(cu_node node, void *ret)
{
    int error = fake_enter_context(__func__);
    struct cu_memset_node params;
    if (error || !fake_is_memset(node->work, node->argument, &params))
        return error ? error : CU_INVALID_VALUE;
    memcpy(ret, &params, sizeof params);
    return CU_OK;
}

EXPORT int cuGraphExecUpdate_v2(cu_exec exec, cu_graph graph, void *result);
EXPORT int cuGraphExecUpdate_v2(cu_exec exec, cu_graph graph, void *result)
{
    int error = fake_enter_context(__func__);
    *(struct cu_update_result *)result = (struct cu_update_result){ 0 };
    if (error || exec->n != graph->n)
        return error ? error : EXEC_UPDATE_FAILURE;
    for (size_t i = 0; i < exec->n; i++)
        if (exec->nodes[i].work != graph->nodes[i]->work)
            return EXEC_UPDATE_FAILURE;
    for (size_t i = 0; i < exec->n; i++)
        if (!copy_node(&exec->nodes[i], graph->nodes[i]))
            return CU_OUT_OF_MEMORY;
    return CU_OK;
}

EXPORT int cuGraphKernelNodeGetParams_v2(cu_node node, void *ret);
EXPORT int cuGraphKernelNodeGetParams_v2(cu_node node, void *ret)
{
    int error = fake_enter_context(__func__);
    if (error || node->work || node->event)
        return error ? error : CU_INVALID_VALUE;
    memcpy(ret, &node->params, sizeof node->params);
    return CU_OK;
}

/* The nodes of kernels have functions. */
EXPORT int cuKernelGetFunction(cu_function *ret, void *kernel);
EXPORT int cuKernelGetFunction(cu_function *ret, void *kernel)
{
    int error = fake_enter_context(__func__);
    (void)ret, (void)kernel;
    return error ? error : CU_INVALID_VALUE;
}

EXPORT int cuGraphKernelNodeGetAttribute(cu_node node, int attribute, void *ret);
EXPORT int cuGraphKernelNodeGetAttribute(cu_node node, int attribute, void *ret)
{
    int error = fake_enter_context(__func__);
    if (error || node->work || node->event)
        return error ? error : CU_INVALID_VALUE;
    union cu_attribute value = { { 0 } };
    if (attribute == CU_ATTRIBUTE_CLUSTER)
        value.cluster[0] = node->cluster ? 2 : 1;
    memcpy(ret, &value, sizeof value);
    return CU_OK;
}

EXPORT int cuGraphUpload(cu_exec exec, cu_stream stream);
EXPORT int cuGraphUpload(cu_exec exec, cu_stream stream)
{
    (void)exec, (void)stream;
    return fake_enter_context(__func__);
}

static int run_node(struct CUgraphNode_st *node, cu_stream stream)
{
    const struct cu_kernel_node *p = &node->params;
    if (node->work)
        return node->work(node->argument);
    if (node->event)
        return cuEventRecord(node->event, stream);
    return node->off ? CU_OK
                     : cuLaunchKernel(p->function, p->grid[0], p->grid[1], p->grid[2], p->block[0],
                                      p->block[1], p->block[2], p->shared, stream, p->arguments,
                                      p->extra);
}

EXPORT int cuGraphLaunch(cu_exec exec, cu_stream stream);
EXPORT int cuGraphLaunch(cu_exec exec, cu_stream stream)
{
    int error = fake_enter_context(__func__);
    for (size_t i = 0; !error && i < exec->n; i++)
        error = run_node(&exec->nodes[i], stream);
    return error;
}

/* ---- Captures ---- */

EXPORT int cuStreamBeginCapture_v2(cu_stream stream, int mode);
EXPORT int cuStreamBeginCapture_v2(cu_stream stream, int mode)
{
    int error = fake_enter_context(__func__);
    if (error || mode != CU_CAPTURE_RELAXED || stream->captures)
        return error ? error : CU_INVALID_VALUE;
    stream->invalid = false;
    return new_graph(&stream->captures);
}

EXPORT int cuStreamEndCapture(cu_stream stream, cu_graph *ret);
EXPORT int cuStreamEndCapture(cu_stream stream, cu_graph *ret)
{
    cu_graph graph = stream->captures;
    int error = fake_enter_context(__func__);
    stream->captures = *ret = NULL;
    if (!error && !graph)
        error = CU_INVALID_VALUE;
    if (!error && stream->invalid)
        error = CAPTURE_INVALIDATED;
    if (!error)
        *ret = graph;
    else if (graph)
        cuGraphDestroy(graph);
    return error;
}

int fake_wait(cu_stream stream)
{
    if (!stream || !stream->captures)
        return CU_OK;
    stream->invalid = true;
    return CAPTURE_UNSUPPORTED;
}

EXPORT int fake_submit(cu_stream stream, fake_work *run, const void *data, size_t bytes)
{
    cu_node node;
    if (!stream || !stream->captures)
        return run(data);
    if (stream->invalid)
        return CAPTURE_INVALIDATED;
    if (add(stream->captures, NULL, 0, &node) || !set_work(node, run, data, bytes))
        return CU_OUT_OF_MEMORY;
    return CU_OK;
}

static int submit_kernel(cu_stream stream, fake_work *run, const void *data, size_t bytes,
                         bool cluster)
{
    cu_node node;
    if (!stream || !stream->captures)
        return run(data);
    if (stream->invalid)
        return CAPTURE_INVALIDATED;
    void *arguments[] = { (void *)(uintptr_t)data, (char *)(uintptr_t)data + bytes - 8 };
    const struct cu_kernel_node params = { .function = fake_function_of(run, bytes),
                                           .grid = { 1, 1, 1 },
                                           .block = { 1, 1, 1 },
                                           .arguments = arguments };
    if (!params.function || add(stream->captures, NULL, 0, &node) || !set_params(node, &params))
        return CU_OUT_OF_MEMORY;
    node->cluster = cluster;
    return CU_OK;
}

EXPORT int fake_submit_kernel(cu_stream stream, fake_work *run, const void *data, size_t bytes)
{
    return submit_kernel(stream, run, data, bytes, false);
}

EXPORT int fake_submit_cluster(cu_stream stream, fake_work *run, const void *data, size_t bytes)
{
    return submit_kernel(stream, run, data, bytes, true);
}
