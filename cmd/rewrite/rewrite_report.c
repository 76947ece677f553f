/* Reports what became of each call with a mask, as text and as JSON. */
#include "cmd/rewrite/rewrite.h"
#include "profile/model/format.h"
#include "trace/events/incidents/incidents.h"

enum { ROWS_DEFAULT = 40 };

static const struct column COLUMNS[] = {
    { "graph", COLUMN_LEFT, 1 },        { "call", COLUMN_LEFT, 0 },
    { "operator", COLUMN_LEFT, 2 },     { "mask", COLUMN_LEFT, 4 },
    { "status", COLUMN_LEFT, 0 },       { "how or why", COLUMN_WIDE, 0 },
    { "size reaches", COLUMN_WIDE, 3 }, { "user line", COLUMN_PATH, 0 },
};

static const struct location *location_of(const struct graph *graph, node_id id)
{
    uint32_t location = graph->nodes[id].location;
    return location == LOCATION_NONE || !location_has_place(&graph->locations[location])
               ? NULL
               : &graph->locations[location];
}

/* ---- Text ---- */

static void put_reach(struct table *table, const struct mask_call *call)
{
    if (!call->symbol.n) {
        table_text(table, STR(""));
        return;
    }
    buf_printf(&table->text, "%.*s: ", STR_ARG(call->symbol));
    format_plural(&table->text, call->calls, "call");
    buf_puts(&table->text, ", ");
    format_plural(&table->text, call->outputs, "output");
    buf_puts(&table->text, ", ");
    format_plural(&table->text, call->guards, "guard");
    table_cell(table);
}

static void put_row(struct rewrite_job *job, const struct rewritten_graph *graph,
                    const struct mask_call *call)
{
    struct table *table = &job->table;
    const struct graph *whole = graph->rewrite->whole->graph;
    const struct location *location = location_of(whole, call->node);
    table_text(table, graph->name);
    table_text(table, whole->nodes[call->node].name);
    table_text(table, call->op);
    table_text(table, call->mask);
    table_text(table, str_of(mask_status_name(call->status)));
    table_text(table, call->why);
    put_reach(table, call);
    if (location)
        table_place(table, location->file, location->line);
    else
        table_text(table, STR(""));
}

static void note_check(struct rewrite_job *job, const struct rewritten_graph *graph)
{
    const struct rewrite_check *check = graph->check;
    if (check->verdict == REWRITE_DIFFERS)
        buf_printf(&job->notes, "%.*s: the results differ: %s\n", STR_ARG(graph->name),
                   check->text);
    else if (check->text[0])
        buf_printf(&job->notes, "%.*s: %s: %s\n", STR_ARG(graph->name),
                   check->verdict == REWRITE_EQUAL ? "compared in part" : "not compared",
                   check->text);
}

static void text_graph(struct rewrite_job *job, const struct rewritten_graph *graph)
{
    uint64_t limit = job->args->limit.given ? job->args->limit.value : ROWS_DEFAULT;
    for (uint32_t i = 0; i < graph->rewrite->n_calls; i++, job->rows++)
        if (!limit || job->rows < limit)
            put_row(job, graph, &graph->rewrite->calls[i]);
    note_check(job, graph);
}

static void text_headline(const struct rewrite_job *job, struct buf *out)
{
    const struct rewrite_totals *t = &job->totals;
    if (!t->calls) {
        buf_printf(out, "no call has a boolean mask in %u graph%s\n", (unsigned)t->graphs,
                   t->graphs == 1 ? "" : "s");
        return;
    }
    buf_printf(out, "%u of %u calls with boolean masks rewritten in %u of %u graphs\n",
               (unsigned)t->rewritten, (unsigned)t->calls, (unsigned)t->changed,
               (unsigned)t->graphs);
    buf_printf(out, "symbols whose values depend on data: %u before, %u after\n",
               (unsigned)t->unbacked_before, (unsigned)t->unbacked_after);
    if (t->checked && !t->differing) {
        buf_printf(out,
                   "results on the CPU: equal in %u graph%s, with masks all true, all false "
                   "and mixed",
                   (unsigned)t->checked, t->checked == 1 ? "" : "s");
        if (t->partly)
            buf_printf(out, "; %u of them ran with some of these only", (unsigned)t->partly);
        buf_putc(out, '\n');
    } else if (t->differing)
        buf_printf(out, "results on the CPU: differ in %u of %u graphs\n", (unsigned)t->differing,
                   (unsigned)t->checked);
}

/* ---- JSON ---- */

static void json_location(struct json_writer *w, const struct location *location)
{
    json_put_str_or_null(w, "file", location ? location->file : STR(""));
    if (location)
        json_put_u64(w, "line", location->line);
    else
        json_put_null(w, "line");
    json_put_str_or_null(w, "function", location ? location->function : STR(""));
    json_put_str_or_null(w, "code", location ? location->code : STR(""));
}

static void json_call(struct json_writer *w, const struct graph *graph,
                      const struct mask_call *call)
{
    json_open_object(w, NULL);
    json_put_str(w, "node", graph->nodes[call->node].name);
    json_put_str(w, "op", call->op);
    json_put_str_or_null(w, "mask", call->mask);
    json_put_cstr(w, "status", mask_status_name(call->status));
    json_put_str(w, "why", call->why);
    json_put_str_or_null(w, "symbol", call->symbol);
    json_open_object(w, "reaches");
    json_put_u64(w, "calls", call->calls);
    json_put_u64(w, "outputs", call->outputs);
    json_put_u64(w, "guards", call->guards);
    json_close(w);
    json_location(w, location_of(graph, call->node));
    json_close(w);
}

static void json_check(struct json_writer *w, const struct rewrite_check *check)
{
    json_open_object(w, "check");
    json_put_cstr(w, "verdict", rewrite_verdict_name(check->verdict));
    json_put_u64(w, "runs", check->runs);
    json_put_u64(w, "tensors", check->tensors);
    json_put_str_or_null(w, "text", str_of(check->text));
    json_close(w);
}

static void json_graph(struct rewrite_job *job, const struct rewritten_graph *graph)
{
    struct json_writer *w = &job->writer;
    const struct rewrite *rewrite = graph->rewrite;
    struct buf place = BUF_INIT;
    buf_printf(&place, "%u/%u_%u", (unsigned)graph->place.frame, (unsigned)graph->place.compile,
               (unsigned)graph->place.attempt);
    json_open_object(w, NULL);
    json_put_str(w, "graph", graph->name);
    json_put_cstr(w, "kind", graph_kind_name(rewrite->whole->kind));
    if (job->args->output)
        json_put_str(w, "new_compile", buf_str(&place));
    else
        json_put_null(w, "new_compile");
    json_put_u64(w, "rewritten", rewrite->n_rewritten);
    json_put_u64(w, "kept", rewrite->n_calls - rewrite->n_rewritten);
    json_put_u64(w, "calls_before", rewrite->calls_before);
    json_put_u64(w, "calls_after", rewrite->calls_after);
    json_put_u64(w, "unbacked_before", rewrite->unbacked_before);
    json_put_u64(w, "unbacked_after", rewrite->unbacked_after);
    json_check(w, graph->check);
    json_open_array(w, "masks");
    for (uint32_t i = 0; i < rewrite->n_calls; i++)
        json_call(w, rewrite->whole->graph, &rewrite->calls[i]);
    json_close(w);
    json_close(w);
    job->json.failed |= place.failed;
    buf_release(&place);
}

/* ---- Graph breaks ---- */

static bool is_selected_break(const struct rewrite_job *job, const struct graph_break *b)
{
    return selector_has_recording(job->tape.trace, &job->tape.selector,
                                  job->tape.trace->records[b->record].recording) &&
           selector_has_attempt(job->tape.trace, &job->tape.selector, b->attempt);
}

/* Settings that put a call into a graph instead of breaking it. */
static const struct break_setting {
    const char *name, *effect;
} settings[] = {
    { "capture_dynamic_output_shape_ops",
      "goes with torch._dynamo.config.capture_dynamic_output_shape_ops = True: the call is then in a "
      "graph, where its mask is rewritten or kept as above" },
    { "capture_scalar_outputs",
      "goes with torch._dynamo.config.capture_scalar_outputs = True, unless the program branches on "
      "the number" },
};

/* Returns the setting that PyTorch's text names; NULL: there is none. */
static const struct break_setting *setting_of(const struct graph_break *b)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        struct str name = str_of(settings[i].name);
        if (str_find(b->hint, name) < b->hint.n || str_find(b->reason, name) < b->reason.n)
            return &settings[i];
    }
    return NULL;
}

static const char *describe_break(const struct graph_break *b)
{
    const struct break_setting *setting = setting_of(b);
    if (setting)
        return setting->effect;
    return str_is(b->summary, "Data-dependent branching")
               ? "remains: the program branches on values of a tensor"
               : "remains: no size that depends on data causes it";
}

static void text_breaks(struct rewrite_job *job, const struct incidents *incidents, struct buf *out)
{
    static const struct column columns[] = { { "graph break", COLUMN_WIDE, 0 },
                                             { "what becomes of it", COLUMN_WIDE, 0 },
                                             { "user line", COLUMN_PATH, 0 } };
    struct table table = TABLE(columns);
    struct table_layout layout = { .width = job->cmd->out->width, .indent = 2 };
    size_t remaining = 0;
    for (uint32_t i = 0; incidents && i < incidents->n_breaks; i++) {
        const struct graph_break *b = &incidents->breaks[i];
        if (!is_selected_break(job, b))
            continue;
        remaining += !setting_of(b);
        table_text(&table, b->summary);
        table_text(&table, str_of(describe_break(b)));
        table_place(&table, b->file, b->line);
    }
    if (table_rows(&table))
        buf_printf(out, "\ngraph breaks: %zu, of which %zu remain%s\n", table_rows(&table),
                   remaining, remaining == 1 ? "s" : "");
    table_print(&table, &layout, out);
    table_release(&table);
}

static void json_breaks(struct rewrite_job *job, const struct incidents *incidents)
{
    struct json_writer *w = &job->writer;
    json_open_array(w, "breaks");
    for (uint32_t i = 0; incidents && i < incidents->n_breaks; i++) {
        const struct graph_break *b = &incidents->breaks[i];
        const struct break_setting *setting = setting_of(b);
        if (!is_selected_break(job, b))
            continue;
        json_open_object(w, NULL);
        json_put_str(w, "summary", b->summary);
        json_put_bool(w, "remains", !setting);
        json_put_cstr(w, "config", setting ? setting->name : NULL);
        json_put_str_or_null(w, "file", b->file);
        json_put_u64(w, "line", b->line);
        json_close(w);
    }
    json_close(w);
}

/* ---- The whole ---- */

void rewrite_report_begin(struct rewrite_job *job)
{
    job->table = (struct table)TABLE(COLUMNS);
    job->writer = json_writer_of(&job->json);
    if (!job->args->json)
        return;
    json_open_object(&job->writer, NULL);
    json_put_cstr(&job->writer, "schema", SCHEMA_REWRITE);
    json_open_array(&job->writer, "graphs");
}

void rewrite_report_graph(struct rewrite_job *job, const struct rewritten_graph *graph)
{
    if (job->args->json)
        json_graph(job, graph);
    else
        text_graph(job, graph);
}

static int end_json(struct rewrite_job *job, const struct incidents *incidents, bool written)
{
    struct json_writer *w = &job->writer;
    const struct rewrite_totals *t = &job->totals;
    json_close(w);
    json_breaks(job, incidents);
    json_put_u64(w, "rewritten", t->rewritten);
    json_put_u64(w, "kept", t->calls - t->rewritten);
    json_put_u64(w, "unbacked_before", t->unbacked_before);
    json_put_u64(w, "unbacked_after", t->unbacked_after);
    json_put_u64(w, "checked", t->checked);
    json_put_u64(w, "differing", t->differing);
    json_put_cstr(w, "output", written ? job->args->output : NULL);
    if (job->list)
        failure_list_json(&job->tape.failures, w);
    json_close(w);
    buf_putc(&job->json, '\n');
    return out_buf(job->cmd->out, &job->json);
}

static int end_text(struct rewrite_job *job, const struct incidents *incidents, bool written)
{
    struct buf out = BUF_INIT;
    size_t shown = table_rows(&job->table);
    struct table_layout layout = { .width = job->cmd->out->width };
    text_headline(job, &out);
    if (shown)
        buf_putc(&out, '\n');
    table_print(&job->table, &layout, &out);
    if (shown < job->rows)
        buf_printf(&out, "... %u more rows; --limit 0 prints all\n", (unsigned)(job->rows - shown));
    if (job->notes.n)
        buf_putc(&out, '\n');
    buf_put(&out, buf_str(&job->notes));
    out.failed |= job->notes.failed;
    text_breaks(job, incidents, &out);
    int code = out_buf(job->cmd->out, &out);
    buf_release(&out);
    if (written)
        out_note(job->cmd->out, "%s: %u graph%s", job->args->output, (unsigned)job->totals.graphs,
                 job->totals.graphs == 1 ? "" : "s");
    else if (job->args->output)
        out_note(job->cmd->out, "%s: not written, since the results differ", job->args->output);
    return code;
}

int rewrite_report_end(struct rewrite_job *job, bool written)
{
    struct err err = { 0 };
    struct incidents *incidents = job->list ? incidents_read_failures(job->tape.trace, &err) : NULL;
    if (job->list && !incidents) {
        err_at(&err, "rewrite");
        return out_error(job->cmd->out, &err);
    }
    int code =
        job->args->json ? end_json(job, incidents, written) : end_text(job, incidents, written);
    incidents_free(incidents);
    return code;
}
