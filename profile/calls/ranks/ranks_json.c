#include "profile/calls/ranks/ranks_report.h"
#include "trace/base/text/json_write.h"

static void put_time(struct json_writer *w, const char *key, int64_t ns)
{
    if (ns == RANK_TIME_NONE)
        json_put_null(w, key);
    else
        json_put_i64(w, key, ns);
}

static void put_seconds(struct json_writer *w, const char *key, int64_t ns)
{
    if (ns < 0)
        json_put_null(w, key);
    else
        json_put_double(w, key, (double)ns / 1e9);
}

static void put_name(const struct rank_times *times, const char *key, uint32_t process,
                     struct json_writer *w)
{
    json_put_str_or_null(w, key, process == RANK_NONE ? STR("") : times->processes.v[process].name);
}

static void put_process(const struct rank_times *times, uint32_t at, struct json_writer *w)
{
    const struct rank_process *p = &times->processes.v[at];
    json_open_object(w, NULL);
    put_name(times, "recording", at, w);
    json_put_u64(w, "last", p->n_last);
    json_put_u64(w, "unfinished", p->n_open);
    put_seconds(w, "late_seconds", p->late_ns);
    put_seconds(w, "collective_seconds", p->collective_ns);
    json_close(w);
}

static void put_compile(const struct rank_times *times, const struct rank_compile *c,
                        struct json_writer *w)
{
    json_open_object(w, NULL);
    put_name(times, "recording", c->process, w);
    json_put_str(w, "compile", c->compile);
    json_put_bool(w, "backward", c->backward);
    json_put_str_or_null(w, "function", c->function);
    json_put_str_or_null(w, "file", c->file);
    json_put_u64(w, "line", c->line);
    put_time(w, "begin_ns", c->begin_ns);
    put_time(w, "end_ns", c->end_ns);
    json_put_u64(w, "compiled", c->n_compiled);
    json_put_u64(w, "taken", c->n_taken);
    put_name(times, "from", c->from, w);
    put_name(times, "had", c->had, w);
    put_name(times, "last", c->last, w);
    put_seconds(w, "ahead_seconds", c->ahead_ns);
    put_name(times, "waited_for", c->waited_for, w);
    put_seconds(w, "waited_seconds", c->waited_ns);
    json_put_bool(w, "waiting", c->waiting);
    json_close(w);
}

void ranks_json(const struct rank_times *times, struct buf *out)
{
    struct json_writer w = json_writer_of(out);
    json_open_object(&w, NULL);
    json_put_cstr(&w, "schema", SCHEMA_CACHE_RANKS);
    json_open_object(&w, "totals");
    json_put_bool(&w, "in_turn", times->in_turn);
    json_put_u64(&w, "shared", times->n_shared);
    json_put_u64(&w, "compiled", times->n_compiled);
    json_put_u64(&w, "taken", times->n_taken);
    json_put_u64(&w, "taken_from_others", times->n_taken_from);
    json_put_u64(&w, "repeated", times->n_repeated);
    put_seconds(&w, "repeated_seconds", times->repeated_ns);
    json_put_u64(&w, "apart", times->n_apart);
    put_seconds(&w, "apart_seconds", times->apart_ns);
    json_close(&w);
    json_open_array(&w, "recordings");
    for (uint32_t i = 0; i < times->processes.n; i++)
        put_process(times, i, &w);
    json_close(&w);
    json_open_array(&w, "compiles");
    for (size_t i = 0; i < times->compiles.n; i++)
        put_compile(times, &times->compiles.v[i], &w);
    json_close(&w);
    json_close(&w);
    buf_putc(out, '\n');
}
