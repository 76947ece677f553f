#include "minify/candidate/engines.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "replay/ops/model/stats.h"
#include "trace/base/vec.h"

struct engines {
    atomic_uint refs;
    pthread_mutex_t lock;
    vec_of(struct graph_replay *)
    idle;
};

struct engines *engines_new(struct err *err)
{
    struct engines *ret = calloc(1, sizeof *ret);
    if (!ret)
        return err_nomem(err), NULL;
    atomic_init(&ret->refs, 1);
    pthread_mutex_init(&ret->lock, NULL);
    return ret;
}

struct engines *engines_hold(struct engines *engines)
{
    if (engines)
        atomic_fetch_add(&engines->refs, 1);
    return engines;
}

void engines_release(struct engines *engines)
{
    if (!engines || atomic_fetch_sub(&engines->refs, 1) != 1)
        return;
    for (size_t i = 0; i < engines->idle.n; i++)
        graph_replay_free(engines->idle.v[i]);
    vec_release(&engines->idle);
    pthread_mutex_destroy(&engines->lock);
    free(engines);
}

struct graph_replay *engines_take(struct engines *engines, struct err *err)
{
    struct graph_replay *ret = NULL;
    pthread_mutex_lock(&engines->lock);
    if (engines->idle.n)
        ret = engines->idle.v[--engines->idle.n];
    pthread_mutex_unlock(&engines->lock);
    return ret ? ret : graph_replay_new(NULL, err);
}

void engines_give(struct engines *engines, struct graph_replay *single)
{
    if (!single)
        return;
    pthread_mutex_lock(&engines->lock);
    bool kept = !ops_short_of_memory(single->ops) && vec_push(&engines->idle, single);
    pthread_mutex_unlock(&engines->lock);
    if (!kept)
        graph_replay_free(single);
}

void engines_graph(const struct candidate *candidate, struct graph_replay_symbol *symbols,
                   struct graph_replay_guard *guards, struct graph_replay_input *ret)
{
    for (uint32_t i = 0; i < candidate->n_symbols; i++) {
        const struct cand_symbol *s = &candidate->symbols[i];
        symbols[i] = (struct graph_replay_symbol){ .name = s->name,
                                                   .source = s->source,
                                                   .backed = s->backed,
                                                   .is_float = s->is_float,
                                                   .has_hint = s->has_hint,
                                                   .hint = s->hint,
                                                   .float_hint = s->float_hint,
                                                   .min = s->min,
                                                   .max = s->max };
    }
    for (uint32_t i = 0; i < candidate->n_guards; i++)
        guards[i] =
            (struct graph_replay_guard){ candidate->guards[i].expr, candidate->guards[i].deferred,
                                         candidate->guards[i].node };
    *ret = (struct graph_replay_input){ .graph = candidate->graph,
                                        .kind = candidate->kind,
                                        .torch = torch_release(candidate->torch_version),
                                        .symbols = symbols,
                                        .n_symbols = candidate->n_symbols,
                                        .guards = guards,
                                        .n_guards = candidate->n_guards };
}

bool engines_walk(struct graph_replay *single, const struct candidate *candidate,
                  const struct injection *inject, struct arena *arena, struct err *err)
{
    struct graph_replay_symbol *symbols =
        arena_array(arena, struct graph_replay_symbol, (size_t)candidate->n_symbols + 1);
    struct graph_replay_guard *guards =
        arena_array(arena, struct graph_replay_guard, (size_t)candidate->n_guards + 1);
    struct graph_replay_input *graph = arena_array(arena, struct graph_replay_input, 1);
    if (!symbols || !guards || !graph)
        return err_nomem(err);
    engines_graph(candidate, symbols, guards, graph);
    graph->inject = inject;
    graph->by_hint = true;
    ops_stats_clear(single->ops);
    return graph_replay_walk(single, graph, err) &&
           (!ops_short_of_memory(single->ops) || err_nomem(err));
}
