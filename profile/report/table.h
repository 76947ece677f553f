/* Aligned columns, for lists and reports.
 *
 *     static const struct column COLUMNS[] = { { "calls", COLUMN_RIGHT }, { "operator", COLUMN_WIDE
 * } }; struct table table = TABLE(COLUMNS); table_count(&table, calls); table_text(&table, name);
 *     table_print(&table, &(struct table_layout){ .width = 80 }, &out);
 *     table_release(&table);
 *
 * Rows are kept until printed, since the widths depend on all of them. Without a width every cell
 * is whole. With one, rows are made to fit it: columns that hold nothing are left out, then spare
 * columns while wide ones would become too narrow to read, and then wide cells are cut ("..."), the
 * widest first. A cell is one line of printable text (trace/base/text/printable.h). Failure to
 * allocate is told when printing. */
#ifndef SYMTAPE_PROFILE_REPORT_TABLE_H
#define SYMTAPE_PROFILE_REPORT_TABLE_H

#include "profile/report/style.h"
#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/vec.h"

enum column_kind {
    COLUMN_LEFT,
    COLUMN_RIGHT, /* numbers */
    COLUMN_WIDE,  /* texts; may be cut */
    COLUMN_PATH,  /* may be cut too, and keeps its end */
    COLUMN_MARKUP /* words of ours, which Markdown takes as they are */
};

struct column {
    const char *header;
    enum column_kind kind;
    unsigned char spare; /* 0: always there; else the greatest is left out first */
};

struct table {
    const struct column *columns;
    size_t n_columns;
    bool squeezed;   /* columns that hold nothing are left out without a width, too */
    struct buf text; /* the cells, end to end */
    vec_of(size_t)
    ends; /* of each cell in text, row by row */
};

struct table_layout {
    unsigned width;        /* of a line, indent included; 0: endless */
    unsigned indent;       /* blanks before each row */
    struct styles *styles; /* of the text that it is printed to; NULL: none */
};

/* A table over an array of struct column, which must outlive it. */
#define TABLE(columns_)                                                           \
    {                                                                             \
        .columns = (columns_), .n_columns = sizeof(columns_) / sizeof *(columns_) \
    }
void table_release(struct table *table);

/* The next cell of the current row, or of the next one when that is full. "-" is nothing. */
void table_text(struct table *table, struct str text); /* "" is nothing */
void table_printf(struct table *table, const char *fmt, ...) ERR_PRINTF(2, 3);
void table_count(struct table *table, uint64_t count);                 /* 0 is nothing */
void table_u64(struct table *table, uint64_t value);                   /* 0 is "0" */
void table_ns(struct table *table, int64_t ns);                        /* negative is nothing */
void table_place(struct table *table, struct str file, uint32_t line); /* as format_place() */
/* Ends a cell that was appended to table->text by format_text() and its like. */
void table_cell(struct table *table);

size_t table_rows(const struct table *table);
/* Header and rows; nothing when there are no rows. Failure is out's. */
void table_print(const struct table *table, const struct table_layout *layout, struct buf *out);
/* The same as a table of Markdown: texts that may be cut, which come from files, are code. */
void table_markdown(const struct table *table, struct buf *out);
/* One row as lines of its own, "header  cell", whole. */
void table_print_block(const struct table *table, size_t row, struct styles *styles,
                       struct buf *out);

#endif
