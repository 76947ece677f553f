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
    buf_put(&s->text, buf_str(&g->name));
    timing_text(t, on, &how, &s->text);
}

static void print_timing_json(const struct graph_run *g, const struct timing *t)
{
    struct json_writer *w = &g->session->writer;
    json_open_object(w, NULL);
    graph_run_json_head(g);
    timing_json(t, w);
    json_close(w);
}

int profile_graph_run(struct session *s, uint32_t ref, size_t point)
{
    struct graph_run g;
    struct run_options options;
    const struct timing_options how = { .runs = (uint32_t)s->args->runs.value,
                                        .isolated = true,
                                        .captures = !s->args->no_cuda_graph };
    struct timing *t = NULL;
    int code = EXIT_DONE;
    bool ok = graph_run_begin(&g, s, ref, point, &options);
    options.backend = s->pair.tested;
    ok = ok && check_guards(&g, &options, &g.err) &&
         (t = timing_new(g.graph, &options, &how, &g.err)) != NULL &&
         timing_measure_ceilings(t, s->pair.tested, &s->ceilings, &g.err);
    if (ok) {
        g.calls = t->calls;
        g.peak = t->peak.bytes;
        s->totals.wall_us += t->wall_us;
    } else {
        err_at(&g.err, "%.*s", STR_ARG(buf_str(&g.name)));
        code = out_error(s->cmd->out, &g.err);
        code = g.err.kind == ERR_USAGE ? EXIT_DIFFERS : code;
    }
    graph_run_count(&g);
    if (s->args->json && ok)
        print_timing_json(&g, t);
    else if (s->args->json)
        graph_run_json(&g);
    else if (ok)
        print_timing(&g, t);
    timing_free(t);
    graph_run_release(&g);
    return code;
}
