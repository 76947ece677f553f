/* Expressions as rows of a table, for the files of prove/decide only.
 *
 * A row has the kind of its expression and the numbers of its arguments' rows, which come before
 * it. Kinds are those of sym.def, with these rewritten: `>` and `>=` as `<` and `<=` with exchanged
 * sides; CleanDiv as FloorDiv, since guards print both as `//`; PythonMod as Mod; ModularIndexing
 * as a quotient and a remainder; a quotient that is rounded at once as FloorDiv. */
#ifndef SYMTAPE_PROVE_DECIDE_FORMULA_H
#define SYMTAPE_PROVE_DECIDE_FORMULA_H

#include "prove/decide/decide.h"
#include "trace/base/hash_index.h"
#include "trace/base/vec.h"

#define ROW_NONE UINT32_MAX

__extension__ typedef __int128 wide; /* sums and products of bounds */

struct span {
    int64_t lower, upper; /* DECIDE_NO_LOWER, DECIDE_NO_UPPER: no bound */
};
#define SPAN_ANY  ((struct span){ DECIDE_NO_LOWER, DECIDE_NO_UPPER })
#define SPAN_BOOL ((struct span){ 0, 1 })

struct row {
    enum sym_kind kind;
    sym_id expr;        /* SYM_NONE of a row that no expression has */
    uint32_t first, n;  /* its arguments, in formula.args */
    uint32_t first_use; /* the newest item of formula.uses with it, or ROW_NONE */
    uint32_t symbol;    /* of a symbol its index, else ROW_NONE */
    uint32_t visited;   /* the number of the walk that visited it last */
    bool integer;       /* each of its values is an integer or a boolean */
    bool opaque;        /* nothing is derived of it from its arguments */
    struct span span;   /* its values, as far as it is known */
    int64_t integer_value;
    double real_value;
};

struct row_use {
    uint32_t row;  /* that has the argument */
    uint32_t next; /* an older item, or ROW_NONE */
};

struct formula_symbol {
    sym_id symbol;
    uint32_t row;
};

struct formula {
    struct sym_pool *pool;
    vec_of(struct row)
    rows;
    vec_of(uint32_t)
    args;
    vec_of(struct row_use)
    uses;
    vec_of(struct formula_symbol)
    symbols;
    vec_of(uint32_t)
    row_of; /* by expression: its row plus 1 */
    uint32_t walk;
    bool failed; /* out of memory */
};

void formula_init(struct formula *f, struct sym_pool *pool);
void formula_release(struct formula *f);
/* Returns the row of an expression, and adds it with those of its parts when it is new. */
uint32_t formula_row(struct formula *f, sym_id e);
/* Returns the row of a//b, of two rows. */
uint32_t formula_quotient(struct formula *f, uint32_t a, uint32_t b);
/* Returns whether rows of the kind are conditions; their values are 0 and 1. */
bool row_is_condition(enum sym_kind kind);
static inline uint32_t row_arg(const struct formula *f, const struct row *row, uint32_t i)
{
    return f->args.v[row->first + i];
}
static inline bool span_is_one(struct span s)
{
    return s.lower == s.upper;
}
static inline bool span_equal(struct span a, struct span b)
{
    return a.lower == b.lower && a.upper == b.upper;
}

/* evaluate.c: the value of a row where symbol i has values[i] if known[i]. */
struct point {
    struct formula *f;
    const int64_t *values;
    const bool *known;
    vec_of(struct decide_result)
    results;       /* by row */
    uint32_t walk; /* rows with this number in `visited` have a result */
    uint64_t steps;
};
/* False: out of memory. Call it for a new point; then any rows may be evaluated. */
bool point_start(struct point *point);
struct decide_result point_value(struct point *point, uint32_t row);
void point_release(struct point *point);

/* The span of a product of values of these spans. */
struct span span_product(struct span a, struct span b);

/* propagate.c: the spans of all rows made narrower. */
struct span_change {
    uint32_t row;
    struct span old;
};
struct propagation {
    struct formula *f;
    vec_of(uint32_t)
    queue;
    size_t head;
    vec_of(bool)
    queued; /* by row */
    vec_of(struct span_change)
    trail;
    uint64_t steps;
    bool empty;  /* a span has no value left */
    bool failed; /* out of memory */
};
void propagation_release(struct propagation *p);
/* Makes the span of a row narrower. */
void propagation_narrow(struct propagation *p, uint32_t row, struct span span);
/* Queues a row that is new, and those of its arguments. */
void propagation_queue(struct propagation *p, uint32_t row);
/* Returns false when there is no value left; may_take: rows that may be visited. */
bool propagation_run(struct propagation *p, uint64_t may_take);
/* Takes back what was changed since the trail had this length. */
void propagation_undo(struct propagation *p, size_t trail);

#endif
