/* Captures: the calls of a run as one CUDA graph, which a single call of the driver launches, or
 * as several between which something runs that cannot be captured: a collective of NCCL
 * (cuda_capture_cut()).
 *
 * The stream is captured (cuStreamBeginCapture), so that kernels, fills and what cuBLASLt and cuDNN
 * launch become nodes with the arguments of their launches. Their addresses are part of them:
 * memory that is allocated during a capture therefore comes from a pool of the captured unit's own,
 * which exists as long as the unit, and nothing else can use it. Its chunks are blocks of the
 * backend's pool, so that the units of other sizes use them later. The error words of its kernels
 * are the first ones; their nodes are stored, for each launch of the unit writes the words again.
 * The buffer of uploads is stored, too, since copies to the device read it at each launch.
 *
 * The capture is relaxed: chunks of memory may be allocated meanwhile. A captured stream cannot be
 * waited for, so that reading a value ends a capture (cuda_may_wait()). */
#include <stdlib.h>
#include <string.h>

#include "replay/backend/cuda/runtime/cuda.h"

/* A graph, and what follows its launch. */
struct captured_part {
    struct cuda_executable executable; /* .exec NULL: the graph has no nodes */
    cuda_between_fn *run;              /* NULL: it is the last part */
    void *data;
};

struct captured {
    struct captured *next;
    vec_of(struct captured_part)
    parts;
    bool closed; /* its context is closed */
    struct memory_pool pool;
    char *uploads;  /* page-locked; NULL: nothing is copied to the device */
    uint32_t words; /* how many error words its kernels use */
    uint32_t *nodes;
    const char **what;
    uint32_t last_node; /* of its last launch */
    const char *last_what;
    struct err broken; /* the reason why the capture failed */
};

bool cuda_may_wait(struct cuda *cuda, const char *reason, struct err *err)
{
    if (cuda->base.unbuilt)
        return err_set(err, ERR_ENV, "kernels are still to be compiled");
    if (!cuda->capture)
        return true;
    if (!err_is_set(&cuda->capture->broken))
        err_set(&cuda->capture->broken, ERR_ENV, "%s", reason);
    return err_set(err, ERR_ENV, "%s", reason);
}

struct memory_pool *cuda_pool(struct cuda *cuda)
{
    return cuda->capture ? &cuda->capture->pool : &cuda->pool;
}

bool cuda_give_back_captured(struct cuda *cuda, uint64_t address)
{
    for (struct captured *c = cuda->captured; c; c = c->next)
        if (memory_pool_put(&c->pool, address))
            return true;
    return false;
}

/* ---- The end of a unit ---- */

/* Frees what belongs to the context. A launch may be running. */
static void destroy(struct cuda *cuda, struct captured *c)
{
    for (size_t i = 0; i < c->parts.n; i++) {
        if (c->parts.v[i].executable.exec)
            cuda_executable_give_back(cuda, c->parts.v[i].executable);
        free(c->parts.v[i].data);
    }
    vec_release(&c->parts);
    if (c->uploads) {
        cuda_wait_for_stream(cuda);
        cuda->driver.release_host(c->uploads);
    }
    if (c->pool.source.put)
        memory_pool_release(&c->pool);
    c->closed = true;
    c->uploads = NULL;
}

void cuda_captured_close(struct cuda *cuda)
{
    for (struct captured *c = cuda->captured; c; c = c->next)
        destroy(cuda, c);
    cuda_executables_close(cuda);
}

static void unlink_captured(struct cuda *cuda, struct captured *c)
{
    struct captured **at = &cuda->captured;
    while (*at && *at != c)
        at = &(*at)->next;
    if (*at)
        *at = c->next;
}

void cuda_drop_captured(struct backend *backend, struct captured *captured)
{
    struct cuda *cuda = (struct cuda *)backend;
    if (!captured)
        return;
    unlink_captured(cuda, captured);
    destroy(cuda, captured);
    free(captured->nodes);
    free(captured->what);
    free(captured);
}

/* ---- Capturing ---- */

static bool begin_stream_capture(struct cuda *cuda, struct err *err)
{
    return cuda_check(cuda, cuda->driver.capture_begin(cuda->stream, CU_CAPTURE_RELAXED), err,
                      "beginning the capture of a CUDA graph");
}

bool cuda_capture_begin(struct backend *backend, struct err *err)
{
    struct cuda *cuda = (struct cuda *)backend;
    if (!cuda_context_ready(cuda, err) || !cuda_settle(cuda, err))
        return false;
    struct captured *c = calloc(1, sizeof *c);
    if (!c)
        return err_nomem(err);
    if (!begin_stream_capture(cuda, err)) {
        free(c);
        return false;
    }
    cuda_subpool_init(cuda, &c->pool);
    c->next = cuda->captured;
    cuda->captured = cuda->capture = c;
    return true;
}

/* Stores the words that kernels report errors in. The first launch finds them in use already. */
static bool keep_words(struct cuda *cuda, struct captured *c, struct err *err)
{
    const struct cuda_failures *f = &cuda->failures;
    c->words = f->n;
    c->last_node = f->last_node;
    c->last_what = f->last_what;
    c->nodes = malloc(((size_t)f->n + 1) * sizeof *c->nodes);
    c->what = malloc(((size_t)f->n + 1) * sizeof *c->what);
    if (!c->nodes || !c->what)
        return err_nomem(err);
    memcpy(c->nodes, f->nodes, f->n * sizeof *c->nodes);
    memcpy(c->what, f->what, f->n * sizeof *c->what);
    return true;
}

/* Gives the buffer of uploads to the unit that reads it, and the backend another one. */
static bool keep_uploads(struct cuda *cuda, struct captured *c, struct err *err)
{
    struct cuda_upload_buffer used = cuda->staging;
    if (used.at == 0)
        return true;
    if (!cuda_staging_open(cuda, err))
        return false;
    c->uploads = used.p;
    return true;
}

/* Ends the stream's capture in any case, since the stream can be used only then. Pending work is
 * launched before, also that of a capture that failed, whose memory does not outlive it. *ret: NULL
 * if it failed. */
static bool end_stream_capture(struct cuda *cuda, cu_graph *ret, struct err *err)
{
    struct captured *c = cuda->capture;
    struct err ignored = { 0 };
    bool flushed = cuda_flush(cuda, err_is_set(&c->broken) ? &ignored : err);
    cuda_counts_forget(cuda);
    *ret = NULL;
    int rc = cuda->driver.capture_end(cuda->stream, ret);
    cuda->capture = NULL;
    if (err_is_set(&c->broken))
        return err_copy(err, &c->broken);
    return flushed && cuda_check(cuda, rc, err, "capturing a CUDA graph");
}

static bool has_nodes(struct cuda *cuda, cu_graph graph)
{
    size_t n = 0;
    return !cuda->driver.graph_nodes || cuda->driver.graph_nodes(graph, NULL, &n) != CU_OK || n;
}

/* Ends the stream's capture, which becomes a part of the unit. `data` is freed on failure. */
static bool end_part(struct cuda *cuda, struct captured *c, cuda_between_fn *run, void *data,
                     struct err *err)
{
    struct captured_part part = { .run = run, .data = data };
    cu_graph graph;
    bool ok = end_stream_capture(cuda, &graph, err) &&
              (!has_nodes(cuda, graph) || cuda_executable_make(cuda, graph, &part.executable, err));
    if (graph)
        cuda->driver.graph_destroy(graph);
    if (ok && vec_push(&c->parts, part))
        return true;
    if (ok && part.executable.exec)
        cuda_executable_give_back(cuda, part.executable);
    free(data);
    return ok ? err_nomem(err) : false;
}

/* The stream is captured again also after a failure: what is still called must not run. */
bool cuda_capture_cut(struct cuda *cuda, cuda_between_fn *run, void *data, struct err *err)
{
    struct captured *c = cuda->capture;
    struct err why = { 0 };
    bool ok = end_part(cuda, c, run, data, &why);
    cuda->capture = c;
    ok = begin_stream_capture(cuda, ok ? &why : &(struct err){ 0 }) && ok;
    if (!ok && !err_is_set(&c->broken))
        c->broken = why;
    return ok || err_copy(err, &why);
}

/* Returns how many CUDA graphs a launch makes. */
static uint64_t count_executables(const struct captured *c)
{
    uint64_t n = 0;
    for (size_t i = 0; i < c->parts.n; i++)
        n += c->parts.v[i].executable.exec != NULL;
    return n;
}

struct captured *cuda_capture_end(struct backend *backend, struct err *err)
{
    struct cuda *cuda = (struct cuda *)backend;
    struct captured *c = cuda->capture;
    bool ok = end_part(cuda, c, NULL, NULL, err) && keep_words(cuda, c, err) &&
              keep_uploads(cuda, c, err);
    /* a launch restores the words, and no kernel runs that was captured in vain */
    cuda->failures.n = 0;
    cuda->staging.at = 0;
    cuda->base.log.cuts = c->parts.n ? c->parts.n - 1 : 0;
    cuda->base.log.pieces = count_executables(c);
    if (ok)
        return c;
    cuda_drop_captured(backend, c);
    return NULL;
}

/* ---- Launching ---- */

static bool launch_part(struct cuda *cuda, const struct captured_part *part, struct err *err)
{
    return (!part->executable.exec ||
            cuda_check(cuda, cuda->driver.graph_launch(part->executable.exec, cuda->stream), err,
                       "launching a CUDA graph")) &&
           (!part->run || part->run(cuda, part->data, err));
}

bool cuda_launch_captured(struct backend *backend, struct captured *captured, struct err *err)
{
    struct cuda *cuda = (struct cuda *)backend;
    struct cuda_failures *f = &cuda->failures;
    if (!cuda_usable(cuda, err) || !cuda_flush(cuda, err) || !cuda_batch_end(cuda, err) ||
        (f->n && !cuda_settle(cuda, err)))
        return false;
    if (captured->closed)
        return err_set(err, ERR_ENV, "the device was lost, and this CUDA graph with it");
    memcpy(f->nodes, captured->nodes, captured->words * sizeof *f->nodes);
    memcpy(f->what, captured->what, captured->words * sizeof *f->what);
    f->n = captured->words;
    f->last_node = captured->last_node;
    f->last_what = captured->last_what;
    for (size_t i = 0; i < captured->parts.n; i++)
        if (!launch_part(cuda, &captured->parts.v[i], err))
            return false;
    return true;
}
