/* Runs a forward graph, so that its backward graph takes what it saved. */
#include "cmd/run/run_recorded.h"
#include "cmd/run/run_session.h"
#include "replay/backend/measure/memory_needs.h"

/* Returns the forward graph of a backward graph: the one of the same attempt and ordinal; or
 * UINT32_MAX. */
static uint32_t find_forward(const struct session *s, uint32_t ref)
{
    const struct graph_ref *backward = &s->list->refs[ref];
    if (backward->kind != GRAPH_BACKWARD || !backward->is_event || backward->attempt == TRACE_NONE)
        return UINT32_MAX;
    for (uint32_t i = 0; i < s->list->n; i++) {
        const struct graph_ref *g = &s->list->refs[i];
        if (g->kind == GRAPH_FORWARD && g->is_event && g->attempt == backward->attempt &&
            g->index == backward->index)
            return i;
    }
    return UINT32_MAX;
}

void forward_values_release(struct forward_values *forward)
{
    value_file_free(forward->values);
    *forward = (struct forward_values){ 0 };
}

static bool save_outputs(struct run *run, struct value_file **ret, struct err *err)
{
    *ret = value_file_new(NULL, err);
    if (*ret && saved_values_add(run, *ret, err) && value_file_seal(*ret, err))
        return true;
    value_file_free(*ret);
    *ret = NULL;
    return false;
}

/* Returns whether the run had the sizes that were asked for: unbacked ones depend on its data. */
static bool has_sizes(const struct run *run, const struct run_options *options, struct err *err)
{
    for (size_t i = 0; i < options->n_sizes; i++)
        for (size_t k = 0; k < run->n_symbols; k++) {
            const struct run_size *asked = &options->sizes[i], *has = &run->symbols[k];
            if (str_eq(asked->symbol, has->symbol) && asked->value != has->value)
                return err_set(err, ERR_USAGE, "its data make %.*s %lld, and %lld was asked for",
                               STR_ARG(has->symbol), (long long)has->value,
                               (long long)asked->value);
        }
    return true;
}

/* Runs the graph on the reference, whose values both sides of a comparison get. If a recorded guard
 * does not allow it, `refusal` says so. */
static bool run_forward(struct graph_run *g, uint32_t ref, size_t point, struct value_file **ret,
                        struct buf *refusal, struct err *err)
{
    struct session *s = g->session;
    const struct graph_ref *r = &s->list->refs[ref];
    struct run_options options = {
        .operators = s->operators,
        .backend = s->pair.reference ? s->pair.reference : s->pair.tested,
        .violated = s->args->ignore_guards ? run_ignore_violation : NULL,
        .refusal = refusal,
        .seed = s->seed,
    };
    const struct graph *graph = trace_graph(s->trace, ref, err);
    struct run *run = NULL;
    bool ok = graph && run_recorded(s->trace, r->record, r->attempt, &g->arena, &options, err) &&
              session_sizes(s, point, &g->arena, &options, err) && run_fits(graph, &options, err) &&
              (run = run_new(graph, &options, err)) != NULL && run_execute(run, err) &&
              has_sizes(run, &options, err) && save_outputs(run, ret, err);
    run_free(run);
    return ok;
}

/* A guard that refuses the forward graph is one of the backward graph too, and is reported there.
 */
static void note_random(const struct graph_run *g, const struct buf *refusal, const struct err *why)
{
    if (session_prints_notes(g->session) && !refusal->n)
        out_note(
            g->session->cmd->out,
            "%.*s: its forward graph cannot be used (%s): random numbers stand for what it saves",
            STR_ARG(buf_str(&g->name)), why->text);
}

bool graph_run_forward(struct graph_run *g, size_t point, struct err *err)
{
    struct session *s = g->session;
    struct forward_values *forward = &s->forward;
    struct buf refusal = BUF_INIT;
    struct err why = { 0 };
    uint32_t ref = find_forward(s, g->ref);
    if (ref == UINT32_MAX || s->inputs || s->pair.tested_kind->shapes_only)
        return true;
    if (!forward->known || forward->ref != ref || forward->point != point) {
        forward_values_release(forward);
        *forward = (struct forward_values){ .known = true, .ref = ref, .point = point };
        bool ok = run_forward(g, ref, point, &forward->values, &refusal, &why);
        if (!ok && why.kind != ERR_ENV)
            note_random(g, &refusal, &why);
        buf_release(&refusal);
        if (!ok && why.kind == ERR_ENV) {
            forward->known = false;
            *err = why;
            return false;
        }
    }
    g->inputs.saved = forward->values;
    return true;
}
