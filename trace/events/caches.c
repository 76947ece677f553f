#include "trace/events/caches.h"

#include "trace/base/text/decimal.h"
#include "trace/base/vec.h"

struct cache_reader {
    struct cache_list list; /* first, because it is what the caller sees and frees */
    vec_of(struct cache_event)
    events;
    uint32_t *unpaired; /* artifacts that no instant event matched yet: by attempt, kind, state */
    struct arena arena;
    struct json doc;
};

#define TEXT(literal)               \
    {                               \
        literal, sizeof literal - 1 \
    }

/* Names begin with the cache and end with its state. */
static const struct {
    struct str start;
    enum cache_kind kind;
} CACHES[] = {
    { TEXT("fx_graph_cache_"), CACHE_FX_GRAPH },
    { TEXT("aotautograd_cache_"), CACHE_AOTAUTOGRAD },
    { TEXT("autograd_cache_"), CACHE_AOTAUTOGRAD }, /* the name in instant events */
    { TEXT("dynamo_cache_"), CACHE_DYNAMO },
    { TEXT("precompile_cache_"), CACHE_PRECOMPILE },
    { TEXT("get_local_code_state"), CACHE_DYNAMO },
    { TEXT("get_remote_code_state"), CACHE_DYNAMO },
    { TEXT("put_local_code_state"), CACHE_DYNAMO },
    { TEXT("put_remote_code_state"), CACHE_DYNAMO },
};

static const struct {
    struct str end;
    enum cache_state state;
} STATES[] = {
    { TEXT("_hit"), CACHE_HIT },
    { TEXT("_miss"), CACHE_MISS },
    { TEXT("_bypass"), CACHE_BYPASS },
    { TEXT("_disabled"), CACHE_DISABLED },
};

#undef TEXT

/* Returns false when `name` is not that of a cache. */
static bool classify(struct str name, enum cache_kind *kind, enum cache_state *state)
{
    *kind = CACHE_KINDS;
    for (size_t i = 0; i < sizeof CACHES / sizeof *CACHES && *kind == CACHE_KINDS; i++)
        if (str_starts(name, CACHES[i].start))
            *kind = CACHES[i].kind;
    *state = CACHE_UNKNOWN;
    for (size_t i = 0; i < sizeof STATES / sizeof *STATES; i++)
        if (str_ends(name, STATES[i].end))
            *state = STATES[i].state;
    if (str_starts(name, STR("get_"))) /* code state is logged only on a hit */
        *state = CACHE_HIT;
    if (*kind == CACHE_KINDS && *state != CACHE_UNKNOWN && str_find(name, STR("cache")) < name.n)
        *kind = CACHE_OTHER;
    return *kind != CACHE_KINDS;
}

static bool add_cache_row(struct cache_reader *r, struct cache_event event)
{
    if (!vec_push(&r->events, event))
        return false;
    r->list.counts[event.kind][event.state]++;
    return true;
}

/* Copies a text, because a payload is not kept. It returns "" for what is no string; .p is NULL
 * when memory ran out. */
static struct str keep_cache_text(struct cache_reader *r, json_id object, struct str key)
{
    json_id id = json_get(&r->doc, object, key);
    if (json_kind_of(&r->doc, id) != JSON_STRING)
        return STR("");
    struct buf text = BUF_INIT;
    json_decode(&r->doc, id, &text);
    struct str copy = text.failed ? (struct str){ 0 } : arena_copy(&r->arena, buf_str(&text));
    buf_release(&text);
    return copy;
}

static bool keep_number(struct cache_reader *r, json_id object, struct str key, int scale,
                        int64_t *ret)
{
    json_id id = json_get(&r->doc, object, key);
    return json_kind_of(&r->doc, id) == JSON_NUMBER &&
           decimal_scaled(json_text(&r->doc, id), scale, ret);
}

/* Adds an artifact. CompiledFxGraph and AOTAutograd entries have the same keys; see
 * compile_fx.py. */
static bool add_artifact(struct cache_reader *r, struct cache_event event, struct str payload)
{
    event.key = event.reason = event.detail = STR("");
    struct err unreadable = { 0 };
    if (json_parse(&r->doc, payload, &unreadable)) {
        event.key = keep_cache_text(r, JSON_ROOT, STR("key"));
        event.reason = keep_cache_text(r, JSON_ROOT, STR("cache_bypass_reason"));
        event.detail = keep_cache_text(r, JSON_ROOT, STR("cache_status_detailed"));
        if (event.detail.p && event.detail.n == 0)
            event.detail = keep_cache_text(r, JSON_ROOT, STR("cache_bypass_exception_type"));
        if (!keep_number(r, JSON_ROOT, STR("time_taken_ns"), 0, &event.taken_ns) &&
            !keep_number(r, JSON_ROOT, STR("time_saved_ns"), 0, &event.taken_ns))
            keep_number(r, JSON_ROOT, STR("time_saved_ms"), 6, &event.taken_ns); /* AOTAutograd */
    } else if (unreadable.kind == ERR_ENV) {
        return false;
    } else if (event.state == CACHE_BYPASS) {
        event.reason = arena_copy(&r->arena, str_first(payload, str_find_char(payload, '\n')));
    }
    return event.key.p && event.reason.p && event.detail.p && add_cache_row(r, event);
}

/* Adds the kernels of triton_kernel_info: {kernel: {"autotune_cache_state": "miss",
 * "compile_time_us": 108367}}. */
static bool add_kernels(struct cache_reader *r, struct cache_event event, struct str payload)
{
    struct err unreadable = { 0 };
    if (!json_parse(&r->doc, payload, &unreadable))
        return unreadable.kind != ERR_ENV;
    json_id name = json_first(&r->doc, JSON_ROOT);
    while (json_kind_of(&r->doc, JSON_ROOT) == JSON_OBJECT && name != JSON_NONE) {
        json_id value = json_next(&r->doc, name);
        struct str state = json_str(&r->doc, json_get(&r->doc, value, STR("autotune_cache_state")));
        event.state = str_is(state, "hit")    ? CACHE_HIT
                      : str_is(state, "miss") ? CACHE_MISS
                                              : CACHE_UNKNOWN;
        event.taken_ns = -1;
        keep_number(r, value, STR("compile_time_us"), 3, &event.taken_ns);
        event.name = arena_copy(&r->arena, json_text(&r->doc, name));
        event.key = event.reason = event.detail = STR("");
        if (!event.name.p || !add_cache_row(r, event))
            return false;
        name = json_next(&r->doc, value);
    }
    return true;
}

static bool read_cache_artifact(struct cache_reader *r, struct trace *trace, uint32_t record,
                                struct err *err)
{
    struct err unreadable = { 0 };
    struct cache_event event = {
        .record = record,
        .attempt = trace->records[record].attempt,
        .taken_ns = -1,
    };
    if (!record_json(trace, record, &r->doc, &unreadable))
        return unreadable.kind != ERR_ENV || err_set(err, ERR_ENV, "%s", unreadable.text);
    struct str name = json_str(&r->doc, json_get(&r->doc, JSON_ROOT, STR("name")));
    bool kernels = str_is(name, "triton_kernel_info");
    if (kernels)
        event.kind = CACHE_TRITON;
    else if (!classify(name, &event.kind, &event.state))
        return true;
    event.name = name; /* a text of the record's metadata, which is kept */
    struct str payload = STR("");
    if (!trace_payload(trace, record, &payload, &unreadable) && unreadable.kind == ERR_ENV)
        return err_set(err, ERR_ENV, "%s", unreadable.text);
    return (kernels ? add_kernels(r, event, payload) : add_artifact(r, event, payload)) ||
           err_nomem(err);
}

static uint32_t *unpaired(struct cache_reader *r, const struct cache_event *event)
{
    size_t attempt = event->attempt == TRACE_NONE ? 0 : (size_t)event->attempt + 1;
    return &r->unpaired[(attempt * CACHE_KINDS + event->kind) * CACHE_STATES + event->state];
}

static bool claim_artifact(struct cache_reader *r, const struct cache_event *instant)
{
    uint32_t *left = unpaired(r, instant);
    return *left > 0 && (*left)--;
}

static bool add_instants(struct cache_reader *r, const struct chromium_list *events)
{
    for (size_t i = 0; i < r->events.n; i++)
        ++*unpaired(r, &r->events.v[i]);
    for (uint32_t i = 0; i < events->n; i++) {
        const struct chromium_event *e = &events->events[i];
        struct cache_event event = {
            .record = e->record,
            .attempt = e->attempt,
            .key = STR(""),
            .reason = STR(""),
            .detail = STR(""),
            .taken_ns = -1,
        };
        if (e->phase != 'i' || !classify(e->name, &event.kind, &event.state) ||
            claim_artifact(r, &event))
            continue;
        event.name = arena_copy(&r->arena, e->name);
        if (!event.name.p || !add_cache_row(r, event))
            return false;
    }
    return true;
}

static int by_cache_record(const void *a, const void *b)
{
    const struct cache_event *x = a, *y = b;
    int order = (x->record > y->record) - (x->record < y->record);
    return order ? order : str_cmp(x->name, y->name); /* both are kernels of one record */
}

static bool read_caches(struct cache_reader *r, struct trace *trace,
                        const struct chromium_list *events, struct err *err)
{
    size_t rows = ((size_t)trace->n_attempts + 1) * CACHE_KINDS * CACHE_STATES;
    r->unpaired = calloc(rows, sizeof *r->unpaired);
    if (!r->unpaired)
        return err_nomem(err);
    for (uint32_t i = 0; i < trace->n_records; i++)
        if (trace->records[i].event == EVENT_ARTIFACT && !read_cache_artifact(r, trace, i, err))
            return false;
    if (!add_instants(r, events))
        return err_nomem(err);
    if (r->events.n > 0)
        qsort(r->events.v, r->events.n, sizeof *r->events.v, by_cache_record);
    return true;
}

struct cache_list *caches_read(struct trace *trace, const struct chromium_list *events,
                               struct err *err)
{
    struct chromium_list *own = events ? NULL : chromium_read(trace, err);
    if (!events && !own)
        return NULL;
    struct cache_reader *r = calloc(1, sizeof *r);
    bool ok = r ? read_caches(r, trace, events ? events : own, err) : err_nomem(err);
    chromium_free(own);
    if (!r)
        return NULL;
    json_release(&r->doc);
    free(r->unpaired);
    r->unpaired = NULL;
    r->list.events = r->events.v;
    r->list.n = (uint32_t)r->events.n;
    if (ok)
        return &r->list;
    caches_free(&r->list);
    return NULL;
}

void caches_free(struct cache_list *list)
{
    struct cache_reader *r = (struct cache_reader *)list;
    if (!r)
        return;
    vec_release(&r->events);
    arena_release(&r->arena);
    free(r);
}

const char *cache_kind_name(enum cache_kind kind)
{
    static const char *const NAMES[CACHE_KINDS] = {
        [CACHE_FX_GRAPH] = "FX graph", [CACHE_AOTAUTOGRAD] = "AOTAutograd",
        [CACHE_DYNAMO] = "Dynamo",     [CACHE_PRECOMPILE] = "precompile",
        [CACHE_TRITON] = "Triton",     [CACHE_OTHER] = "other",
    };
    return NAMES[kind];
}

const char *cache_state_name(enum cache_state state)
{
    static const char *const NAMES[CACHE_STATES] = {
        [CACHE_HIT] = "hit",           [CACHE_MISS] = "miss",       [CACHE_BYPASS] = "bypass",
        [CACHE_DISABLED] = "disabled", [CACHE_UNKNOWN] = "unknown",
    };
    return NAMES[state];
}
