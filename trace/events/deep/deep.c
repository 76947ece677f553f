#include "trace/events/deep/deep.h"

#include "trace/base/intern.h"
#include "trace/base/vec.h"
#include "trace/graph/traceback.h"
#include "trace/tables.h"

struct deep_reader {
    struct deep deep; /* first, because it is what the caller sees and frees */
    struct trace *trace;
    struct arena arena;
    struct intern texts; /* of rows, since a payload is not kept */
    struct json doc;
    uint32_t record, attempt;
    uint32_t first_stack; /* index in stacks of the payload's first stack */
    vec_of(struct deep_process)
    processes;
    vec_of(struct deep_stack)
    stacks;
    vec_of(struct deep_dispatch)
    dispatches;
    vec_of(struct deep_cost)
    costs;
    vec_of(struct deep_use)
    uses;
    vec_of(struct deep_phase)
    phases;
    vec_of(struct deep_total)
    totals;
};

static const char *const mode_names[] = { "FakeTensorMode", "FakeTensor",
                                          "ProxyTorchDispatchMode" };

const char *deep_mode_name(enum deep_mode mode)
{
    return mode < DEEP_OTHER_MODE ? mode_names[mode] : "other";
}

/* ------------------------------------------------------------------------------------------------
 * Fields of the row in r->doc. */

static json_id row_field(const struct deep_reader *r, const char *key)
{
    return json_get(&r->doc, JSON_ROOT, str_of(key));
}

/* Returns a text; "" for null and for what is missing; .p is NULL when memory ran out. */
static struct str text_at(struct deep_reader *r, json_id id)
{
    struct buf decoded = BUF_INIT;
    if (json_kind_of(&r->doc, id) != JSON_STRING)
        return STR("");
    json_decode(&r->doc, id, &decoded);
    uint32_t text = decoded.failed ? INTERN_NONE : intern(&r->texts, buf_str(&decoded));
    buf_release(&decoded);
    return text == INTERN_NONE ? (struct str){ 0 } : intern_text(&r->texts, text);
}

static struct str text(struct deep_reader *r, const char *key)
{
    return text_at(r, row_field(r, key));
}

static uint64_t row_number_or(const struct deep_reader *r, const char *key, uint64_t otherwise)
{
    uint64_t value;
    return json_u64(&r->doc, row_field(r, key), &value) ? value : otherwise;
}

static uint64_t row_number(const struct deep_reader *r, const char *key)
{
    return row_number_or(r, key, 0);
}

static uint32_t number32(const struct deep_reader *r, const char *key)
{
    uint64_t value = row_number(r, key);
    return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

/* Returns the stack of a row, which can name only stacks of its own payload. */
static uint32_t stack_of_row(const struct deep_reader *r)
{
    uint64_t value = row_number_or(r, "stack", UINT64_MAX);
    return value < r->stacks.n - r->first_stack ? r->first_stack + (uint32_t)value : DEEP_NO_STACK;
}

/* Reads [FILE, LINE, FUNCTION, CODE]; the last may be missing. Returns false when memory ran
 * out. */
static bool read_deep_frame(struct deep_reader *r, json_id frame, struct deep_frame *ret)
{
    json_id file = json_first(&r->doc, frame), line = json_next(&r->doc, file);
    json_id function = json_next(&r->doc, line), code = json_next(&r->doc, function);
    uint64_t number = 0;
    json_u64(&r->doc, line, &number);
    *ret = (struct deep_frame){ .file = text_at(r, file),
                                .line = (uint32_t)number,
                                .function = text_at(r, function),
                                .code = text_at(r, code) };
    return ret->file.p && ret->function.p && ret->code.p;
}

/* ------------------------------------------------------------------------------------------------
 * Rows, by event. All return false only when memory ran out. */

static bool read_deep_stack(struct deep_reader *r, json_id frames)
{
    size_t n = json_kind_of(&r->doc, frames) == JSON_ARRAY ? json_count(&r->doc, frames) : 0;
    struct deep_frame *list = arena_array(&r->arena, struct deep_frame, n + 1);
    if (!list)
        return false;
    size_t i = 0;
    for (json_id f = n ? json_first(&r->doc, frames) : JSON_NONE; f != JSON_NONE;
         f = json_next(&r->doc, f))
        if (!read_deep_frame(r, f, &list[i++]))
            return false;
    return vec_push(&r->stacks, (struct deep_stack){ list, (uint32_t)n });
}

static enum deep_mode mode_of(const struct deep_reader *r)
{
    enum deep_mode mode = 0;
    while (mode < DEEP_OTHER_MODE && !json_is(&r->doc, row_field(r, "mode"), mode_names[mode]))
        mode++;
    return mode;
}

static enum deep_cache cache_of(const struct deep_reader *r)
{
    json_id id = row_field(r, "cache");
    return json_is(&r->doc, id, "hit")      ? DEEP_CACHE_HIT
           : json_is(&r->doc, id, "miss")   ? DEEP_CACHE_MISS
           : json_is(&r->doc, id, "bypass") ? DEEP_CACHE_BYPASS
                                            : DEEP_CACHE_NOT_ASKED;
}

static bool read_dispatch(struct deep_reader *r)
{
    struct deep_dispatch d = { .record = r->record,
                               .attempt = r->attempt,
                               .mode = mode_of(r),
                               .op = text(r, "op"),
                               .depth = number32(r, "depth"),
                               .stack = stack_of_row(r),
                               .fast = text(r, "fast"),
                               .slow = text(r, "slow"),
                               .cache = cache_of(r),
                               .bypass = text(r, "bypass"),
                               .raised = text(r, "raised"),
                               .count = row_number(r, "count"),
                               .ns = row_number(r, "ns"),
                               .self_ns = row_number(r, "self_ns") };
    return d.op.p && d.fast.p && d.slow.p && d.bypass.p && d.raised.p &&
           vec_push(&r->dispatches, d);
}

static bool read_cost_row(struct deep_reader *r)
{
    struct deep_cost c = { .record = r->record,
                           .attempt = r->attempt,
                           .cost = text(r, "cost"),
                           .caller = text(r, "caller"),
                           .op = text(r, "op"),
                           .count = row_number(r, "count"),
                           .ns = row_number(r, "ns"),
                           .self_ns = row_number(r, "self_ns") };
    return c.cost.p && c.caller.p && c.op.p && vec_push(&r->costs, c);
}

static bool read_use(struct deep_reader *r)
{
    struct deep_use u = { .record = r->record,
                          .attempt = r->attempt,
                          .use = text(r, "use"),
                          .expr = text(r, "expr"),
                          .source = text(r, "source"),
                          .stack = stack_of_row(r),
                          .count = row_number(r, "count") };
    return u.use.p && u.expr.p && u.source.p &&
           read_deep_frame(r, row_field(r, "asker"), &u.asker) && vec_push(&r->uses, u);
}

static bool read_phase(struct deep_reader *r)
{
    struct deep_phase p = { .record = r->record,
                            .attempt = r->attempt,
                            .phase = text(r, "phase"),
                            .start_ns = row_number(r, "start_ns"),
                            .end_ns = row_number(r, "end_ns"),
                            .host_start = row_number(r, "host_start"),
                            .host_end = row_number(r, "host_end"),
                            .host_peak = row_number(r, "host_peak"),
                            .device_start = row_number_or(r, "device_start", DEEP_NOT_TOLD),
                            .device_end = row_number_or(r, "device_end", DEEP_NOT_TOLD),
                            .device_peak = row_number_or(r, "device_peak", DEEP_NOT_TOLD) };
    return p.phase.p && vec_push(&r->phases, p);
}

static bool read_deep_row(struct deep_reader *r, enum event event)
{
    json_id frames = row_field(r, "frames");
    if (frames != JSON_NONE)
        return read_deep_stack(r, frames);
    switch (event) {
    case EVENT_SYMTAPE_DISPATCHES: return read_dispatch(r);
    case EVENT_SYMTAPE_COSTS: return read_cost_row(r);
    case EVENT_SYMTAPE_SIZE_USES: return read_use(r);
    default: return read_phase(r);
    }
}

/* ------------------------------------------------------------------------------------------------
 * Records. */

static bool read_deep_rows(struct deep_reader *r, enum event event, struct err *err)
{
    struct str rows, line;
    if (r->trace->records[r->record].payload == TRACE_NONE)
        return true;
    if (!trace_payload(r->trace, r->record, &rows, err))
        return false;
    r->first_stack = (uint32_t)r->stacks.n;
    while (text_next_line(&rows, &line)) {
        struct err why = { 0 };
        if (!json_parse(&r->doc, line, &why)) {
            if (why.kind != ERR_INPUT)
                return *err = why, false;
            r->deep.unreadable++;
        } else if (!read_deep_row(r, event)) {
            return err_nomem(err);
        }
    }
    return true;
}

static bool read_process_row(struct deep_reader *r)
{
    struct deep_process p = {
        .record = r->record,
        .level = text(r, "level"),
        .python = text(r, "python"),
        .torch = text(r, "torch"),
        .events = row_number(r, "events"),
        .bytes = row_number(r, "bytes"),
        .lost = row_number(r, "lost"),
        .overhead_ns = row_number(r, "overhead_ns"),
        .wrapped = number32(r, "wrapped"),
        .ended = json_kind_of(&r->doc, row_field(r, "ended")) == JSON_TRUE,
    };
    p.exclusive_costs = json_kind_of(&r->doc, row_field(r, "exclusive_costs")) == JSON_TRUE;
    json_id not_wrapped = row_field(r, "not_wrapped");
    if (json_kind_of(&r->doc, not_wrapped) == JSON_ARRAY)
        p.not_wrapped = (uint32_t)json_count(&r->doc, not_wrapped);
    return p.level.p && p.python.p && p.torch.p && vec_push(&r->processes, p);
}

static bool read_totals(struct deep_reader *r)
{
    json_id pytorch = row_field(r, "pytorch"), recorded = row_field(r, "recorded");
    if (json_kind_of(&r->doc, pytorch) != JSON_OBJECT)
        return true;
    for (json_id key = json_first(&r->doc, pytorch); key != JSON_NONE;) {
        json_id value = json_next(&r->doc, key);
        struct deep_total t = { .record = r->record, .attempt = r->attempt };
        t.label = json_decoded(&r->doc, key, &r->arena);
        json_u64(&r->doc, value, &t.pytorch);
        if (t.label.p)
            json_u64(&r->doc, json_get(&r->doc, recorded, t.label), &t.recorded);
        if (!t.label.p || !vec_push(&r->totals, t))
            return false;
        key = json_next(&r->doc, value);
    }
    return true;
}

static bool read_deep_metadata(struct deep_reader *r, enum event event, struct err *err)
{
    bool readable;
    if (!record_try_json(r->trace, r->record, &r->doc, &readable, err))
        return false;
    r->deep.unreadable += !readable;
    if (!readable)
        return true;
    return (event == EVENT_SYMTAPE_DEEP ? read_process_row(r) : read_totals(r)) || err_nomem(err);
}

static bool read_deep_record(struct deep_reader *r, struct err *err)
{
    enum event event = r->trace->records[r->record].event;
    r->attempt = r->trace->records[r->record].attempt;
    switch (event) {
    case EVENT_SYMTAPE_DEEP:
    case EVENT_SYMTAPE_TOTALS: return read_deep_metadata(r, event, err);
    case EVENT_SYMTAPE_DISPATCHES:
    case EVENT_SYMTAPE_COSTS:
    case EVENT_SYMTAPE_SIZE_USES:
    case EVENT_SYMTAPE_MEMORY: return read_deep_rows(r, event, err);
    default: return true;
    }
}

static void publish_deep(struct deep_reader *r)
{
#define LIST(name) r->deep.name = r->name.v, r->deep.n_##name = (uint32_t)r->name.n
    LIST(processes);
    LIST(stacks);
    LIST(dispatches);
    LIST(costs);
    LIST(uses);
    LIST(phases);
    LIST(totals);
#undef LIST
}

struct deep *deep_read(struct trace *trace, struct err *err)
{
    struct deep_reader *r = calloc(1, sizeof *r);
    if (!r)
        return err_nomem(err), NULL;
    r->trace = trace;
    r->texts = INTERN_INIT;
    for (uint32_t i = 0; i < trace->n_records; i++) {
        r->record = i;
        if (!read_deep_record(r, err)) {
            deep_free(&r->deep);
            return NULL;
        }
    }
    json_release(&r->doc);
    publish_deep(r);
    return &r->deep;
}

void deep_free(struct deep *deep)
{
    struct deep_reader *r = (struct deep_reader *)deep;
    if (!r)
        return;
    vec_release(&r->processes);
    vec_release(&r->stacks);
    vec_release(&r->dispatches);
    vec_release(&r->costs);
    vec_release(&r->uses);
    vec_release(&r->phases);
    vec_release(&r->totals);
    json_release(&r->doc);
    intern_release(&r->texts);
    arena_release(&r->arena);
    free(r);
}

bool deep_is_instruction(const struct deep_cost *cost)
{
    return str_is(cost->caller, "torch._dynamo.symbolic_convert");
}
