/* The first calls that still fail, and of them the last: each by halving, taking that what fails
 * goes on to fail when more calls are there. */
#include <stdlib.h>

#include "minify/pass_edits.h"

struct ends {
    node_id *calls;
    uint32_t n;
    bool prefix;
};

/* A call of several results ends with its parts. */
static bool find_ends(struct ends *ends, const struct graph *graph)
{
    ends->calls = calloc((size_t)graph->n_nodes + 1, sizeof *ends->calls);
    for (node_id id = 0; ends->calls && id < graph->n_nodes; id++)
        if (is_whole_call(graph, id))
            ends->calls[ends->n++] = id;
    return ends->calls;
}

static bool make(void *user, uint32_t x, struct edit *edit)
{
    const struct ends *ends = user;
    if (ends->prefix)
        *edit = (struct edit){ EDIT_KEEP_PREFIX, ends->calls[x], 0, 0 };
    else
        *edit = (struct edit){ EDIT_DROP_PREFIX, ends->calls[ends->n - 1 - x], 0, 0 };
    return true;
}

static bool run(struct search *search, bool prefix)
{
    struct ends ends = { .prefix = prefix };
    struct edits none = { .failed = true };
    uint32_t least;
    if (!find_ends(&ends, search_best(search)->graph))
        return edits_try(search, &none, NULL);
    bool good = ends.n < 2 || search_least(search, 0, ends.n - 1, make, &ends, &least);
    free(ends.calls);
    return good;
}

bool pass_prefix(struct search *search)
{
    return run(search, true);
}

bool pass_suffix(struct search *search)
{
    return run(search, false);
}
