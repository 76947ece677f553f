#include "profile/report/replay/replay_fields.h"

#include "profile/model/format.h"
#include "trace/events/user_line.h"

/* ---- Graphs --------------------------------------------------------------------------------- */

static const struct field COUNTS[] = {
    { "calls", MEMBER(struct replay_counts, calls), TEXT(2, "calls", NUMBER, 0) },
    { "match", MEMBER(struct replay_counts, match), TEXT(3, "match", NUMBER, 0) },
    { "mismatch", MEMBER(struct replay_counts, mismatch), TEXT(4, "mismatch", COUNT, 0) },
    { "refused", MEMBER(struct replay_counts, refused), TEXT(5, "refused", COUNT, 0) },
    { "unsupported", MEMBER(struct replay_counts, unsupported), TEXT(6, "unsupported", COUNT, 0) },
    { "adopted", MEMBER(struct replay_counts, adopted), TEXT(7, "adopted", COUNT, 0) },
    { "ns", MEMBER(struct replay_counts, ns) },
};
const struct fields replay_counts_fields = FIELDS_OF(COUNTS);

static const struct graph_ref *ref_of(const struct replay_report *report, uint32_t ref)
{
    return ref == TRACE_NONE ? NULL : &report->list->refs[ref];
}

/* Writes the members "recording", "compile" and "attempt". */
static void json_where(const void *context, const void *at, struct json_writer *w, const char *key)
{
    const struct replay_report *report = context;
    (void)key;
    replay_attempt_json(w, report->trace, ref_of(report, *(const uint32_t *)at));
}

static void cell_replay_graph(const void *context, const void *at, struct buf *out)
{
    uint32_t ref = *(const uint32_t *)at;
    if (ref != TRACE_NONE)
        replay_graph_name(context, ref, out);
}

REACH_IN(reach_ref, struct replay_report, uint32_t, ref_of(in, *row))
GETTER(get_counted, bool, *row ? datum_absent() : datum_bool(false))
GETTER(get_told, struct str, row->n > 0 ? datum_string(*row) : datum_absent())

static const struct field REF[] = {
    { "kind", MEMBER(struct graph_ref, name) },
    { "index", MEMBER(struct graph_ref, index) },
};
static const struct fields REF_FIELDS = FIELDS_OF(REF);

static const struct field GRAPH[] = {
    { NULL, JSON(json_where, struct replay_graph, ref), .cell = cell_replay_graph,
      TEXT(1, "graph", WORD, 0) },
    { NULL, .group = &REF_FIELDS, .offset = offsetof(struct replay_graph, ref),
      .reach = reach_ref },
    { NULL, PART(replay_counts_fields, struct replay_graph, counts) },
    { "counted", GET(get_counted, struct replay_graph, counted) },
    { "error", GET(get_told, struct replay_graph, error), TEXT(8, "error", TEXT, 0) },
};
const struct fields replay_graph_fields = FIELDS_OF(GRAPH);

/* ---- Guards --------------------------------------------------------------------------------- */

static void json_attempt(const void *context, const void *at, struct json_writer *w,
                         const char *key)
{
    const struct replay_report *report = context;
    uint32_t attempt = *(const uint32_t *)at;
    (void)key;
    if (attempt == TRACE_NONE)
        return;
    json_put_str(w, "compile", report->trace->attempts[attempt].compile);
    json_put_u64(w, "attempt", report->trace->attempts[attempt].number);
}

static void cell_attempt(const void *context, const void *at, struct buf *out)
{
    const struct replay_report *report = context;
    uint32_t attempt = *(const uint32_t *)at;
    if (attempt == TRACE_NONE)
        return;
    format_text(out, report->trace->attempts[attempt].compile, 0);
    buf_printf(out, "_%u", report->trace->attempts[attempt].number);
}

static void cell_outcome(const void *context, const void *at, struct buf *out)
{
    const struct replay_guard *row = at;
    (void)context;
    buf_puts(out, guard_status_name(row->status));
    if (row->guard && row->guard->kind == GUARD_RUNTIME_ASSERT)
        buf_puts(out, " assert");
}

GETTER(get_kind, struct replay_guard,
       datum_name(row->guard ? guard_kind_name(row->guard->kind) : "guard"))
GETTER(get_class, struct replay_guard,
       datum_name(row->guard ? guard_class_name(row->guard->asked_by) : "kernel"))
GETTER(get_outcome, enum guard_status, datum_name(guard_status_name(*row)))
GETTER_IN(get_graph, struct replay_report, uint32_t,
          *row == TRACE_NONE ? datum_absent() : datum_string(ref_of(in, *row)->name))

/* Returns where a guard was evaluated according to its record: the frame in PyTorch and the user
 * line. */
static struct frame asker_of(const struct trace *trace, const struct guard *guard)
{
    return stack_frame(trace, trace->records[guard->record].recording, guard->asker);
}

static stack_id guard_line(const struct trace *trace, const struct guard *guard)
{
    return user_line(trace, trace->records[guard->record].recording, guard->user_stack);
}

static void put_json_frame(struct json_writer *w, const char *key, struct frame frame)
{
    json_open_object(w, key);
    json_put_str(w, "file", frame.file);
    json_put_u64(w, "line", frame.line);
    json_put_str(w, "function", frame.function);
    json_put_str(w, "code", frame.code);
    json_close(w);
}

static void json_asker(const void *context, const void *at, struct json_writer *w, const char *key)
{
    const struct replay_report *report = context;
    const struct guard *guard = at;
    if (guard->asker)
        put_json_frame(w, key, asker_of(report->trace, guard));
}

static void cell_asker(const void *context, const void *at, struct buf *out)
{
    const struct replay_report *report = context;
    struct frame asker = asker_of(report->trace, at);
    format_text(out, str_basename(asker.file), 0);
    buf_printf(out, ":%u ", asker.line);
    format_text(out, asker.function, 0);
}

static void json_line(const void *context, const void *at, struct json_writer *w, const char *key)
{
    const struct replay_report *report = context;
    const struct guard *guard = at;
    stack_id line = guard_line(report->trace, guard);
    if (line)
        put_json_frame(
            w, key,
            stack_frame(report->trace, report->trace->records[guard->record].recording, line));
}

static void cell_line(const void *context, const void *at, struct buf *out)
{
    const struct replay_report *report = context;
    const struct guard *guard = at;
    struct frame line = stack_frame(report->trace, report->trace->records[guard->record].recording,
                                    guard_line(report->trace, guard));
    format_place(out, line.file, line.line);
}

static const struct field RECORDED[] = {
    { "asker", .json = json_asker, .cell = cell_asker, TEXT(8, "recorded in", WORD, 1) },
    { "line", .json = json_line, .cell = cell_line, TEXT(9, "user line", PATH, 0) },
};
static const struct fields RECORDED_FIELDS = FIELDS_OF(RECORDED);

static void json_branch_expr(const void *context, const void *at, struct json_writer *w,
                             const char *key)
{
    const struct replay_branch *branch = at;
    (void)context;
    json_put_str(w, key, branch->guard->expr);
}

static const struct field GUARD[] = {
    { NULL, JSON(json_attempt, struct replay_guard, attempt), .cell = cell_attempt,
      TEXT(1, "compile", WORD, 0) },
    { "expr", MEMBER(struct replay_guard, expr), TEXT(4, "guard", TEXT, 0) },
    { "kind", .get = get_kind },
    { "class", .get = get_class, TEXT(2, "asked by", WORD, 0) },
    { "outcome", GET(get_outcome, struct replay_guard, status) },
    { NULL, .cell = cell_outcome, TEXT(3, "outcome", WORD, 0) },
    { "graph", GET(get_graph, struct replay_guard, ref), .cell = cell_replay_graph,
      TEXT(7, "graph", WORD, 2) },
    { "node", GET(get_told, struct replay_guard, node), TEXT(5, "node", WORD, 4) },
    { "op", GET(get_told, struct replay_guard, rule), TEXT(6, "operator", WORD, 3) },
    { NULL, BEHIND(RECORDED_FIELDS, struct replay_guard, guard) },
};
const struct fields replay_guard_fields = FIELDS_OF(GUARD);

static const struct field BRANCH[] = {
    { NULL, JSON(json_attempt, struct replay_branch, attempt) },
    { "expr", .json = json_branch_expr },
    { NULL, BEHIND(RECORDED_FIELDS, struct replay_branch, guard) },
};
const struct fields replay_branch_fields = FIELDS_OF(BRANCH);

void replay_branches_text(const struct replay_report *report, const struct replay *replay,
                          struct buf *out)
{
    for (size_t i = 0; i < replay->n_branches; i++) {
        const struct replay_branch *branch = &replay->branches[i];
        cell_attempt(report, &branch->attempt, out);
        buf_puts(out, ": the program branches at ");
        cell_line(report, branch->guard, out);
        buf_puts(out, ", because ");
        format_text(out, branch->guard->expr, 0);
        buf_puts(out, " does not hold; what comes after is another program\n");
    }
}

/* ---- Operators ------------------------------------------------------------------------------ */

static void json_stats_depths(const void *context, const void *at, struct json_writer *w,
                              const char *key)
{
    const uint64_t *by_depth = at;
    unsigned depth = OP_STATS_DEPTHS;
    (void)context;
    while (depth && by_depth[depth - 1] == 0)
        depth--;
    json_open_array(w, key);
    for (unsigned i = 0; i < depth; i++)
        json_put_u64(w, NULL, by_depth[i]);
    json_close(w);
}

static void json_fast(const void *context, const void *at, struct json_writer *w, const char *key)
{
    const uint64_t *fast = at;
    (void)context;
    json_open_object(w, key);
    for (int i = 0; i < OP_COUNTERS; i++) {
        struct str name = str_of(op_counter_name((enum op_counter)i));
        if (fast[i] == 0)
            continue;
        json_put_key(w, str_is(name, "attempt fast")     ? STR("attempt")
                        : str_starts(name, STR("fast ")) ? str_from(name, 5)
                                                         : name);
        json_put_u64(w, NULL, fast[i]);
    }
    json_close(w);
}

static void put_named(struct buf *out, size_t start, const char *name, uint64_t n)
{
    if (n > 0)
        buf_printf(out, "%s%s %llu", out->n > start ? ", " : "", name, (unsigned long long)n);
}

static void cell_fast(const void *context, const void *at, struct buf *out)
{
    const uint64_t *fast = at;
    size_t start = out->n;
    (void)context;
    for (int i = 0; i < OP_COUNTERS; i++)
        put_named(out, start, op_counter_name((enum op_counter)i), fast[i]);
}

static void json_bypasses(const void *context, const void *at, struct json_writer *w,
                          const char *key)
{
    const uint64_t *bypasses = at;
    (void)context;
    json_open_object(w, key);
    for (int i = 0; i < OP_BYPASSES; i++)
        if (bypasses[i]) {
            json_put_key(w, str_of(op_bypass_reason((enum op_bypass)i)));
            json_put_u64(w, NULL, bypasses[i]);
        }
    json_close(w);
}

static void cell_bypasses(const void *context, const void *at, struct buf *out)
{
    const uint64_t *bypasses = at;
    size_t start = out->n;
    (void)context;
    for (int i = 0; i < OP_BYPASSES; i++)
        put_named(out, start, op_bypass_reason((enum op_bypass)i), bypasses[i]);
}

static const struct field CACHE[] = {
    { "hit", MEMBER(struct op_stats, hits), TEXT(4, "hit", COUNT, 0) },
    { "miss", MEMBER(struct op_stats, misses), TEXT(5, "miss", COUNT, 0) },
    { "bypass", JSON(json_bypasses, struct op_stats, bypasses), .cell = cell_bypasses,
      TEXT(10, "bypassed", LIST, 5) },
};
static const struct fields CACHE_FIELDS = FIELDS_OF(CACHE);

static const struct field STATS[] = {
    { "calls", MEMBER(struct op_stats, calls), TEXT(2, "calls", NUMBER, 0) },
    { "dispatches", MEMBER(struct op_stats, dispatches), TEXT(3, "dispatches", COUNT, 0) },
    { "by_depth", JSON(json_stats_depths, struct op_stats, by_depth) },
    { "fast", JSON(json_fast, struct op_stats, fast), .cell = cell_fast,
      TEXT(9, "fast path", LIST, 4) },
    { "cache", .group = &CACHE_FIELDS },
    { "exprs", MEMBER(struct op_stats, exprs), TEXT(8, "exprs", COUNT, 2) },
    { "evaluations", MEMBER(struct op_stats, evaluations), TEXT(7, "evaluations", COUNT, 3) },
    { "guards", MEMBER(struct op_stats, guards), TEXT(6, "guards", COUNT, 0) },
    { "symbolic_tensors", MEMBER(struct op_stats, symbolic_tensors) },
    { "ns", MEMBER(struct op_stats, ns) },
};
const struct fields replay_stats_fields = FIELDS_OF(STATS);

static void json_stack(const void *context, const void *at, struct json_writer *w, const char *key)
{
    const struct replay_stack *stack = at;
    (void)context;
    replay_stack_json(w, key, stack->location_graph, stack->location);
}

static const struct field STACK[] = {
    { "stack", .json = json_stack },
    { "count", MEMBER(struct replay_stack, calls) },
};
static const struct fields STACK_FIELDS = FIELDS_OF(STACK);

static void json_stacks(const void *context, const void *at, struct json_writer *w, const char *key)
{
    const struct replay_operator *row = at;
    struct rows stacks = ROWS(row->stacks, (uint32_t)row->n_stacks);
    fields_json_rows(w, key, &STACK_FIELDS, context, &stacks, 0);
}

/* Appends the line with the most calls. */
static void cell_top_line(const void *context, const void *at, struct buf *out)
{
    const struct replay_operator *row = at;
    const struct replay_stack *stack = row->n_stacks ? &row->stacks[0] : NULL;
    (void)context;
    if (stack && stack->location_graph && stack->location < stack->location_graph->n_locations) {
        const struct location *place = &stack->location_graph->locations[stack->location];
        format_place(out, place->file, place->line);
    }
}

static const struct field OPERATOR[] = {
    { "op", MEMBER(struct replay_operator, op), TEXT(1, "operator", WORD, 0) },
    { NULL, PART(replay_stats_fields, struct replay_operator, stats) },
    { "stacks", .json = json_stacks, .cell = cell_top_line, TEXT(11, "most from", PATH, 1) },
};
const struct fields replay_operator_fields = FIELDS_OF(OPERATOR);

/* ---- Passes --------------------------------------------------------------------------------- */

static const struct field PASS_COUNTS[] = {
    { "fake_tensor_mode", MEMBER(struct pass_counts, fake_mode),
      TEXT(2, "FakeTensorMode", NUMBER, 0) },
    { "fake_tensor", MEMBER(struct pass_counts, fake_tensor), TEXT(3, "FakeTensor", COUNT, 0) },
    { "proxy", MEMBER(struct pass_counts, proxy), TEXT(4, "Proxy", COUNT, 0) },
    { "fast", JSON(json_fast, struct pass_counts, fast), .cell = cell_fast,
      TEXT(5, "fast path", LIST, 0) },
};
static const struct fields PASS_COUNTS_FIELDS = FIELDS_OF(PASS_COUNTS);

static const struct field PASS[] = {
    { "pass", MEMBER(struct replay_pass, name), TEXT(1, "pass", WORD, 0) },
    { "function", MEMBER(struct replay_pass, function), TEXT(6, "PyTorch's function", TEXT, 1) },
    { NULL, BEHIND(PASS_COUNTS_FIELDS, struct replay_pass, counts) },
};
const struct fields replay_pass_fields = FIELDS_OF(PASS);
