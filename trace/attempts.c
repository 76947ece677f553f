/* Which records make up an attempt of a compile, and how it ended. */
#include <stdlib.h>

#include "trace/base/hash.h"
#include "trace/tables.h"

struct key {
    uint32_t recording, number;
    int64_t autograd, frame, compile;
};

struct grouping {
    struct trace *trace;
    vec_of(struct key) keys;     /* one an attempt */
    vec_of(uint32_t) counts;     /* records of each */
    vec_of(uint32_t) latest;     /* of attempt 0: the latest attempt known; of others not used */
    uint32_t *slots;             /* attempt + 1 by key; open addressing */
    size_t n_slots;
};

static bool same(const struct key *a, const struct key *b)
{
    return a->recording == b->recording && a->number == b->number && a->autograd == b->autograd &&
           a->frame == b->frame && a->compile == b->compile;
}

static uint64_t hash_key(const struct key *key)
{
    uint64_t h = hash_mix(key->recording, key->number);
    return hash_mix(hash_mix(hash_mix(h, (uint64_t)key->autograd), (uint64_t)key->frame),
                    (uint64_t)key->compile);
}

static uint32_t *find_slot(struct grouping *g, const struct key *key)
{
    size_t i = hash_key(key) & (g->n_slots - 1);
    while (g->slots[i] && !same(&g->keys.v[g->slots[i] - 1], key))
        i = (i + 1) & (g->n_slots - 1);
    return &g->slots[i];
}

static bool grow(struct grouping *g)
{
    if (g->n_slots > g->keys.n * 2)
        return true;
    size_t n = g->n_slots ? g->n_slots * 2 : 64;
    uint32_t *slots = calloc(n, sizeof *slots);
    if (!slots)
        return false;
    free(g->slots);
    g->slots = slots;
    g->n_slots = n;
    for (size_t i = 0; i < g->keys.n; i++)
        *find_slot(g, &g->keys.v[i]) = (uint32_t)i + 1;
    return true;
}

/* TRACE_NONE when it is not known. */
static uint32_t find_attempt(struct grouping *g, const struct key *key)
{
    return g->n_slots ? *find_slot(g, key) - 1 : TRACE_NONE;
}

/* The attempt, added if it is not known; TRACE_NONE when memory ran out. */
static uint32_t attempt_of(struct grouping *g, const struct key *key)
{
    if (!grow(g))
        return TRACE_NONE;
    uint32_t *slot = find_slot(g, key), id = (uint32_t)g->keys.n;
    if (*slot)
        return *slot - 1;
    if (id >= TRACE_NONE - 1 || !vec_reserve(&g->counts, 1) || !vec_reserve(&g->latest, 1) ||
        !vec_push(&g->keys, *key))
        return TRACE_NONE;
    g->counts.v[g->counts.n++] = 0;
    g->latest.v[g->latest.n++] = id;
    *slot = id + 1;
    return id;
}

/* A record without an attempt number (what a compiled graph logs when it runs) belongs to the
 * latest attempt so far, numbers counted without a gap. */
static uint32_t latest_attempt(struct grouping *g, struct key key)
{
    uint32_t first = find_attempt(g, &key);
    if (first == TRACE_NONE)
        return attempt_of(g, &key);
    uint32_t latest = g->latest.v[first], next = latest;
    for (; next != TRACE_NONE; next = find_attempt(g, &key)) {
        latest = next;
        key.number = g->keys.v[latest].number + 1;
    }
    return g->latest.v[first] = latest;
}

static bool assign(struct grouping *g, struct record *record, struct err *err)
{
    const struct context *c = &g->trace->contexts[record->context];
    if (record->event == EVENT_RAW || (c->frame_id < 0 && c->compiled_autograd_id < 0))
        return true;
    struct key key = { .recording = record->recording, .autograd = c->compiled_autograd_id,
                       .frame = c->frame_id, .compile = c->frame_compile_id };
    key.number = c->attempt > 0 && c->attempt < UINT32_MAX ? (uint32_t)c->attempt : 0;
    record->attempt = c->attempt < 0 ? latest_attempt(g, key) : attempt_of(g, &key);
    if (record->attempt == TRACE_NONE)
        return err_nomem(err);
    g->counts.v[record->attempt]++;
    return true;
}

/* Lists each attempt's records, by counting. */
static bool collect(struct grouping *g, struct attempt *attempts, const struct record *records,
                    struct err *err)
{
    struct trace *trace = g->trace;
    size_t total = 0, at = 0;
    for (size_t i = 0; i < g->counts.n; i++)
        total += g->counts.v[i];
    uint32_t *lists = arena_array(&trace->tables->arena, uint32_t, total + 1);
    if (!lists)
        return err_nomem(err);
    for (size_t i = 0; i < g->counts.n; i++) {
        attempts[i].records = lists + at;
        at += g->counts.v[i];
    }
    for (uint32_t i = 0; i < trace->n_records; i++) {
        if (records[i].attempt == TRACE_NONE)
            continue;
        struct attempt *a = &attempts[records[i].attempt];
        lists[(size_t)(a->records - lists) + a->n_records++] = i;
    }
    return true;
}

static bool name_attempt(struct grouping *g, struct attempt *attempt, uint32_t i, struct err *err)
{
    const struct key *key = &g->keys.v[i];
    struct context context = { .compiled_autograd_id = key->autograd, .frame_id = key->frame,
                               .frame_compile_id = key->compile };
    char text[80];
    *attempt = (struct attempt){ .recording = key->recording, .number = key->number,
                                 .previous = TRACE_NONE, .next = TRACE_NONE };
    attempt->compile = arena_copy(&g->trace->tables->arena, context_compile_id(&context, text));
    return attempt->compile.p || err_nomem(err);
}

/* Numbers may have gaps when records were lost: the next is the lowest number above. */
static void link_attempts(struct grouping *g, struct attempt *attempts)
{
    for (uint32_t i = 0; i < g->keys.n; i++)
        for (uint32_t up = 1; up <= 16; up++) {
            struct key key = g->keys.v[i];
            if (key.number > UINT32_MAX - up)
                break;
            key.number += up;
            uint32_t next = find_attempt(g, &key);
            if (next == TRACE_NONE)
                continue;
            attempts[i].next = next;
            attempts[next].previous = i;
            break;
        }
}

/* Whether a metrics record tells of a failure: fail_type is null, or names an exception
 * (CompilationMetrics in torch/_dynamo/utils.py; logged in a finally clause). */
static bool read_end(struct trace *trace, uint32_t record, struct json *doc, bool *failed,
                     struct err *err)
{
    bool readable;
    *failed = false;
    if (!record_try_json(trace, record, doc, &readable, err))
        return false;
    if (readable)
        *failed = json_kind_of(doc, json_get(doc, JSON_ROOT, STR("fail_type"))) == JSON_STRING;
    return true;
}

static bool find_status(struct trace *trace, struct attempt *attempt, struct json *doc,
                        struct err *err)
{
    attempt->status = attempt->next != TRACE_NONE ? ATTEMPT_RESTARTED : ATTEMPT_UNFINISHED;
    for (uint32_t i = 0; i < attempt->n_records && attempt->status != ATTEMPT_RESTARTED; i++) {
        enum event event = trace->records[attempt->records[i]].event;
        bool failed;
        if (event != EVENT_COMPILATION_METRICS && event != EVENT_BWD_COMPILATION_METRICS)
            continue;
        if (!read_end(trace, attempt->records[i], doc, &failed, err))
            return false;
        if (failed || attempt->status != ATTEMPT_FAILED)
            attempt->status = failed ? ATTEMPT_FAILED : ATTEMPT_OK;
    }
    return true;
}

static bool finish(struct grouping *g, struct attempt *attempts, const struct record *records,
                   struct err *err)
{
    struct json doc = { 0 };
    bool ok = true;
    for (uint32_t i = 0; i < g->keys.n && ok; i++)
        ok = name_attempt(g, &attempts[i], i, err);
    ok = ok && collect(g, attempts, records, err);
    if (ok)
        link_attempts(g, attempts);
    for (uint32_t i = 0; i < g->keys.n && ok; i++)
        ok = find_status(g->trace, &attempts[i], &doc, err);
    json_release(&doc);
    return ok;
}

bool trace_find_attempts(struct trace *trace, struct record *records, struct err *err)
{
    struct grouping g = { .trace = trace };
    bool ok = true;
    for (uint32_t i = 0; i < trace->n_records && ok; i++)
        ok = assign(&g, &records[i], err);
    struct attempt *attempts = NULL;
    if (ok) {
        attempts = arena_array(&trace->tables->arena, struct attempt, g.keys.n + 1);
        trace->attempts = attempts;
        trace->n_attempts = (uint32_t)g.keys.n;
        ok = (attempts || err_nomem(err)) && finish(&g, attempts, records, err);
    }
    vec_release(&g.keys);
    vec_release(&g.counts);
    vec_release(&g.latest);
    free(g.slots);
    return ok;
}
