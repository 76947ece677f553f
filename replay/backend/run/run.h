/* The run of a graph on a backend, at any sizes that its guards allow.
 *
 *     struct run_options options = { .backend = backend, .inputs = give, .user = me };
 *     struct run *run = run_new(graph, &options, &err);
 *     if (run_execute(run, &err))
 *         for (uint32_t i = 0; i < run->n_outputs; i++) use(run->outputs[i]);
 *     run_free(run);
 *
 * Symbols get their values from the given inputs and from options.sizes, then from equations among
 * the guards, then from the recorded hints; unbacked symbols of inputs that are not given are 4.
 * Other inputs and constants are random: seeded, of the recorded dtype, and such that the operators
 * that use them have results that can be compared (inputs/input_needs.h): indices are within the
 * tables that they index, other integers within [0, 2). Unbacked symbols get their values from the
 * data. If all inputs are random, numbers that are read from tensors (item) get the values that
 * options.sizes or an equation among the asserts has for their symbols, unless the backend runs for
 * a rank, whose numbers may be those of others.
 *
 * Calls are made in the graph's order: first the rule, then the backend. After each, memory that no
 * value uses any more is freed. An error contains the node, its sizes and its user line. */
#ifndef SYMTAPE_REPLAY_BACKEND_RUN_RUN_H
#define SYMTAPE_REPLAY_BACKEND_RUN_RUN_H

#include "replay/backend/run/exec.h"
#include "replay/backend/values/array.h"
#include "replay/program/interpret.h"

struct run_size {
    struct str symbol;
    int64_t value;
};

/* A symbol of the graph and its value in this run. */
struct run_symbol {
    struct str name;
    int64_t hint;
    bool has_hint;
    struct str text; /* of a number that is not an integer: "1e-05" */
};

/* The kinds of recorded conditions on sizes. */
enum run_guard_kind { RUN_GUARD_GUARD, RUN_GUARD_ASSERT, RUN_GUARD_RANGE, RUN_GUARD_SPECIALIZED };
struct run_guard {
    enum run_guard_kind kind;
    struct str expr;   /* "Eq(s97, 2)"; the interval of a range: "[2, int_oo]" */
    struct str symbol; /* of a range or specialization */
    struct str place;  /* "a.py:46 `x = y`"; "" */
    bool zero_one; /* a lower bound of 2 of this range also allows 0 and 1, as torch.export means it
                    */
};

struct input_need;
struct kept_inputs;
struct op_catalog; /* replay/ops/layers.h */
struct input_sum;
struct run;
struct run_options {
    struct backend *backend;
    const struct op_catalog *operators; /* borrowed; NULL: PyTorch's own, made for this run */
    int torch; /* the release of PyTorch that recorded the graph; 0: TORCH_RELEASE_DEFAULT */
    const struct run_size *sizes; /* sizes that the caller chose */
    size_t n_sizes;
    const struct run_symbol *symbols; /* as recorded */
    size_t n_symbols;
    /* Checked before the run; asserts of unbacked symbols are checked when these get their values.
     * The first violated one ends the run, unless `violated` is set, which then gets the text of
     * each. A condition whose symbols all have their recorded values is not evaluated. */
    const struct run_guard *guards;
    size_t n_guards;
    void (*violated)(void *user, struct str text);
    /* If not NULL and empty, gets the condition that ends the run, with its sizes and without its
     * place: "guard s23 < 16 does not hold: s23 = 20 (recorded: 4)". */
    struct buf *refusal;
    uint64_t seed;
    /* The seed of random inputs for which `replicated` returns true, those that all ranks of a job
     * have in common; NULL: none. It gets `user`. */
    uint64_t replicated_seed;
    bool (*replicated)(void *user, const struct node *node);
    /* Sets *ret to the values of input i (placeholders in their order), or leaves its `p` NULL if
     * there are none. It is called twice for each input: for its sizes and for its values. */
    bool (*input)(void *user, uint32_t i, const struct node *node, struct array *ret,
                  struct err *err);
    void *user;
    /* Called for each node of the graph (not for nodes of subgraphs) once it has its value and
     * before later nodes run. It may read the value (run_array) and write it (exec_write). May be
     * NULL. */
    bool (*node)(void *user, struct run *run, const struct step *step, const struct value *value,
                 struct err *err);
    void *node_user;
    bool keep;   /* no memory is freed, so that run_value() works for every node */
    bool timing; /* measures run->ns of each node */
    /* The second run is captured, if the backend can, and later ones launch the unit that it became
     * (struct backend_kind), so that calls are not made again. A run that is watched or logged
     * makes its calls. */
    bool captures;
    /* Sizes that depend on data stay on the device, if the backend can (device_sizes.h), until the
     * run is over, unless its values are watched. */
    bool device_sizes;
    struct kept_inputs
        *kept; /* where random weights stay after the run (inputs/kept_inputs.h), or NULL */
};

/* The number of values that use each storage (run_memory.c). */
struct run_lifetimes {
    uint32_t *ends, *order; /* nodes whose last user is i: order[ends[i]] to order[ends[i + 1]] */
    bool *shared;           /* by node: more than one step uses its value */
    struct value *counted;  /* by node: the value whose storages are counted */
    vec_of(uint32_t)
    holders; /* by storage */
};

/* The memory of an input or a constant. */
struct run_kept {
    struct memory memory; /* between runs */
    uint32_t storage;
    bool valid;
    bool outlives; /* it may go to the options' kept inputs */
    uint64_t seed; /* of its random values */
    void *stored;  /* owned: the values of an input that calls of a captured run change; or NULL */
    size_t stored_bytes;
    struct tensor tensor; /* that they belong to */
    const void *address;  /* of its memory */
};

struct run {
    struct run_options options;
    const struct graph *graph;
    struct shape_env *env;
    struct ops *ops;
    struct program *program;
    struct exec exec;
    struct run_size *symbols; /* the value of each symbol */
    size_t n_symbols, most_symbols;
    uint32_t n_given;            /* inputs whose values were given */
    bool *binds;                 /* by node: its recorded meta contains an unbacked symbol */
    bool *bound;                 /* by symbol: it is unbacked and its value is known */
    uint32_t violations;         /* guards that were violated */
    bool unsupported;            /* it stopped at an operator without a kernel */
    const struct value *outputs; /* after run_execute() */
    uint32_t n_outputs;
    const struct value *made; /* internal: the outputs before their sizes were known */
    uint64_t *ns;             /* by node, with `timing` */
    uint64_t calls_ns;        /* all calls, without inputs and constants */
    uint64_t host_ns; /* the part until all calls were made; a backend may still be computing */
    uint32_t *users;  /* by node: the last node that uses its value */
    struct run_lifetimes lifetimes;
    struct run_kept *kept;    /* by node */
    struct input_need *needs; /* by node; NULL: the backend computes no values */
    struct input_sum *sums;   /* n_sums numbers that are read from random inputs */
    uint32_t n_sums;
    struct run_size *first; /* n_first symbols, as before the first call */
    size_t n_first;
    bool executed;
    struct captured *captured; /* the whole run as one launch; NULL: calls were made one by one */
    struct err not_captured;   /* the reason why it could not be captured */
    bool capturing;            /* internal: the calls that are made are captured */
    uint32_t calls;            /* how many were run */
    node_id at;                /* the node that is being run, for errors */
    struct interpreter interpreter;
    uint64_t step_begin_ns, given_ns; /* internal: when this step began; time of all inputs */
    uint32_t first_storage;           /* internal: the first one that this step may make */
    node_id inner_node;               /* internal: the node of the subgraph that is being run */
    struct err inner;                 /* internal: the error of a subgraph */
    struct arena arena;
};

/* NULL: ERR_USAGE (a symbol has no value, or sizes contradict each other), ERR_ENV. */
struct run *run_new(const struct graph *graph, const struct run_options *options, struct err *err);
/* A `violated` that discards the text, for runs of guards that another run reports. */
void run_ignore_violation(void *user, struct str text);
/* Runs the graph. A later run is quicker: results of rules are known, and inputs keep their memory
 * and values, unless a call wrote them by its schema. It frees the values and outputs of the run
 * before; a run that launches what was captured computes them again in the same memory. */
bool run_execute(struct run *run, struct err *err);
void run_free(struct run *run); /* NULL is fine */

/* Returns the value of a node; VALUE_NONE: it was not kept. */
struct value run_value(const struct run *run, node_id node);
/* Copies a tensor's elements to memory of `arena`. */
bool run_array(struct run *run, struct tensor x, struct arena *arena, struct array *ret,
               struct err *err);

#endif
