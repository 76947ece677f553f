/* Replaces a value by an earlier one of the same sizes and removes the calls between them that
 * nothing else uses. Each call, from the last to the first, is replaced by the farthest of its
 * ancestors, else by the nearest; if only the nearest keeps the failure, bisection finds the
 * farthest that does. A call that cannot be replaced by its nearest ancestor is needed. If a call
 * is known to be needed, the replacement must depend on it. */
#include <math.h>
#include <stdlib.h>

#include "minify/passes/pass_edits.h"
#include "minify/search/likely.h"

struct targets {
    node_id *nodes; /* in ascending order */
    uint32_t n;
    node_id of;
};

static void mark_ancestor(void *user, node_id id)
{
    bool *ancestor = user;
    ancestor[id] = true;
}

static bool may_stand_in(const struct graph *graph, node_id id, node_id for_)
{
    return graph->nodes[id].meta == graph->nodes[for_].meta &&
           node_is_value(graph, &graph->nodes[id]);
}

struct reference_query {
    const bool *comes;
    bool any;
};

static void see_coming(void *user, node_id id)
{
    struct reference_query *c = user;
    c->any |= c->comes[id];
}

/* Keeps only targets that depend on the last needed ancestor, if there are any. */
static bool keep_needed(struct targets *t, const struct search *search, const struct graph *graph,
                        const bool *ancestor)
{
    node_id last = t->of;
    while (last-- > 0)
        if (ancestor[last] && search_is_needed(search, graph->nodes[last].name, NEEDED_CALL))
            break;
    if (last == NODE_NONE || t->n == 0 || last > t->nodes[t->n - 1])
        return true;
    bool *comes = calloc((size_t)t->of + 1, sizeof *comes);
    struct reference_query c = { .comes = comes };
    uint32_t n = 0;
    for (node_id id = last; comes && id < t->of; id++) {
        c.any = id == last;
        node_references(graph, &graph->nodes[id], see_coming, &c);
        comes[id] = c.any;
    }
    if (comes && comes[t->nodes[t->n - 1]]) {
        for (uint32_t i = 0; i < t->n; i++)
            if (comes[t->nodes[i]])
                t->nodes[n++] = t->nodes[i];
        t->n = n;
    }
    free(comes);
    return comes != NULL;
}

/* Finds ancestors of the same meta, or else earlier values. With `search`, leaves out those that
 * are excluded by calls known to be needed. */
static bool find_targets(struct targets *t, const struct search *search, const struct graph *graph,
                         node_id of)
{
    t->nodes = calloc((size_t)of + 1, sizeof *t->nodes);
    bool *ancestor = calloc((size_t)of + 1, sizeof *ancestor);
    t->of = of;
    t->n = 0;
    if (t->nodes && ancestor) {
        ancestor[of] = true;
        for (node_id id = of + 1; id-- > 0;)
            if (ancestor[id])
                node_references(graph, &graph->nodes[id], mark_ancestor, ancestor);
        for (int round = 0; round < 2 && t->n == 0; round++)
            for (node_id id = 0; id < of; id++)
                if (ancestor[id] == (round == 0) && may_stand_in(graph, id, of))
                    t->nodes[t->n++] = id;
    }
    bool ok = t->nodes && ancestor && (!search || keep_needed(t, search, graph, ancestor));
    free(ancestor);
    return ok;
}

static bool make_bypass_edit(void *user, uint32_t x, struct edit *edit)
{
    const struct targets *t = user;
    *edit = (struct edit){ EDIT_BYPASS, t->of, t->nodes[x], 0 };
    return true;
}

/* Returns by target the weight of being the farthest that keeps the failure, with that of none at
 * t->n: of an operator that is needed, the last call has to stay. NULL: out of memory. */
static float *weigh_targets(const struct targets *t, const struct graph *graph)
{
    uint32_t n = 0, place = t->n;
    node_id *calls = calloc((size_t)t->of + 1, sizeof *calls);
    uint32_t *places = calloc((size_t)t->of + 1, sizeof *places);
    float *weight = calloc((size_t)t->n + 1, sizeof *weight);
    bool good = calls && places && weight;
    for (node_id id = t->of + 1; good && id-- > t->nodes[0] + 1;) {
        while (place > 0 && t->nodes[place - 1] >= id)
            place--;
        if (!is_whole_call(graph, id))
            continue;
        calls[n] = id;
        places[n++] = place;
    }
    good = good && likely_weigh(graph, calls, places, n, weight);
    free(calls);
    free(places);
    if (good)
        return weight;
    free(weight);
    return NULL;
}

/* After a call was replaced by its nearest ancestor, replaces that ancestor by the farthest of its
 * own that keeps the failure. */
static bool collapse_on(struct search *search, node_id of, node_id *next)
{
    const struct graph *graph = search_best(search)->graph;
    struct targets t = { .n = 0 };
    struct edits none = { .failed = true };
    uint32_t least = 0;
    bool good = find_targets(&t, search, graph, of);
    float *weight = good && t.n > 1 ? weigh_targets(&t, graph) : NULL;
    /* Names outlive the graph, since texts are shared. */
    struct str *names = good ? calloc((size_t)t.n + 1, sizeof *names) : NULL;
    if (!names || (t.n > 1 && !weight)) {
        good = edits_try(search, &none, NULL);
    } else if (t.n > 1) {
        for (uint32_t i = 0; i < t.n; i++)
            names[i] = graph->nodes[t.nodes[i]].name;
        good = search_least(search, 1, t.n, weight, make_bypass_edit, &t, &least);
        if (good && least < t.n)
            *next = find_node_named(search_best(search)->graph, names[least]) + 1;
    }
    free(names);
    free(weight);
    free(t.nodes);
    return good;
}

struct user_of {
    node_id id;
    bool uses;
};

static void see_use(void *user, node_id id)
{
    struct user_of *u = user;
    u->uses |= u->id == id;
}

static bool uses_node(const struct graph *graph, node_id id, node_id used)
{
    struct user_of u = { .id = used };
    node_references(graph, &graph->nodes[id], see_use, &u);
    return u.uses;
}

/* Tries to replace a call by a target. The more calls that removes, the less likely it is
 * accepted. */
static bool try_target(struct search *search, const struct targets *t, uint32_t x, bool *accepted)
{
    const double fewer = 0.7;
    struct edits edits = { .failed = false };
    const struct edit edit = { EDIT_BYPASS, t->of, t->nodes[x], 0 };
    bool fits;
    double before = (double)candidate_size(search_best(search)).part[SIZE_CALLS];
    uint64_t calls = 0;
    if (!search_fits(search, &edit, 1, &fits, &calls))
        return false;
    if (fits && before > 1)
        search_expect(search, pow(fmax(0, (double)calls - 1) / (before - 1), fewer));
    edits_add(&edits, edit.kind, edit.a, edit.b, 0);
    return edits_try(search, &edits, accepted);
}

/* Replaces a call and sets *next to the call to continue with. */
static bool collapse_chain(struct search *search, const struct targets *t, node_id *next)
{
    const struct graph *graph = search_best(search)->graph;
    struct str far_name = graph->nodes[t->nodes[0]].name;
    struct str near_name = graph->nodes[t->nodes[t->n - 1]].name;
    bool far, near = false;
    *next = t->of;
    struct str name = graph->nodes[t->of].name;
    bool direct = uses_node(graph, t->of, t->nodes[t->n - 1]);
    if (!try_target(search, t, 0, &far) ||
        (!far && t->n > 1 && !try_target(search, t, t->n - 1, &near)))
        return false;
    if (!far && !near && direct)
        search_note_needed(search, name, NEEDED_CALL);
    graph = search_best(search)->graph;
    if (far)
        *next = find_node_named(graph, far_name) + 1;
    else if (near)
        *next = find_node_named(graph, near_name) + 1;
    if (!near || *next == 0)
        return true;
    return collapse_on(search, *next - 1, next);
}

bool pass_bypass(struct search *search)
{
    node_id id = search_best(search)->graph->n_nodes - 1;
    while (id-- > 0) {
        const struct graph *graph = search_best(search)->graph;
        struct targets t = { .n = 0 };
        struct edits none = { .failed = true };
        if (id >= graph->n_nodes || !node_is_call(&graph->nodes[id]) ||
            !node_is_value(graph, &graph->nodes[id]) ||
            search_is_needed(search, graph->nodes[id].name, NEEDED_CALL))
            continue;
        if (!find_targets(&t, search, graph, id)) {
            free(t.nodes);
            return edits_try(search, &none, NULL);
        }
        bool good = t.n == 0 || collapse_chain(search, &t, &id);
        free(t.nodes);
        if (!good)
            return false;
    }
    return true;
}

/* Proposes to replace each call by its nearest ancestor: a farther one would remove more than one
 * part. */
void propose_bypasses(const struct candidate *best, struct edits *edits)
{
    for (node_id id = 0; id + 1 < best->graph->n_nodes; id++) {
        struct targets t = { .n = 0 };
        if (!node_is_call(&best->graph->nodes[id]) ||
            !node_is_value(best->graph, &best->graph->nodes[id]))
            continue;
        edits->failed |= !find_targets(&t, NULL, best->graph, id);
        if (t.n && t.nodes) {
            edits_propose(edits);
            edits_add(edits, EDIT_BYPASS, id, t.nodes[t.n - 1], 0);
        }
        free(t.nodes);
    }
}
