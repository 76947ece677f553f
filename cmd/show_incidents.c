#include "trace/incidents.h"

#include "cmd/human.h"
#include "cmd/show.h"

/* Four views over one list: --restarts, --recompiles, --breaks, --failures. */

static void release(void *items)
{
    incidents_free(items);
}

static struct incidents *read_all(struct show *show, void **ret, struct err *err)
{
    struct incidents *incidents = incidents_read(show->trace, NULL, err);
    *ret = incidents;
    return incidents;
}

static void cell_ns(struct table *table, int64_t ns)
{
    char text[HUMAN_SIZE];
    table_text(table, str_of(ns < 0 ? "-" : human_ns(text, (uint64_t)ns)));
}

static void cell_line(struct table *table, struct str file, uint32_t line)
{
    struct str name = str_basename(file);
    if (file.n)
        table_printf(table, "%.*s:%u", STR_ARG(name), (unsigned)line);
    else
        table_text(table, STR("-"));
}

static void json_ns(struct json_writer *w, const char *key, int64_t ns)
{
    if (ns < 0)
        json_put_null(w, key);
    else
        json_put_i64(w, key, ns);
}

static void json_line(struct json_writer *w, const char *key, struct str file, uint32_t line,
                      struct str code)
{
    if (file.n == 0) {
        json_put_null(w, key);
        return;
    }
    json_open_object(w, key);
    json_put_str(w, "file", file);
    json_put_u64(w, "line", line);
    json_put_str(w, "code", code);
    json_close(w);
}

static uint32_t first_record(const struct show *show, uint32_t attempt)
{
    const struct attempt *a = &show->trace->attempts[attempt];
    return a->n_records ? a->records[0] : 0;
}

/* --restarts */

static bool load_restarts(struct show *show, void **ret, uint32_t *ret_n, struct err *err)
{
    struct incidents *incidents = read_all(show, ret, err);
    *ret_n = incidents ? incidents->n_restarts : 0;
    return incidents;
}

static struct show_place place_restart(const struct show *show, const void *items, uint32_t i)
{
    const struct restart *r = &((const struct incidents *)items)->restarts[i];
    return (struct show_place){ .record = first_record(show, r->attempt), .attempt = r->attempt };
}

static void row_restart(struct show *show, const void *items, uint32_t i, struct table *table)
{
    const struct restart *r = &((const struct incidents *)items)->restarts[i];
    show_cell_compile(show, place_restart(show, items, i), table);
    cell_ns(table, r->ns);
    table_text(table, r->summary.n ? r->summary : STR("-"));
    table_u64(table, r->n_records);
    table_u64(table, r->n_graphs);
    table_u64(table, r->n_symbols);
    table_u64(table, r->n_guards);
    table_text(table, r->meaning);
}

static void json_restart(struct show *show, const void *items, uint32_t i)
{
    const struct restart *r = &((const struct incidents *)items)->restarts[i];
    struct json_writer *w = &show->w;
    json_put_str(w, "reason", r->reason);
    json_put_str(w, "summary", r->summary);
    json_put_str(w, "meaning", r->meaning);
    json_ns(w, "ns", r->ns);
    json_put_u64(w, "records", r->n_records);
    json_put_u64(w, "graphs", r->n_graphs);
    json_put_u64(w, "symbols", r->n_symbols);
    json_put_u64(w, "guards", r->n_guards);
}

static const struct column restart_columns[] = {
    { "thrown away", COLUMN_LEFT }, { "took", COLUMN_RIGHT },    { "reason", COLUMN_WIDE },
    { "records", COLUMN_RIGHT },    { "graphs", COLUMN_RIGHT },  { "symbols", COLUMN_RIGHT },
    { "guards", COLUMN_RIGHT },     { "meaning", COLUMN_WIDE },
};

const struct show_view show_restarts = {
    .key = "restarts",
    .none = "no restarts",
    .columns = restart_columns,
    .n_columns = sizeof restart_columns / sizeof restart_columns[0],
    .load = load_restarts,
    .release = release,
    .place = place_restart,
    .row = row_restart,
    .json = json_restart,
};

/* --recompiles */

static bool load_recompiles(struct show *show, void **ret, uint32_t *ret_n, struct err *err)
{
    struct incidents *incidents = read_all(show, ret, err);
    *ret_n = incidents ? incidents->n_recompiles : 0;
    return incidents;
}

static struct show_place place_recompile(const struct show *show, const void *items, uint32_t i)
{
    (void)show;
    const struct recompile *r = &((const struct incidents *)items)->recompiles[i];
    return (struct show_place){ .record = r->record, .attempt = r->attempt,
                                .file = r->n_reasons ? r->reasons[0].file : (struct str){ 0 } };
}

static void row_recompile(struct show *show, const void *items, uint32_t i, struct table *table)
{
    const struct recompile *r = &((const struct incidents *)items)->recompiles[i];
    const struct recompile_reason none = { 0 }, *first = r->n_reasons ? &r->reasons[0] : &none;
    show_cell_compile(show, place_recompile(show, items, i), table);
    cell_ns(table, r->ns);
    table_u64(table, r->n_reasons);
    table_text(table, first->compile.n ? first->compile : STR("-"));
    table_text(table, first->guard);
    cell_line(table, first->file, first->line);
}

static void json_recompile(struct show *show, const void *items, uint32_t i)
{
    const struct recompile *r = &((const struct incidents *)items)->recompiles[i];
    struct json_writer *w = &show->w;
    json_ns(w, "ns", r->ns);
    json_open_array(w, "reasons");
    for (uint32_t k = 0; k < r->n_reasons; k++) {
        json_open_object(w, NULL);
        json_put_str(w, "compile", r->reasons[k].compile);
        json_put_str(w, "guard", r->reasons[k].guard);
        json_line(w, "line", r->reasons[k].file, r->reasons[k].line, STR(""));
        json_close(w);
    }
    json_close(w);
}

static const struct column recompile_columns[] = {
    { "compile", COLUMN_LEFT },       { "took", COLUMN_RIGHT },  { "failed", COLUMN_RIGHT },
    { "last tried", COLUMN_LEFT },    { "guard that did not hold", COLUMN_WIDE },
    { "user line", COLUMN_WIDE },
};

const struct show_view show_recompiles = {
    .key = "recompiles",
    .none = "no recompiles",
    .columns = recompile_columns,
    .n_columns = sizeof recompile_columns / sizeof recompile_columns[0],
    .load = load_recompiles,
    .release = release,
    .place = place_recompile,
    .row = row_recompile,
    .json = json_recompile,
};

/* --breaks */

static bool load_breaks(struct show *show, void **ret, uint32_t *ret_n, struct err *err)
{
    struct incidents *incidents = read_all(show, ret, err);
    *ret_n = incidents ? incidents->n_breaks : 0;
    return incidents;
}

static struct show_place place_break(const struct show *show, const void *items, uint32_t i)
{
    (void)show;
    const struct graph_break *b = &((const struct incidents *)items)->breaks[i];
    return (struct show_place){ .record = b->record, .attempt = b->attempt, .file = b->file };
}

static void row_break(struct show *show, const void *items, uint32_t i, struct table *table)
{
    const struct graph_break *b = &((const struct incidents *)items)->breaks[i];
    show_cell_compile(show, place_break(show, items, i), table);
    if (b->depth < 0)
        table_text(table, STR("-"));
    else
        table_u64(table, (uint64_t)b->depth);
    table_u64(table, b->n_graphs);
    cell_line(table, b->file, b->line);
    table_text(table, str_trim(b->code));
    table_text(table, b->summary);
    table_text(table, b->skipped ? STR("frame not compiled") : b->hint);
}

static void json_break(struct show *show, const void *items, uint32_t i)
{
    const struct graph_break *b = &((const struct incidents *)items)->breaks[i];
    struct json_writer *w = &show->w;
    json_put_str(w, "summary", b->summary);
    json_put_str(w, "explanation", b->explanation);
    json_put_str(w, "hint", b->hint);
    json_put_str(w, "reason", b->reason);
    json_line(w, "line", b->file, b->line, b->code);
    json_put_str(w, "function", b->function);
    json_ns(w, "depth", b->depth);
    json_put_bool(w, "skipped", b->skipped);
    json_put_u64(w, "graphs", b->n_graphs);
    json_open_array(w, "caused");
    for (uint32_t k = 0; k < b->n_caused; k++)
        json_put_str(w, NULL, show->trace->attempts[b->caused[k]].compile);
    json_close(w);
}

static const struct column break_columns[] = {
    { "compile", COLUMN_LEFT },   { "depth", COLUMN_RIGHT }, { "graphs", COLUMN_RIGHT },
    { "user line", COLUMN_WIDE }, { "code", COLUMN_WIDE },   { "why", COLUMN_WIDE },
    { "what helps", COLUMN_WIDE },
};

const struct show_view show_breaks = {
    .key = "breaks",
    .none = "no graph breaks",
    .columns = break_columns,
    .n_columns = sizeof break_columns / sizeof break_columns[0],
    .load = load_breaks,
    .release = release,
    .place = place_break,
    .row = row_break,
    .json = json_break,
};

/* --failures */

static bool load_failures(struct show *show, void **ret, uint32_t *ret_n, struct err *err)
{
    struct incidents *incidents = read_all(show, ret, err);
    *ret_n = incidents ? incidents->n_failures : 0;
    return incidents;
}

static struct show_place place_failure(const struct show *show, const void *items, uint32_t i)
{
    (void)show;
    const struct failure *f = &((const struct incidents *)items)->failures[i];
    return (struct show_place){ .record = f->record, .attempt = f->attempt, .file = f->file };
}

static void row_failure(struct show *show, const void *items, uint32_t i, struct table *table)
{
    const struct failure *f = &((const struct incidents *)items)->failures[i];
    show_cell_compile(show, place_failure(show, items, i), table);
    table_text(table, f->type);
    cell_line(table, f->file, f->line);
    table_text(table, str_trim(f->code));
    table_text(table, f->summary);
}

static void json_failure(struct show *show, const void *items, uint32_t i)
{
    const struct failure *f = &((const struct incidents *)items)->failures[i];
    struct json_writer *w = &show->w;
    json_put_str(w, "type", f->type);
    json_put_str(w, "summary", f->summary);
    json_put_str(w, "reason", f->reason);
    json_line(w, "line", f->file, f->line, f->code);
    json_put_bool(w, "graph_break", f->is_break);
}

static const struct column failure_columns[] = {
    { "compile", COLUMN_LEFT }, { "type", COLUMN_LEFT },    { "user line", COLUMN_WIDE },
    { "code", COLUMN_WIDE },    { "message", COLUMN_WIDE },
};

const struct show_view show_failures = {
    .key = "failures",
    .none = "no failures",
    .columns = failure_columns,
    .n_columns = sizeof failure_columns / sizeof failure_columns[0],
    .load = load_failures,
    .release = release,
    .place = place_failure,
    .row = row_failure,
    .json = json_failure,
};
