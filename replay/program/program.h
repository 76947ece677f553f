/* A graph prepared for walks: literals are converted, operators looked up and recorded metas read
 * once. Walking it again looks nothing up by name and converts nothing.
 *
 * A program belongs to one operators' context (and its environment), and borrows the graph. Its
 * nodes keep their ids: current[id] is the value to which a node's name refers during a walk,
 * first[id] the result of its statement in the first walk, which is compared. */
#ifndef SYMTAPE_REPLAY_PROGRAM_PROGRAM_H
#define SYMTAPE_REPLAY_PROGRAM_PROGRAM_H

#include "replay/ops/dispatch/ops.h"
#include "replay/shape/env/node.h"
#include "trace/base/vec.h"

enum { PROGRAM_MAX_NESTING = 64 };

/* The recorded meta of a result, converted to expressions of the environment. */
enum expected_kind { EXPECT_NOTHING, EXPECT_TENSOR, EXPECT_NUMBER };
struct expected {
    enum expected_kind kind;
    enum dtype dtype;
    enum layout layout;
    struct device device; /* DEVICE_NONE when it was not printed */
    uint32_t ndim;
    const sym_id *size, *stride; /* stride is NULL when it was not printed */
    sym_id number;
    bool unreadable; /* the text is no valid tensor or number: no result equals it */
    bool unbacked;   /* it contains an unbacked symbol */
    struct str text; /* as recorded */
};

enum step_kind {
    STEP_INPUT,
    STEP_OPERATOR, /* calls `op` */
    STEP_FUNCTION, /* calls `target` */
    STEP_METHOD,
    STEP_MODULE,  /* a call of a nested graph; a call of another module cannot be replayed */
    STEP_DTENSOR, /* a call of dtensor.h */
    STEP_GETITEM, /* of a tuple or list by a number; other getitems are a STEP_FUNCTION */
    STEP_ATTRIBUTE,
    STEP_SUBGRAPH, /* a get_attr that names a subgraph */
    STEP_ALIAS,
    STEP_OPAQUE,
    STEP_OUTPUT
};

/* The place in a step's arguments where a node's value is stored before the step runs. */
struct patch {
    struct value *at;
    node_id from;
    node_id earlier; /* an input that was equal to `from` in the end and may have been passed
                        instead, if a guard of the call's line compares them; NODE_NONE: none */
    node_id other;   /* another such input, which the call may have taken; NODE_NONE: none */
};

struct step {
    uint8_t kind; /* an enum step_kind */
    uint32_t n_args, n_keywords;
    node_id node;
    node_id
        object; /* the node that owns the result's object: in-place calls and aliases share one */
    uint32_t first_patch, n_patches;
    const struct op *op;
    struct str target;
    const char *name; /* the operator's, "placeholder" for inputs; lives as long as the operators'
                       * context */
    struct value *args;
    struct keyword *keywords;
    const struct expected *expected;
};

static inline struct arguments step_arguments(const struct step *step)
{
    return (struct arguments){ step->args, step->n_args, step->keywords, step->n_keywords };
}

/* Returns an argument of a call of an operator by its name; NULL: it was not passed. */
struct schema;
const struct value *step_argument(const struct step *step, const struct schema *schema,
                                  struct str name);

static inline bool step_is_call(const struct step *step)
{
    return step->kind >= STEP_OPERATOR && step->kind <= STEP_GETITEM;
}

/* Returns whether an input is a list ("L_inputs_ : list"): the graph has metas where it takes the
 * items out. */
struct program;
bool step_is_list_input(const struct program *program, const struct step *step);

enum outcome {
    OUTCOME_NONE,
    OUTCOME_MATCH,
    OUTCOME_MISMATCH,
    OUTCOME_REFUSED,
    OUTCOME_UNSUPPORTED
};

/* Details about a node whose result differs from the recorded one. */
struct note_detail {
    struct str text;  /* why the call was refused or is not supported */
    struct value got; /* the result of the rule, for a mismatch */
};

/* The outcome of a node. */
struct outcome_note {
    uint8_t outcome; /* an enum outcome */
    bool adopted;    /* the recorded meta replaces its result from here on */
    bool tried;      /* for a mismatch: it is decided whether the record or the rule is wrong */
    bool pending;    /* it is compared again at the end of the graph */
    bool fresh;    /* the call created unbacked symbols, or got them from a cache: a warm walk uses
                      its result as it was */
    bool gradient; /* its result requires a gradient: gradients.h */
    const struct note_detail *detail; /* NULL for none */
};

/* The symbols of a guard, as often as it has them. */
struct guard_symbols {
    uint32_t n;
    const struct str *symbols;
};

/* The guards that were recorded at the line of a call. */
struct call_guards {
    uint32_t n;
    const struct guard_symbols *guards; /* in the order in which they were recorded */
    uint32_t n_symbols;
    const struct str *symbols; /* that they have, sorted by str_cmp() */
};

struct program {
    const struct graph *graph;
    struct program *root;
    struct ops *ops;
    uint32_t number; /* for origins: root graphs are numbered, children have their root's number */
    uint32_t first_node, first_location; /* are added to ids, so that these are unique in a tree */
    struct step *steps;
    uint32_t n_steps;
    struct patch *patches;
    struct value *current, *first;
    struct outcome_note *notes; /* indexed by node */
    bool *valid;                /* whether current[] is set */
    struct program **children;
    uint32_t n_children;
    const struct call_guards *renamed; /* by step: the graph's inputs may stand for other sizes that
                                          were printed alike (program_fill()); NULL: they do not */
    bool walked;
    bool differs; /* a node of it or of its subgraphs does; set by walk_finish() */
    uint32_t n_tree_nodes, n_tree_locations; /* only in the root: the sums over its tree */
    struct arena arena;                      /* that of the root; children use it */
};

/* symbol: returns the symbol of a recorded name (sym_read). Returns NULL with err set when out of
 * memory or when the graph is unusable. The graph must outlive the program. */
struct program *program_new(struct ops *ops, const struct graph *graph, uint32_t number,
                            sym_resolver *symbol, void *user, struct err *err);
void program_free(struct program *program); /* only for the root; accepts NULL */

/* Returns why a call was refused or is not supported. */
static inline struct str program_why(const struct program *program, node_id id)
{
    const struct note_detail *detail = program->notes[id].detail;
    return detail ? detail->text : STR("");
}

/* Returns the result of the rule in the first walk, or the passed input. */
static inline struct value program_got(const struct program *program, node_id id)
{
    const struct note_detail *detail = program->notes[id].detail;
    return detail ? detail->got : program->first[id];
}

/* Returns the subgraph that a get_attr names, or NULL. */
struct program *program_child(const struct program *program, struct str name);

/* Returns the node of an origin in the root's tree, or NULL. *in is set to the program that has
 * it. */
const struct node *program_node(const struct program *root, uint32_t node,
                                const struct program **in);

/* Returns the recorded meta as a value with its own storage, or VALUE_NONE when there is none. */
struct value expected_value(struct ops *ops, const struct expected *expected);

/* Converts one recorded meta. Returns NULL only when out of memory. */
const struct expected *expected_read(struct ops *ops, const struct graph *graph, uint32_t meta,
                                     sym_resolver *symbol, void *user, struct arena *arena);

/* Fills in a step's arguments from the current values during a walk. In a program that is
 * `renamed`, a numeric input is replaced by the size of the call's tensors that was printed as the
 * input was, unless the input is one of these sizes. False: an argument does not exist. */
bool program_fill(struct program *program, const struct step *step);
/* Sets the value to which the names of the step's node refer from here on. */
void program_set(struct program *program, const struct step *step, struct value value);
/* Stores what the last call wrote in place into the value of its argument (ops_written()). */
void program_take_written(struct program *program, const struct step *step);

/* Only for this room: the converted form of an argument (literals.c). A reference to a node becomes
 * a patch. False: out of memory. */
struct program_patches {
    vec_of(struct patch)
    list;
    bool failed;
};
struct value literal_value(struct ops *ops, const struct graph *graph, const struct arg *arg,
                           struct value *at, struct arena *arena, struct program_patches *patches,
                           unsigned depth);

#endif
