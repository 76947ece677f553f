/* E4: matrix products of cuBLASLt as nodes of a graph of ours: captured on a stream, then added to
 * another graph as a child or node by node, or set into an executable graph of another M. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/backend/cuda/cublaslt_abi.h"
#include "tests/device/lab/lab.h"

enum { NODES_MAX = 8, CHOICES_MAX = 8, NAMES_MAX = 64, ROOM = 32 << 20 };

static const uint32_t all_m[] = { 1, 2, 4, 8, 16, 17, 32, 64, 100, 128, 256, 512, 1000, 2048 };
enum { MS = sizeof all_m / sizeof *all_m };

static const struct kind {
    const char *name;
    int type;
    uint32_t inner, columns;
    size_t element;
} kinds[] = { { "f32", CUBLAS_F32, 768, 768, 4 },
              { "f32", CUBLAS_F32, 768, 3072, 4 },
              { "bf16", CUBLAS_BF16, 4096, 4096, 2 } };

static const struct library_symbol symbols[] = {
#define SYMBOL(needed, member, symbol, parameters) \
    { symbol, offsetof(struct cublaslt_table, member), needed },
#include "replay/backend/cuda/cublaslt.def"
#undef SYMBOL
};

/* A product as it was captured. */
struct grabbed {
    cu_graph graph;
    size_t n;
    cu_node nodes[NODES_MAX];
    int types[NODES_MAX];
    struct kernel_node params[NODES_MAX]; /* point into the graph */
    union node_attribute cluster[NODES_MAX];
};

struct product {
    uint32_t m;
    void *op, *a, *b, *c;
    struct cublaslt_choice choices[CHOICES_MAX];
    int found;
    double heuristic_us, capture_us;
    struct grabbed grabbed;
    void *expected; /* what it gives on a stream */
};

struct graft {
    struct lab *lab;
    struct library library;
    struct cublaslt_table lt;
    void *handle, *preference;
    const struct kind *kind;
    uint64_t a, b, c, room;
    void *got;
    struct product products[MS];
    cu_graph first_graph; /* of one kernel node, that of the first M with one */
    cu_node first_node;
    cu_exec first_exec;
    const struct product *first;
    const char *names[NAMES_MAX]; /* of functions; the driver's */
    size_t n_names;
};

static size_t result_bytes(const struct graft *g, const struct product *p)
{
    return (size_t)p->m * g->kind->columns * g->kind->element;
}

static bool fine(int status, const char *what, struct err *err)
{
    return status == CUBLAS_OK || err_set(err, ERR_ENV, "%s: status %d", what, status);
}

/* ---- Products ---- */

/* c = a b by rows is c = b a by columns. */
static bool make_product(struct graft *g, uint32_t m, struct product *p, struct err *err)
{
    const struct kind *k = g->kind;
    *p = (struct product){ .m = m };
    if (!fine(g->lt.op_create(&p->op, CUBLAS_COMPUTE_F32, CUBLAS_F32), "an operation", err) ||
        !fine(g->lt.layout_create(&p->a, k->type, k->columns, k->inner, k->columns), "a layout",
              err) ||
        !fine(g->lt.layout_create(&p->b, k->type, k->inner, m, k->inner), "a layout", err) ||
        !fine(g->lt.layout_create(&p->c, k->type, k->columns, m, k->columns), "a layout", err))
        return false;
    double begin = cuda_now_us();
    int status = g->lt.heuristic(g->handle, p->op, p->a, p->b, p->c, p->c, g->preference, 1,
                                 p->choices, &p->found);
    p->heuristic_us = cuda_now_us() - begin;
    if (!fine(status, "the heuristic", err))
        return false;
    status = g->lt.heuristic(g->handle, p->op, p->a, p->b, p->c, p->c, g->preference, CHOICES_MAX,
                             p->choices, &p->found);
    return fine(p->found ? status : CUBLAS_NOT_SUPPORTED, "the heuristic", err);
}

static bool multiply(struct graft *g, const struct product *p, int choice, struct err *err)
{
    const float one = 1, zero = 0;
    return fine(g->lt.matmul(g->handle, p->op, &one, (const void *)(uintptr_t)g->b, p->a,
                             (const void *)(uintptr_t)g->a, p->b, &zero,
                             (const void *)(uintptr_t)g->c, p->c, (void *)(uintptr_t)g->c, p->c,
                             &p->choices[choice].algorithm, (void *)(uintptr_t)g->room, ROOM,
                             g->lab->cuda->stream),
                "cublasLtMatmul", err);
}

static bool spoil_result(struct graft *g, const struct product *p, struct err *err)
{
    return lab_check(
        g->lab,
        g->lab->cuda->driver.fill_bytes(g->c, 0xff, result_bytes(g, p), g->lab->cuda->stream),
        "filling", err);
}

static bool read_result(struct graft *g, const struct product *p, void *to, struct err *err)
{
    return cuda_copy_to_host(g->lab->cuda, to, g->c, result_bytes(g, p), err);
}

static bool run_directly(struct graft *g, struct product *p, struct err *err)
{
    p->expected = malloc(result_bytes(g, p));
    if (!p->expected)
        return err_nomem(err);
    return spoil_result(g, p, err) && multiply(g, p, 0, err) && read_result(g, p, p->expected, err);
}

static bool grab(struct graft *g, const struct product *p, int choice, struct grabbed *ret,
                 struct err *err)
{
    struct lab *lab = g->lab;
    *ret = (struct grabbed){ .n = NODES_MAX };
    if (!lab_check(lab, lab->graphs.capture_begin(lab->cuda->stream, CAPTURE_RELAXED),
                   "cuStreamBeginCapture", err))
        return false;
    bool ok = multiply(g, p, choice, err);
    struct err later = { 0 };
    ok &= lab_check(lab, lab->graphs.capture_end(lab->cuda->stream, &ret->graph),
                    "cuStreamEndCapture", ok ? err : &later);
    ok = ok &&
         lab_check(lab, lab->graphs.nodes(ret->graph, ret->nodes, &ret->n), "cuGraphGetNodes", err);
    for (size_t i = 0; ok && i < ret->n; i++) {
        ok = lab_check(lab, lab->graphs.node_type(ret->nodes[i], &ret->types[i]),
                       "cuGraphNodeGetType", err);
        if (!ok || ret->types[i] != NODE_IS_KERNEL)
            continue;
        ok = lab_check(lab, lab->graphs.kernel_params(ret->nodes[i], &ret->params[i]),
                       "cuGraphKernelNodeGetParams", err);
        /* Not there is as good as none. */
        if (ok && lab->graphs.kernel_attribute)
            lab->graphs.kernel_attribute(ret->nodes[i], ATTRIBUTE_CLUSTER, &ret->cluster[i]);
    }
    return ok;
}

/* Named by number; the list comes after the table. */
static size_t number_of(struct graft *g, const struct kernel_node *node)
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
    if (!spoil_result(g, p, err))
        return false;
    int rc = lab->graphs.launch(exec, lab->cuda->stream);
    if (rc != CU_OK) {
        refused(g, "launch", rc, ret);
        return !cuda_is_fatal(rc) || lab_check(lab, rc, "a grafted product", err);
    }
    if (!read_result(g, p, g->got, err))
        return false;
    bool same = memcmp(g->got, p->expected, result_bytes(g, p)) == 0;
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
        if (grabbed->types[i] != NODE_IS_KERNEL)
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
    double begin = cuda_now_us();
    int rc = g->lab->graphs.set_params(g->first_exec, g->first_node, &p->grabbed.params[0]);
    *us = cuda_now_us() - begin;
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
        if (!grab(g, p, i, &one, err))
            return false;
        printf("%s%zu", i ? " " : "", one.n);
        g->lab->graphs.graph_destroy(one.graph);
    }
    return true;
}

static bool print_product(struct graft *g, struct product *p, struct err *err)
{
    struct answer child = { "" }, nodes = { "" }, set = { "" };
    const struct kernel_node *node = &p->grabbed.params[0];
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
    if (!make_product(g, m, p, err) || !run_directly(g, p, err))
        return false;
    double begin = cuda_now_us();
    bool ok = grab(g, p, 0, &p->grabbed, err);
    p->capture_us = cuda_now_us() - begin;
    return ok && print_product(g, p, err);
}

static void release_product(struct graft *g, struct product *p)
{
    void *layouts[] = { p->a, p->b, p->c };
    for (int i = 0; i < 3; i++)
        if (layouts[i])
            g->lt.layout_destroy(layouts[i]);
    if (p->op)
        g->lt.op_destroy(p->op);
    if (p->grabbed.graph)
        g->lab->graphs.graph_destroy(p->grabbed.graph);
    free(p->expected);
    *p = (struct product){ .m = 0 };
}

/* ---- A kind of product ---- */

static bool fill(struct graft *g, uint64_t to, size_t n, struct err *err)
{
    size_t bytes = n * g->kind->element;
    unsigned char *values = malloc(bytes);
    uint32_t state = 1;
    if (!values)
        return err_nomem(err);
    for (size_t i = 0; i < n; i++) {
        state = state * 1664525 + 1013904223;
        float value = (float)(int32_t)state / 2147483648.0f;
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        uint16_t half = (uint16_t)(bits >> 16);
        if (g->kind->element == 4)
            memcpy(values + 4 * i, &bits, 4);
        else
            memcpy(values + 2 * i, &half, 2);
    }
    bool ok = cuda_copy_to_device(g->lab->cuda, to, values, bytes, err) && lab_wait(g->lab, err);
    free(values);
    return ok;
}

static bool take_matrices(struct graft *g, struct err *err)
{
    const struct kind *k = g->kind;
    size_t a = (size_t)all_m[MS - 1] * k->inner, b = (size_t)k->inner * k->columns;
    size_t c = (size_t)all_m[MS - 1] * k->columns * k->element;
    g->got = malloc(c);
    return (g->got || err_nomem(err)) && lab_take(g->lab, a * k->element, &g->a, err) &&
           lab_take(g->lab, b * k->element, &g->b, err) && lab_take(g->lab, c, &g->c, err) &&
           fill(g, g->a, a, err) && fill(g, g->b, b, err);
}

static void release_kind(struct graft *g)
{
    uint64_t taken[] = { g->a, g->b, g->c };
    for (size_t i = 0; i < MS; i++)
        release_product(g, &g->products[i]);
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
    bool ok = take_matrices(g, err);
    for (size_t i = 0; i < MS && ok; i++)
        ok = measure(g, all_m[i], &g->products[i], err);
    printf("\n");
    ok = ok && print_other_clusters(g, err);
    release_kind(g);
    printf("\n");
    return ok;
}

static bool open_library(struct graft *g, struct err *err)
{
    uint64_t room = ROOM;
    return library_open(LIBRARY_CUBLASLT, 0, &g->library, err) &&
           library_load(&g->library, symbols, sizeof symbols / sizeof *symbols, &g->lt, err) &&
           fine(g->lt.create(&g->handle), "cublasLtCreate", err) &&
           fine(g->lt.preference_create(&g->preference), "a preference", err) &&
           fine(g->lt.preference_set(g->preference, PREFERENCE_ROOM, &room, sizeof room),
                "a preference", err) &&
           lab_take(g->lab, ROOM, &g->room, err);
}

bool experiment_graft(struct lab *lab, struct err *err)
{
    struct graft g = { .lab = lab };
    const struct graph_table *t = &lab->graphs;
    bool ok = lab_needs(t->capture_begin && t->capture_end && t->nodes && t->node_type &&
                            t->kernel_params && t->add_child && t->add_kernel && t->instantiate &&
                            t->set_params && t->launch,
                        "capturing streams", err) &&
              open_library(&g, err);
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
