/* Aligned columns, for lists and reports.
 *
 *     static const struct column COLUMNS[] = {
 *         { "calls", COLUMN_RIGHT },
 *         { "operator", COLUMN_WIDE },
 *     };
 *     struct table table = TABLE(COLUMNS);
 *     table_count(&table, calls);
 *     table_text(&table, name);
 *     table_print(&table, &(struct table_layout){ .width = 80 }, &out);
 *     table_release(&table);
 *
 * Rows are stored until they are printed, since the widths depend on all of them. Without a width
 * every cell is printed whole. With one, rows are made to fit: first empty columns are left out,
 * then spare columns as long as wide ones would be too narrow to read, then headers are folded at
 * their blanks, wide cells are cut ("..."), the widest first, and at last names. A cell is one line
 * of printable text (trace/base/text/printable.h). Failure to allocate is reported when the table
 * is printed. */
#ifndef SYMTAPE_PROFILE_REPORT_TABLE_H
#define SYMTAPE_PROFILE_REPORT_TABLE_H

#include "profile/report/style.h"
#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/vec.h"

enum column_kind {
    COLUMN_LEFT,  /* names; cut when all else is not enough, and keep both of their ends */
    COLUMN_RIGHT, /* numbers */
    COLUMN_WIDE,  /* texts; may be cut */
    COLUMN_PATH,  /* may be cut too, and keeps its end */
    COLUMN_MARKUP /* words of symtape, which Markdown prints as they are */
};

struct column {
    const char *header;
    enum column_kind kind;
    unsigned char spare; /* 0: never left out; else the greatest is left out first */
};

struct table {
    const struct column *columns;
    size_t n_columns;
    bool squeezed;   /* empty columns are left out without a width, too */
    struct buf text; /* the cells, without separators */
    vec_of(size_t)
    ends; /* the end of each cell in `text`, row by row */
};

struct table_layout {
    unsigned width;        /* of a line, indent included; 0: unlimited */
    unsigned indent;       /* blanks before each row */
    struct styles *styles; /* of the text that it is printed to; NULL: none */
};

/* Initializer of a table over an array of struct column, which must outlive it. */
#define TABLE(columns_)                                                           \
    {                                                                             \
        .columns = (columns_), .n_columns = sizeof(columns_) / sizeof *(columns_) \
    }
void table_release(struct table *table);

/* Each adds the next cell of the current row, or the first of the next row. An empty cell is
 * "-". */
void table_text(struct table *table, struct str text); /* "" is empty */
void table_printf(struct table *table, const char *fmt, ...) ERR_PRINTF(2, 3);
void table_count(struct table *table, uint64_t count);                 /* 0 is empty */
void table_u64(struct table *table, uint64_t value);                   /* 0 is "0" */
void table_ns(struct table *table, int64_t ns);                        /* negative is empty */
void table_place(struct table *table, struct str file, uint32_t line); /* as format_place() */
/* Ends a cell whose text was appended to table->text, for example by format_text(). */
void table_cell(struct table *table);

/* Appends to `ret` a row for each column of `table`: its header, then its cell of each row. */
void table_transpose(const struct table *table, struct table *ret);

size_t table_rows(const struct table *table);
/* Returns the text of a cell, "-" if it is empty. */
struct str table_cell_text(const struct table *table, size_t row, size_t column);
/* Prints the header and rows, or nothing without rows. Failure is reported by out->failed. */
void table_print(const struct table *table, const struct table_layout *layout, struct buf *out);
/* Prints the table as Markdown. Texts that may be cut come from files and are marked as code. */
void table_markdown(const struct table *table, struct buf *out);
/* Prints one row as lines of "header cell", not cut. */
void table_print_block(const struct table *table, size_t row, struct styles *styles,
                       struct buf *out);

#endif
