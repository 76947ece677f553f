/* Metas at the recorded hints, so that records can be compared before there is an environment. Only
 * for this room. */
#ifndef SYMTAPE_REPLAY_ATTEMPT_CONTRADICTIONS_EVIDENCE_H
#define SYMTAPE_REPLAY_ATTEMPT_CONTRADICTIONS_EVIDENCE_H

#include "replay/attempt/contradictions/contradictions.h"

enum { MOST_WITNESSES = 8 };

enum shape_kind { SHAPE_NOTHING, SHAPE_TENSOR, SHAPE_NUMBER };
/* A meta in numbers. A size without a value is an expression, or SYM_NONE. */
struct shape {
    enum shape_kind kind;
    enum dtype dtype;
    struct device device; /* DEVICE_NONE: not known */
    uint32_t ndim;
    bool sizes_only; /* dtype and device are not known */
    const sym_id *size, *stride;
    sym_id number;
};

/* What the guards of each call say about a source. */
struct tree_fact {
    bool bounded, has_grad, grad;
    int64_t lower, upper; /* INT64_MIN and INT64_MAX: no bound */
};

struct evidence {
    const struct attempt_records *records;
    struct contradictions *found;
    struct sym_pool *pool;
    struct intern names;
    vec_of(sym_id)
    hints; /* by name */
    /* While inputs are settled, when all hints are set: */
    struct intern size_texts;
    vec_of(sym_id)
    text_sizes; /* by text */
    vec_of(sym_id)
    sizes; /* by expression: its value, or itself; SYM_NONE: not evaluated yet */
    struct intern tree_sources;
    vec_of(struct tree_fact)
    tree_facts; /* by source */
    struct arena arena;
    bool failed;
};

bool evidence_init(struct evidence *e, const struct attempt_records *records,
                   struct contradictions *found, struct err *err);
void evidence_release(struct evidence *e);

/* Sets the hint of a symbol; the first one counts. */
void evidence_set_hint(struct evidence *e, struct str name, struct str value);
/* Returns the value of a text at the hints, with one symbol at another value (name "": none); or
 * SYM_NONE when it is not known. */
sym_id evidence_value(struct evidence *e, struct str text, struct str name, sym_id value);

/* Does the same when all hints are set, and returns the expression where its value is not known. */
sym_id evidence_size(struct evidence *e, struct str text);

/* Returns the meta of a node at the hints. */
struct shape evidence_shape(struct evidence *e, const struct graph *graph, const struct node *node);
struct shape evidence_described(struct evidence *e, const struct input_tensor *t);
/* Returns whether two metas are equal as far as both are known. */
bool shapes_agree(struct sym_pool *pool, const struct shape *a, const struct shape *b);

/* Returns how many bytes of its storage a tensor needs, with another size of one dimension (dim <
 * 0: of none). False: it is not known, or the storage may have been freed. */
bool storage_needs(const struct input_tensor *t, int dim, int64_t size, int64_t *ret);
/* Returns whether that is all of its storage: 0 no, 1 yes, -1 not known. */
int storage_fits(const struct input_tensor *t, int dim, int64_t size);

/* Adds a contradiction; the texts are copied. */
void evidence_add(struct evidence *e, struct contradiction row);

/* Reads the guards of each call; returns what they say about a source, or NULL. */
void evidence_read_tree(struct evidence *e);
const struct tree_fact *evidence_tree_fact(const struct evidence *e, struct str source);

/* Names a description that denies whether its tensor requires a gradient. */
void settle_gradient(struct evidence *e, struct input_tensor *t, bool grad, uint32_t beside);

/* The steps of contradictions_settle(). */
void settle_gradients(struct evidence *e, struct inputs *inputs);
void settle_hints(struct evidence *e, struct inputs *inputs);
void settle_inputs(struct evidence *e, struct inputs *inputs);

/* A step of contradictions_check(): guards beside the conditions that are checked at each call.
 * False: out of memory. */
bool check_tree(struct contradictions *c, const struct attempt_end *end);

#endif
