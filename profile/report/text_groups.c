/* Text report: --by. Only columns that hold something are shown, since what is known of a group
 * depends on what it is and on how the run was recorded. */
#include "profile/model/format.h"
#include "profile/model/human.h"
#include "profile/report/text_report.h"

/* COLUMN(header, kind of number, what of a group) */
#define GROUP_COLUMNS(COLUMN)                              \
    COLUMN("self time", NS, g->self_ns)                    \
    COLUMN("est. time", NS, g->estimated_ns)               \
    COLUMN("real dispatches", COUNT, g->real_dispatches)   \
    COLUMN("dispatches", COUNT, g->dispatches)             \
    COLUMN("guards", COUNT, g->guards)                     \
    COLUMN("with below", COUNT, g->total_guards)           \
    COLUMN("exprs", COUNT, g->exprs)                       \
    COLUMN("symbolic tensors", COUNT, g->symbolic_tensors) \
    COLUMN("saved", BYTES, g->saved_bytes)                 \
    COLUMN("Dynamo calls", COUNT, g->dynamo_calls)         \
    COLUMN("with below", COUNT, g->total_dynamo_calls)     \
    COLUMN("ATen calls", COUNT, g->aten_calls)             \
    COLUMN("with below", COUNT, g->total_aten_calls)

enum number { NUMBER_NS, NUMBER_COUNT, NUMBER_BYTES };

static const struct {
    const char *header;
    enum number number;
} COLUMNS[] = {
#define COLUMN(header, number, value) { header, NUMBER_##number },
    GROUP_COLUMNS(COLUMN)
#undef COLUMN
};

enum { N_COLUMNS = sizeof COLUMNS / sizeof *COLUMNS };

static void values_of(const struct profile_group *g, uint64_t *ret)
{
    size_t i = 0;
#define COLUMN(header, number, value) ret[i++] = (uint64_t)(value);
    GROUP_COLUMNS(COLUMN)
#undef COLUMN
}

static void put_value(struct table *table, enum number number, uint64_t value)
{
    char text[HUMAN_SIZE];
    if (number == NUMBER_NS)
        table_ns(table, value > 0 && value <= INT64_MAX ? (int64_t)value : -1);
    else if (number == NUMBER_BYTES)
        table_text(table, str_of(value ? human_bytes(text, value) : ""));
    else
        table_count(table, value);
}

static void put_name(struct table *table, enum profile_by by, const struct profile_group *g)
{
    for (uint32_t i = 0; i < g->n_frames; i++) {
        if (i)
            buf_puts(&table->text, " > ");
        format_place(&table->text, g->frames[i].file, g->frames[i].line);
    }
    if (by == PROFILE_MODULE && g->name.n == 0)
        buf_puts(&table->text, "(the model)");
    else if (g->n_frames == 0)
        format_text(&table->text, g->name, 0);
    table_cell(table);
    if (by == PROFILE_LINE)
        table_text(table, g->code);
}

static void put_groups(const struct text_report *r, enum profile_by by)
{
    static const char *const TITLES[] = { "By operator", "By user line",
                                          "By user stack (outermost frame first)", "By module" };
    static const enum column_kind KINDS[] = { COLUMN_WIDE, COLUMN_PATH, COLUMN_PATH, COLUMN_WIDE };
    const struct profile_groups *groups = &r->p->groups[by];
    struct column columns[N_COLUMNS + 2];
    uint64_t values[N_COLUMNS];
    bool used[N_COLUMNS] = { false };
    uint32_t n = text_shown(r, groups->n_rows);
    size_t n_columns = 0;
    for (uint32_t i = 0; i < n; i++) {
        values_of(&groups->rows[i], values);
        for (size_t k = 0; k < N_COLUMNS; k++)
            used[k] |= values[k] > 0;
    }
    for (size_t k = 0; k < N_COLUMNS; k++)
        if (used[k])
            columns[n_columns++] = (struct column){ COLUMNS[k].header, COLUMN_RIGHT, 0 };
    columns[n_columns++] = (struct column){ profile_by_name(by), KINDS[by], 0 };
    if (by == PROFILE_LINE)
        columns[n_columns++] = (struct column){ "code", COLUMN_WIDE, 0 };
    struct table table = { .columns = columns, .n_columns = n_columns };
    for (uint32_t i = 0; i < n; i++) {
        values_of(&groups->rows[i], values);
        for (size_t k = 0; k < N_COLUMNS; k++)
            if (used[k])
                put_value(&table, COLUMNS[k].number, values[k]);
        put_name(&table, by, &groups->rows[i]);
    }
    text_title(r, TITLES[by]);
    if (n == 0)
        buf_puts(r->out, "  nothing was recorded of it\n");
    text_finish(r, &table, groups->n_rows);
}

bool text_groups(const struct text_report *r)
{
    bool asked = false;
    for (int by = 0; by < PROFILE_BYS; by++)
        if (r->p->groups[by].asked) {
            put_groups(r, (enum profile_by)by);
            asked = true;
        }
    return asked;
}
