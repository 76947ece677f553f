/* Restarts, recompiles, graph breaks, failures and cache look-ups: the fields that say what each
 * was, for reports and views. Where it belongs (recording, compile, attempt) is the caller's, who
 * has these fields as a group. They need no context. */
#ifndef SYMTAPE_PROFILE_REPORT_INCIDENT_FIELDS_H
#define SYMTAPE_PROFILE_REPORT_INCIDENT_FIELDS_H

#include "profile/report/fields.h"
#include "trace/events/caches.h"
#include "trace/events/incidents.h"

/* The tables of text that they stand in, which have columns of the caller's as well. */
enum { INCIDENT_REPORT, INCIDENT_VIEW };

/* Of struct restart, recompile, graph_break, failure and cache_event. */
extern const struct fields restart_fields, recompile_fields, break_fields, failure_fields,
    cache_fields;

/* The ids of the compiles that a break caused, which its trace knows. */
void json_break_caused(struct json_writer *w, const char *key, const struct trace *trace,
                       const struct graph_break *graph_break);

#endif
