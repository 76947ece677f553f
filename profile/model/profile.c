#include "profile/model/build.h"

static bool read_profile_input(struct build_input *in, struct err *err)
{
    size_t n = in->trace->n_attempts;
    in->recording_of = calloc((size_t)in->trace->n_recordings + 1, sizeof *in->recording_of);
    in->compile_of = calloc(n + 1, sizeof *in->compile_of);
    in->metrics_of = calloc(n + 1, sizeof *in->metrics_of);
    if (!in->recording_of || !in->compile_of || !in->metrics_of)
        return err_nomem(err);
    return (in->events = chromium_read(in->trace, err)) &&
           (in->metrics = metrics_read(in->trace, err)) &&
           (in->incidents = incidents_read(in->trace, in->events, err)) &&
           (in->caches = caches_read(in->trace, in->events, err)) &&
           (in->guards = trace_guards(in->trace, err)) &&
           (in->symbols = trace_symbols(in->trace, err)) &&
           (in->deep = deep_read(in->trace, err)) && (in->graphs = trace_graphs(in->trace, err));
}

static bool read_profile_inputs(struct profile_build *b, struct trace *const *traces, uint32_t n,
                                struct err *err)
{
    b->inputs = calloc((size_t)n + 1, sizeof *b->inputs);
    struct trace **kept = arena_array(&b->arena, struct trace *, (size_t)n + 1);
    if (!b->inputs || !kept)
        return err_nomem(err);
    for (uint32_t i = 0; i < n; i++) {
        kept[i] = traces[i];
        b->inputs[i].trace = traces[i];
        b->profile.n_traces = i + 1;
        if (!read_profile_input(&b->inputs[i], err))
            return n > 1 ? err_at(err, "%.*s", STR_ARG(traces[i]->path)) : false;
    }
    b->profile.traces = kept;
    return true;
}

/* Copies the texts of the options, which are the caller's: a profile outlives them. */
static bool copy_profile_options(struct profile_build *b, const struct profile_options *options)
{
    struct profile_options *kept = &b->profile.options;
    if (options)
        *kept = *options;
    kept->compile = arena_copy(&b->arena, kept->compile.p ? kept->compile : STR(""));
    kept->recording = arena_copy(&b->arena, kept->recording.p ? kept->recording : STR(""));
    kept->file = arena_copy(&b->arena, kept->file.p ? kept->file : STR(""));
    return kept->compile.p && kept->recording.p && kept->file.p;
}

struct profile *profile_build(struct trace *const *traces, uint32_t n_traces,
                              const struct profile_options *options, struct err *err)
{
    struct profile_build *b = calloc(1, sizeof *b);
    if (!b) {
        err_nomem(err);
        return NULL;
    }
    bool ok = copy_profile_options(b, options) || err_nomem(err);
    ok = ok && read_profile_inputs(b, traces, n_traces, err) && build_compiles(b, err) &&
         build_phases(b, err) && build_compile_times(b, err) && build_replays(b, err) &&
         build_costs(b, err) && build_lines(b, err) && build_guards(b, err) &&
         build_incidents(b, err) && build_differences(b, err) && build_groups(b, err) &&
         build_cost_model(b, err);
    b->profile.names = b->names.texts.v;
    b->profile.n_names = (uint32_t)b->names.texts.n;
    if (ok)
        return &b->profile;
    profile_free(&b->profile);
    return NULL;
}

const struct replay *profile_replay(const struct profile *profile, uint32_t trace)
{
    return ((const struct profile_build *)profile)->inputs[trace].replay;
}

static void free_input(struct build_input *in)
{
    chromium_free(in->events);
    metrics_free(in->metrics);
    incidents_free(in->incidents);
    caches_free(in->caches);
    deep_free(in->deep);
    replay_free(in->replay);
    free(in->recording_of);
    free(in->compile_of);
    free(in->metrics_of);
    line_work_release(&in->work);
}

void profile_free(struct profile *profile)
{
    struct profile_build *b = (struct profile_build *)profile;
    if (!b)
        return;
    for (uint32_t i = 0; b->inputs && i < b->profile.n_traces; i++)
        free_input(&b->inputs[i]);
    free(b->inputs);
    vec_release(&b->recordings);
    vec_release(&b->compiles);
    vec_release(&b->spans);
    vec_release(&b->nodes);
    vec_release(&b->by_compile);
    vec_release(&b->operators);
    vec_release(&b->lines);
    vec_release(&b->library_lines);
    vec_release(&b->costs);
    vec_release(&b->counters);
    vec_release(&b->spots);
    vec_release(&b->uses);
    vec_release(&b->memory);
    vec_release(&b->processes);
    vec_release(&b->graph_memory);
    vec_release(&b->memory_nodes);
    vec_release(&b->guard_rows);
    vec_release(&b->guard_exprs);
    vec_release(&b->guard_symbols);
    vec_release(&b->restarts);
    vec_release(&b->recompiles);
    vec_release(&b->breaks);
    vec_release(&b->failures);
    vec_release(&b->caches);
    vec_release(&b->differences);
    intern_release(&b->names);
    arena_release(&b->arena);
    free(b);
}
