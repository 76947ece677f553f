#include "profile/compare/measures.h"

#include <math.h>

#include "profile/compare/measure_fields.h"
#include "profile/model/human.h"
#include "replay/ops/dispatch/ops.h"
#include "trace/base/number.h"

static const struct measure_row ROWS[MEASURES] = {
#define MEASURE(id, name, unit, source, meaning) \
    { name, meaning, MEASURE_##unit, MEASURE_##source },
#include "profile/compare/measures.def"
#undef MEASURE
};

const struct measure_row *measure_row(enum measure measure)
{
    return &ROWS[measure];
}

bool measure_find(struct str name, enum measure *ret)
{
    for (int i = 0; i < MEASURES; i++)
        if (str_is(name, ROWS[i].name)) {
            *ret = (enum measure)i;
            return true;
        }
    return false;
}

const char *measure_unit_name(enum measure_unit unit)
{
    static const char *const NAMES[] = { "", "s", "ms", "us", "B", "x" };
    return NAMES[unit];
}

const char *measure_source_name(enum measure_source source)
{
    static const char *const NAMES[] = { "recorded", "timed", "replayed", "estimated", "deep" };
    return NAMES[source];
}

static void set_measure(struct measures *m, enum measure measure, double value)
{
    m->has[measure] = true;
    m->value[measure] = value;
}

/* Sets a ratio unless the divisor is 0. */
static void set_ratio(struct measures *m, enum measure measure, double value, double by)
{
    if (by > 0)
        set_measure(m, measure, value / by);
}

static double seconds(int64_t ns)
{
    return (double)ns / 1e9;
}

static void set_incidents(const struct profile *p, struct measures *m)
{
    uint64_t attempts = 0, unfinished = 0, graphs = 0;
    for (uint32_t i = 0; i < p->n_recordings; i++) {
        attempts += p->recordings[i].n_attempts;
        unfinished += p->recordings[i].n_unfinished;
    }
    for (int i = 0; i <= GRAPH_INFERENCE; i++)
        graphs += p->operators.graphs[i];
    set_measure(m, MEASURE_COMPILES, p->n_compiles);
    set_measure(m, MEASURE_ATTEMPTS, (double)attempts);
    set_measure(m, MEASURE_RESTARTS, p->n_restarts);
    set_measure(m, MEASURE_RECOMPILES, p->n_recompiles);
    set_measure(m, MEASURE_BREAKS, p->n_breaks);
    set_measure(m, MEASURE_FAILURES, p->n_failures);
    set_measure(m, MEASURE_UNFINISHED, (double)unfinished);
    set_measure(m, MEASURE_GRAPHS, (double)graphs);
}

static void set_calls(const struct profile *p, struct measures *m)
{
    const struct profile_operators *all = &p->operators;
    uint64_t aten = profile_aten_calls(all->kept), nodes = 0;
    for (int i = 0; i <= GRAPH_INFERENCE; i++)
        nodes += all->kept_nodes[i];
    set_measure(m, MEASURE_NODES, (double)nodes);
    set_measure(m, MEASURE_CALLS, (double)aten);
    set_measure(m, MEASURE_CALLS_DYNAMO, (double)all->kept[GRAPH_DYNAMO]);
    set_measure(m, MEASURE_CALLS_JOINT, (double)all->kept[GRAPH_JOINT]);
    set_measure(m, MEASURE_CALLS_FORWARD, (double)all->kept[GRAPH_FORWARD]);
    set_measure(m, MEASURE_CALLS_BACKWARD, (double)all->kept[GRAPH_BACKWARD]);
    set_measure(m, MEASURE_CALLS_INFERENCE, (double)all->kept[GRAPH_INFERENCE]);
    set_measure(m, MEASURE_CALLS_POST_GRAD, (double)all->kept[GRAPH_POST_GRAD]);
    set_measure(m, MEASURE_CALLS_THROWN, (double)(profile_aten_calls(all->calls) - aten));
    if (aten > 0)
        set_ratio(m, MEASURE_EXPANSION, (double)aten, (double)all->kept[GRAPH_DYNAMO]);
}

static void set_guards(const struct profile *p, struct measures *m)
{
    static const enum measure BY_CLASS[GUARD_CLASSES] = {
        [GUARD_BY_KERNEL] = MEASURE_GUARDS_KERNEL,
        [GUARD_BY_TORCH_FUNCTION] = MEASURE_GUARDS_TORCH_FUNCTION,
        [GUARD_BY_DYNAMO] = MEASURE_GUARDS_DYNAMO,
        [GUARD_BY_BACKEND] = MEASURE_GUARDS_BACKEND,
        [GUARD_BY_USER] = MEASURE_GUARDS_USER,
    };
    uint64_t lines = 0, symbols = 0, specializations = 0;
    for (uint32_t i = 0; i < p->lines.n_lines; i++)
        lines += p->lines.lines[i].guards > 0;
    for (uint32_t i = 0; i < p->n_compiles; i++) {
        symbols += p->compiles[i].n_symbols;
        specializations += p->compiles[i].n_specializations;
    }
    set_measure(m, MEASURE_GUARDS, (double)p->guards.by_kind[GUARD_EVAL]);
    set_measure(m, MEASURE_GUARDS_KEPT, (double)p->guards.kept);
    for (int i = 0; i < GUARD_CLASSES; i++)
        set_measure(m, BY_CLASS[i], (double)p->guards.by_class[i]);
    set_measure(m, MEASURE_GUARDS_SUPPRESSED, (double)p->guards.by_kind[GUARD_SUPPRESSED]);
    set_measure(m, MEASURE_RUNTIME_ASSERTS, (double)p->guards.by_kind[GUARD_RUNTIME_ASSERT]);
    set_measure(m, MEASURE_GUARD_EXPRESSIONS, p->guards.n_exprs);
    set_measure(m, MEASURE_GUARD_LINES, (double)lines);
    set_measure(m, MEASURE_SYMBOLS, (double)symbols);
    set_measure(m, MEASURE_SPECIALIZATIONS, (double)specializations);
}

static void set_caches(const struct profile *p, struct measures *m)
{
    uint64_t by_state[CACHE_STATES] = { 0 };
    for (int kind = 0; kind < CACHE_KINDS; kind++)
        for (int state = 0; state < CACHE_STATES; state++)
            by_state[state] += p->cache_counts[kind][state];
    set_measure(m, MEASURE_CACHE_HITS, (double)by_state[CACHE_HIT]);
    set_measure(m, MEASURE_CACHE_MISSES, (double)by_state[CACHE_MISS]);
    set_measure(m, MEASURE_CACHE_BYPASSES, (double)by_state[CACHE_BYPASS]);
}

static void set_times(const struct profile *p, struct measures *m)
{
    const int64_t *part = p->phases.part_ns;
    if (p->n_compiles == 0)
        return;
    set_measure(m, MEASURE_COMPILE_S, seconds(p->compile_ns));
    set_measure(m, MEASURE_RESTARTED_S, seconds(p->restarted_ns));
    set_ratio(m, MEASURE_MS_PER_OP, (double)p->compile_ns / 1e6,
              (double)profile_aten_calls(p->operators.kept));
    set_ratio(m, MEASURE_MS_PER_DYNAMO_OP, (double)p->compile_ns / 1e6,
              (double)p->operators.kept[GRAPH_DYNAMO]);
    if (p->phases.n_nodes == 0)
        return;
    set_measure(m, MEASURE_DYNAMO_S, seconds(part[PHASE_DYNAMO]));
    set_measure(m, MEASURE_AOT_S, seconds(part[PHASE_AOT]));
    set_measure(m, MEASURE_INDUCTOR_S,
                seconds(part[PHASE_INDUCTOR]) + seconds(part[PHASE_CODEGEN]) +
                    seconds(part[PHASE_AUTOTUNING]));
}

static void set_memory(const struct profile *p, struct measures *m)
{
    uint64_t peak = 0, saved = 0;
    for (uint32_t i = 0; i < p->n_graph_memory; i++) {
        peak = p->graph_memory[i].peak_bytes > peak ? p->graph_memory[i].peak_bytes : peak;
        saved += p->graph_memory[i].saved_bytes;
    }
    if (p->n_graph_memory > 0) {
        set_measure(m, MEASURE_LIVE_PEAK, (double)peak);
        set_measure(m, MEASURE_SAVED_BYTES, (double)saved);
    }
}

static void set_peak(struct measures *m, enum measure measure, uint64_t bytes)
{
    if (bytes > 0)
        set_measure(m, measure, (double)bytes);
}

static void set_deep(const struct profile *p, struct measures *m)
{
    const struct profile_costs *costs = &p->costs;
    uint64_t uses = 0, questions = 0, allocations = 0, dispatches = 0;
    if (!costs->deep)
        return;
    for (uint32_t i = 0; i < costs->n_uses; i++)
        *(costs->uses[i].question ? &questions : &uses) += costs->uses[i].count;
    for (uint32_t i = 0; i < costs->n_operators; i++)
        if (op_allocates(profile_name(p, costs->operators[i].op)))
            allocations += operator_cost_real(&costs->operators[i]);
    for (int i = 0; i < PROFILE_MODES; i++)
        dispatches += costs->by_mode[i];
    set_measure(m, MEASURE_REAL_DISPATCHES, (double)costs->by_mode[DEEP_FAKE_TENSOR_MODE]);
    set_measure(m, MEASURE_REAL_FAKE_TENSOR, (double)costs->by_mode[DEEP_FAKE_TENSOR]);
    set_measure(m, MEASURE_REAL_PROXY, (double)costs->by_mode[DEEP_PROXY_MODE]);
    set_measure(m, MEASURE_REAL_ALLOCATIONS, (double)allocations);
    set_measure(m, MEASURE_DISPATCH_S, seconds(costs->self_ns));
    set_ratio(m, MEASURE_US_PER_DISPATCH, (double)costs->self_ns / 1e3, (double)dispatches);
    set_measure(m, MEASURE_SIZE_USES, (double)uses);
    set_measure(m, MEASURE_SIZE_QUESTIONS, (double)questions);
    set_peak(m, MEASURE_HOST_PEAK, costs->host_peak);
    set_peak(m, MEASURE_DEVICE_PEAK, costs->device_peak);
}

void measures_of_profile(const struct profile *profile, struct measures *ret)
{
    const struct profile_operators *all = &profile->operators;
    if (all->graphs[GRAPH_EXPORTED] > 0)
        set_measure(ret, MEASURE_CALLS_EXPORTED, (double)all->calls[GRAPH_EXPORTED]);
    if (profile->n_compiles == 0 && all->graphs[GRAPH_EXPORTED] > 0)
        return; /* a .pt2 records no compile */
    if (!profile->options.no_graphs)
        set_calls(profile, ret);
    set_memory(profile, ret);
    set_times(profile, ret);
    set_incidents(profile, ret);
    set_guards(profile, ret);
    set_caches(profile, ret);
    set_deep(profile, ret);
}

void measures_of_replay(const struct replay *replay, struct measures *ret)
{
    if (replay->n_graphs == 0)
        return;
    set_measure(ret, MEASURE_DISPATCHES, (double)replay->costs.dispatches);
    set_measure(ret, MEASURE_FAKE_CACHE_MISSES, (double)replay->costs.misses);
    set_measure(ret, MEASURE_EXPRS, (double)replay->costs.exprs);
    set_measure(ret, MEASURE_EVALUATIONS, (double)replay->costs.evaluations);
    set_measure(ret, MEASURE_SYMBOLIC_TENSORS, (double)replay->costs.symbolic_tensors);
    set_measure(ret, MEASURE_CONTRADICTIONS, (double)replay->n_contradictions);
}

static bool take_replay(struct trace *trace, const struct measure_options *options,
                        struct measures *ret, struct err *err)
{
    struct replay_options how = REPLAY_OPTIONS_DEFAULT;
    how.jobs = options->jobs;
    how.rules = options->rules;
    if (!profile_selector(options->compile, options->recording, &how.selector, err))
        return false;
    struct replay *replay = replay_trace(trace, &how, err);
    if (!replay)
        return false;
    measures_of_replay(replay, ret);
    replay_free(replay);
    return true;
}

bool measures_take(struct trace *trace, const struct measure_options *options, struct measures *ret,
                   struct err *err)
{
    const struct profile_options what = { .compile = options->compile,
                                          .recording = options->recording };
    struct profile *profile = profile_build(&trace, 1, &what, err);
    if (!profile)
        return false;
    *ret = (struct measures){ 0 };
    measures_of_profile(profile, ret);
    profile_free(profile);
    return !options->replay || take_replay(trace, options, ret, err);
}

bool measures_summarize(const struct measures *all, size_t n, struct measure_summary *ret,
                        struct err *err)
{
    double *values = calloc(n + 1, sizeof *values);
    if (!values)
        return err_nomem(err);
    for (int i = 0; i < MEASURES; i++) {
        size_t k = 0;
        for (size_t j = 0; j < n; j++)
            if (all[j].has[i])
                values[k++] = all[j].value[i];
        ret[i] = (struct measure_summary){ .n = (uint32_t)k };
        if (k == 0)
            continue;
        qsort(values, k, sizeof *values, compare_double);
        ret[i].median = k % 2 ? values[k / 2] : (values[k / 2 - 1] + values[k / 2]) / 2;
        ret[i].least = values[0];
        ret[i].greatest = values[k - 1];
    }
    free(values);
    return true;
}

static void format_measure_count(double value, struct buf *out)
{
    char text[HUMAN_SIZE];
    if (value >= 0 && value < 9e15 && floor(value) == value)
        buf_puts(out, human_count(text, (uint64_t)value));
    else
        buf_printf(out, "%.1f", value); /* a median between two counts */
}

void measure_format(enum measure measure, double value, struct buf *out)
{
    static const double NS[] = {
        [MEASURE_SECONDS] = 1e9, [MEASURE_MILLISECONDS] = 1e6, [MEASURE_MICROSECONDS] = 1e3
    };
    char text[HUMAN_SIZE];
    double size = value < 0 ? -value : value;
    if (value < 0)
        buf_putc(out, '-');
    switch (ROWS[measure].unit) {
    case MEASURE_COUNT: format_measure_count(size, out); break;
    case MEASURE_RATIO: buf_printf(out, "%.2f", size); break;
    case MEASURE_BYTES: buf_puts(out, human_bytes(text, (uint64_t)size)); break;
    default: {
        double ns = size * NS[ROWS[measure].unit];
        buf_puts(out, human_ns(text, ns < 9e18 ? (int64_t)(ns + 0.5) : INT64_MAX));
    }
    }
}

void measure_format_summary(enum measure measure, const struct measure_summary *summary,
                            struct buf *out)
{
    if (summary->n == 0)
        return;
    measure_format(measure, summary->median, out);
    if (summary->n == 1 || summary->least == summary->greatest)
        return;
    buf_puts(out, " (");
    measure_format(measure, summary->least, out);
    buf_puts(out, " to ");
    measure_format(measure, summary->greatest, out);
    buf_putc(out, ')');
}

/* ---- Getters (profile/compare/measure_fields.h) ---- */

struct datum get_measure(const void *context, const void *at)
{
    (void)context;
    return datum_name(measure_row(*(const enum measure *)at)->name);
}

struct datum get_measure_unit(const void *context, const void *at)
{
    (void)context;
    return datum_name(measure_unit_name(measure_row(*(const enum measure *)at)->unit));
}

struct datum get_measure_source(const void *context, const void *at)
{
    (void)context;
    return datum_name(measure_source_name(measure_row(*(const enum measure *)at)->source));
}

struct datum get_measure_meaning(const void *context, const void *at)
{
    (void)context;
    return datum_name(measure_row(*(const enum measure *)at)->meaning);
}
