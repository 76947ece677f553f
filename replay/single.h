/* One graph through an environment of its own: for who asks the same of many graphs that are alike
 * (minify/oracle_replay.h), so that starting is cheap.
 *
 *     struct single *single = single_new(NULL, &err);
 *     if (single_walk(single, &graph, &err)) look(single->program->notes, single->env);
 *     single_free(single);
 *
 * Inputs are what the graph prints of them, over the symbols that are given. What the walk left
 * (program, environment) stands until the next one. One thread at a time. */
#ifndef SYMTAPE_REPLAY_SINGLE_H
#define SYMTAPE_REPLAY_SINGLE_H

#include "replay/inject.h"
#include "replay/traced.h"
#include "replay/walk.h"

/* Bounds that are none are INT64_MIN and INT64_MAX. */
struct single_symbol {
    struct str name, source;
    bool backed, is_float, has_hint;
    int64_t hint;
    double float_hint;
    int64_t min, max;
};

/* A guard or deferred assert that no node asks for; it comes before that node of the root. */
struct single_fact {
    struct str expr; /* sympy's str() */
    bool deferred;
    uint32_t node;
};

struct single_graph {
    const struct graph *graph;
    enum graph_kind kind;
    const struct single_symbol *symbols;
    uint32_t n_symbols;
    const struct single_fact *facts; /* by node */
    uint32_t n_facts;
    /* Symbols are their hints: numbers go through the calls, and facts are left out. */
    bool concrete;
    bool by_hint;                   /* sizes of equal hints are equal */
    const struct injection *inject; /* wrong on purpose; NULL */
};

struct single {
    struct ops *ops;
    struct shape_env *env; /* of the last walk */
    struct program *program;
    struct walker walker;
    struct traced traced;
    const struct single_graph *graph; /* while walking */
    sym_id *symbols;                  /* by symbol: what it stands for */
    uint32_t next_fact;
    uint32_t fact_guards; /* guards that facts added */
    struct str fact_error; /* of the first fact that depends on data; "" */
    bool traces;
    /* Asked after each call of the root; false ends the walk there, which is no failure. */
    bool (*more)(void *user, struct single *single, const struct step *step);
    void *more_user;
    bool ended;
    struct arena arena;
};

struct single *single_new(const struct custom_rules *rules, struct err *err);
void single_free(struct single *single); /* NULL is fine */

/* False: out of memory, or a graph that cannot be walked at all. */
bool single_walk(struct single *single, const struct single_graph *graph, struct err *err);
/* Ends comparing: notes of the program are final then. */
void single_finish(struct single *single);

/* The storage of what a node of the root gave; STORAGE_FRESH of what is no tensor. */
uint32_t single_storage(const struct single *single, node_id id);

#endif
