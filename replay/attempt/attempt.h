/* One attempt's replay: the environment it starts from, its graphs, its guards. Inside the room. */
#ifndef SYMTAPE_REPLAY_ATTEMPT_ATTEMPT_H
#define SYMTAPE_REPLAY_ATTEMPT_ATTEMPT_H

#include "replay/attempt/replay_state.h"
#include "replay/program/walk.h"
#include "replay/replay.h"

/* What is loaded from the trace before, so that the replay itself touches it no more. */
struct attempt_load {
    uint32_t attempt; /* TRACE_NONE: graphs that belong to none (one program of a .pt2) */
    struct inputs inputs;
    const struct trace *trace; /* for stacks of frames */
    bool by_hint;              /* inputs are not as recorded: sizes of equal hints are equal */
    const struct guard_list *guards;
    const struct symbol *symbols; /* of an exported program */
    uint32_t n_symbols;
    struct attempt_graph *graphs;
    size_t n_graphs;
    bool scalar_outputs;
    bool inductor;   /* the attempt went to it, which decomposes what others leave */
    bool inner_mods; /* of env_settings */
};

struct attempt_graph {
    uint32_t ref, record;
    enum graph_kind kind;
    bool counted, shown; /* shown: the selector names it; others are walked for what they ask */
    const struct graph *graph; /* NULL: error */
    struct str error;
};

/* What comes of it; texts belong to the arena. */
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
    struct str violation; /* of constraints; "" */
    struct replay_costs costs;
    uint64_t choices; /* that inner_mods decided */
    struct pass_counts passes[PASSES];
    struct pass_operators pass_operators; /* names are the operators' context's until kept */
    uint64_t digest;
    size_t expression_bytes;
    struct arena arena;
    struct err err; /* of kind ERR_NONE: done */
};

void attempt_replay(const struct replay_options *options, struct attempt_load *load,
                    struct attempt_result *result);
void attempt_result_release(struct attempt_result *result);

/* collect.c: what a walked program comes to. */
struct collecting {
    struct attempt_result *result;
    struct ops *ops;
    struct replay_graph *graph; /* its row */
    struct buf text;
    bool digests;
    const uint64_t *could_be_fast; /* by operator, or NULL */
    bool failed;
};
void collect_program(struct collecting *c, const struct program *program);
void collect_trails(struct collecting *c, struct shape_env *env);
void collect_operators(struct collecting *c, const struct graph *const *stack_graph,
                       const uint32_t *stack_location, uint32_t n_stacks);

#endif
