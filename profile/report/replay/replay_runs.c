#include "profile/report/replay/replay_runs.h"

#include <stdlib.h>

#include "profile/report/table.h"
#include "trace/base/text/json_write.h"

static const struct {
    const char *name;
    size_t offset;
} costs[] = {
#define COST(field, name) { name, offsetof(struct replay_costs, field) },
#include "profile/report/replay/replay_costs.def"
#undef COST
};
enum { N_COSTS = sizeof costs / sizeof *costs };

static uint64_t replay_cost(const struct replay *replay, size_t i)
{
    return *(const uint64_t *)((const char *)&replay->costs + costs[i].offset);
}

static void put_run_counts(struct table *table, const char *name, const struct replay_run *runs,
                           size_t n, size_t offset)
{
    table_text(table, str_of(name));
    for (size_t i = 0; i < n; i++)
        table_u64(table, *(const uint64_t *)((const char *)&runs[i].replay->totals + offset));
}

void replay_runs_text(const struct replay_run *runs, size_t n, bool times,
                      const struct report_options *how, struct buf *out)
{
    const struct table_layout layout = { .width = how->width, .styles = how->styles };
    struct column *columns = calloc(n + 1, sizeof *columns);
    if (!columns) {
        out->failed = true;
        return;
    }
    columns[0] = (struct column){ "", COLUMN_LEFT, 0 };
    for (size_t i = 0; i < n; i++)
        columns[i + 1] = (struct column){ runs[i].name, COLUMN_RIGHT, 0 };
    struct table table = { .columns = columns, .n_columns = n + 1 };
    put_run_counts(&table, "calls", runs, n, offsetof(struct replay_counts, calls));
    put_run_counts(&table, "match", runs, n, offsetof(struct replay_counts, match));
    for (size_t c = 0; c < N_COSTS; c++) {
        table_text(&table, str_of(costs[c].name));
        for (size_t i = 0; i < n; i++)
            table_u64(&table, replay_cost(runs[i].replay, c));
    }
    if (times) {
        table_text(&table, STR("time"));
        for (size_t i = 0; i < n; i++)
            table_ns(&table, (int64_t)runs[i].ns);
    }
    table_print(&table, &layout, out);
    table_release(&table);
    free(columns);
    for (size_t i = 0; i < n; i++)
        if (runs[i].invalid)
            buf_printf(out, "%s is invalid: it changes the meta of a result\n", runs[i].name);
}

void replay_runs_json(const struct replay_run *runs, size_t n, struct buf *out)
{
    struct json_writer w = json_writer_of(out);
    json_open_object(&w, NULL);
    json_put_str(&w, "schema", STR("symtape.replay/1"));
    json_open_array(&w, "runs");
    for (size_t i = 0; i < n; i++) {
        const struct replay_counts *t = &runs[i].replay->totals;
        json_open_object(&w, NULL);
        json_put_cstr(&w, "name", runs[i].name);
        json_put_bool(&w, "valid", !runs[i].invalid);
        json_put_u64(&w, "calls", t->calls);
        json_put_u64(&w, "match", t->match);
        json_put_u64(&w, "mismatch", t->mismatch);
        json_put_u64(&w, "refused", t->refused);
        json_put_u64(&w, "unsupported", t->unsupported);
        for (size_t c = 0; c < N_COSTS; c++)
            json_put_u64(&w, costs[c].name, replay_cost(runs[i].replay, c));
        json_put_u64(&w, "ns", runs[i].ns);
        json_close(&w);
    }
    json_close(&w);
    json_close(&w);
    buf_putc(out, '\n');
}
