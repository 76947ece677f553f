/* Replays one graph in its own environment; starting is cheap, for users that replay many similar
 * graphs (minify/oracle/oracle_shape.h).
 *
 *     struct graph_replay *replay = graph_replay_new(NULL, &err);
 *     if (graph_replay_walk(replay, &graph, &err)) look(replay->program->notes, replay->env);
 *     graph_replay_free(replay);
 *
 * Inputs are as the graph prints them, over the given symbols. The results of a walk (program,
 * environment) remain until the next one. For one thread at a time. */
#ifndef SYMTAPE_REPLAY_ATTEMPT_GRAPH_REPLAY_H
#define SYMTAPE_REPLAY_ATTEMPT_GRAPH_REPLAY_H

#include "replay/program/inject.h"
#include "replay/program/traced.h"
#include "replay/program/walk.h"

struct custom_rules; /* replay/ops/decomp/custom.h */

/* A missing bound is INT64_MIN or INT64_MAX. */
struct graph_replay_symbol {
    struct str name, source;
    bool backed, is_float, has_hint;
    int64_t hint;
    double float_hint;
    int64_t min, max;
};

/* A guard or deferred assert that no node adds; it is applied before that node of the root. */
struct graph_replay_guard {
    struct str expr; /* as sympy's str() prints it */
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
    /* Symbols are replaced by their hints: all sizes are numbers, and guards are left out. */
    bool concrete;
    int torch;                      /* the release of PyTorch; 0: TORCH_RELEASE_DEFAULT */
    bool by_hint;                   /* sizes with equal hints count as equal */
    const struct injection *inject; /* the fault to inject, or NULL */
};

struct graph_replay {
    struct ops *ops;
    struct shape_env *env; /* that of the last walk */
    struct program *program;
    struct walker walker;
    struct traced traced;
    const struct graph_replay_input *graph; /* during a walk */
    sym_id *symbols;                        /* by symbol: its expression */
    uint32_t next_guard;
    uint32_t given_guards;  /* how many of the walk's guards are the caller's */
    struct str guard_error; /* the error of the caller's first guard that depends on data, or "" */
    bool traces;
    /* Called before each call of the root, when the given guards before it were applied. */
    void (*before)(void *user, struct graph_replay *replay, const struct step *step);
    /* Called after each call of the root; false ends the walk there, which is no failure. */
    bool (*more)(void *user, struct graph_replay *replay, const struct step *step);
    void *more_user; /* of both */
    struct arena arena;
};

struct graph_replay *graph_replay_new(const struct custom_rules *rules, struct err *err);
void graph_replay_free(struct graph_replay *replay); /* accepts NULL */

/* Returns false when out of memory, or when the graph cannot be walked at all. */
bool graph_replay_walk(struct graph_replay *replay, const struct graph_replay_input *graph,
                       struct err *err);
/* Makes the postponed comparisons, after which the program's notes are final. */
void graph_replay_finish(struct graph_replay *replay);

/* Returns the storage of a node's result in the root, or STORAGE_FRESH when it is no tensor. */
uint32_t graph_replay_storage(const struct graph_replay *replay, node_id id);

#endif
