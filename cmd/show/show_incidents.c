#include "trace/events/incidents.h"

#include "cmd/show/show.h"
#include "profile/report/incident_json.h"

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
    table_ns(table, r->ns);
    table_text(table, r->summary);
    table_u64(table, r->n_records);
    table_u64(table, r->n_graphs);
    table_u64(table, r->n_symbols);
    table_u64(table, r->n_guards);
    table_text(table, r->meaning);
}

static void json_restart(struct show *show, const void *items, uint32_t i)
{
    json_put_restart(&show->w, &((const struct incidents *)items)->restarts[i]);
}

static const struct column restart_columns[] = {
    { "compile", COLUMN_LEFT },     { "time", COLUMN_RIGHT },      { "reason", COLUMN_WIDE },
    { "records", COLUMN_RIGHT, 4 }, { "graphs", COLUMN_RIGHT, 2 }, { "symbols", COLUMN_RIGHT, 3 },
    { "guards", COLUMN_RIGHT, 1 },  { "meaning", COLUMN_WIDE },
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
    return (struct show_place){ .record = r->record,
                                .attempt = r->attempt,
                                .file = r->n_reasons ? r->reasons[0].file : (struct str){ 0 } };
}

static void row_recompile(struct show *show, const void *items, uint32_t i, struct table *table)
{
    const struct recompile *r = &((const struct incidents *)items)->recompiles[i];
    const struct recompile_reason none = { 0 }, *first = r->n_reasons ? &r->reasons[0] : &none;
    show_cell_compile(show, place_recompile(show, items, i), table);
    table_ns(table, r->ns);
    table_u64(table, r->n_reasons);
    table_text(table, first->compile);
    table_text(table, first->guard);
    table_place(table, first->file, first->line);
}

static void json_recompile(struct show *show, const void *items, uint32_t i)
{
    json_put_recompile(&show->w, &((const struct incidents *)items)->recompiles[i]);
}

static const struct column recompile_columns[] = {
    { "compile", COLUMN_LEFT },           { "time", COLUMN_RIGHT },
    { "reasons", COLUMN_RIGHT, 1 },       { "guard of", COLUMN_LEFT },
    { "guard that failed", COLUMN_WIDE }, { "used at", COLUMN_PATH },
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
    table_place(table, b->file, b->line);
    table_text(table, b->code);
    table_text(table, b->summary);
    table_text(table, b->skipped ? STR("frame not compiled") : b->hint);
}

static void json_break(struct show *show, const void *items, uint32_t i)
{
    json_put_break(&show->w, show->trace, &((const struct incidents *)items)->breaks[i]);
}

static const struct column break_columns[] = {
    { "compile", COLUMN_LEFT },       { "depth", COLUMN_RIGHT, 1 }, { "graphs", COLUMN_RIGHT, 2 },
    { "user line", COLUMN_PATH },     { "code", COLUMN_WIDE, 3 },   { "why", COLUMN_WIDE },
    { "what helps", COLUMN_WIDE, 4 },
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
    table_place(table, f->file, f->line);
    table_text(table, f->code);
    table_text(table, f->summary);
}

static void json_failure(struct show *show, const void *items, uint32_t i)
{
    json_put_failure(&show->w, &((const struct incidents *)items)->failures[i]);
}

static const struct column failure_columns[] = {
    { "compile", COLUMN_LEFT }, { "type", COLUMN_LEFT },    { "user line", COLUMN_PATH },
    { "code", COLUMN_WIDE, 1 }, { "message", COLUMN_WIDE },
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
