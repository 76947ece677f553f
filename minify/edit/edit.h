/* Edits: the changes that passes make to a candidate, as small records that a journal can store.
 *
 * Nodes are identified by their number in the candidate that the edit is applied to, inputs,
 * outputs and symbols by their position. Several edits are applied together, all relative to the
 * same candidate; edits that contradict each other (one removes what another needs) are not
 * valid. */
#ifndef SYMTAPE_MINIFY_EDIT_EDIT_H
#define SYMTAPE_MINIFY_EDIT_EDIT_H

#include "minify/candidate/candidate.h"

/*  EDIT(id, "name in journals", reshapes)
 * `reshapes` says that shapes of later nodes may change, so that the graph is propagated again. */
#define EDITS(EDIT)                                                                               \
    EDIT(REMOVE_NODE, "remove", false)   /* a: a node that nothing uses */                        \
    EDIT(CUT, "cut", false)              /* a: a node becomes an input; values that only */       \
                                         /* it used become outputs (b: 1) or are removed */       \
    EDIT(BYPASS, "bypass", false)        /* a: node, b: earlier node of equal meta */             \
    EDIT(SUBSTITUTE, "substitute", true) /* a: node, b: earlier node of any meta; the metas of */ \
                                         /* what follows are computed anew */                     \
    EDIT(KEEP_PREFIX, "prefix", false)   /* a: nodes after it are removed; values without */      \
                                         /* a use become outputs, or (b: 1) only a does */        \
    EDIT(DROP_PREFIX, "suffix", false)   /* a: calls before it become inputs or are removed */    \
    EDIT(REMOVE_OUTPUT, "output", false) /* a: position */                                        \
    EDIT(REMOVE_INPUT, "input", false)   /* a: position, unused */                                \
    EDIT(STATIC, "static", true)         /* a: symbol becomes its hint */                         \
    EDIT(MERGE, "merge", true)           /* a, b: symbol a becomes symbol b, hints alike */       \
    EDIT(FRESH, "fresh", true)           /* a: input, b: dimension: a compound size becomes */    \
                                         /* a symbol of its own */                                \
    EDIT(REMOVE_GUARD, "fact", false)    /* a: number */                                          \
    EDIT(WIDEN, "widen", false)          /* a: symbol: its range becomes the default */           \
    EDIT(HINT, "hint", true)             /* a: symbol, value */                                   \
    EDIT(DROP_DIM, "rank", true)         /* a: input, b: dimension */                             \
    EDIT(DTYPE, "dtype", true)           /* a: dtype, b: the one that replaces it everywhere */   \
    EDIT(CONTIGUOUS, "strides", true)    /* a: input */                                           \
    EDIT(GRADIENT, "gradient", false)    /* a: input: it requires no gradient */                  \
    EDIT(DEVICE, "device", false)        /* everything moves to the CPU */                        \
    EDIT(ARGUMENT, "argument", true)     /* a: node, b: argument, value: which simplification */  \
    EDIT(REFERENCE, "reference", true)   /* a: node, value: which of its references to nodes, */  \
                                         /* b: the earlier node that it refers to instead */      \
    EDIT(INLINE, "inline", false)        /* a: the call of a subgraph */                          \
    EDIT(SIZE_CONSTANT, "constant",                                                               \
         true) /* a: input, b: dimension, value; a: NODE_NONE, b: the number */                   \
               /* that becomes value: a size of inputs or an argument of calls, everywhere */

enum edit_kind {
#define EDIT(id, name, reshapes) EDIT_##id,
    EDITS(EDIT)
#undef EDIT
        EDIT_KINDS
};

struct edit {
    enum edit_kind kind;
    uint32_t a, b;
    int64_t value;
};

/* Returns a new candidate with the edits made, without dead nodes and with all symbols bound, or
 * NULL if they cannot be made (why->kind ERR_USAGE: not valid; ERR_ENV: out of memory). */
struct candidate *candidate_apply(const struct candidate *whole, const struct edit *edits,
                                  uint32_t n_edits, struct err *why);

/* Sets the reason why an edit is not valid; returns false. */
bool edit_invalid(struct err *why, const char *text);
void edit_print(const struct edit *edit, struct buf *out); /* "bypass 17 4" */
bool edit_read(struct str text, struct edit *edit);

#endif
