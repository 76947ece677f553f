/* The graphs of one compile that pass values to each other: finds them, and runs those that a graph
 * takes values of. */
#include <string.h>

#include "cmd/run/run_recorded.h"
#include "cmd/run/run_session.h"
#include "replay/backend/measure/memory_needs.h"

/* ---- Which graphs ---- */

static bool is_part(const struct graph_ref *g, uint32_t attempt)
{
    return g->attempt == attempt && g->is_event &&
           (g->kind == GRAPH_FORWARD || g->kind == GRAPH_INFERENCE);
}

static uint32_t count_parts(const struct graph_list *list, uint32_t attempt)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < list->n; i++)
        n += is_part(&list->refs[i], attempt);
    return n;
}

/* Returns the graph that calls the parts of the attempt ("optimize_ddp_split_graph"), or, for a
 * rank of a job, the graph of Dynamo if there is one part only: it tells what ranks have in common.
 * UINT32_MAX: none. */
static uint32_t find_outer(const struct session *s, uint32_t attempt, uint32_t n_parts)
{
    const struct graph_list *list = s->list;
    for (uint32_t i = 0; (n_parts > 1 || s->job) && i < list->n; i++) {
        const struct graph_ref *g = &list->refs[i];
        if (g->attempt == attempt && (n_parts > 1 ? str_ends(g->name, STR("split_graph"))
                                                  : g->is_event && g->kind == GRAPH_DYNAMO))
            return i;
    }
    return UINT32_MAX;
}

/* Returns the backward graph of a forward graph: the one of the same attempt and ordinal; or
 * UINT32_MAX. */
static uint32_t find_backward(const struct graph_list *list, const struct graph_ref *forward)
{
    for (uint32_t i = 0; forward->kind == GRAPH_FORWARD && i < list->n; i++) {
        const struct graph_ref *g = &list->refs[i];
        if (g->kind == GRAPH_BACKWARD && g->is_event && g->attempt == forward->attempt &&
            g->index == forward->index)
            return i;
    }
    return UINT32_MAX;
}

/* Sets *ret to a graph that is not run itself; NULL: there is none, or it cannot be read. False:
 * out of memory. */
static bool read_neighbor(struct session *s, uint32_t ref, const struct graph **ret,
                          struct err *err)
{
    struct err why = { 0 };
    *ret = ref == UINT32_MAX ? NULL : trace_graph(s->trace, ref, &why);
    return why.kind != ERR_ENV || err_copy(err, &why);
}

/* ---- Making the schedule ---- */

/* Returns whether a graph is one of the parts that were chosen: all of the attempt, or that of one
 * kind and ordinal. */
static bool is_chosen(const struct run_schedule *r, const struct graph_ref *g)
{
    return is_part(g, r->attempt) &&
           (r->index == UINT32_MAX ||
            (g->index == r->index && r->inference == (g->kind == GRAPH_INFERENCE)));
}

/* Fills in the parts that were chosen. */
static bool read_parts(struct session *s, struct run_schedule *r, const struct graph *outer,
                       uint32_t n, struct err *err)
{
    struct graph_schedule_part *parts =
        arena_array(&r->arena, struct graph_schedule_part, (size_t)n + 1);
    r->refs = arena_array(&r->arena, uint32_t, 2 * (size_t)n + 1);
    r->tried = arena_array(&r->arena, bool, 2 * (size_t)n + 1);
    r->needed = arena_array(&r->arena, bool, 2 * (size_t)n + 1);
    if (!parts || !r->refs || !r->tried || !r->needed)
        return err_nomem(err);
    uint32_t at = 0;
    for (uint32_t i = 0; i < s->list->n && at < n; i++) {
        if (!is_chosen(r, &s->list->refs[i]))
            continue;
        uint32_t backward = find_backward(s->list, &s->list->refs[i]);
        if (!read_neighbor(s, i, &parts[at].forward, err) ||
            !read_neighbor(s, backward, &parts[at].backward, err))
            return false;
        r->refs[at] = i;
        r->refs[2 * n - 1 - at] = backward;
        at++;
    }
    return graph_schedule_init(&r->schedule, outer, parts, at, err);
}

void run_schedule_release(struct run_schedule *r)
{
    graph_schedule_release(&r->schedule);
    arena_release(&r->arena);
    *r = (struct run_schedule){ 0 };
}

/* Returns whether the schedule is that of the graph, perhaps at another point of the sizes. */
static bool is_schedule_of(const struct run_schedule *r, const struct graph_ref *g)
{
    return r->known && r->attempt == g->attempt &&
           (r->index == UINT32_MAX ||
            (r->index == g->index && r->inference == (g->kind == GRAPH_INFERENCE)));
}

static void go_to_point(struct run_schedule *r, size_t point)
{
    if (r->point == point)
        return;
    graph_schedule_forget(&r->schedule);
    memset(r->tried, 0, 2 * r->schedule.n_parts * sizeof *r->tried);
    r->point = point;
}

/* Makes the schedule of a graph, unless it is the last one. A compile is cut if one of its graphs
 * calls as many modules as it has parts; otherwise a forward graph and its backward graph are a
 * schedule, and so is an inference graph. */
static bool make_schedule(struct session *s, uint32_t ref, size_t point, struct err *err)
{
    struct run_schedule *r = &s->schedule;
    const struct graph_ref *g = &s->list->refs[ref];
    if (is_schedule_of(r, g))
        return go_to_point(r, point), true;
    run_schedule_release(r);
    uint32_t n = count_parts(s->list, g->attempt);
    const struct graph *outer;
    if (!read_neighbor(s, find_outer(s, g->attempt, n), &outer, err))
        return false;
    bool cut = n > 1 && outer && graph_schedule_count_parts(outer) == n;
    *r = (struct run_schedule){ .attempt = g->attempt,
                                .index = cut ? UINT32_MAX : g->index,
                                .inference = g->kind == GRAPH_INFERENCE,
                                .point = point };
    r->known = read_parts(s, r, cut || n == 1 ? outer : NULL, cut ? n : 1, err);
    return r->known;
}

/* ---- Running its stages ---- */

/* Runs a stage on the reference, whose values both sides of a comparison get. If a recorded guard
 * does not allow it, `refusal` says so. */
static bool run_stage(struct session *s, uint32_t stage, struct buf *refusal, struct err *err)
{
    struct run_schedule *r = &s->schedule;
    const struct graph_ref *ref = &s->list->refs[r->refs[stage]];
    struct run_options options = {
        .operators = s->operators,
        .backend = s->pair.reference ? s->pair.reference : s->pair.tested,
        .violated = s->args->ignore_guards ? run_ignore_violation : NULL,
        .refusal = refusal,
        .replicated = s->job ? is_replicated_input : NULL,
        .replicated_seed = s->seed - s->rank,
        .seed = s->seed,
    };
    struct arena arena = ARENA_INIT;
    bool ok = run_recorded(s->trace, ref->record, ref->attempt, &arena, &options, err) &&
              session_sizes(s, r->point, &arena, &options, err) &&
              run_fits(r->schedule.stages[stage].graph, &options, err) &&
              graph_schedule_run(&r->schedule, stage, &options, err);
    arena_release(&arena);
    return ok;
}

/* A guard that refuses the stage is one of the graph too, and is reported there. */
static void note_random(const struct graph_run *g, const struct buf *name,
                        const struct buf *refusal, const struct err *why)
{
    if (session_prints_notes(g->session) && !refusal->n)
        out_note(g->session->cmd->out,
                 "%.*s: %.*s cannot be used (%s): random numbers stand for its values",
                 STR_ARG(buf_str(&g->name)), STR_ARG(buf_str(name)), why->text);
}

/* Runs a stage that the graph takes values of. Messages name the stage meanwhile. */
static bool try_stage(struct graph_run *g, uint32_t stage, struct err *err)
{
    struct session *s = g->session;
    struct buf refusal = BUF_INIT, name = BUF_INIT;
    struct err why = { 0 };
    selector_print_graph(s->trace, s->list, s->schedule.refs[stage], &name);
    s->schedule.tried[stage] = true;
    s->running = s->schedule.schedule.stages[stage].graph;
    s->running_name = buf_str(&name);
    bool ok = run_stage(s, stage, &refusal, &why);
    if (!ok && why.kind == ERR_ENV) {
        s->schedule.tried[stage] = false;
        *err = why;
    } else if (!ok)
        note_random(g, &name, &refusal, &why);
    s->running = g->graph;
    s->running_name = buf_str(&g->name);
    buf_release(&name);
    buf_release(&refusal);
    return ok || why.kind != ERR_ENV;
}

/* ---- What is reported ---- */

/* Records which graphs compute inputs of this one. */
static bool name_sources(struct graph_run *g, uint32_t stage, struct err *err)
{
    struct session *s = g->session;
    struct run_schedule *r = &s->schedule;
    uint32_t n = 2 * r->schedule.n_parts;
    bool *from = arena_array(&g->arena, bool, (size_t)n + 1);
    g->sources = arena_array(&g->arena, struct str, (size_t)n + 1);
    if (!from || !g->sources)
        return err_nomem(err);
    g->n_inputs = graph_counts(g->graph).inputs;
    if (!graph_schedule_inputs(&r->schedule, stage, from, &g->n_passed, err))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        struct buf name = BUF_INIT;
        if (!from[i])
            continue;
        selector_print_graph(s->trace, s->list, r->refs[i], &name);
        g->sources[g->n_sources++] = arena_copy(&g->arena, buf_str(&name));
        bool failed = name.failed;
        buf_release(&name);
        if (failed)
            return err_nomem(err);
    }
    return true;
}

bool is_replicated_input(void *user, const struct node *node)
{
    const struct graph_run *g = user;
    return g->inputs.schedule &&
           graph_schedule_replicates(g->inputs.schedule, g->inputs.stage, node);
}

bool graph_run_schedule(struct graph_run *g, size_t point, struct err *err)
{
    struct session *s = g->session;
    const struct graph_ref *ref = &s->list->refs[g->ref];
    struct run_schedule *r = &s->schedule;
    if (!(is_part(ref, ref->attempt) || (ref->kind == GRAPH_BACKWARD && ref->is_event)) ||
        ref->attempt == TRACE_NONE || s->inputs || s->pair.tested_kind->shapes_only)
        return true;
    if (!make_schedule(s, g->ref, point, err))
        return false;
    uint32_t stage = graph_schedule_stage_of(&r->schedule, g->graph);
    if (stage == UINT32_MAX)
        return true;
    graph_schedule_needs(&r->schedule, stage, r->needed);
    for (uint32_t i = 0; i < stage; i++)
        if (r->needed[i] && !r->tried[i] && !try_stage(g, i, err))
            return false;
    g->inputs.schedule = &r->schedule;
    g->inputs.stage = stage;
    return !r->schedule.cut || r->schedule.n_parts == 1 || name_sources(g, stage, err);
}
