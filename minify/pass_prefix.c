/* The first calls that still fail, and of them the last: each by halving, taking that what fails
 * goes on to fail when more calls are there.
 *
 * Halved is not the number of calls but what is likely. Most bugs are an operator's, whichever of
 * its calls it is: then the shortest beginning ends with an operator's first call, and the shortest
 * end begins with an operator's last. A graph has far fewer operators than calls, and what it calls
 * all the time has been seen to work more often than what it calls once. */
#include <math.h>
#include <stdlib.h>

#include "minify/pass_edits.h"
#include "trace/base/hash.h"

struct ends {
    node_id *calls;
    float *weight;     /* by number asked for */
    struct str *names; /* likewise; they outlive the graph */
    uint32_t n;
    bool prefix;
};

/* How much of what is likely is given to the first of an operator, to the first of an operator with
 * results of one meta, to any call, and, once the end is found, to that it is alone to blame. */
static const float of_operator = 0.6F, of_meta = 0.2F, of_any = 0.2F, of_last = 0.25F;

static node_id call_of(const struct ends *ends, uint32_t x)
{
    return ends->calls[ends->prefix ? x : ends->n - 1 - x];
}

/* A call of several results ends with its parts. */
static bool find_ends(struct ends *ends, const struct graph *graph)
{
    ends->calls = calloc((size_t)graph->n_nodes + 1, sizeof *ends->calls);
    ends->weight = calloc((size_t)graph->n_nodes + 1, sizeof *ends->weight);
    ends->names = calloc((size_t)graph->n_nodes + 1, sizeof *ends->names);
    if (!ends->calls || !ends->weight || !ends->names)
        return false;
    for (node_id id = 0; id < graph->n_nodes; id++)
        if (is_whole_call(graph, id))
            ends->calls[ends->n++] = id;
    for (uint32_t x = 0; x < ends->n; x++)
        ends->names[x] = graph->nodes[call_of(ends, x)].name;
    return true;
}

/* Kinds of calls: where each is met first, and how often. */
struct kinds {
    vec_of(struct kind)
    list;
};
struct kind {
    uint64_t hash;
    uint32_t first, n;
};

static bool count_kind(struct kinds *kinds, uint64_t hash, uint32_t x)
{
    for (size_t i = 0; i < kinds->list.n; i++)
        if (kinds->list.v[i].hash == hash) {
            kinds->list.v[i].n++;
            return true;
        }
    return vec_push(&kinds->list, ((struct kind){ hash, x, 1 }));
}

/* Adds `share` to the first of each kind: more where there are few. */
static bool weigh_kinds(struct ends *ends, const struct graph *graph, bool by_meta, float share)
{
    struct kinds kinds = { 0 };
    bool good = true;
    float all = 0;
    for (uint32_t x = 0; x < ends->n && good; x++) {
        const struct node *node = &graph->nodes[call_of(ends, x)];
        good = count_kind(&kinds, hash_mix(hash_str(node->target), by_meta ? node->meta : 0), x);
    }
    for (size_t i = 0; i < kinds.list.n; i++)
        all += 1 / sqrtf((float)kinds.list.v[i].n);
    for (size_t i = 0; i < kinds.list.n && good; i++)
        ends->weight[kinds.list.v[i].first] += share / sqrtf((float)kinds.list.v[i].n) / all;
    vec_release(&kinds.list);
    return good;
}

static bool weigh(struct ends *ends, const struct graph *graph)
{
    for (uint32_t x = 0; x < ends->n; x++)
        ends->weight[x] = of_any / (float)ends->n;
    if (!ends->prefix && ends->n)
        ends->weight[0] += of_last;
    return weigh_kinds(ends, graph, false, of_operator) && weigh_kinds(ends, graph, true, of_meta);
}

static bool make(void *user, uint32_t x, struct edit *edit)
{
    const struct ends *ends = user;
    *edit =
        (struct edit){ ends->prefix ? EDIT_KEEP_PREFIX : EDIT_DROP_PREFIX, call_of(ends, x), 0, 0 };
    return true;
}

static bool run(struct search *search, bool prefix)
{
    struct ends ends = { .prefix = prefix };
    struct edits none = { .failed = true };
    const struct graph *graph = search_best(search)->graph;
    uint32_t least = 0;
    bool good;
    if (!find_ends(&ends, graph) || !weigh(&ends, graph))
        good = edits_try(search, &none, NULL);
    else
        good = ends.n < 2 || search_least(search, 0, ends.n - 1, ends.weight, make, &ends, &least);
    if (good && ends.n > 0)
        search_note_needed(search, ends.names[least], NEEDED_CALL);
    free(ends.calls);
    free(ends.weight);
    free(ends.names);
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
