/* Restarts, recompiles, graph breaks, failures and cache look-ups as JSON: the members that say
 * what each was. Where it belongs (recording, compile, attempt) is the caller's. */
#ifndef SYMTAPE_PROFILE_REPORT_INCIDENT_JSON_H
#define SYMTAPE_PROFILE_REPORT_INCIDENT_JSON_H

#include "trace/base/text/json_write.h"
#include "trace/events/caches.h"
#include "trace/events/incidents.h"

void json_put_restart(struct json_writer *w, const struct restart *restart);
void json_put_recompile(struct json_writer *w, const struct recompile *recompile);
void json_put_break(struct json_writer *w, const struct trace *trace,
                    const struct graph_break *graph_break);
void json_put_failure(struct json_writer *w, const struct failure *failure);
void json_put_cache(struct json_writer *w, const struct cache_event *event);

/* A user line, {"file", "line", "code"}; null where there is none. */
void json_put_line(struct json_writer *w, const char *key, struct str file, uint32_t line,
                   struct str code);
/* A time or count; null when it is negative, which stands for "not known". */
void json_put_known(struct json_writer *w, const char *key, int64_t value);

#endif
