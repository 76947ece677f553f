/* Symbolic sizes: integers, rationals, floats and booleans over symbols, kept in the canonical form
 * that sympy and torch.utils._sympy.functions give them, so that their text can be compared with
 * what PyTorch logged.
 *
 *     struct sym_pool *pool = sym_pool_new(&err);
 *     sym_id s0 = sym_symbol(pool, STR("s0"), SYM_IS_INTEGER | SYM_IS_POSITIVE);
 *     sym_id n = sym_floordiv(pool, sym_add(pool, s0, sym_integer(pool, 1)), sym_integer(pool, 2));
 *     sym_print(pool, n, &out);                        // ((s0 + 1)//2)
 *     if (!sym_ok(pool, &err)) ...
 *     sym_pool_free(pool);
 *
 * An expression is a small integer, valid as long as its pool: equal expressions of one pool have
 * equal ids, because construction is hash-consed and rewrites to the canonical form. A repeated
 * operation is a look-up in the pool's table of operations and allocates nothing.
 *
 * Failure is sticky. Out of memory, a division by zero, a limit below: the call returns SYM_NONE
 * and the pool remembers the first reason; operations on SYM_NONE return SYM_NONE. So formulas are
 * written straight down and sym_ok() is asked once, at the end; it hands the reason over and clears
 * it. What sympy raises is named as Python names it: "ZeroDivisionError: division by zero".
 *
 * Integers have no size limit short of SYM_MAX_BITS: what leaves 64 bits goes on as a BIGNUM of
 * libcrypto (which the tape's hashing links already, and which reports memory failure, where GMP
 * aborts). Floats are IEEE doubles, as sympy's are at its default precision.
 *
 * A pool is not for two threads at once; two pools share nothing. */
#ifndef SYMTAPE_REPLAY_SHAPE_EXPR_SYM_H
#define SYMTAPE_REPLAY_SHAPE_EXPR_SYM_H

#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/str.h"

typedef uint32_t sym_id;
#define SYM_NONE UINT32_MAX

enum {
    SYM_MAX_DEPTH = 2000,    /* of nested expressions */
    SYM_MAX_BITS = 1 << 16,  /* of an integer */
    SYM_MAX_TERMS = 1 << 20, /* of a sum or a product, also while it is expanded */
    SYM_MAX_TEXT = 1 << 18   /* bytes of an expression's text: one of shared parts may print without
                                end. The   longest of real models have a tenth of it */
};

enum sym_kind {
#define SYM_KIND(name, class_, order, key, subkey, precedence, facts) SYM_##name,
#include "replay/shape/expr/sym.def"
#undef SYM_KIND
    SYM_KINDS
};

/* These exist in every pool, under these ids. */
enum {
    SYM_ID_FALSE,
    SYM_ID_TRUE,
    SYM_ID_ZERO,
    SYM_ID_ONE,
    SYM_ID_MINUS_ONE,
    SYM_ID_INT_OO, /* torch.utils._sympy.numbers.int_oo, infinite and an integer */
    SYM_ID_MINUS_INT_OO,
    SYM_ID_OO,
    SYM_ID_MINUS_OO,
    SYM_ID_NAN,
    SYM_ID_ZOO,
    SYM_ID_TWO,
    SYM_ID_FIXED
};

/* What a symbol is declared to be; sympy deduces the rest (an integer is real and finite). */
enum { SYM_IS_REAL = 1, SYM_IS_INTEGER = 2, SYM_IS_NONNEGATIVE = 4, SYM_IS_POSITIVE = 8 };

struct sym_pool;

struct sym_pool *sym_pool_new(struct err *err);
void sym_pool_free(struct sym_pool *pool); /* NULL is fine */
/* False, with the first failure moved to err, when something failed since the last call. */
bool sym_ok(struct sym_pool *pool, struct err *err);
size_t sym_pool_count(const struct sym_pool *pool); /* distinct expressions so far */
bool sym_short_of_memory(
    const struct sym_pool *pool);                   /* sticky after the first failed allocation */
size_t sym_pool_bytes(const struct sym_pool *pool); /* memory that it holds */

/* --- Making atoms --- */

sym_id sym_integer(struct sym_pool *pool, int64_t value);
sym_id sym_integer_text(struct sym_pool *pool, struct str digits); /* any length, with its sign */
sym_id sym_float(struct sym_pool *pool, double value); /* infinities become oo, NaN nan */
static inline sym_id sym_boolean(bool value)
{
    return value ? SYM_ID_TRUE : SYM_ID_FALSE;
}
/* The same name with other assumptions is another symbol, as in sympy. */
sym_id sym_symbol(struct sym_pool *pool, struct str name, unsigned assumptions);
/* The latest symbol of that name, or SYM_NONE (which is no failure). */
sym_id sym_symbol_find(const struct sym_pool *pool, struct str name);

/* --- Operations: each rewrites as sympy does on construction --- */

/* Any kind that is no atom. The number of arguments is checked (TypeError). */
sym_id sym_make(struct sym_pool *pool, enum sym_kind kind, const sym_id *args, uint32_t n);
sym_id sym_unary(struct sym_pool *pool, enum sym_kind kind, sym_id a);
sym_id sym_binary(struct sym_pool *pool, enum sym_kind kind, sym_id a, sym_id b);
/* As given, like sympy's evaluate=False. */
sym_id sym_unevaluated(struct sym_pool *pool, enum sym_kind kind, const sym_id *args, uint32_t n);

#define SYM_BINARY(name, kind)                                                 \
    static inline sym_id sym_##name(struct sym_pool *pool, sym_id a, sym_id b) \
    {                                                                          \
        return sym_binary(pool, kind, a, b);                                   \
    }
SYM_BINARY(add, SYM_ADD)
SYM_BINARY(mul, SYM_MUL)
SYM_BINARY(pow, SYM_POW)
SYM_BINARY(eq, SYM_EQ)
SYM_BINARY(ne, SYM_NE)
SYM_BINARY(lt, SYM_LT)
SYM_BINARY(le, SYM_LE)
SYM_BINARY(gt, SYM_GT)
SYM_BINARY(ge, SYM_GE)
SYM_BINARY(and, SYM_AND)
SYM_BINARY(or, SYM_OR)
SYM_BINARY(max, SYM_MAX)
SYM_BINARY(min, SYM_MIN)
SYM_BINARY(floordiv, SYM_FLOORDIV)
SYM_BINARY(mod, SYM_MOD)
SYM_BINARY(python_mod, SYM_PYTHON_MOD)
#undef SYM_BINARY

static inline sym_id sym_not(struct sym_pool *pool, sym_id a)
{
    return sym_unary(pool, SYM_NOT, a);
}
sym_id sym_neg(struct sym_pool *pool, sym_id a);
sym_id sym_sub(struct sym_pool *pool, sym_id a, sym_id b);
sym_id sym_div(struct sym_pool *pool, sym_id a, sym_id b); /* exact: a * b**-1 */
/* CleanDiv when b divides a, else FloorDiv(a + b - 1, b). */
sym_id sym_ceildiv(struct sym_pool *pool, sym_id a, sym_id b);

/* --- Looking --- */

enum sym_kind sym_kind_of(const struct sym_pool *pool, sym_id e);
uint32_t sym_n_args(const struct sym_pool *pool, sym_id e);
sym_id sym_arg(const struct sym_pool *pool, sym_id e, uint32_t i);
struct str sym_name(const struct sym_pool *pool, sym_id symbol);
bool sym_is_number(const struct sym_pool *pool, sym_id e);     /* one number, infinities too */
bool sym_is_relational(const struct sym_pool *pool, sym_id e); /* Eq, Ne, Lt, Le, Gt, Ge */
/* False when it is no integer or does not fit; *ret is untouched then. */
bool sym_to_i64(const struct sym_pool *pool, sym_id e, int64_t *ret);
/* Any number as a double, as Python's float(); NAN for what is no number. */
double sym_to_double(const struct sym_pool *pool, sym_id e);
/* Less than 0, 0 or more; both numbers, neither nan. */
int sym_number_compare(struct sym_pool *pool, sym_id a, sym_id b);
bool sym_has(struct sym_pool *pool, sym_id e, sym_id part);
/* Each distinct symbol once, in sympy's argument order. */
bool sym_free_symbols(struct sym_pool *pool, sym_id e, void (*fn)(void *user, sym_id symbol),
                      void *user);

/* Answers of sympy's assumption queries (e.is_integer ...). */
enum sym_answer { SYM_UNKNOWN, SYM_NO, SYM_YES };
enum sym_question {
    SYM_ASK_INTEGER,
    SYM_ASK_REAL,
    SYM_ASK_FINITE,
    SYM_ASK_ZERO,
    SYM_ASK_POSITIVE,
    SYM_ASK_NEGATIVE,
    SYM_ASK_NONNEGATIVE,
    SYM_ASK_NONPOSITIVE,
    SYM_ASK_EVEN,
    SYM_ASK_ODD
};
enum sym_answer sym_ask(const struct sym_pool *pool, sym_id e, enum sym_question question);

/* --- Rewriting --- */

struct sym_pair {
    sym_id from, to;
};
/* Every occurrence of a pair's `from` becomes its `to`, all at once, and what contains them is
 * built anew (sympy's xreplace). */
sym_id sym_replace(struct sym_pool *pool, sym_id e, const struct sym_pair *pairs, uint32_t n);
/* Products and natural powers of sums multiplied out (_fast_expand of symbolic_shapes.py). */
sym_id sym_expand(struct sym_pool *pool, sym_id e);
/* canonicalize_bool_expr of symbolic_shapes.py: And of Ors of `<`, `<=`, `==`, `!=`, with positive
 * terms on both sides and no common integer factor. */
sym_id sym_canonical(struct sym_pool *pool, sym_id e);

/* --- Text --- */

void sym_print(struct sym_pool *pool, sym_id e, struct buf *out); /* str(): logs, graph text */
/* sympy_str of torch/_inductor/utils.py: Sym() in Inductor's graphs, "1 + FloorDiv(-1 + s53, 2)".
 */
void sym_print_inductor(struct sym_pool *pool, sym_id e, struct buf *out);
/* PythonPrinter of torch.utils._sympy.printers: guards. What it cannot print (TruncToFloat) fails
 * the pool with NotImplementedError. Symbols print as `name` gives them, or under their own name.
 */
typedef struct str sym_namer(void *user, sym_id symbol);
void sym_print_python(struct sym_pool *pool, sym_id e, sym_namer *name, void *user,
                      struct buf *out);
void sym_print_cpp(struct sym_pool *pool, sym_id e, sym_namer *name, void *user, struct buf *out);
/* ShapeGuardPythonPrinter of symbolic_shapes.py: as Python, floats as repr() gives them. */
void sym_print_shape_guard(struct sym_pool *pool, sym_id e, sym_namer *name, void *user,
                           struct buf *out);

/* --- Reading --- */

struct expr_pool;

/* Names a symbol of a recorded text. */
typedef sym_id sym_resolver(void *user, struct sym_pool *pool, struct str name);
/* The newest symbol of that name, else one with the assumptions that PyTorch gives that kind of
 * name: "s7" a positive integer, "u0" an integer, "zf3" real, others nothing. */
sym_resolver sym_by_name;

/* A recorded syntax tree (trace/graph/expr.h: str() text, guard text or srepr). Sums, products and
 * functions are built anew and so rewritten; relations, and a number times one sum, stay as they
 * were written, since PyTorch builds those unevaluated on purpose. "//" reads as FloorDiv and "%"
 * as PythonMod. symbol NULL is sym_by_name. What is no expression of sizes fails the pool. */
sym_id sym_read(struct sym_pool *pool, const struct expr_pool *exprs, uint32_t e,
                sym_resolver *symbol, void *user);
/* Parses and reads; the text need not outlive the call. */
sym_id sym_parse(struct sym_pool *pool, struct str text, sym_resolver *symbol, void *user);

#endif
