#include <math.h>

#include "profile/model/build.h"
#include "profile/model/dispatch_times.h"
#include "replay/shape/env/env.h"

/* --- Kinds --- */

enum cost_units { UNITS_NONE, UNITS_DYNAMO, UNITS_ATEN, UNITS_GUARDS, UNITS_WITHIN };

static const struct kind_row {
    const char *name;
    enum dispatch_path path; /* of a dispatch */
    enum phase_part part;    /* of the others */
    enum cost_units units;   /* of the others; UNITS_NONE: a dispatch, or the recorder */
    unsigned terms;          /* a set of COST_BIT() */
    const char *within;      /* of UNITS_WITHIN: the cost's name in a deep recording */
} KINDS[COST_KINDS] = {
#define COST_DISPATCH(id, name, path)                    \
    [COST_##id] = { name, path, PHASE_PARTS, UNITS_NONE, \
                    COST_BIT(UNIT) | COST_BIT(SIZE) | COST_BIT(LONG) },
#define COST_REST(id, name, part, units, terms) \
    [COST_##id] = { name, DISPATCH_PATHS, part, units, terms },
#define COST_RECORDER(id, name) [COST_##id] = { name, DISPATCH_PATHS, PHASE_PARTS, UNITS_NONE, 0 },
#define COST_WITHIN(id, name, cost) \
    [COST_##id] = { name, DISPATCH_PATHS, PHASE_PARTS, UNITS_WITHIN, COST_BIT(UNIT), cost },
#include "profile/model/cost_model/cost_kinds.def"
#undef COST_DISPATCH
#undef COST_REST
#undef COST_RECORDER
#undef COST_WITHIN
};

static bool is_within(unsigned kind)
{
    return KINDS[kind].units == UNITS_WITHIN;
}

static bool is_dispatch(unsigned kind)
{
    return KINDS[kind].units == UNITS_NONE && kind != COST_RECORDER;
}

/* Returns the kind of a dispatch that was handled so. */
static enum cost_kind kind_of(enum dispatch_path path, bool decomposed)
{
    unsigned kind = 0;
    if (path == PATH_COMPUTED)
        return decomposed ? COST_DECOMPOSITION : COST_META;
    while (kind < COST_NESTED && KINDS[kind].path != path)
        kind++;
    if (path == PATH_FAKE_TENSOR)
        return COST_FAKE_TENSOR;
    return path == PATH_PROXY ? COST_PROXY : (enum cost_kind)kind;
}

enum cost_kind cost_kind_of(const struct deep_dispatch *dispatch)
{
    return kind_of(dispatch_path_of(dispatch), dispatch->ns > dispatch->self_ns);
}

const char *cost_kind_name(enum cost_kind kind)
{
    return KINDS[kind].name;
}

/* --- What is known of each compile and of each trace --- */

/* Where dispatches are made. */
enum dispatcher { IN_DYNAMO, IN_AOT, IN_INDUCTOR, DISPATCHERS };
static const enum phase_part DISPATCHER_PARTS[DISPATCHERS] = { PHASE_DYNAMO, PHASE_AOT,
                                                               PHASE_INDUCTOR };

struct compile_costs {
    bool deep;
    bool first, first_joint; /* of its process: compile, and compile with a joint graph */
    double part_ns[PHASE_PARTS];
    double dispatched_ns[PHASE_PARTS]; /* of part_ns: dispatches, and the recorder */
    struct cost_sample kinds[COST_KINDS];
};

struct trace_costs {
    bool deep;
    double replayed[COST_KINDS][DISPATCHERS]; /* counts */
    double real[COST_KINDS];                  /* counts of a deep recording */
    double traced_calls; /* of operators to the proxy mode, by AOTAutograd's passes */
    double recorder_ns, compile_ns;
};

struct model_build {
    struct profile_build *b;
    struct compile_costs *compiles;
    struct trace_costs *traces;
    struct cost_sample *samples;
    struct cost_unit units[COST_KINDS];
    double ns[COST_KINDS], count[COST_KINDS], estimated_ns[COST_KINDS];
    bool measured[COST_KINDS], fitted[COST_KINDS];
    double explained[PHASE_PARTS], estimated[PHASE_PARTS];
    struct cost_shares traced; /* of profile.cost_model.estimated: Dynamo and AOTAutograd */
};

static struct trace_costs *trace_of(const struct model_build *m, size_t compile)
{
    return &m->traces[m->b->recordings.v[m->b->compiles.v[compile].recording].input];
}

/* Adds the phases inside compiles by part. A name that also occurs outside of compiles counts. */
static bool add_part_times(struct model_build *m)
{
    const struct profile_build *b = m->b;
    enum phase_part *parts = calloc(b->names.texts.n + 1, sizeof *parts);
    if (!parts)
        return false;
    for (size_t i = 0; i < b->names.texts.n; i++)
        parts[i] = PHASE_PARTS;
    for (size_t i = b->nodes.n; i-- > 0;)
        if (b->nodes.v[i].inside)
            parts[b->nodes.v[i].name] = b->nodes.v[i].part;
    for (size_t i = 0; i < b->by_compile.n; i++) {
        const struct phase_by_compile *row = &b->by_compile.v[i];
        if (row->compile != PROFILE_NONE && parts[row->name] < PHASE_PARTS)
            m->compiles[row->compile].part_ns[parts[row->name]] += (double)row->exclusive_ns;
    }
    free(parts);
    return true;
}

static void add_dispatches(struct model_build *m, uint32_t trace)
{
    const struct build_input *in = &m->b->inputs[trace];
    for (uint32_t i = 0; i < in->deep->n_dispatches; i++) {
        const struct deep_dispatch *d = &in->deep->dispatches[i];
        uint32_t compile = build_compile(in, d->attempt);
        if (compile == PROFILE_NONE)
            continue;
        struct compile_costs *c = &m->compiles[compile];
        enum cost_kind kind = cost_kind_of(d);
        c->deep = m->traces[trace].deep = true;
        c->kinds[kind].amount[COST_TERM_UNIT] += (double)d->count;
        c->kinds[kind].ns += (double)d->self_ns;
        m->traces[trace].real[kind] += (double)d->count;
        if (d->mode == DEEP_FAKE_TENSOR_MODE && d->depth) {
            c->kinds[COST_NESTED].amount[COST_TERM_UNIT] += (double)d->count;
            c->kinds[COST_NESTED].ns += (double)d->self_ns;
        }
    }
}

/* Adds what lies within dispatches. */
static void add_within(struct model_build *m, uint32_t trace)
{
    const struct build_input *in = &m->b->inputs[trace];
    for (uint32_t i = 0; i < in->deep->n_costs; i++) {
        const struct deep_cost *cost = &in->deep->costs[i];
        uint32_t compile = build_compile(in, cost->attempt);
        for (unsigned kind = 0; kind < COST_KINDS && compile != PROFILE_NONE; kind++) {
            struct cost_sample *sample = &m->compiles[compile].kinds[kind];
            if (!is_within(kind) || !str_is(cost->cost, KINDS[kind].within))
                continue;
            sample->amount[COST_TERM_UNIT] += (double)cost->count;
            sample->ns += (double)cost->ns;
        }
    }
}

static double above(uint64_t a, uint64_t b)
{
    return a > b ? (double)(a - b) : 0;
}

static enum dispatcher dispatcher_of(enum pass pass)
{
    return pass == PASS_DYNAMO || pass == PASS_FLOATS ? IN_DYNAMO : IN_AOT;
}

static void add_pass_operator(struct trace_costs *t, const struct pass_operator *row)
{
    uint64_t counts[DISPATCH_PATHS + 1];
    enum dispatcher in = dispatcher_of(row->pass);
    dispatch_path_counts(row, counts);
    for (unsigned i = 0; i < DISPATCH_PATHS; i++)
        t->replayed[kind_of((enum dispatch_path)i, row->counts.within > 0)][in] +=
            (double)counts[i];
    t->replayed[COST_NESTED][in] += (double)counts[DISPATCH_PATHS];
}

/* Adds what the passes of a replay count (replay/attempt/dispatch_passes.h). */
static void add_replayed(struct trace_costs *t, const struct replay *replay)
{
    uint64_t dispatches[PASSES] = { 0 }, proxies[PASSES] = { 0 };
    for (size_t i = 0; i < replay->n_pass_operators; i++) {
        const struct pass_operator *row = &replay->pass_operators[i];
        add_pass_operator(t, row);
        dispatches[row->pass] += row->paths.dispatches;
        proxies[row->pass] += row->paths.proxy;
        t->traced_calls += (double)row->paths.proxy;
    }
    for (unsigned i = 0; i < PASSES; i++) {
        const struct pass_counts *pass = &replay->passes[i];
        enum dispatcher in = dispatcher_of((enum pass)i);
        t->replayed[COST_RETURNED][in] += (double)pass->devices;
        t->replayed[COST_CACHE_HIT][in] += (double)pass->detaches;
        t->replayed[COST_NESTED][in] +=
            above(pass->fake_mode, dispatches[i] + pass->devices + pass->detaches);
        t->replayed[COST_PROXY][in] += above(pass->proxy, proxies[i]);
        t->replayed[COST_FAKE_TENSOR][in] += (double)pass->fake_tensor;
    }
}

static void read_traces(struct model_build *m)
{
    for (uint32_t i = 0; i < m->b->profile.n_traces; i++) {
        const struct build_input *in = &m->b->inputs[i];
        add_dispatches(m, i);
        add_within(m, i);
        if (in->replay)
            add_replayed(&m->traces[i], in->replay);
        /* It is the time of processes, not of one compile. */
        for (uint32_t k = 0; k < in->deep->n_processes && !m->b->profile.options.compile.n; k++)
            m->traces[i].recorder_ns += (double)in->deep->processes[k].overhead_ns;
    }
    for (size_t i = 0; i < m->b->compiles.n; i++)
        trace_of(m, i)->compile_ns += (double)m->b->compiles.v[i].ns;
}

/* --- Ahead of a compile --- */

/* Adds the guards that the replay computes, which are not on the tape. */
static void add_computed_guards(struct profile_compile *c, const struct replay *replay)
{
    for (size_t i = 0; i < replay->n_guards; i++)
        if (replay->guards[i].status == GUARD_STATUS_EXTRA)
            build_count_guard(c, replay->guards[i].expr, true);
}

/* AOTAutograd has a call for each operator that reaches the proxy mode, and each has as many
 * symbolic sizes as a call of Dynamo in the mean. */
static void add_aten_calls(struct profile_compile *c, double traced)
{
    uint64_t calls = c->calls[GRAPH_DYNAMO];
    double each = calls ? traced / (double)calls : 0;
    c->calls[GRAPH_INFERENCE] = (uint64_t)traced;
    c->symbolic_sizes[GRAPH_INFERENCE] = (uint64_t)(each * (double)c->symbolic_sizes[GRAPH_DYNAMO]);
    c->inputs[GRAPH_INFERENCE] = c->inputs[GRAPH_DYNAMO];
}

static void look_ahead(struct model_build *m)
{
    for (size_t i = 0; i < m->b->compiles.n; i++) {
        struct profile_compile *c = &m->b->compiles.v[i];
        const struct replay *replay = m->b->inputs[m->b->recordings.v[c->recording].input].replay;
        if (replay)
            add_computed_guards(c, replay);
        add_aten_calls(c, trace_of(m, i)->traced_calls);
    }
}

/* --- Measured: deep recordings --- */

/* Splits the dispatches of a kind by where they were made, as the replay has them. What it does not
 * have is Inductor's, where Inductor ran. */
static void split_dispatches(const struct trace_costs *t, const struct compile_costs *c,
                             unsigned kind, double shares[DISPATCHERS])
{
    double dynamo = t->replayed[kind][IN_DYNAMO], aot = t->replayed[kind][IN_AOT];
    double all = dynamo + aot, inductor = 0;
    if (c->part_ns[PHASE_INDUCTOR] > 0 && t->real[kind] > all)
        inductor = 1 - all / t->real[kind];
    shares[IN_DYNAMO] = all > 0 ? (1 - inductor) * dynamo / all : 0;
    shares[IN_INDUCTOR] = inductor;
    shares[IN_AOT] = 1 - inductor - shares[IN_DYNAMO];
}

/* Takes the recorder's time from the parts in which it records. */
static void take_recorder(const struct trace_costs *t, struct compile_costs *c, double compile_ns)
{
    double parts = c->part_ns[PHASE_DYNAMO] + c->part_ns[PHASE_AOT];
    double ns = t->compile_ns > 0 ? t->recorder_ns * compile_ns / t->compile_ns : 0;
    ns = ns < parts / 2 ? ns : parts / 2; /* a file may say anything */
    if (parts <= 0)
        return;
    c->kinds[COST_RECORDER].ns = ns;
    c->dispatched_ns[PHASE_DYNAMO] += ns * c->part_ns[PHASE_DYNAMO] / parts;
    c->dispatched_ns[PHASE_AOT] += ns * c->part_ns[PHASE_AOT] / parts;
}

static uint64_t aten_sizes(const struct profile_compile *c)
{
    return profile_aten_calls(c->symbolic_sizes);
}

static uint64_t aten_calls(const struct profile_compile *c)
{
    return profile_aten_calls(c->calls) + profile_aten_calls(c->thrown_calls);
}

static uint64_t calls_of(const struct profile_compile *c, enum graph_kind kind)
{
    return c->calls[kind] + c->thrown_calls[kind];
}

/* An estimate ahead assumes a process that has compiled before. */
static void find_first_compiles(struct model_build *m)
{
    const struct profile_compile *compiles = m->b->compiles.v;
    bool joint = false; /* seen in this recording */
    for (size_t i = 0; i < m->b->compiles.n && !m->b->profile.options.ahead; i++) {
        m->compiles[i].first = i == 0 || compiles[i - 1].recording != compiles[i].recording;
        joint = joint && !m->compiles[i].first;
        m->compiles[i].first_joint = !joint && calls_of(&compiles[i], GRAPH_JOINT) > 0;
        joint = joint || m->compiles[i].first_joint;
    }
}

/* Sets what the time of a kind of work besides dispatches grows with in a compile. */
static void set_amounts(const struct model_build *m, size_t at, enum cost_units units,
                        double amount[COST_TERMS])
{
    const struct profile_compile *c = &m->b->compiles.v[at];
    bool dynamo = units == UNITS_DYNAMO;
    amount[COST_TERM_ONCE] = m->compiles[at].first;
    amount[COST_TERM_ONCE_JOINT] = m->compiles[at].first_joint;
    amount[COST_TERM_UNIT] = units == UNITS_GUARDS ? (double)c->n_guards
                             : dynamo              ? (double)calls_of(c, GRAPH_DYNAMO)
                                                   : (double)aten_calls(c);
    amount[COST_TERM_SIZE] = (double)(dynamo ? c->symbolic_sizes[GRAPH_DYNAMO] : aten_sizes(c));
    amount[COST_TERM_INPUT] =
        (double)(dynamo ? c->inputs[GRAPH_DYNAMO] : profile_aten_calls(c->inputs));
    amount[COST_TERM_GUARD] = (double)c->n_guards;
    amount[COST_TERM_JOINT] = (double)calls_of(c, GRAPH_JOINT);
    amount[COST_TERM_LONG] = (double)(dynamo ? c->long_characters : c->long_characters_of_graphs);
    amount[COST_TERM_CHARACTER] = (double)c->guard_characters;
}

/* The calls of compiles in which dispatches are made, and what their time grows with besides. */
struct dispatch_calls {
    double calls, sizes, characters;
};

static void add_calls(struct dispatch_calls *to, const struct profile_compile *c,
                      enum dispatcher in)
{
    uint64_t dynamo = calls_of(c, GRAPH_DYNAMO), aten = aten_calls(c);
    bool of_dynamo = (in == IN_DYNAMO || !aten) && dynamo;
    double calls = (double)(of_dynamo ? dynamo : aten);
    to->calls += calls;
    to->sizes += (double)(of_dynamo ? c->symbolic_sizes[GRAPH_DYNAMO] : aten_sizes(c));
    if (calls > 0)
        to->characters += (double)c->long_characters_of_graphs * calls / (double)(dynamo + aten);
}

/* Sets what the time of dispatches grows with: each is as a call is in the mean. */
static void set_dispatch_amounts(double amount[COST_TERMS], double n, struct dispatch_calls calls)
{
    double each = calls.calls > 0 ? n / calls.calls : 0;
    amount[COST_TERM_UNIT] = n;
    amount[COST_TERM_SIZE] = each * calls.sizes;
    amount[COST_TERM_LONG] = each * calls.characters;
}

static void measure_compile(struct model_build *m, size_t at)
{
    const struct trace_costs *t = trace_of(m, at);
    struct compile_costs *c = &m->compiles[at];
    struct dispatch_calls calls = { 0 };
    double shares[DISPATCHERS];
    add_calls(&calls, &m->b->compiles.v[at], IN_AOT);
    take_recorder(t, c, (double)m->b->compiles.v[at].ns);
    for (unsigned kind = 0; kind < COST_KINDS; kind++) {
        if (!is_dispatch(kind) || kind == COST_NESTED)
            continue;
        split_dispatches(t, c, kind, shares);
        for (unsigned i = 0; i < DISPATCHERS; i++)
            c->dispatched_ns[DISPATCHER_PARTS[i]] += c->kinds[kind].ns * shares[i];
    }
    for (unsigned kind = 0; kind < COST_KINDS; kind++) {
        enum phase_part part = KINDS[kind].part;
        struct cost_sample *sample = &c->kinds[kind];
        if (is_within(kind))
            continue;
        if (KINDS[kind].units != UNITS_NONE) {
            set_amounts(m, at, KINDS[kind].units, sample->amount);
            sample->ns = c->part_ns[part] - c->dispatched_ns[part];
        } else {
            set_dispatch_amounts(sample->amount, sample->amount[COST_TERM_UNIT], calls);
        }
    }
}

/* --- Units --- */

/* Inductor's dispatches are a part of its units, since the replay does not count them. */
static struct cost_sample sample_of(const struct compile_costs *c, unsigned kind)
{
    struct cost_sample ret = c->kinds[kind];
    if (KINDS[kind].part == PHASE_INDUCTOR)
        ret.ns = c->part_ns[PHASE_INDUCTOR];
    return ret;
}

/* Fits a unit on the deep recordings among the tapes. Where there are few, what it takes beside
 * other units is as shipped. */
static bool fit_kind(struct model_build *m, unsigned kind, const struct cost_unit *shipped)
{
    size_t n = 0;
    for (size_t i = 0; i < m->b->compiles.n; i++) {
        struct cost_sample sample = sample_of(&m->compiles[i], kind);
        if (m->compiles[i].deep && sample.ns > 0)
            m->samples[n++] = sample;
    }
    struct cost_unit *unit = &m->units[kind];
    *unit = cost_fit_ratio(m->samples, n);
    if (unit->n && !cost_fit_terms(m->samples, n, KINDS[kind].terms, unit))
        cost_fit_scale(m->samples, n, shipped, unit);
    return unit->n > 0;
}

/* Returns the release that recorded the first trace, or that is to compile it, or 0. */
static int recorded_release(const struct profile_build *b)
{
    const struct trace *trace = b->profile.n_traces ? b->profile.traces[0] : NULL;
    if (b->profile.options.ahead)
        return b->profile.options.ahead;
    return trace && trace->n_recordings ? torch_release(trace->recordings[0].torch_version) : 0;
}

static void find_units(struct model_build *m)
{
    struct cost_model *model = &m->b->profile.cost_model;
    int release = recorded_release(m->b);
    for (size_t i = 0; i < m->b->compiles.n; i++)
        model->fitted |= m->compiles[i].deep;
    for (unsigned kind = 0; kind < COST_KINDS; kind++) {
        int measured = 0;
        struct cost_unit shipped = cost_unit_shipped(release, (enum cost_kind)kind, &measured);
        m->fitted[kind] = fit_kind(m, kind, &shipped);
        if (!m->fitted[kind]) {
            m->units[kind] = shipped;
            if (measured && !is_within(kind))
                model->release = measured;
        }
    }
}

/* --- The sum --- */

static void add_measured(struct model_build *m, const struct compile_costs *c)
{
    for (unsigned kind = 0; kind < COST_KINDS; kind++)
        if (kind != COST_NESTED && !is_within(kind)) {
            m->ns[kind] += c->kinds[kind].ns;
            m->count[kind] += c->kinds[kind].amount[COST_TERM_UNIT];
        }
    for (unsigned part = 0; part < PHASE_PARTS; part++)
        m->explained[part] += c->part_ns[part];
}

static void add_shares(const struct model_build *m, struct cost_shares *to, unsigned kind,
                       const double amount[COST_TERMS])
{
    for (unsigned term = 0; term < COST_TERMS; term++) {
        double ns = m->units[kind].term_ns[term] * amount[term];
        double *sum =
            term == COST_TERM_UNIT && is_dispatch(kind) ? &to->dispatch_ns : &to->term_ns[term];
        *sum += ns;
    }
}

/* Returns whether the replay counts dispatches in a part. */
static bool has_dispatches(enum phase_part part)
{
    return part == PHASE_DYNAMO || part == PHASE_AOT;
}

/* phase_ns: the time of the part's phases in which nothing but this kind of work was done; 0: not
 * known. */
static void add_estimate(struct model_build *m, unsigned kind, enum phase_part part,
                         const double amount[COST_TERMS], double phase_ns)
{
    double estimate = cost_unit_time(&m->units[kind], amount);
    double ns = phase_ns > 0 ? phase_ns : estimate;
    m->ns[kind] += ns;
    m->count[kind] += amount[COST_TERM_UNIT];
    m->measured[kind] &= phase_ns > 0 || (amount[COST_TERM_UNIT] == 0 && ns == 0);
    m->explained[part] += ns;
    m->estimated_ns[kind] += estimate;
    m->estimated[part] += estimate;
    add_shares(m, &m->b->profile.cost_model.estimated, kind, amount);
    if (has_dispatches(part))
        add_shares(m, &m->traced, kind, amount);
}

/* Returns whether a part of the compiler ran, or, ahead of a compile, would run. */
static bool is_estimated(const struct model_build *m, size_t at, enum phase_part part)
{
    if (m->b->profile.options.ahead)
        return has_dispatches(part) || part == PHASE_GUARDS;
    return m->compiles[at].part_ns[part] > 0;
}

static void estimate_compile(struct model_build *m, size_t at)
{
    for (unsigned kind = 0; kind < COST_KINDS; kind++) {
        const struct kind_row *row = &KINDS[kind];
        double amount[COST_TERMS];
        if (row->units == UNITS_NONE || is_within(kind) || !is_estimated(m, at, row->part))
            continue;
        set_amounts(m, at, row->units, amount);
        add_estimate(m, kind, row->part, amount,
                     has_dispatches(row->part) ? 0 : m->compiles[at].part_ns[row->part]);
    }
}

static void estimate_dispatches(struct model_build *m, uint32_t trace)
{
    for (unsigned in = 0; in < DISPATCHERS; in++) {
        struct dispatch_calls calls = { 0 };
        for (size_t i = 0; i < m->b->compiles.n; i++)
            if (trace_of(m, i) == &m->traces[trace])
                add_calls(&calls, &m->b->compiles.v[i], (enum dispatcher)in);
        for (unsigned kind = 0; kind < COST_KINDS; kind++) {
            double amount[COST_TERMS] = { 0 };
            set_dispatch_amounts(amount, m->traces[trace].replayed[kind][in], calls);
            if (is_dispatch(kind))
                add_estimate(m, kind, DISPATCHER_PARTS[in], amount, 0);
        }
    }
}

static void add_all(struct model_build *m)
{
    for (unsigned kind = 0; kind < COST_KINDS; kind++)
        m->measured[kind] = true;
    for (size_t i = 0; i < m->b->compiles.n; i++)
        if (m->compiles[i].deep)
            add_measured(m, &m->compiles[i]);
        else
            estimate_compile(m, i);
    for (uint32_t i = 0; i < m->b->profile.n_traces; i++)
        if (!m->traces[i].deep)
            estimate_dispatches(m, i);
}

/* --- The result --- */

#define MOST_NS (INT64_C(1) << 56)

int64_t cost_whole_ns(double ns)
{
    if (isnan(ns))
        return 0;
    return ns >= (double)MOST_NS ? MOST_NS : ns <= -(double)MOST_NS ? -MOST_NS : (int64_t)ns;
}

static int by_row_time(const void *a, const void *b)
{
    const struct cost_row *x = a, *y = b;
    int order = build_descending(x->ns, y->ns);
    return order ? order : strcmp(x->name, y->name);
}

static int64_t part_size(const struct cost_part *part)
{
    return part->unexplained_ns < 0 ? -part->unexplained_ns : part->unexplained_ns;
}

static int by_part_size(const void *a, const void *b)
{
    const struct cost_part *x = a, *y = b;
    int order = build_descending(part_size(x), part_size(y));
    return order ? order : strcmp(x->name, y->name);
}

static double share_of(int64_t ns, int64_t wall_ns)
{
    return wall_ns ? (double)ns / (double)wall_ns : 0;
}

static bool list_rows(struct model_build *m, struct cost_model *model)
{
    struct cost_row *rows = arena_array(&m->b->arena, struct cost_row, COST_KINDS);
    model->unexplained_ns = model->wall_ns;
    for (unsigned kind = 0; kind < COST_KINDS && rows; kind++) {
        struct cost_row row = { .name = KINDS[kind].name,
                                .measured = m->measured[kind],
                                .fitted = m->fitted[kind],
                                .count = (uint64_t)cost_whole_ns(m->count[kind]),
                                .ns = cost_whole_ns(m->ns[kind]),
                                .estimated_ns = cost_whole_ns(m->estimated_ns[kind]) };
        if (row.fitted || !row.measured)
            row.unit = m->units[kind]; /* a shipped one says nothing about measured time */
        row.share = share_of(row.ns, model->wall_ns);
        model->unexplained_ns -= row.ns;
        if (row.ns || row.unit.n || (row.count && is_dispatch(kind)))
            rows[model->n_rows++] = row;
    }
    if (rows)
        qsort(rows, model->n_rows, sizeof *rows, by_row_time);
    model->rows = rows;
    model->unexplained_share = share_of(model->unexplained_ns, model->wall_ns);
    return rows;
}

static struct cost_part part_of(const char *name, int64_t ns, double explained, double estimated)
{
    int64_t whole = cost_whole_ns(explained);
    return (struct cost_part){ name, ns, whole, ns - whole, cost_whole_ns(estimated) };
}

static bool list_parts(struct model_build *m, struct cost_model *model)
{
    struct cost_part *parts = arena_array(&m->b->arena, struct cost_part, PHASE_PARTS + 1);
    int64_t left = model->wall_ns;
    for (unsigned i = 0; i < PHASE_PARTS && parts; i++) {
        double ns = 0;
        for (size_t k = 0; k < m->b->compiles.n; k++)
            ns += m->compiles[k].part_ns[i];
        if (ns > 0 || m->explained[i] > 0)
            parts[model->n_parts++] = part_of(phase_part_title((enum phase_part)i),
                                              cost_whole_ns(ns), m->explained[i], m->estimated[i]);
        left -= cost_whole_ns(ns);
    }
    if (!parts)
        return false;
    parts[model->n_parts++] = part_of("no phase", left, 0, 0);
    qsort(parts, model->n_parts, sizeof *parts, by_part_size);
    model->parts = parts;
    return true;
}

static bool model_costs(struct model_build *m)
{
    struct cost_model *model = &m->b->profile.cost_model;
    if (!add_part_times(m))
        return false;
    read_traces(m);
    if (m->b->profile.options.ahead)
        look_ahead(m);
    find_first_compiles(m);
    for (size_t i = 0; i < m->b->compiles.n; i++)
        if (m->compiles[i].deep)
            measure_compile(m, i);
    find_units(m);
    add_all(m);
    model->wall_ns = cost_whole_ns((double)m->b->profile.compile_ns);
    return list_rows(m, model) && list_parts(m, model);
}

bool build_cost_model(struct profile_build *b, struct err *err)
{
    size_t n = b->compiles.n + 1;
    struct model_build m = { .b = b };
    if (!b->profile.options.cost_model)
        return true;
    m.compiles = calloc(n, sizeof *m.compiles);
    m.traces = calloc((size_t)b->profile.n_traces + 1, sizeof *m.traces);
    m.samples = calloc(n, sizeof *m.samples);
    bool ok = m.compiles && m.traces && m.samples && model_costs(&m);
    free(m.compiles);
    free(m.traces);
    free(m.samples);
    return ok ? find_inside(b, err) && find_operators(b, err) &&
                    find_unexplained_lines(b, &m.traced, err)
              : err_nomem(err);
}
