#include "minify/passes/pass_edits.h"

#include <stdlib.h>

#include "minify/search/search_inside.h"

void edits_add(struct edits *edits, enum edit_kind kind, uint32_t a, uint32_t b, int64_t value)
{
    if (!vec_push(&edits->list, (struct edit){ kind, a, b, value }))
        edits->failed = true;
}

void edits_propose(struct edits *edits)
{
    if (!vec_push(&edits->first, (uint32_t)edits->list.n))
        edits->failed = true;
}

void edits_release(struct edits *edits)
{
    vec_release(&edits->list);
    vec_release(&edits->first);
}

static bool fail_edits(struct search *search, struct edits *edits)
{
    edits_release(edits);
    err_nomem(&search->err);
    return search_fail(search);
}

bool edits_try(struct search *search, struct edits *edits, bool *accepted)
{
    if (edits->failed)
        return fail_edits(search, edits);
    if (accepted)
        *accepted = false;
    bool good =
        edits->list.n == 0 || search_try(search, edits->list.v, (uint32_t)edits->list.n, accepted);
    edits_release(edits);
    return good;
}

bool edits_try_each(struct search *search, struct edits *edits, uint32_t *which)
{
    uint32_t n = (uint32_t)edits->first.n, found = UINT32_MAX;
    struct proposal *proposals = calloc((size_t)n + 1, sizeof *proposals);
    if (!proposals || edits->failed) {
        free(proposals);
        return fail_edits(search, edits);
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t end = i + 1 < n ? edits->first.v[i + 1] : (uint32_t)edits->list.n;
        proposals[i] =
            (struct proposal){ vec_from(&edits->list, edits->first.v[i]), end - edits->first.v[i] };
    }
    bool good = n == 0 || search_try_each(search, proposals, n, &found);
    if (which)
        *which = found;
    free(proposals);
    edits_release(edits);
    return good;
}

bool edits_sweep_made(struct search *search, struct edits *edits, const float *likely, bool *made)
{
    if (edits->failed)
        return fail_edits(search, edits);
    bool good = edits->list.n == 0 ||
                search_sweep(search, edits->list.v, (uint32_t)edits->list.n, likely, made);
    edits_release(edits);
    return good;
}

bool edits_sweep(struct search *search, struct edits *edits)
{
    return edits_sweep_made(search, edits, NULL, NULL);
}

uint32_t *count_node_uses(const struct graph *graph)
{
    uint32_t *uses = calloc((size_t)graph->n_nodes + 1, sizeof *uses);
    for (uint32_t i = 0; uses && i < graph->n_args; i++)
        if (graph->args[i].kind == ARG_NODE)
            uses[graph->args[i].u.node]++;
    return uses;
}

node_id find_node_named(const struct graph *graph, struct str name)
{
    for (node_id id = 0; id < graph->n_nodes; id++)
        if (str_eq(graph->nodes[id].name, name))
            return id;
    return NODE_NONE;
}

uint32_t graph_n_outputs(const struct graph *graph)
{
    return graph->nodes[graph->n_nodes - 1].n_args;
}

void find_ends(const struct graph *graph, node_id *first, node_id *last)
{
    *first = *last = NODE_NONE;
    for (node_id id = 0; id < graph->n_nodes; id++)
        if (is_whole_call(graph, id)) {
            *first = *first == NODE_NONE ? id : *first;
            *last = id;
        }
}
