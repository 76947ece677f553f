/* Records of one attempt that contradict each other.
 *
 * A log says most things more than once. A size of an input is in its describe_tensor record, in
 * the record of its symbol, and in a placeholder of each graph; its storage has room for that size.
 * A guard was true at the hints when it was added. A specialization made a symbol a number. Where
 * records differ, the one that the others outvote is named, and the replay goes on with what the
 * others say, so that nothing else is blamed for it.
 *
 * contradictions_settle() compares the records of the inputs before the replay,
 * contradictions_check() those of the guards after it. */
#ifndef SYMTAPE_REPLAY_ATTEMPT_CONTRADICTIONS_CONTRADICTIONS_H
#define SYMTAPE_REPLAY_ATTEMPT_CONTRADICTIONS_CONTRADICTIONS_H

#include "replay/attempt/guard_log.h"
#include "replay/attempt/inputs.h"
#include "replay/attempt/replay_state.h"
#include "trace/base/hash_index.h"
#include "trace/events/symbols.h"
#include "trace/graphs.h"

enum contradiction_kind {
#define KIND(id, name) CONTRADICTION_##id,
#include "replay/attempt/contradictions/contradictions.def"
#undef KIND
    CONTRADICTION_KINDS
};
const char *contradiction_name(enum contradiction_kind kind); /* "hint", "description", ... */

/* A record that others contradict. */
struct contradiction {
    enum contradiction_kind kind;
    uint32_t attempt;
    uint32_t record, beside; /* beside: one of the others; TRACE_NONE */
    uint32_t ref;            /* the graph of the node in trace_graphs(); TRACE_NONE */
    struct str name;         /* a node, a source, a symbol or a condition */
    struct str recorded, expected;
};

/* A placeholder whose recorded meta is wrong: `other` is a node with the right one, or NULL for the
 * input that has its name. */
struct other_input {
    const struct graph *other_graph;
    const struct node *node, *other;
};

struct contradictions {
    vec_of(struct contradiction)
    list;
    vec_of(struct other_input)
    others;
    struct hash_index other_index; /* by node */
    struct intern conditions;      /* those that are checked at each call, as Python prints them */
    struct arena arena;            /* the texts */
};
void contradictions_release(struct contradictions *c);

/* Returns the place of a placeholder whose recorded meta is wrong; NULL for all others. */
const struct other_input *contradictions_find(const struct contradictions *c,
                                              const struct node *node);
/* Adds one; where a node has one already, that remains. Returns false when memory ran out. */
bool contradictions_add_other(struct contradictions *c, struct other_input other);

/* A graph of the attempt; those without a `graph` could not be read. */
struct recorded_graph {
    uint32_t ref, record;
    enum graph_kind kind;
    const struct graph *graph;
};

/* The records that are compared before the replay. */
struct attempt_records {
    struct trace *trace;
    uint32_t attempt;
    const struct guard_list *guards;
    const struct symbol_table *symbols;
    const struct recorded_graph *graphs; /* in the order of their records */
    size_t n_graphs;
    bool exported; /* torch.export made it, whose Dims give symbols their ranges */
    struct str
        tree; /* the guards that are checked at each call (trace/events/guard_tree.h), or "" */
};

/* Compares the records of inputs, and replaces what is wrong in `inputs`. */
bool contradictions_settle(struct contradictions *c, const struct attempt_records *records,
                           struct inputs *inputs, struct err *err);

/* The state at the end of a replay. */
struct attempt_end {
    const struct guard_list *guards;
    const struct symbol_table *symbols;
    uint32_t attempt;
    struct shape_env *env;
    struct guard_log *log;
    const struct inputs *inputs;
    const struct replay_state *state;
    const struct intern *conditions;   /* those that are checked at each call */
    bool replayed;                     /* the attempt had graphs, and all were walked */
    const struct graph *const *graphs; /* those that could be read */
    size_t n_graphs;
};

/* Compares guards, specializations and ranges with the replay's. */
bool contradictions_check(struct contradictions *c, const struct attempt_end *end);

#endif
