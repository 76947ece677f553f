#include "profile/report/replay/replay_report.h"

#include "trace/base/text/json_write.h"
#include "trace/events/user_line.h"

void replay_attempt_json(struct json_writer *w, const struct trace *trace,
                         const struct graph_ref *graph)
{
    uint32_t attempt = graph->attempt;
    json_put_str(w, "recording", trace->recordings[trace->records[graph->record].recording].name);
    json_put_str(w, "compile", attempt == TRACE_NONE ? STR("") : trace->attempts[attempt].compile);
    json_put_u64(w, "attempt", attempt == TRACE_NONE ? 0 : trace->attempts[attempt].number);
}

static void write_counts(struct json_writer *w, const struct replay_counts *counts)
{
    json_put_u64(w, "calls", counts->calls);
    json_put_u64(w, "match", counts->match);
    json_put_u64(w, "mismatch", counts->mismatch);
    json_put_u64(w, "refused", counts->refused);
    json_put_u64(w, "unsupported", counts->unsupported);
    json_put_u64(w, "adopted", counts->adopted);
    json_put_u64(w, "ns", counts->ns);
}

static void write_graphs(struct json_writer *w, const struct replay_report *report)
{
    json_open_array(w, "graphs");
    for (size_t i = 0; i < report->replay->n_graphs; i++) {
        const struct replay_graph *graph = &report->replay->graphs[i];
        const struct graph_ref *ref = &report->list->refs[graph->ref];
        json_open_object(w, NULL);
        replay_attempt_json(w, report->trace, ref);
        json_put_str(w, "kind", ref->name);
        json_put_u64(w, "index", ref->index);
        write_counts(w, &graph->counts);
        if (!graph->counted)
            json_put_bool(w, "counted", false);
        if (graph->error.n)
            json_put_str(w, "error", graph->error);
        json_close(w);
    }
    json_close(w);
}

/* The innermost line first, then who called it. */
void replay_stack_json(struct json_writer *w, const char *key, const struct graph *graph,
                       uint32_t location)
{
    json_open_array(w, key);
    for (unsigned depth = 0; graph && location < graph->n_locations && depth < 100; depth++) {
        const struct location *place = &graph->locations[location];
        if (!location_has_place(place))
            break;
        json_open_object(w, NULL);
        json_put_str(w, "file", place->file);
        json_put_u64(w, "line", place->line);
        json_put_str(w, "function", place->function);
        json_put_str(w, "code", place->code);
        json_close(w);
        location = place->caller;
    }
    json_close(w);
}

static void write_differences(struct json_writer *w, const struct replay_report *report)
{
    json_open_array(w, "mismatches");
    for (size_t i = 0; i < report->replay->n_differences; i++) {
        const struct replay_difference *d = &report->replay->differences[i];
        if (d->outcome == OUTCOME_UNSUPPORTED)
            continue;
        json_open_object(w, NULL);
        replay_attempt_json(w, report->trace, &report->list->refs[d->ref]);
        json_put_str(w, "graph", report->list->refs[d->ref].name);
        if (d->graph.n)
            json_put_str(w, "subgraph", d->graph);
        json_put_str(w, "node", d->node);
        json_put_str(w, "op", d->op);
        json_put_str(w, "rule", d->rule);
        json_put_cstr(w, "outcome", outcome_name(d->outcome));
        if (d->derived)
            json_put_bool(w, "derived", true);
        json_put_str(w, "recorded", d->recorded);
        json_put_str(w, "replayed", d->replayed);
        replay_stack_json(w, "stack", d->of, d->location);
        json_close(w);
    }
    json_close(w);
}

static void write_fast(struct json_writer *w, const uint64_t fast[OP_COUNTERS])
{
    json_open_object(w, "fast");
    for (int i = 0; i < OP_COUNTERS; i++) {
        struct str name = str_of(op_counter_name((enum op_counter)i));
        if (fast[i] == 0)
            continue;
        json_put_key(w, str_is(name, "attempt fast")     ? STR("attempt")
                        : str_starts(name, STR("fast ")) ? str_from(name, 5)
                                                         : name);
        json_put_u64(w, NULL, fast[i]);
    }
    json_close(w);
}

static void write_cache(struct json_writer *w, const struct op_stats *stats)
{
    json_open_object(w, "cache");
    json_put_u64(w, "hit", stats->hits);
    json_put_u64(w, "miss", stats->misses);
    json_open_object(w, "bypass");
    for (int i = 0; i < OP_BYPASSES; i++)
        if (stats->bypasses[i]) {
            json_put_key(w, str_of(op_bypass_reason((enum op_bypass)i)));
            json_put_u64(w, NULL, stats->bypasses[i]);
        }
    json_close(w);
    json_close(w);
}

void replay_counters_json(struct json_writer *w, const struct op_stats *stats)
{
    unsigned depth = OP_STATS_DEPTHS;
    json_put_u64(w, "calls", stats->calls);
    json_put_u64(w, "dispatches", stats->dispatches);
    while (depth && stats->by_depth[depth - 1] == 0)
        depth--;
    json_open_array(w, "by_depth");
    for (unsigned i = 0; i < depth; i++)
        json_put_u64(w, NULL, stats->by_depth[i]);
    json_close(w);
    write_fast(w, stats->fast);
    write_cache(w, stats);
    json_put_u64(w, "exprs", stats->exprs);
    json_put_u64(w, "evaluations", stats->evaluations);
    json_put_u64(w, "guards", stats->guards);
    json_put_u64(w, "symbolic_tensors", stats->symbolic_tensors);
    json_put_u64(w, "ns", stats->ns);
}

static void write_operator(struct json_writer *w, const struct replay_operator *row)
{
    json_open_object(w, NULL);
    json_put_str(w, "op", row->op);
    replay_counters_json(w, &row->stats);
    json_open_array(w, "stacks");
    for (size_t i = 0; i < row->n_stacks; i++) {
        json_open_object(w, NULL);
        replay_stack_json(w, "stack", row->stacks[i].of, row->stacks[i].location);
        json_put_u64(w, "count", row->stacks[i].calls);
        json_close(w);
    }
    json_close(w);
    json_close(w);
}

static void write_frame(struct json_writer *w, const char *key, const struct trace *trace,
                        uint32_t recording, stack_id stack)
{
    struct frame frame = stack_frame(trace, recording, stack);
    if (!stack)
        return;
    json_open_object(w, key);
    json_put_str(w, "file", frame.file);
    json_put_u64(w, "line", frame.line);
    json_put_str(w, "function", frame.function);
    json_put_str(w, "code", frame.code);
    json_close(w);
}

/* Where the record says that it was asked: in PyTorch, and under which user line. */
static void write_asker(struct json_writer *w, const struct trace *trace, const struct guard *guard)
{
    uint32_t recording = trace->records[guard->record].recording;
    write_frame(w, "asker", trace, recording, guard->asker);
    write_frame(w, "line", trace, recording, user_line(trace, recording, guard->user_stack));
}

static void write_guard_list(struct json_writer *w, const struct replay_report *report)
{
    json_open_array(w, "list");
    for (size_t i = 0; i < report->replay->n_guards; i++) {
        const struct replay_guard *row = &report->replay->guards[i];
        json_open_object(w, NULL);
        if (row->attempt != TRACE_NONE) {
            json_put_str(w, "compile", report->trace->attempts[row->attempt].compile);
            json_put_u64(w, "attempt", report->trace->attempts[row->attempt].number);
        }
        json_put_str(w, "expr", row->expr);
        json_put_cstr(w, "kind", row->guard ? guard_kind_name(row->guard->kind) : "guard");
        json_put_cstr(w, "class", row->guard ? guard_class_name(row->guard->asked_by) : "kernel");
        json_put_cstr(w, "outcome", guard_fate_name(row->fate));
        if (row->ref != TRACE_NONE)
            json_put_str(w, "graph", report->list->refs[row->ref].name);
        if (row->node.n)
            json_put_str(w, "node", row->node);
        if (row->rule.n)
            json_put_str(w, "op", row->rule);
        if (row->guard)
            write_asker(w, report->trace, row->guard);
        json_close(w);
    }
    json_close(w);
}

static void write_guards(struct json_writer *w, const struct replay_report *report)
{
    const struct replay_guard_counts *n = &report->replay->guard_counts;
    json_open_object(w, "guards");
    json_put_u64(w, "recorded", n->recorded);
    json_open_object(w, "kernel");
    json_put_u64(w, "reproduced", n->reproduced);
    json_put_u64(w, "missing", n->missing);
    json_put_u64(w, "extra", n->extra);
    json_put_u64(w, "invisible", n->invisible);
    json_put_u64(w, "no_graph", n->no_graph);
    json_close(w);
    json_put_u64(w, "torch_function", n->torch_function);
    json_put_u64(w, "dynamo", n->dynamo);
    json_put_u64(w, "backend", n->backend);
    json_put_u64(w, "user", n->user);
    json_put_u64(w, "suppressed", n->suppressed);
    json_put_u64(w, "asserts", n->asserts);
    if (report->guards)
        write_guard_list(w, report);
    json_close(w);
}

static void write_pass_operators(struct json_writer *w, const struct replay *replay, enum pass pass)
{
    json_open_array(w, "operators");
    for (size_t i = 0; i < replay->n_pass_operators; i++) {
        const struct pass_operator *row = &replay->pass_operators[i];
        if (row->pass != pass)
            continue;
        json_open_object(w, NULL);
        json_put_str(w, "op", row->op);
        json_put_u64(w, "calls", row->counts.calls);
        json_put_u64(w, "hit", row->counts.hits);
        json_put_u64(w, "miss", row->counts.misses);
        json_put_u64(w, "bypass", row->counts.bypasses);
        json_put_u64(w, "within", row->counts.within);
        json_put_u64(w, "fake_tensor", row->counts.fake_tensor);
        json_put_u64(w, "fast_attempts", row->counts.fast);
        json_close(w);
    }
    json_close(w);
}

static void write_passes(struct json_writer *w, const struct replay *replay)
{
    json_open_array(w, "dispatch_passes");
    for (unsigned i = 0; i < PASSES; i++) {
        const struct pass_counts *p = &replay->passes[i];
        json_open_object(w, NULL);
        json_put_str(w, "pass", str_of(pass_name((enum pass)i)));
        json_put_str(w, "function", str_of(pass_function((enum pass)i)));
        json_put_u64(w, "fake_tensor_mode", p->fake_mode);
        json_put_u64(w, "fake_tensor", p->fake_tensor);
        json_put_u64(w, "proxy", p->proxy);
        write_fast(w, p->fast);
        write_pass_operators(w, replay, (enum pass)i);
        json_close(w);
    }
    json_close(w);
}

static void write_violations(struct json_writer *w, const struct replay_report *report)
{
    const struct replay *replay = report->replay;
    json_open_array(w, "violations");
    for (size_t i = 0; i < replay->n_violations; i++) {
        const struct replay_violation *v = &replay->violations[i];
        json_open_object(w, NULL);
        if (v->attempt != TRACE_NONE) {
            const struct attempt *a = &report->trace->attempts[v->attempt];
            json_put_str(w, "recording", report->trace->recordings[a->recording].name);
            json_put_str(w, "compile", a->compile);
            json_put_u64(w, "attempt", a->number);
        }
        json_put_str(w, "text", v->text);
        json_close(w);
    }
    json_close(w);
}

void replay_json(const struct replay_report *report, struct buf *out)
{
    const struct replay *replay = report->replay;
    struct json_writer w = json_writer_of(out);
    json_open_object(&w, NULL);
    json_put_str(&w, "schema", STR("symtape.replay/1"));
    write_graphs(&w, report);
    json_open_object(&w, "totals");
    json_put_u64(&w, "graphs", replay->totals.graphs);
    write_counts(&w, &replay->totals);
    json_close(&w);
    json_open_object(&w, "unsupported_ops");
    for (size_t i = 0; i < replay->n_unsupported; i++) {
        json_put_key(&w, replay->unsupported[i].op);
        json_put_u64(&w, NULL, replay->unsupported[i].calls);
    }
    json_close(&w);
    write_differences(&w, report);
    write_violations(&w, report);
    json_open_array(&w, "operators");
    for (size_t i = 0; i < replay->n_operators; i++)
        write_operator(&w, &replay->operators[i]);
    json_close(&w);
    write_passes(&w, replay);
    write_guards(&w, report);
    json_close(&w);
    buf_putc(out, '\n');
}
