/* Writes what levels_run_make() found: a text for people, and JSON, "symtape.cache.levels/1". */
#ifndef SYMTAPE_PROFILE_CALLS_LEVELS_LEVELS_REPORT_H
#define SYMTAPE_PROFILE_CALLS_LEVELS_LEVELS_REPORT_H

#include "profile/calls/levels/levels_run.h"
#include "profile/report/report.h"

#define SCHEMA_LEVELS "symtape.cache.levels/1"

void levels_text(const struct levels_run *run, const struct call_log *log,
                 const struct report_options *options, struct buf *out);
void levels_json(const struct levels_run *run, const struct call_log *log, struct buf *out);

#endif
