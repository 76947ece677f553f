/* Executable CUDA graphs. One that no captured unit uses any more is kept, so that the graph of
 * another size updates it (cuGraphExecUpdate): on an H200 that costs 0.16 us a node, where making
 * one costs 1.4 us, destroying it 0.4 us and the upload that precedes its first launch 1.1 us
 * (tests/device/results/backend.md, E1). Setting the parameters of all nodes one by one would cost
 * 0.33 us a node, and most of them change with a size, since addresses do.
 *
 * An update succeeds only if the graphs have the same topology. The kinds of their nodes tell which
 * ones may; the driver decides. */
#include <stdlib.h>
#include <string.h>

#include "replay/backend/cuda/runtime/cuda.h"
#include "trace/base/hash.h"

/* *ret: a number that graphs with the same kinds of nodes in the same order share. False: it is
 * not known. */
static bool topology_of(struct cuda *cuda, cu_graph graph, uint64_t *ret)
{
    const struct driver *d = &cuda->driver;
    size_t n = 0;
    if (!d->exec_update || !d->graph_nodes || !d->node_type ||
        d->graph_nodes(graph, NULL, &n) != CU_OK || n > SIZE_MAX / sizeof(cu_node) - 1)
        return false;
    cu_node *nodes = malloc((n + 1) * sizeof *nodes);
    bool ok = nodes && d->graph_nodes(graph, nodes, &n) == CU_OK;
    *ret = hash_mix(n, 1);
    for (size_t i = 0; i < n && ok; i++) {
        int type = 0;
        ok = d->node_type(nodes[i], &type) == CU_OK;
        *ret = hash_mix(*ret, (uint64_t)type);
    }
    free(nodes);
    return ok;
}

static void destroy(struct cuda *cuda, cu_exec exec)
{
    cuda_wait_for_stream(cuda);
    cuda->driver.exec_destroy(exec);
}

static void remove_idle(struct cuda_executables *e, uint32_t i)
{
    memmove(&e->idle[i], &e->idle[i + 1], (e->n - i - 1) * sizeof *e->idle);
    e->n--;
}

/* Makes an idle executable compute the graph. One that could not be updated is of no use. */
static bool update_idle(struct cuda *cuda, cu_graph graph, uint64_t topology,
                        struct cuda_executable *ret)
{
    struct cuda_executables *e = &cuda->executables;
    for (uint32_t i = e->n; i-- > 0;) {
        struct cu_update_result result = { 0 };
        if (e->idle[i].topology != topology)
            continue;
        *ret = e->idle[i];
        remove_idle(e, i);
        if (cuda->driver.exec_update(ret->exec, graph, &result) == CU_OK)
            return true;
        destroy(cuda, ret->exec);
    }
    return false;
}

bool cuda_executable_make(struct cuda *cuda, cu_graph graph, struct cuda_executable *ret,
                          struct err *err)
{
    uint64_t topology = 0;
    bool known = topology_of(cuda, graph, &topology);
    if (known && update_idle(cuda, graph, topology, ret)) {
        cuda->base.log.updated++;
        return true;
    }
    *ret = (struct cuda_executable){ .topology = topology, .single_use = !known };
    return cuda_check(cuda, cuda->driver.graph_instantiate(&ret->exec, graph, 0), err,
                      "making a CUDA graph executable");
}

void cuda_executable_give_back(struct cuda *cuda, struct cuda_executable executable)
{
    struct cuda_executables *e = &cuda->executables;
    if (executable.single_use || err_is_set(&cuda->failures.lost)) {
        destroy(cuda, executable.exec);
        return;
    }
    if (e->n == CUDA_IDLE_EXECUTABLES) {
        destroy(cuda, e->idle[0].exec);
        remove_idle(e, 0);
    }
    e->idle[e->n++] = executable;
}

void cuda_executables_close(struct cuda *cuda)
{
    struct cuda_executables *e = &cuda->executables;
    while (e->n)
        destroy(cuda, e->idle[--e->n].exec);
}
