#include "profile/report/replay/replay_runs.h"

#include <stdlib.h>

#include "profile/report/fields.h"

/* Other shapes cannot be wrong, unlike ablations, whose rows have this member, too. */
GETTER(get_valid, struct replay_run, datum_bool(true))

static const struct field REPLAY[] = {
    { "calls", MEMBER(struct replay, totals.calls), TEXT(1, "calls", NUMBER, 0) },
    { "match", MEMBER(struct replay, totals.match), TEXT(2, "match", NUMBER, 0) },
    { "mismatch", MEMBER(struct replay, totals.mismatch) },
    { "refused", MEMBER(struct replay, totals.refused) },
    { "unsupported", MEMBER(struct replay, totals.unsupported) },
    { "symbols", MEMBER(struct replay, costs.symbols), TEXT(3, "symbols", NUMBER, 0) },
    { "guards", MEMBER(struct replay, costs.guards), TEXT(4, "guards", NUMBER, 0) },
    { "replacements", MEMBER(struct replay, costs.replacements),
      TEXT(5, "replacements", NUMBER, 0) },
    { "asserts", MEMBER(struct replay, costs.asserts), TEXT(6, "asserts", NUMBER, 0) },
    { "dispatches", MEMBER(struct replay, costs.dispatches), TEXT(7, "dispatches", NUMBER, 0) },
    { "cache_hits", MEMBER(struct replay, costs.hits), TEXT(8, "cache_hits", NUMBER, 0) },
    { "cache_misses", MEMBER(struct replay, costs.misses), TEXT(9, "cache_misses", NUMBER, 0) },
    { "fast_attempts", MEMBER(struct replay, costs.fast_attempts),
      TEXT(10, "fast_attempts", NUMBER, 0) },
    { "fast_answers", MEMBER(struct replay, costs.fast_answers),
      TEXT(11, "fast_answers", NUMBER, 0) },
    { "evaluations", MEMBER(struct replay, costs.evaluations), TEXT(12, "evaluations", NUMBER, 0) },
    { "exprs", MEMBER(struct replay, costs.exprs), TEXT(13, "exprs", NUMBER, 0) },
    { "symbolic_tensors", MEMBER(struct replay, costs.symbolic_tensors),
      TEXT(14, "symbolic_tensors", NUMBER, 0) },
};
static const struct fields REPLAY_FIELDS = FIELDS_OF(REPLAY);

static const struct field RUN[] = {
    { "name", MEMBER(struct replay_run, name) },
    { "valid", .get = get_valid },
    { NULL, BEHIND(REPLAY_FIELDS, struct replay_run, replay) },
    { "ns", MEMBER(struct replay_run, ns), TEXT(15, "time", NS, 0) },
};
static const struct fields RUN_FIELDS = FIELDS_OF(RUN);

void replay_runs_text(const struct replay_run *runs, size_t n, const struct report_options *how,
                      struct buf *out)
{
    struct column *columns = calloc(n + 1, sizeof *columns);
    struct table table = { .columns = columns, .n_columns = n + 1 };
    struct text_table t;
    if (!columns) {
        out->failed = true;
        return;
    }
    columns[0] = (struct column){ "", COLUMN_LEFT, 0 };
    text_table_init(&t, &RUN_FIELDS, 0);
    for (size_t i = 0; i < n; i++) {
        columns[i + 1] = (struct column){ runs[i].name, COLUMN_RIGHT, 0 };
        text_table_row(&t, NULL, &runs[i]);
    }
    table_transpose(&t.table, &table);
    buf_puts(out, "Sums over the graphs, each replayed with symbols and guards of its own\n");
    report_table(&table, how, 0, 0, out);
    table_release(&t.table);
    free(columns);
}

void replay_runs_json(const struct replay_run *runs, size_t n, struct buf *out)
{
    const struct rows rows = ROWS(runs, (uint32_t)n);
    struct json_writer w = json_writer_of(out);
    json_open_object(&w, NULL);
    json_put_str(&w, "schema", STR("symtape.replay/1"));
    fields_json_rows(&w, "runs", &RUN_FIELDS, NULL, &rows, 0);
    json_close(&w);
    buf_putc(out, '\n');
}
