/* replay --backend --profile: where the time of each graph goes. */
#include <stdio.h>

#include "cmd/replay/replay_session.h"
#include "profile/report/replay/timing_report.h"
#include "replay/backend/values/weights.h"

/* The run before has said them. */
static void keep_quiet(void *user, struct str text)
{
    (void)user, (void)text;
}

static void tell(void *user, struct str text)
{
    struct graph_run *g = user;
    out_note(g->session->cmd->out, "%.*s: %.*s; running anyway (--force)",
             STR_ARG(buf_str(&g->name)), STR_ARG(text));
}

static bool prepare(struct graph_run *g, size_t point, struct run_options *options, struct err *err)
{
    struct session *s = g->session;
    const struct graph_ref *ref = &s->list->refs[g->ref];
    g->graph = trace_graph(s->trace, g->ref, err);
    if (!g->graph || !replay_check_inputs(g, err) || !replay_gather_symbols(g, point, options, err))
        return false;
    g->weights = weights_open(s->trace, s->trace->records[ref->record].recording, err);
    if (err_is_set(err))
        return false;
    replay_note_weights(g);
    return replay_fits(g, s->backend, *options, err);
}

/* Guards are looked at, and told, once. */
static bool check(struct graph_run *g, struct run_options *options, struct err *err)
{
    options->violated = g->session->args->force ? tell : NULL;
    struct run *run = run_new(g->graph, options, err);
    run_free(run);
    options->violated = g->session->args->force ? keep_quiet : NULL;
    return run != NULL;
}

static void print(struct graph_run *g, const struct timing *t)
{
    struct session *s = g->session;
    struct report_options how = replay_report_options(s->cmd);
    struct buf text = BUF_INIT;
    char on[64];
    snprintf(on, sizeof on, "%s%s", s->kind->name, s->args->tf32 ? " with TF32" : "");
    if (s->args->json) {
        json_open_object(&s->writer, NULL);
        replay_json_name(&s->writer, g);
        json_put_u64(&s->writer, "calls", t->calls);
        json_put_null(&s->writer, "error");
        timing_json(t, &s->writer);
        json_close(&s->writer);
        return;
    }
    buf_put(&text, buf_str(&g->name));
    timing_text(t, on, &how, &text);
    out_buf(s->cmd->out, &text);
    buf_release(&text);
}

static void print_error(struct graph_run *g)
{
    struct session *s = g->session;
    if (!s->args->json)
        return;
    json_open_object(&s->writer, NULL);
    replay_json_name(&s->writer, g);
    json_put_cstr(&s->writer, "error", g->err.text);
    json_close(&s->writer);
}

int replay_profile_graph(struct session *s, uint32_t ref, size_t point)
{
    struct graph_run g = { .session = s, .ref = ref };
    struct run_options options = { .backend = s->backend,
                                   .rules = s->rules,
                                   .input = replay_give_input,
                                   .user = &g,
                                   .seed = s->seed };
    struct timing_options how = { .runs = (uint32_t)s->args->runs.value, .isolated = true };
    struct timing *t = NULL;
    int code = EXIT_DONE;
    selector_print_graph(s->trace, s->list, ref, &g.name);
    bool ok = (!g.name.failed || err_nomem(&g.err)) && prepare(&g, point, &options, &g.err) &&
              check(&g, &options, &g.err) &&
              (t = timing_new(g.graph, &options, &how, &g.err)) != NULL &&
              timing_measure_ceilings(t, s->backend, &s->ceilings, &g.err);
    if (ok) {
        print(&g, t);
    } else {
        err_at(&g.err, "%.*s", STR_ARG(buf_str(&g.name)));
        print_error(&g);
        code = out_error(s->cmd->out, &g.err);
        code = g.err.kind == ERR_USAGE ? EXIT_DIFFERS : code;
    }
    timing_free(t);
    replay_release_graph(&g);
    return code;
}
