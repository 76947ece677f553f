/* Tables: counters, incidents, caches. */
#include "profile/tables/rows.h"

/* ---- Counters ---- */

static const char *const metric_units[] = {
#define UNIT_COUNT             "count"
#define UNIT_BYTES             "bytes"
#define UNIT_SECONDS           "ns"
#define UNIT_MICROSECONDS      "ns"
#define UNIT_NANOSECONDS       "ns"
#define METRIC(id, name, unit) [METRIC_##id] = UNIT_##unit,
#include "trace/events/metrics.def"
#undef METRIC
};

static struct str metrics_source(const struct metrics *metrics)
{
    if (metrics->runtime)
        return metrics->backward ? STR("backward metrics, run time") : STR("metrics, run time");
    return metrics->backward ? STR("backward metrics") : STR("metrics");
}

static bool put_metrics(struct rows *rows, const struct metrics *metrics)
{
    bool ok = true;
    for (int i = 0; ok && i < METRIC_COUNT; i++) {
        if (metrics->values[i] == METRIC_ABSENT)
            continue;
        row_where(rows, COLUMN_counters_recording_id, metrics->record, metrics->attempt);
        row_text(rows, COLUMN_counters_source, metrics_source(metrics));
        row_text(rows, COLUMN_counters_name, str_of(metric_name((enum metric)i)));
        row_text(rows, COLUMN_counters_unit, str_of(metric_units[i]));
        row_integer(rows, COLUMN_counters_value, metrics->values[i]);
        ok = row_put(rows);
    }
    return ok;
}

/* Counters of a deep recording are those of all its processes. */
static bool put_deep_counter(struct rows *rows, const struct cost_counter *counter)
{
    row_text(rows, COLUMN_counters_source, STR("simple_call_counter"));
    row_text(rows, COLUMN_counters_name, counter->label);
    row_text(rows, COLUMN_counters_unit, STR("count"));
    row_count(rows, COLUMN_counters_value, counter->pytorch);
    return row_put(rows);
}

bool rows_of_counters(struct rows *rows)
{
    const struct profile_build *b = (const struct profile_build *)rows->profile;
    const struct metrics_list *metrics = rows->in->metrics;
    const struct profile_costs *costs = &rows->profile->costs;
    bool ok = true;
    for (uint32_t i = 0; ok && i < metrics->n; i++)
        if (build_takes(b, rows->in, metrics->metrics[i].record))
            ok = put_metrics(rows, &metrics->metrics[i]);
    for (uint32_t i = 0; ok && i < costs->n_counters; i++)
        if (costs->counters[i].is_real)
            ok = put_deep_counter(rows, &costs->counters[i]);
    return ok;
}

/* ---- Incidents ---- */

/* The columns of incidents; the texts may be "". */
struct incident {
    const char *kind;
    const struct profile_where *where;
    struct str type, summary, reason, guard_of, file, function, code;
    uint32_t line;
    int64_t ns; /* -1: not known */
};

static bool put_incident(struct rows *rows, uint32_t *id, const struct incident *is)
{
    row_id(rows, COLUMN_incidents_id, (*id)++);
    row_text(rows, COLUMN_incidents_kind, str_of(is->kind));
    row_incident(rows, COLUMN_incidents_recording_id, is->where);
    row_text(rows, COLUMN_incidents_type, is->type);
    row_text(rows, COLUMN_incidents_summary, is->summary);
    row_text(rows, COLUMN_incidents_reason, is->reason);
    row_text(rows, COLUMN_incidents_guard_of, is->guard_of);
    row_text(rows, COLUMN_incidents_file, is->file);
    if (is->file.n > 0)
        row_count(rows, COLUMN_incidents_line, is->line);
    row_text(rows, COLUMN_incidents_function, is->function);
    row_text(rows, COLUMN_incidents_code, is->code);
    if (is->ns >= 0)
        row_integer(rows, COLUMN_incidents_ns, is->ns);
    return row_put(rows);
}

static struct incident of_restart(const struct profile_restart *row)
{
    return (struct incident){ .kind = "restart",
                              .where = &row->where,
                              .summary = row->is->summary,
                              .reason = row->is->reason,
                              .ns = row->is->ns };
}

/* Of several guards that did not hold, that of the newest compile, which PyTorch tried first. */
static struct incident of_recompile(const struct profile_recompile *row)
{
    struct incident ret = { .kind = "recompile", .where = &row->where, .ns = row->is->ns };
    if (row->is->n_reasons > 0) {
        const struct recompile_reason *reason = &row->is->reasons[0];
        ret.summary = reason->guard;
        ret.reason = reason->text;
        ret.guard_of = reason->compile;
        ret.file = reason->file;
        ret.line = reason->line;
        ret.code = reason->code;
    }
    return ret;
}

static struct incident of_break(const struct profile_break *row)
{
    return (struct incident){ .kind = "graph break",
                              .where = &row->where,
                              .summary = row->is->summary,
                              .reason = row->is->reason,
                              .file = row->is->file,
                              .line = row->is->line,
                              .function = row->is->function,
                              .code = row->is->code,
                              .ns = row->caused_ns };
}

static struct incident of_failure(const struct profile_failure *row)
{
    return (struct incident){ .kind = "failure",
                              .where = &row->where,
                              .type = row->is->type,
                              .summary = row->is->summary,
                              .reason = row->is->reason,
                              .file = row->is->file,
                              .line = row->is->line,
                              .code = row->is->code,
                              .ns = -1 };
}

/* Writes all incidents of one kind. */
#define PUT_INCIDENTS(list, n_list, incident_of)                   \
    for (uint32_t i = 0; ok && i < rows->profile->n_list; i++) {   \
        struct incident is = incident_of(&rows->profile->list[i]); \
        ok = put_incident(rows, &id, &is);                         \
    }

bool rows_of_incidents(struct rows *rows)
{
    uint32_t id = 0;
    bool ok = true;
    PUT_INCIDENTS(restarts, n_restarts, of_restart)
    PUT_INCIDENTS(recompiles, n_recompiles, of_recompile)
    PUT_INCIDENTS(breaks, n_breaks, of_break)
    PUT_INCIDENTS(failures, n_failures, of_failure)
    return ok;
}

/* ---- Caches ---- */

bool rows_of_caches(struct rows *rows)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < rows->profile->n_caches; i++) {
        const struct profile_cache *row = &rows->profile->caches[i];
        row_id(rows, COLUMN_caches_id, i);
        row_incident(rows, COLUMN_caches_recording_id, &row->where);
        row_text(rows, COLUMN_caches_cache, str_of(cache_kind_name(row->is->kind)));
        row_text(rows, COLUMN_caches_result, str_of(cache_state_name(row->is->state)));
        row_text(rows, COLUMN_caches_name, row->is->name);
        row_text(rows, COLUMN_caches_key, row->is->key);
        row_text(rows, COLUMN_caches_reason, row->is->reason);
        row_text(rows, COLUMN_caches_detail, row->is->detail);
        if (row->is->taken_ns >= 0)
            row_integer(rows, COLUMN_caches_ns, row->is->taken_ns);
        ok = row_put(rows);
    }
    return ok;
}
