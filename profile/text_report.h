/* Private to the text report: what its sections share. */
#ifndef SYMTAPE_PROFILE_TEXT_REPORT_H
#define SYMTAPE_PROFILE_TEXT_REPORT_H

#include "profile/report.h"
#include "profile/text_table.h"

struct text_report {
    const struct profile *p;
    const struct report_options *options;
    struct buf *out;
};

/* A table over an array of struct text_column. */
#define TEXT_TABLE(columns_)                                                                  \
    { .columns = (columns_), .n_columns = sizeof(columns_) / sizeof *(columns_) }

/* How many of `n` rows to show. */
uint32_t text_shown(const struct text_report *r, uint32_t n);
void text_title(const struct text_report *r, const char *text);
/* Prints and releases a table; says how many of `n` rows are not in it. */
void text_finish(const struct text_report *r, struct text_table *table, uint32_t n);

/* Cells; what is nothing is "-". */
void text_ns(struct text_table *table, int64_t ns); /* negative: nothing */
void text_count(struct text_table *table, uint64_t count);
void text_text(struct text_table *table, struct str text);
void text_place(struct text_table *table, struct str file, uint32_t line);
/* "0/0", or "0/0 rank1" when there are several recordings. */
void text_compile(const struct text_report *r, struct text_table *table, uint32_t recording,
                  uint32_t compile);
const char *text_status(enum attempt_status status);

/* The sections, each nothing where it has nothing to show. */
void text_unfinished(const struct text_report *r);
void text_phases(const struct text_report *r);
void text_recordings(const struct text_report *r);
void text_differences(const struct text_report *r);
void text_compiles(const struct text_report *r);
void text_restarts(const struct text_report *r);
void text_failures(const struct text_report *r);
void text_breaks(const struct text_report *r);
void text_recompiles(const struct text_report *r);
void text_lines(const struct text_report *r);
void text_guards(const struct text_report *r);
void text_symbols(const struct text_report *r);
void text_expansion(const struct text_report *r);
void text_operators(const struct text_report *r);
void text_caches(const struct text_report *r);

#endif
