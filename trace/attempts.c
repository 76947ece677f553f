/* Finds the records of each attempt of a compile, and how it ended. */
#include "trace/base/hash.h"
#include "trace/base/intern.h"
#include "trace/tables.h"

/* A compile id. Its number of resets distinguishes what was compiled under one id before and
 * after torch._dynamo.reset(), which starts the ids anew (torch/_dynamo/__init__.py). */
struct compile {
    int64_t autograd, frame, compile;
    uint32_t recording, resets;
};

struct key {
    uint32_t compile, number;
};

/* A symbol that an attempt made, by the hash of its name. */
struct made_symbol {
    uint64_t name;
    uint32_t attempt, unused;
};

/* The compile of an id that has so many earlier ones. */
struct nth {
    uint32_t id, earlier;
};

/* The state of an id's latest compile so far. */
struct attempt_state {
    uint32_t id, n_compiles;
    uint32_t compile; /* TRACE_NONE: none yet */
    uint32_t latest;  /* attempt; TRACE_NONE: no attempt 0 was seen */
    bool ended;
};

struct attempt_groups {
    struct trace *trace;
    struct record *records;
    struct intern ids;      /* of struct compile with no resets; each has a state */
    struct intern compiles; /* of struct compile */
    struct intern attempts; /* of struct key */
    struct intern nths;     /* of struct nth */
    vec_of(uint32_t)
    nth_compiles; /* the compile of each */
    vec_of(struct attempt_state)
    states;
    vec_of(uint32_t)
    counts; /* number of records of each attempt */
    vec_of(bool)
    started, captured;     /* by attempt: there was a dynamo_start, a Dynamo graph */
    struct intern symbols; /* of struct made_symbol, in attempts without a start */
    vec_of(uint32_t)
    resets; /* by recording */
};

static struct str as_bytes(const void *data, size_t n)
{
    return (struct str){ data, n };
}

static struct key attempt_key(const struct attempt_groups *g, uint32_t attempt)
{
    struct key ret;
    memcpy(&ret, intern_text(&g->attempts, attempt).p, sizeof ret);
    return ret;
}

static struct compile recorded_compile(const struct attempt_groups *g, uint32_t compile)
{
    struct compile ret;
    memcpy(&ret, intern_text(&g->compiles, compile).p, sizeof ret);
    return ret;
}

/* Returns the attempt of that number; TRACE_NONE when there is none. */
static uint32_t find_attempt(const struct attempt_groups *g, uint32_t compile, uint32_t number)
{
    struct key key = { compile, number };
    return intern_find(&g->attempts, as_bytes(&key, sizeof key));
}

/* Returns the attempt, which is added if it is new; TRACE_NONE when memory ran out. */
static uint32_t find_or_add_attempt(struct attempt_groups *g, struct attempt_state *state,
                                    uint32_t number)
{
    struct key key = { state->compile, number };
    uint32_t id = intern(&g->attempts, as_bytes(&key, sizeof key));
    if (id == INTERN_NONE)
        return TRACE_NONE;
    if (id == g->counts.n && (!vec_push(&g->counts, 0) || !vec_push(&g->started, false) ||
                              !vec_push(&g->captured, false)))
        return TRACE_NONE;
    if (number == 0 && state->latest == TRACE_NONE)
        state->latest = id;
    return id;
}

/* Returns the latest attempt so far, numbers counted without a gap, to which a record without an
 * attempt number belongs (what a compiled graph logs when it runs). */
static uint32_t latest_attempt(struct attempt_groups *g, struct attempt_state *state)
{
    if (state->latest == TRACE_NONE)
        return find_or_add_attempt(g, state, 0);
    uint32_t next = state->latest;
    while (next != TRACE_NONE) {
        state->latest = next;
        next = find_attempt(g, state->compile, attempt_key(g, next).number + 1);
    }
    return state->latest;
}

/* Returns the state of the record's compile id; NULL when memory ran out. */
static struct attempt_state *compile_state(struct attempt_groups *g, struct compile id)
{
    uint32_t i = intern(&g->ids, as_bytes(&id, sizeof id));
    if (i == INTERN_NONE ||
        (i == g->states.n &&
         !vec_push(&g->states, (struct attempt_state){ i, 0, TRACE_NONE, TRACE_NONE, false })))
        return NULL;
    return &g->states.v[i];
}

static bool begin_compile(struct attempt_groups *g, struct attempt_state *state, struct compile id)
{
    id.resets = g->resets.v[id.recording];
    struct nth nth = { state->id, state->n_compiles };
    *state =
        (struct attempt_state){ nth.id, nth.earlier + 1,
                                intern(&g->compiles, as_bytes(&id, sizeof id)), TRACE_NONE, false };
    return state->compile != TRACE_NONE &&
           intern(&g->nths, as_bytes(&nth, sizeof nth)) != INTERN_NONE &&
           vec_push(&g->nth_compiles, state->compile);
}

/* Returns the compile that a record of a deep recording belongs to: such records stand behind all
 * others, and say how many earlier compiles their id had. The latest one, if it is not told. */
static uint32_t deep_compile(struct attempt_groups *g, const struct attempt_state *state,
                             uint32_t record)
{
    struct json doc = { 0 };
    struct err ignored = { 0 };
    struct nth nth = { .id = state->id };
    uint64_t earlier;
    uint32_t found = INTERN_NONE;
    if (record_json(g->trace, record, &doc, &ignored) &&
        json_u64(&doc, json_get(&doc, JSON_ROOT, STR("earlier")), &earlier) &&
        earlier < state->n_compiles) {
        nth.earlier = (uint32_t)earlier;
        found = intern_find(&g->nths, as_bytes(&nth, sizeof nth));
    }
    json_release(&doc);
    return found == INTERN_NONE ? state->compile : g->nth_compiles.v[found];
}

static struct made_symbol made_symbol(struct attempt_groups *g, uint32_t attempt, uint32_t record)
{
    struct made_symbol ret = { .attempt = attempt };
    struct json doc = { 0 };
    struct err ignored = { 0 };
    if (record_json(g->trace, record, &doc, &ignored))
        ret.name = hash_str(json_str(&doc, json_get(&doc, JSON_ROOT, STR("symbol"))));
    json_release(&doc);
    return ret;
}

/* torch.export logs neither a start nor an end under its id: one that has its graph, and makes a
 * symbol that it has made, is the next export. */
static bool is_made_again(struct attempt_groups *g, uint32_t attempt, uint32_t record)
{
    if (attempt == TRACE_NONE || g->started.v[attempt] || !g->captured.v[attempt])
        return false;
    struct made_symbol made = made_symbol(g, attempt, record);
    return intern_find(&g->symbols, as_bytes(&made, sizeof made)) != INTERN_NONE;
}

/* Returns whether an id starts anew: its attempt has started already, was followed by another,
 * or has ended. */
static bool is_again(struct attempt_groups *g, const struct attempt_state *state, uint32_t record,
                     uint32_t number)
{
    enum event event = g->records[record].event;
    uint32_t attempt = find_attempt(g, state->compile, number);
    if (event == EVENT_DYNAMO_OUTPUT_GRAPH)
        return state->ended;
    if (event == EVENT_CREATE_SYMBOL)
        return is_made_again(g, attempt, record);
    return event == EVENT_DYNAMO_START &&
           (state->ended || (attempt != TRACE_NONE && g->started.v[attempt]) ||
            find_attempt(g, state->compile, number + 1) != TRACE_NONE);
}

static bool begins_phase(struct attempt_groups *g, uint32_t record, struct json *doc)
{
    struct str payload;
    struct err ignored = { 0 };
    return trace_payload(g->trace, record, &payload, &ignored) &&
           json_parse(doc, payload, &ignored) &&
           str_is(json_str(doc, json_get(doc, JSON_ROOT, STR("ph"))), "B");
}

/* Returns whether a record may precede dynamo_start: phases around a compile and reasons of
 * recompiles do; or may precede a symbol that is made: other symbols and inputs. */
static bool may_precede_start(struct attempt_groups *g, uint32_t record, bool made,
                              struct json *doc)
{
    enum event event = g->records[record].event;
    bool describes = event == EVENT_CREATE_SYMBOL || event == EVENT_DESCRIBE_STORAGE ||
                     event == EVENT_DESCRIBE_TENSOR || event == EVENT_DESCRIBE_SOURCE;
    return event == EVENT_ARTIFACT || (made && describes) ||
           (event == EVENT_CHROMIUM_EVENT && begins_phase(g, record, doc));
}

static bool same_id(const struct context *a, const struct context *b)
{
    return a->compiled_autograd_id == b->compiled_autograd_id && a->frame_id == b->frame_id &&
           a->frame_compile_id == b->frame_compile_id;
}

/* Moves records before a start to the new attempt. The previous attempt keeps at least one
 * record, because in a damaged tape all might seem to precede it. */
static void take_back(struct attempt_groups *g, uint32_t start, uint32_t attempt)
{
    enum { MAX_BACK = 16 };
    const struct record *first = &g->records[start];
    const struct context *contexts = g->trace->contexts;
    bool made = first->event == EVENT_CREATE_SYMBOL;
    struct json doc = { 0 };
    for (uint32_t i = start, back = 0; i-- > 0 && (made || back < MAX_BACK); back++) {
        struct record *record = &g->records[i];
        if (record->recording != first->recording)
            break;
        if (record->attempt == TRACE_NONE)
            continue;
        if (!same_id(&contexts[record->context], &contexts[first->context]) ||
            g->counts.v[record->attempt] == 1 || !may_precede_start(g, i, made, &doc))
            break;
        g->counts.v[record->attempt]--;
        g->counts.v[attempt]++;
        record->attempt = attempt;
    }
    json_release(&doc);
}

static bool is_deep(enum event event)
{
    return event >= EVENT_SYMTAPE_DEEP && event < EVENT_SYMTAPE_CALLS;
}

static bool note_symbol(struct attempt_groups *g, uint32_t record)
{
    uint32_t attempt = g->records[record].attempt;
    if (g->records[record].event != EVENT_CREATE_SYMBOL || g->started.v[attempt])
        return true;
    struct made_symbol made = made_symbol(g, attempt, record);
    return intern(&g->symbols, as_bytes(&made, sizeof made)) != INTERN_NONE;
}

static bool assign(struct attempt_groups *g, uint32_t i, struct err *err)
{
    struct record *record = &g->records[i];
    const struct context *c = &g->trace->contexts[record->context];
    if (record->event == EVENT_RAW || (c->frame_id < 0 && c->compiled_autograd_id < 0))
        return true;
    struct compile id = { .recording = record->recording,
                          .autograd = c->compiled_autograd_id,
                          .frame = c->frame_id,
                          .compile = c->frame_compile_id };
    uint32_t number = c->attempt > 0 && c->attempt < UINT32_MAX ? (uint32_t)c->attempt : 0;
    struct attempt_state *state = compile_state(g, id);
    bool again = state && state->compile != TRACE_NONE && is_again(g, state, i, number);
    if (!state)
        return err_nomem(err);
    if (again && recorded_compile(g, state->compile).resets == g->resets.v[id.recording])
        g->resets.v[id.recording]++;
    if ((again || state->compile == TRACE_NONE) && !begin_compile(g, state, id))
        return err_nomem(err);
    if (is_deep(record->event) && state->n_compiles > 1) {
        struct attempt_state of = { .compile = deep_compile(g, state, i) };
        record->attempt = find_or_add_attempt(g, &of, number);
    } else {
        record->attempt =
            c->attempt < 0 ? latest_attempt(g, state) : find_or_add_attempt(g, state, number);
    }
    if (record->attempt == TRACE_NONE)
        return err_nomem(err);
    g->counts.v[record->attempt]++;
    g->started.v[record->attempt] |= record->event == EVENT_DYNAMO_START;
    g->captured.v[record->attempt] |= record->event == EVENT_DYNAMO_OUTPUT_GRAPH;
    state->ended |= record->event == EVENT_COMPILATION_METRICS;
    if (again && record->event != EVENT_DYNAMO_OUTPUT_GRAPH)
        take_back(g, i, record->attempt);
    return note_symbol(g, i) || err_nomem(err);
}

/* Lists each attempt's records, by counting sort. */
static bool collect_records(struct attempt_groups *g, struct attempt *attempts,
                            const struct record *records, struct err *err)
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

/* Names an attempt "0/0", after a reset "0/0.1". */
static bool name_attempt(struct attempt_groups *g, struct attempt *attempt, uint32_t i,
                         struct err *err)
{
    struct key key = attempt_key(g, i);
    struct compile compile = recorded_compile(g, key.compile);
    struct context context = { .compiled_autograd_id = compile.autograd,
                               .frame_id = compile.frame,
                               .frame_compile_id = compile.compile };
    char text[80];
    struct buf name = BUF_INIT;
    *attempt = (struct attempt){ .recording = compile.recording,
                                 .number = key.number,
                                 .previous = TRACE_NONE,
                                 .next = TRACE_NONE };
    buf_put(&name, context_compile_id(&context, text));
    if (compile.resets)
        buf_printf(&name, ".%u", compile.resets);
    if (!name.failed)
        attempt->compile = arena_copy(&g->trace->tables->arena, buf_str(&name));
    buf_release(&name);
    return attempt->compile.p || err_nomem(err);
}

/* Returns the length of "0/" in "0/1.1", 0 for "!0". */
static size_t frame_length(struct str compile)
{
    size_t ret = compile.n;
    while (ret > 0 && compile.p[ret - 1] != '/')
        ret--;
    return ret;
}

bool compile_same_function(struct str a, struct str b)
{
    size_t n = frame_length(a), m = frame_length(b);
    struct str one = str_from(a, n), two = str_from(b, m);
    if (!n || !m)
        return str_eq(a, b);
    return str_eq(str_first(a, n), str_first(b, m)) &&
           str_eq(str_from(one, str_find_char(one, '.')), str_from(two, str_find_char(two, '.')));
}

/* Links the attempts of a compile. Numbers may have gaps when records were lost: the next
 * attempt has the lowest greater number. */
static void link_attempts(struct attempt_groups *g, struct attempt *attempts)
{
    for (uint32_t i = 0; i < g->counts.n; i++)
        for (uint32_t up = 1; up <= 16; up++) {
            struct key key = attempt_key(g, i);
            if (key.number > UINT32_MAX - up)
                break;
            uint32_t next = find_attempt(g, key.compile, key.number + up);
            if (next == TRACE_NONE)
                continue;
            attempts[i].next = next;
            attempts[next].previous = i;
            break;
        }
}

/* Reads from a metrics record whether the compile failed: fail_type is null, or names an
 * exception (CompilationMetrics in torch/_dynamo/utils.py; logged in a finally clause). */
static bool read_attempt_end(struct trace *trace, uint32_t record, struct json *doc, bool *failed,
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
        if (!read_attempt_end(trace, attempt->records[i], doc, &failed, err))
            return false;
        if (failed || attempt->status != ATTEMPT_FAILED)
            attempt->status = failed ? ATTEMPT_FAILED : ATTEMPT_OK;
    }
    return true;
}

static bool finish_attempts(struct attempt_groups *g, struct attempt *attempts,
                            const struct record *records, struct err *err)
{
    struct json doc = { 0 };
    bool ok = true;
    for (uint32_t i = 0; i < g->counts.n && ok; i++)
        ok = name_attempt(g, &attempts[i], i, err);
    ok = ok && collect_records(g, attempts, records, err);
    if (ok)
        link_attempts(g, attempts);
    for (uint32_t i = 0; i < g->counts.n && ok; i++)
        ok = find_status(g->trace, &attempts[i], &doc, err);
    json_release(&doc);
    return ok;
}

bool trace_find_attempts(struct trace *trace, struct record *records, struct err *err)
{
    struct attempt_groups g = { .trace = trace, .records = records };
    bool ok = true;
    for (uint32_t i = 0; i < trace->n_recordings && ok; i++)
        ok = vec_push(&g.resets, 0) || err_nomem(err);
    for (uint32_t i = 0; i < trace->n_records && ok; i++)
        ok = assign(&g, i, err);
    struct attempt *attempts = NULL;
    if (ok) {
        attempts = arena_array(&trace->tables->arena, struct attempt, g.counts.n + 1);
        trace->attempts = attempts;
        trace->n_attempts = (uint32_t)g.counts.n;
        ok = (attempts || err_nomem(err)) && finish_attempts(&g, attempts, records, err);
    }
    intern_release(&g.ids);
    intern_release(&g.compiles);
    intern_release(&g.attempts);
    intern_release(&g.nths);
    intern_release(&g.symbols);
    vec_release(&g.nth_compiles);
    vec_release(&g.states);
    vec_release(&g.counts);
    vec_release(&g.started);
    vec_release(&g.captured);
    vec_release(&g.resets);
    return ok;
}
