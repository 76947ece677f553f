/* A graph made ready to be walked: literals converted once, operators looked up once, recorded
 * metas read once. Walking it again looks nothing up by name and converts nothing.
 *
 * A program belongs to one operators' context (and its environment), and borrows the graph. Its
 * nodes keep their ids: current[id] is what a node's name stands for while walking, first[id] what
 * its statement gave when it was walked first, which is what is compared. */
#ifndef SYMTAPE_REPLAY_PROGRAM_PROGRAM_H
#define SYMTAPE_REPLAY_PROGRAM_PROGRAM_H

#include "replay/ops/dispatch/ops.h"
#include "replay/shape/env/node.h"
#include "trace/base/vec.h"

enum { PROGRAM_MAX_NESTING = 64 };

/* What was recorded of a result, in the environment's terms. */
enum expected_kind { EXPECT_NOTHING, EXPECT_TENSOR, EXPECT_NUMBER };
struct expected {
    enum expected_kind kind;
    enum dtype dtype;
    enum layout layout;
    struct device device; /* DEVICE_NONE: not printed */
    uint32_t ndim;
    const sym_id *size, *stride; /* stride NULL: not printed */
    sym_id number;
    bool unreadable; /* a tensor or number that is none: no result can be it */
    bool unbacked;   /* names an unbacked symbol */
    struct str text; /* as recorded */
};

enum step_kind {
    STEP_INPUT,
    STEP_OPERATOR, /* op */
    STEP_FUNCTION, /* target */
    STEP_METHOD,
    STEP_MODULE,  /* a call that nothing can replay */
    STEP_GETITEM, /* of a tuple or list by a number; anything else goes to STEP_FUNCTION */
    STEP_ATTRIBUTE,
    STEP_SUBGRAPH, /* a get_attr that names a child */
    STEP_ALIAS,
    STEP_OPAQUE,
    STEP_OUTPUT
};

/* Where a node's value goes before the step runs. */
struct patch {
    struct value *at;
    node_id from;
};

struct step {
    uint8_t kind; /* enum step_kind */
    uint32_t n_args, n_keywords;
    node_id node;
    node_id
        object; /* the node whose object this result is: in-place calls and aliases give theirs */
    uint32_t first_patch, n_patches;
    const struct op *op;
    struct str target;
    const char
        *name; /* the operator's, "placeholder" of inputs; as long as the operators' context */
    struct value *args;
    struct keyword *keywords;
    const struct expected *expected;
};

static inline struct arguments step_arguments(const struct step *step)
{
    return (struct arguments){ step->args, step->n_args, step->keywords, step->n_keywords };
}

static inline bool step_is_call(const struct step *step)
{
    return step->kind >= STEP_OPERATOR && step->kind <= STEP_GETITEM;
}

enum outcome {
    OUTCOME_NONE,
    OUTCOME_MATCH,
    OUTCOME_MISMATCH,
    OUTCOME_REFUSED,
    OUTCOME_UNSUPPORTED
};

/* What there is to say of a node that did not come out as recorded. */
struct note_detail {
    struct str text;  /* of a refusal or an unsupported call */
    struct value got; /* of a mismatch: what the rule gave */
};

/* What came of a node. */
struct outcome_note {
    uint8_t outcome; /* enum outcome */
    bool adopted;    /* its result is the recorded one from here on */
    bool pending;    /* to be compared once more when the graph is done */
    bool fresh;      /* the call made unbacked symbols, or found them remembered: a warm walk takes
                        the result as it was */
    const struct note_detail *detail; /* NULL: nothing */
};

struct program {
    const struct graph *graph;
    struct program *root;
    struct ops *ops;
    uint32_t number; /* for origins: root graphs count up, children share their root's */
    uint32_t first_node, first_location; /* added to ids, so that they are unique in a tree */
    struct step *steps;
    uint32_t n_steps;
    struct patch *patches;
    struct value *current, *first;
    struct outcome_note *notes; /* by node */
    bool *valid;                /* current[] is set */
    struct program **children;
    uint32_t n_children;
    bool walked;
    uint32_t n_tree_nodes, n_tree_locations; /* of the root: over all of its tree */
    struct arena arena;                      /* of the root; children use it */
};

/* symbol: what a recorded name stands for (sym_read). NULL: out of memory or hostile beyond use;
 * err is set. The graph must outlive it. */
struct program *program_new(struct ops *ops, const struct graph *graph, uint32_t number,
                            sym_resolver *symbol, void *user, struct err *err);
void program_free(struct program *program); /* only for the root; NULL is fine */

/* Why a call was refused or is not supported. */
static inline struct str program_why(const struct program *program, node_id id)
{
    const struct note_detail *detail = program->notes[id].detail;
    return detail ? detail->text : STR("");
}

/* What the rule gave in the first walk, or who passed the input. */
static inline struct value program_got(const struct program *program, node_id id)
{
    const struct note_detail *detail = program->notes[id].detail;
    return detail ? detail->got : program->first[id];
}

/* The child that a get_attr names; NULL. */
struct program *program_child(const struct program *program, struct str name);

/* The node that an origin names, in the root's tree; NULL. *in is the program that holds it. */
const struct node *program_node(const struct program *root, uint32_t node,
                                const struct program **in);

/* The recorded meta as a value, on a storage of its own; VALUE_NONE where there is none. */
struct value expected_value(struct ops *ops, const struct expected *expected);

/* One recorded meta, read; never NULL except out of memory. */
const struct expected *expected_read(struct ops *ops, const struct graph *graph, uint32_t meta,
                                     sym_resolver *symbol, void *user, struct arena *arena);

/* While walking. A step's arguments from the values that its nodes stand for; false: one of them
 * does not exist. */
bool program_fill(struct program *program, const struct step *step);
/* What its node stands for from here on. */
void program_set(struct program *program, const struct step *step, struct value value);
/* What the last call wrote in place beyond values stands for its argument (ops_written()). */
void program_take_written(struct program *program, const struct step *step);

/* Inside: the converted form of an argument (literals.c). A reference to a node becomes a
 * patch. False: out of memory. */
struct patches {
    vec_of(struct patch)
    list;
    bool failed;
};
struct value literal_value(struct ops *ops, const struct graph *graph, const struct arg *arg,
                           struct value *at, struct arena *arena, struct patches *patches,
                           unsigned depth);

#endif
