/* Text report: what was done twice or went wrong, and what caches did. */
#include "profile/model/format.h"
#include "profile/report/text_report.h"

static int64_t restart_ns(const struct profile *profile, uint32_t i)
{
    return profile->restarts[i].is->ns;
}

static int64_t recompile_ns(const struct profile *profile, uint32_t i)
{
    return profile->recompiles[i].is->ns;
}

void text_restarts(const struct text_report *r)
{
    static const struct column COLUMNS[] = {
        { "thrown away", COLUMN_RIGHT }, { "compile", COLUMN_LEFT },
        { "attempt", COLUMN_RIGHT },     { "records", COLUMN_RIGHT, 4 },
        { "graphs", COLUMN_RIGHT, 2 },   { "symbols", COLUMN_RIGHT, 3 },
        { "guards", COLUMN_RIGHT, 1 },   { "reason", COLUMN_WIDE },
    };
    if (r->p->n_restarts == 0)
        return;
    text_title(r, "Restarts (attempts that were thrown away)");
    struct table table = TABLE(COLUMNS);
    uint32_t *order = text_slowest_first(r, r->p->n_restarts, restart_ns);
    for (uint32_t i = 0; order && i < text_shown(r, r->p->n_restarts); i++) {
        const struct profile_restart *row = &r->p->restarts[order[i]];
        const struct trace *trace = r->p->traces[r->p->recordings[row->recording].input];
        table_ns(&table, row->is->ns);
        text_compile(r, &table, row->recording, row->compile);
        buf_printf(&table.text, "%u", trace->attempts[row->is->attempt].number);
        table_cell(&table);
        table_count(&table, row->is->n_records);
        table_count(&table, row->is->n_graphs);
        table_count(&table, row->is->n_symbols);
        table_count(&table, row->is->n_guards);
        buf_put(&table.text, row->is->meaning);
        buf_puts(&table.text, row->is->meaning.n > 0 ? ": " : "");
        table_text(&table, row->is->summary);
    }
    free(order);
    text_finish(r, &table, r->p->n_restarts);
}

void text_recompiles(const struct text_report *r)
{
    static const struct column COLUMNS[] = {
        { "time", COLUMN_RIGHT },
        { "compile", COLUMN_LEFT },
        { "guard of", COLUMN_LEFT },
        { "used at", COLUMN_PATH },
        { "guard that failed", COLUMN_WIDE },
    };
    if (r->p->n_recompiles == 0)
        return;
    text_title(r, "Recompiles (a function compiled again because guards failed)");
    struct table table = TABLE(COLUMNS);
    uint32_t *order = text_slowest_first(r, r->p->n_recompiles, recompile_ns);
    for (uint32_t i = 0; order && i < text_shown(r, r->p->n_recompiles); i++) {
        const struct profile_recompile *row = &r->p->recompiles[order[i]];
        struct recompile_reason none = { STR(""), STR(""), STR(""), 0 };
        const struct recompile_reason *reason = row->is->n_reasons ? &row->is->reasons[0] : &none;
        table_ns(&table, row->is->ns);
        text_compile(r, &table, row->recording, row->compile);
        table_text(&table, reason->compile);
        table_place(&table, reason->file, reason->line);
        table_text(&table, reason->guard);
    }
    free(order);
    text_finish(r, &table, r->p->n_recompiles);
}

void text_breaks(const struct text_report *r)
{
    static const struct column COLUMNS[] = {
        { "compile", COLUMN_LEFT },           { "depth", COLUMN_RIGHT, 4 },
        { "more compiles", COLUMN_RIGHT, 2 }, { "graphs", COLUMN_RIGHT, 3 },
        { "their time", COLUMN_RIGHT, 1 },    { "function", COLUMN_LEFT },
        { "user line", COLUMN_PATH },         { "why", COLUMN_WIDE },
    };
    if (r->p->n_breaks == 0)
        return;
    text_title(r, "Graph breaks (depth: calls below the compiled function)");
    struct table table = TABLE(COLUMNS);
    for (uint32_t i = 0; i < text_shown(r, r->p->n_breaks); i++) {
        const struct profile_break *row = &r->p->breaks[i];
        text_compile(r, &table, row->recording, row->compile);
        if (row->is->depth >= 0)
            buf_printf(&table.text, "%d", row->is->depth);
        else
            buf_putc(&table.text, '-');
        table_cell(&table);
        table_count(&table, row->is->n_caused);
        table_count(&table, row->is->n_graphs);
        table_ns(&table, row->caused_ns > 0 ? row->caused_ns : -1);
        table_text(&table, row->is->skipped ? STR("given up") : STR("split"));
        table_place(&table, row->is->file, row->is->line);
        format_text(&table.text, row->is->summary, 0);
        buf_puts(&table.text, row->is->code.n > 0 ? ": " : "");
        table_text(&table, row->is->code);
    }
    text_finish(r, &table, r->p->n_breaks);
}

void text_failures(const struct text_report *r)
{
    static const struct column COLUMNS[] = {
        { "compile", COLUMN_LEFT },
        { "error", COLUMN_LEFT },
        { "user line", COLUMN_PATH },
        { "message", COLUMN_WIDE },
    };
    if (r->p->n_failures == 0)
        return;
    text_title(r, "Failures");
    struct table table = TABLE(COLUMNS);
    for (uint32_t i = 0; i < text_shown(r, r->p->n_failures); i++) {
        const struct profile_failure *row = &r->p->failures[i];
        text_compile(r, &table, row->recording, row->compile);
        table_text(&table, row->is->type);
        table_place(&table, row->is->file, row->is->line);
        table_text(&table, row->is->summary);
    }
    text_finish(r, &table, r->p->n_failures);
}

void text_caches(const struct text_report *r)
{
    static const struct column COLUMNS[] = {
        { "cache", COLUMN_LEFT }, { "result", COLUMN_LEFT },      { "compile", COLUMN_LEFT },
        { "time", COLUMN_RIGHT }, { "why, or key", COLUMN_WIDE },
    };
    if (r->p->n_caches == 0)
        return;
    text_title(r, "Caches (time: what the entry took to make)");
    struct table table = TABLE(COLUMNS);
    for (uint32_t i = 0; i < text_shown(r, r->p->n_caches); i++) {
        const struct profile_cache *row = &r->p->caches[i];
        table_text(&table, str_of(cache_kind_name(row->is->kind)));
        table_text(&table, str_of(cache_state_name(row->is->state)));
        text_compile(r, &table, row->recording, row->compile);
        table_ns(&table, row->is->taken_ns);
        table_text(&table, row->is->reason.n > 0 ? row->is->reason
                           : row->is->key.n > 0  ? row->is->key
                                                 : row->is->name);
    }
    text_finish(r, &table, r->p->n_caches);
}
