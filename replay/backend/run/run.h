/* A graph run on a backend, at any sizes that its guards allow.
 *
 *     struct run_options options = { .backend = backend, .inputs = give, .user = me };
 *     struct run *run = run_new(graph, &options, &err);
 *     if (run_execute(run, &err))
 *         for (uint32_t i = 0; i < run->n_outputs; i++) look(run->outputs[i]);
 *     run_free(run);
 *
 * Symbols take their values from the inputs that were given and from options.sizes, then from
 * equations among the guards, then from the recorded hints; unbacked symbols of inputs that are not
 * given are 4. Inputs that nobody gives, and constants, are random: seeded, of the recorded dtype,
 * whole numbers within [0, 2), so that they index anything. Unbacked symbols become what the data
 * make them; where all inputs are random, numbers that are read from tensors (item) are what
 * options.sizes or an equation among the asserts says of their symbols.
 *
 * Each call goes through its rule and then through the backend, in the graph's order; what no value
 * holds any more gives its memory back after each. An error names the node, its sizes and its user
 * line. */
#ifndef SYMTAPE_REPLAY_BACKEND_RUN_RUN_H
#define SYMTAPE_REPLAY_BACKEND_RUN_RUN_H

#include "replay/backend/run/exec.h"
#include "replay/backend/values/array.h"
#include "replay/program/interpret.h"

struct run_size {
    struct str symbol;
    int64_t value;
};

/* A symbol of the graph and what it is in this run. */
struct run_symbol {
    struct str name;
    int64_t hint;
    bool has_hint;
    struct str text; /* of a number that is no integer: "1e-05" */
};

/* What was recorded that the sizes have to hold to. */
enum run_guard_kind { RUN_GUARD_GUARD, RUN_GUARD_ASSERT, RUN_GUARD_RANGE, RUN_GUARD_SPECIALIZED };
struct run_guard {
    enum run_guard_kind kind;
    struct str expr;   /* "Eq(s97, 2)"; of a range "[2, int_oo]" */
    struct str symbol; /* of the latter two */
    struct str place;  /* "a.py:46 `x = y`"; "" */
    bool zero_one;     /* a range's lower bound of 2 is none for 0 and 1, as torch.export has it */
};

struct run;
struct run_options {
    struct backend *backend;
    const struct custom_rules *rules;
    const struct run_size *sizes; /* what the caller wants */
    size_t n_sizes;
    const struct run_symbol *symbols; /* as recorded */
    size_t n_symbols;
    /* Held to before the run, asserts of unbacked symbols as these come to be. The first that does
     * not hold refuses the run, unless `violated` is there to be told of each. One whose symbols
     * are all as recorded is taken for granted. */
    const struct run_guard *guards;
    size_t n_guards;
    void (*violated)(void *user, struct str text);
    uint64_t seed;
    /* The values of input i (the placeholders in their order); *ret stays without `p` where there
     * are none. Called twice for each: for its sizes and for its values. */
    bool (*input)(void *user, uint32_t i, const struct node *node, struct array *ret,
                  struct err *err);
    void *user;
    /* Told of each node of the graph (not of subgraphs' nodes) once it has its value and before
     * anything after it runs. May read it (run_array) and write it (exec_write). May be NULL. */
    bool (*node)(void *user, struct run *run, const struct step *step, const struct value *value,
                 struct err *err);
    void *node_user;
    bool keep;   /* no memory is given back: run_value() of every node */
    bool timing; /* run->ns by node */
};

/* Who holds which storage (run_memory.c). */
struct run_lifetimes {
    uint32_t *ends, *order; /* nodes whose last user is i: order[ends[i]] to order[ends[i + 1]] */
    struct value *held;     /* by node: as it was counted */
    vec_of(uint32_t)
    holders; /* by storage */
};

/* An input's or constant's memory. */
struct run_kept {
    struct memory memory; /* between runs */
    uint32_t storage;
    bool valid;
};

struct run {
    struct run_options options;
    const struct graph *graph;
    struct shape_env *env;
    struct ops *ops;
    struct program *program;
    struct exec exec;
    struct run_size *symbols; /* what each came to be */
    size_t n_symbols, most_symbols;
    uint32_t n_given;            /* inputs whose values were given */
    bool *binds;                 /* by node: its recorded meta names an unbacked symbol */
    bool *bound;                 /* by symbol: unbacked, and the data have told it */
    uint32_t violations;         /* guards that did not hold */
    bool unsupported;            /* it stopped at an operator that nothing here computes */
    const struct value *outputs; /* after run_execute() */
    uint32_t n_outputs;
    uint64_t *ns;      /* by node, with `timing` */
    uint64_t calls_ns; /* the whole, but inputs and constants */
    uint64_t host_ns;  /* of it until all calls were made: a backend may still be computing */
    uint32_t *users;   /* by node: the last one that needs it */
    struct run_lifetimes lifetimes;
    struct run_kept *kept;  /* by node */
    struct run_size *first; /* n_first symbols, before anything was run */
    size_t n_first;
    bool executed;
    uint32_t calls; /* that were run */
    node_id at;     /* the node that is being run, for errors */
    struct interpreter interpreter;
    uint64_t step_begin_ns, given_ns; /* inside: when this step began; what inputs took in all */
    uint32_t first_storage;           /* inside: that this step may make */
    node_id inner_node;               /* inside: of the subgraph that is being run */
    struct err inner;                 /* what went wrong in one */
    struct arena arena;
};

/* NULL: ERR_USAGE (a symbol without a value, a size that contradicts), ERR_ENV. */
struct run *run_new(const struct graph *graph, const struct run_options *options, struct err *err);
/* Once more is quicker: what sizes lead to is known, and inputs stay in their memory with their
 * values, but those that a call wrote by its schema. Values and outputs of the run before are gone.
 */
bool run_execute(struct run *run, struct err *err);
void run_free(struct run *run); /* NULL is fine */

/* What a node gave; VALUE_NONE where it was not kept. */
struct value run_value(const struct run *run, node_id node);
/* A tensor's elements, in memory of `arena`. */
bool run_array(struct run *run, struct tensor x, struct arena *arena, struct array *ret,
               struct err *err);

#endif
