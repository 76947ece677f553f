/* Launches in batches. cuLaunchKernel takes about 4 us of the host on an H200, one after the other.
 * A node of an executable CUDA graph that is launched with other parameters than before takes 0.3
 * to 0.7 us if all have one function and few arguments, and up to 2.9 us with another function and
 * cold caches (`experiments batches`, E11), and one whose parameters stay is not set. So launches
 * of runs call by call are pending until there are CUDA_BATCH of them, or until something else uses
 * the stream or waits for it. A batch is then launched as a chain: an executable graph of as many
 * kernels in a row, whose nodes get the functions, grids and arguments of the batch where they have
 * others (an executable graph does not return what was set, so a copy of that is kept).
 *
 * Making a chain takes 1.3 to 2.2 times as long as its launches one by one. It is therefore made
 * when a batch of its length was needed between two earlier waits. Between two waits, a chain is
 * used once, so that no launch of it is running while its nodes are set.
 *
 * Where a chain cannot be made, set or launched, the launches are made one by one, which reports
 * the error. An error of a launch is late: it contains the node of the graph. */
#include <stdlib.h>
#include <string.h>

#include "replay/backend/cuda/runtime/cuda.h"

/* The first batch after a wait is short, so that the device begins early; each full one is followed
 * by one of twice as many. Launches for which there are no more chains are made one by one. */
enum { FIRST_BATCH = 4, MOST_CHAINS = 128 };

struct chain {
    uint32_t n;
    uint64_t wait, used; /* when it was used last: the number of the wait, and of the batch */
    cu_graph graph;      /* owns the nodes */
    cu_exec exec;
    cu_node nodes[CUDA_BATCH];
    struct cuda_node set[CUDA_BATCH]; /* what the nodes are; their arguments are owned */
};

struct pending_launch {
    struct cuda_node node; /* its arguments are in the arena */
    const char *what;      /* for errors, with the node of the graph that is run */
    uint32_t graph_node;
};

struct cuda_batches {
    struct pending_launch pending[CUDA_BATCH];
    uint32_t n, most; /* that are pending, and how many make it full */
    struct arena arguments;
    struct chain *chains[MOST_CHAINS];
    uint32_t n_chains;
    bool makes_none; /* making a chain failed before */
    uint64_t waits, used;
    /* How often a batch of each length was launched since the last wait, and at most between two
     * waits before. */
    uint32_t now[CUDA_BATCH + 1], before[CUDA_BATCH + 1];
    struct err failed; /* of launches whose caller could not report it */
};

/* With CUDA_LAUNCH_BLOCKING, the error of a kernel is that of the last one launched, which must
 * therefore be launched by itself. */
static bool is_off(void)
{
    const char *batch = getenv("SYMTAPE_CUDA_BATCH"), *blocking = getenv("CUDA_LAUNCH_BLOCKING");
    return (batch && strcmp(batch, "0") == 0) ||
           (blocking && *blocking && strcmp(blocking, "0") != 0);
}

bool cuda_batches_open(struct cuda *cuda, struct err *err)
{
    const struct driver *d = &cuda->driver;
    if (!d->graph_create || !d->add_kernel || !d->set_kernel || !d->function_parameter || is_off())
        return true;
    cuda->batches = calloc(1, sizeof *cuda->batches);
    if (!cuda->batches)
        return err_nomem(err);
    cuda->batches->most = FIRST_BATCH;
    return true;
}

bool cuda_batches_on(const struct cuda *cuda)
{
    return cuda->batches && !cuda->capture && !cuda->base.log.on && !cuda->base.unbuilt;
}

/* ---- Launches one by one ---- */

static void pointers_of(const struct cuda_node *node, void *ret[CUDA_NODE_PARAMETERS])
{
    for (uint32_t i = 0; i < node->n_parameters; i++)
        ret[i] = (char *)(uintptr_t)node->arguments + node->at[i];
}

static bool launch_one(struct cuda *cuda, const struct pending_launch *w, struct err *err)
{
    const struct cuda_node *x = &w->node;
    void *parameters[CUDA_NODE_PARAMETERS];
    pointers_of(x, parameters);
    cuda->failures.last_node = w->graph_node;
    cuda->failures.last_what = w->what;
    int rc = cuda->driver.launch(x->f, x->grid[0], x->grid[1], x->grid[2], x->block[0], x->block[1],
                                 x->block[2], x->shared, cuda->stream, parameters, NULL);
    if (cuda_check(cuda, rc, err, "kernel %s: %u x %u x %u blocks of %u threads", w->what,
                   x->grid[0], x->grid[1], x->grid[2], x->block[0]))
        return true;
    cuda->base.late = true;
    cuda->base.late_node = w->graph_node;
    return false;
}

static bool launch_each(struct cuda *cuda, struct err *err)
{
    const struct cuda_batches *b = cuda->batches;
    for (uint32_t i = 0; i < b->n; i++)
        if (!launch_one(cuda, &b->pending[i], err))
            return false;
    return true;
}

/* ---- Chains ---- */

static void chain_free(struct cuda *cuda, struct chain *chain)
{
    if (chain->exec)
        cuda->driver.exec_destroy(chain->exec);
    if (chain->graph)
        cuda->driver.graph_destroy(chain->graph);
    for (uint32_t i = 0; i < chain->n; i++)
        free((void *)(uintptr_t)chain->set[i].arguments);
    free(chain);
}

static void drop_chain(struct cuda *cuda, struct chain *chain)
{
    struct cuda_batches *b = cuda->batches;
    uint32_t i = 0;
    while (b->chains[i] != chain)
        i++;
    b->chains[i] = b->chains[--b->n_chains];
    chain_free(cuda, chain);
}

static bool is_same(const struct cuda_node *x, const struct cuda_node *y)
{
    return x->f == y->f && memcmp(x->grid, y->grid, sizeof x->grid) == 0 &&
           memcmp(x->block, y->block, sizeof x->block) == 0 && x->shared == y->shared &&
           x->bytes == y->bytes && memcmp(x->arguments, y->arguments, x->bytes) == 0;
}

/* Copies the node to `to`, whose arguments are owned. */
static bool keep_node(struct cuda_node *to, const struct cuda_node *from)
{
    void *copy = (void *)(uintptr_t)to->arguments;
    if (to->bytes < from->bytes || !copy)
        copy = realloc(copy, from->bytes + 1);
    if (!copy)
        return false;
    memcpy(copy, from->arguments, from->bytes);
    *to = *from;
    to->arguments = copy;
    return true;
}

static struct cu_kernel_node parameters_of(const struct cuda_node *x,
                                           void *parameters[CUDA_NODE_PARAMETERS])
{
    struct cu_kernel_node ret = { .function = x->f, .shared = x->shared, .arguments = parameters };
    memcpy(ret.grid, x->grid, sizeof ret.grid);
    memcpy(ret.block, x->block, sizeof ret.block);
    pointers_of(x, parameters);
    return ret;
}

static bool add_node(struct cuda *cuda, struct chain *chain, const struct cuda_node *node)
{
    void *parameters[CUDA_NODE_PARAMETERS];
    const struct cu_kernel_node params = parameters_of(node, parameters);
    const uint32_t i = chain->n;
    if (cuda->driver.add_kernel(&chain->nodes[i], chain->graph, i ? &chain->nodes[i - 1] : NULL,
                                i > 0, &params) != CU_OK ||
        !keep_node(&chain->set[i], node))
        return false;
    chain->n++;
    return true;
}

/* Makes a chain of the pending launches. NULL: it cannot be made, and none is made from now on. */
static struct chain *make_chain(struct cuda *cuda)
{
    struct cuda_batches *b = cuda->batches;
    struct chain *chain = calloc(1, sizeof *chain);
    bool ok = chain && cuda->driver.graph_create(&chain->graph, 0) == CU_OK;
    for (uint32_t i = 0; ok && i < b->n; i++)
        ok = add_node(cuda, chain, &b->pending[i].node);
    if (ok && cuda->driver.graph_instantiate(&chain->exec, chain->graph, 0) == CU_OK)
        return b->chains[b->n_chains++] = chain;
    b->makes_none = true;
    if (chain)
        chain_free(cuda, chain);
    return NULL;
}

/* Sets the nodes to the pending launches. */
static bool set_chain(struct cuda *cuda, struct chain *chain)
{
    const struct cuda_batches *b = cuda->batches;
    for (uint32_t i = 0; i < chain->n; i++) {
        void *parameters[CUDA_NODE_PARAMETERS];
        const struct cuda_node *node = &b->pending[i].node;
        if (is_same(&chain->set[i], node))
            continue;
        const struct cu_kernel_node params = parameters_of(node, parameters);
        if (cuda->driver.set_kernel(chain->exec, chain->nodes[i], &params) != CU_OK ||
            !keep_node(&chain->set[i], node))
            return false;
    }
    return true;
}

/* Returns the chain of that length, or of any if it is 0, that was used first of those that are not
 * in use. */
static struct chain *idle_chain(const struct cuda_batches *b, uint32_t n)
{
    struct chain *ret = NULL;
    for (uint32_t i = 0; i < b->n_chains; i++) {
        struct chain *c = b->chains[i];
        if ((n == 0 || c->n == n) && c->wait != b->waits && (!ret || c->used < ret->used))
            ret = c;
    }
    return ret;
}

/* Returns whether there is place for one more chain; drops the idle one that was used first for it.
 */
static bool make_place(struct cuda *cuda)
{
    const struct cuda_batches *b = cuda->batches;
    if (b->n_chains < MOST_CHAINS)
        return true;
    struct chain *first = idle_chain(b, 0);
    if (first)
        drop_chain(cuda, first);
    return first != NULL;
}

/* Returns a chain that computes the pending launches, or NULL. */
static struct chain *chain_of_batch(struct cuda *cuda)
{
    struct cuda_batches *b = cuda->batches;
    const uint32_t n = b->n;
    const bool recurs = b->now[n]++ < b->before[n];
    if (n < 2 || !recurs)
        return NULL;
    struct chain *chain = idle_chain(b, n);
    if (!chain)
        return !b->makes_none && make_place(cuda) ? make_chain(cuda) : NULL;
    if (set_chain(cuda, chain))
        return chain;
    drop_chain(cuda, chain);
    return NULL;
}

static bool launch_chain(struct cuda *cuda)
{
    struct cuda_batches *b = cuda->batches;
    struct chain *chain = chain_of_batch(cuda);
    if (!chain)
        return false;
    chain->wait = b->waits;
    chain->used = b->used++;
    if (cuda->driver.graph_launch(chain->exec, cuda->stream) == CU_OK) {
        cuda->base.log.batched += b->n;
        return true;
    }
    drop_chain(cuda, chain);
    return false;
}

/* ---- Batches ---- */

static bool launch_pending(struct cuda *cuda, struct err *err)
{
    struct cuda_batches *b = cuda->batches;
    const bool ok = cuda_usable(cuda, err) && (launch_chain(cuda) || launch_each(cuda, err));
    b->n = 0;
    arena_reset(&b->arguments);
    return ok;
}

bool cuda_batch_end(struct cuda *cuda, struct err *err)
{
    struct cuda_batches *b = cuda->batches;
    struct err why = { 0 };
    if (!b || (b->n == 0 && !err_is_set(&b->failed)))
        return true;
    if (b->n && !launch_pending(cuda, &why) && !err_is_set(&b->failed))
        b->failed = why;
    if (!err || !err_is_set(&b->failed))
        return !err_is_set(&b->failed);
    *err = b->failed;
    b->failed = (struct err){ 0 };
    return false;
}

bool cuda_batch_add(struct cuda *cuda, const struct cuda_node *node, const char *what,
                    uint32_t graph_node, struct err *err)
{
    struct cuda_batches *b = cuda->batches;
    void *copy = arena_alloc(&b->arguments, node->bytes + 1, 16);
    if (!copy)
        return err_nomem(err);
    struct pending_launch *w = &b->pending[b->n++];
    memcpy(copy, node->arguments, node->bytes);
    *w = (struct pending_launch){ *node, what, graph_node };
    w->node.arguments = copy;
    if (b->n < b->most)
        return true;
    b->most = b->most * 2 < CUDA_BATCH ? b->most * 2 : CUDA_BATCH;
    return cuda_batch_end(cuda, err);
}

void cuda_batches_waited(struct cuda *cuda)
{
    struct cuda_batches *b = cuda->batches;
    if (!b)
        return;
    for (uint32_t n = 0; n <= CUDA_BATCH; n++) {
        b->before[n] = b->now[n] > b->before[n] ? b->now[n] : b->before[n];
        b->now[n] = 0;
    }
    b->waits++;
    b->most = FIRST_BATCH;
}

void cuda_batches_close(struct cuda *cuda)
{
    struct cuda_batches *b = cuda->batches;
    if (!b)
        return;
    while (b->n_chains)
        drop_chain(cuda, b->chains[b->n_chains - 1]);
    arena_release(&b->arguments);
    free(b);
    cuda->batches = NULL;
}
