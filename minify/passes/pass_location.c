/* Most errors name the call that raised them, and most of these calls fail with their inputs alone.
 * The call is tried alone, then with the calls up to 1, 2, 4 and 8 steps before it, then with all
 * that it depends on. */
#include <stdlib.h>

#include "minify/passes/pass_edits.h"

#define ALL UINT32_MAX

struct hops {
    const struct graph *graph;
    uint32_t *distance; /* steps back from the call; UINT32_MAX: the call does not depend on it */
    node_id from;
    uint32_t step;
};

static void step_back(void *user, node_id id)
{
    struct hops *h = user;
    uint32_t distance = h->distance[h->from] + h->step;
    if (h->graph->nodes[id].op != NODE_PLACEHOLDER && distance < h->distance[id])
        h->distance[id] = distance;
}

/* Computes the distances from the call; a getitem of a call's results is no step. */
static void measure_hops(struct hops *h, node_id call)
{
    for (node_id id = 0; id < h->graph->n_nodes; id++)
        h->distance[id] = UINT32_MAX;
    h->distance[call] = 0;
    for (node_id id = call + 1; id-- > 0;) {
        if (h->distance[id] == UINT32_MAX)
            continue;
        h->from = id;
        h->step = !node_is_getitem(h->graph, &h->graph->nodes[id]);
        node_references(h->graph, &h->graph->nodes[id], step_back, h);
    }
}

static void propose_reach(struct edits *edits, const struct hops *h, node_id call, uint32_t reach)
{
    edits_propose(edits);
    edits_add(edits, EDIT_KEEP_PREFIX, call, 1, 0);
    for (node_id id = 0; id < call && reach != ALL; id++)
        if (h->distance[id] == reach + 1 && node_is_call(&h->graph->nodes[id]))
            edits_add(edits, EDIT_CUT, id, 0, 0);
}

bool pass_location(struct search *search)
{
    const struct graph *graph = search_best(search)->graph;
    node_id call = search_location(search);
    struct hops h = { .graph = graph };
    struct edits edits = { .failed = false };
    if (call == NODE_NONE || !node_is_call(&graph->nodes[call]))
        return true;
    h.distance = calloc((size_t)graph->n_nodes + 1, sizeof *h.distance);
    if (h.distance) {
        measure_hops(&h, call);
        for (uint32_t reach = 0; reach <= 8; reach = reach ? reach * 2 : 1)
            propose_reach(&edits, &h, call, reach);
        propose_reach(&edits, &h, call, ALL);
    }
    edits.failed |= !h.distance;
    free(h.distance);
    return edits_try_each(search, &edits, NULL);
}
