/* The inside of an expression pool, for the files of replay/shape/expr and its sibling rooms in
 * replay/shape; the manual is sym.h.
 *
 * A node has 32 bytes. Arguments are stored together in one array; so are the numerator and
 * denominator of a rational, which are nodes. Big integers have an array of their own. */
#ifndef SYMTAPE_REPLAY_SHAPE_EXPR_SYM_POOL_H
#define SYMTAPE_REPLAY_SHAPE_EXPR_SYM_POOL_H

#include "replay/shape/expr/sym.h"
#include "trace/base/arena.h"
#include "trace/base/intern.h"
#include "trace/base/vec.h"
#include "trace/graph/expr.h"

/* The facts that hold for a value. Signs and parity are stored as the set of the possible ones. */
enum {
    FACT_NEGATIVE = 1,
    FACT_ZERO = 2,
    FACT_POSITIVE = 4,
    FACT_SIGNS = 7,
    FACT_EVEN = 8,
    FACT_ODD = 16,
    FACT_PARITY = 24,
    FACT_INTEGER = 32,
    FACT_NOT_INTEGER = 64,
    FACT_RATIONAL = 128,
    FACT_NOT_RATIONAL = 256,
    FACT_REAL = 512, /* sympy's extended_real, which includes infinities */
    FACT_FINITE = 1024,
    FACT_INFINITE = 2048,
    FACT_CONSTANT = 4096, /* it has no free symbol: sympy's is_number */
    FACT_BOOLEAN = 8192,
    DECLARED_NONNEGATIVE = 1 << 30 /* only in sym.def */
};

struct sym_node {
    uint8_t kind;
    uint8_t unused;
    uint16_t depth;
    uint32_t facts;
    uint32_t hash;
    uint32_t weight; /* twice sympy's node count, because a Float counts a half */
    union {
        struct {
            uint32_t first, n; /* in pool->args; for a symbol its name and assumptions; for a big
                                  integer its index in pool->bigs */
        };
        int64_t integer;
        double real;
    };
};

/* A memoised operation. */
struct sym_memo {
    uint32_t code_plus_1; /* a kind, or one of MEMO_*; 0 where empty */
    sym_id a, b, result;
};

/* An integer that needs more than 64 bits. */
struct big_bytes {
    const unsigned char *p; /* big-endian magnitude */
    uint32_t n;
    bool negative;
};

/* Small integers, which are found without hashing. */
enum { LEAST_SMALL_INTEGER = -64, SMALL_INTEGERS = 1088 };

struct sym_pool {
    struct sym_node *nodes;
    size_t n_nodes, cap_nodes;
    vec_of(sym_id)
    args;
    uint32_t *slots; /* id + 1, or 0: open addressing, a power of two */
    size_t n_slots;
    struct sym_memo *memo; /* open addressing, a power of two */
    size_t n_memo, memo_used;
    struct intern names;
    vec_of(sym_id)
    latest; /* the newest symbol of each name */
    vec_of(struct big_bytes)
    bigs;
    struct arena arena;
    uint32_t *marks; /* for each node the number of the walk that visited it last */
    size_t n_marks;
    uint32_t walk;
    sym_id small[SMALL_INTEGERS]; /* from LEAST_SMALL_INTEGER; 0 (false) for those not made yet */
    struct expr_pool parsed;      /* the syntax tree of the text that sym_parse() reads */
    struct err failure;
    bool short_of_memory; /* sticky after the first failed allocation */
};

/* The description of a kind: a row of sym.def. */
struct sym_class {
    const char *name;
    uint8_t order;
    uint8_t key;
    uint16_t subkey;
    uint16_t precedence;
    uint32_t facts;
};
enum { NO_ORDER = 200 };
extern const struct sym_class sym_classes[SYM_KINDS];

static inline const struct sym_node *node_at(const struct sym_pool *pool, sym_id e)
{
    return &pool->nodes[e];
}
static inline enum sym_kind kind_at(const struct sym_pool *pool, sym_id e)
{
    return (enum sym_kind)pool->nodes[e].kind;
}
static inline sym_id arg_at(const struct sym_pool *pool, sym_id e, uint32_t i)
{
    return pool->args.v[pool->nodes[e].first + i];
}
static inline uint32_t facts_at(const struct sym_pool *pool, sym_id e)
{
    return pool->nodes[e].facts;
}
static inline bool is_int_kind(enum sym_kind kind)
{
    return kind == SYM_INTEGER || kind == SYM_BIG;
}
static inline bool is_integer(const struct sym_pool *pool, sym_id e)
{
    return is_int_kind(kind_at(pool, e));
}
/* sympy's is_Number: includes infinities and nan, but not zoo. */
static inline bool is_number(const struct sym_pool *pool, sym_id e)
{
    return kind_at(pool, e) <= SYM_NAN;
}
static inline bool is_rational(const struct sym_pool *pool, sym_id e)
{
    return kind_at(pool, e) <= SYM_RATIONAL;
}
static inline bool is_infinity(sym_id e)
{
    return e >= SYM_ID_INT_OO && e <= SYM_ID_MINUS_OO;
}
static inline bool is_relational(enum sym_kind kind)
{
    return kind >= SYM_EQ && kind <= SYM_LE;
}
static inline bool has_args(enum sym_kind kind)
{
    return kind > SYM_SYMBOL;
}

/* Predicates over facts. */
static inline bool known_positive(uint32_t f)
{
    return (f & FACT_REAL) && (f & FACT_SIGNS) == FACT_POSITIVE;
}
static inline bool known_negative(uint32_t f)
{
    return (f & FACT_REAL) && (f & FACT_SIGNS) == FACT_NEGATIVE;
}
static inline bool known_nonnegative(uint32_t f)
{
    return (f & FACT_REAL) && !(f & FACT_NEGATIVE);
}
static inline bool known_nonpositive(uint32_t f)
{
    return (f & FACT_REAL) && !(f & FACT_POSITIVE);
}
static inline bool known_zero(uint32_t f)
{
    return (f & FACT_SIGNS) == FACT_ZERO;
}
static inline bool known_nonzero(uint32_t f)
{
    return !(f & FACT_ZERO);
}
static inline bool known_even(uint32_t f)
{
    return (f & FACT_INTEGER) && (f & FACT_PARITY) == FACT_EVEN;
}
static inline bool known_odd(uint32_t f)
{
    return (f & FACT_INTEGER) && (f & FACT_PARITY) == FACT_ODD;
}

/* Returns whether e is large when shared subexpressions count as often as they occur. Algorithms
 * that visit every occurrence stop above this limit. */
static inline bool is_heavy(const struct sym_pool *pool, sym_id e)
{
    return pool->nodes[e].weight > 1u << 14;
}

/* The factors of a product; an expression that is none is its own factor. */
static inline uint32_t n_factors(const struct sym_pool *pool, sym_id e)
{
    return kind_at(pool, e) == SYM_MUL ? node_at(pool, e)->n : 1;
}
static inline sym_id factor_at(const struct sym_pool *pool, sym_id e, uint32_t i)
{
    return kind_at(pool, e) == SYM_MUL ? arg_at(pool, e, i) : e;
}

/* A list of expressions on the stack, which moves to the heap when it grows. A failed push fails
 * the pool. */
enum { LIST_INLINE = 16 };
struct list {
    struct sym_pool *pool;
    sym_id *v;
    uint32_t n, cap;
    sym_id inline_[LIST_INLINE];
};
void list_init(struct list *list, struct sym_pool *pool);
bool list_push(struct list *list, sym_id e);
bool list_push_args(struct list *list, sym_id e);
void list_release(struct list *list);

/* Each of these returns SYM_NONE. */
sym_id pool_nomem(struct sym_pool *pool);
sym_id pool_fail(struct sym_pool *pool, const char *fmt, ...) ERR_PRINTF(2, 3);
static inline bool pool_failed(const struct sym_pool *pool)
{
    return pool->failure.kind != ERR_NONE;
}

/* Returns the node with these arguments as they are. */
sym_id pool_node(struct sym_pool *pool, enum sym_kind kind, const sym_id *args, uint32_t n);
sym_id pool_node1(struct sym_pool *pool, enum sym_kind kind, sym_id a);
sym_id pool_node2(struct sym_pool *pool, enum sym_kind kind, sym_id a, sym_id b);
sym_id pool_big(struct sym_pool *pool, const unsigned char *magnitude, uint32_t n, bool negative);
sym_id pool_rational(struct sym_pool *pool, sym_id p, sym_id q); /* in lowest terms, q > 1 */

/* Begins a walk that visits each node once: pool_seen() returns false for the first visit. */
bool pool_walk(struct sym_pool *pool);
bool pool_seen(struct sym_pool *pool, sym_id e);

/* assumptions.c: returns the facts that follow from a new node's arguments. The node need not exist
 * yet. */
uint32_t facts_of(struct sym_pool *pool, enum sym_kind kind, const sym_id *args, uint32_t n);

/* order.c: the order of arguments (Basic.compare), and that of sorting and printing. */
int order_arguments(struct sym_pool *pool, sym_id a, sym_id b);
int order_sort_key(struct sym_pool *pool, sym_id a, sym_id b);
/* sympy's `ordered`: fewer nodes first, then sort_key. */
int order_ordered(struct sym_pool *pool, sym_id a, sym_id b);
typedef int order_fn(struct sym_pool *pool, sym_id a, sym_id b);
bool order_sort(struct sym_pool *pool, sym_id *v, uint32_t n, order_fn *order);
/* Puts the arguments of Add or Mul into `out`, in the order in which str() prints them. */
bool order_terms(struct sym_pool *pool, sym_id add, struct list *out);
bool order_factors(struct sym_pool *pool, sym_id mul, struct list *out);

/* number.c: arithmetic on numbers. */
sym_id number_add(struct sym_pool *pool, sym_id a, sym_id b);
sym_id number_mul(struct sym_pool *pool, sym_id a, sym_id b);
sym_id number_div(struct sym_pool *pool, sym_id a, sym_id b);
sym_id number_neg(struct sym_pool *pool, sym_id a);
sym_id number_abs(struct sym_pool *pool, sym_id a);
sym_id number_pow(struct sym_pool *pool, sym_id a, int64_t exponent);
sym_id number_floordiv(struct sym_pool *pool, sym_id a, sym_id b); /* integers, b not 0 */
sym_id number_mod(struct sym_pool *pool, sym_id a, sym_id b);      /* a - b*floor(a/b) */
sym_id number_gcd(struct sym_pool *pool, sym_id a, sym_id b);      /* integers */
sym_id number_floor(struct sym_pool *pool, sym_id a);
sym_id number_bitwise(struct sym_pool *pool, enum sym_kind kind, sym_id a, sym_id b);
sym_id number_of_double(struct sym_pool *pool, double x); /* the integer nearest towards zero */
int number_sign(const struct sym_pool *pool, sym_id a);
sym_id number_numerator(const struct sym_pool *pool, sym_id a);   /* of a rational */
sym_id number_denominator(const struct sym_pool *pool, sym_id a); /* 1 of an integer */
bool has_minus(const struct sym_pool *pool, sym_id e); /* a negative number, or one as factor */
void number_print_integer(const struct sym_pool *pool, sym_id a, struct buf *out);

/* The constructors, one in each file. None of the arguments is SYM_NONE. */
typedef sym_id build_fn(struct sym_pool *pool, enum sym_kind kind, const sym_id *args, uint32_t n);
build_fn build_add, build_mul, build_pow, build_relation, build_and_or, build_not, build_min_max,
    build_floordiv, build_mod, build_modular_indexing, build_where, build_piecewise, build_pair,
    build_true_div, build_to_float, build_to_int, build_round_decimal, build_trunc_to_float,
    build_pow_by_natural, build_float_pow, build_bitwise, build_opaque, build_identity,
    build_non_overlapping, build_abs;

/* Splits e into coefficient * rest: 3*x*y gives 3 and x*y. */
sym_id split_coefficient(struct sym_pool *pool, sym_id e, sym_id *rest);
/* Splits e into constant + rest. */
sym_id split_constant(struct sym_pool *pool, sym_id e, sym_id *rest);
/* Splits e into base ** exponent. */
sym_id split_power(struct sym_pool *pool, sym_id e, sym_id *exponent);
/* gcd.c */
sym_id divide_gcd(struct sym_pool *pool, sym_id a, sym_id b);        /* sympy.gcd */
sym_id divide_simple_gcd(struct sym_pool *pool, sym_id a, sym_id b); /* simple_floordiv_gcd */
sym_id divide_exactly(struct sym_pool *pool, sym_id a, sym_id b);    /* b divides a */
/* factor.c: what has been taken out is left as an unevaluated factor. */
sym_id factor_content(struct sym_pool *pool, sym_id e, sym_id *rest); /* returns a number */
sym_id factor_together(struct sym_pool *pool, sym_id e);              /* together */
sym_id factor_terms(struct sym_pool *pool, sym_id e, bool sign);      /* sign: -1, too */
/* rewrite.c: builds e anew from its rewritten arguments, always or where one has changed. */
typedef sym_id rewrite_fn(struct sym_pool *pool, sym_id e);
sym_id rewrite_args(struct sym_pool *pool, sym_id e, rewrite_fn *rewrite, bool always);
/* simplify.c: sympy.simplify(e / divisor), where the divisor divides e */
sym_id divide_simplify(struct sym_pool *pool, sym_id e, sym_id divisor);

/* make.c: results memoised under codes that are no kind. SYM_NONE when there is none. */
enum { MEMO_EXPAND = SYM_KINDS, MEMO_CANONICAL, MEMO_GCD, MEMO_SIMPLIFY, MEMO_SORT_KEY, MEMO_SUB };
sym_id memo_find(const struct sym_pool *pool, uint32_t code, sym_id a, sym_id b);
sym_id memo_put(struct sym_pool *pool, uint32_t code, sym_id a, sym_id b, sym_id result);

sym_id relation_canonical(struct sym_pool *pool, sym_id e);
sym_id relation_negated(struct sym_pool *pool, sym_id e);
enum sym_kind relation_mirrored(enum sym_kind kind);
unsigned print_precedence(struct sym_pool *pool, sym_id e);
bool could_extract_minus_sign(struct sym_pool *pool, sym_id e);

#endif
