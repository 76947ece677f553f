/* Declarations that the files share which read incidents. */
#ifndef SYMTAPE_TRACE_EVENTS_INCIDENTS_INCIDENT_READING_H
#define SYMTAPE_TRACE_EVENTS_INCIDENTS_INCIDENT_READING_H

#include "trace/base/vec.h"
#include "trace/events/incidents/incidents.h"
#include "trace/events/metrics.h"

struct incident_reader {
    struct incidents incidents; /* first, because it is what the caller sees and frees */
    struct trace *trace;
    const struct chromium_list *events; /* NULL: only failures and graph breaks are read */
    const struct metrics_list *metrics;
    struct arena arena; /* of the texts that are kept */
    struct json doc;
    /* One element for each attempt of the trace. */
    struct incident_attempt {
        const struct metrics *metrics; /* metrics of the forward compile that ended here, or NULL */
        const struct metrics *unnamed; /* metrics that name no compile and are of it, or NULL */
        stack_id start;                /* stack of dynamo_start, down to the compiled frame; 0 */
        uint32_t n_graphs, n_dynamo_graphs, n_symbols, n_guards;
        uint32_t graph_break; /* index into breaks of the last one in this attempt, or TRACE_NONE */
        uint32_t error;       /* record of a dynamo_error artifact, or TRACE_NONE */
        int64_t phase_ns;     /* duration of its compile_attempt_N phase, or -1 */
        uint32_t first, last; /* attempts of its compile */
    } * attempts;
    vec_of(struct restart)
    restarts;
    vec_of(struct recompile)
    recompiles;
    vec_of(struct graph_break)
    breaks;
    vec_of(struct failure)
    failures;
};

/* These return false with err set when memory ran out or the tape could not be read. */
bool incident_read_break(struct incident_reader *r, uint32_t record, struct err *err);
bool incident_read_recompile(struct incident_reader *r, uint32_t record, struct err *err);
/* These follow when all records are read, because they combine several of them. */
bool incident_blame_breaks(struct incident_reader *r, struct err *err);
bool incident_find_restarts(struct incident_reader *r, struct err *err);
bool incident_find_failures(struct incident_reader *r, struct err *err);

/* Skips an unreadable record; only failures of memory and of I/O end the reading. */
static inline bool incident_pass_over(const struct err *unreadable, struct err *err)
{
    return unreadable->kind != ERR_ENV || err_set(err, ERR_ENV, "%s", unreadable->text);
}

#endif
