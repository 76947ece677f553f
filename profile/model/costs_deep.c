/* Reads the data of a deep recording other than dispatches: counters of PyTorch, work around
 * operators, uses of sizes, memory of phases. */
#include "profile/model/build.h"
#include "trace/base/number.h"
#include "trace/base/text/json.h"
#include "trace/events/user_line.h"

struct deep_cost_builder {
    struct profile_build *b;
    const struct build_input *in;
    struct intern counters, spots, uses, phases;
    struct intern last; /* the counters of this input's processes that were read */
    struct buf key;
};

/* Returns the row of the key in d->key, or INTERN_NONE when memory ran out. */
static uint32_t keyed_row(struct deep_cost_builder *d, struct intern *table)
{
    uint32_t row = d->key.failed ? INTERN_NONE : intern(table, buf_str(&d->key));
    buf_clear(&d->key);
    return row;
}

/* ---- Counters ---- */

static struct cost_counter *find_counter(struct deep_cost_builder *d, struct str label)
{
    buf_put(&d->key, label);
    uint32_t row = keyed_row(d, &d->counters);
    if (row == INTERN_NONE)
        return NULL;
    if (row == d->b->counters.n) {
        struct cost_counter fresh = { .label = arena_copy(&d->b->arena, label) };
        if (!fresh.label.p || !vec_push(&d->b->counters, fresh))
            return NULL;
    }
    return &d->b->counters.v[row];
}

static bool is_recording_asked(const struct deep_cost_builder *d, uint32_t record)
{
    return d->in->recording_of[d->in->trace->records[record].recording] != PROFILE_NONE;
}

/* Returns whether a counter of this process is seen for the first time. Each record has the sums of
 * its process so far, so the last one counts. */
static bool is_later_total(struct deep_cost_builder *d, const struct deep_total *total, bool *ret)
{
    size_t known = d->last.texts.n;
    buf_le32(&d->key, d->in->trace->records[total->record].recording);
    buf_put(&d->key, total->label);
    uint32_t row = keyed_row(d, &d->last);
    *ret = row == known;
    return row != INTERN_NONE;
}

/* Adds the counters. They are those of whole processes, so they are not attributed to one
 * compile. */
static bool add_totals(struct deep_cost_builder *d)
{
    intern_release(&d->last);
    d->last = INTERN_INIT;
    for (uint32_t i = d->b->profile.options.compile.n ? 0 : d->in->deep->n_totals; i-- > 0;) {
        const struct deep_total *total = &d->in->deep->totals[i];
        bool fresh;
        if (!is_recording_asked(d, total->record))
            continue;
        if (!is_later_total(d, total, &fresh))
            return false;
        struct cost_counter *counter = fresh ? find_counter(d, total->label) : NULL;
        if (fresh && !counter)
            return false;
        if (!fresh)
            continue;
        counter->is_real = true;
        counter->pytorch += total->pytorch;
        counter->recorded += total->recorded;
    }
    return true;
}

static bool add_replayed(struct deep_cost_builder *d, struct str label, uint64_t count)
{
    struct cost_counter *counter = count ? find_counter(d, label) : NULL;
    if (counter)
        counter->replayed += count;
    return counter || count == 0;
}

static bool add_passes(struct deep_cost_builder *d)
{
    struct pass_counts sum = { 0 };
    for (int i = 0; d->in->replay && i < PASSES; i++) {
        const struct pass_counts *pass = &d->in->replay->passes[i];
        sum.fake_mode += pass->fake_mode;
        sum.fake_tensor += pass->fake_tensor;
        sum.proxy += pass->proxy;
        for (int k = 0; k < OP_COUNTERS; k++)
            sum.fast[k] += pass->fast[k];
    }
    bool ok = add_replayed(d, STR("FakeTensorMode.__torch_dispatch__"), sum.fake_mode) &&
              add_replayed(d, STR("FakeTensor.__torch_dispatch__"), sum.fake_tensor) &&
              add_replayed(d, STR("ProxyTorchDispatchMode.__torch_dispatch__"), sum.proxy);
    for (int k = 0; ok && k < OP_COUNTERS; k++)
        ok = add_replayed(d, str_of(op_counter_name((enum op_counter)k)), sum.fast[k]);
    return ok;
}

/* ---- Work around operators, uses of sizes ---- */

static bool add_spots(struct deep_cost_builder *d)
{
    for (uint32_t i = 0; i < d->in->deep->n_costs; i++) {
        const struct deep_cost *cost = &d->in->deep->costs[i];
        if (deep_is_instruction(cost) || !build_takes(d->b, d->in, cost->record))
            continue;
        buf_counted(&d->key, cost->cost);
        buf_counted(&d->key, cost->caller);
        uint32_t row = keyed_row(d, &d->spots);
        if (row == INTERN_NONE)
            return false;
        struct cost_spot fresh = { .cost = cost->cost, .caller = cost->caller };
        if (row == d->b->spots.n && !vec_push(&d->b->spots, fresh))
            return false;
        d->b->spots.v[row].count += cost->count;
        build_add_ns(&d->b->spots.v[row].ns, i64_saturated(cost->ns));
        build_add_ns(&d->b->spots.v[row].self_ns, i64_saturated(cost->self_ns));
    }
    return true;
}

const struct deep_frame *deep_user_frame(const struct deep *deep, uint32_t stack)
{
    if (stack >= deep->n_stacks)
        return NULL;
    const struct deep_stack *s = &deep->stacks[stack];
    for (uint32_t i = s->n_frames; i-- > 0;)
        if (!torch_is_own_file(s->frames[i].file))
            return &s->frames[i];
    return s->n_frames ? &s->frames[s->n_frames - 1] : NULL;
}

static bool is_constant_expr(struct str expr)
{
    double number;
    struct json doc = { 0 };
    struct err ignored = { 0 };
    bool constant = str_is(expr, "true") || str_is(expr, "false") || str_is(expr, "True") ||
                    str_is(expr, "False") ||
                    (json_parse(&doc, expr, &ignored) && json_double(&doc, JSON_ROOT, &number));
    json_release(&doc);
    return constant;
}

static bool add_uses(struct deep_cost_builder *d)
{
    static const struct deep_frame NOBODY = { 0 };
    for (uint32_t i = 0; i < d->in->deep->n_uses; i++) {
        const struct deep_use *use = &d->in->deep->uses[i];
        const struct deep_frame *user = deep_user_frame(d->in->deep, use->stack);
        user = user ? user : &NOBODY;
        if (!build_takes(d->b, d->in, use->record) || is_constant_expr(use->expr))
            continue;
        buf_counted(&d->key, use->use);
        buf_counted(&d->key, use->expr);
        buf_counted(&d->key, use->asker.file);
        buf_le32(&d->key, use->asker.line);
        buf_counted(&d->key, user->file);
        buf_le32(&d->key, user->line);
        uint32_t row = keyed_row(d, &d->uses);
        if (row == INTERN_NONE)
            return false;
        struct size_use fresh = { .question = str_is(use->use, "__bool__") ||
                                              str_is(use->use, "guard_bool"),
                                  .use = use->use,
                                  .expr = use->expr,
                                  .source = use->source,
                                  .asker_file = use->asker.file,
                                  .asker_function = use->asker.function,
                                  .asker_line = use->asker.line,
                                  .file = user->file,
                                  .line = user->line,
                                  .code = user->code };
        if (row == d->b->uses.n && !vec_push(&d->b->uses, fresh))
            return false;
        d->b->uses.v[row].count += use->count;
    }
    return true;
}

/* ---- Memory ---- */

/* Returns the growth, or 0 if an end does not fit in 63 bits. */
static int64_t growth(uint64_t start, uint64_t end)
{
    return start > INT64_MAX || end > INT64_MAX ? 0 : (int64_t)end - (int64_t)start;
}

static void add_host(struct profile_build *b, struct phase_memory *row,
                     const struct deep_phase *phase)
{
    build_add_ns(&row->host_growth, growth(phase->host_start, phase->host_end));
    if (phase->host_peak != DEEP_NOT_TOLD && phase->host_peak > row->host_peak)
        row->host_peak = phase->host_peak;
    if (row->host_peak > b->profile.costs.host_peak)
        b->profile.costs.host_peak = row->host_peak;
}

static void add_device(struct profile_build *b, struct phase_memory *row,
                       const struct deep_phase *phase)
{
    if (phase->device_end == DEEP_NOT_TOLD)
        return;
    row->has_device = true;
    build_add_ns(&row->device_growth, growth(phase->device_start, phase->device_end));
    if (phase->device_peak != DEEP_NOT_TOLD && phase->device_peak > row->device_peak)
        row->device_peak = phase->device_peak;
    if (row->device_peak > b->profile.costs.device_peak)
        b->profile.costs.device_peak = row->device_peak;
}

static bool add_memory(struct deep_cost_builder *d)
{
    for (uint32_t i = 0; i < d->in->deep->n_phases; i++) {
        const struct deep_phase *phase = &d->in->deep->phases[i];
        if (!build_takes(d->b, d->in, phase->record))
            continue;
        buf_counted(&d->key, phase->phase);
        uint32_t row = keyed_row(d, &d->phases);
        if (row == INTERN_NONE)
            return false;
        if (row == d->b->memory.n &&
            !vec_push(&d->b->memory, (struct phase_memory){ .phase = phase->phase }))
            return false;
        d->b->memory.v[row].calls++;
        add_host(d->b, &d->b->memory.v[row], phase);
        add_device(d->b, &d->b->memory.v[row], phase);
    }
    return true;
}

static bool add_processes(struct deep_cost_builder *d)
{
    for (uint32_t i = 0; i < d->in->deep->n_processes; i++) {
        const struct deep_process *process = &d->in->deep->processes[i];
        d->b->profile.costs.spots_exclusive &= process->exclusive_costs;
        if (is_recording_asked(d, process->record) && !vec_push(&d->b->processes, process))
            return false;
    }
    return true;
}

/* ---- Order ---- */

static int by_self(const void *a, const void *b)
{
    const struct cost_spot *x = a, *y = b;
    int order = build_descending(x->self_ns, y->self_ns);
    order = order ? order : str_cmp(x->cost, y->cost);
    return order ? order : str_cmp(x->caller, y->caller);
}

static int by_count(const void *a, const void *b)
{
    const struct size_use *x = a, *y = b;
    if (x->question != y->question)
        return x->question ? 1 : -1;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    int order = str_cmp(x->file, y->file);
    order = order ? order : build_descending(y->line, x->line);
    order = order ? order : str_cmp(x->use, y->use);
    order = order ? order : str_cmp(x->expr, y->expr);
    order = order ? order : str_cmp(x->asker_file, y->asker_file);
    return order ? order : build_descending(y->asker_line, x->asker_line);
}

/* Sorts dispatches before counters of the fast path, and great counts before small ones. */
static int by_size(const void *a, const void *b)
{
    const struct cost_counter *x = a, *y = b;
    uint64_t m = x->is_real ? x->pytorch : x->replayed, n = y->is_real ? y->pytorch : y->replayed;
    bool p = str_ends(x->label, STR("__torch_dispatch__"));
    bool q = str_ends(y->label, STR("__torch_dispatch__"));
    if (p != q)
        return p ? -1 : 1;
    return m != n ? (m > n ? -1 : 1) : str_cmp(x->label, y->label);
}

static int by_growth(const void *a, const void *b)
{
    const struct phase_memory *x = a, *y = b;
    int order = build_descending(x->host_growth, y->host_growth);
    return order ? order : str_cmp(x->phase, y->phase);
}

#define SORT(vec, order) ((vec).n ? qsort((vec).v, (vec).n, sizeof *(vec).v, order) : (void)0)

static void publish_deep_costs(struct profile_build *b)
{
    struct profile_costs *all = &b->profile.costs;
    SORT(b->spots, by_self);
    SORT(b->counters, by_size);
    SORT(b->uses, by_count);
    SORT(b->memory, by_growth);
    all->counters = b->counters.v;
    all->n_counters = (uint32_t)b->counters.n;
    all->spots = b->spots.v;
    all->n_spots = (uint32_t)b->spots.n;
    all->uses = b->uses.v;
    all->n_uses = (uint32_t)b->uses.n;
    all->memory = b->memory.v;
    all->n_memory = (uint32_t)b->memory.n;
    all->processes = b->processes.v;
    all->n_processes = (uint32_t)b->processes.n;
    all->deep = all->n_processes > 0 || all->self_ns > 0;
}

bool build_deep(struct profile_build *b, struct err *err)
{
    struct deep_cost_builder d = { .b = b };
    bool ok = true;
    b->profile.costs.spots_exclusive = true;
    for (uint32_t i = 0; ok && i < b->profile.n_traces; i++) {
        d.in = &b->inputs[i];
        ok = add_totals(&d) && add_passes(&d) && add_spots(&d) && add_uses(&d) && add_memory(&d) &&
             add_processes(&d);
    }
    if (ok)
        publish_deep_costs(b);
    intern_release(&d.counters);
    intern_release(&d.last);
    intern_release(&d.spots);
    intern_release(&d.uses);
    intern_release(&d.phases);
    buf_release(&d.key);
    return ok || err_nomem(err);
}
