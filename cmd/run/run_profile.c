/* --profile: measures and reports where the time of each graph goes. */
#include "cmd/run/run_session.h"
#include "profile/report/replay/timing_report.h"

static bool check_guards(const struct graph_run *g, struct run_options *options, struct err *err)
{
    struct run *run = run_new(g->graph, options, err);
    run_free(run);
    if (options->violated)
        options->violated = run_ignore_violation;
    return run != NULL;
}

static void print_timing(const struct graph_run *g, const struct timing *t)
{
    struct session *s = g->session;
    struct report_options how = session_report_options(s);
    char on[64];
    snprintf(on, sizeof on, "%s%s", s->pair.tested_kind->name, s->args->tf32 ? " with TF32" : "");
    graph_run_print_name(g);
    timing_text(t, on, &how, &s->text);
    graph_run_print_sources(g, &s->text);
}

static void print_timing_json(const struct graph_run *g, const struct timing *t)
{
    struct json_writer *w = &g->session->writer;
    json_open_object(w, NULL);
    graph_run_json_head(g);
    graph_run_json_sources(g, w);
    timing_json(t, w);
    json_close(w);
}

bool profile_graph_execute(struct graph_run *g, struct session *s, uint32_t ref, size_t point)
{
    struct run_options options;
    const struct timing_options how = { .runs = (uint32_t)s->args->runs.value,
                                        .isolated = true,
                                        .captures = !s->args->no_cuda_graph };
    bool ok = graph_run_begin(g, s, ref, point, &options);
    options.backend = s->pair.tested;
    ok = ok && check_guards(g, &options, &g->err) &&
         (g->timing = timing_new(g->graph, &options, &how, &g->err)) != NULL &&
         timing_measure_ceilings(g->timing, s->pair.tested, &s->ceilings, &g->err);
    if (!ok)
        return false;
    g->calls = g->timing->calls;
    g->peak = g->timing->peak.bytes;
    s->totals.wall_us += g->timing->wall_us;
    return true;
}

void profile_graph_print(const struct graph_run *g)
{
    if (g->session->args->json)
        print_timing_json(g, g->timing);
    else
        print_timing(g, g->timing);
}

int profile_graph_run(struct session *s, uint32_t ref, size_t point)
{
    struct graph_run g;
    bool ok = profile_graph_execute(&g, s, ref, point);
    int code = graph_run_report(&g, ok);
    graph_run_release(&g);
    return code;
}
