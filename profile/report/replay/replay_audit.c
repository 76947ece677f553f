#include "profile/report/replay/replay_runs.h"

#include "profile/report/table.h"
#include "trace/base/text/json_write.h"

static uint64_t answers(const struct op_stats *s)
{
    return s->fast[OP_COUNTER_FAST_CONTIGUOUS] + s->fast[OP_COUNTER_FAST_CHANNELS_LAST];
}

static uint64_t attempts(const struct op_stats *s)
{
    return s->fast[OP_COUNTER_ATTEMPT_FAST];
}

/* Dispatches below its own that the operator's other calls make, a call: what a hit saves. */
static uint64_t saved(const struct op_stats *s)
{
    uint64_t slow = s->calls > answers(s) ? s->calls - answers(s) : 0;
    uint64_t below = s->dispatches > s->calls ? s->dispatches - s->calls : 0;
    return slow ? below / slow : 0;
}

static bool is_listed(const struct replay_operator *row)
{
    return row->could_be_fast || attempts(&row->stats);
}

void replay_audit_text(const struct replay *replay, const struct report_options *how,
                       struct buf *out)
{
    static const struct column columns[] = {
        { "operator", COLUMN_LEFT },       { "calls", COLUMN_RIGHT },
        { "could be fast", COLUMN_RIGHT }, { "attempts", COLUMN_RIGHT },
        { "hits", COLUMN_RIGHT },          { "misses", COLUMN_RIGHT },
        { "elided a hit", COLUMN_RIGHT },  { "", COLUMN_LEFT },
    };
    const struct table_layout layout = { .width = how->width, .styles = how->styles };
    struct table table = TABLE(columns);
    for (size_t i = 0; i < replay->n_operators; i++) {
        const struct replay_operator *row = &replay->operators[i];
        const struct op_stats *s = &row->stats;
        if (!is_listed(row))
            continue;
        table_text(&table, row->op);
        table_u64(&table, s->calls);
        table_count(&table, row->could_be_fast);
        table_count(&table, attempts(s));
        table_count(&table, answers(s));
        table_count(&table, attempts(s) - answers(s));
        table_count(&table, saved(s));
        table_text(&table, attempts(s) ? STR("") : STR("not registered"));
    }
    table_print(&table, &layout, out);
    table_release(&table);
}

void replay_audit_json(const struct replay *replay, struct buf *out)
{
    struct json_writer w = json_writer_of(out);
    json_open_object(&w, NULL);
    json_put_str(&w, "schema", STR("symtape.replay/1"));
    json_open_array(&w, "fastpath");
    for (size_t i = 0; i < replay->n_operators; i++) {
        const struct replay_operator *row = &replay->operators[i];
        const struct op_stats *s = &row->stats;
        if (!is_listed(row))
            continue;
        json_open_object(&w, NULL);
        json_put_str(&w, "op", row->op);
        json_put_u64(&w, "calls", s->calls);
        json_put_u64(&w, "could_be_fast", row->could_be_fast);
        json_put_u64(&w, "attempts", attempts(s));
        json_put_u64(&w, "hits", answers(s));
        json_put_u64(&w, "misses", attempts(s) - answers(s));
        json_put_u64(&w, "elided_per_hit", saved(s));
        json_put_bool(&w, "registered", attempts(s) > 0);
        json_close(&w);
    }
    json_close(&w);
    json_close(&w);
    buf_putc(out, '\n');
}
