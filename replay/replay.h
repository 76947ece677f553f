/* The replay room's manual: recorded graphs are replayed by the shape engine and compared.
 *
 *     struct replay_options options = REPLAY_OPTIONS_DEFAULT;
 *     struct replay *replay = replay_trace(trace, &options, &err);
 *     for (size_t i = 0; i < replay->n_graphs; i++) print(&replay->graphs[i]);
 *     replay_free(replay);
 *
 * A replay consists of attempts: each has one environment (replay/shape/env/env.h), started from
 * its own records (replay/attempt/inputs.h), and one operators' context
 * (replay/ops/dispatch/ops.h); its graphs are walked in the order of their records
 * (replay/program/program.h, replay/program/walk.h). Recorded guards are matched with replayed
 * ones (replay/attempt/guard_log.h). The result owns its texts; the trace must stay open as long
 * as the result is used. */
#ifndef SYMTAPE_REPLAY_REPLAY_H
#define SYMTAPE_REPLAY_REPLAY_H

#include "replay/attempt/changes/change.h"
#include "replay/attempt/contradictions/contradictions.h"
#include "replay/attempt/dispatch_passes.h"
#include "replay/attempt/guard_log.h"
#include "replay/ops/dispatch/ablations.h"
#include "replay/ops/model/stats.h"
#include "trace/graphs.h"
#include "trace/selector.h"

/* A guard of the program's own Python code that is false at other hints: the program branches
 * there, so that the replay of the attempt ends there. */
struct replay_branch {
    uint32_t attempt;
    const struct guard *guard;
};

/* An attempt at its end, for an observer. */
struct replay_end {
    uint32_t attempt;
    struct shape_env *env; /* with its events */
    struct guard_log *log; /* the recorded guards, all of them parsed */
    bool partial;          /* the replay ended before the attempt's last call, or a graph failed */
    void *run;             /* for replay_place_of() */
};
/* Where a node of a graph asked. */
struct replay_place {
    uint32_t ref;                       /* its graph, or TRACE_NONE: no node asked */
    struct str node;                    /* "" when no node asked */
    const struct graph *location_graph; /* the graph of `location` */
    uint32_t location;                  /* LOCATION_NONE when the line is not known */
};
struct replay_place replay_place_of(const struct replay_end *end, struct env_origin origin);
/* Called at the end of each attempt, in the thread that replays it; an attempt may be replayed
 * several times. What it returns is dropped, or belongs to the attempt's result and is taken. NULL:
 * err is set. */
struct replay_observer {
    void *(*end)(void *user, const struct replay_end *end, struct err *err);
    void (*drop)(void *observed);
    /* Takes over what `end` returned, attempt by attempt, in their order, at the end of the replay.
     */
    bool (*take)(void *user, uint32_t attempt, void *observed);
    void *user;
};

struct replay_options {
    struct selector selector;         /* selects attempts and graphs */
    bool all;                         /* includes graphs of other events and artifacts */
    uint32_t jobs;                    /* number of attempts replayed at once; 0: one */
    bool timing;                      /* measures operators' times */
    const struct custom_rules *rules; /* rules of custom operators (ops/decomp/custom.h), or NULL */
    int torch; /* as this release of PyTorch (213: 2.13); 0: as the one that recorded the tape */
    struct input_changes changes;
    const struct replay_branch *until; /* attempts end at these guards, for comparison */
    size_t n_until;
    const struct replay_ablation *ablations;
    size_t n_ablations;
    bool no_memo, no_model; /* without symtape's own layers (replay/ops/layers.h) */
    /* The number of times that each graph is walked again after its first walk; the fastest time is
     * warm_ns. begin is called with true before and false after each of these walks. */
    uint32_t warm;
    void (*on_warm)(void *user, bool begin);
    void *on_warm_user;
    bool digests; /* computes digests of results, by which two replays can be compared */
    bool audit;   /* counts calls that the fast path could have handled */
    bool passes;  /* counts as PyTorch does (replay/attempt/dispatch_passes.h) */
    bool ahead;   /* with `passes`: also what AOTAutograd would do with graphs of Dynamo alone,
                   * without gradients */
    bool calls;   /* lists the calls of operators as cases */
    bool trails;  /* lists guards and replacements at the end, as texts */
    const struct replay_observer *observer; /* or NULL */
};
#define REPLAY_OPTIONS_DEFAULT ((struct replay_options){ .selector = SELECTOR_ALL })

/* What a replay does otherwise than PyTorch, to count what that would save. */
struct replay_ablation {
    enum ablation ablation;
    struct str op; /* "aten.relu", or with its overload; "": of all operators */
};

struct replay_counts {
    uint64_t graphs, calls, match, mismatch, refused, unsupported, adopted;
    uint64_t ns; /* processor time of the walk */
};

struct replay_graph {
    uint32_t ref; /* index in trace_graphs() */
    bool counted; /* it is from one of the five events: part of the totals */
    struct replay_counts counts;
    uint64_t warm_ns;
    struct str error; /* why it could not be walked, or "" */
};

/* A call's result as a number: equal in two replays where the meta is. */
struct replay_digest {
    uint32_t ref;
    struct str graph, node; /* graph: the subgraph's name, "" for the root */
    uint64_t hash;
};

/* A call whose result differs from the recorded one. */
struct replay_difference {
    uint32_t ref;
    enum outcome outcome;
    bool derived;                       /* an argument differs already */
    struct str graph, node, op, rule;   /* graph: the subgraph's name, "" for the root */
    struct str recorded, replayed;      /* metas; for a refusal replayed is its error */
    const struct graph *location_graph; /* the graph of `location` */
    uint32_t location;
};

/* A guard and whether it is recorded, replayed or both. */
struct replay_guard {
    const struct guard *guard; /* NULL for an extra guard */
    uint32_t attempt;
    struct str expr;
    enum guard_status status;
    uint32_t ref;          /* the graph whose node added it; TRACE_NONE */
    struct str node, rule; /* "" when no node added it */
};

struct replay_guard_counts {
    uint64_t recorded, reproduced, missing, extra, invisible, no_graph;
    uint64_t torch_function, dynamo, backend, user; /* only for GUARD_EVAL */
    uint64_t computed; /* of those recorded, of all classes; the others are from the record */
    uint64_t suppressed, asserts;
};

/* The costs of replaying all attempts. With `passes`, dispatches, hits, misses and the fast path
 * are what PyTorch would count, else those of one walk of each graph. */
struct replay_costs {
    uint64_t symbols, guards, replacements, asserts;
    uint64_t dispatches, hits, misses, exprs, evaluations, symbolic_tensors;
    uint64_t fast_attempts, fast_answers;
    /* With `passes`: dispatches of FakeTensor and of the proxy mode, and the number of attempts
     * that have passes (not those of a .pt2, which Dynamo did not trace). */
    uint64_t fake_tensor, proxy, modelled;
    uint64_t ns;
};

/* An item of the environment's state at the end, in PyTorch's words: "Eq(s97, 2)", "s97 = 2". */
struct replay_trail {
    uint32_t attempt;
    bool replacement;
    struct str text;
};

/* A ConstraintViolationError that PyTorch would raise at an attempt's end. */
struct replay_violation {
    uint32_t attempt;
    struct str text;
};

struct replay_stack {
    const struct graph *location_graph;
    uint32_t location; /* LOCATION_NONE when the line is not known */
    uint64_t calls, dispatches, guards, exprs, symbolic_tensors, ns;
};

struct replay_operator {
    struct str op;
    struct op_stats stats;
    uint64_t could_be_fast;            /* set with `audit` */
    const struct replay_stack *stacks; /* sorted by calls, most first */
    size_t n_stacks;
};

/* A call of an operator, of which equal ones in an attempt are one row. */
struct replay_call {
    uint32_t ref; /* the graph of the first of them */
    uint64_t count;
    struct str text;        /* a case (replay/cases/op_case.h) without its closing brace */
    struct str graph, node; /* graph: the subgraph's name, "" for the root */
    const struct graph *location_graph;
    uint32_t location; /* LOCATION_NONE when the line is not known */
};

struct replay_unsupported {
    struct str op;
    uint64_t calls;
};

struct replay {
    struct replay_counts totals; /* those of the five events, as symtape-info(1) counts them */
    struct replay_counts others; /* those of other graphs */
    struct replay_graph *graphs; /* in the order of their records */
    size_t n_graphs;
    struct replay_difference *differences;
    size_t n_differences;
    struct replay_unsupported *unsupported; /* sorted by calls, most first */
    size_t n_unsupported;
    struct replay_guard *guards;
    size_t n_guards;
    struct replay_guard_counts guard_counts;
    struct replay_costs costs;
    struct pass_counts passes[PASSES];    /* set with `passes` */
    struct pass_operator *pass_operators; /* sorted by pass, then by dispatches, most first */
    size_t n_pass_operators;
    size_t expression_bytes;       /* the expressions' memory in the largest environment */
    struct replay_digest *digests; /* set with `digests`: a row for each call, in their order */
    size_t n_digests;
    struct replay_violation *violations;
    size_t n_violations;
    struct replay_branch *branches;
    size_t n_branches;
    struct contradiction *contradictions; /* records that others contradict */
    size_t n_contradictions;
    struct replay_trail *trails;
    size_t n_trails;
    struct replay_call *calls; /* set with `calls`: by attempt, in the order of first calls */
    size_t n_calls;
    struct replay_operator *operators; /* sorted by name */
    size_t n_operators;
    struct arena arena;
};

/* Returns NULL on failure. For a graph that cannot be walked its row has the error. */
struct replay *replay_trace(struct trace *trace, const struct replay_options *options,
                            struct err *err);
void replay_free(struct replay *replay); /* accepts NULL */

/* Returns whether all calls that count match, none is adopted, and no record contradicts another.
 */
static inline bool replay_all_match(const struct replay *replay)
{
    const struct replay_counts *t = &replay->totals;
    return t->match == t->calls && t->adopted == 0 && replay->n_contradictions == 0;
}

#endif
