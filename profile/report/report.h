/* Writers of profiles. Each appends to a buffer; check out->failed at the end.
 *
 *   text    for people: headlines first, then a table for each part
 *   json    "symtape.profile/1": all of it; every number an integer, times in nanoseconds
 *
 * Those of other programs' formats are in profile/viewers. */
#ifndef SYMTAPE_PROFILE_REPORT_REPORT_H
#define SYMTAPE_PROFILE_REPORT_REPORT_H

#include "profile/diagnosis/diagnosis.h"
#include "profile/model/profile.h"
#include "profile/report/table.h"
#include "trace/base/buf.h"

struct report_options {
    const struct diagnosis *diagnosis; /* the causes on top of text and JSON; NULL: none */
    unsigned width;                    /* columns to fit text into; 0: lines are whole */
    struct styles *styles;             /* of the buffer that is written to; NULL: none */
    uint32_t limit; /* rows of a table, 0: all; of json: of phases, operators, lines, guards */
};

/* Returns how many of `n` rows to show. */
static inline uint32_t report_shown(const struct report_options *options, uint32_t n)
{
    return options->limit > 0 && n > options->limit ? options->limit : n;
}

/* Prints and releases a table; says how many of `n` rows are not in it. */
void report_table(struct table *table, const struct report_options *options, unsigned indent,
                  uint32_t n, struct buf *out);

/* Appends one line: the compile time, and how many compiles, attempts, graphs, guards and records
 * it is made of. */
void report_counts(const struct profile *profile, const struct report_options *options,
                   struct buf *out);

void report_text(const struct profile *profile, const struct report_options *options,
                 struct buf *out);
void report_json(const struct profile *profile, const struct report_options *options,
                 struct buf *out);

#endif
