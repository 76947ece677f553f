#include "profile/calls/levels/levels_report.h"
#include "trace/base/text/json_write.h"

static void put_counts(const struct level_counts *counts, struct json_writer *w)
{
    json_put_u64(w, "recorded", counts->recorded);
    json_put_u64(w, "compiles", counts->levels);
    json_put_double(w, "recorded_seconds", counts->recorded_seconds);
    json_put_double(w, "seconds", counts->seconds);
}

static void put_totals(const struct levels_run *run, struct json_writer *w)
{
    json_open_object(w, "totals");
    put_counts(&run->all, w);
    json_open_object(w, "guards");
    json_put_u64(w, "asked", run->asked.asked);
    json_put_u64(w, "again", run->asked.again);
    json_put_bool(w, "partial", run->asked.partial);
    json_close(w);
    json_put_u64(w, "copied_gradients", run->n_copied);
    json_put_u64(w, "data_breaks", run->levels.n_data);
    json_put_u64(w, "other_breaks", run->levels.n_other);
    json_put_bool(w, "no_frames", run->no_frames);
    json_put_bool(w, "no_backwards", !run->cache.backwards.n);
    json_put_u64(w, "untimed", run->n_untimed);
    json_put_u64(w, "doubtful", run->n_doubtful);
    json_put_u64(w, "contradictions", run->cache.n_contradictions);
    json_close(w);
}

static void put_levels(const struct levels_run *run, struct json_writer *w)
{
    json_open_array(w, "levels");
    for (uint32_t i = 0; i < run->counts.n; i++) {
        json_open_object(w, NULL);
        json_put_u64(w, "level", i + 1);
        put_counts(&run->counts.v[i], w);
        json_close(w);
    }
    json_close(w);
    json_open_object(w, "backward");
    put_counts(&run->backward, w);
    json_close(w);
}

static struct str code_name(const struct levels_run *run, uint32_t code)
{
    return run->cache.codes.v[code].name;
}

static void put_artifact(const struct levels_run *run, const struct call_log *log,
                         const struct level_artifact *artifact, struct json_writer *w)
{
    json_open_object(w, NULL);
    json_put_u64(w, "level", artifact->level);
    json_put_bool(w, "backward", artifact->backward);
    json_put_bool(w, "strided_gradient", artifact->strided);
    json_put_u64(w, "call", log->calls.v[artifact->call].number);
    json_put_u64(w, "answers", artifact->answers);
    json_put_double(w, "seconds", artifact->seconds);
    json_open_array(w, "graphs");
    for (uint32_t i = 0; i < artifact->n_parts; i++) {
        uint32_t part = run->artifact_parts.v[artifact->first_part + i];
        json_put_str(w, NULL, code_name(run, run->parts.v[part].code));
    }
    json_close(w);
    json_close(w);
}

static void put_functions(const struct levels_run *run, const struct call_log *log,
                          struct json_writer *w)
{
    json_open_array(w, "functions");
    for (size_t i = 0; i < run->graphs.n; i++) {
        const struct call_graphs *row = &run->graphs.v[i];
        json_open_object(w, NULL);
        json_put_str(w, "code", code_name(run, row->code));
        json_put_u64(w, "call", log->calls.v[row->call].number);
        json_put_u64(w, "recorded", row->recorded);
        json_put_u64(w, "graphs", row->levels);
        json_close(w);
    }
    json_close(w);
}

static void put_spared(const struct levels_run *run, const struct call_log *log,
                       struct json_writer *w)
{
    json_open_array(w, "spared");
    for (size_t i = 0; i < run->spared.n; i++) {
        const struct spared_compile *spared = &run->spared.v[i];
        const struct lookup_row *row = &run->cache.lookups.v[spared->lookup];
        json_open_object(w, NULL);
        json_put_u64(w, "call", log->calls.v[row->call].number);
        json_put_str(w, "code", code_name(run, row->code));
        json_put_str(w, "compile", row->compile);
        json_put_double(w, "seconds", row->seconds);
        json_put_u64(w, "artifact", spared->with);
        json_put_bool(w, "part", spared->made);
        json_close(w);
    }
    json_close(w);
}

void levels_json(const struct levels_run *run, const struct call_log *log, struct buf *out)
{
    struct json_writer w = json_writer_of(out);
    json_open_object(&w, NULL);
    json_put_cstr(&w, "schema", SCHEMA_LEVELS);
    put_totals(run, &w);
    put_levels(run, &w);
    put_functions(run, log, &w);
    json_open_array(&w, "artifacts");
    for (size_t i = 0; i < run->artifacts.n; i++)
        put_artifact(run, log, &run->artifacts.v[i], &w);
    json_close(&w);
    put_spared(run, log, &w);
    json_close(&w);
    buf_putc(out, '\n');
}
