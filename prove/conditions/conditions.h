/* The conditions that a compile or an exported program relies on, over the symbols of its sizes.
 *
 *     struct conditions c;
 *     if (conditions_read(&c, trace, record, attempt, &err))
 *         for (size_t i = 0; i < c.list.n; i++) use(c.list.v[i].expr);
 *     conditions_release(&c);
 *
 * A condition is the range of a symbol, a specialization (a symbol that became a number), a guard,
 * or a runtime assert; of a size that conditions_name_size() gave a symbol, that it is a number, or
 * equal to the size whose symbol it shares. Symbols are plain integers here: PyTorch's assumption
 * that a size is positive is part of its range, which is a condition like the others, so that 0 and
 * 1 are values like others. Numbers that are floats, and unbacked symbols, have symbols, too,
 * without a hint.
 *
 * The expressions belong to `pool`, the texts to the trace or the arena. */
#ifndef SYMTAPE_PROVE_CONDITIONS_CONDITIONS_H
#define SYMTAPE_PROVE_CONDITIONS_CONDITIONS_H

#include "replay/shape/expr/sym.h"
#include "trace/base/intern.h"
#include "trace/base/vec.h"
#include "trace/open.h"

enum condition_kind {
    CONDITION_RANGE,
    CONDITION_SPECIALIZED,
    CONDITION_GUARD,
    CONDITION_ASSERT,
    CONDITION_STATIC, /* a size that was no symbol */
    CONDITION_SHARED, /* a size that shared the symbol of another one */
    CONDITION_KINDS
};
const char *condition_kind_name(enum condition_kind kind); /* "range", "guard", ... */

struct location;

struct condition {
    enum condition_kind kind;
    sym_id expr;         /* SYM_NONE: the text is no expression */
    struct str text;     /* "Eq(Mod(s27, 8), 0)", of a range "2 <= s77" */
    bool is_whole;       /* its symbols are integers that have a hint */
    uint32_t record;     /* of the guard, the symbol or the specialization */
    stack_id user_stack; /* who asked, or where the symbol was created; 0: not recorded */
    const struct location *location; /* of an assert of a program, which has no stack; or NULL */
};

struct condition_symbol {
    struct str name, source; /* source: "" if there is none */
    sym_id symbol;
    sym_id value;  /* when the program was compiled; SYM_NONE: it has none */
    bool has_hint; /* it is an integer: */
    int64_t hint;
    bool made; /* by conditions_name_size(): the compile knows no such symbol */
};

/* A size of a tensor that is an input, or an integer that is a constant there. */
struct condition_size {
    struct str source; /* "L['x'].size()[0]", "L['n']" */
    sym_id symbol;     /* that it is, or shares; SYM_NONE: it is static */
    int64_t value;
    uint32_t made; /* in `symbols`: what conditions_name_size() made, or UINT32_MAX */
};

struct conditions {
    struct sym_pool *pool;
    uint32_t record, attempt, recording;
    vec_of(struct condition_symbol)
    symbols; /* in the order of their creation */
    vec_of(struct condition)
    list;                      /* ranges and specializations, then the guards in their order */
    struct intern names;       /* of symbols, by their index */
    struct hash_index by_expr; /* of list */
    vec_of(struct condition_size)
    sizes;                      /* of conditions_read_sizes() */
    struct intern size_sources; /* of sizes, by their index */
    struct intern tensors;      /* their sources, */
    vec_of(uint32_t)
    ndim; /* and how many sizes each has */
    struct arena arena;
};

/* Reads those of an attempt, or for TRACE_NONE those of the program of a record: its range
 * constraints, the asserts of its graph, and the guards on sizes that it has. Equal conditions
 * are listed once, as the first of them. Fails when memory ran out or the trace cannot be read;
 * conditions_release() is required after a failure, too. */
bool conditions_read(struct conditions *ret, struct trace *trace, uint32_t record, uint32_t attempt,
                     struct err *err);
void conditions_release(struct conditions *conditions);

/* Reads the sizes of an attempt's inputs, and the integers that its guards take for constants.
 * Which of them share a symbol is what Dynamo's graph prints, and otherwise what equal values
 * suggest (replay/attempt/inputs.h); a program's sizes are those of its user's inputs. */
bool conditions_read_sizes(struct conditions *conditions, struct trace *trace, struct err *err);
/* Takes "L['x'].size()[1]" apart: the tensor "L['x']" and 1. Returns false for another source. */
bool conditions_split_size(struct str source, struct str *tensor, uint32_t *dim);
/* Gives a size that is static, or shares a symbol, a symbol of its own, which conditions then say
 * is that number or that symbol; once for each size. *ret is its index in `symbols`. */
bool conditions_name_size(struct conditions *conditions, size_t size, uint32_t *ret,
                          struct err *err);

/* Returns the user line of a condition; its file is "" if there is none. */
struct frame condition_frame(const struct trace *trace, uint32_t recording,
                             const struct condition *condition);
/* Returns the row of a symbol by name ("s77") or by expression, or NULL. */
const struct condition_symbol *conditions_find(const struct conditions *conditions,
                                               struct str name);
const struct condition_symbol *conditions_symbol(const struct conditions *conditions,
                                                 sym_id symbol);
/* Parses an expression over the symbols. Other names, and texts that are no expression, give
 * SYM_NONE with *unknown set to the name, or "" for the latter. */
sym_id conditions_parse(const struct conditions *conditions, struct str text, struct str *unknown);

#endif
