#include "replay/backend/cuda/libraries/product_nodes.h"

#include <string.h>

enum { MOST_PLACES = 24 };

/* An address in the arguments of a node. */
struct address_place {
    uint32_t node, at, operand;
};

/* Where addresses are in the arguments of functions. */
struct product_layout {
    uint32_t n_nodes, n_places;
    cu_function f[GRABBED_NODES];
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

static bool can_grab(const struct cuda *cuda)
{
    const struct driver *d = &cuda->driver;
    return cuda_batches_on(cuda) && d->graph_nodes && d->node_type && d->kernel_params &&
           d->kernel_attribute && d->function_parameter;
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

static bool is_plain_kernel(struct cuda *cuda, cu_node node)
{
    int type = -1;
    return cuda->driver.node_type(node, &type) == CU_OK && type == CU_NODE_KERNEL &&
           !has_attribute(cuda, node, CU_ATTRIBUTE_CLUSTER) &&
           !has_attribute(cuda, node, CU_ATTRIBUTE_COOPERATIVE);
}

/* Sets where the function's parameters are, which is asked once for each function. The driver tells
 * only by an error that there are no more. */
static bool parameters_of(struct cuda *cuda, struct cuda_node *node)
{
    struct cuda_signature s = { .f = node->f };
    size_t at, bytes;
    size_t i = 0;
    while (i < cuda->signatures.n && cuda->signatures.v[i].f != node->f)
        i++;
    if (i < cuda->signatures.n) {
        s = cuda->signatures.v[i];
    } else {
        while (cuda->driver.function_parameter(node->f, s.n, &at, &bytes) == CU_OK) {
            if (s.n == CUDA_NODE_PARAMETERS || at + bytes > GRABBED_BYTES)
                return false;
            s.at[s.n] = (uint32_t)at;
            s.ends[s.n++] = (uint32_t)(at + bytes);
        }
        if (!vec_push(&cuda->signatures, s))
            return false;
    }
    node->n_parameters = s.n;
    memcpy(node->at, s.at, sizeof node->at);
    node->bytes = s.n ? s.ends[s.n - 1] : 0;
    return s.n > 0;
}

static bool read_node(struct cuda *cuda, cu_node from, struct grabbed_node *ret)
{
    struct cu_kernel_node x = { 0 };
    struct cuda_node *node = &ret->node;
    if (!is_plain_kernel(cuda, from) || cuda->driver.kernel_params(from, &x) != CU_OK ||
        !x.arguments)
        return false;
    if (!x.function && (!cuda->driver.kernel_function ||
                        cuda->driver.kernel_function(&x.function, x.kernel) != CU_OK))
        return false;
    *node = (struct cuda_node){ .f = x.function, .shared = x.shared };
    memcpy(node->grid, x.grid, sizeof node->grid);
    memcpy(node->block, x.block, sizeof node->block);
    if (!parameters_of(cuda, node))
        return false;
    memset(ret->arguments, 0, sizeof ret->arguments);
    for (uint32_t i = 0; i < node->n_parameters; i++) {
        const uint32_t end = i + 1 < node->n_parameters ? node->at[i + 1] : (uint32_t)node->bytes;
        memcpy(ret->arguments + node->at[i], x.arguments[i], end - node->at[i]);
    }
    return true;
}

/* Returns the number of nodes; 0: they are no kernels that can be launched alike. */
static uint32_t read_nodes(struct cuda *cuda, cu_graph graph, struct grabbed_node *ret)
{
    cu_node nodes[GRABBED_NODES];
    size_t n = 0;
    if (cuda->driver.graph_nodes(graph, NULL, &n) != CU_OK || n == 0 || n > GRABBED_NODES ||
        cuda->driver.graph_nodes(graph, nodes, &n) != CU_OK)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (!read_node(cuda, nodes[i], &ret[i]))
            return 0;
    return (uint32_t)n;
}

/* Calls `run`, which launches work of cuBLASLt on the stream, without running that work, and
 * returns how many kernels it launches, in order. 0: it failed, or it is no such kernels. */
static uint32_t grab_nodes(struct cuda *cuda, bool (*run)(void *user), void *user,
                           struct grabbed_node ret[GRABBED_NODES])
{
    cu_graph graph = NULL;
    if (cuda->driver.capture_begin(cuda->stream, CU_CAPTURE_RELAXED) != CU_OK)
        return 0;
    const bool ran = run(user);
    if (cuda->driver.capture_end(cuda->stream, &graph) != CU_OK || !graph)
        return 0;
    const uint32_t n = ran ? read_nodes(cuda, graph, ret) : 0;
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
static bool find_places(const struct grabbed_node *nodes, uint32_t n,
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
                                        const struct grabbed_node *nodes, uint32_t n,
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
                              const struct product_operands *operands, struct grabbed_node *ret)
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

static bool are_same_nodes(const struct grabbed_node *x, const struct grabbed_node *y, uint32_t n)
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
                  const struct grabbed_node *captured, uint32_t n)
{
    struct grabbed_node moved[GRABBED_NODES];
    if (!plan->layout || plan->layout->refused || !is_alike(plan, operands))
        return;
    replace_addresses(plan, operands, moved);
    if (n == plan->n && are_same_nodes(moved, captured, n))
        plan->layout->proved |= changed_operands(&plan->operands, operands);
    else
        plan->layout->refused = true;
}

/* ---- Launches ---- */

static bool add_nodes(struct kernel *k, struct grabbed_node *nodes, uint32_t n)
{
    for (uint32_t i = 0; i < n && !k->failed; i++) {
        nodes[i].node.arguments = nodes[i].arguments;
        cuda_launch_node(k, &nodes[i].node, "cublasLtMatmul");
    }
    return !k->failed;
}

/* Captures the matmul and keeps its nodes for later ones of the plan. */
static bool capture(struct kernel *k, struct product_layouts *layouts, struct product_nodes *plan,
                    const struct product_operands *operands, bool (*run)(void *user), void *user)
{
    struct grabbed_node nodes[GRABBED_NODES];
    const uint32_t n = grab_nodes(cuda_of(k), run, user, nodes);
    if (!plan->nodes)
        plan->nodes = calloc(GRABBED_NODES, sizeof *plan->nodes);
    if (n == 0 || !plan->nodes) {
        plan->refused = true;
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
    return can_grab(cuda_of(k));
}

bool product_nodes_launch(struct kernel *k, struct product_layouts *layouts,
                          struct product_nodes *plan, const struct product_operands *operands,
                          bool (*run)(void *user), void *user)
{
    struct grabbed_node moved[GRABBED_NODES];
    if (plan->refused || !can_grab(cuda_of(k)))
        return false;
    if (!can_replace(plan, operands))
        return capture(k, layouts, plan, operands, run, user) && add_nodes(k, plan->nodes, plan->n);
    if (changed_operands(&plan->operands, operands) == 0)
        return add_nodes(k, plan->nodes, plan->n);
    replace_addresses(plan, operands, moved);
    return add_nodes(k, moved, plan->n);
}
