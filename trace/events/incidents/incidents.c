#include "trace/events/incidents/incidents.h"

#include "trace/events/guards.h"
#include "trace/events/incidents/incident_reading.h"
#include "trace/graphs.h"

static bool count_attempt_graphs(struct incident_reader *r, struct err *err)
{
    const struct graph_list *graphs = trace_graphs(r->trace, err);
    if (!graphs)
        return false;
    for (uint32_t i = 0; i < graphs->n; i++) {
        const struct graph_ref *ref = &graphs->refs[i];
        if (ref->attempt == TRACE_NONE)
            continue;
        r->attempts[ref->attempt].n_graphs++;
        r->attempts[ref->attempt].n_dynamo_graphs += ref->kind == GRAPH_DYNAMO;
    }
    return true;
}

static bool count_attempt_guards(struct incident_reader *r, struct err *err)
{
    const struct guard_list *guards = trace_guards(r->trace, err);
    if (!guards)
        return false;
    for (uint32_t i = 0; i < guards->n; i++)
        if (guards->guards[i].kind == GUARD_EVAL && guards->guards[i].attempt != TRACE_NONE)
            r->attempts[guards->guards[i].attempt].n_guards++;
    return true;
}

static bool is_attempt_phase(const struct incident_reader *r, const struct chromium_event *event)
{
    char name[40];
    if (event->attempt == TRACE_NONE || !event->timed)
        return false;
    snprintf(name, sizeof name, "compile_attempt_%u", r->trace->attempts[event->attempt].number);
    return str_is(event->name, name);
}

static void time_attempts(struct incident_reader *r)
{
    const struct chromium_event *begin = NULL;
    for (uint32_t i = 0; i < r->events->n; i++) {
        const struct chromium_event *event = &r->events->events[i];
        if (!is_attempt_phase(r, event))
            continue;
        struct incident_attempt *attempt = &r->attempts[event->attempt];
        if (event->phase == 'X')
            attempt->phase_ns = event->duration_ns;
        else if (event->phase == 'E' && begin && begin->attempt == event->attempt)
            attempt->phase_ns = event->time_ns - begin->time_ns;
        begin = event->phase == 'B' ? event : NULL;
    }
}

static bool read_start(struct incident_reader *r, uint32_t record, struct err *err)
{
    struct err unreadable = { 0 };
    if (!record_json(r->trace, record, &r->doc, &unreadable))
        return incident_pass_over(&unreadable, err);
    struct incident_attempt *attempt = &r->attempts[r->trace->records[record].attempt];
    if (attempt->start == 0)
        attempt->start = record_stack(r->trace, &r->doc, STR("stack"));
    return true;
}

static bool read_incident_artifact(struct incident_reader *r, uint32_t record, struct err *err)
{
    struct err unreadable = { 0 };
    if (!record_json(r->trace, record, &r->doc, &unreadable))
        return incident_pass_over(&unreadable, err);
    json_id name = json_get(&r->doc, JSON_ROOT, STR("name"));
    if (json_is(&r->doc, name, "dynamo_graph_break_reason"))
        return incident_read_break(r, record, err);
    if (r->events && json_is(&r->doc, name, "recompile_reasons"))
        return incident_read_recompile(r, record, err);
    if (json_is(&r->doc, name, "dynamo_error"))
        r->attempts[r->trace->records[record].attempt].error = record;
    return true;
}

/* Reads the records. Those that name no compile belong to no incident. */
static bool read_incident_records(struct incident_reader *r, struct err *err)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < r->trace->n_records; i++) {
        const struct record *record = &r->trace->records[i];
        if (record->attempt == TRACE_NONE)
            continue;
        if (record->event == EVENT_DYNAMO_START)
            ok = read_start(r, i, err);
        else if (record->event == EVENT_ARTIFACT)
            ok = read_incident_artifact(r, i, err);
        else if (record->event == EVENT_CREATE_SYMBOL ||
                 record->event == EVENT_CREATE_UNBACKED_SYMBOL)
            r->attempts[record->attempt].n_symbols++;
    }
    return ok;
}

/* Sets the first and last attempt of each attempt's compile. */
static void set_ends(struct incident_reader *r)
{
    const struct attempt *attempts = r->trace->attempts;
    for (uint32_t i = 0; i < r->trace->n_attempts; i++) {
        uint32_t previous = attempts[i].previous; /* TRACE_NONE is more than i */
        r->attempts[i].first = previous < i ? r->attempts[previous].first : i;
    }
    for (uint32_t i = r->trace->n_attempts; i-- > 0;) {
        uint32_t next = attempts[i].next;
        r->attempts[i].last = next != TRACE_NONE && next > i ? r->attempts[next].last : i;
    }
}

static bool prepare_incidents(struct incident_reader *r, struct err *err)
{
    size_t n = r->trace->n_attempts;
    r->attempts = calloc(n + 1, sizeof *r->attempts);
    if (!r->attempts)
        return err_nomem(err);
    for (size_t i = 0; i < n; i++) {
        r->attempts[i].graph_break = r->attempts[i].error = TRACE_NONE;
        r->attempts[i].phase_ns = -1;
    }
    for (uint32_t i = 0; i < r->metrics->n; i++) {
        const struct metrics *m = &r->metrics->metrics[i];
        if (m->attempt != TRACE_NONE && !m->backward && !m->runtime)
            r->attempts[m->attempt].metrics = m;
    }
    set_ends(r);
    if (!r->events)
        return true;
    time_attempts(r);
    return count_attempt_graphs(r, err) && count_attempt_guards(r, err);
}

/* Sets the arrays in the result to those of the reader. */
static void publish_incidents(struct incident_reader *r)
{
    struct incidents *all = &r->incidents;
    all->restarts = r->restarts.v;
    all->n_restarts = (uint32_t)r->restarts.n;
    all->recompiles = r->recompiles.v;
    all->n_recompiles = (uint32_t)r->recompiles.n;
    all->breaks = r->breaks.v;
    all->n_breaks = (uint32_t)r->breaks.n;
    all->failures = r->failures.v;
    all->n_failures = (uint32_t)r->failures.n;
}

static struct incidents *read_with(struct trace *trace, const struct chromium_list *events,
                                   const struct metrics_list *metrics, struct err *err)
{
    struct incident_reader *r = calloc(1, sizeof *r);
    if (!r) {
        err_nomem(err);
        return NULL;
    }
    r->trace = trace;
    r->events = events;
    r->metrics = metrics;
    bool ok = prepare_incidents(r, err) && read_incident_records(r, err) &&
              (!events || (incident_blame_breaks(r, err) && incident_find_restarts(r, err))) &&
              incident_find_failures(r, err);
    json_release(&r->doc);
    free(r->attempts);
    publish_incidents(r);
    if (ok)
        return &r->incidents;
    incidents_free(&r->incidents);
    return NULL;
}

static struct incidents *read_incidents(struct trace *trace, const struct chromium_list *events,
                                        struct err *err)
{
    struct metrics_list *metrics = metrics_read(trace, err);
    struct incidents *incidents = metrics ? read_with(trace, events, metrics, err) : NULL;
    metrics_free(metrics);
    return incidents;
}

struct incidents *incidents_read(struct trace *trace, const struct chromium_list *events,
                                 struct err *err)
{
    if (events)
        return read_incidents(trace, events, err);
    struct chromium_list *own = chromium_read(trace, err);
    struct incidents *incidents = own ? read_incidents(trace, own, err) : NULL;
    chromium_free(own);
    return incidents;
}

struct incidents *incidents_read_failures(struct trace *trace, struct err *err)
{
    return read_incidents(trace, NULL, err);
}

void incidents_free(struct incidents *incidents)
{
    struct incident_reader *r = (struct incident_reader *)incidents;
    if (!r)
        return;
    vec_release(&r->restarts);
    vec_release(&r->recompiles);
    vec_release(&r->breaks);
    vec_release(&r->failures);
    arena_release(&r->arena);
    free(r);
}
