/* Writes what cache_run_make() found: a text for people, and JSON, "symtape.cache/1". */
#ifndef SYMTAPE_PROFILE_CALLS_CACHE_CACHE_REPORT_H
#define SYMTAPE_PROFILE_CALLS_CACHE_CACHE_REPORT_H

#include "profile/calls/cache/cache_run.h"
#include "profile/report/report.h"

#define SCHEMA_CACHE "symtape.cache/1"

/* Writes totals, then a line a call, then the entries. */
void cache_text(const struct cache_run *run, const struct call_log *log,
                const struct report_options *options, struct buf *out);
void cache_json(const struct cache_run *run, const struct call_log *log, struct buf *out);

#endif
