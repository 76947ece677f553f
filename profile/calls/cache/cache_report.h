/* Writes what cache_run_make() found: a text for people, and JSON, "symtape.cache/1". */
#ifndef SYMTAPE_PROFILE_CALLS_CACHE_CACHE_REPORT_H
#define SYMTAPE_PROFILE_CALLS_CACHE_CACHE_REPORT_H

#include "profile/calls/cache/cache_run.h"
#include "profile/report/report.h"

#define SCHEMA_CACHE "symtape.cache/1"

/* Writes totals, then a line a call, then the entries. */
void cache_text(const struct cache_run *run, const struct call_log *log,
                const struct report_options *options, struct buf *out);
/* Appends a sentence on what makes the answers doubtful, which each report of the calls has:
 * compiles that contradict the tape (never 0), and the source of a value that calls do not list. */
void cache_put_contradictions(uint32_t n_compiles, struct buf *out);
void cache_put_unlisted(struct str source, struct buf *out);
void cache_json(const struct cache_run *run, const struct call_log *log, struct buf *out);

#endif
