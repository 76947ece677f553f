/* Writes what warm_start_make() found: a text for people, and JSON, "symtape.cache.compare/1". */
#ifndef SYMTAPE_PROFILE_CALLS_WARM_WARM_REPORT_H
#define SYMTAPE_PROFILE_CALLS_WARM_WARM_REPORT_H

#include "profile/calls/warm/warm_start.h"
#include "profile/report/report.h"

#define SCHEMA_CACHE_COMPARE "symtape.cache.compare/1"

/* Writes the answer, then why graphs were compiled again, what each cache answered, and a line a
 * graph. */
void warm_text(const struct warm_start *w, const struct report_options *options, struct buf *out);
void warm_json(const struct warm_start *w, struct buf *out);

#endif
