#include "replay/backend/cuda/libraries/product_nodes.h"

#include <string.h>

#include "replay/backend/cuda/device/fill.h"

enum { MOST_PLACES = 24 };

/* An address in the arguments of a node. */
struct address_place {
    uint32_t node, at, operand;
};

/* Where addresses are in the arguments of functions. */
struct product_layout {
    uint32_t n_nodes, n_places;
    cu_function f[CAPTURED_NODES];
    struct address_place places[MOST_PLACES];
    uint32_t proved; /* bits of the operands whose addresses were replaced in captured arguments */
    bool refused;    /* replacing them gave other arguments than the captured ones */
};

void product_nodes_release(struct product_nodes *plan)
{
    free(plan->nodes);
    *plan = (struct product_nodes){ 0 };
}

void product_layouts_release(struct product_layouts *layouts)
{
    for (size_t i = 0; i < layouts->all.n; i++)
        free(layouts->all.v[i]);
    vec_release(&layouts->all);
}

/* ---- Captured launches ---- */

static bool can_capture(const struct cuda *cuda)
{
    const struct driver *d = &cuda->driver;
    return cuda_batches_on(cuda) && d->graph_nodes && d->graph_edges && d->node_type &&
           d->kernel_params && d->kernel_attribute && d->function_parameter;
}

static bool has_attribute(struct cuda *cuda, cu_node node, int which)
{
    union cu_attribute value = { { 0 } };
    if (cuda->driver.kernel_attribute(node, which, &value) != CU_OK)
        return true;
    if (which == CU_ATTRIBUTE_CLUSTER)
        return value.cluster[0] > 1 || value.cluster[1] > 1 || value.cluster[2] > 1;
    return value.on != 0;
}

/* Returns the type of a node: -1 if it is not known. */
static int type_of(struct cuda *cuda, cu_node node)
{
    int type = -1;
    return cuda->driver.node_type(node, &type) == CU_OK ? type : -1;
}

static bool can_repeat(struct cuda *cuda, cu_node node)
{
    const int type = type_of(cuda, node);
    return (type == CU_NODE_MEMSET && cuda->driver.memset_params) ||
           (type == CU_NODE_KERNEL && !has_attribute(cuda, node, CU_ATTRIBUTE_CLUSTER) &&
            !has_attribute(cuda, node, CU_ATTRIBUTE_COOPERATIVE));
}

/* Sets where the function's parameters are, which is asked once for each function. The driver tells
 * only by an error that there are no more. */
static bool signature_of(struct cuda *cuda, cu_function f, struct cuda_signature *ret)
{
    struct cuda_signature s = { .f = f };
    size_t at, bytes;
    for (size_t i = 0; i < cuda->signatures.n; i++)
        if (cuda->signatures.v[i].f == f) {
            *ret = cuda->signatures.v[i];
            return ret->n > 0;
        }
    while (cuda->driver.function_parameter(f, s.n, &at, &bytes) == CU_OK) {
        if (s.n == CUDA_NODE_PARAMETERS || at + bytes > CAPTURED_BYTES)
            return false;
        s.at[s.n] = (uint32_t)at;
        s.ends[s.n++] = (uint32_t)(at + bytes);
    }
    *ret = s;
    return vec_push(&cuda->signatures, s) && s.n > 0;
}

/* Copies the arguments. The bytes between parameters are 0: the driver need not have them. */
static bool read_arguments(struct cuda *cuda, void *const *from, struct captured_node *ret)
{
    struct cuda_node *node = &ret->node;
    struct cuda_signature s;
    if (!signature_of(cuda, node->f, &s))
        return false;
    node->n_parameters = s.n;
    memcpy(node->at, s.at, sizeof node->at);
    node->bytes = s.ends[s.n - 1];
    memset(ret->arguments, 0, sizeof ret->arguments);
    for (uint32_t i = 0; i < s.n; i++)
        memcpy(ret->arguments + s.at[i], from[i], s.ends[i] - s.at[i]);
    return true;
}

/* Sets a launch of our kernel that fills the range of a memset. A chain has only kernels: it serves
 * each batch of its length, wherever there is a memset. */
static bool read_memset(struct kernel *k, cu_node from, struct captured_node *ret)
{
    static const char *const defines[] = { NULL, "#define T u8\n", "#define T u16\n", NULL,
                                           "#define T u32\n" };
    struct cuda *cuda = cuda_of(k);
    struct cu_memset_node x = { 0 };
    struct err ignored = { 0 };
    if (cuda->driver.memset_params(from, &x) != CU_OK || x.height != 1 || x.element > 4 ||
        !defines[x.element])
        return false;
    const struct fill_args args = { .to = x.to, .n = (i64)x.width, .value = x.value };
    const struct cuda_function *f =
        cuda_compile_file(cuda, "fill", "fill", defines[x.element], &ignored);
    if (!f || f->arguments != sizeof args)
        return false;
    ret->node = (struct cuda_node){ .f = f->f,
                                    .grid = { cuda_blocks(k, args.n, 256), 1, 1 },
                                    .block = { 256, 1, 1 },
                                    .n_parameters = 1,
                                    .bytes = sizeof args };
    memset(ret->arguments, 0, sizeof ret->arguments);
    memcpy(ret->arguments, &args, sizeof args);
    return true;
}

static bool read_kernel(struct cuda *cuda, cu_node from, struct captured_node *ret)
{
    struct cu_kernel_node x = { 0 };
    struct cuda_node *node = &ret->node;
    if (cuda->driver.kernel_params(from, &x) != CU_OK || !x.arguments)
        return false;
    if (!x.function && (!cuda->driver.kernel_function ||
                        cuda->driver.kernel_function(&x.function, x.kernel) != CU_OK))
        return false;
    *node = (struct cuda_node){ .f = x.function, .shared = x.shared };
    memcpy(node->grid, x.grid, sizeof node->grid);
    memcpy(node->block, x.block, sizeof node->block);
    return read_arguments(cuda, x.arguments, ret);
}

/* The edges of a graph with as many nodes as can be repeated. */
struct graph_edges {
    cu_node from[CAPTURED_NODES], to[CAPTURED_NODES];
    struct cu_edge kinds[CAPTURED_NODES];
    size_t n;
};

/* Follows the edges from path[0]. False: they end before every one was followed. */
static bool follow(const struct graph_edges *edges, cu_node *path)
{
    for (size_t k = 0; k < edges->n; k++) {
        size_t i = 0;
        while (i < edges->n && edges->from[i] != path[k])
            i++;
        if (i == edges->n)
            return false;
        path[k + 1] = edges->to[i];
    }
    return true;
}

/* Sorts the nodes, which the driver gives in any order, by their edges. False: they are not one
 * path. A programmatic edge, on which a kernel may begin before the one before it ends, is one of
 * the path, too: that the later kernel of a batch begins later changes no result. */
static bool sort_nodes(struct cuda *cuda, cu_graph graph, cu_node *nodes, size_t n)
{
    struct graph_edges edges = { .n = 0 };
    cu_node path[CAPTURED_NODES];
    if (n == 1)
        return true;
    if (cuda->driver.graph_edges(graph, NULL, NULL, NULL, &edges.n) != CU_OK || edges.n != n - 1 ||
        cuda->driver.graph_edges(graph, edges.from, edges.to, edges.kinds, &edges.n) != CU_OK)
        return false;
    for (size_t i = 0; i < n; i++) {
        path[0] = nodes[i];
        if (follow(&edges, path)) {
            memcpy(nodes, path, n * sizeof *nodes);
            return true;
        }
    }
    return false;
}

static bool can_repeat_all(struct cuda *cuda, const cu_node *nodes, size_t n)
{
    size_t i = 0;
    while (i < n && can_repeat(cuda, nodes[i]))
        i++;
    return i == n;
}

static bool read_node(struct kernel *k, cu_node from, struct captured_node *ret)
{
    struct cuda *cuda = cuda_of(k);
    return type_of(cuda, from) == CU_NODE_MEMSET ? read_memset(k, from, ret)
                                                 : read_kernel(cuda, from, ret);
}

/* Returns the number of nodes, in order; 0: they cannot be launched alike. Sets *others if they are
 * not a few kernels and memsets in a row that can be repeated. */
static uint32_t read_nodes(struct kernel *k, cu_graph graph, struct captured_node *ret,
                           bool *others)
{
    struct cuda *cuda = cuda_of(k);
    cu_node nodes[CAPTURED_NODES];
    size_t n = 0;
    if (cuda->driver.graph_nodes(graph, NULL, &n) != CU_OK || n == 0)
        return 0;
    *others = n > CAPTURED_NODES;
    if (*others || cuda->driver.graph_nodes(graph, nodes, &n) != CU_OK)
        return 0;
    *others = !sort_nodes(cuda, graph, nodes, n) || !can_repeat_all(cuda, nodes, n);
    if (*others)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (!read_node(k, nodes[i], &ret[i]))
            return 0;
    return (uint32_t)n;
}

/* Calls `run`, which launches work of cuBLASLt on the stream, without running that work, and
 * returns how many nodes it launches, in order. 0: it failed, or read_nodes() refuses them. */
static uint32_t capture_nodes(struct kernel *k, bool (*run)(void *user), void *user,
                              struct captured_node ret[CAPTURED_NODES], bool *others)
{
    struct cuda *cuda = cuda_of(k);
    cu_graph graph = NULL;
    if (cuda->driver.capture_begin(cuda->stream, CU_CAPTURE_RELAXED) != CU_OK)
        return 0;
    const bool ran = run(user);
    if (cuda->driver.capture_end(cuda->stream, &graph) != CU_OK || !graph)
        return 0;
    const uint32_t n = ran ? read_nodes(k, graph, ret, others) : 0;
    cuda->driver.graph_destroy(graph);
    return n;
}

/* ---- Layouts ---- */

/* Returns the operand that the word is an address in, PRODUCT_OPERANDS if there is none, and a
 * larger number if there are several. */
static uint32_t operand_of(const struct product_operands *x, uint64_t word)
{
    const uint64_t workspace = x->address[PRODUCT_WORKSPACE];
    uint32_t found = PRODUCT_OPERANDS;
    for (uint32_t o = 0; o < PRODUCT_WORKSPACE; o++)
        if (word && word == x->address[o])
            found = found == PRODUCT_OPERANDS ? o : PRODUCT_OPERANDS + 1;
    if (found == PRODUCT_OPERANDS && workspace && word >= workspace &&
        word - workspace < x->workspace_bytes)
        found = PRODUCT_WORKSPACE;
    return found;
}

/* False: the addresses cannot be told apart, or there are too many. */
static bool find_places(const struct captured_node *nodes, uint32_t n,
                        const struct product_operands *operands, struct product_layout *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->n_nodes = n;
    for (uint32_t i = 0; i < n; i++) {
        ret->f[i] = nodes[i].node.f;
        for (uint32_t at = 0; at + sizeof(uint64_t) <= nodes[i].node.bytes; at += 8) {
            uint64_t word;
            memcpy(&word, nodes[i].arguments + at, sizeof word);
            const uint32_t operand = operand_of(operands, word);
            if (operand == PRODUCT_OPERANDS)
                continue;
            if (operand > PRODUCT_OPERANDS || ret->n_places == MOST_PLACES)
                return false;
            ret->places[ret->n_places++] = (struct address_place){ i, at, operand };
        }
    }
    return true;
}

static bool is_same_layout(const struct product_layout *x, const struct product_layout *y)
{
    return x->n_nodes == y->n_nodes && x->n_places == y->n_places &&
           memcmp(x->f, y->f, sizeof x->f) == 0 &&
           memcmp(x->places, y->places, sizeof x->places) == 0;
}

/* Returns the known layout that is alike, or adds it; NULL: there is none. */
static struct product_layout *layout_of(struct product_layouts *layouts,
                                        const struct captured_node *nodes, uint32_t n,
                                        const struct product_operands *operands)
{
    struct product_layout found;
    if (!find_places(nodes, n, operands, &found))
        return NULL;
    for (size_t i = 0; i < layouts->all.n; i++)
        if (is_same_layout(layouts->all.v[i], &found))
            return layouts->all.v[i];
    struct product_layout *ret = vec_reserve(&layouts->all, 1) ? malloc(sizeof *ret) : NULL;
    if (!ret)
        return NULL;
    *ret = found;
    return layouts->all.v[layouts->all.n++] = ret;
}

/* ---- Other operands ---- */

/* Returns the bits of the operands with another address. */
static uint32_t changed_operands(const struct product_operands *x, const struct product_operands *y)
{
    uint32_t ret = 0;
    for (uint32_t o = 0; o < PRODUCT_OPERANDS; o++)
        ret |= (uint32_t)(x->address[o] != y->address[o]) << o;
    return ret;
}

/* Copies the plan's nodes with the addresses of other operands. */
static void replace_addresses(const struct product_nodes *plan,
                              const struct product_operands *operands, struct captured_node *ret)
{
    const struct product_layout *layout = plan->layout;
    memcpy(ret, plan->nodes, plan->n * sizeof *ret);
    for (uint32_t i = 0; i < layout->n_places; i++) {
        const struct address_place *p = &layout->places[i];
        uint64_t word;
        memcpy(&word, ret[p->node].arguments + p->at, sizeof word);
        word += operands->address[p->operand] - plan->operands.address[p->operand];
        memcpy(ret[p->node].arguments + p->at, &word, sizeof word);
    }
}

static bool is_alike(const struct product_nodes *plan, const struct product_operands *operands)
{
    return plan->n && plan->operands.alpha == operands->alpha &&
           plan->operands.beta == operands->beta;
}

/* Returns whether the plan's nodes can be launched with these operands. */
static bool can_replace(const struct product_nodes *plan, const struct product_operands *operands)
{
    const uint32_t changed = changed_operands(&plan->operands, operands);
    return is_alike(plan, operands) && (changed == 0 || (plan->layout && !plan->layout->refused &&
                                                         (changed & ~plan->layout->proved) == 0));
}

static bool are_same_nodes(const struct captured_node *x, const struct captured_node *y, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct cuda_node *a = &x[i].node, *b = &y[i].node;
        if (a->f != b->f || memcmp(a->grid, b->grid, sizeof a->grid) != 0 ||
            memcmp(a->block, b->block, sizeof a->block) != 0 || a->shared != b->shared ||
            memcmp(x[i].arguments, y[i].arguments, a->bytes) != 0)
            return false;
    }
    return true;
}

/* Compares what was captured for other operands with the plan's nodes. */
static void prove(struct product_nodes *plan, const struct product_operands *operands,
                  const struct captured_node *captured, uint32_t n)
{
    struct captured_node moved[CAPTURED_NODES];
    if (!plan->layout || plan->layout->refused || !is_alike(plan, operands))
        return;
    replace_addresses(plan, operands, moved);
    if (n == plan->n && are_same_nodes(moved, captured, n))
        plan->layout->proved |= changed_operands(&plan->operands, operands);
    else
        plan->layout->refused = true;
}

/* ---- Launches ---- */

static bool add_nodes(struct kernel *k, struct captured_node *nodes, uint32_t n)
{
    for (uint32_t i = 0; i < n && !k->failed; i++) {
        nodes[i].node.arguments = nodes[i].arguments;
        cuda_launch_node(k, &nodes[i].node, "cublasLtMatmul");
    }
    return !k->failed;
}

/* Returns whether two operands have the same address, so that it does not tell which is meant. */
static bool share_addresses(const struct product_operands *x)
{
    for (uint32_t o = 1; o < PRODUCT_OPERANDS; o++)
        for (uint32_t i = 0; i < o; i++)
            if (x->address[o] && x->address[o] == x->address[i])
                return true;
    return false;
}

/* Captures the matmul and keeps its nodes for later ones of the plan. */
static bool capture(struct kernel *k, struct product_layouts *layouts, struct product_nodes *plan,
                    const struct product_operands *operands, bool (*run)(void *user), void *user)
{
    struct captured_node nodes[CAPTURED_NODES];
    if (share_addresses(operands))
        return false;
    if (!plan->nodes)
        plan->nodes = calloc(CAPTURED_NODES, sizeof *plan->nodes);
    if (!plan->nodes)
        return false;
    const uint32_t n = capture_nodes(k, run, user, nodes, &plan->other_nodes);
    if (n == 0) {
        /* Nothing is captured while a kernel is not compiled, so that what is unbuilt now is the
         * kernel that fills. The calls that are made again have it, and if its compile fails there,
         * nothing is unbuilt. */
        plan->refused = !cuda_of(k)->base.unbuilt;
        return false;
    }
    prove(plan, operands, nodes, n);
    memcpy(plan->nodes, nodes, n * sizeof *nodes);
    plan->n = n;
    plan->operands = *operands;
    plan->layout = layout_of(layouts, nodes, n, operands);
    plan->refused = !plan->layout || plan->layout->refused;
    return true;
}

bool product_nodes_work(const struct kernel *k)
{
    return can_capture(cuda_of(k));
}

bool product_nodes_launch(struct kernel *k, struct product_layouts *layouts,
                          struct product_nodes *plan, const struct product_operands *operands,
                          bool (*run)(void *user), void *user)
{
    struct captured_node moved[CAPTURED_NODES];
    if (plan->refused || !can_capture(cuda_of(k)))
        return false;
    if (!can_replace(plan, operands))
        return capture(k, layouts, plan, operands, run, user) && add_nodes(k, plan->nodes, plan->n);
    if (changed_operands(&plan->operands, operands) == 0)
        return add_nodes(k, plan->nodes, plan->n);
    replace_addresses(plan, operands, moved);
    return add_nodes(k, moved, plan->n);
}
