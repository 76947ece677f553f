/* Tables of any log: rows are complete, their texts are harmless, and their keys are unique. */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/walk.h"

#include "profile/tables/tables.h"
#include "trace/base/text/printable.h"
#include "trace/log/import.h"

struct checking_sink {
    struct table_sink base;
    enum export_table table;
    uint64_t n_tables;
    int64_t last_key; /* of the table */
};

static bool check_table(struct table_sink *sink, enum export_table table, struct err *err)
{
    struct checking_sink *s = (struct checking_sink *)sink;
    (void)err;
    FUZZ_CHECK(table == s->n_tables);
    s->n_tables++;
    s->table = table;
    s->last_key = -1;
    return true;
}

static void check_cell(struct checking_sink *s, enum export_column column,
                       const struct table_cell *cell)
{
    enum column_type type = column_type(column);
    if (type == COLUMN_KEY) {
        FUZZ_CHECK(!cell->null && cell->integer > s->last_key);
        s->last_key = cell->integer;
    }
    if (type == COLUMN_BOOLEAN)
        FUZZ_CHECK(cell->null || cell->integer == 0 || cell->integer == 1);
    if (type == COLUMN_TEXT && !cell->null)
        FUZZ_CHECK(cell->text.n > 0 && printable_run(cell->text) == cell->text.n);
}

static bool check_row(struct table_sink *sink, const struct table_cell *cells, struct err *err)
{
    struct checking_sink *s = (struct checking_sink *)sink;
    (void)err;
    for (unsigned i = 0; i < table_n_columns(s->table); i++)
        check_cell(s, table_first_column(s->table) + i, &cells[i]);
    return true;
}

static void write_tables(struct trace *trace)
{
    const struct profile_options options = { 0 };
    struct checking_sink sink = { .base = { .table = check_table, .row = check_row } };
    struct err err = { .kind = ERR_NONE };
    struct profile *profile = profile_build(&trace, 1, &options, &err);
    FUZZ_CHECK((profile != NULL) != err_is_set(&err));
    if (profile && tables_write(profile, &sink.base, &err))
        FUZZ_CHECK(sink.n_tables == TABLES && !err_is_set(&err));
    else
        FUZZ_CHECK(err_is_set(&err));
    profile_free(profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err err = { .kind = ERR_NONE };
    char path[32];
    int fd = walk_file((struct str){ (const char *)data, n }, path);
    struct trace *trace = trace_open(path, NULL, &err);
    FUZZ_CHECK((trace != NULL) != err_is_set(&err));
    if (trace)
        write_tables(trace);
    trace_close(trace);
    close(fd);
    return 0;
}
