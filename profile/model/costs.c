/* Counts costs of operators: the dispatches of PyTorch, and those of the replay. */
#include "profile/model/build.h"
#include "trace/base/number.h"

struct cost_builder {
    struct profile_build *b;
    struct intern keys; /* name -> row in b->costs */
};

unsigned operator_cost_depth(const struct operator_cost *cost)
{
    bool real = cost->by_mode[DEEP_FAKE_TENSOR_MODE] > 0;
    const uint64_t *by_depth = real ? cost->by_depth : cost->replayed_by_depth;
    unsigned depth = 0;
    for (unsigned i = 0; i < PROFILE_DEPTHS; i++)
        if (by_depth[i] > 0)
            depth = i;
    return depth;
}

/* Returns the row of an operator, valid until the next call, or NULL when memory ran out. */
static struct operator_cost *operator_cost_row(struct cost_builder *c, struct str op)
{
    uint32_t name = build_name(c->b, op);
    uint32_t row = name == INTERN_NONE ? name : intern(&c->keys, BUILD_KEY(name));
    if (row == INTERN_NONE ||
        (row == c->b->costs.n && !vec_push(&c->b->costs, (struct operator_cost){ .op = name })))
        return NULL;
    return &c->b->costs.v[row];
}

static void add_result(struct operator_cost *cost, const struct deep_dispatch *d)
{
    cost->hits += d->cache == DEEP_CACHE_HIT ? d->count : 0;
    cost->misses += d->cache == DEEP_CACHE_MISS ? d->count : 0;
    cost->bypasses += d->cache == DEEP_CACHE_BYPASS ? d->count : 0;
    cost->fast += d->fast.n ? d->count : 0;
    cost->slow += d->slow.n ? d->count : 0;
    cost->raised += d->raised.n ? d->count : 0;
    if (d->mode == DEEP_FAKE_TENSOR_MODE)
        cost->by_depth[d->depth < PROFILE_DEPTHS ? d->depth : PROFILE_DEPTHS - 1] += d->count;
}

static bool add_deep_costs(struct cost_builder *c, const struct build_input *in)
{
    struct profile_costs *all = &c->b->profile.costs;
    for (uint32_t i = 0; i < in->deep->n_dispatches; i++) {
        const struct deep_dispatch *d = &in->deep->dispatches[i];
        if (!build_takes(c->b, in, d->record))
            continue;
        struct operator_cost *cost = operator_cost_row(c, d->op);
        if (!cost)
            return false;
        cost->by_mode[d->mode] += d->count;
        all->by_mode[d->mode] += d->count;
        build_add_ns(&cost->ns, i64_saturated(d->ns));
        build_add_ns(&cost->self_ns, i64_saturated(d->self_ns));
        build_add_ns(&all->self_ns, i64_saturated(d->self_ns));
        add_result(cost, d);
    }
    return true;
}

static bool add_replay_costs(struct cost_builder *c, const struct replay *replay)
{
    for (size_t i = 0; replay && i < replay->n_operators; i++) {
        const struct op_stats *stats = &replay->operators[i].stats;
        struct operator_cost *cost = operator_cost_row(c, replay->operators[i].op);
        if (!cost)
            return false;
        cost->calls += stats->calls;
        cost->dispatches += stats->dispatches;
        for (int k = 0; k < PROFILE_DEPTHS; k++)
            cost->replayed_by_depth[k] += stats->by_depth[k];
        cost->guards += stats->guards;
        cost->exprs += stats->exprs;
        cost->evaluations += stats->evaluations;
        cost->symbolic_tensors += stats->symbolic_tensors;
        c->b->profile.costs.dispatches += stats->dispatches;
    }
    return true;
}

/* ---- Order ---- */

struct sort_cost {
    struct operator_cost cost;
    uint64_t keys[3]; /* sorted in descending order */
    struct str name;
};

static int compare_cost_keys(const void *a, const void *b)
{
    const struct sort_cost *x = a, *y = b;
    for (int i = 0; i < 3; i++)
        if (x->keys[i] != y->keys[i])
            return x->keys[i] > y->keys[i] ? -1 : 1;
    return str_cmp(x->name, y->name);
}

static void set_cost_keys(struct sort_cost *row, enum profile_sort sort)
{
    const struct operator_cost *c = &row->cost;
    uint64_t real = operator_cost_real(c), dispatches = real ? real : c->dispatches;
    uint64_t ns = (uint64_t)c->self_ns;
    row->keys[1] = ns;
    row->keys[2] = c->exprs;
    switch (sort) {
    case PROFILE_BY_NAME: row->keys[0] = row->keys[1] = row->keys[2] = 0; break;
    case PROFILE_BY_INCLUSIVE: row->keys[0] = (uint64_t)c->ns; break;
    case PROFILE_BY_CALLS: row->keys[0] = c->calls; break;
    case PROFILE_BY_GUARDS: row->keys[0] = c->guards; break;
    case PROFILE_BY_DISPATCHES: row->keys[0] = dispatches; break;
    case PROFILE_BY_EXPRS: row->keys[0] = c->exprs; break;
    default:
        row->keys[0] = ns;
        row->keys[1] = dispatches;
        break;
    }
}

static bool sort_costs(struct profile_build *b)
{
    size_t n = b->costs.n;
    struct sort_cost *rows = calloc(n + 1, sizeof *rows);
    if (!rows)
        return false;
    for (size_t i = 0; i < n; i++) {
        rows[i] =
            (struct sort_cost){ .cost = b->costs.v[i], .name = build_text(b, b->costs.v[i].op) };
        set_cost_keys(&rows[i], b->profile.options.sort);
    }
    qsort(rows, n, sizeof *rows, compare_cost_keys);
    for (size_t i = 0; i < n; i++)
        b->costs.v[i] = rows[i].cost;
    free(rows);
    b->profile.costs.operators = b->costs.v;
    b->profile.costs.n_operators = (uint32_t)n;
    return true;
}

/* ---- The steps ---- */

bool profile_selector(struct str compile, struct str recording, struct selector *ret,
                      struct err *err)
{
    *ret = SELECTOR_ALL;
    if (compile.n && !selector_parse_part(ret, compile, err))
        return false;
    if (recording.n)
        ret->recording = recording;
    return true;
}

static bool has_asked_recording(const struct build_input *in)
{
    for (uint32_t i = 0; i < in->trace->n_recordings; i++)
        if (in->recording_of[i] != PROFILE_NONE)
            return true;
    return false;
}

bool build_replays(struct profile_build *b, struct err *err)
{
    const struct profile_options *options = &b->profile.options;
    struct replay_options how = REPLAY_OPTIONS_DEFAULT;
    how.jobs = options->jobs;
    how.rules = options->rules;
    how.passes = true;
    how.torch = options->ahead;
    how.ahead = options->ahead != 0;
    if (!options->replay)
        return true;
    if (!profile_selector(options->compile, options->recording, &how.selector, err))
        return false;
    for (uint32_t i = 0; i < b->profile.n_traces; i++) {
        struct build_input *in = &b->inputs[i];
        if (!has_asked_recording(in))
            continue;
        in->replay = replay_trace(in->trace, &how, err);
        if (!in->replay)
            return false;
        b->profile.costs.replayed |= in->replay->n_graphs > 0;
    }
    return true;
}

bool build_costs(struct profile_build *b, struct err *err)
{
    struct cost_builder c = { .b = b };
    bool ok = true;
    for (uint32_t i = 0; ok && i < b->profile.n_traces; i++)
        ok = add_deep_costs(&c, &b->inputs[i]) && add_replay_costs(&c, b->inputs[i].replay);
    ok = ok && sort_costs(b);
    intern_release(&c.keys);
    return (ok || err_nomem(err)) && build_deep(b, err);
}
