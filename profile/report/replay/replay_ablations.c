#include "profile/report/replay/replay_ablations.h"

#include "profile/model/dispatch_times.h"
#include "profile/model/format.h"
#include "profile/report/fields.h"
#include "profile/report/replay/replay_estimate.h"

GETTER(get_valid, struct ablation_run, datum_bool(!row->changed))
GETTER(get_pytorch, struct ablation_run, row->timed ? datum_integer(row->pytorch_ns) : datum_null())
GETTER(get_saved, struct ablation_run, row->timed ? datum_integer(row->saved_ns) : datum_null())
GETTER(get_low, struct ablation_run, row->timed ? datum_integer(row->saved_low_ns) : datum_null())
GETTER(get_high, struct ablation_run, row->timed ? datum_integer(row->saved_high_ns) : datum_null())
GETTER(get_interaction, struct ablation_run,
       row->combined ? datum_integer(row->interaction) : datum_absent())
GETTER(get_interaction_ns, struct ablation_run,
       row->combined && row->timed ? datum_integer(row->interaction_ns) : datum_absent())

static const char *minus(int64_t n)
{
    return n < 0 ? "-" : n > 0 ? "+" : "";
}

static uint64_t magnitude(int64_t n)
{
    return n < 0 ? (uint64_t)-n : (uint64_t)n;
}

static void put_ns(int64_t ns, struct buf *out)
{
    buf_puts(out, ns < 0 ? "-" : "");
    format_ns(out, (int64_t)magnitude(ns));
}

static void cell_saved(const void *context, const void *at, struct buf *out)
{
    const struct ablation_run *run = at;
    (void)context;
    if (run->timed)
        put_ns(run->saved_ns, out);
}

static void cell_between(const void *context, const void *at, struct buf *out)
{
    const struct ablation_run *run = at;
    (void)context;
    if (!run->timed || (!run->saved_low_ns && !run->saved_high_ns))
        return;
    put_ns(run->saved_low_ns, out);
    buf_puts(out, " to ");
    put_ns(run->saved_high_ns, out);
}

static void cell_interaction(const void *context, const void *at, struct buf *out)
{
    const struct ablation_run *run = at;
    (void)context;
    if (!run->combined)
        return;
    buf_puts(out, minus(run->interaction));
    format_count(out, magnitude(run->interaction));
}

/* Writes "changed": the first call whose result has another meta. */
static void json_changed(const void *context, const void *at, struct json_writer *w,
                         const char *key)
{
    const struct ablation_report *report = context;
    const struct ablation_run *run = at;
    if (!run->changed)
        return;
    json_open_object(w, key);
    json_put_u64(w, "calls", run->n_changed);
    replay_attempt_json(w, report->trace, &report->list->refs[run->changed->ref]);
    json_put_str(w, "graph", report->list->refs[run->changed->ref].name);
    if (run->changed->graph.n)
        json_put_str(w, "subgraph", run->changed->graph);
    json_put_str(w, "node", run->changed->node);
    json_close(w);
}

static const struct field COUNTS[] = {
    { "calls", MEMBER(struct replay, totals.calls), TEXT(2, "calls", NUMBER, 4) },
    { "match", MEMBER(struct replay, totals.match) },
    { "mismatch", MEMBER(struct replay, totals.mismatch) },
    { "refused", MEMBER(struct replay, totals.refused) },
    { "unsupported", MEMBER(struct replay, totals.unsupported) },
    { "symbols", MEMBER(struct replay, costs.symbols) },
    { "guards", MEMBER(struct replay, costs.guards) },
    { "replacements", MEMBER(struct replay, costs.replacements) },
    { "asserts", MEMBER(struct replay, costs.asserts) },
    { "dispatches", MEMBER(struct replay, costs.dispatches), TEXT(3, "FakeTensorMode", NUMBER, 0) },
    { "fake_tensor", MEMBER(struct replay, costs.fake_tensor), TEXT(4, "FakeTensor", NUMBER, 3) },
    { "proxy", MEMBER(struct replay, costs.proxy), TEXT(5, "proxy", NUMBER, 5) },
    { "fast_attempts", MEMBER(struct replay, costs.fast_attempts),
      TEXT(6, "attempt fast", NUMBER, 6) },
    { "fast_answers", MEMBER(struct replay, costs.fast_answers), TEXT(7, "fast", NUMBER, 7) },
    { "cache_hits", MEMBER(struct replay, costs.hits), TEXT(8, "cache hits", NUMBER, 2) },
    { "cache_misses", MEMBER(struct replay, costs.misses), TEXT(9, "misses", NUMBER, 1) },
    { "evaluations", MEMBER(struct replay, costs.evaluations) },
    { "exprs", MEMBER(struct replay, costs.exprs) },
    { "symbolic_tensors", MEMBER(struct replay, costs.symbolic_tensors) },
    { "ns", MEMBER(struct replay, costs.ns) },
};
static const struct fields COUNTS_FIELDS = FIELDS_OF(COUNTS);

static const struct field RUN[] = {
    { "name", MEMBER(struct ablation_run, name), TEXT(1, "ablation", WORD, 0) },
    { "valid", .get = get_valid },
    { "changed", .json = json_changed },
    { NULL, BEHIND(COUNTS_FIELDS, struct ablation_run, replay) },
    { "pytorch_ns", .get = get_pytorch, TEXT(10, "PyTorch's time", NS, 0) },
    { "saved_ns", .get = get_saved, .cell = cell_saved, TEXT(11, "saved", NS, 0) },
    { "saved_low_ns", .get = get_low, .cell = cell_between, TEXT(12, "between", NS, 8) },
    { "saved_high_ns", .get = get_high },
    { "interaction", .get = get_interaction, .cell = cell_interaction,
      TEXT(13, "interaction", NUMBER, 0) },
    { "interaction_ns", .get = get_interaction_ns },
};
static const struct fields RUN_FIELDS = FIELDS_OF(RUN);

static bool is_modelled(const struct ablation_report *report)
{
    return report->runs[0].replay->costs.modelled > 0;
}

/* Leaves out the columns that have nothing to say. */
static void arrange(struct text_table *t, const struct ablation_report *report)
{
    unsigned char places[TEXT_COLUMNS] = { 1, 2, 3 };
    unsigned n = 3;
    bool combined = false;
    for (size_t i = 0; i < report->n; i++)
        combined |= report->runs[i].combined;
    for (unsigned char at = 4; at <= 13; at++) {
        bool shown = at <= 5    ? is_modelled(report)
                     : at <= 9  ? true
                     : at <= 12 ? report->runs[0].timed
                                : combined;
        if (shown)
            places[n++] = at;
    }
    text_table_arrange(t, places);
}

static void write_heading(const struct ablation_report *report, struct buf *out)
{
    bool modelled = is_modelled(report);
    buf_puts(out, modelled ? "Dispatches that PyTorch makes while it compiles these graphs, "
                           : "Dispatches of one walk of each graph, which Dynamo did not trace\n");
    if (modelled)
        buf_puts(out, report->release
                          ? "estimated\n"
                          : "those of the baseline as recorded, the others estimated\n");
}

static void write_notes(const struct ablation_report *report, struct buf *out)
{
    const struct replay_report names = { .trace = report->trace, .list = report->list };
    for (size_t i = 1; i < report->n; i++) {
        const struct ablation_run *run = &report->runs[i];
        if (run->changed) {
            buf_printf(out, "%s is invalid: it changes the meta of ", run->name);
            format_plural(out, run->n_changed, "result");
            buf_printf(out, ", first that of %.*s in ", STR_ARG(run->changed->node));
            replay_graph_name(&names, run->changed->ref, out);
            buf_putc(out, '\n');
        } else if (run->same_counts) {
            buf_printf(out, "%s changes no count of these graphs\n", run->name);
        }
    }
    if (report->runs[0].timed && report->release)
        replay_estimate_text(report->release, out);
    else if (report->runs[0].timed) {
        buf_printf(out,
                   "PyTorch's time: in dispatches, measured for the baseline; for an ablation, "
                   "less the counts that it saves times their mean time in this recording. Such "
                   "a sum is %.0f %% of what was measured for the baseline. The first compile of a "
                   "process fills PyTorch's caches of expressions: a later one saves less.\n",
                   report->explained * 100);
        buf_printf(out,
                   "Where %d ablations of %d models were made for real with PyTorch %d.%d, the "
                   "saved time was %.0f %% off in the median\n",
                   TRIED_ABLATIONS, TRIED_MODELS, TRIED_TORCH / 100, TRIED_TORCH % 100,
                   TRIED_OFF_PER_MILLE / 10.0);
    }
    bool timed = true;
    for (size_t i = 0; i < report->n; i++)
        timed &= report->runs[i].timed;
    if (report->runs[0].timed && !timed)
        buf_puts(out, "no-dispatch has a time only in a deep recording, which has what "
                      "no_dispatch() takes\n");
}

void replay_ablations_text(const struct ablation_report *report, const struct report_options *how,
                           struct buf *out)
{
    const struct rows rows = ROWS(report->runs, (uint32_t)report->n);
    struct text_table t;
    text_table_init(&t, &RUN_FIELDS, 0);
    arrange(&t, report);
    text_table_rows(&t, report, &rows, 0);
    write_heading(report, out);
    report_table(&t.table, how, 0, 0, out);
    write_notes(report, out);
}

/* Writes "tried": how far the estimate was off where ablations were made for real. */
static void json_tried(struct json_writer *w)
{
    json_open_object(w, "tried");
    json_put_u64(w, "release", TRIED_TORCH);
    json_put_u64(w, "models", TRIED_MODELS);
    json_put_u64(w, "ablations", TRIED_ABLATIONS);
    json_put_double(w, "saved_error", TRIED_OFF_PER_MILLE / 1000.0);
    json_close(w);
}

void replay_ablations_json(const struct ablation_report *report, struct buf *out)
{
    const struct rows rows = ROWS(report->runs, (uint32_t)report->n);
    struct json_writer w = json_writer_of(out);
    json_open_object(&w, NULL);
    json_put_str(&w, "schema", STR("symtape.replay/1"));
    json_put_bool(&w, "modelled", is_modelled(report));
    if (report->runs[0].timed)
        json_put_cstr(&w, "basis", report->release ? "estimated" : "measured");
    if (report->runs[0].timed && !report->release)
        json_tried(&w);
    fields_json_rows(&w, "runs", &RUN_FIELDS, report, &rows, 0);
    json_close(&w);
    buf_putc(out, '\n');
}
