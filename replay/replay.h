/* The replay room's manual: recorded graphs through the shape engine, held beside the record.
 *
 *     struct replay_options options = REPLAY_OPTIONS_DEFAULT;
 *     struct replay *replay = replay_trace(trace, &options, &err);
 *     for (size_t i = 0; i < replay->n_graphs; i++) print(&replay->graphs[i]);
 *     replay_free(replay);
 *
 * A replay works through attempts: each has one environment (replay/shape/env/env.h), started from
 * its own records (replay/attempt/inputs.h), and one operators' context
 * (replay/ops/dispatch/ops.h); its graphs are walked in the order of their records
 * (replay/program/program.h, replay/program/walk.h). Guards of the record are accounted for
 * (replay/attempt/guard_log.h). What comes out is plain data that owns its texts; the trace must
 * stay open as long as it is looked at. */
#ifndef SYMTAPE_REPLAY_REPLAY_H
#define SYMTAPE_REPLAY_REPLAY_H

#include "replay/attempt/change.h"
#include "replay/attempt/guard_log.h"
#include "replay/attempt/passes.h"
#include "replay/ops/model/stats.h"
#include "trace/graphs.h"
#include "trace/selector.h"

struct replay_options {
    struct selector selector;         /* which attempts and graphs */
    bool all;                         /* graphs of other events and artifacts too */
    uint32_t jobs;                    /* attempts at once; 0: one */
    bool timing;                      /* operators' times */
    const struct custom_rules *rules; /* of custom operators (replay/ops/decomp/custom.h); NULL */
    struct input_changes changes;
    const struct replay_switch *switches; /* of the operators */
    size_t n_switches;
    /* After its first walk each graph is walked again so often, the fastest told as warm_ns. What
     * happens meanwhile can be watched: begin is true before, false after each of these walks. */
    uint32_t warm;
    void (*on_warm)(void *user, bool begin);
    void *on_warm_user;
    bool digests; /* of results, to tell whether two replays gave the same */
    bool audit;   /* calls that the fast path could have answered */
    bool passes;  /* what PyTorch counted (replay/attempt/passes.h) */
    bool trails;  /* guards and replacements at the end, as texts */
};
#define REPLAY_OPTIONS_DEFAULT ((struct replay_options){ .selector = SELECTOR_ALL })

/* What is taken away from the operators, to see what it was worth; of the last two, which are
 * symtape's own layers (replay/ops/layers.h), that nothing but time and counts depends on them. */
enum replay_switch_kind {
    SWITCH_FAST_PATH,
    SWITCH_CACHE, /* PyTorch's */
    SWITCH_FAST_PATH_OF,
    SWITCH_FREE,
    SWITCH_MEMO,
    SWITCH_MODEL
};
struct replay_switch {
    enum replay_switch_kind kind;
    struct str op; /* of FAST_PATH_OF and FREE: "aten.relu", or with its overload */
};

struct replay_counts {
    uint64_t graphs, calls, match, mismatch, refused, unsupported, adopted, ns;
};

struct replay_graph {
    uint32_t ref; /* of trace_graphs() */
    bool counted; /* one of the five events: part of the totals */
    struct replay_counts counts;
    uint64_t warm_ns;
    struct str error; /* why it could not be walked; "" */
};

/* A call that did not come out as recorded. */
struct replay_difference {
    uint32_t ref;
    enum outcome outcome;
    bool derived;                     /* an argument differs already */
    struct str graph, node, op, rule; /* graph: the subgraph's name, "" for the root */
    struct str recorded, replayed;    /* metas; replayed is the error of a refusal */
    const struct graph *of;           /* where location counts */
    uint32_t location;
};

/* A guard and what became of it. */
struct replay_guard {
    const struct guard *guard; /* NULL: extra */
    uint32_t attempt;
    struct str expr;
    enum guard_fate fate;
    uint32_t ref;          /* of the graph whose node asked; TRACE_NONE */
    struct str node, rule; /* "" where none did */
};

struct replay_guard_counts {
    uint64_t recorded, reproduced, missing, extra, invisible, no_graph;
    uint64_t torch_function, dynamo, backend, user; /* GUARD_EVAL only */
    uint64_t suppressed, asserts;
};

/* What the replay of all attempts cost. */
struct replay_costs {
    uint64_t symbols, guards, replacements, asserts;
    uint64_t dispatches, hits, misses, exprs, evaluations, symbolic_tensors;
    uint64_t fast_attempts, fast_answers;
    uint64_t ns;
};

/* What an environment held at the end, in PyTorch's words: "Eq(s97, 2)", "s97 = 2". */
struct replay_trail {
    uint32_t attempt;
    bool replacement;
    struct str text;
};

/* ConstraintViolationError, as PyTorch would raise it at an attempt's end. */
struct replay_violation {
    uint32_t attempt;
    struct str text;
};

struct replay_stack {
    const struct graph *of;
    uint32_t location; /* LOCATION_NONE: no line */
    uint64_t calls, dispatches, guards, exprs, symbolic_tensors, ns;
};

struct replay_operator {
    struct str op;
    struct op_stats stats;
    uint64_t could_be_fast;            /* with `audit` */
    const struct replay_stack *stacks; /* most calls first */
    size_t n_stacks;
};

struct replay_unsupported {
    struct str op;
    uint64_t calls;
};

struct replay {
    struct replay_counts totals; /* of the five events, as symtape-info(1) counts them */
    struct replay_counts others; /* of the rest */
    struct replay_graph *graphs; /* in the order of their records */
    size_t n_graphs;
    struct replay_difference *differences;
    size_t n_differences;
    struct replay_unsupported *unsupported; /* most calls first */
    size_t n_unsupported;
    struct replay_guard *guards;
    size_t n_guards;
    struct replay_guard_counts guard_counts;
    struct replay_costs costs;
    struct pass_counts passes[PASSES];    /* with `passes` */
    struct pass_operator *pass_operators; /* by pass, then most dispatches within first */
    size_t n_pass_operators;
    size_t expression_bytes; /* held by the largest of the environments */
    uint64_t digest;
    struct replay_violation *violations;
    size_t n_violations;
    struct replay_trail *trails;
    size_t n_trails;
    struct replay_operator *operators; /* by name */
    size_t n_operators;
    struct arena arena;
};

/* NULL on failure. Graphs that cannot be walked are told in their row, not a failure. */
struct replay *replay_trace(struct trace *trace, const struct replay_options *options,
                            struct err *err);
void replay_free(struct replay *replay); /* NULL is fine */

/* 100 % of the calls that count match, none adopted. */
static inline bool replay_all_match(const struct replay *replay)
{
    const struct replay_counts *t = &replay->totals;
    return t->match == t->calls && t->adopted == 0;
}

#endif
