#include "minify/search/likely.h"

#include <math.h>

#include "trace/base/hash.h"
#include "trace/base/vec.h"

/* The weights of the first call of an operator, of the first of an operator with results of one
 * meta, and of any call. */
static const float of_operator = 0.6F, of_meta = 0.2F, of_any = 0.2F;

struct call_kind {
    uint64_t hash;
    uint32_t place, n;
};
struct call_kinds {
    vec_of(struct call_kind)
    list;
};

static bool count_kind(struct call_kinds *kinds, uint64_t hash, uint32_t place)
{
    for (size_t i = 0; i < kinds->list.n; i++)
        if (kinds->list.v[i].hash == hash) {
            kinds->list.v[i].n++;
            return true;
        }
    return vec_push(&kinds->list, ((struct call_kind){ hash, place, 1 }));
}

struct met {
    const struct graph *graph;
    const node_id *calls;
    const uint32_t *place;
    uint32_t n;
};

static bool weigh_kinds(const struct met *met, bool by_meta, float share, float *weight)
{
    struct call_kinds kinds = { 0 };
    bool good = true;
    float all = 0;
    for (uint32_t i = 0; i < met->n && good; i++) {
        const struct node *node = &met->graph->nodes[met->calls[i]];
        uint64_t hash = hash_mix(hash_str(node->target), by_meta ? node->meta : 0);
        good = count_kind(&kinds, hash, met->place[i]);
    }
    for (size_t i = 0; i < kinds.list.n; i++)
        all += 1 / sqrtf((float)kinds.list.v[i].n);
    for (size_t i = 0; i < kinds.list.n && good; i++)
        weight[kinds.list.v[i].place] += share / sqrtf((float)kinds.list.v[i].n) / all;
    vec_release(&kinds.list);
    return good;
}

bool likely_weigh(const struct graph *graph, const node_id *calls, const uint32_t *place,
                  uint32_t n, float *weight)
{
    const struct met met = { graph, calls, place, n };
    for (uint32_t i = 0; i < n; i++)
        weight[place[i]] += of_any / (float)n;
    return weigh_kinds(&met, false, of_operator, weight) &&
           weigh_kinds(&met, true, of_meta, weight);
}
