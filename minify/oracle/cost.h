/* What the compile of a graph costs: what the shape engine counts while it replays the graph, in
 * all and by operator. Counts are those of one walk of the graph, whatever PyTorch's caches would
 * have answered. Seconds are an estimate of the caller's, in milliseconds here: no walk has them.
 *
 *     struct cost_table table;
 *     if (cost_table_make(&table, candidate, &err)) look(table.total, table.rows);
 *     cost_table_release(&table); */
#ifndef SYMTAPE_MINIFY_ORACLE_COST_H
#define SYMTAPE_MINIFY_ORACLE_COST_H

#include "minify/candidate/candidate.h"
#include "replay/attempt/graph_replay.h"
#include "trace/base/vec.h"

/* X(id, name, by operator, description) */
#define COSTS_OF(X)                                                                                \
    X(GUARDS, "guards", true, "guards that the calls add")                                         \
    X(DISPATCHES, "dispatches", true, "dispatches, those of decompositions included")              \
    X(EVALUATIONS, "evaluations", true, "evaluations of symbolic conditions")                      \
    X(SYMBOLIC, "symbolic-tensors", true, "tensors with a symbolic size that calls make")          \
    X(EXPR_SIZE, "expr-size", true, "nodes of the largest size of a result, as sympy counts them") \
    X(EXPRS, "exprs", false, "distinct expressions, those of the recording included")              \
    X(CALLS, "calls", true, "calls of the graph")                                                  \
    X(SECONDS, "seconds", true, "estimated time of compiling")

enum cost {
#define COST(id, name, by_operator, description) GRAPH_COST_##id,
    COSTS_OF(COST)
#undef COST
        COSTS
};

const char *cost_name(enum cost cost); /* "guards" */
const char *cost_description(enum cost cost);
bool cost_is_by_operator(enum cost cost); /* whether rows of operators have it */

struct cost_counts {
    uint64_t of[COSTS];
};

/* Appends a number of a cost as options have it: "40", "1.25" of seconds. */
void cost_put(struct buf *out, enum cost cost, uint64_t n);

/* The nodes of the expressions that PyTorch's time grows with, as sympy counts them: of those that
 * were evaluated by their ranges (env_counts.evaluated_nodes), and of the guards; and the number of
 * distinct expressions. */
struct cost_nodes {
    uint64_t evaluated, guards, exprs;
};

/* Estimates the milliseconds that compiling a graph takes, whose walk had these nodes. Threads call
 * it at once. */
typedef bool cost_estimate(const struct candidate *candidate, struct cost_nodes nodes, uint64_t *ms,
                           struct err *err);

/* A cost as an option gives it: "guards>=40", "seconds>=2.5", or "guards" without a number. */
struct cost_limit {
    enum cost cost;
    uint64_t least;
    bool has_least;
};
/* Returns false with ERR_USAGE if the text is no cost. */
bool cost_read(struct str text, struct cost_limit *ret, struct err *err);

/* Returns the graph as PyTorch compiles it, whose inputs have no expressions: each of their
 * compound sizes becomes a symbol, where that is valid. NULL: err is set. */
struct candidate *cost_program(const struct candidate *candidate, struct err *err);
/* Returns whether an input of such a graph has a compound size all the same. */
bool cost_keeps_compound(const struct candidate *program);

/* Returns the counts of the last walk of the graph by engines_walk(), without seconds. */
struct cost_counts cost_of_walk(const struct graph_replay *single, const struct graph *graph);
struct cost_nodes cost_nodes_of_walk(const struct graph_replay *single);

struct graph_cost_row {
    struct str op;             /* "aten.add.Tensor" */
    struct cost_counts counts; /* of its calls; expr-size: the largest of their results */
    uint64_t symbolic_sizes;   /* of their results */
    struct cost_nodes nodes;   /* of what they evaluate, and of the guards that they add */
};

struct cost_table {
    vec_of(struct graph_cost_row)
    rows;                     /* in the order of the first calls */
    struct cost_counts total; /* guards and evaluations also for inputs, which are in no row */
    struct cost_nodes nodes;  /* in all, those for inputs included */
    struct arena arena;
};

/* Leaves seconds 0. Returns false when out of memory, or when the graph cannot be replayed at all.
 */
bool cost_table_make(struct cost_table *ret, const struct candidate *candidate, struct err *err);
void cost_table_release(struct cost_table *table); /* accepts a zeroed one */

/* Returns half of what the graph costs, the limit that is proposed to a user; 0 if it costs none.
 */
uint64_t cost_half(const struct cost_table *table, enum cost cost);

#endif
