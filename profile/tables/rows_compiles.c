/* Tables: recordings, compiles, attempts, phases. */
#include "profile/tables/rows.h"

bool rows_of_recordings(struct rows *rows)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < rows->profile->n_recordings; i++) {
        const struct profile_recording *p = &rows->profile->recordings[i];
        const struct recording *r = &rows->trace->recordings[p->recording];
        row_id(rows, COLUMN_recordings_id, i);
        row_text(rows, COLUMN_recordings_name, r->name);
        row_text(rows, COLUMN_recordings_kind, r->kind == RECORDING_LOG ? STR("log") : STR("pt2"));
        row_text(rows, COLUMN_recordings_source, r->source);
        if (r->rank >= 0)
            row_integer(rows, COLUMN_recordings_rank, r->rank);
        if (r->kind == RECORDING_LOG)
            row_count(rows, COLUMN_recordings_pid, r->pid);
        row_text(rows, COLUMN_recordings_torch, r->torch_version);
        row_count(rows, COLUMN_recordings_records, r->n_records);
        row_count(rows, COLUMN_recordings_payloads, r->payloads);
        row_count(rows, COLUMN_recordings_damaged, r->damaged);
        row_count(rows, COLUMN_recordings_bytes, r->bytes);
        row_bool(rows, COLUMN_recordings_complete, r->complete);
        row_integer(rows, COLUMN_recordings_compile_ns, p->compile_ns);
        ok = row_put(rows);
    }
    return ok;
}

bool rows_of_compiles(struct rows *rows)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < rows->profile->n_compiles; i++) {
        const struct profile_compile *c = &rows->profile->compiles[i];
        row_id(rows, COLUMN_compiles_id, i);
        row_id(rows, COLUMN_compiles_recording_id, c->recording);
        row_text(rows, COLUMN_compiles_name, c->id);
        row_text(rows, COLUMN_compiles_function, c->function);
        row_text(rows, COLUMN_compiles_file, c->file);
        if (c->file.n > 0)
            row_count(rows, COLUMN_compiles_line, c->line);
        row_text(rows, COLUMN_compiles_status, str_of(attempt_status_name(c->status)));
        row_count(rows, COLUMN_compiles_attempts, c->n_attempts);
        row_integer(rows, COLUMN_compiles_ns, c->ns);
        row_integer(rows, COLUMN_compiles_restarted_ns, c->restarted_ns);
        row_count(rows, COLUMN_compiles_records, c->n_records);
        row_count(rows, COLUMN_compiles_graphs, c->n_graphs);
        row_count(rows, COLUMN_compiles_guards, c->n_guards);
        row_count(rows, COLUMN_compiles_symbols, c->n_symbols);
        row_count(rows, COLUMN_compiles_specializations, c->n_specializations);
        ok = row_put(rows);
    }
    return ok;
}

/* ---- Attempts ---- */

/* Returns the microseconds from the recording's first record to another one. */
static int64_t since_start(const struct trace *trace, uint32_t record)
{
    const struct recording *recording = &trace->recordings[trace->records[record].recording];
    return record_us_between(trace, recording->first_record, record);
}

/* Returns when the last record of an attempt, which has records, was written. What a deep recording
 * adds is not in the order of its times. */
static int64_t latest(const struct trace *trace, const struct attempt *a)
{
    int64_t us = since_start(trace, a->records[0]);
    for (uint32_t i = 1; i < a->n_records; i++) {
        int64_t at = since_start(trace, a->records[i]);
        us = at > us ? at : us;
    }
    return us;
}

static bool put_attempt(struct rows *rows, uint32_t i)
{
    const struct attempt *a = &rows->trace->attempts[i];
    row_id(rows, COLUMN_attempts_id, i);
    row_id(rows, COLUMN_attempts_recording_id, rows->in->recording_of[a->recording]);
    row_id(rows, COLUMN_attempts_compile_id, build_compile(rows->in, i));
    row_integer(rows, COLUMN_attempts_number, a->number);
    row_text(rows, COLUMN_attempts_status, str_of(attempt_status_name(a->status)));
    row_bool(rows, COLUMN_attempts_kept, build_kept(rows->in, i));
    row_count(rows, COLUMN_attempts_records, a->n_records);
    if (a->n_records > 0) {
        uint32_t first = a->records[0];
        row_integer(rows, COLUMN_attempts_start_us, since_start(rows->trace, first));
        row_integer(rows, COLUMN_attempts_end_us, latest(rows->trace, a));
        row_count(rows, COLUMN_attempts_log_line, rows->trace->records[first].line);
    }
    return row_put(rows);
}

bool rows_of_attempts(struct rows *rows)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < rows->trace->n_attempts; i++)
        if (build_compile(rows->in, i) != PROFILE_NONE)
            ok = put_attempt(rows, i);
    return ok;
}

/* ---- Phases ---- */

/* Phases of one track that have begun and not ended, the outermost first. */
struct open_phases {
    uint32_t *v;
    size_t n;
};

/* Returns the innermost open phase that lasts as long as this one, or PROFILE_NONE. Phases that
 * overlap without nesting are passed by, a number of them that files cannot choose. */
static uint32_t enclosing(const struct phase_span *spans, struct open_phases *open, uint32_t at)
{
    enum { MOST_PASSED = 64 };
    while (open->n > 0 && spans[open->v[open->n - 1]].end_ns <= spans[at].start_ns)
        open->n--;
    for (size_t i = open->n; i > 0 && open->n - i < MOST_PASSED; i--)
        if (spans[open->v[i - 1]].end_ns >= spans[at].end_ns)
            return open->v[i - 1];
    return PROFILE_NONE;
}

static bool put_phase(struct rows *rows, uint32_t i, uint32_t parent)
{
    const struct phase_span *span = &rows->profile->phases.spans[i];
    struct str name = profile_name(rows->profile, span->name);
    row_id(rows, COLUMN_phases_id, i);
    row_id(rows, COLUMN_phases_parent_id, parent);
    row_id(rows, COLUMN_phases_recording_id, span->recording);
    row_id(rows, COLUMN_phases_compile_id, span->compile);
    row_id(rows, COLUMN_phases_attempt_id, span->attempt);
    row_text(rows, COLUMN_phases_name, name);
    row_text(rows, COLUMN_phases_part, str_of(phase_part_title(phase_part_of(name))));
    row_text(rows, COLUMN_phases_detail, span->detail);
    row_count(rows, COLUMN_phases_pid, span->pid);
    row_count(rows, COLUMN_phases_tid, span->tid);
    row_bool(rows, COLUMN_phases_asynchronous, span->async);
    row_bool(rows, COLUMN_phases_unfinished, span->unfinished);
    row_integer(rows, COLUMN_phases_start_ns, span->start_ns);
    row_integer(rows, COLUMN_phases_ns, span->end_ns - span->start_ns);
    return row_put(rows);
}

bool rows_of_phases(struct rows *rows)
{
    const struct profile_phases *phases = &rows->profile->phases;
    struct open_phases open = { .v = calloc((size_t)phases->n_spans + 1, sizeof *open.v) };
    bool ok = open.v || err_nomem(rows->err);
    for (uint32_t i = 0; ok && i < phases->n_spans; i++) {
        if (i > 0 && phases->spans[i].track != phases->spans[i - 1].track)
            open.n = 0;
        uint32_t parent = enclosing(phases->spans, &open, i);
        ok = put_phase(rows, i, parent);
        open.v[open.n++] = i;
    }
    free(open.v);
    return ok;
}
