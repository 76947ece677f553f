/* Symbolic sizes: integers, rationals, floats and booleans over symbols, in the canonical form that
 * sympy and torch.utils._sympy.functions give them, so that their text can be compared with what
 * PyTorch logged.
 *
 *     struct sym_pool *pool = sym_pool_new(&err);
 *     sym_id s0 = sym_symbol(pool, STR("s0"), SYM_IS_INTEGER | SYM_IS_POSITIVE);
 *     sym_id n = sym_floordiv(pool, sym_add(pool, s0, sym_integer(pool, 1)), sym_integer(pool, 2));
 *     sym_print(pool, n, &out);                        // ((s0 + 1)//2)
 *     if (!sym_ok(pool, &err)) ...
 *     sym_pool_free(pool);
 *
 * An expression is a small integer that is valid as long as its pool: equal expressions of one pool
 * have equal ids, because construction is hash-consed and rewrites to the canonical form. A
 * repeated operation is a look-up in the pool's table of operations and allocates nothing.
 *
 * Failure is sticky. When memory is exhausted, on a division by zero or beyond a limit below, the
 * call returns SYM_NONE and the pool stores the first reason; operations on SYM_NONE return
 * SYM_NONE. So formulas need no checks, and one sym_ok() at the end returns the reason and clears
 * it. What sympy raises has Python's name: "ZeroDivisionError: division by zero".
 *
 * Integers have no size limit below SYM_MAX_BITS: those that exceed 64 bits are BIGNUMs of
 * libcrypto (which the tape's hashing links already, and which reports memory failure, where GMP
 * aborts). Floats are IEEE doubles, as sympy's are at its default precision.
 *
 * One thread at a time may use a pool; two pools share nothing. */
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
    SYM_MAX_TEXT = 1 << 18   /* bytes of an expression's text: one with shared arguments may print
                                without end. The longest of real models has a tenth of it */
};

enum sym_kind {
#define SYM_KIND(name, class_, order, key, subkey, precedence, facts) SYM_##name,
#include "replay/shape/expr/sym.def"
#undef SYM_KIND
    SYM_KINDS
};

/* Every pool has these expressions, under these ids. */
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

/* The declared assumptions of a symbol; sympy deduces the rest (an integer is real and finite). */
enum { SYM_IS_REAL = 1, SYM_IS_INTEGER = 2, SYM_IS_NONNEGATIVE = 4, SYM_IS_POSITIVE = 8 };

struct sym_pool;

struct sym_pool *sym_pool_new(struct err *err);
void sym_pool_free(struct sym_pool *pool); /* NULL is fine */
/* Returns false, and moves the first failure to err, when something failed since the last call. */
bool sym_ok(struct sym_pool *pool, struct err *err);
size_t sym_pool_count(const struct sym_pool *pool); /* the number of distinct expressions */
/* Returns the number of nodes of an expression, as sympy counts them; it does not exceed 2**30. */
uint32_t sym_n_nodes(const struct sym_pool *pool, sym_id e);
bool sym_short_of_memory(
    const struct sym_pool *pool);                   /* sticky after the first failed allocation */
size_t sym_pool_bytes(const struct sym_pool *pool); /* the memory that it uses */

/* --- Making atoms --- */

sym_id sym_integer(struct sym_pool *pool, int64_t value);
sym_id sym_integer_text(struct sym_pool *pool,
                        struct str digits);            /* of any length, may be signed */
sym_id sym_float(struct sym_pool *pool, double value); /* infinities become oo, NaN becomes nan */
static inline sym_id sym_boolean(bool value)
{
    return value ? SYM_ID_TRUE : SYM_ID_FALSE;
}
/* Makes a symbol. The same name with other assumptions is another symbol, as in sympy. */
sym_id sym_symbol(struct sym_pool *pool, struct str name, unsigned assumptions);
/* Returns the latest symbol of that name, or SYM_NONE (which is no failure). */
sym_id sym_symbol_find(const struct sym_pool *pool, struct str name);

/* --- Operations: each rewrites as sympy does on construction --- */

/* Makes a node of any kind but atoms. The number of arguments is checked (TypeError). */
sym_id sym_make(struct sym_pool *pool, enum sym_kind kind, const sym_id *args, uint32_t n);
sym_id sym_unary(struct sym_pool *pool, enum sym_kind kind, sym_id a);
sym_id sym_binary(struct sym_pool *pool, enum sym_kind kind, sym_id a, sym_id b);
/* Makes the node with the arguments as they are, like sympy's evaluate=False. */
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
/* Returns CleanDiv when b divides a, else FloorDiv(a + b - 1, b). */
sym_id sym_ceildiv(struct sym_pool *pool, sym_id a, sym_id b);

/* --- Queries --- */

enum sym_kind sym_kind_of(const struct sym_pool *pool, sym_id e);
uint32_t sym_n_args(const struct sym_pool *pool, sym_id e);
sym_id sym_arg(const struct sym_pool *pool, sym_id e, uint32_t i);
struct str sym_name(const struct sym_pool *pool, sym_id symbol);
bool sym_is_number(const struct sym_pool *pool, sym_id e);     /* a single number or infinity */
bool sym_is_relational(const struct sym_pool *pool, sym_id e); /* Eq, Ne, Lt, Le, Gt, Ge */
/* Returns false, without changing *ret, when e is no integer or does not fit. */
bool sym_to_i64(const struct sym_pool *pool, sym_id e, int64_t *ret);
/* Returns any number as a double, like Python's float(); NAN for an expression that is no number.
 */
double sym_to_double(const struct sym_pool *pool, sym_id e);
/* Returns whether two numbers are equal as far as sympy prints floats, with 15 digits. */
bool sym_numbers_near(const struct sym_pool *pool, sym_id a, sym_id b);
/* Returns less than 0, 0 or more. Both are numbers, and neither is nan. */
int sym_number_compare(struct sym_pool *pool, sym_id a, sym_id b);
bool sym_has(struct sym_pool *pool, sym_id e, sym_id part);
/* Calls fn for each distinct symbol once, in sympy's argument order. */
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
/* Replaces every occurrence of a pair's `from` by its `to`, all at once, and rebuilds the
 * expressions that contain them (sympy's xreplace). */
sym_id sym_replace(struct sym_pool *pool, sym_id e, const struct sym_pair *pairs, uint32_t n);
/* Multiplies out products and natural powers of sums (_fast_expand of symbolic_shapes.py). */
sym_id sym_expand(struct sym_pool *pool, sym_id e);
/* canonicalize_bool_expr of symbolic_shapes.py: returns And of Ors of `<`, `<=`, `==`, `!=`, with
 * positive terms on both sides and no common integer factor. */
sym_id sym_canonical(struct sym_pool *pool, sym_id e);

/* --- Text --- */

void sym_print(struct sym_pool *pool, sym_id e, struct buf *out); /* str(): logs, graph text */
/* sympy_str of torch/_inductor/utils.py, for Sym() in Inductor's graphs: "1 + FloorDiv(-1 + s53,
 * 2)".
 */
void sym_print_inductor(struct sym_pool *pool, sym_id e, struct buf *out);
/* PythonPrinter of torch.utils._sympy.printers, for guards. An expression that it cannot print
 * (TruncToFloat) fails the pool with NotImplementedError. Symbols are printed as `name` returns
 * them, or under their own name. */
typedef struct str sym_namer(void *user, sym_id symbol);
void sym_print_python(struct sym_pool *pool, sym_id e, sym_namer *name, void *user,
                      struct buf *out);
void sym_print_cpp(struct sym_pool *pool, sym_id e, sym_namer *name, void *user, struct buf *out);
/* ShapeGuardPythonPrinter of symbolic_shapes.py: like PythonPrinter, with floats as in repr(). */
void sym_print_shape_guard(struct sym_pool *pool, sym_id e, sym_namer *name, void *user,
                           struct buf *out);

/* --- Reading --- */

struct expr_pool;

/* Returns the symbol that a name in a recorded text stands for. */
typedef sym_id sym_resolver(void *user, struct sym_pool *pool, struct str name);
/* Returns the newest symbol of that name, else makes one with the assumptions that PyTorch gives
 * that kind of name: "s7" is a positive integer, "u0" an integer, "zf3" real, others have none. */
sym_resolver sym_by_name;

/* Converts a recorded syntax tree (trace/graph/expr.h: str() text, guard text or srepr). Sums,
 * products and functions are built anew and thereby rewritten; relations, and a number times one
 * sum, stay as they were written, since PyTorch builds those unevaluated on purpose. "//" reads as
 * FloorDiv and "%" as PythonMod. A `symbol` of NULL means sym_by_name. A text that is no expression
 * of sizes fails the pool. */
sym_id sym_read(struct sym_pool *pool, const struct expr_pool *exprs, uint32_t e,
                sym_resolver *symbol, void *user);
/* Parses and converts; the text may be freed after the call. */
sym_id sym_parse(struct sym_pool *pool, struct str text, sym_resolver *symbol, void *user);

#endif
