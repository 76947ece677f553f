/* Finds the shortest beginning of the graph that still fails, and of that the shortest end, each by
 * bisection, which assumes that a failure remains when more calls are kept.
 *
 * Bisection halves the probability and not the number of calls (minify/search/likely.h): the
 * shortest beginning mostly ends with an operator's first call, and the shortest end begins with an
 * operator's last. A graph has far fewer operators than calls. */
#include <stdlib.h>

#include "minify/passes/pass_edits.h"
#include "minify/search/likely.h"

struct ends {
    node_id *calls;    /* in the order of the bisection */
    uint32_t *places;  /* 0, 1, 2 ... */
    float *weight;     /* in the same order */
    struct str *names; /* in the same order; they outlive the graph */
    uint32_t n;
    bool prefix;
};

/* The weight, once the end is found, of its last call failing alone, relative to all others. */
static const float of_last = 0.25F;

static void reverse_calls(node_id *calls, uint32_t n)
{
    for (uint32_t i = 0; i < n / 2; i++) {
        node_id id = calls[i];
        calls[i] = calls[n - 1 - i];
        calls[n - 1 - i] = id;
    }
}

/* Lists the calls; a call of several results ends with its getitems. */
static bool list_calls(struct ends *ends, const struct graph *graph)
{
    size_t most = (size_t)graph->n_nodes + 1;
    ends->calls = calloc(most, sizeof *ends->calls);
    ends->places = calloc(most, sizeof *ends->places);
    ends->weight = calloc(most, sizeof *ends->weight);
    ends->names = calloc(most, sizeof *ends->names);
    if (!ends->calls || !ends->places || !ends->weight || !ends->names)
        return false;
    for (node_id id = 0; id < graph->n_nodes; id++)
        if (is_whole_call(graph, id))
            ends->calls[ends->n++] = id;
    if (!ends->prefix) {
        reverse_calls(ends->calls, ends->n);
        ends->weight[0] = of_last;
    }
    for (uint32_t i = 0; i < ends->n; i++) {
        ends->places[i] = i;
        ends->names[i] = graph->nodes[ends->calls[i]].name;
    }
    return likely_weigh(graph, ends->calls, ends->places, ends->n, ends->weight);
}

static bool make_prefix_edit(void *user, uint32_t x, struct edit *edit)
{
    const struct ends *ends = user;
    *edit =
        (struct edit){ ends->prefix ? EDIT_KEEP_PREFIX : EDIT_DROP_PREFIX, ends->calls[x], 0, 0 };
    return true;
}

static bool look_for_calls(struct search *search, bool prefix)
{
    struct ends ends = { .prefix = prefix };
    struct edits none = { .failed = true };
    uint32_t least = 0;
    bool good;
    if (!list_calls(&ends, search_best(search)->graph))
        good = edits_try(search, &none, NULL);
    else
        good = ends.n < 2 ||
               search_least(search, 0, ends.n - 1, ends.weight, make_prefix_edit, &ends, &least);
    if (good && ends.n > 0)
        search_note_needed(search, ends.names[least], NEEDED_CALL);
    free(ends.calls);
    free(ends.places);
    free(ends.weight);
    free(ends.names);
    return good;
}

bool pass_prefix(struct search *search)
{
    return look_for_calls(search, true);
}

bool pass_suffix(struct search *search)
{
    return look_for_calls(search, false);
}
