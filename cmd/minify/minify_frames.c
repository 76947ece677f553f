/* Which of several compiled graphs makes a program fail if none of them does alone, with random
 * inputs: its values may matter. The program is run again with TORCH_COMPILE_OVERRIDE_BACKENDS, by
 * which the backend eager runs some of the frames (GraphBackendRouter of
 * torch/_dynamo/graph_id_filter.py), and the frames are bisected. */
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/minify/minify.h"
#include "minify/remote/job.h"
#include "trace/base/file/scratch.h"

/* Without --timeout, a run may take ten times what the recorded one took, and a minute. */
#define PROGRAM_TIMES 10
#define PROGRAM_LEAST 60.0

#define OVERRIDE "TORCH_COMPILE_OVERRIDE_BACKENDS"

/* The variable names a frame by N of its compile N/A. Each process has a frame of that number, and
 * torch._dynamo.reset() numbers anew. */
struct compiled_frame {
    uint64_t id;
    const char *graph;
    const char *another; /* a graph of another frame of that number; NULL */
};

struct frames {
    struct minify_job *job;
    struct scratch scratch;
    vec_of(struct compiled_frame)
    list; /* by id */
    uint32_t runs;
    double timeout; /* seconds of a run */
    bool unknown;   /* a run did not end */
};

/* Reads the frame of "tape:3/0_0:dynamo_output_graph"; compiled autograd's "!1/3/0" has another. */
static bool read_frame(const char *graph, uint64_t *id)
{
    struct selector selector;
    struct err ignored = { 0 };
    if (!selector_parse(&selector, str_of(graph), &ignored))
        return false;
    return str_to_u64(str_first(selector.compile, str_find_char(selector.compile, '/')), id);
}

static int by_id(const void *a, const void *b)
{
    const struct compiled_frame *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* "0/0.1" is compile 0/0 after torch._dynamo.reset(). */
static struct str after_reset(struct str compile)
{
    return str_from(compile, str_find_char(compile, '.'));
}

static bool is_same_frame(const char *a, const char *b)
{
    struct selector x, y;
    struct err ignored = { 0 };
    return selector_parse(&x, str_of(a), &ignored) && selector_parse(&y, str_of(b), &ignored) &&
           str_eq(x.recording, y.recording) &&
           str_eq(after_reset(x.compile), after_reset(y.compile));
}

/* Attempts of one frame are one: the last one compiled. */
static void merge_frame(struct compiled_frame *frame, const char *graph)
{
    if (!is_same_frame(frame->graph, graph))
        frame->another = frame->graph;
    frame->graph = graph;
}

static bool list_frames(struct frames *f)
{
    uint64_t id;
    for (size_t i = 0; i < f->job->graphs.n; i++) {
        struct compiled_frame frame = { .graph = f->job->graphs.v[i] };
        size_t k = 0;
        if (!read_frame(frame.graph, &id))
            continue;
        frame.id = id;
        while (k < f->list.n && f->list.v[k].id != id)
            k++;
        if (k < f->list.n)
            merge_frame(&f->list.v[k], frame.graph);
        else if (!vec_push(&f->list, frame))
            return false;
    }
    if (f->list.n)
        qsort(f->list.v, f->list.n, sizeof *f->list.v, by_id);
    return true;
}

/* "0,2,3:eager" */
static void put_override(const struct frames *f, size_t first, size_t end, struct buf *out)
{
    for (size_t i = first; i < end; i++)
        buf_printf(out, "%s%" PRIu64, i > first ? "," : "", f->list.v[i].id);
    buf_puts(out, ":eager");
}

/* Runs the program; sets *good if it succeeds with these frames by eager, or f->unknown. */
static bool run_eagerly(struct frames *f, size_t first, size_t end, bool *good, struct err *err)
{
    struct minify_job *own = f->job;
    struct job job = {
        .number = f->runs++, .input = JOB_TEXT, .timeout = f->timeout, .cancel = own->options.stop
    };
    struct buf override = BUF_INIT;
    struct child_end *ended = calloc(1, sizeof *ended);
    put_override(f, first, end, &override);
    for (size_t i = 0; i < own->cmd->n_operands; i++)
        job_add_word(&job, JOB_TEXT, str_of(own->cmd->operands[i]));
    job_add_variable(&job, STR(OVERRIDE), JOB_TEXT, buf_str(&override));
    out_progress(own->cmd->out, "run %u of the program: %s=%.*s", (unsigned)f->runs, OVERRIDE,
                 STR_ARG(buf_str(&override)));
    bool ok = (ended && !override.failed && !job.failed) || err_nomem(err);
    ok = ok && job_run(&job, &f->scratch, ended, err);
    f->unknown = ok && (ended->timed_out || ended->cancelled);
    *good = ok && !f->unknown && ended->status == 0;
    job_release(&job);
    buf_release(&override);
    free(ended);
    return ok;
}

/* Finds the number of first frames that eager must run for the program to succeed. */
static bool bisect_frames(struct frames *f, size_t *ret, struct err *err)
{
    size_t bad = 0, good = f->list.n;
    while (good - bad > 1 && !f->unknown) {
        size_t middle = bad + (good - bad) / 2;
        bool succeeds;
        if (!run_eagerly(f, 0, middle, &succeeds, err))
            return false;
        *(succeeds ? &good : &bad) = middle;
    }
    *ret = good;
    return true;
}

static bool report_frame(struct frames *f, size_t at, struct err *err)
{
    struct out *out = f->job->cmd->out;
    const struct compiled_frame *frame = &f->list.v[at];
    bool alone = f->list.n == 1;
    if (!alone && !run_eagerly(f, at, at + 1, &alone, err))
        return false;
    if (f->unknown)
        return true;
    out_progress_end(out);
    if (frame->another) {
        out_note(out,
                 "%s and %s have the same frame id, since they are of several processes or of "
                 "before and after torch._dynamo.reset(): one of them makes the program fail, and "
                 "which one is not known (%s=%" PRIu64 ":eager)",
                 frame->another, frame->graph, OVERRIDE, frame->id);
        return true;
    }
    f->job->wrong_graph = frame->graph;
    out_note(out, "%s: the program succeeds if eager runs %s; %u runs (%s=%" PRIu64 ":eager)",
             f->job->wrong_graph,
             alone ? "this graph, and all others are compiled"
                   : "this graph and those before it, but not if it runs this one alone",
             (unsigned)f->runs, OVERRIDE, frame->id);
    return true;
}

static bool find_frame(struct frames *f, struct err *err)
{
    struct out *out = f->job->cmd->out;
    bool good;
    size_t n;
    out_note(out,
             "the values of the program may matter: it is run again, with %zu graph%s by "
             "eager in turn (TORCH_COMPILE_OVERRIDE_BACKENDS)",
             f->list.n, f->list.n == 1 ? "" : "s");
    if (!run_eagerly(f, 0, f->list.n, &good, err))
        return false;
    if (f->unknown)
        return true;
    if (!good) {
        out_progress_end(out);
        out_note(out, "the program fails also if eager runs all graphs, or its PyTorch does not "
                      "know TORCH_COMPILE_OVERRIDE_BACKENDS");
        return true;
    }
    return bisect_frames(f, &n, err) && (f->unknown || report_frame(f, n - 1, err));
}

static double limit_of(const struct minify_job *job)
{
    double limit = PROGRAM_TIMES * job->program_seconds;
    return job->options.timeout > 0 ? job->options.timeout
           : limit > PROGRAM_LEAST  ? limit
                                    : PROGRAM_LEAST;
}

bool minify_find_frame(struct minify_job *job, struct err *err)
{
    struct frames f = { .job = job, .scratch = { .fd = -1 }, .timeout = limit_of(job) };
    bool ok = list_frames(&f) || err_nomem(err);
    if (ok && f.list.n)
        ok = scratch_make(&f.scratch, SCRATCH_QUESTIONS, err) && find_frame(&f, err);
    out_progress_end(job->cmd->out);
    if (ok && f.unknown && !atomic_load(job->options.stop))
        out_note(job->cmd->out,
                 "run %u of the program did not end within %.3g s, and which graph makes it fail "
                 "is not known; --timeout gives it more time",
                 (unsigned)f.runs, f.timeout);
    (void)scratch_remove(&f.scratch);
    vec_release(&f.list);
    return ok;
}
