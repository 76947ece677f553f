/* One graph through an environment of its own: for who asks the same of many graphs that are alike
 * (minify/oracle/oracle_shape.h), so that starting is cheap.
 *
 *     struct graph_replay *replay = graph_replay_new(NULL, &err);
 *     if (graph_replay_walk(replay, &graph, &err)) look(replay->program->notes, replay->env);
 *     graph_replay_free(replay);
 *
 * Inputs are what the graph prints of them, over the symbols that are given. What the walk left
 * (program, environment) stands until the next one. One thread at a time. */
#ifndef SYMTAPE_REPLAY_ATTEMPT_GRAPH_REPLAY_H
#define SYMTAPE_REPLAY_ATTEMPT_GRAPH_REPLAY_H

#include "replay/program/inject.h"
#include "replay/program/traced.h"
#include "replay/program/walk.h"

struct custom_rules; /* replay/ops/decomp/custom.h */

/* Bounds that are none are INT64_MIN and INT64_MAX. */
struct graph_replay_symbol {
    struct str name, source;
    bool backed, is_float, has_hint;
    int64_t hint;
    double float_hint;
    int64_t min, max;
};

/* A guard or deferred assert that no node asks for; it comes before that node of the root. */
struct graph_replay_guard {
    struct str expr; /* sympy's str() */
    bool deferred;
    uint32_t node;
};

struct graph_replay_input {
    const struct graph *graph;
    enum graph_kind kind;
    const struct graph_replay_symbol *symbols;
    uint32_t n_symbols;
    const struct graph_replay_guard *guards; /* sorted by node */
    uint32_t n_guards;
    /* Symbols are their hints: numbers go through the calls, and guards are left out. */
    bool concrete;
    bool by_hint;                   /* sizes of equal hints are equal */
    const struct injection *inject; /* wrong on purpose; NULL */
};

struct graph_replay {
    struct ops *ops;
    struct shape_env *env; /* of the last walk */
    struct program *program;
    struct walker walker;
    struct traced traced;
    const struct graph_replay_input *graph; /* while walking */
    sym_id *symbols;                        /* by symbol: what it stands for */
    uint32_t next_guard;
    uint32_t given_guards;  /* guards that the walk has from those of the caller */
    struct str guard_error; /* of the caller's first guard that depends on data; "" */
    bool traces;
    /* Asked after each call of the root; false ends the walk there, which is no failure. */
    bool (*more)(void *user, struct graph_replay *replay, const struct step *step);
    void *more_user;
    struct arena arena;
};

struct graph_replay *graph_replay_new(const struct custom_rules *rules, struct err *err);
void graph_replay_free(struct graph_replay *replay); /* NULL is fine */

/* False: out of memory, or a graph that cannot be walked at all. */
bool graph_replay_walk(struct graph_replay *replay, const struct graph_replay_input *graph,
                       struct err *err);
/* Ends comparing: notes of the program are final then. */
void graph_replay_finish(struct graph_replay *replay);

/* The storage of what a node of the root gave; STORAGE_FRESH of what is no tensor. */
uint32_t graph_replay_storage(const struct graph_replay *replay, node_id id);

#endif
