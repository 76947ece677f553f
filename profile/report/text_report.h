/* Private to the text report: what its sections share. */
#ifndef SYMTAPE_PROFILE_REPORT_TEXT_REPORT_H
#define SYMTAPE_PROFILE_REPORT_TEXT_REPORT_H

#include "profile/report/report.h"
#include "profile/report/table.h"

struct text_report {
    const struct profile *p;
    const struct report_options *options;
    struct buf *out;
};

/* How many of `n` rows to show. */
static inline uint32_t text_shown(const struct text_report *r, uint32_t n)
{
    return report_shown(r->options, n);
}

void text_title(const struct text_report *r, const char *text);
/* Prints and releases a table; says how many of `n` rows are not in it. */
void text_finish(const struct text_report *r, struct table *table, uint32_t n);

/* The numbers 0 ... n-1, the slowest first; `ns` says how long the i-th took. NULL when memory ran
 * out (then r->out has failed). The caller frees. */
uint32_t *text_slowest_first(const struct text_report *r, uint32_t n,
                             int64_t (*ns)(const struct profile *profile, uint32_t i));

/* Sentences, if any, wrapped below a title; releases their buffer. */
void text_paragraph(const struct text_report *r, struct buf *text);

/* Cell "0/0", or "0/0 rank1" when there are several recordings. */
void text_compile(const struct text_report *r, struct table *table, uint32_t recording,
                  uint32_t compile);

/* The sections, each nothing where it has nothing to show. */
void text_unfinished(const struct text_report *r);
void text_phases(const struct text_report *r);
void text_phase_totals(const struct text_report *r);
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
/* What --by asked for; false when it asked for nothing. */
bool text_groups(const struct text_report *r);
void text_levels(const struct text_report *r);
void text_costs(const struct text_report *r);
void text_allocations(const struct text_report *r);
void text_counters(const struct text_report *r);
void text_spots(const struct text_report *r);
void text_size_uses(const struct text_report *r);
void text_phase_memory(const struct text_report *r);
void text_graph_memory(const struct text_report *r);

#endif
