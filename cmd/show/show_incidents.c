#include "trace/events/incidents/incidents.h"

#include "cmd/show/show.h"
#include "profile/model/format.h"
#include "profile/report/incident_fields.h"
#include "trace/graph/traceback.h"

/* Four views over one list: --restarts, --recompiles, --breaks, --failures. */

static void release_incidents(void *items)
{
    incidents_free(items);
}

static struct incidents *load_incidents(struct show *show, void **ret, struct err *err)
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

#define SHOW_COMPILE_VIEW                                                               \
    {                                                                                   \
        NULL, .cell = show_cell_compile, IN_TABLE(INCIDENT_VIEW, 1, "compile", WORD, 0) \
    }

/* --restarts */

static bool load_restarts(struct show *show, void **ret, uint32_t *ret_n, struct err *err)
{
    struct incidents *incidents = load_incidents(show, ret, err);
    *ret_n = incidents ? incidents->n_restarts : 0;
    return incidents;
}

static struct show_place place_restart(const struct show *show, const void *items, uint32_t i)
{
    const struct restart *r = &((const struct incidents *)items)->restarts[i];
    return (struct show_place){ .record = first_record(show, r->attempt), .attempt = r->attempt };
}

static const void *item_restart(struct show *show, void *items, uint32_t i)
{
    (void)show;
    return &((const struct incidents *)items)->restarts[i];
}

static const struct field RESTART[] = {
    SHOW_COMPILE_VIEW,
    { NULL, .group = &restart_fields },
};
static const struct fields RESTART_FIELDS = FIELDS_OF(RESTART);

const struct show_view show_restarts = {
    .key = "restarts",
    .none = "no restarts",
    .fields = &RESTART_FIELDS,
    .table = INCIDENT_VIEW,
    .load = load_restarts,
    .release = release_incidents,
    .place = place_restart,
    .item = item_restart,
};

/* --recompiles */

static bool load_recompiles(struct show *show, void **ret, uint32_t *ret_n, struct err *err)
{
    struct incidents *incidents = load_incidents(show, ret, err);
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

static const void *item_recompile(struct show *show, void *items, uint32_t i)
{
    (void)show;
    return &((const struct incidents *)items)->recompiles[i];
}

static const struct field RECOMPILE[] = {
    SHOW_COMPILE_VIEW,
    { NULL, .group = &recompile_fields },
};
static const struct fields RECOMPILE_FIELDS = FIELDS_OF(RECOMPILE);

const struct show_view show_recompiles = {
    .key = "recompiles",
    .none = "no recompiles",
    .fields = &RECOMPILE_FIELDS,
    .table = INCIDENT_VIEW,
    .load = load_recompiles,
    .release = release_incidents,
    .place = place_recompile,
    .item = item_recompile,
};

/* --breaks */

static bool load_breaks(struct show *show, void **ret, uint32_t *ret_n, struct err *err)
{
    struct incidents *incidents = load_incidents(show, ret, err);
    *ret_n = incidents ? incidents->n_breaks : 0;
    return incidents;
}

static struct show_place place_break(const struct show *show, const void *items, uint32_t i)
{
    (void)show;
    const struct graph_break *b = &((const struct incidents *)items)->breaks[i];
    return (struct show_place){ .record = b->record, .attempt = b->attempt, .file = b->file };
}

static const void *item_break(struct show *show, void *items, uint32_t i)
{
    (void)show;
    return &((const struct incidents *)items)->breaks[i];
}

static void json_break_compiles(const void *context, const void *at, struct json_writer *w,
                                const char *key)
{
    const struct show_row *row = context;
    json_break_caused(w, key, row->show->trace, at);
}

static const struct field BREAK[] = {
    SHOW_COMPILE_VIEW,
    { NULL, .group = &break_fields },
    { "caused", .json = json_break_compiles },
};
static const struct fields BREAK_FIELDS = FIELDS_OF(BREAK);

const struct show_view show_breaks = {
    .key = "breaks",
    .none = "no graph breaks",
    .fields = &BREAK_FIELDS,
    .table = INCIDENT_VIEW,
    .load = load_breaks,
    .release = release_incidents,
    .place = place_break,
    .item = item_break,
};

/* --failures */

static bool load_failures(struct show *show, void **ret, uint32_t *ret_n, struct err *err)
{
    struct incidents *incidents = load_incidents(show, ret, err);
    *ret_n = incidents ? incidents->n_failures : 0;
    return incidents;
}

static struct show_place place_failure(const struct show *show, const void *items, uint32_t i)
{
    (void)show;
    const struct failure *f = &((const struct incidents *)items)->failures[i];
    return (struct show_place){ .record = f->record, .attempt = f->attempt, .file = f->file };
}

static const void *item_failure(struct show *show, void *items, uint32_t i)
{
    (void)show;
    return &((const struct incidents *)items)->failures[i];
}

static const struct field FAILURE[] = {
    SHOW_COMPILE_VIEW,
    { NULL, .group = &failure_fields },
};
static const struct fields FAILURE_FIELDS = FIELDS_OF(FAILURE);

/* Prints the whole message, of which the table has one line, and the user's frames. */
static void block_failure(const void *item, struct buf *out)
{
    const struct failure *f = item;
    struct str rest = f->reason, line;
    struct traceback_frame frame;
    buf_puts(out, "  whole message:\n");
    while (text_next_line(&rest, &line)) {
        buf_puts(out, line.n ? "    " : "");
        format_text(out, line, 0);
        buf_putc(out, '\n');
    }
    rest = f->traceback;
    for (bool first = true; traceback_next(&rest, &frame); first = false) {
        buf_puts(out, first ? "  user stack:\n    File \"" : "    File \"");
        format_text(out, frame.file, 0);
        buf_printf(out, "\", line %u, in ", (unsigned)frame.line);
        format_text(out, frame.function, 0);
        buf_puts(out, "\n      ");
        format_text(out, frame.code, 0);
        buf_putc(out, '\n');
    }
}

static void block_failure_json(const void *item, struct json_writer *w)
{
    struct str rest = ((const struct failure *)item)->traceback;
    struct traceback_frame frame;
    json_open_array(w, "user_stack");
    while (traceback_next(&rest, &frame)) {
        json_open_object(w, NULL);
        json_put_str(w, "file", frame.file);
        json_put_u64(w, "line", frame.line);
        json_put_str(w, "function", frame.function);
        json_put_str(w, "code", frame.code);
        json_close(w);
    }
    json_close(w);
}

const struct show_view show_failures = {
    .key = "failures",
    .none = "no failures",
    .fields = &FAILURE_FIELDS,
    .table = INCIDENT_VIEW,
    .load = load_failures,
    .release = release_incidents,
    .place = place_failure,
    .block = block_failure,
    .block_json = block_failure_json,
    .item = item_failure,
};
