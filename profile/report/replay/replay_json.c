#include "profile/report/replay/replay_fields.h"

void replay_attempt_json(struct json_writer *w, const struct trace *trace,
                         const struct graph_ref *graph)
{
    uint32_t attempt = graph->attempt;
    json_put_str(w, "recording", trace->recordings[trace->records[graph->record].recording].name);
    json_put_str(w, "compile", attempt == TRACE_NONE ? STR("") : trace->attempts[attempt].compile);
    json_put_u64(w, "attempt", attempt == TRACE_NONE ? 0 : trace->attempts[attempt].number);
}

/* Writes a stack, the innermost line first. */
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

static void put_json_differences(struct json_writer *w, const struct replay_report *report)
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
        replay_stack_json(w, "stack", d->location_graph, d->location);
        json_close(w);
    }
    json_close(w);
}

static void put_json_guards(struct json_writer *w, const struct replay_report *report)
{
    const struct replay_guard_counts *n = &report->replay->guard_counts;
    const struct rows list = ROWS(report->replay->guards, (uint32_t)report->replay->n_guards);
    json_open_object(w, "guards");
    json_put_u64(w, "recorded", n->recorded);
    json_put_u64(w, "computed", n->computed);
    json_put_u64(w, "from_record", n->recorded - n->computed);
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
        fields_json_rows(w, "list", &replay_guard_fields, report, &list, 0);
    json_close(w);
}

static void write_pass_operators(struct json_writer *w, const struct replay *replay, enum pass pass)
{
    json_open_array(w, "operators");
    for (size_t i = 0; i < replay->n_pass_operators; i++) {
        const struct pass_operator *row = &replay->pass_operators[i];
        if (row->pass != pass || row->counts.calls == 0)
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

static void put_json_passes(struct json_writer *w, const struct replay *replay)
{
    json_open_array(w, "dispatch_passes");
    for (unsigned i = 0; i < PASSES; i++) {
        const struct replay_pass row = { pass_name((enum pass)i), pass_function((enum pass)i),
                                         &replay->passes[i] };
        json_open_object(w, NULL);
        fields_json(&replay_pass_fields, NULL, &row, w);
        write_pass_operators(w, replay, (enum pass)i);
        json_close(w);
    }
    json_close(w);
}

static void put_json_contradictions(struct json_writer *w, const struct replay_report *report)
{
    const struct replay *replay = report->replay;
    json_open_array(w, "contradictions");
    for (size_t i = 0; i < replay->n_contradictions; i++) {
        const struct contradiction *c = &replay->contradictions[i];
        const struct attempt *a = &report->trace->attempts[c->attempt];
        json_open_object(w, NULL);
        json_put_str(w, "recording", report->trace->recordings[a->recording].name);
        json_put_str(w, "compile", a->compile);
        json_put_u64(w, "attempt", a->number);
        json_put_cstr(w, "kind", contradiction_name(c->kind));
        json_put_u64(w, "line", report->trace->records[c->record].line);
        if (c->beside != TRACE_NONE)
            json_put_u64(w, "beside", report->trace->records[c->beside].line);
        if (c->ref != TRACE_NONE)
            json_put_str(w, "graph", report->list->refs[c->ref].name);
        json_put_str(w, "name", c->name);
        json_put_str(w, "recorded", c->recorded);
        json_put_str(w, "expected", c->expected);
        json_close(w);
    }
    json_close(w);
}

static void put_json_violations(struct json_writer *w, const struct replay_report *report)
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
    const struct rows graphs = ROWS(replay->graphs, (uint32_t)replay->n_graphs);
    const struct rows operators = ROWS(replay->operators, (uint32_t)replay->n_operators);
    struct json_writer w = json_writer_of(out);
    json_open_object(&w, NULL);
    json_put_str(&w, "schema", STR("symtape.replay/1"));
    fields_json_rows(&w, "graphs", &replay_graph_fields, report, &graphs, 0);
    json_open_object(&w, "totals");
    json_put_u64(&w, "graphs", replay->totals.graphs);
    fields_json(&replay_counts_fields, report, &replay->totals, &w);
    json_close(&w);
    json_open_object(&w, "unsupported_ops");
    for (size_t i = 0; i < replay->n_unsupported; i++) {
        json_put_key(&w, replay->unsupported[i].op);
        json_put_u64(&w, NULL, replay->unsupported[i].calls);
    }
    json_close(&w);
    failure_list_json(report->failures, &w);
    put_json_differences(&w, report);
    put_json_contradictions(&w, report);
    put_json_violations(&w, report);
    struct rows branches = ROWS(report->replay->branches, (uint32_t)report->replay->n_branches);
    fields_json_rows(&w, "branches", &replay_branch_fields, report, &branches, 0);
    fields_json_rows(&w, "operators", &replay_operator_fields, report, &operators, 0);
    put_json_passes(&w, replay);
    put_json_guards(&w, report);
    json_close(&w);
    buf_putc(out, '\n');
}
