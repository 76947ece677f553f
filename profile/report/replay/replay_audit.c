#include "profile/report/replay/replay_fields.h"
#include "profile/report/replay/replay_runs.h"

static bool is_listed(const void *context, const void *item)
{
    const struct replay_operator *row = item;
    (void)context;
    return row->could_be_fast || row->stats.fast[OP_COUNTER_ATTEMPT_FAST];
}

static struct rows audited_rows(const struct replay *replay)
{
    struct rows rows = ROWS(replay->operators, (uint32_t)replay->n_operators);
    rows.wanted = is_listed;
    return rows;
}

void replay_audit_text(const struct replay *replay, const struct report_options *how,
                       struct buf *out)
{
    const struct rows rows = audited_rows(replay);
    struct text_table t;
    text_table_init(&t, &replay_audit_fields, 0);
    text_table_rows(&t, NULL, &rows, 0);
    report_table(&t.table, how, 0, 0, out);
}

void replay_audit_json(const struct replay *replay, struct buf *out)
{
    const struct rows rows = audited_rows(replay);
    struct json_writer w = json_writer_of(out);
    json_open_object(&w, NULL);
    json_put_str(&w, "schema", STR("symtape.replay/1"));
    fields_json_rows(&w, "fastpath", &replay_audit_fields, NULL, &rows, 0);
    json_close(&w);
    buf_putc(out, '\n');
}
