/* One attempt's replay: its initial environment, its graphs, its guards. Only for this room. */
#ifndef SYMTAPE_REPLAY_ATTEMPT_ATTEMPT_H
#define SYMTAPE_REPLAY_ATTEMPT_ATTEMPT_H

#include "replay/attempt/contradictions/contradictions.h"
#include "replay/attempt/replay_state.h"
#include "replay/program/walk.h"
#include "replay/replay.h"

struct attempt_graph {
    uint32_t ref, record;
    enum graph_kind kind;
    bool counted, shown; /* shown: the selector names it; others are walked for their guards */
    const struct graph *graph; /* NULL after an error */
    struct str error;
};

/* What is loaded from the trace before the replay, which does not access the trace. */
struct attempt_load {
    uint32_t attempt; /* TRACE_NONE: a graph that belongs to no attempt, as a program of a .pt2 */
    struct inputs inputs;
    const struct trace *trace; /* for stacks of frames */
    bool by_hint; /* inputs differ from the recorded ones: equal hints count as equal */
    const struct guard_list *guards;
    uint32_t guards_from;         /* the first record whose guards are this replay's */
    const struct symbol *symbols; /* those of a program outside compiles */
    uint32_t n_symbols;
    struct attempt_graph *graphs;
    size_t n_graphs;
    struct attempt_graph substitute;    /* of an attempt without graphs: substitutes.h */
    bool substitute_is_same;            /* it is a graph of the same compile */
    const struct op_catalog *operators; /* shared by all attempts; NULL if none has a graph */
    const struct symbol_table *table;   /* for specializations; NULL for a .pt2 */
    struct contradictions settled; /* those that were found, and corrected, before the replay */
    bool scalar_outputs;
    bool autograd;       /* AOTAutograd traces a backward, so that autograd records the calls */
    bool inductor;       /* Inductor compiled it, and decomposes operators that others leave */
    uint64_t inner_mods; /* of env_settings */
    struct guard_stop stop;
    enum denied_guard instead; /* of recorded guards that are false at the hints */
};

/* The result of an attempt; its texts belong to the arena. */
struct attempt_result {
    struct attempt_load *load;
    vec_of(struct replay_graph)
    graphs;
    vec_of(struct replay_difference)
    differences;
    vec_of(struct replay_guard)
    guards;
    struct replay_guard_counts guard_counts;
    vec_of(struct replay_unsupported)
    unsupported;
    vec_of(struct replay_operator)
    operators;
    vec_of(struct replay_trail)
    trails;
    struct intern call_texts;
    vec_of(struct replay_call)
    calls;                                /* by id in call_texts */
    struct contradictions contradictions; /* those that the replay found */
    struct str violation;                 /* the text of a violated constraint, or "" */
    struct replay_costs costs;
    const struct guard *branch; /* where the program goes another way, or NULL */
    uint32_t n_denied;          /* the guards that were false at the hints */
    uint64_t choices;           /* the number of decisions that depended on inner_mods */
    struct pass_counts passes[PASSES];
    struct pass_operators pass_operators; /* names belong to the operators' context until merged */
    vec_of(struct replay_digest)
    digests;
    size_t expression_bytes;
    void *observed; /* by options->observer, or NULL */
    void (*drop)(void *observed);
    struct arena arena;
    struct err err; /* of kind ERR_NONE after success */
};

void attempt_replay(const struct replay_options *options, struct attempt_load *load,
                    struct attempt_result *result);
void attempt_result_release(struct attempt_result *result);

/* collect.c: adds the results of a walked program. */
struct result_collector {
    struct attempt_result *result;
    struct ops *ops;
    struct replay_graph *graph; /* its row */
    struct buf text;
    bool digests;
    bool partial;                  /* the walk ended before the program's last call */
    const uint64_t *could_be_fast; /* by operator, or NULL */
    bool failed;
};
void collect_program(struct result_collector *c, const struct program *program);
void collect_calls(struct result_collector *c, const struct program *program);
void collect_trails(struct result_collector *c, struct shape_env *env);
void collect_operators(struct result_collector *c, const struct graph *const *stack_graph,
                       const uint32_t *stack_location, uint32_t n_stacks);

#endif
