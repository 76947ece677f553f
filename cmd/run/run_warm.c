/* --warm: makes what a backend chooses for sizes before they are measured: each graph is run once
 * at each of these sizes, and choices that its calls put off are made. */
#include "cmd/run/run_session.h"
#include "profile/model/human.h"
#include "trace/base/clock.h"

/* Exchanges the sizes of --warm with those of --sizes; what a forward graph saved is of one of
 * them. */
static void exchange_sizes(struct session *s)
{
    struct size_grid other = s->grid;
    s->grid = s->warm;
    s->warm = other;
    s->warming = !s->warming;
    run_schedule_release(&s->schedule);
}

/* Runs the graph at a point of the sizes. Returns false with err set if no other can be run. */
static bool warm_point(struct session *s, uint32_t ref, size_t point, struct warmed *ret,
                       struct err *err)
{
    struct graph_run g;
    struct run_options options;
    struct backend *backend = s->pair.tested;
    struct run *run = NULL;
    bool ok = graph_run_begin(&g, s, ref, point, &options);
    options.backend = backend;
    ok = ok && (run = run_new(g.graph, &options, &g.err)) != NULL && run_execute(run, &g.err) &&
         backend->kind->wait(backend, &g.err);
    if (ok)
        backend->kind->refine(backend);
    run_free(run);
    ret->sizes += ok;
    ret->refused += !ok && g.err.kind == ERR_USAGE;
    bool goes_on = ok || g.err.kind == ERR_USAGE;
    if (!goes_on) {
        err_at(&g.err, "%.*s", STR_ARG(buf_str(&g.name)));
        *err = g.err;
    }
    graph_run_release(&g);
    return goes_on;
}

static void print_warmed(struct session *s, const struct warmed *w)
{
    char time[HUMAN_SIZE];
    selector_print_graph(s->trace, s->list, w->ref, &s->text);
    buf_printf(&s->text, ": warmed at %llu sizes in %s: ", (unsigned long long)w->sizes,
               human_ns(time, (int64_t)(w->us * 1e3)));
    buf_printf(&s->text, "%llu kernels compiled, %llu library calls planned, %llu plans timed",
               (unsigned long long)w->compiled, (unsigned long long)w->planned,
               (unsigned long long)w->tried);
    if (w->refused)
        buf_printf(&s->text, "; %llu sizes refused", (unsigned long long)w->refused);
    buf_putc(&s->text, '\n');
}

int warm_graph(struct session *s, uint32_t ref)
{
    const struct backend_log before = s->pair.tested->log, *now = &s->pair.tested->log;
    struct warmed w = { .ref = ref };
    struct err err = { 0 };
    const double start = clock_us();
    exchange_sizes(s);
    for (size_t i = 0; i < s->grid.n && !session_stopped(s); i++)
        if (!warm_point(s, ref, i, &w, &err))
            break;
    exchange_sizes(s);
    w.us = clock_us() - start;
    w.compiled = now->compiled - before.compiled;
    w.planned = now->planned - before.planned;
    w.tried = now->tried - before.tried;
    if (!err_is_set(&err) && !vec_push(&s->warmed, w))
        err_nomem(&err);
    if (err_is_set(&err))
        return out_error(s->cmd->out, &err);
    if (!s->args->json)
        print_warmed(s, &w);
    return EXIT_DONE;
}

void warmed_json(struct session *s)
{
    struct json_writer *w = &s->writer;
    if (!session_warms(s))
        return;
    json_open_array(w, "warmed");
    for (size_t i = 0; i < s->warmed.n; i++) {
        const struct warmed *one = &s->warmed.v[i];
        struct buf name = BUF_INIT;
        json_open_object(w, NULL);
        selector_print_graph(s->trace, s->list, one->ref, &name);
        run_json_name(s, one->ref, &name);
        json_put_u64(w, "sizes", one->sizes);
        json_put_u64(w, "refused", one->refused);
        json_put_double(w, "us", one->us);
        json_put_u64(w, "compiled", one->compiled);
        json_put_u64(w, "planned", one->planned);
        json_put_u64(w, "plans_tried", one->tried);
        json_close(w);
        s->json.failed |= name.failed;
        buf_release(&name);
    }
    json_close(w);
}
