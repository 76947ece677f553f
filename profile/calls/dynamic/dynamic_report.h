/* Writes what dynamic_run_make() found: a text for people, and JSON, "symtape.dynamic/1". */
#ifndef SYMTAPE_PROFILE_CALLS_DYNAMIC_DYNAMIC_REPORT_H
#define SYMTAPE_PROFILE_CALLS_DYNAMIC_DYNAMIC_REPORT_H

#include "profile/calls/dynamic/dynamic_run.h"
#include "profile/report/report.h"

#define SCHEMA_DYNAMIC "symtape.dynamic/1"

/* Writes the answer, the policies and the inputs. */
void dynamic_text(const struct dynamic_run *run, const struct report_options *options,
                  struct buf *out);
/* Writes what to paste: lines of Python that fit, and must not be folded. */
void dynamic_paste_text(const struct dynamic_run *run, const struct report_options *options,
                        struct buf *out);
void dynamic_json(const struct dynamic_run *run, struct buf *out);

/* "x.size()[0]", "n" */
void put_input_name(const struct dynamic_run *run, const struct input_row *row, struct buf *out);
/* "at most 4 compiles (about 2.06 s), 0 calls run eagerly instead of 2": of calls that were not
 * recorded so. */
void put_estimate(const struct dynamic_run *run, const struct policy_counts *counts,
                  struct buf *out);
/* "4", "S(1)", "?" */
void put_atom(struct atom atom, struct buf *out);

#endif
