/* Writes what cache_run_make() found: a text for people, and JSON, "symtape.cache/1". */
#ifndef SYMTAPE_PROFILE_CALLS_CACHE_CACHE_REPORT_H
#define SYMTAPE_PROFILE_CALLS_CACHE_CACHE_REPORT_H

#include "profile/calls/cache/cache_run.h"
#include "profile/report/report.h"
#include "trace/base/text/json_write.h"

#define SCHEMA_CACHE "symtape.cache/1"

/* Writes totals, then a line a call, then the entries. */
void cache_text(const struct cache_run *run, const struct call_log *log,
                const struct report_options *options, struct buf *out);
/* Appends a sentence on what makes the answers doubtful, which each report of the calls has:
 * compiles that contradict the tape (never 0), and the source of a value that calls do not list. */
void cache_put_contradictions(uint32_t n_compiles, struct buf *out);
void cache_put_unlisted(struct str source, struct buf *out);
/* The same of calls of `function` that were taken for those of a code object. */
void cache_put_guessed(struct str function, struct str file, uint32_t line, struct str code,
                       struct buf *out);
/* Writes the member "guessed". */
void cache_json_guessed(const struct cache_run *run, struct json_writer *w);
void cache_json(const struct cache_run *run, const struct call_log *log, struct buf *out);

#endif
