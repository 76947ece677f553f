#include "profile/calls/cudagraphs/cudagraph_run.h"

#include "profile/calls/cudagraphs/padding.h"
#include "profile/calls/cudagraphs/pool_run.h"
#include "profile/calls/cudagraphs/size_values.h"
#include "profile/calls/guards/condition.h"
#include "trace/events/chromium.h"
#include "trace/events/settings.h"
#include "trace/events/symbols.h"

/* cudagraph_dynamic_shape_warn_limit in torch/_inductor/config.py (2.7 to 2.13: 50, then 8). */
enum { WARN_LIMIT = 8 };

/* Where a symbol of a graph has its value from. */
struct symbol_source {
    condition_id condition; /* CONDITION_NONE: no call tells it */
    int64_t hint;
    bool known; /* the hint is */
};

/* The graphs of an entry, read when it runs first. */
struct entry_graphs {
    uint32_t first[2], n[2]; /* in wrapped.graphs: forward, backward */
    bool read[2];
};

struct run_builder {
    struct cudagraph_run *run;
    struct trace *trace;
    uint32_t recording;
    struct call_log *log;
    const struct cache_run *cache;
    struct world world;
    struct condition_pool conditions;
    vec_of(struct symbol_source)
    sources;               /* by wrapped.symbols */
    struct intern spelled; /* sources of symbols, whose texts conditions point into */
    struct intern compiles;
    vec_of(uint32_t)
    attempts; /* by compile: the last */
    vec_of(struct entry_graphs)
    entries;            /* by cache_run.entries */
    struct intern keys; /* of sizes: the graph, and its integer inputs */
    struct intern forms;
    vec_of(uint32_t)
    form_sizes; /* by forms (a graph and the form of a call): a size */
    vec_of(int64_t)
    present; /* values of a graph's symbols during a call */
    struct tree_manager manager;
    struct pool_run pool;
    uint32_t n_functions;
    uint32_t entered; /* the call whose values are those of the world; CALL_NONE */
    int64_t module;   /* that was called */
    struct buf key;
    struct err *err;
};

static bool nomem(struct run_builder *b)
{
    return err_nomem(b->err);
}

/* ---- Settings ---- */

static bool is_version_from(struct str version, uint64_t major, uint64_t minor)
{
    uint64_t number[2] = { 0, 0 };
    for (int i = 0; i < 2; i++) {
        size_t n = str_digits(version);
        if (!str_to_u64(str_first(version, n), &number[i]))
            return true; /* not told: the versions of today */
        version = str_from(version, n + 1);
    }
    return number[0] > major || (number[0] == major && number[1] >= minor);
}

static bool read_settings(struct run_builder *b, const struct cudagraph_options *options)
{
    struct setting_list *list = settings_read(b->trace, b->err);
    struct wrap_settings *s = &b->run->settings;
    s->on_gpu = options->on_gpu;
    s->partitions = is_version_from(b->trace->recordings[b->recording].torch_version, 2, 9);
    b->run->warn_limit = WARN_LIMIT;
    for (uint32_t i = 0; list && i < list->n; i++) {
        const struct setting *setting = &list->settings[i];
        if (b->trace->records[setting->record].recording != b->recording ||
            !str_is(setting->module, "torch._inductor.config"))
            continue;
        if (str_is(setting->name, "graph_partition"))
            s->partitions = str_is(setting->value, "True");
        if (str_is(setting->name, "triton.cudagraph_skip_dynamic_graphs"))
            s->skip_dynamic = str_is(setting->value, "True");
        if (str_is(setting->name, "triton.cudagraph_dynamic_shape_warn_limit") &&
            !str_to_u64(setting->value, &b->run->warn_limit))
            b->run->warn_limit = 0;
    }
    s->skip_dynamic |= options->skip_dynamic;
    settings_free(list);
    return list != NULL;
}

/* Counts what PyTorch recorded itself: CUDAGraphNode.record (dynamo_timed_cudagraph() in
 * torch/_inductor/cudagraph_trees.py), and notes the kernels that it tuned. */
static bool read_events(struct run_builder *b)
{
    struct chromium_list *list = chromium_read(b->trace, b->err);
    bool ok = list != NULL;
    for (uint32_t i = 0; ok && i < list->n; i++) {
        const struct chromium_event *e = &list->events[i];
        if (b->trace->records[e->record].recording != b->recording)
            continue;
        b->run->n_on_tape +=
            (e->phase == 'B' || e->phase == 'X') && str_is(e->name, "CUDAGraphNode.record");
        ok = tuned_kernels_add(&b->pool.tuned, e) || nomem(b);
    }
    chromium_free(list);
    return ok;
}

/* ---- Graphs of entries ---- */

static bool index_attempts(struct run_builder *b)
{
    for (uint32_t i = 0; i < b->trace->n_attempts; i++) {
        if (b->trace->attempts[i].recording != b->recording)
            continue;
        uint32_t id = intern(&b->compiles, b->trace->attempts[i].compile);
        if (id == INTERN_NONE || (id == b->attempts.n && !vec_push(&b->attempts, i)))
            return nomem(b);
        b->attempts.v[id] = i;
    }
    return true;
}

/* Finds where a symbol has its value from: "L['x'].size()[0]". */
static bool find_source(struct run_builder *b, uint32_t attempt, struct str name)
{
    const struct symbol_table *table = trace_symbols(b->trace, b->err);
    struct symbol_source ret = { .condition = CONDITION_NONE };
    if (!table)
        return false;
    const struct symbol *symbol =
        symbol_table_find(table, b->recording, attempt, name, UINT32_MAX - 1);
    if (symbol)
        ret.known = str_to_i64(symbol->value, &ret.hint);
    if (symbol && symbol->source.n) {
        buf_clear(&b->key);
        source_spelling(symbol->source, &b->key);
        uint32_t id = b->key.failed ? INTERN_NONE : intern(&b->spelled, buf_str(&b->key));
        if (id == INTERN_NONE || !condition_parse(&b->conditions, &b->world,
                                                  intern_text(&b->spelled, id), &ret.condition))
            return nomem(b);
    }
    b->run->n_unknown_sizes += ret.condition == CONDITION_NONE && !ret.known;
    return vec_push(&b->sources, ret) || nomem(b);
}

static bool read_graphs(struct run_builder *b, const struct cache_entry *entry, bool backward,
                        struct entry_graphs *ret)
{
    struct wrapped_graphs *w = &b->run->wrapped;
    struct str compile = entry->assumed_from.n ? entry->assumed_from : entry->compile;
    uint32_t id = intern_find(&b->compiles, compile);
    ret->first[backward] = (uint32_t)w->graphs.n;
    ret->read[backward] = true;
    if (id == INTERN_NONE)
        return true;
    uint32_t attempt = b->attempts.v[id];
    if (!wrapped_graphs_read(w, b->trace, attempt, backward, &b->run->settings, b->err))
        return false;
    ret->n[backward] = (uint32_t)w->graphs.n - ret->first[backward];
    if (!pool_run_read(&b->pool, b->run, b->trace, ret->first[backward], backward, b->err))
        return false;
    for (uint32_t i = ret->first[backward]; i < w->graphs.n; i++)
        w->graphs.v[i].compile = entry->compile;
    while (b->sources.n < w->symbols.n)
        if (!find_source(b, attempt, w->symbols.v[b->sources.n]))
            return false;
    return true;
}

/* Returns the graphs of an entry; NULL with err set when they cannot be read. */
static const struct entry_graphs *graphs_of(struct run_builder *b, uint32_t entry, bool backward)
{
    struct entry_graphs *ret = &b->entries.v[entry];
    if (!ret->read[backward] && !read_graphs(b, &b->cache->entries.v[entry], backward, ret))
        return NULL;
    return ret;
}

/* ---- Sizes ---- */

static bool read_values(struct run_builder *b, const struct wrapped_graph *graph, uint32_t call)
{
    b->present.n = 0;
    if (graph->n_symbols && b->entered != call) {
        if (!world_enter(&b->world, &b->log->calls.v[call]))
            return nomem(b);
        b->entered = call;
    }
    for (uint32_t i = 0; i < graph->n_symbols; i++) {
        const struct symbol_source *source = &b->sources.v[graph->first_symbol + i];
        uint32_t missing;
        int64_t value = source->hint;
        if (source->condition != CONDITION_NONE) {
            struct py_value now =
                condition_value(&b->conditions, &b->world, source->condition, &missing);
            value = now.kind == PY_INT || now.kind == PY_BOOL ? now.integer : value;
        }
        if (!vec_push(&b->present, value))
            return nomem(b);
    }
    return true;
}

/* Adds a size of which the key is new. */
static bool add_size(struct run_builder *b, uint32_t number)
{
    struct cudagraph_run *run = b->run;
    const struct wrapped_graph *graph = &run->wrapped.graphs.v[number];
    struct graph_size size = { .graph = number,
                               .first_value = (uint32_t)run->values.n,
                               .first_function = CALL_NONE };
    if (wrapped_graph_records(graph)) {
        size.first_function = b->n_functions;
        b->n_functions += graph->n_partitions;
        run->n_sizes++;
    }
    for (size_t i = 0; i < b->present.n; i++)
        if (!vec_push(&run->values, b->present.v[i]))
            return nomem(b);
    return vec_push(&run->sizes, size) || nomem(b);
}

static bool find_size(struct run_builder *b, uint32_t number, uint32_t call, uint32_t *ret)
{
    const struct wrapped_graph *graph = &b->run->wrapped.graphs.v[number];
    if (!read_values(b, graph, call))
        return false;
    struct size_values values = { &b->run->wrapped, graph, b->present.v };
    buf_clear(&b->key);
    buf_varint(&b->key, number);
    size_values_key(&values, &b->key);
    *ret = b->key.failed ? INTERN_NONE : intern(&b->keys, buf_str(&b->key));
    return *ret == INTERN_NONE ? nomem(b) : *ret == b->run->sizes.n ? add_size(b, number) : true;
}

/* Calls of the same form have the same values, so that their size is found once. */
static bool size_of_call(struct run_builder *b, uint32_t graph, uint32_t call, uint32_t *ret)
{
    buf_clear(&b->key);
    buf_varint(&b->key, graph);
    buf_varint(&b->key, b->log->calls.v[call].form);
    uint32_t id = b->key.failed ? INTERN_NONE : intern(&b->forms, buf_str(&b->key));
    if (id == INTERN_NONE)
        return nomem(b);
    if (id == b->form_sizes.n) {
        uint32_t size = 0;
        if (!find_size(b, graph, call, &size))
            return false;
        if (!vec_push(&b->form_sizes, size))
            return nomem(b);
    }
    *ret = b->form_sizes.v[id];
    return true;
}

/* ---- Runs ---- */

static bool run_partition(struct run_builder *b, uint32_t call, uint32_t size, uint32_t partition)
{
    struct graph_size *row = &b->run->sizes.v[size];
    const struct wrapped_graph *graph = &b->run->wrapped.graphs.v[row->graph];
    struct graph_run run = { call, size, partition, RUN_EAGER };
    struct wrapped_run how = { .function = row->first_function + partition,
                               .module = graph->reads_module ? b->module : -1,
                               .mode = graph->mode,
                               .mutates = graph_run_mutates(b->run, &run) };
    if (!tree_manager_run(&b->manager, &how, &run.action) || !vec_push(&b->run->runs, run) ||
        (!how.mutates && !pool_run_take(&b->pool, size, partition, b->manager.path, run.action)))
        return nomem(b);
    row->actions[run.action]++;
    b->run->totals[run.action]++;
    b->run->n_in_warm_up += run.action == RUN_EAGER && !how.mutates;
    return true;
}

static bool run_graph(struct run_builder *b, uint32_t number, uint32_t call, uint32_t values)
{
    const struct wrapped_graph *graph = &b->run->wrapped.graphs.v[number];
    uint32_t size = 0, n = graph->n_partitions;
    enum run_mode mode = graph->mode;
    if (!size_of_call(b, number, values, &size))
        return false;
    struct graph_size *row = &b->run->sizes.v[size];
    row->runs++;
    if (row->first_function == CALL_NONE && graph->skip == SKIP_MUTATION) {
        /* It is wrapped, and runs without a CUDA graph each time. */
        row->actions[RUN_EAGER]++;
        b->run->totals[RUN_EAGER]++;
        tree_manager_pass(&b->manager, mode);
        return vec_push(&b->run->runs, (struct graph_run){ call, size, 0, RUN_EAGER }) || nomem(b);
    }
    if (row->first_function == CALL_NONE) {
        tree_manager_pass(&b->manager, mode);
        return true;
    }
    for (uint32_t i = 0; i < n; i++)
        if (!run_partition(b, call, size, i))
            return false;
    return true;
}

/* Runs the graphs of an entry; `call` is the call or its backward, `values` the call. */
static bool run_entry(struct run_builder *b, uint32_t entry, bool backward, uint32_t call,
                      uint32_t values)
{
    const struct entry_graphs *graphs = graphs_of(b, entry, backward);
    if (!graphs)
        return false;
    for (uint32_t i = 0; i < graphs->n[backward]; i++)
        if (!run_graph(b, graphs->first[backward] + i, call, values))
            return false;
    return true;
}

static bool run_lookup(struct run_builder *b, uint32_t at)
{
    const struct lookup_row *row = &b->cache->lookups.v[at];
    const struct program_call *call = &b->log->calls.v[row->call];
    if (!call->inside) {
        tree_manager_call(&b->manager);
        b->module = call->module;
        b->run->n_calls++;
    }
    b->run->n_unknown_calls += row->outcome == LOOKUP_UNKNOWN;
    return row->answered == CALL_NONE || run_entry(b, row->answered, false, row->call, row->call);
}

static bool run_backward(struct run_builder *b, const struct backward_row *back)
{
    bool known = back->look != CALL_NONE;
    uint32_t values = known ? b->cache->lookups.v[back->look].call : CALL_NONE;
    b->run->n_unknown_calls += back->outcome == LOOKUP_UNKNOWN && values == CALL_NONE;
    return values == CALL_NONE || run_entry(b, back->entry, true, back->call, values);
}

/* Look-ups and backwards are each in the order of the calls. */
static bool run_calls(struct run_builder *b)
{
    size_t look = 0, back = 0, looks = b->cache->lookups.n, backs = b->cache->backwards.n;
    while (look < looks || back < backs) {
        bool is_backward = look == looks || (back < backs && b->cache->backwards.v[back].call <
                                                                 b->cache->lookups.v[look].call);
        if (is_backward ? !run_backward(b, &b->cache->backwards.v[back++])
                        : !run_lookup(b, (uint32_t)look++))
            return false;
    }
    return true;
}

/* ---- All of it ---- */

static bool count_graphs(struct run_builder *b)
{
    struct cudagraph_run *run = b->run;
    bool *ran = calloc(run->wrapped.graphs.n + 1, sizeof *ran);
    for (size_t i = 0; ran && i < run->sizes.n; i++) {
        const struct graph_size *size = &run->sizes.v[i];
        if (!ran[size->graph] && size->first_function != CALL_NONE)
            run->n_graphs++;
        if (!ran[size->graph] && size->first_function == CALL_NONE &&
            run->wrapped.graphs.v[size->graph].skip != SKIP_EMPTY)
            run->n_skipped++;
        ran[size->graph] = true;
    }
    free(ran);
    return ran || nomem(b);
}

static bool make_entries(struct run_builder *b)
{
    for (size_t i = 0; i < b->cache->entries.n; i++)
        if (!vec_push(&b->entries, (struct entry_graphs){ 0 }))
            return nomem(b);
    return true;
}

bool cudagraph_run_make(struct cudagraph_run *run, struct trace *trace, uint32_t recording,
                        struct call_log *log, const struct cache_run *cache,
                        const struct cudagraph_options *options, struct err *err)
{
    struct run_builder b = { .run = run,
                             .trace = trace,
                             .recording = recording,
                             .log = log,
                             .cache = cache,
                             .world = { .sources = &log->sources },
                             .entered = CALL_NONE,
                             .module = -1,
                             .err = err };
    *run = (struct cudagraph_run){ 0 };
    bool ok = read_settings(&b, options) && read_events(&b) && index_attempts(&b) &&
              make_entries(&b) && run_calls(&b) && count_graphs(&b) &&
              (paddings_make(run) || nomem(&b));
    run->pool_known = !b.pool.unknown;
    run->pool_bytes = b.pool.pool.reserved;
    pool_run_release(&b.pool);
    world_release(&b.world);
    condition_pool_release(&b.conditions);
    vec_release(&b.sources);
    intern_release(&b.spelled);
    intern_release(&b.compiles);
    vec_release(&b.attempts);
    vec_release(&b.entries);
    intern_release(&b.keys);
    intern_release(&b.forms);
    vec_release(&b.form_sizes);
    vec_release(&b.present);
    tree_manager_release(&b.manager);
    buf_release(&b.key);
    return ok;
}

void cudagraph_run_release(struct cudagraph_run *run)
{
    wrapped_graphs_release(&run->wrapped);
    vec_release(&run->sizes);
    vec_release(&run->values);
    vec_release(&run->runs);
    vec_release(&run->paddings);
    *run = (struct cudagraph_run){ 0 };
}
