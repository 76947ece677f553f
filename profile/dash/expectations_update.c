/* Writes an expectations file in which only what differs is changed. */
#include <stdlib.h>

#include "profile/dash/expectations.h"
#include "trace/base/text/csv.h"

/* A replacement of bytes of the file. */
struct edit {
    size_t begin, end;
    struct str name; /* of a new row; edits at one place are sorted by it */
    struct str text; /* a cell */
    uint32_t breaks; /* a number; UINT32_MAX: none */
    bool is_new;
    uint32_t status; /* of a new row */
};

struct edits {
    vec_of(struct edit)
    list;
};

static size_t offset_of(const struct expectations *file, struct str part)
{
    return (size_t)(part.p - file->text.p);
}

static bool add_replacement(const struct expectations *file, struct str cell, struct str text,
                            uint32_t breaks, struct edits *edits)
{
    size_t begin = offset_of(file, cell);
    return vec_push(
        &edits->list,
        (struct edit){ .begin = begin, .end = begin + cell.n, .text = text, .breaks = breaks });
}

/* A row goes with the ends of lines in front of it. */
static bool add_removal(const struct expectations *file, const struct expectation *row,
                        struct edits *edits)
{
    size_t i = (size_t)(row - file->rows.v);
    return vec_push(&edits->list, (struct edit){ .begin = i > 0 ? row[-1].end : file->header_end,
                                                 .end = row->end,
                                                 .breaks = UINT32_MAX });
}

/* A row of the file in the order of names, with the greatest end of it and of those before it. */
struct ordered {
    struct str name;
    size_t end;
};

static int compare_ordered(const void *a, const void *b)
{
    const struct ordered *x = a, *y = b;
    return str_cmp(x->name, y->name);
}

/* Returns the rows of a file by name; the caller frees them. NULL when memory ran out. */
static struct ordered *order_rows(const struct expectations *file, const struct dash *dash)
{
    struct ordered *rows = calloc(file->rows.n + 1, sizeof *rows);
    for (size_t i = 0; rows && i < file->rows.n; i++)
        rows[i] = (struct ordered){ dash_text(dash, file->rows.v[i].name), file->rows.v[i].end };
    if (rows && file->rows.n)
        qsort(rows, file->rows.n, sizeof *rows, compare_ordered);
    for (size_t i = 1; rows && i < file->rows.n; i++)
        rows[i].end = rows[i].end > rows[i - 1].end ? rows[i].end : rows[i - 1].end;
    return rows;
}

/* A new row comes behind the last one with a lesser name. */
static bool add_insertion(const struct expectations *file, const struct dash *dash,
                          const struct ordered *rows, const struct verdict_row *verdict,
                          struct edits *edits)
{
    struct str name = dash_text(dash, verdict->name);
    size_t low = 0, high = file->rows.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (str_cmp(rows[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    size_t at = low > 0 ? rows[low - 1].end : file->header_end;
    return vec_push(&edits->list, (struct edit){ .begin = at,
                                                 .end = at,
                                                 .name = name,
                                                 .is_new = true,
                                                 .status = verdict->actual,
                                                 .breaks = verdict->actual_breaks });
}

static bool add_edit(const struct expectations *file, const struct dash *dash,
                     const struct ordered *rows, const struct verdict_row *verdict,
                     struct edits *edits)
{
    const struct expectation *row = expectations_find(file, verdict->name);
    if (!dash_verdict_fails(verdict->verdict))
        return true;
    if (verdict->not_run)
        return !row || add_removal(file, row, edits);
    if (verdict->actual == INTERN_NONE)
        return true;
    if (!row)
        return add_insertion(file, dash, rows, verdict, edits);
    if (verdict->actual != verdict->expected &&
        !add_replacement(file, row->status_cell, dash_text(dash, verdict->actual), UINT32_MAX,
                         edits))
        return false;
    return verdict->actual_breaks == UINT32_MAX || verdict->expected_breaks == UINT32_MAX ||
           verdict->actual_breaks == verdict->expected_breaks ||
           add_replacement(file, row->breaks_cell, STR(""), verdict->actual_breaks, edits);
}

/* At one place an empty cell at the end of a row comes first, then new rows, then a row that goes.
 */
static int rank_of(const struct edit *edit)
{
    return edit->is_new ? 1 : edit->begin == edit->end ? 0 : 2;
}

static int compare_edits(const void *a, const void *b)
{
    const struct edit *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return rank_of(x) != rank_of(y) ? rank_of(x) - rank_of(y) : str_cmp(x->name, y->name);
}

/* What stands between the header and the first row, so that new rows look like the others. */
static struct str separator(const struct expectations *file)
{
    struct str text = str_from(buf_str(&file->text), file->header_end);
    if (file->rows.n > 0)
        return str_first(text, file->rows.v[0].begin - file->header_end);
    return str_starts(text, STR("\r\n")) ? STR("\r\n") : STR("\n");
}

static void put_new_row(const struct expectations *file, const struct dash *dash,
                        const struct edit *edit, struct buf *out)
{
    buf_put(out, separator(file));
    for (uint32_t i = 0; i < file->columns; i++) {
        buf_puts(out, i ? "," : "");
        if (i == file->name_column)
            csv_quote(edit->name, out);
        else if (i == file->status_column)
            csv_quote(dash_text(dash, edit->status), out);
        else if (i == file->breaks_column && edit->breaks != UINT32_MAX)
            buf_u64(out, edit->breaks);
    }
}

static void put_edits(const struct expectations *file, const struct dash *dash,
                      const struct edits *edits, struct buf *out)
{
    struct str text = buf_str(&file->text);
    size_t at = 0;
    for (size_t i = 0; i < edits->list.n; i++) {
        const struct edit *edit = &edits->list.v[i];
        bool again = i > 0 && edit->begin == edit[-1].begin && rank_of(edit) == rank_of(edit - 1) &&
                     str_eq(edit->name, edit[-1].name);
        if (edit->begin < at || again)
            continue;
        buf_put(out, str_first(str_from(text, at), edit->begin - at));
        if (edit->is_new)
            put_new_row(file, dash, edit, out);
        else if (edit->breaks != UINT32_MAX)
            buf_u64(out, edit->breaks);
        else
            csv_quote(edit->text, out);
        at = edit->end;
    }
    buf_put(out, str_from(text, at));
}

bool expectations_update(const struct expectations *file, uint32_t at, const struct dash *dash,
                         const struct verdicts *verdicts, struct buf *out, struct err *err)
{
    struct edits edits = { .list = { 0 } };
    struct ordered *rows = order_rows(file, dash);
    bool ok = rows;
    for (size_t i = 0; i < verdicts->rows.n && ok; i++)
        if (verdicts->rows.v[i].file == at)
            ok = add_edit(file, dash, rows, &verdicts->rows.v[i], &edits);
    if (ok && edits.list.n)
        qsort(edits.list.v, edits.list.n, sizeof *edits.list.v, compare_edits);
    if (ok)
        put_edits(file, dash, &edits, out);
    vec_release(&edits.list);
    free(rows);
    return (ok && !out->failed) || err_nomem(err);
}
