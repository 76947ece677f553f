/* Linear arithmetic over the integers: Fourier-Motzkin elimination after the equalities were used,
 * with bounds made tighter by common divisors (as in Pugh's Omega test), and case splits.
 *
 * Variables are products of atoms: symbols, quotients, maxima and whatever else is no sum, product
 * or remainder. A quotient has its definition (b*q <= a < b*q + b), a remainder is a - b*q, and a
 * product has what follows from the bounds of its factors ((x - 2)*(y - 2) >= 0). All of it is only
 * used to show that there are no values; what it finds possible is left to the search. */
#include <stdlib.h>
#include <string.h>

#include "prove/decide/decider.h"

enum {
    MAX_VARIABLES = 56,
    MAX_DEGREE = 4,
    MAX_TERMS = 32,
    MAX_CONSTRAINTS = 200, /* before elimination */
    MAX_ELIMINATED = 480,  /* during elimination */
    MAX_SPLITS = 40,       /* disjunctions */
    MAX_DEPTH = 12,        /* of case splits */
    MAX_CASES = 96,        /* in all */
    MAX_FACTS = 28,
    MAX_ROUNDS = 4,      /* in which facts are added */
    MAX_NESTING = 200,   /* of expressions */
    MAX_REDUCTIONS = 500 /* of equalities */
};
static const int64_t LARGEST = INT64_C(1) << 58;

/* The sum of coefficient * variable, and the constant, is at least 0, or equal to 0. */
struct constraint {
    int64_t c[MAX_VARIABLES], constant;
    uint32_t hash;
    bool equality;
};

struct variable {
    uint32_t atoms[MAX_DEGREE]; /* rows, in ascending order */
    uint32_t n;
};

struct polynomial {
    uint32_t variable[MAX_TERMS];
    int64_t c[MAX_TERMS], constant;
    uint32_t n;
};

/* An assumption: that a row is true or false, about two rows, or that a quotient's dividend is less
 * than its divisor, so that it is 0, or is not. */
enum literal_kind {
    LITERAL_TRUE,
    LITERAL_FALSE,
    LITERAL_LESS,
    LITERAL_EQUAL,
    LITERAL_BELOW,
    LITERAL_ABOVE
};
struct literal {
    enum literal_kind kind;
    uint32_t a, b;
};

/* One of these holds. */
struct split {
    uint32_t first, n; /* of literals */
};

struct linear {
    struct decider *d;
    struct formula *f;
    struct variable variables[MAX_VARIABLES];
    uint32_t n_variables, n_defined; /* variables whose definitions are among the constraints */
    struct constraint *constraints;  /* of MAX_CONSTRAINTS */
    uint32_t n;
    struct constraint *work; /* of MAX_ELIMINATED */
    struct split splits[MAX_SPLITS];
    uint32_t n_splits;
    vec_of(struct literal)
    literals;
    uint32_t cases;
    bool assumed[4096]; /* by relevant fact; later ones are not used */
    uint32_t n_facts;
    bool impossible; /* a constant is false */
    bool failed;     /* out of memory */
};

/* ---- Polynomials. Each function returns false when the result has no such form or is too large.
 */

static bool find_variable(struct linear *l, const struct variable *v, uint32_t *ret)
{
    for (*ret = 0; *ret < l->n_variables; (*ret)++)
        if (l->variables[*ret].n == v->n &&
            memcmp(l->variables[*ret].atoms, v->atoms, v->n * sizeof *v->atoms) == 0)
            return true;
    if (l->n_variables == MAX_VARIABLES)
        return false;
    l->variables[l->n_variables++] = *v;
    return true;
}

static bool add_term(struct polynomial *p, uint32_t variable, int64_t c)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (p->variable[i] == variable)
            return !__builtin_add_overflow(p->c[i], c, &p->c[i]);
    if (p->n == MAX_TERMS)
        return false;
    p->variable[p->n] = variable;
    p->c[p->n++] = c;
    return true;
}

static bool add_scaled(struct polynomial *p, const struct polynomial *q, int64_t by)
{
    int64_t c;
    if (__builtin_mul_overflow(q->constant, by, &c) ||
        __builtin_add_overflow(p->constant, c, &p->constant))
        return false;
    for (uint32_t i = 0; i < q->n; i++)
        if (__builtin_mul_overflow(q->c[i], by, &c) || !add_term(p, q->variable[i], c))
            return false;
    return true;
}

/* The product of two variables. */
static bool multiply_variables(struct linear *l, uint32_t a, uint32_t b, uint32_t *ret)
{
    struct variable x = l->variables[a], y = l->variables[b], v = { 0 };
    if (x.n + y.n > MAX_DEGREE)
        return false;
    for (uint32_t i = 0, j = 0; i < x.n || j < y.n;)
        v.atoms[v.n++] =
            j == y.n || (i < x.n && x.atoms[i] <= y.atoms[j]) ? x.atoms[i++] : y.atoms[j++];
    return find_variable(l, &v, ret);
}

static bool multiply(struct linear *l, const struct polynomial *a, const struct polynomial *b,
                     struct polynomial *ret)
{
    struct polynomial p = { 0 };
    if (!add_scaled(&p, a, b->constant))
        return false;
    int64_t constant = p.constant;
    if (!add_scaled(&p, b, a->constant))
        return false;
    p.constant = constant;
    for (uint32_t i = 0; i < a->n; i++)
        for (uint32_t j = 0; j < b->n; j++) {
            uint32_t v;
            int64_t c;
            if (__builtin_mul_overflow(a->c[i], b->c[j], &c) ||
                !multiply_variables(l, a->variable[i], b->variable[j], &v) || !add_term(&p, v, c))
                return false;
        }
    *ret = p;
    return true;
}

static bool atom(struct linear *l, uint32_t row, struct polynomial *ret)
{
    struct variable v = { .atoms = { row }, .n = 1 };
    uint32_t number;
    *ret = (struct polynomial){ 0 };
    return find_variable(l, &v, &number) && add_term(ret, number, 1);
}

static bool polynomial_of(struct linear *l, uint32_t number, unsigned depth,
                          struct polynomial *ret);

static bool sum_or_product(struct linear *l, uint32_t number, unsigned depth,
                           struct polynomial *ret)
{
    bool is_sum = l->f->rows.v[number].kind == SYM_ADD;
    uint32_t n = l->f->rows.v[number].n;
    struct polynomial all = { .constant = !is_sum }, one;
    for (uint32_t i = 0; i < n; i++)
        if (!polynomial_of(l, row_arg(l->f, &l->f->rows.v[number], i), depth + 1, &one) ||
            !(is_sum ? add_scaled(&all, &one, 1) : multiply(l, &all, &one, &all)))
            return false;
    *ret = all;
    return true;
}

static bool power(struct linear *l, uint32_t number, unsigned depth, struct polynomial *ret)
{
    const struct row row = l->f->rows.v[number];
    int64_t exponent = l->f->rows.v[row_arg(l->f, &row, 1)].integer_value;
    struct polynomial base;
    if (exponent > MAX_DEGREE || !polynomial_of(l, row_arg(l->f, &row, 0), depth + 1, &base))
        return false;
    *ret = (struct polynomial){ .constant = 1 };
    for (int64_t i = 0; i < exponent; i++)
        if (!multiply(l, ret, &base, ret))
            return false;
    return true;
}

/* a % b is a - b*(a//b). */
static bool remainder_polynomial(struct linear *l, uint32_t number, unsigned depth,
                                 struct polynomial *ret)
{
    const struct row row = l->f->rows.v[number];
    uint32_t a = row_arg(l->f, &row, 0), b = row_arg(l->f, &row, 1);
    struct polynomial p, q, product;
    if (l->f->rows.v[b].span.lower <= 0)
        return atom(l, number, ret);
    uint32_t quotient = formula_quotient(l->f, a, b);
    if (quotient == ROW_NONE) {
        l->failed = true;
        return false;
    }
    if (span_equal(l->f->rows.v[quotient].span, SPAN_ANY)) {
        propagation_queue(&l->d->propagation, quotient);
        propagation_run(&l->d->propagation, 1);
    }
    if (!polynomial_of(l, a, depth + 1, ret) || !polynomial_of(l, b, depth + 1, &p) ||
        !atom(l, quotient, &q) || !multiply(l, &p, &q, &product))
        return false;
    return add_scaled(ret, &product, -1);
}

/* The least value of a polynomial by the bounds of its variables. False: it has none. */
static bool least_value(const struct linear *l, const struct polynomial *p, int64_t *ret)
{
    wide sum = p->constant;
    for (uint32_t i = 0; i < p->n; i++) {
        const struct variable *v = &l->variables[p->variable[i]];
        struct span span = { 1, 1 };
        for (uint32_t j = 0; j < v->n; j++)
            span = span_product(span, l->f->rows.v[v->atoms[j]].span);
        int64_t bound = p->c[i] > 0 ? span.lower : span.upper;
        if (p->c[i] && (bound == DECIDE_NO_LOWER || bound == DECIDE_NO_UPPER))
            return false;
        sum += (wide)p->c[i] * bound;
        if (sum > LARGEST || sum < -LARGEST)
            return false;
    }
    *ret = (int64_t)sum;
    return true;
}

/* A maximum or minimum is the argument that no other one can exceed, if the bounds show which. */
static bool extreme_polynomial(struct linear *l, uint32_t number, unsigned depth,
                               struct polynomial *ret)
{
    const struct row row = l->f->rows.v[number];
    struct polynomial best, other, difference;
    int64_t least;
    for (uint32_t i = 0; i < row.n && row.n <= 4; i++) {
        bool wins = polynomial_of(l, row_arg(l->f, &row, i), depth + 1, &best);
        for (uint32_t j = 0; j < row.n && wins; j++) {
            if (j == i)
                continue;
            wins = polynomial_of(l, row_arg(l->f, &row, j), depth + 1, &other);
            difference = row.kind == SYM_MAX ? best : other;
            wins = wins && add_scaled(&difference, row.kind == SYM_MAX ? &other : &best, -1) &&
                   least_value(l, &difference, &least) && least >= 0;
        }
        if (wins) {
            *ret = best;
            return true;
        }
    }
    return atom(l, number, ret);
}

static bool polynomial_of(struct linear *l, uint32_t number, unsigned depth, struct polynomial *ret)
{
    const struct row row = l->f->rows.v[number];
    l->d->steps++;
    if (!row.integer || depth > MAX_NESTING || l->failed)
        return false;
    /* The value of an operation is no substitute for what it says about its arguments. */
    if (span_is_one(row.span) && row.n == 0) {
        *ret = (struct polynomial){ .constant = row.span.lower };
        return true;
    }
    if (row.opaque)
        return atom(l, number, ret);
    switch (row.kind) {
    case SYM_ADD:
    case SYM_MUL: return sum_or_product(l, number, depth, ret);
    case SYM_POW: return power(l, number, depth, ret);
    case SYM_MOD: return remainder_polynomial(l, number, depth, ret);
    case SYM_MAX:
    case SYM_MIN: return extreme_polynomial(l, number, depth, ret);
    default: return atom(l, number, ret);
    }
}

/* ---- Constraints ---- */

static bool remove_atom(const struct variable *from, uint32_t row, struct variable *ret)
{
    bool found = false;
    *ret = (struct variable){ 0 };
    for (uint32_t i = 0; i < from->n; i++)
        if (found || from->atoms[i] != row)
            ret->atoms[ret->n++] = from->atoms[i];
        else
            found = true;
    return found;
}

/* Divides all terms by an atom that is at least 1, if each has it. */
static bool cancel_atom(struct linear *l, uint32_t row, const struct polynomial *p,
                        struct polynomial *ret)
{
    if (l->f->rows.v[row].span.lower < 1)
        return false;
    *ret = (struct polynomial){ 0 };
    for (uint32_t i = 0; i < p->n; i++) {
        struct variable rest;
        uint32_t number;
        if (p->c[i] == 0)
            continue;
        if (!remove_atom(&l->variables[p->variable[i]], row, &rest))
            return false;
        if (rest.n == 0 ? __builtin_add_overflow(ret->constant, p->c[i], &ret->constant)
                        : !find_variable(l, &rest, &number) || !add_term(ret, number, p->c[i]))
            return false;
    }
    return true;
}

/* Divides a polynomial by the atoms that all of its terms have. Returns whether there are any. */
static bool cancel(struct linear *l, const struct polynomial *p, struct polynomial *of)
{
    struct polynomial ret = *p, smaller;
    bool again = ret.constant == 0, any = false;
    while (again) {
        again = false;
        for (uint32_t i = 0; i < ret.n && ret.constant == 0 && !again; i++) {
            const struct variable v = l->variables[ret.variable[i]];
            for (uint32_t j = 0; ret.c[i] && j < v.n && !again; j++)
                again = cancel_atom(l, v.atoms[j], &ret, &smaller);
            if (ret.c[i])
                break; /* what all terms have, the first has */
        }
        if (again)
            ret = smaller;
        any |= again;
        again = again && ret.constant == 0 && ret.n > 0;
    }
    *of = ret;
    return any;
}

static void put_constraint(struct linear *l, const struct polynomial *p, bool equality)
{
    struct constraint *c = &l->constraints[l->n];
    if (l->n == MAX_CONSTRAINTS)
        return;
    memset(c, 0, sizeof *c);
    c->constant = p->constant;
    c->equality = equality;
    bool any = false;
    for (uint32_t i = 0; i < p->n; i++) {
        c->c[p->variable[i]] = p->c[i];
        any |= p->c[i] != 0;
        if (p->c[i] > LARGEST || p->c[i] < -LARGEST)
            return;
    }
    if (p->constant > LARGEST || p->constant < -LARGEST)
        return;
    l->impossible |= !any && (p->constant < 0 || (equality && p->constant != 0));
    l->n += any;
}

static void add_constraint(struct linear *l, const struct polynomial *p, bool equality)
{
    struct polynomial smaller;
    put_constraint(l, p, equality);
    if (p->n > 1 && cancel(l, p, &smaller))
        put_constraint(l, &smaller, equality);
}

/* Returns the divisor of a variable that is a quotient by an expression that is at least 1;
 * ROW_NONE: it is none. */
static uint32_t symbolic_divisor(const struct linear *l, uint32_t variable)
{
    const struct variable *v = &l->variables[variable];
    const struct row *row = &l->f->rows.v[v->atoms[0]];
    if (v->n != 1 || row->kind != SYM_FLOORDIV || row->opaque)
        return ROW_NONE;
    uint32_t divisor = row_arg(l->f, row, 1);
    struct span span = l->f->rows.v[divisor].span;
    return span.lower >= 1 && !span_is_one(span) ? divisor : ROW_NONE;
}

/* Adds a constraint multiplied by the divisors of the quotients in it, because their definitions
 * are about these products. */
static void multiply_by_divisors(struct linear *l, const struct polynomial *p, bool equality)
{
    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t divisor = symbolic_divisor(l, p->variable[i]);
        struct polynomial b, product;
        if (divisor != ROW_NONE && polynomial_of(l, divisor, 0, &b) && multiply(l, p, &b, &product))
            add_constraint(l, &product, equality);
    }
}

/* b - a - gap >= 0, or a == b. */
static void add_relation(struct linear *l, uint32_t a, uint32_t b, int64_t gap, bool equality)
{
    struct polynomial p, q;
    if (!polynomial_of(l, b, 0, &p) || !polynomial_of(l, a, 0, &q) || !add_scaled(&p, &q, -1) ||
        __builtin_sub_overflow(p.constant, gap, &p.constant))
        return;
    add_constraint(l, &p, equality);
    multiply_by_divisors(l, &p, equality);
}

static void add_split(struct linear *l, const struct literal *literals, uint32_t n)
{
    if (l->n_splits == MAX_SPLITS)
        return;
    struct split split = { (uint32_t)l->literals.n, n };
    for (uint32_t i = 0; i < n; i++)
        if (!vec_push(&l->literals, literals[i])) {
            l->failed = true;
            return;
        }
    l->splits[l->n_splits++] = split;
}

static void assume(struct linear *l, struct literal literal, unsigned depth);

/* And that is true, Or that is false: all arguments are. Otherwise one of them is. */
static void assume_connective(struct linear *l, uint32_t number, bool truth, unsigned depth)
{
    const struct row row = l->f->rows.v[number];
    enum literal_kind kind = truth ? LITERAL_TRUE : LITERAL_FALSE;
    if ((row.kind == SYM_AND) == truth) {
        for (uint32_t i = 0; i < row.n; i++)
            assume(l, (struct literal){ kind, row_arg(l->f, &row, i), 0 }, depth + 1);
        return;
    }
    struct literal literals[8];
    if (row.n > sizeof literals / sizeof *literals)
        return;
    for (uint32_t i = 0; i < row.n; i++)
        literals[i] = (struct literal){ kind, row_arg(l->f, &row, i), 0 };
    add_split(l, literals, row.n);
}

static void assume_row(struct linear *l, uint32_t number, bool truth, unsigned depth)
{
    const struct row row = l->f->rows.v[number];
    if (depth > MAX_NESTING || l->failed)
        return;
    if (span_is_one(row.span) && (row.span.lower != 0) != truth) {
        l->impossible = true;
        return;
    }
    if (row.n == 0 || row.opaque)
        return;
    uint32_t a = row_arg(l->f, &row, 0), b = row.n > 1 ? row_arg(l->f, &row, 1) : a;
    switch (row.kind) {
    case SYM_NOT: assume_row(l, a, !truth, depth + 1); break;
    case SYM_AND:
    case SYM_OR: assume_connective(l, number, truth, depth); break;
    case SYM_EQ:
    case SYM_NE:
        if ((row.kind == SYM_EQ) == truth)
            add_relation(l, a, b, 0, true);
        else
            add_split(l, (struct literal[]){ { LITERAL_LESS, a, b }, { LITERAL_LESS, b, a } }, 2);
        break;
    case SYM_LT: add_relation(l, truth ? a : b, truth ? b : a, truth, false); break;
    case SYM_LE: add_relation(l, truth ? a : b, truth ? b : a, !truth, false); break;
    default: break;
    }
}

/* Assumes that the dividend is less than the divisor: the quotient is 0, and so is its product. */
static void assume_below(struct linear *l, uint32_t number)
{
    const struct row row = l->f->rows.v[number];
    struct polynomial q, b, product;
    add_relation(l, row_arg(l->f, &row, 0), row_arg(l->f, &row, 1), 1, false);
    if (!atom(l, number, &q))
        return;
    add_constraint(l, &q, true);
    if (polynomial_of(l, row_arg(l->f, &row, 1), 0, &b) && multiply(l, &q, &b, &product))
        add_constraint(l, &product, true);
}

static void assume(struct linear *l, struct literal literal, unsigned depth)
{
    const struct row row = l->f->rows.v[literal.a];
    switch (literal.kind) {
    case LITERAL_BELOW: assume_below(l, literal.a); break;
    case LITERAL_ABOVE:
        add_relation(l, row_arg(l->f, &row, 1), row_arg(l->f, &row, 0), 0, false);
        break;
    case LITERAL_TRUE: assume_row(l, literal.a, true, depth); break;
    case LITERAL_FALSE: assume_row(l, literal.a, false, depth); break;
    case LITERAL_LESS: add_relation(l, literal.a, literal.b, 1, false); break;
    case LITERAL_EQUAL: add_relation(l, literal.a, literal.b, 0, true); break;
    }
}

/* ---- Definitions of variables ---- */

static void define_quotient(struct linear *l, uint32_t number, const struct row *row)
{
    uint32_t a = row_arg(l->f, row, 0), b = row_arg(l->f, row, 1);
    struct polynomial pa, pb, q, product, low, high;
    if (l->f->rows.v[b].span.lower <= 0 || !polynomial_of(l, a, 0, &pa) ||
        !polynomial_of(l, b, 0, &pb) || !atom(l, number, &q) || !multiply(l, &pb, &q, &product))
        return;
    low = pa;
    if (add_scaled(&low, &product, -1))
        add_constraint(l, &low, false);
    high = product;
    high.constant--;
    if (add_scaled(&high, &pb, 1) && add_scaled(&high, &pa, -1))
        add_constraint(l, &high, false);
    if (l->f->rows.v[a].span.lower >= 0 && !span_is_one(l->f->rows.v[b].span))
        add_split(
            l, (struct literal[]){ { LITERAL_BELOW, number, 0 }, { LITERAL_ABOVE, number, 0 } }, 2);
}

static void define_extreme(struct linear *l, uint32_t number, const struct row *row)
{
    struct literal literals[8];
    for (uint32_t i = 0; i < row->n; i++) {
        uint32_t arg = row_arg(l->f, row, i);
        bool is_max = row->kind == SYM_MAX;
        add_relation(l, is_max ? arg : number, is_max ? number : arg, 0, false);
        if (i < 8)
            literals[i] = (struct literal){ LITERAL_EQUAL, number, arg };
    }
    if (row->n <= 8)
        add_split(l, literals, row->n);
}

static void add_bounds(struct linear *l, uint32_t variable, struct span span)
{
    struct polynomial p = { .n = 1, .variable = { variable } };
    if (span.lower != DECIDE_NO_LOWER) {
        p.c[0] = 1;
        p.constant = -span.lower;
        add_constraint(l, &p, false);
    }
    if (span.upper != DECIDE_NO_UPPER) {
        p.c[0] = -1;
        p.constant = span.upper;
        add_constraint(l, &p, false);
    }
}

/* The bounds of x and y, multiplied: (x - lower)*(y - lower) >= 0 and so on. */
static void multiply_bounds(struct linear *l, uint32_t x, struct span of_x, uint32_t y,
                            struct span of_y)
{
    for (int side = 0; side < 4; side++) {
        int64_t bx = side & 1 ? of_x.upper : of_x.lower, by = side & 2 ? of_y.upper : of_y.lower;
        if (bx == DECIDE_NO_LOWER || bx == DECIDE_NO_UPPER || by == DECIDE_NO_LOWER ||
            by == DECIDE_NO_UPPER)
            continue;
        struct polynomial a = { .n = 1, .variable = { x }, .c = { side & 1 ? -1 : 1 } };
        struct polynomial b = { .n = 1, .variable = { y }, .c = { side & 2 ? -1 : 1 } };
        a.constant = side & 1 ? bx : -bx;
        b.constant = side & 2 ? by : -by;
        struct polynomial product;
        if (multiply(l, &a, &b, &product))
            add_constraint(l, &product, false);
    }
}

static struct span variable_span(const struct linear *l, const struct variable *v, uint32_t first)
{
    struct span ret = { 1, 1 };
    for (uint32_t i = first; i < v->n; i++)
        ret = span_product(ret, l->f->rows.v[v->atoms[i]].span);
    return ret;
}

static void define_product(struct linear *l, uint32_t number)
{
    struct variable v = l->variables[number];
    add_bounds(l, number, variable_span(l, &v, 0));
    for (uint32_t i = 0; i < v.n; i++) {
        struct variable one = { .atoms = { v.atoms[i] }, .n = 1 }, rest = { .n = v.n - 1 };
        uint32_t x, y;
        if (i && v.atoms[i] == v.atoms[i - 1])
            continue;
        for (uint32_t j = 0, k = 0; j < v.n; j++)
            if (j != i)
                rest.atoms[k++] = v.atoms[j];
        if (!find_variable(l, &one, &x) || !find_variable(l, &rest, &y))
            continue;
        multiply_bounds(l, x, l->f->rows.v[v.atoms[i]].span, y, variable_span(l, &rest, 0));
    }
}

/* Adds what is known of the variables that are new; that may add others. */
static void define_variables(struct linear *l)
{
    for (; l->n_defined < l->n_variables && !l->failed; l->n_defined++) {
        const struct variable v = l->variables[l->n_defined];
        if (v.n > 1) {
            define_product(l, l->n_defined);
            continue;
        }
        const struct row row = l->f->rows.v[v.atoms[0]];
        add_bounds(l, l->n_defined, row.span);
        if (row.opaque)
            continue;
        if (row.kind == SYM_FLOORDIV)
            define_quotient(l, v.atoms[0], &row);
        else if (row.kind == SYM_MAX || row.kind == SYM_MIN)
            define_extreme(l, v.atoms[0], &row);
    }
}

/* ---- Elimination ---- */

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

enum { ROW_KEPT, ROW_TRIVIAL, ROW_IMPOSSIBLE };

/* Divides by the common divisor; the constant of an inequality is rounded down. */
static int normalize(struct constraint *c, uint32_t n)
{
    int64_t divisor = 0;
    c->hash = c->equality;
    for (uint32_t i = 0; i < n; i++)
        divisor = gcd(divisor, c->c[i]);
    if (divisor == 0)
        return c->constant < 0 || (c->equality && c->constant) ? ROW_IMPOSSIBLE : ROW_TRIVIAL;
    if (c->equality && c->constant % divisor)
        return ROW_IMPOSSIBLE;
    for (uint32_t i = 0; i < n; i++) {
        c->c[i] /= divisor;
        c->hash = c->hash * 31 + (uint32_t)c->c[i] + i * (uint32_t)(c->c[i] != 0);
    }
    c->constant = c->constant / divisor - (c->constant % divisor < 0);
    return ROW_KEPT;
}

/* ret = a*x + b*y. False: a number is too large. */
static bool combine(const struct constraint *x, int64_t a, const struct constraint *y, int64_t b,
                    uint32_t n, struct constraint *ret)
{
    struct constraint c = { .equality = x->equality && y->equality };
    for (uint32_t i = 0; i <= n; i++) {
        wide value =
            (wide)a * (i < n ? x->c[i] : x->constant) + (wide)b * (i < n ? y->c[i] : y->constant);
        if (value > LARGEST || value < -LARGEST)
            return false;
        *(i < n ? &c.c[i] : &c.constant) = (int64_t)value;
    }
    *ret = c;
    return true;
}

struct elimination {
    struct linear *l;
    struct constraint *rows;
    uint32_t n, n_variables;
    bool impossible, full;
};

static void put_row(struct elimination *e, const struct constraint *row)
{
    struct constraint c = *row;
    int kind = normalize(&c, e->n_variables);
    e->l->d->steps += e->n_variables / 4 + 1;
    e->impossible |= kind == ROW_IMPOSSIBLE;
    if (kind != ROW_KEPT)
        return;
    for (uint32_t i = 0; i < e->n; i++)
        if (e->rows[i].hash == c.hash && e->rows[i].equality == c.equality && !c.equality &&
            memcmp(e->rows[i].c, c.c, e->n_variables * sizeof *c.c) == 0) {
            if (c.constant < e->rows[i].constant)
                e->rows[i].constant = c.constant;
            return;
        }
    if (e->n == MAX_ELIMINATED) {
        e->full = true;
        return;
    }
    e->rows[e->n++] = c;
}

/* Uses an equality with a coefficient of 1 or -1 to replace that variable. Returns whether there
 * was one. */
static bool use_equality(struct elimination *e)
{
    for (uint32_t i = 0; i < e->n; i++) {
        if (!e->rows[i].equality)
            continue;
        uint32_t v = 0;
        while (v < e->n_variables && e->rows[i].c[v] != 1 && e->rows[i].c[v] != -1)
            v++;
        if (v == e->n_variables)
            continue;
        struct constraint equality = e->rows[i];
        uint32_t n = e->n;
        e->n = 0;
        for (uint32_t j = 0; j < n && !e->impossible; j++) {
            struct constraint row = e->rows[j];
            if (j == i)
                continue;
            if (row.c[v]) {
                bool other = row.equality;
                if (!combine(&row, 1, &equality, -row.c[v] * equality.c[v], e->n_variables, &row))
                    continue;
                row.equality = other;
            }
            put_row(e, &row);
        }
        return true;
    }
    return false;
}

/* Replaces the variable with the smallest coefficient of an equality, x, by x - sum(q*y) over the
 * other variables y, with the rounded quotients q of the coefficients, as Euclid's algorithm does.
 * The coefficients become smaller, until one is 1. Returns whether that was possible. */
static bool reduce_equality(struct elimination *e)
{
    int64_t quotients[MAX_VARIABLES] = { 0 };
    uint32_t at = 0, v = e->n_variables;
    while (at < e->n && !e->rows[at].equality)
        at++;
    if (at == e->n)
        return false;
    const struct constraint equality = e->rows[at];
    for (uint32_t i = 0; i < e->n_variables; i++)
        if (equality.c[i] && (v == e->n_variables || llabs(equality.c[i]) < llabs(equality.c[v])))
            v = i;
    for (uint32_t i = 0; i < e->n_variables; i++)
        quotients[i] = i == v ? 0 : equality.c[i] / equality.c[v];
    uint32_t n = e->n;
    e->n = 0;
    for (uint32_t j = 0; j < n && !e->impossible; j++) {
        struct constraint row = e->rows[j];
        bool fits = true;
        for (uint32_t i = 0; i < e->n_variables; i++) {
            wide c = row.c[i] - (wide)quotients[i] * row.c[v];
            fits &= c <= LARGEST && c >= -LARGEST;
            row.c[i] = fits ? (int64_t)c : 0;
        }
        if (fits)
            put_row(e, &row);
    }
    return true;
}

/* Two inequalities that leave one value become an equality. */
static void close_inequalities(struct elimination *e)
{
    for (uint32_t i = 0; i < e->n; i++)
        for (uint32_t j = i + 1; j < e->n && !e->rows[i].equality; j++) {
            bool opposite = !e->rows[j].equality && e->rows[i].constant == -e->rows[j].constant;
            for (uint32_t v = 0; v < e->n_variables && opposite; v++)
                opposite = e->rows[i].c[v] == -e->rows[j].c[v];
            if (!opposite)
                continue;
            e->rows[i].equality = true;
            e->rows[j] = e->rows[--e->n];
            break;
        }
}

/* Returns the variable whose elimination adds the fewest rows, or n_variables if none is left. */
static uint32_t cheapest(const struct elimination *e)
{
    uint32_t ret = e->n_variables;
    uint64_t best = UINT64_MAX;
    for (uint32_t v = 0; v < e->n_variables; v++) {
        uint64_t above = 0, below = 0;
        for (uint32_t i = 0; i < e->n; i++) {
            above += e->rows[i].c[v] > 0;
            below += e->rows[i].c[v] < 0;
        }
        if (above + below && above * below < best) {
            best = above * below;
            ret = v;
        }
    }
    return ret;
}

static void eliminate(struct elimination *e, uint32_t v)
{
    uint32_t n = e->n;
    for (uint32_t i = 0; i < n && !e->impossible; i++)
        for (uint32_t j = 0; j < n && !e->impossible && e->rows[i].c[v] > 0; j++) {
            struct constraint row;
            if (e->rows[j].c[v] < 0 && combine(&e->rows[i], -e->rows[j].c[v], &e->rows[j],
                                               e->rows[i].c[v], e->n_variables, &row))
                put_row(e, &row);
        }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < e->n; i++)
        if (!e->rows[i].c[v])
            e->rows[kept++] = e->rows[i];
    e->n = kept;
}

/* Returns whether no integers satisfy the constraints. False says nothing. */
static bool is_impossible(struct linear *l)
{
    struct elimination e = { .l = l, .rows = l->work, .n_variables = l->n_variables };
    for (uint32_t i = 0; i < l->n; i++)
        put_row(&e, &l->constraints[i]);
    close_inequalities(&e);
    for (uint32_t i = 0; i < MAX_REDUCTIONS && !e.impossible && !decider_is_over(l->d); i++)
        if (!use_equality(&e) && !reduce_equality(&e))
            break;
    for (uint32_t i = 0; i < e.n; i++)
        if (e.rows[i].equality)
            return e.impossible;
    for (uint32_t v = cheapest(&e); v < e.n_variables && !e.impossible && !e.full;
         v = cheapest(&e)) {
        if (decider_is_over(l->d))
            return false;
        eliminate(&e, v);
    }
    return e.impossible;
}

/* ---- Cases ---- */

static bool refute(struct linear *l, uint32_t split, unsigned depth)
{
    define_variables(l);
    if (l->failed || l->cases++ > MAX_CASES || decider_is_over(l->d))
        return false;
    if (l->impossible || is_impossible(l))
        return true;
    if (split >= l->n_splits || depth > MAX_DEPTH)
        return false;
    const struct split cases = l->splits[split];
    const uint32_t n = l->n, n_splits = l->n_splits, n_variables = l->n_variables;
    const uint32_t n_defined = l->n_defined;
    bool ret = true;
    for (uint32_t i = 0; i < cases.n && ret; i++) {
        assume(l, l->literals.v[cases.first + i], 0);
        ret = refute(l, split + 1, depth + 1);
        l->n = n;
        l->n_splits = n_splits;
        l->n_variables = n_variables;
        l->n_defined = n_defined;
        l->impossible = false;
    }
    return ret;
}

/* Assumes facts that were not assumed yet: those about symbols of the goal alone at first, then
 * those that contain such a symbol, whose other symbols count as the goal's from then on. */
static bool assume_facts(struct linear *l, bool inside)
{
    struct decider *d = l->d;
    uint32_t before = l->n_facts;
    size_t n = d->relevant.n < sizeof l->assumed ? d->relevant.n : sizeof l->assumed;
    for (size_t i = 0; i < n && l->n_facts < MAX_FACTS; i++) {
        const struct fact *fact = &d->facts.v[d->relevant.v[i]];
        uint32_t common = 0;
        for (uint32_t j = 0; j < fact->n; j++)
            common += d->asked.v[d->fact_symbols.v[fact->first + j]];
        if (l->assumed[i] || common == 0 || (inside && common < fact->n))
            continue;
        assume(l, (struct literal){ LITERAL_TRUE, fact->row, 0 }, 0);
        l->assumed[i] = true;
        l->n_facts++;
    }
    for (size_t i = 0; i < n; i++) {
        const struct fact *fact = &d->facts.v[d->relevant.v[i]];
        for (uint32_t j = 0; j < fact->n && l->assumed[i]; j++)
            d->asked.v[d->fact_symbols.v[fact->first + j]] = true;
    }
    return l->n_facts > before;
}

bool decider_linear(struct decider *d, uint32_t row)
{
    struct linear *l = calloc(1, sizeof *l);
    bool ret = false;
    if (l) {
        l->d = d;
        l->f = &d->formula;
        l->constraints = malloc(MAX_CONSTRAINTS * sizeof *l->constraints);
        l->work = malloc(MAX_ELIMINATED * sizeof *l->work);
    }
    if (l && l->constraints && l->work) {
        struct polynomial zero;
        if (row == d->goal)
            assume(l, (struct literal){ LITERAL_FALSE, row, 0 }, 0);
        else if (polynomial_of(l, row, 0, &zero))
            add_constraint(l, &zero, true);
        ret = refute(l, 0, 0);
        for (int round = 0; round < MAX_ROUNDS && !ret && !l->failed; round++) {
            l->cases = 0;
            ret = assume_facts(l, round == 0) && refute(l, 0, 0);
        }
    }
    d->failed |= !l || !l->constraints || !l->work || l->failed || d->formula.failed;
    if (l) {
        vec_release(&l->literals);
        free(l->constraints);
        free(l->work);
    }
    free(l);
    return ret && !d->failed;
}
