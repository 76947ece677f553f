/* Guards, symbols and specializations of user lines, and the passes of the compiler over the
 * program, whose time line_gaps.c divides among the lines. */
#include "profile/model/lines/line_gaps.h"
#include "trace/tables.h"

#define DAY_US INT64_C(86400000000)

enum { PASS_KINDS = 3 };

/* A phase in which the program is traced, and the graphs whose calls are those that it traces: the
 * first kind that an attempt has. */
static const struct tracing_phase {
    const char *name; /* NULL: an attempt without such phases */
    enum graph_kind kinds[PASS_KINDS];
    enum work_run run; /* of these calls */
    bool forward;      /* without those for gradients */
    double beside;     /* the weight of what is done for each call besides its dispatches */
} TRACING[] = {
    { "bytecode_tracing", { GRAPH_DYNAMO, GRAPH_DYNAMO, GRAPH_DYNAMO }, WORK_FIRST, true, 2 },
    { "aot_collect_metadata", { GRAPH_INFERENCE, GRAPH_JOINT, GRAPH_DYNAMO }, WORK_AGAIN, true, 0 },
    { "aot_trace_joint_graph",
      { GRAPH_JOINT, GRAPH_FORWARD, GRAPH_DYNAMO },
      WORK_TRACED,
      false,
      0 },
    { "create_aot_dispatcher_function", /* it also transforms, prints and compiles the graph */
      { GRAPH_INFERENCE, GRAPH_INFERENCE, GRAPH_INFERENCE },
      WORK_TRACED,
      false,
      8 },
    { NULL, { GRAPH_DYNAMO, GRAPH_EXPORTED, GRAPH_INFERENCE }, WORK_FIRST, true, 0 },
};
enum { PASSES_TRACING = sizeof TRACING / sizeof *TRACING, PASS_WHOLE = PASSES_TRACING - 1 };
#define PASS_OTHER UINT32_MAX /* no user line is worked on */

struct running_pass {
    const struct work_graph *graph; /* NULL */
    bool borrowed; /* the graph is that of a later attempt: it may have more calls */
    int64_t ns;
    vec_of(struct pass_mark)
    marks;
};

struct open_phase {
    struct str name;
    uint32_t pass;
};

struct time_estimate {
    struct profile_build *b;
    struct line_table *lines;
    struct build_input *in;
    stack_id *user_stacks; /* by record: the stacks of guards, symbols and specializations; 0 */
    bool *evaluated;       /* by record: a guard of a call, or a specialization */
    uint32_t *phases;      /* by record: the event of a phase that begins or ends there, plus 1 */
    struct running_pass passes[PASSES_TRACING];
    vec_of(struct open_phase)
    open;
    struct gap_memory gaps;
    struct json doc;
    bool kept; /* of the attempt at work */
};

/* The rows of the user's line and of PyTorch's, or NULL. Valid until the next one is found. */
struct line_pair {
    struct profile_line *user, *library;
};

static bool find_rows(struct time_estimate *e, uint32_t record, stack_id stack,
                      struct line_pair *ret)
{
    uint32_t line, library_line;
    *ret = (struct line_pair){ NULL, NULL };
    if (!build_takes(e->b, e->in, record))
        return true;
    if (!line_table_stack(e->lines, e->in, e->in->trace->records[record].recording, stack, &line,
                          &library_line))
        return false;
    if (line != LINE_NOBODY)
        ret->user = &e->b->lines.v[line];
    if (library_line != LINE_NOBODY)
        ret->library = &e->b->library_lines.v[library_line];
    return true;
}

static bool count_line_guards(struct time_estimate *e)
{
    for (uint32_t i = 0; i < e->in->guards->n; i++) {
        const struct guard *guard = &e->in->guards->guards[i];
        struct line_pair rows;
        e->user_stacks[guard->record] = guard->user_stack;
        e->evaluated[guard->record] = guard->asked_by != GUARD_BY_DYNAMO;
        if (!find_rows(e, guard->record, guard->user_stack, &rows))
            return false;
        if (guard->kind != GUARD_EVAL)
            continue;
        bool kept = build_kept(e->in, guard->attempt);
        if (rows.user) {
            rows.user->guards++;
            rows.user->kept_guards += kept;
        }
        if (rows.library) {
            rows.library->guards++;
            rows.library->kept_guards += kept;
        }
    }
    return true;
}

static bool count_symbols(struct time_estimate *e)
{
    for (uint32_t i = 0; i < e->in->symbols->n_symbols; i++) {
        const struct symbol *symbol = &e->in->symbols->symbols[i];
        struct line_pair rows;
        e->user_stacks[symbol->record] = symbol->user_stack;
        if (!find_rows(e, symbol->record, symbol->user_stack, &rows))
            return false;
        if (rows.user)
            rows.user->symbols++;
        if (rows.library)
            rows.library->symbols++;
    }
    for (uint32_t i = 0; i < e->in->symbols->n_specializations; i++) {
        const struct specialization *s = &e->in->symbols->specializations[i];
        struct line_pair rows;
        e->user_stacks[s->record] = s->user_stack;
        e->evaluated[s->record] = true;
        if (!find_rows(e, s->record, s->user_stack, &rows))
            return false;
        if (rows.user)
            rows.user->specializations++;
        if (rows.library)
            rows.library->specializations++;
    }
    return true;
}

/* ---- Passes ---- */

static void mark_phases(struct time_estimate *e)
{
    for (uint32_t i = 0; i < e->in->events->n; i++) {
        const struct chromium_event *event = &e->in->events->events[i];
        if (event->phase == 'B' || event->phase == 'E')
            e->phases[event->record] = i + 1;
    }
}

static uint32_t tracing_phase(struct str name)
{
    for (uint32_t i = 0; i < PASS_WHOLE; i++)
        if (str_is(name, TRACING[i].name))
            return i;
    return PASS_OTHER;
}

static uint32_t current_pass(const struct time_estimate *e)
{
    return e->open.n ? e->open.v[e->open.n - 1].pass : PASS_OTHER;
}

/* Returns the pass at work while a phase is the innermost one. */
static uint32_t pass_in_phase(const struct time_estimate *e, struct str name)
{
    uint32_t pass = tracing_phase(name);
    if (pass != PASS_OTHER && e->open.n && e->open.v[0].pass == PASS_WHOLE)
        return PASS_WHOLE;
    if (pass != PASS_OTHER)
        return pass;
    return phase_is_backend(name) || str_is(name, "backend_compile") || str_is(name, "gc") ||
                   str_is(name, "OutputGraph.call_user_compiler")
               ? PASS_OTHER
               : current_pass(e);
}

/* Returns the calls of an attempt at a level: of several graphs, all, since they were added one
 * after the other. */
static struct work_graph *find_work(const struct line_work *work, uint32_t attempt,
                                    enum graph_kind kind)
{
    for (size_t i = 0; i < work->graphs.n; i++)
        if (work->graphs.v[i].attempt == attempt && work->graphs.v[i].kind == kind)
            return &work->graphs.v[i];
    return NULL;
}

/* Finds the graph that a pass traced. An attempt that was thrown away may have none; then that of a
 * later attempt of the same compile begins with the same calls. */
static void find_pass_graph(struct time_estimate *e, uint32_t pass, uint32_t attempt)
{
    const struct trace *trace = e->in->trace;
    struct running_pass *running = &e->passes[pass];
    running->graph = NULL;
    running->borrowed = false;
    for (uint32_t at = attempt;
         !running->graph && at<trace->n_attempts; at = trace->attempts[at].next> at
             ? trace->attempts[at].next
             : TRACE_NONE) {
        for (int k = 0; k < PASS_KINDS && !running->graph; k++)
            running->graph = find_work(&e->in->work, at, TRACING[pass].kinds[k]);
        running->borrowed = at != attempt;
    }
}

static bool give_share(void *user, const struct line_share *share)
{
    struct time_estimate *e = user;
    struct profile_lines *all = &e->b->profile.lines;
    if (share->row == LINE_NOBODY) {
        build_add_ns(&all->unattributed_ns, share->ns);
        build_add_ns(&all->unplaced_ns, share->unplaced ? share->ns : 0);
        return true;
    }
    struct profile_line *line = &e->b->lines.v[share->row];
    build_add_ns(&all->estimated_ns, share->ns);
    build_add_ns(&line->estimated_ns, share->ns);
    build_add_ns(&line->low_ns, share->low_ns);
    build_add_ns(&line->high_ns, share->high_ns);
    if (e->kept)
        build_add_ns(&line->kept_estimated_ns, share->ns);
    return true;
}

static bool end_pass(struct time_estimate *e, uint32_t index)
{
    struct running_pass *running = &e->passes[index];
    const struct work_graph *graph = running->graph;
    struct line_pass pass = {
        .ns = running->ns,
        .calls = graph ? vec_from(&e->in->work.calls, graph->first_call) : NULL,
        .n_calls = !graph                   ? 0
                   : TRACING[index].forward ? graph->n_forward
                                            : graph->n_calls,
        .run = TRACING[index].run,
        .beside = TRACING[index].beside,
        .unfinished = running->borrowed,
        .marks = running->marks.v,
        .n_marks = running->marks.n,
    };
    bool ok = pass.ns == 0 || line_gaps_divide(&e->gaps, &pass, e->b->lines.n, give_share, e);
    running->ns = 0;
    running->marks.n = 0;
    return ok;
}

/* Ends the passes whose phases are no longer open. */
static bool end_passes(struct time_estimate *e)
{
    for (uint32_t i = 0; i < PASSES_TRACING; i++) {
        bool open = false;
        for (size_t k = 0; k < e->open.n; k++)
            open = open || e->open.v[k].pass == i;
        if (!open && !end_pass(e, i))
            return false;
    }
    return true;
}

static bool follow_phase(struct time_estimate *e, const struct chromium_event *event,
                         uint32_t attempt)
{
    enum { DEEPEST = 100 };
    if (event->phase == 'B') {
        uint32_t pass = pass_in_phase(e, event->name);
        if (pass != PASS_OTHER && pass != PASS_WHOLE && pass != current_pass(e))
            find_pass_graph(e, pass, attempt);
        return e->open.n >= DEEPEST ||
               vec_push(&e->open, ((struct open_phase){ event->name, pass }));
    }
    for (size_t i = e->open.n; i-- > 0;)
        if (str_eq(e->open.v[i].name, event->name)) {
            e->open.n = i;
            return end_passes(e);
        }
    return true;
}

static int compare_source(const void *key, const void *input)
{
    uint64_t x = *(const uint64_t *)key, y = ((const struct work_input *)input)->source;
    return (x > y) - (x < y);
}

/* Returns the first call that reads the input that a record describes, or LINE_NOBODY. */
static bool find_input_call(struct time_estimate *e, const struct work_graph *graph,
                            uint32_t record, uint32_t *ret)
{
    struct err ignored = { 0 };
    bool readable;
    *ret = LINE_NOBODY;
    if (!graph || graph->kind != GRAPH_DYNAMO || graph->n_inputs == 0)
        return true;
    if (!record_try_json(e->in->trace, record, &e->doc, &readable, &ignored))
        return false;
    struct str source =
        readable ? json_str(&e->doc, json_get(&e->doc, JSON_ROOT, STR("source"))) : STR("");
    struct str wrapper = STR("___as_tensor(");
    uint64_t key =
        line_work_source(str_starts(source, wrapper) ? str_from(source, wrapper.n) : source);
    const struct work_input *input = bsearch(&key, e->in->work.inputs.v + graph->first_input,
                                             graph->n_inputs, sizeof *input, compare_source);
    if (input)
        *ret = input->call;
    return true;
}

static bool add_mark(struct time_estimate *e, struct running_pass *running, uint32_t record)
{
    const struct trace *trace = e->in->trace;
    uint32_t library_row;
    bool describes = trace->records[record].event == EVENT_DESCRIBE_SOURCE;
    struct pass_mark mark = { .at_ns = running->ns,
                              .row = LINE_NOBODY,
                              .call = LINE_NOBODY,
                              .evaluated = e->evaluated[record],
                              .describes = describes };
    if (!describes && e->user_stacks[record] == 0)
        return true;
    if (!build_takes(e->b, e->in, record))
        return true;
    if (describes ? !find_input_call(e, running->graph, record, &mark.call)
                  : !line_table_stack(e->lines, e->in, trace->records[record].recording,
                                      e->user_stacks[record], &mark.row, &library_row))
        return false;
    bool placed = mark.row != LINE_NOBODY || mark.call != LINE_NOBODY;
    return (!placed && running->graph) || vec_push(&running->marks, mark);
}

static int64_t gap_ns(const struct trace *trace, uint32_t from, uint32_t to)
{
    int64_t us = (int64_t)trace->records[to].time_us - (int64_t)trace->records[from].time_us;
    if (us < -DAY_US / 2)
        us += DAY_US;
    return us > 0 ? us * 1000 : 0;
}

static bool has_tracing_phase(const struct time_estimate *e, const struct attempt *attempt)
{
    for (uint32_t i = 0; i < attempt->n_records; i++) {
        uint32_t event = e->phases[attempt->records[i]];
        if (event && tracing_phase(e->in->events->events[event - 1].name) != PASS_OTHER)
            return true;
    }
    return false;
}

static bool estimate_attempt(struct time_estimate *e, uint32_t index)
{
    const struct trace *trace = e->in->trace;
    const struct attempt *attempt = &trace->attempts[index];
    e->open.n = 0;
    e->kept = build_kept(e->in, index);
    if (!has_tracing_phase(e, attempt)) {
        find_pass_graph(e, PASS_WHOLE, index);
        if (!vec_push(&e->open, ((struct open_phase){ STR(""), PASS_WHOLE })))
            return false;
    }
    for (uint32_t i = 0; i < attempt->n_records; i++) {
        uint32_t record = attempt->records[i], event = e->phases[record];
        uint32_t pass = current_pass(e);
        int64_t ns = i > 0 ? gap_ns(trace, attempt->records[i - 1], record) : 0;
        build_add_ns(
            pass == PASS_OTHER ? &e->b->profile.lines.unattributed_ns : &e->passes[pass].ns, ns);
        if (pass != PASS_OTHER && !add_mark(e, &e->passes[pass], record))
            return false;
        if (event && !follow_phase(e, &e->in->events->events[event - 1], index))
            return false;
    }
    e->open.n = 0;
    return end_passes(e);
}

static bool estimate_input_times(struct profile_build *b, struct line_table *lines,
                                 struct build_input *in)
{
    size_t n = (size_t)in->trace->n_records + 1;
    struct time_estimate e = {
        .b = b,
        .lines = lines,
        .in = in,
        .user_stacks = calloc(n, sizeof *e.user_stacks),
        .evaluated = calloc(n, sizeof *e.evaluated),
        .phases = calloc(n, sizeof *e.phases),
    };
    bool ok = e.user_stacks && e.evaluated && e.phases && line_table_start(lines, in) &&
              count_line_guards(&e) && count_symbols(&e);
    if (ok)
        mark_phases(&e);
    for (uint32_t i = 0; ok && i < in->trace->n_attempts; i++)
        if (in->compile_of[i] != PROFILE_NONE)
            ok = estimate_attempt(&e, i);
    for (int i = 0; i < PASSES_TRACING; i++)
        vec_release(&e.passes[i].marks);
    vec_release(&e.open);
    gap_memory_release(&e.gaps);
    json_release(&e.doc);
    free(e.user_stacks);
    free(e.evaluated);
    free(e.phases);
    return ok;
}

bool line_times_estimate(struct profile_build *b, struct line_table *lines, struct err *err)
{
    for (uint32_t i = 0; i < b->profile.n_traces; i++)
        if (!estimate_input_times(b, lines, &b->inputs[i]))
            return err_nomem(err);
    return true;
}
