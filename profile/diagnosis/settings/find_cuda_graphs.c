/* Findings: CUDA graphs that were asked for and skipped, or recorded again and again. */
#include "profile/diagnosis/finder.h"
#include "trace/events/incidents/incident_text.h"

enum {
    FEW_RECORDINGS = 2, /* of one graph: its first, and one after the sizes of the inputs settled */
    MOST_GRAPHS_READ = 16,
    LONGEST_QUOTE = 160
};

static const struct skip_reason {
    const char *part, *because;
    enum remedy_kind remedy;
    const char *text;
} REASONS[] = {
#define REASON(part, because, remedy, text) { part, because, REMEDY_##remedy, text },
#include "profile/diagnosis/settings/cuda_graph_reasons.def"
#undef REASON
};

static const struct skip_reason *skip_reason(struct str message)
{
    const struct skip_reason *r = REASONS;
    while (!str_contains(message, str_of(r->part)))
        r++;
    return r;
}

/* Returns the message's first line without "skipping cudagraphs due to " and ". Found from". */
static struct str reason_quote(struct str message)
{
    static const char *const STARTS[] = { "skipping cudagraphs due to ",
                                          "skipping cudagraph due to ",
                                          "disabling cudagraphs due to " };
    struct str line = str_first(message, str_find_char(message, '\n'));
    for (size_t i = 0; i < sizeof STARTS / sizeof *STARTS; i++)
        while (str_starts(line, str_of(STARTS[i])))
            line = str_from(line, strlen(STARTS[i]));
    line = str_trim(str_first(line, str_find(line, STR("Found from"))));
    while (line.n > 0 && line.p[line.n - 1] == '.')
        line.n--;
    return str_first(line, LONGEST_QUOTE);
}

/* Returns the innermost user's frame of the stack that follows "Found from". */
static bool reason_frame(struct str message, struct traceback_frame *ret)
{
    struct str rest = str_from(message, str_find(message, STR("Found from")));
    return traceback_program_frame(str_from(rest, str_find(rest, STR("File \""))), ret);
}

static uint32_t selected_recording(const struct build_input *in, uint32_t record)
{
    return in->recording_of[in->trace->records[record].recording];
}

static void add_skip(struct finder *d, const struct build_input *in, const struct metrics *m)
{
    const struct skip_reason *reason = skip_reason(m->cudagraph_skip_reason);
    const struct profile_where where = { selected_recording(in, m->record),
                                         build_compile(in, m->attempt), m->attempt };
    struct traceback_frame frame = { 0 };
    struct str quote = reason_quote(m->cudagraph_skip_reason);
    bool located = reason_frame(m->cudagraph_skip_reason, &frame);
    struct buf key = BUF_INIT;
    buf_printf(&key, "%.*s %.*s:%u", STR_ARG(quote), STR_ARG(frame.file), (unsigned)frame.line);
    struct finding_build *f =
        key.failed ? NULL : find_add(d, FINDING_CUDA_GRAPHS, &where, buf_str(&key));
    if (key.failed)
        err_nomem(&d->err);
    buf_release(&key);
    if (!find_is_new(f))
        return;
    find_weight_if_alone(d, f);
    find_cause(d, f, "CUDA graphs are skipped, because %s", reason->because);
    if (located)
        find_place(f, frame.file, frame.line, frame.code);
    find_evidence(d, f, "skipping cudagraphs due to %.*s", STR_ARG(quote));
    find_remedy(d, f, reason->remedy, "%s", reason->text);
}

/* ---- Recorded again ---- */

struct cuda_graph_count {
    uint32_t recording, n;
    struct str compile;
    bool backward;
};

struct cuda_graph_counts {
    struct intern keys;
    vec_of(struct cuda_graph_count)
    counts;
};

static bool count_recording(struct cuda_graph_counts *all, uint32_t recording,
                            const struct chromium_event *e)
{
    struct buf key = BUF_INIT;
    buf_printf(&key, "%u %d %.*s", (unsigned)recording, e->backward, STR_ARG(e->compile));
    uint32_t id = key.failed ? INTERN_NONE : intern(&all->keys, buf_str(&key));
    buf_release(&key);
    if (id == INTERN_NONE || (id == all->counts.n &&
                              !vec_push(&all->counts, (struct cuda_graph_count){
                                                          recording, 0, e->compile, e->backward })))
        return false;
    all->counts.v[id].n++;
    return true;
}

/* Returns the time of the recording of CUDA graphs at run time. */
static int64_t cudagraphify_ns(const struct build_input *in, uint32_t recording)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < in->metrics->n; i++) {
        const struct metrics *m = &in->metrics->metrics[i];
        if (selected_recording(in, m->record) == recording &&
            m->values[METRIC_RUNTIME_CUDAGRAPHIFY] > 0)
            build_add_ns(&sum, m->values[METRIC_RUNTIME_CUDAGRAPHIFY]);
    }
    return sum;
}

static void add_recorded_again(struct finder *d, const struct build_input *in,
                               const struct cuda_graph_count *c)
{
    const struct profile_where where = { c->recording, PROFILE_NONE, TRACE_NONE };
    if (c->n <= FEW_RECORDINGS)
        return;
    struct finding_build *f = find_add(d, FINDING_CUDA_GRAPHS, &where, STR(""));
    find_cause(d, f,
               "the %s of compile %.*s was recorded as a CUDA graph %u times: once for each size, "
               "and again when inputs are at other addresses",
               c->backward ? "backward" : "graph", STR_ARG(c->compile), (unsigned)c->n);
    find_evidence(d, f, "recording CUDA graphs took %.3f s of the run time (all compiles)",
                  (double)cudagraphify_ns(in, c->recording) / 1e9);
    find_remedy(d, f, REMEDY_PAD, "pad the inputs to a few sizes");
    find_remedy(d, f, REMEDY_CHANGE_SETTING,
                "torch._inductor.config.triton.cudagraph_skip_dynamic_graphs = True");
}

/* CUDAGraphNode.record: torch/_inductor/cudagraph_trees.py, dynamo_timed_cudagraph(). */
static void find_recorded_again(struct finder *d, const struct build_input *in)
{
    struct cuda_graph_counts all = { 0 };
    bool ok = true;
    for (uint32_t i = 0; ok && i < in->events->n; i++) {
        const struct chromium_event *e = &in->events->events[i];
        uint32_t recording = selected_recording(in, e->record);
        if (recording != PROFILE_NONE && (e->phase == 'B' || e->phase == 'X') &&
            str_is(e->name, "CUDAGraphNode.record"))
            ok = count_recording(&all, recording, e);
    }
    if (!ok)
        err_nomem(&d->err);
    for (size_t i = 0; i < all.counts.n; i++)
        add_recorded_again(d, in, &all.counts.v[i]);
    intern_release(&all.keys);
    vec_release(&all.counts);
}

/* ---- Asked for on the CPU ---- */

/* Returns whether one of the first graphs of a recording names a CUDA device. */
static bool uses_cuda(struct finder *d, const struct build_input *in, uint32_t recording)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < in->graphs->n && n < MOST_GRAPHS_READ; i++) {
        uint32_t record = in->graphs->refs[i].record;
        struct err unreadable = { 0 };
        struct str text = STR("");
        if (selected_recording(in, record) != recording)
            continue;
        n++;
        if (!trace_payload(in->trace, record, &text, &unreadable)) {
            if (unreadable.kind == ERR_ENV && !err_is_set(&d->err))
                d->err = unreadable;
            continue;
        }
        if (str_contains(text, STR("cuda")))
            return true;
    }
    return n == 0;
}

static void find_without_cuda(struct finder *d, uint32_t recording)
{
    const struct build_input *in = find_input(d, recording);
    const struct profile_where where = { recording, PROFILE_NONE, TRACE_NONE };
    if (!find_has_setting(d, recording, "torch._inductor.config", "triton.cudagraphs", "True") ||
        uses_cuda(d, in, recording))
        return;
    struct finding_build *f = find_add(d, FINDING_CUDA_GRAPHS, &where, STR("cpu"));
    if (!find_is_new(f)) {
        if (f)
            f->finding.count = 1;
        return;
    }
    find_weight_if_alone(d, f);
    find_cause(d, f,
               "CUDA graphs were asked for (mode=\"reduce-overhead\"), but no tensor of the "
               "graphs is on a GPU");
    find_remedy(
        d, f, REMEDY_CHANGE_SETTING,
        "leave mode=\"reduce-overhead\" off on the CPU, or move the model and its inputs to "
        "the GPU");
}

void find_cuda_graphs(struct finder *d)
{
    for (uint32_t t = 0; t < d->p->n_traces; t++) {
        const struct build_input *in = &profile_inputs(d->p)[t];
        for (uint32_t i = 0; i < in->metrics->n; i++) {
            const struct metrics *m = &in->metrics->metrics[i];
            if (m->cudagraph_skip_reason.n > 0 && selected_recording(in, m->record) != PROFILE_NONE)
                add_skip(d, in, m);
        }
        find_recorded_again(d, in);
    }
    for (uint32_t i = 0; i < d->p->n_recordings && !err_is_set(&d->err); i++)
        find_without_cuda(d, i);
}
