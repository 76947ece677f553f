/* Graphs of ticks. */
#include "tests/device/lab/lab.h"

/* The arguments are copied by whoever takes the node. */
struct node_args {
    struct wide_args args; /* a tick's are its beginning */
    void *arguments[1];
    struct cu_kernel_node node;
};

static void fill_node(const struct lab *lab, bool wide, int64_t by, struct node_args *n)
{
    *n = (struct node_args){ .args = { .to = lab->counter, .by = by } };
    n->arguments[0] = &n->args;
    n->node = (struct cu_kernel_node){ .function = wide ? lab->wide->f : lab->tick->f,
                                       .grid = { 1, 1, 1 },
                                       .block = { 32, 1, 1 },
                                       .arguments = n->arguments };
}

bool chain_build(struct lab *lab, uint32_t n, bool wide, int64_t by, struct chain *ret,
                 struct err *err)
{
    struct node_args args;
    *ret = (struct chain){ .wide = wide };
    if (!LAB_NEEDS(lab, graph_create, err) || !LAB_NEEDS(lab, add_kernel, err) ||
        !lab_check(lab, lab->graphs.graph_create(&ret->graph, 0), "a graph", err))
        return false;
    fill_node(lab, wide, by, &args);
    for (; ret->n < n; ret->n++)
        if (!lab_check(lab,
                       lab->graphs.add_kernel(&ret->nodes[ret->n], ret->graph,
                                              ret->n ? &ret->nodes[ret->n - 1] : NULL, ret->n > 0,
                                              &args.node),
                       "cuGraphAddKernelNode", err))
            return false;
    return true;
}

bool chain_instantiate(struct lab *lab, struct chain *chain, struct err *err)
{
    return LAB_NEEDS(lab, instantiate, err) && LAB_NEEDS(lab, launch, err) &&
           lab_check(lab, lab->graphs.instantiate(&chain->exec, chain->graph, 0),
                     "cuGraphInstantiate", err);
}

bool chain_set(struct lab *lab, struct chain *chain, uint32_t node, int64_t by, struct err *err)
{
    struct node_args args;
    fill_node(lab, chain->wide, by, &args);
    return lab_check(lab, lab->graphs.set_params(chain->exec, chain->nodes[node], &args.node),
                     "cuGraphExecKernelNodeSetParams", err);
}

void chain_release(struct lab *lab, struct chain *chain)
{
    if (chain->exec)
        lab->graphs.exec_destroy(chain->exec);
    if (chain->graph)
        lab->graphs.graph_destroy(chain->graph);
    *chain = (struct chain){ .n = 0 };
}

static bool launch_once(struct lab *lab, struct chain *chain, double *call, double *done,
                        double *device, struct err *err)
{
    double begin;
    if (!lab_mark(lab, lab->start, err))
        return false;
    begin = clock_us();
    if (!lab_check(lab, lab->graphs.launch(chain->exec, lab->cuda->stream), "cuGraphLaunch", err))
        return false;
    *call = clock_us() - begin;
    if (!lab_mark(lab, lab->end, err) || !lab_wait(lab, err))
        return false;
    *done = clock_us() - begin;
    return lab_between(lab, device, err);
}

bool chain_cost(struct lab *lab, struct chain *chain, chain_change *change, struct launch_cost *ret,
                struct err *err)
{
    double us[4][REPEATS_MAX];
    for (uint32_t i = 0; i < lab->repeats; i++) {
        if (!lab_wait(lab, err))
            return false;
        double begin = clock_us();
        if (change && !change(lab, chain, i, err))
            return false;
        us[0][i] = change ? clock_us() - begin : 0;
        if (!launch_once(lab, chain, &us[1][i], &us[2][i], &us[3][i], err))
            return false;
    }
    *ret = (struct launch_cost){ lab_median(us[0], lab->repeats), lab_median(us[1], lab->repeats),
                                 lab_median(us[2], lab->repeats), lab_median(us[3], lab->repeats) };
    return true;
}
