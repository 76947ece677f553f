/* E4: matrix products of cuBLASLt as nodes of a graph of ours: captured on a stream, then added to
 * another graph as a child or node by node, or set into an executable graph of another M. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/device/lab/graft.h"

static const struct kind kinds[] = { { "f32", CUBLAS_F32, 768, 768, 4 },
                                     { "f32", CUBLAS_F32, 768, 3072, 4 },
                                     { "bf16", CUBLAS_BF16, 4096, 4096, 2 } };

/* Named by number; the list comes after the table. */
static size_t number_of(struct graft *g, const struct cu_kernel_node *node)
{
    const char *name = NULL;
    cu_function f = node->function;
    if (!f && node->kernel && g->lab->graphs.kernel_function)
        g->lab->graphs.kernel_function(&f, node->kernel);
    if (!f || !g->lab->graphs.function_name || g->lab->graphs.function_name(&name, f) != CU_OK ||
        !name)
        name = "?";
    for (size_t i = 0; i < g->n_names; i++)
        if (strcmp(g->names[i], name) == 0)
            return i;
    if (g->n_names < NAMES_MAX)
        g->names[g->n_names++] = name;
    return g->n_names - 1;
}

/* ---- Grafting ---- */

/* "same", "other values", or what the driver said. */
struct answer {
    char text[64];
};

static void refused(struct graft *g, const char *what, int rc, struct answer *ret)
{
    const char *name = NULL;
    g->lab->cuda->driver.error_name(rc, &name);
    snprintf(ret->text, sizeof ret->text, "%s: %s", what, name ? name : "?");
}

/* Launches, and compares. False: the device is beyond use. */
static bool try_launch(struct graft *g, const struct product *p, cu_exec exec, struct answer *ret,
                       struct err *err)
{
    struct lab *lab = g->lab;
    if (!graft_spoil_result(g, p, err))
        return false;
    int rc = lab->graphs.launch(exec, lab->cuda->stream);
    if (rc != CU_OK) {
        refused(g, "launch", rc, ret);
        return !cuda_is_fatal(rc) || lab_check(lab, rc, "a grafted product", err);
    }
    if (!graft_read_result(g, p, g->got, err))
        return false;
    bool same = memcmp(g->got, p->expected, graft_result_bytes(g, p)) == 0;
    snprintf(ret->text, sizeof ret->text, "%s", same ? "same" : "OTHER VALUES");
    return true;
}

static bool try_graph(struct graft *g, const struct product *p, cu_graph graph, struct answer *ret,
                      struct err *err)
{
    cu_exec exec = NULL;
    int rc = g->lab->graphs.instantiate(&exec, graph, 0);
    if (rc != CU_OK) {
        refused(g, "instantiate", rc, ret);
        return true;
    }
    bool ok = try_launch(g, p, exec, ret, err);
    g->lab->graphs.exec_destroy(exec);
    return ok;
}

static bool try_child(struct graft *g, const struct product *p, struct answer *ret, struct err *err)
{
    cu_graph graph = NULL;
    cu_node node = NULL;
    if (!lab_check(g->lab, g->lab->graphs.graph_create(&graph, 0), "a graph", err))
        return false;
    int rc = g->lab->graphs.add_child(&node, graph, NULL, 0, p->grabbed.graph);
    bool ok = true;
    if (rc != CU_OK)
        refused(g, "add", rc, ret);
    else
        ok = try_graph(g, p, graph, ret, err);
    g->lab->graphs.graph_destroy(graph);
    return ok;
}

/* The captured nodes one after the other; 0, or the driver's error. */
static int add_nodes(struct graft *g, const struct grabbed *from, cu_graph graph, cu_node *last)
{
    for (size_t i = 0; i < from->n; i++) {
        cu_node node = NULL;
        int rc = g->lab->graphs.add_kernel(&node, graph, last, *last != NULL, &from->params[i]);
        if (rc == CU_OK && g->lab->graphs.copy_attributes)
            rc = g->lab->graphs.copy_attributes(node, from->nodes[i]);
        if (rc != CU_OK)
            return rc;
        *last = node;
    }
    return CU_OK;
}

static bool only_kernels(const struct grabbed *grabbed)
{
    for (size_t i = 0; i < grabbed->n; i++)
        if (grabbed->types[i] != CU_NODE_KERNEL)
            return false;
    return grabbed->n > 0;
}

static bool try_nodes(struct graft *g, const struct product *p, struct answer *ret, struct err *err)
{
    cu_graph graph = NULL;
    cu_node last = NULL;
    if (!only_kernels(&p->grabbed)) {
        snprintf(ret->text, sizeof ret->text, "not kernels only");
        return true;
    }
    if (!lab_check(g->lab, g->lab->graphs.graph_create(&graph, 0), "a graph", err))
        return false;
    int rc = add_nodes(g, &p->grabbed, graph, &last);
    bool ok = true;
    if (rc != CU_OK)
        refused(g, "add", rc, ret);
    else
        ok = try_graph(g, p, graph, ret, err);
    g->lab->graphs.graph_destroy(graph);
    return ok;
}

/* ---- Setting another product into an executable graph ---- */

static bool keep_first(struct graft *g, const struct product *p, struct err *err)
{
    struct lab *lab = g->lab;
    if (g->first || p->grabbed.n != 1 || !only_kernels(&p->grabbed))
        return true;
    if (!lab_check(lab, lab->graphs.graph_create(&g->first_graph, 0), "a graph", err) ||
        !lab_check(lab, add_nodes(g, &p->grabbed, g->first_graph, &g->first_node),
                   "cuGraphAddKernelNode", err) ||
        !lab_check(lab, lab->graphs.instantiate(&g->first_exec, g->first_graph, 0),
                   "cuGraphInstantiate", err))
        return false;
    g->first = p;
    return true;
}

static bool same_cluster(const struct product *p, const struct product *q)
{
    return memcmp(p->grabbed.cluster[0].cluster, q->grabbed.cluster[0].cluster,
                  sizeof p->grabbed.cluster[0].cluster) == 0;
}

static bool try_set(struct graft *g, const struct product *p, double *us, struct answer *ret,
                    struct err *err)
{
    double begin = clock_us();
    int rc = g->lab->graphs.set_params(g->first_exec, g->first_node, &p->grabbed.params[0]);
    *us = clock_us() - begin;
    if (rc == CU_OK)
        return try_launch(g, p, g->first_exec, ret, err);
    refused(g, "set", rc, ret);
    return true;
}

/* ---- Telling ---- */

static bool print_choices(struct graft *g, const struct product *p, struct err *err)
{
    for (int i = 0; i < p->found; i++) {
        struct grabbed one;
        if (!graft_grab(g, p, i, &one, err))
            return false;
        printf("%s%zu", i ? " " : "", one.n);
        g->lab->graphs.graph_destroy(one.graph);
    }
    return true;
}

static bool print_product(struct graft *g, struct product *p, struct err *err)
{
    struct answer child = { "" }, nodes = { "" }, set = { "" };
    const struct cu_kernel_node *node = &p->grabbed.params[0];
    const unsigned *cluster = p->grabbed.cluster[0].cluster;
    double us = 0;
    if (!try_child(g, p, &child, err) || !try_nodes(g, p, &nodes, err) || !keep_first(g, p, err))
        return false;
    bool sets = g->first && p->grabbed.n == 1 && only_kernels(&p->grabbed);
    if (sets && same_cluster(p, g->first) && !try_set(g, p, &us, &set, err))
        return false;
    if (sets && !same_cluster(p, g->first))
        snprintf(set.text, sizeof set.text, "other cluster: below");
    printf("| %u | %.1f | %.1f | %zu | ", (unsigned)p->m, p->heuristic_us, p->capture_us,
           p->grabbed.n);
    if (only_kernels(&p->grabbed))
        printf("F%zu | %u %u %u | %u | %u | %u %u %u |", number_of(g, node), node->grid[0],
               node->grid[1], node->grid[2], node->block[0], node->shared, cluster[0], cluster[1],
               cluster[2]);
    else
        printf("type %d first | | | | |", p->grabbed.types[0]);
    printf(" %s | %s | %s | %.1f | ", child.text, nodes.text, set.text, us);
    bool ok = print_choices(g, p, err);
    printf(" |\n");
    return ok;
}

/* Where the cluster is another, the attribute stays what it was: perhaps a launch that fails. So
 * these come last. */
static bool print_other_clusters(struct graft *g, struct err *err)
{
    for (size_t i = 0; i < MS && g->first; i++) {
        const struct product *p = &g->products[i];
        struct answer set = { "" };
        double us = 0;
        if (p->grabbed.n != 1 || !only_kernels(&p->grabbed) || same_cluster(p, g->first))
            continue;
        if (!try_set(g, p, &us, &set, err))
            return false;
        printf("- M = %u, of another cluster, set into the graph of M = %u: %s\n", (unsigned)p->m,
               (unsigned)g->first->m, set.text);
    }
    return true;
}

static bool measure(struct graft *g, uint32_t m, struct product *p, struct err *err)
{
    if (!graft_make_product(g, m, p, err) || !graft_run_directly(g, p, err))
        return false;
    double begin = clock_us();
    bool ok = graft_grab(g, p, 0, &p->grabbed, err);
    p->capture_us = clock_us() - begin;
    return ok && print_product(g, p, err);
}

/* ---- A kind of product ---- */

static void release_kind(struct graft *g)
{
    uint64_t taken[] = { g->a, g->b, g->c };
    for (size_t i = 0; i < MS; i++)
        graft_release_product(g, &g->products[i]);
    for (size_t i = 0; i < 3; i++)
        if (taken[i])
            cuda_give_back(g->lab->cuda, taken[i]);
    if (g->first_exec)
        g->lab->graphs.exec_destroy(g->first_exec);
    if (g->first_graph)
        g->lab->graphs.graph_destroy(g->first_graph);
    free(g->got);
    g->a = g->b = g->c = 0;
    g->got = NULL;
    g->first = NULL;
    g->first_exec = NULL;
    g->first_graph = NULL;
    g->first_node = NULL;
}

static bool measure_kind(struct graft *g, const struct kind *kind, struct err *err)
{
    g->kind = kind;
    printf("%s, %u by %u:\n\n"
           "| M | heuristic us | capture us | nodes | function | grid | block | shared | cluster "
           "| as a child | node by node | set into the first | us | nodes of its best choices |\n"
           "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
           kind->name, (unsigned)kind->inner, (unsigned)kind->columns);
    bool ok = graft_take_matrices(g, err);
    for (size_t i = 0; i < MS && ok; i++)
        ok = measure(g, graft_m[i], &g->products[i], err);
    printf("\n");
    ok = ok && print_other_clusters(g, err);
    release_kind(g);
    printf("\n");
    return ok;
}

bool experiment_graft(struct lab *lab, struct err *err)
{
    struct graft g = { .lab = lab };
    const struct graph_table *t = &lab->graphs;
    bool ok = lab_needs(t->capture_begin && t->capture_end && t->nodes && t->node_type &&
                            t->kernel_params && t->add_child && t->add_kernel && t->instantiate &&
                            t->set_params && t->launch,
                        "capturing streams", err) &&
              graft_open_library(&g, err);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && ok; i++)
        ok = measure_kind(&g, &kinds[i], err);
    for (size_t i = 0; i < g.n_names; i++)
        printf("- F%zu: `%.200s`\n", i, g.names[i]);
    if (g.room)
        cuda_give_back(lab->cuda, g.room);
    if (g.preference)
        g.lt.preference_destroy(g.preference);
    if (g.handle)
        g.lt.destroy(g.handle);
    return ok;
}
