/* Writes what rank_times_make() found: a text for people, and JSON, "symtape.cache.ranks/1". */
#ifndef SYMTAPE_PROFILE_CALLS_RANKS_RANKS_REPORT_H
#define SYMTAPE_PROFILE_CALLS_RANKS_RANKS_REPORT_H

#include "profile/calls/ranks/rank_times.h"
#include "profile/report/report.h"

#define SCHEMA_CACHE_RANKS "symtape.cache.ranks/1"

/* Writes which rank the others waited for, then a line a compile by the time of its begin. */
void ranks_text(const struct rank_times *times, const struct report_options *options,
                struct buf *out);
void ranks_json(const struct rank_times *times, struct buf *out);

#endif
