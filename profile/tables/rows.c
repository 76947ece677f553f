#include "profile/tables/rows.h"

#include <assert.h>

#include "trace/base/text/printable.h"
#include "trace/events/user_line.h"

static bool line_key(struct rows *rows, struct str file, uint32_t line)
{
    buf_clear(&rows->text);
    buf_counted(&rows->text, file);
    buf_le32(&rows->text, line);
    return !rows->text.failed || err_nomem(rows->err);
}

/* Lines of the program come first. A line that is in both lists is that of the first. */
static bool index_lines(struct rows *rows, const struct profile_line *lines, uint32_t n,
                        uint32_t first)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!line_key(rows, profile_name(rows->profile, lines[i].file), lines[i].line))
            return false;
        uint32_t id = intern(&rows->lines, buf_str(&rows->text));
        if (id == INTERN_NONE || (id == rows->line_ids.n && !vec_push(&rows->line_ids, first + i)))
            return err_nomem(rows->err);
    }
    return true;
}

bool rows_init(struct rows *rows, const struct profile *profile)
{
    const struct profile_lines *lines = &profile->lines;
    rows->profile = profile;
    rows->in = profile_inputs(profile);
    rows->trace = rows->in->trace;
    return index_lines(rows, lines->lines, lines->n_lines, 0) &&
           index_lines(rows, lines->library_lines, lines->n_library_lines, lines->n_lines);
}

void rows_release(struct rows *rows)
{
    buf_release(&rows->clean);
    buf_release(&rows->text);
    intern_release(&rows->lines);
    vec_release(&rows->line_ids);
}

static void clear_row(struct rows *rows)
{
    for (unsigned i = 0; i < rows->n; i++)
        rows->cells[i] = (struct table_cell){ .null = true };
}

bool rows_begin(struct rows *rows, enum export_table table)
{
    rows->table = table;
    rows->first = table_first_column(table);
    rows->n = table_n_columns(table);
    assert(rows->n <= TABLE_MOST_COLUMNS);
    clear_row(rows);
    return rows->sink->table(rows->sink, table, rows->err);
}

static struct table_cell *cell_of(struct rows *rows, enum export_column column)
{
    assert(column_table(column) == rows->table);
    return &rows->cells[column - rows->first];
}

void row_integer(struct rows *rows, enum export_column column, int64_t value)
{
    *cell_of(rows, column) = (struct table_cell){ .integer = value };
}

void row_count(struct rows *rows, enum export_column column, uint64_t value)
{
    if (value <= INT64_MAX)
        row_integer(rows, column, (int64_t)value);
}

void row_id(struct rows *rows, enum export_column column, uint32_t value)
{
    if (value != UINT32_MAX)
        row_integer(rows, column, value);
}

void row_bool(struct rows *rows, enum export_column column, bool value)
{
    row_integer(rows, column, value);
}

void row_text(struct rows *rows, enum export_column column, struct str value)
{
    if (value.n > 0)
        *cell_of(rows, column) = (struct table_cell){ .text = value };
}

/* Replaces texts that are not harmless to read. The buffer moves as it grows, so that all texts are
 * appended before any is pointed to. */
static bool clean_texts(struct rows *rows)
{
    size_t ends[TABLE_MOST_COLUMNS];
    buf_clear(&rows->clean);
    for (unsigned i = 0; i < rows->n; i++) {
        struct str text = rows->cells[i].text;
        if (text.n > 0 && printable_run(text) < text.n)
            printable_put(&rows->clean, text);
        ends[i] = rows->clean.n;
    }
    if (rows->clean.failed)
        return err_nomem(rows->err);
    for (unsigned i = 0; i < rows->n; i++) {
        size_t start = i > 0 ? ends[i - 1] : 0;
        if (ends[i] > start)
            rows->cells[i].text = (struct str){ rows->clean.p + start, ends[i] - start };
    }
    return true;
}

bool row_put(struct rows *rows)
{
    bool ok = !rows->text.failed || err_nomem(rows->err);
    ok = ok && clean_texts(rows) && rows->sink->row(rows->sink, rows->cells, rows->err);
    clear_row(rows);
    return ok;
}

/* ---- Where a row belongs ---- */

void row_where(struct rows *rows, enum export_column recording, uint32_t record, uint32_t attempt)
{
    row_id(rows, recording, rows->in->recording_of[rows->trace->records[record].recording]);
    row_id(rows, recording + 1, build_compile(rows->in, attempt));
    row_id(rows, recording + 2, attempt);
}

void row_incident(struct rows *rows, enum export_column recording,
                  const struct profile_where *where)
{
    row_id(rows, recording, where->recording);
    row_id(rows, recording + 1, where->compile);
    row_id(rows, recording + 2, where->attempt);
}

uint32_t rows_line(struct rows *rows, struct str file, uint32_t line)
{
    if (!line_key(rows, file, line))
        return UINT32_MAX;
    uint32_t id = intern_find(&rows->lines, buf_str(&rows->text));
    return id == INTERN_NONE ? UINT32_MAX : rows->line_ids.v[id];
}

int64_t rows_stack(const struct rows *rows, uint32_t recording, stack_id stack)
{
    return stack == 0 ? -1 : (int64_t)recording * trace_n_stacks(rows->trace) + stack;
}

void row_place(struct rows *rows, enum export_column line, enum export_column stack,
               uint32_t record, stack_id user_stack)
{
    uint32_t recording = rows->trace->records[record].recording;
    stack_id user = user_line(rows->trace, recording, user_stack);
    struct frame frame = stack_frame(rows->trace, recording, user);
    if (user_stack == 0)
        return;
    row_integer(rows, stack, rows_stack(rows, recording, user_stack));
    row_id(rows, line, rows_line(rows, frame.file, frame.line));
}
