/* Text report: what was done twice or went wrong, and what caches did. */
#include "profile/format.h"
#include "profile/text_report.h"

void text_restarts(const struct text_report *r)
{
    static const struct text_column COLUMNS[] = {
        { "thrown away", true }, { "compile", false }, { "attempt", true }, { "records", true },
        { "graphs", true },      { "symbols", true },  { "guards", true },  { "reason", false },
    };
    if (r->p->n_restarts == 0)
        return;
    text_title(r, "Restarts (attempts that were thrown away)");
    struct text_table table = TEXT_TABLE(COLUMNS);
    for (uint32_t i = 0; i < text_shown(r, r->p->n_restarts); i++) {
        const struct profile_restart *row = &r->p->restarts[i];
        const struct trace *trace = r->p->traces[r->p->recordings[row->recording].input];
        text_ns(&table, row->is->ns);
        text_compile(r, &table, row->recording, row->compile);
        buf_printf(&table.text, "%u", trace->attempts[row->is->attempt].number);
        text_table_cell(&table);
        text_count(&table, row->is->n_records);
        text_count(&table, row->is->n_graphs);
        text_count(&table, row->is->n_symbols);
        text_count(&table, row->is->n_guards);
        buf_put(&table.text, row->is->meaning);
        buf_puts(&table.text, row->is->meaning.n > 0 ? ": " : "");
        text_text(&table, row->is->summary);
    }
    text_finish(r, &table, r->p->n_restarts);
}

void text_recompiles(const struct text_report *r)
{
    static const struct text_column COLUMNS[] = {
        { "time", true },     { "compile", false },           { "guard of", false },
        { "used at", false }, { "guard that failed", false },
    };
    if (r->p->n_recompiles == 0)
        return;
    text_title(r, "Recompiles (a function compiled again because guards failed)");
    struct text_table table = TEXT_TABLE(COLUMNS);
    for (uint32_t i = 0; i < text_shown(r, r->p->n_recompiles); i++) {
        const struct profile_recompile *row = &r->p->recompiles[i];
        struct recompile_reason none = { STR(""), STR(""), STR(""), 0 };
        const struct recompile_reason *reason = row->is->n_reasons ? &row->is->reasons[0] : &none;
        text_ns(&table, row->is->ns);
        text_compile(r, &table, row->recording, row->compile);
        text_text(&table, reason->compile);
        text_place(&table, reason->file, reason->line);
        text_text(&table, reason->guard);
    }
    text_finish(r, &table, r->p->n_recompiles);
}

void text_breaks(const struct text_report *r)
{
    static const struct text_column COLUMNS[] = {
        { "compile", false },   { "depth", true },      { "more compiles", true },
        { "graphs", true },     { "their time", true }, { "function", false },
        { "user line", false }, { "why", false },
    };
    if (r->p->n_breaks == 0)
        return;
    text_title(r, "Graph breaks (depth: calls below the compiled function)");
    struct text_table table = TEXT_TABLE(COLUMNS);
    for (uint32_t i = 0; i < text_shown(r, r->p->n_breaks); i++) {
        const struct profile_break *row = &r->p->breaks[i];
        text_compile(r, &table, row->recording, row->compile);
        if (row->is->depth >= 0)
            buf_printf(&table.text, "%d", row->is->depth);
        else
            buf_putc(&table.text, '-');
        text_table_cell(&table);
        text_count(&table, row->is->n_caused);
        text_count(&table, row->is->n_graphs);
        text_ns(&table, row->caused_ns > 0 ? row->caused_ns : -1);
        text_text(&table, row->is->skipped ? STR("given up") : STR("split"));
        text_place(&table, row->is->file, row->is->line);
        format_text(&table.text, row->is->summary, 0);
        buf_puts(&table.text, row->is->code.n > 0 ? ": " : "");
        text_text(&table, row->is->code);
    }
    text_finish(r, &table, r->p->n_breaks);
}

void text_failures(const struct text_report *r)
{
    static const struct text_column COLUMNS[] = {
        { "compile", false },
        { "error", false },
        { "user line", false },
        { "message", false },
    };
    if (r->p->n_failures == 0)
        return;
    text_title(r, "Failures");
    struct text_table table = TEXT_TABLE(COLUMNS);
    for (uint32_t i = 0; i < text_shown(r, r->p->n_failures); i++) {
        const struct profile_failure *row = &r->p->failures[i];
        text_compile(r, &table, row->recording, row->compile);
        text_text(&table, row->is->type);
        text_place(&table, row->is->file, row->is->line);
        text_text(&table, row->is->summary);
    }
    text_finish(r, &table, r->p->n_failures);
}

void text_caches(const struct text_report *r)
{
    static const struct text_column COLUMNS[] = {
        { "cache", false }, { "result", false },      { "compile", false },
        { "time", true },   { "why, or key", false },
    };
    if (r->p->n_caches == 0)
        return;
    text_title(r, "Caches (time: what the entry took to make)");
    struct text_table table = TEXT_TABLE(COLUMNS);
    for (uint32_t i = 0; i < text_shown(r, r->p->n_caches); i++) {
        const struct profile_cache *row = &r->p->caches[i];
        text_text(&table, str_of(cache_kind_name(row->is->kind)));
        text_text(&table, str_of(cache_state_name(row->is->state)));
        text_compile(r, &table, row->recording, row->compile);
        text_ns(&table, row->is->taken_ns);
        text_text(&table, row->is->reason.n > 0 ? row->is->reason
                          : row->is->key.n > 0  ? row->is->key
                                                : row->is->name);
    }
    text_finish(r, &table, r->p->n_caches);
}
