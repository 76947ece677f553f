/* The fields of restarts, recompiles, graph breaks, failures and cache look-ups, for reports and
 * views. The caller has these fields as a group in a record that adds the recording, compile and
 * attempt. They need no context. */
#ifndef SYMTAPE_PROFILE_REPORT_INCIDENT_FIELDS_H
#define SYMTAPE_PROFILE_REPORT_INCIDENT_FIELDS_H

#include "profile/report/fields.h"
#include "trace/events/caches.h"
#include "trace/events/incidents/incidents.h"

/* The tables of text with these fields, which have columns of the caller as well. */
enum { INCIDENT_REPORT, INCIDENT_VIEW };

/* The fields of struct restart, recompile, graph_break, failure and cache_event. */
extern const struct fields restart_fields, recompile_fields, break_fields, failure_fields,
    cache_fields;

/* Writes the ids of the compiles that a break caused, from its trace. */
void json_break_caused(struct json_writer *w, const char *key, const struct trace *trace,
                       const struct graph_break *graph_break);

#endif
