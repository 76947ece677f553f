/* Writes what cudagraph_run_make() found: a text for people, and JSON, "symtape.cudagraphs/1". */
#ifndef SYMTAPE_PROFILE_CALLS_CUDAGRAPHS_CUDAGRAPH_REPORT_H
#define SYMTAPE_PROFILE_CALLS_CUDAGRAPHS_CUDAGRAPH_REPORT_H

#include "profile/calls/cudagraphs/cudagraph_run.h"
#include "profile/report/report.h"

#define SCHEMA_CUDAGRAPHS "symtape.cudagraphs/1"

/* Writes the totals, then a line a graph, a line a size, paddings, and a line a call. */
void cudagraph_text(const struct cudagraph_run *run, const struct cache_run *cache,
                    const struct call_log *log, const struct report_options *options,
                    struct buf *out);
void cudagraph_json(const struct cudagraph_run *run, const struct call_log *log, struct buf *out);

const char *run_mode_name(enum run_mode mode); /* "inference", "forward", "backward" */

#endif
