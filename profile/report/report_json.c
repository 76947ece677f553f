#include "profile/report/report_json.h"
#include "profile/model/headlines.h"
#include "profile/report/incident_json.h"

/* The fields that say which compile a row is about. */
static void put_where(struct json_report *r, uint32_t recording, uint32_t compile)
{
    json_put_str(&r->w, "recording", r->p->recordings[recording].name);
    if (compile == PROFILE_NONE)
        json_put_null(&r->w, "compile");
    else
        json_put_str(&r->w, "compile", r->p->compiles[compile].id);
}

/* Attempt number; null for a record that names no compile. */
static void put_attempt(struct json_report *r, uint32_t recording, uint32_t attempt)
{
    const struct trace *trace = r->p->traces[r->p->recordings[recording].input];
    if (attempt == TRACE_NONE)
        json_put_null(&r->w, "attempt");
    else
        json_put_u64(&r->w, "attempt", trace->attempts[attempt].number);
}

static void put_levels(struct json_report *r, const char *key, const uint64_t *counts)
{
    json_open_object(&r->w, key);
    for (int i = 0; i < GRAPH_KINDS; i++)
        if (counts[i] > 0)
            json_put_u64(&r->w, graph_kind_name((enum graph_kind)i), counts[i]);
    json_close(&r->w);
}

static void put_headline(void *user, struct str text)
{
    struct json_report *r = user;
    json_put_str(&r->w, NULL, text);
}

static void put_summary(struct json_report *r)
{
    json_put_i64(&r->w, "compile_ns", r->p->compile_ns);
    json_put_i64(&r->w, "restarted_ns", r->p->restarted_ns);
    json_open_array(&r->w, "headlines");
    if (!headlines(r->p, put_headline, r))
        r->w.out->failed = true;
    json_close(&r->w);
}

static void put_recordings(struct json_report *r)
{
    json_open_array(&r->w, "recordings");
    for (uint32_t i = 0; i < r->p->n_recordings; i++) {
        const struct profile_recording *row = &r->p->recordings[i];
        json_open_object(&r->w, NULL);
        json_put_str(&r->w, "name", row->name);
        if (row->rank < 0)
            json_put_null(&r->w, "rank");
        else
            json_put_i64(&r->w, "rank", row->rank);
        json_put_bool(&r->w, "slowest", i == r->p->slowest);
        json_put_i64(&r->w, "compile_ns", row->compile_ns);
        json_put_i64(&r->w, "restarted_ns", row->restarted_ns);
        json_put_u64(&r->w, "records", row->n_records);
        json_put_u64(&r->w, "compiles", row->n_compiles);
        json_put_u64(&r->w, "attempts", row->n_attempts);
        json_put_u64(&r->w, "unfinished", row->n_unfinished);
        json_put_u64(&r->w, "graphs", row->n_graphs);
        json_put_u64(&r->w, "guards", row->n_guards);
        json_put_u64(&r->w, "restarts", row->n_restarts);
        json_put_u64(&r->w, "recompiles", row->n_recompiles);
        json_put_u64(&r->w, "breaks", row->n_breaks);
        json_put_u64(&r->w, "failures", row->n_failures);
        json_close(&r->w);
    }
    json_close(&r->w);
}

static void put_differences(struct json_report *r)
{
    json_open_array(&r->w, "differences");
    for (uint32_t i = 0; i < r->p->n_differences; i++) {
        const struct profile_difference *d = &r->p->differences[i];
        json_open_object(&r->w, NULL);
        json_put_str(&r->w, "compile", d->compile);
        json_put_cstr(&r->w, "what", d->what);
        json_open_array(&r->w, "values");
        for (uint32_t k = 0; k < r->p->n_recordings; k++) {
            if (d->values[k] == PROFILE_ABSENT)
                json_put_null(&r->w, NULL);
            else if (strcmp(d->what, "status") == 0)
                json_put_cstr(&r->w, NULL, attempt_status_name((enum attempt_status)d->values[k]));
            else
                json_put_i64(&r->w, NULL, d->values[k]);
        }
        json_close(&r->w);
        json_close(&r->w);
    }
    json_close(&r->w);
}

static void put_compiles(struct json_report *r)
{
    json_open_array(&r->w, "compiles");
    for (uint32_t i = 0; i < r->p->n_compiles; i++) {
        const struct profile_compile *c = &r->p->compiles[i];
        json_open_object(&r->w, NULL);
        json_put_str(&r->w, "recording", r->p->recordings[c->recording].name);
        json_put_str(&r->w, "id", c->id);
        json_put_cstr(&r->w, "status", attempt_status_name(c->status));
        json_put_u64(&r->w, "attempts", c->n_attempts);
        json_put_str(&r->w, "function", c->function);
        json_put_line(&r->w, "line", c->file, c->line, STR(""));
        json_put_i64(&r->w, "ns", c->ns);
        json_put_i64(&r->w, "restarted_ns", c->restarted_ns);
        json_put_u64(&r->w, "records", c->n_records);
        json_put_u64(&r->w, "graphs", c->n_graphs);
        json_put_u64(&r->w, "guards", c->n_guards);
        json_put_u64(&r->w, "symbols", c->n_symbols);
        json_put_u64(&r->w, "specializations", c->n_specializations);
        put_levels(r, "calls", c->calls);
        put_levels(r, "thrown_calls", c->thrown_calls);
        json_close(&r->w);
    }
    json_close(&r->w);
}

/* ---- Phases ---- */

static void put_unfinished(struct json_report *r)
{
    const struct profile_phases *phases = &r->p->phases;
    json_open_array(&r->w, "unfinished");
    for (uint32_t i = 0; i < phases->n_unfinished; i++) {
        const struct phase_span *span = &phases->spans[phases->unfinished[i]];
        json_open_object(&r->w, NULL);
        json_put_str(&r->w, "name", profile_name(r->p, span->name));
        put_where(r, span->recording, span->compile);
        put_attempt(r, span->recording, span->attempt);
        json_put_i64(&r->w, "elapsed_ns", span->end_ns - span->start_ns);
        json_put_bool(&r->w, "open", span->open);
        json_close(&r->w);
    }
    json_close(&r->w);
}

static void put_times(struct json_report *r, uint64_t calls, int64_t inclusive, int64_t exclusive)
{
    json_put_u64(&r->w, "calls", calls);
    json_put_i64(&r->w, "inclusive_ns", inclusive);
    json_put_i64(&r->w, "exclusive_ns", exclusive);
}

static void put_totals(struct json_report *r)
{
    json_open_array(&r->w, "phases");
    for (uint32_t i = 0; i < report_shown(r->options, r->p->phases.n_totals); i++) {
        const struct phase_total *total = &r->p->phases.totals[i];
        struct str name = profile_name(r->p, total->name);
        json_open_object(&r->w, NULL);
        json_put_str(&r->w, "name", name);
        put_times(r, total->calls, total->inclusive_ns, total->exclusive_ns);
        json_put_u64(&r->w, "unfinished", total->unfinished);
        json_put_cstr(&r->w, "part", phase_part_title(phase_part_of(name)));
        json_close(&r->w);
    }
    json_close(&r->w);
}

/* Nodes in a row, parents before children; "parent" is an index into it. */
static void put_tree(struct json_report *r)
{
    json_open_array(&r->w, "phase_tree");
    for (uint32_t i = 0; i < r->p->phases.n_nodes; i++) {
        const struct phase_node *node = &r->p->phases.nodes[i];
        json_open_object(&r->w, NULL);
        json_put_str(&r->w, "name", profile_name(r->p, node->name));
        if (node->parent == PROFILE_NONE)
            json_put_null(&r->w, "parent");
        else
            json_put_u64(&r->w, "parent", node->parent);
        put_times(r, node->calls, node->inclusive_ns, node->exclusive_ns);
        json_put_u64(&r->w, "unfinished", node->unfinished);
        json_close(&r->w);
    }
    json_close(&r->w);
}

static void put_phases_by_compile(struct json_report *r)
{
    json_open_array(&r->w, "phases_by_compile");
    for (uint32_t i = 0; i < r->p->phases.n_by_compile; i++) {
        const struct phase_by_compile *row = &r->p->phases.by_compile[i];
        json_open_object(&r->w, NULL);
        if (row->compile == PROFILE_NONE) {
            json_put_null(&r->w, "recording");
            json_put_null(&r->w, "compile");
        } else {
            put_where(r, r->p->compiles[row->compile].recording, row->compile);
        }
        json_put_str(&r->w, "name", profile_name(r->p, row->name));
        put_times(r, row->calls, row->inclusive_ns, row->exclusive_ns);
        json_close(&r->w);
    }
    json_close(&r->w);
}

static void put_parts(struct json_report *r)
{
    json_open_object(&r->w, "parts");
    for (int i = 0; i < PHASE_PARTS; i++)
        json_put_i64(&r->w, phase_part_title((enum phase_part)i), r->p->phases.part_ns[i]);
    json_close(&r->w);
    json_put_i64(&r->w, "phases_ns", r->p->phases.total_ns);
    json_put_i64(&r->w, "autotuning_ns", r->p->autotuning_ns);
    json_put_u64(&r->w, "stray_ends", r->p->phases.stray_ends);
    json_put_u64(&r->w, "unreadable_events", r->p->phases.unreadable);
}

/* ---- Operators, lines, guards ---- */

static void put_operators(struct json_report *r)
{
    json_open_array(&r->w, "operators");
    for (uint32_t i = 0; i < report_shown(r->options, r->p->operators.n_rows); i++) {
        const struct operator_row *row = &r->p->operators.rows[i];
        json_open_object(&r->w, NULL);
        json_put_cstr(&r->w, "level", graph_kind_name(row->level));
        json_put_str(&r->w, "op", profile_name(r->p, row->op));
        json_put_u64(&r->w, "calls", row->calls);
        json_put_u64(&r->w, "kept", row->kept);
        json_close(&r->w);
    }
    json_close(&r->w);
    json_open_array(&r->w, "levels");
    for (int i = 0; i < GRAPH_KINDS; i++) {
        if (r->p->operators.graphs[i] == 0)
            continue;
        json_open_object(&r->w, NULL);
        json_put_cstr(&r->w, "level", graph_kind_name((enum graph_kind)i));
        json_put_u64(&r->w, "graphs", r->p->operators.graphs[i]);
        json_put_u64(&r->w, "kept_graphs", r->p->operators.kept_graphs[i]);
        json_put_u64(&r->w, "calls", r->p->operators.calls[i]);
        json_put_u64(&r->w, "kept", r->p->operators.kept[i]);
        json_close(&r->w);
    }
    json_close(&r->w);
    json_put_u64(&r->w, "unreadable_graphs", r->p->operators.unreadable);
}

static void put_line_rows(struct json_report *r, const char *key, const struct profile_line *lines,
                          uint32_t n)
{
    json_open_array(&r->w, key);
    for (uint32_t i = 0; i < report_shown(r->options, n); i++) {
        const struct profile_line *line = &lines[i];
        json_open_object(&r->w, NULL);
        json_put_str(&r->w, "file", profile_name(r->p, line->file));
        json_put_u64(&r->w, "line", line->line);
        json_put_str(&r->w, "function", line->function);
        json_put_str(&r->w, "code", line->code);
        json_put_u64(&r->w, "nodes", profile_line_nodes(line));
        put_levels(r, "nodes_by_level", line->nodes);
        put_levels(r, "kept_nodes_by_level", line->kept_nodes);
        json_put_u64(&r->w, "guards", line->guards);
        json_put_u64(&r->w, "kept_guards", line->kept_guards);
        json_put_u64(&r->w, "symbols", line->symbols);
        json_put_u64(&r->w, "specializations", line->specializations);
        json_put_i64(&r->w, "estimated_ns", line->estimated_ns);
        json_put_i64(&r->w, "kept_estimated_ns", line->kept_estimated_ns);
        json_put_line_cost(r, &line->cost);
        json_close(&r->w);
    }
    json_close(&r->w);
}

static void put_lines(struct json_report *r)
{
    const struct profile_lines *lines = &r->p->lines;
    put_line_rows(r, "lines", lines->lines, lines->n_lines);
    put_line_rows(r, "library_lines", lines->library_lines, lines->n_library_lines);
    json_put_i64(&r->w, "estimated_ns", lines->estimated_ns);
    json_put_i64(&r->w, "unattributed_ns", lines->unattributed_ns);
}

static void put_guard_rows(struct json_report *r, const char *key, enum guard_kind kind)
{
    json_open_array(&r->w, key);
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->p->guards.n_rows; i++) {
        const struct guard_row *row = &r->p->guards.rows[i];
        if (row->kind != kind || (r->options->limit > 0 && n++ >= r->options->limit))
            continue;
        json_open_object(&r->w, NULL);
        json_put_str(&r->w, "expr", row->expr);
        json_put_cstr(&r->w, "class", guard_class_name(row->asked_by));
        json_put_u64(&r->w, "count", row->count);
        json_put_u64(&r->w, "kept", row->kept);
        json_put_line(&r->w, "line", profile_name(r->p, row->file), row->line, row->code);
        json_close(&r->w);
    }
    json_close(&r->w);
}

static void put_guard_counts(struct json_report *r)
{
    const struct profile_guards *guards = &r->p->guards;
    json_open_object(&r->w, "guard_counts");
    json_put_u64(&r->w, "guards", guards->by_kind[GUARD_EVAL]);
    json_put_u64(&r->w, "suppressed", guards->by_kind[GUARD_SUPPRESSED]);
    json_put_u64(&r->w, "runtime_asserts", guards->by_kind[GUARD_RUNTIME_ASSERT]);
    json_put_u64(&r->w, "kept", guards->kept);
    json_put_u64(&r->w, "duplicates", guards->duplicates);
    json_put_u64(&r->w, "longest", guards->longest);
    json_open_object(&r->w, "by_class");
    for (int i = 0; i < GUARD_CLASSES; i++)
        json_put_u64(&r->w, guard_class_name((enum guard_class)i), guards->by_class[i]);
    json_close(&r->w);
    json_close(&r->w);
}

static void put_guards(struct json_report *r)
{
    const struct profile_guards *guards = &r->p->guards;
    put_guard_rows(r, "guards", GUARD_EVAL);
    put_guard_rows(r, "suppressed_guards", GUARD_SUPPRESSED);
    put_guard_rows(r, "runtime_asserts", GUARD_RUNTIME_ASSERT);
    put_guard_counts(r);
    json_open_array(&r->w, "guard_expressions");
    for (uint32_t i = 0; i < report_shown(r->options, guards->n_exprs); i++) {
        json_open_object(&r->w, NULL);
        json_put_str(&r->w, "expr", guards->exprs[i].expr);
        json_put_u64(&r->w, "count", guards->exprs[i].count);
        json_put_u64(&r->w, "kept", guards->exprs[i].kept);
        json_put_u64(&r->w, "lines", guards->exprs[i].n_lines);
        json_close(&r->w);
    }
    json_close(&r->w);
    json_open_array(&r->w, "guard_symbols");
    for (uint32_t i = 0; i < report_shown(r->options, guards->n_symbols); i++) {
        json_open_object(&r->w, NULL);
        json_put_str(&r->w, "symbol", guards->symbols[i].symbol);
        json_put_u64(&r->w, "guards", guards->symbols[i].guards);
        json_close(&r->w);
    }
    json_close(&r->w);
}

/* ---- Incidents ---- */

static void put_restarts(struct json_report *r)
{
    json_open_array(&r->w, "restarts");
    for (uint32_t i = 0; i < r->p->n_restarts; i++) {
        const struct profile_restart *row = &r->p->restarts[i];
        json_open_object(&r->w, NULL);
        put_where(r, row->recording, row->compile);
        put_attempt(r, row->recording, row->is->attempt);
        json_put_restart(&r->w, row->is);
        json_close(&r->w);
    }
    json_close(&r->w);
}

static void put_recompiles(struct json_report *r)
{
    json_open_array(&r->w, "recompiles");
    for (uint32_t i = 0; i < r->p->n_recompiles; i++) {
        const struct profile_recompile *row = &r->p->recompiles[i];
        json_open_object(&r->w, NULL);
        put_where(r, row->recording, row->compile);
        json_put_recompile(&r->w, row->is);
        json_close(&r->w);
    }
    json_close(&r->w);
}

static void put_breaks(struct json_report *r)
{
    json_open_array(&r->w, "breaks");
    for (uint32_t i = 0; i < r->p->n_breaks; i++) {
        const struct profile_break *row = &r->p->breaks[i];
        const struct trace *trace = r->p->traces[r->p->recordings[row->recording].input];
        json_open_object(&r->w, NULL);
        put_where(r, row->recording, row->compile);
        put_attempt(r, row->recording, row->is->attempt);
        json_put_break(&r->w, trace, row->is);
        json_put_i64(&r->w, "caused_ns", row->caused_ns);
        json_close(&r->w);
    }
    json_close(&r->w);
}

static void put_failures(struct json_report *r)
{
    json_open_array(&r->w, "failures");
    for (uint32_t i = 0; i < r->p->n_failures; i++) {
        const struct profile_failure *row = &r->p->failures[i];
        json_open_object(&r->w, NULL);
        put_where(r, row->recording, row->compile);
        put_attempt(r, row->recording, row->is->attempt);
        json_put_failure(&r->w, row->is);
        json_close(&r->w);
    }
    json_close(&r->w);
}

static void put_caches(struct json_report *r)
{
    json_open_array(&r->w, "caches");
    for (uint32_t i = 0; i < r->p->n_caches; i++) {
        const struct profile_cache *row = &r->p->caches[i];
        json_open_object(&r->w, NULL);
        put_where(r, row->recording, row->compile);
        put_attempt(r, row->recording, row->is->attempt);
        json_put_cache(&r->w, row->is);
        json_close(&r->w);
    }
    json_close(&r->w);
}

void report_json(const struct profile *profile, const struct report_options *options,
                 struct buf *out)
{
    static void (*const SECTIONS[])(struct json_report *) = {
        put_summary,    put_recordings, put_differences, put_compiles,
        put_unfinished, put_totals,     put_tree,        put_phases_by_compile,
        put_parts,      put_operators,  put_lines,       put_guards,
        put_restarts,   put_recompiles, put_breaks,      put_failures,
        put_caches,     json_costs,     json_groups,
    };
    struct json_report r = { profile, options, json_writer_of(out) };
    json_open_object(&r.w, NULL);
    json_put_cstr(&r.w, "schema", "symtape.profile/1");
    for (size_t i = 0; i < sizeof SECTIONS / sizeof *SECTIONS; i++)
        SECTIONS[i](&r);
    json_close(&r.w);
    buf_putc(out, '\n');
}
