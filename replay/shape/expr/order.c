/* sympy's two orders of expressions.
 *
 * Basic.compare sorts the arguments of sums and products, and thereby decides what the guard
 * printers show. sort_key decides how str() prints sums and products, and the order of the
 * arguments of And, Or, Max and Min.
 */
#include <math.h>
#include <stdlib.h>

#include "replay/shape/expr/sym_pool.h"

/* --- A merge sort whose comparison function takes the pool --- */

static void merge_runs(struct sym_pool *pool, sym_id *v, uint32_t half, uint32_t n, sym_id *spare,
                       order_fn *order)
{
    memcpy(spare, v, half * sizeof *v);
    uint32_t left = 0, right = half, to = 0;
    while (left < half && right < n)
        v[to++] = order(pool, spare[left], v[right]) <= 0 ? spare[left++] : v[right++];
    while (left < half)
        v[to++] = spare[left++];
}

static void sort_with(struct sym_pool *pool, sym_id *v, uint32_t n, sym_id *spare, order_fn *order)
{
    if (n < 2)
        return;
    uint32_t half = n / 2;
    sort_with(pool, v, half, spare, order);
    sort_with(pool, v + half, n - half, spare, order);
    merge_runs(pool, v, half, n, spare, order);
}

bool order_sort(struct sym_pool *pool, sym_id *v, uint32_t n, order_fn *order)
{
    sym_id few[32];
    sym_id *spare = n / 2 <= 32 ? few : malloc(n / 2 * sizeof *spare);
    if (!spare)
        return pool_nomem(pool), false;
    sort_with(pool, v, n, spare, order);
    if (spare != few)
        free(spare);
    return !pool_failed(pool);
}

/* --- Basic.compare --- */

/* Returns the name and order of e's class; Zero, One, Half and NegativeOne have their own classes.
 */
static const char *sort_class(const struct sym_pool *pool, sym_id e, unsigned *order)
{
    static const struct {
        sym_id id;
        const char *name;
        unsigned order;
    } singletons[] = { { SYM_ID_ZERO, "Zero", 0 },
                       { SYM_ID_ONE, "One", 1 },
                       { SYM_ID_MINUS_ONE, "NegativeOne", 5 } };
    for (size_t i = 0; i < sizeof singletons / sizeof *singletons; i++)
        if (singletons[i].id == e) {
            *order = singletons[i].order;
            return singletons[i].name;
        }
    enum sym_kind kind = kind_at(pool, e);
    if (kind == SYM_RATIONAL && arg_at(pool, e, 0) == SYM_ID_ONE &&
        arg_at(pool, e, 1) == SYM_ID_TWO) {
        *order = 2;
        return "Half";
    }
    *order = sym_classes[kind].order;
    return sym_classes[kind].name;
}

static int compare_classes(const struct sym_pool *pool, sym_id a, sym_id b)
{
    unsigned order_a, order_b;
    const char *name_a = sort_class(pool, a, &order_a), *name_b = sort_class(pool, b, &order_b);
    if (order_a != order_b)
        return order_a < order_b ? -1 : 1;
    return order_a == NO_ORDER ? strcmp(name_a, name_b) : 0;
}

/* Returns the number of facts that sympy deduces from a combination of assumptions: symbols are
 * compared by that number before their names (Symbol._hashable_content). */
static int n_assumptions(unsigned assumptions)
{
    bool integer = assumptions & SYM_IS_INTEGER;
    if (assumptions & SYM_IS_POSITIVE)
        return integer ? 25 : 19;
    if (assumptions & SYM_IS_NONNEGATIVE)
        return integer ? 18 : 12;
    return integer ? 14 : assumptions & SYM_IS_REAL ? 8 : 1;
}

static int compare_symbols(const struct sym_pool *pool, sym_id a, sym_id b)
{
    const struct sym_node *x = node_at(pool, a), *y = node_at(pool, b);
    int c = n_assumptions(x->n) - n_assumptions(y->n);
    if (c == 0)
        c = str_cmp(sym_name(pool, a), sym_name(pool, b));
    return c ? c : (int)x->n - (int)y->n;
}

/* Compares Floats by their content: the sign of the mantissa, the mantissa, the exponent. */
static int compare_floats(double a, double b)
{
    int exponent_a, exponent_b;
    double mantissa_a = frexp(fabs(a), &exponent_a), mantissa_b = frexp(fabs(b), &exponent_b);
    if ((a < 0) != (b < 0))
        return a < 0 ? 1 : -1;
    double odd_a = ldexp(mantissa_a, 53), odd_b = ldexp(mantissa_b, 53);
    for (; odd_a > 0 && fmod(odd_a, 2) == 0; odd_a /= 2)
        ;
    for (; odd_b > 0 && fmod(odd_b, 2) == 0; odd_b /= 2)
        ;
    if (odd_a != odd_b)
        return odd_a < odd_b ? -1 : 1;
    return (exponent_a > exponent_b) - (exponent_a < exponent_b);
}

static int compare_atoms(struct sym_pool *pool, sym_id a, sym_id b)
{
    switch (kind_at(pool, a)) {
    case SYM_SYMBOL: return compare_symbols(pool, a, b);
    case SYM_FLOAT: return compare_floats(node_at(pool, a)->real, node_at(pool, b)->real);
    case SYM_RATIONAL: {
        int c = sym_number_compare(pool, arg_at(pool, a, 0), arg_at(pool, b, 0));
        return c ? c : sym_number_compare(pool, arg_at(pool, a, 1), arg_at(pool, b, 1));
    }
    default: return is_number(pool, a) ? sym_number_compare(pool, a, b) : 0;
    }
}

int order_arguments(struct sym_pool *pool, sym_id a, sym_id b)
{
    if (a == b)
        return 0;
    int c = compare_classes(pool, a, b);
    if (c)
        return c;
    if (!has_args(kind_at(pool, a)))
        return compare_atoms(pool, a, b);
    uint32_t n = node_at(pool, a)->n;
    if (n != node_at(pool, b)->n)
        return n < node_at(pool, b)->n ? -1 : 1;
    for (uint32_t i = 0; i < n; i++) {
        c = order_arguments(pool, arg_at(pool, a, i), arg_at(pool, b, i));
        if (c)
            return c;
    }
    return 0;
}

/* --- sort_key --- */

static int compare_class_keys(const struct sym_pool *pool, sym_id a, sym_id b)
{
    const struct sym_class *x = &sym_classes[kind_at(pool, a)], *y = &sym_classes[kind_at(pool, b)];
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->subkey != y->subkey)
        return x->subkey < y->subkey ? -1 : 1;
    if (x->key == 1)
        return 0; /* all numbers have the class key "Number" */
    return strcmp(x->name, y->name);
}

/* Puts the arguments into `out` in the order in which sort_key lists them. */
static bool key_args(struct sym_pool *pool, sym_id e, struct list *out)
{
    switch (kind_at(pool, e)) {
    case SYM_ADD: return order_terms(pool, e, out);
    case SYM_MUL: return order_factors(pool, e, out);
    default: return list_push_args(out, e);
    }
}

static int compare_key_args(struct sym_pool *pool, sym_id a, sym_id b)
{
    struct list x, y;
    list_init(&x, pool);
    list_init(&y, pool);
    int c = 0;
    if (key_args(pool, a, &x) && key_args(pool, b, &y)) {
        c = (x.n > y.n) - (x.n < y.n);
        for (uint32_t i = 0; c == 0 && i < x.n; i++)
            c = order_sort_key(pool, x.v[i], y.v[i]);
    }
    list_release(&x);
    list_release(&y);
    return c;
}

/* Returns what remains of e without its coefficient and exponent, which come later in the key. */
static sym_id key_base(struct sym_pool *pool, sym_id e, sym_id *coefficient, sym_id *exponent)
{
    *exponent = SYM_ID_ONE;
    *coefficient = split_coefficient(pool, e, &e);
    if (e != SYM_NONE && kind_at(pool, e) == SYM_POW)
        return split_power(pool, e, exponent);
    return e;
}

static int compare_sort_keys(struct sym_pool *pool, sym_id a, sym_id b)
{
    if (is_number(pool, a) || is_number(pool, b)) {
        int c = is_number(pool, b) - is_number(pool, a);
        if (a == SYM_ID_NAN || b == SYM_ID_NAN)
            return c ? c : a < b ? -1 : 1;
        return c ? c : sym_number_compare(pool, a, b);
    }
    sym_id coefficient_a, coefficient_b, exponent_a, exponent_b;
    sym_id x = key_base(pool, a, &coefficient_a, &exponent_a);
    sym_id y = key_base(pool, b, &coefficient_b, &exponent_b);
    if (x == SYM_NONE || y == SYM_NONE)
        return 0;
    int c = compare_class_keys(pool, x, y);
    if (c == 0 && x != y)
        c = kind_at(pool, x) == SYM_SYMBOL ? str_cmp(sym_name(pool, x), sym_name(pool, y))
            : has_args(kind_at(pool, x))   ? compare_key_args(pool, x, y)
                                           : 0;
    if (c == 0)
        c = order_sort_key(pool, exponent_a, exponent_b);
    return c ? c : sym_number_compare(pool, coefficient_a, coefficient_b);
}

/* Results for large expressions are memoised: each comparison sorts the arguments of both, which
 * compares those, so that without a memo the work would double with every level. */
int order_sort_key(struct sym_pool *pool, sym_id a, sym_id b)
{
    enum { LARGE = 16 };
    if (a == b)
        return 0;
    if (node_at(pool, a)->weight < LARGE || node_at(pool, b)->weight < LARGE)
        return compare_sort_keys(pool, a, b);
    sym_id known = memo_find(pool, MEMO_SORT_KEY, a, b);
    if (known != SYM_NONE)
        return (int)known - 1;
    int c = compare_sort_keys(pool, a, b);
    c = (c > 0) - (c < 0);
    memo_put(pool, MEMO_SORT_KEY, a, b, (sym_id)(c + 1));
    return c;
}

int order_ordered(struct sym_pool *pool, sym_id a, sym_id b)
{
    uint32_t x = node_at(pool, a)->weight, y = node_at(pool, b)->weight;
    return x != y ? (x < y ? -1 : 1) : order_sort_key(pool, a, b);
}

bool order_factors(struct sym_pool *pool, sym_id mul, struct list *out)
{
    return list_push_args(out, mul) && order_sort(pool, out->v, out->n, order_sort_key);
}

/* --- The order of a sum's terms in str(): by powers, lexicographically --- */

struct power {
    uint32_t generator; /* first its id, then its index among the sorted ones */
    int64_t exponent;
};

struct order_term {
    sym_id term;
    double coefficient;
    uint32_t first, n; /* its powers in `powers` */
};

struct terms {
    struct sym_pool *pool;
    struct list generators;
    vec_of(struct power)
    powers;
    vec_of(struct order_term)
    terms;
};

/* decompose_power: splits a factor into base ** exponent with a whole exponent. */
static sym_id split_exponent(struct sym_pool *pool, sym_id factor, int64_t *exponent)
{
    sym_id power, base = split_power(pool, factor, &power), rest = SYM_ID_ONE;
    *exponent = 1;
    if (base == SYM_NONE)
        return SYM_NONE;
    sym_id part = is_number(pool, power) ? power : split_coefficient(pool, power, &rest);
    if (!is_rational(pool, part) || (part == SYM_ID_ONE && rest != SYM_ID_ONE))
        return factor;
    if (!sym_to_i64(pool, number_numerator(pool, part), exponent))
        return factor;
    sym_id root = number_div(pool, SYM_ID_ONE, number_denominator(pool, part));
    sym_id tail = sym_mul(pool, root, rest);
    return tail == SYM_ID_ONE ? base : sym_pow(pool, base, tail);
}

static bool add_power(struct terms *in, sym_id factor)
{
    int64_t exponent;
    sym_id base = split_exponent(in->pool, factor, &exponent);
    if (base == SYM_NONE || !vec_push(&in->powers, (struct power){ base, exponent }))
        return base != SYM_NONE ? (pool_nomem(in->pool), false) : false;
    return list_push(&in->generators, base);
}

static bool add_term(struct terms *in, sym_id e)
{
    struct sym_pool *pool = in->pool;
    sym_id rest;
    sym_id coefficient = split_coefficient(pool, e, &rest);
    if (coefficient == SYM_NONE || rest == SYM_NONE)
        return false;
    struct order_term term = { e, sym_to_double(pool, coefficient), (uint32_t)in->powers.n, 0 };
    bool product = kind_at(pool, rest) == SYM_MUL;
    uint32_t n = product ? node_at(pool, rest)->n : 1;
    for (uint32_t i = 0; i < n; i++) {
        sym_id factor = product ? arg_at(pool, rest, i) : rest;
        bool number = is_number(pool, factor) || (kind_at(pool, factor) == SYM_IDENTITY &&
                                                  is_number(pool, arg_at(pool, factor, 0)));
        if (!number && !add_power(in, factor))
            return false;
    }
    term.n = (uint32_t)in->powers.n - term.first;
    return vec_push(&in->terms, term) || (pool_nomem(pool), false);
}

static int by_id(struct sym_pool *pool, sym_id a, sym_id b)
{
    (void)pool;
    return (a > b) - (a < b);
}

static void keep_distinct(struct list *list)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < list->n; i++)
        if (i == 0 || list->v[i] != list->v[n - 1])
            list->v[n++] = list->v[i];
    list->n = n;
}

static int compare_power_place(const void *a, const void *b)
{
    uint32_t x = ((const struct power *)a)->generator, y = ((const struct power *)b)->generator;
    return (x > y) - (x < y);
}

struct generator_index {
    sym_id generator;
    uint32_t place;
};

static int compare_generator_indexes(const void *a, const void *b)
{
    sym_id x = ((const struct generator_index *)a)->generator,
           y = ((const struct generator_index *)b)->generator;
    return (x > y) - (x < y);
}

/* Replaces generators by their indexes in sort_key order. */
static bool index_generators(struct terms *in)
{
    uint32_t n = in->generators.n;
    struct generator_index *places = calloc(n ? n : 1, sizeof *places);
    if (!places)
        return pool_nomem(in->pool), false;
    for (uint32_t i = 0; i < n; i++)
        places[i] = (struct generator_index){ in->generators.v[i], i };
    qsort(places, n, sizeof *places, compare_generator_indexes);
    for (size_t i = 0; i < in->powers.n; i++) {
        struct generator_index key = { in->powers.v[i].generator, 0 };
        const struct generator_index *found =
            bsearch(&key, places, n, sizeof *places, compare_generator_indexes);
        in->powers.v[i].generator = found->place;
    }
    for (size_t i = 0; i < in->terms.n; i++)
        if (in->terms.v[i].n > 1)
            qsort(in->powers.v + in->terms.v[i].first, in->terms.v[i].n, sizeof(struct power),
                  compare_power_place);
    free(places);
    return true;
}

/* Compares two terms: higher powers of earlier generators come first. */
static int compare_monomials(const struct terms *in, const struct order_term *a,
                             const struct order_term *b)
{
    uint32_t i = 0, j = 0;
    while (i < a->n || j < b->n) {
        const struct power *p = i < a->n ? &in->powers.v[a->first + i] : NULL;
        const struct power *q = j < b->n ? &in->powers.v[b->first + j] : NULL;
        bool take_p = p && (!q || p->generator <= q->generator);
        bool take_q = q && (!p || q->generator <= p->generator);
        int64_t x = take_p ? p->exponent : 0, y = take_q ? q->exponent : 0;
        if (x != y)
            return x > y ? -1 : 1;
        i += take_p;
        j += take_q;
    }
    return (a->coefficient > b->coefficient) - (a->coefficient < b->coefficient);
}

static void merge_terms(const struct terms *in, struct order_term *v, size_t n,
                        struct order_term *spare)
{
    if (n < 2)
        return;
    size_t half = n / 2, left = 0, right = half, to = 0;
    merge_terms(in, v, half, spare);
    merge_terms(in, v + half, n - half, spare);
    memcpy(spare, v, half * sizeof *v);
    while (left < half && right < n)
        v[to++] = compare_monomials(in, &spare[left], &v[right]) <= 0 ? spare[left++] : v[right++];
    while (left < half)
        v[to++] = spare[left++];
}

/* Returns whether str() prints the number first, as in `3 - 2*x`: a sum of one positive number and
 * one product of a negative number and something else. */
static bool number_stays_first(const struct sym_pool *pool, sym_id add)
{
    if (node_at(pool, add)->n != 2)
        return false;
    sym_id number = arg_at(pool, add, 0), other = arg_at(pool, add, 1);
    return is_number(pool, number) && number_sign(pool, number) > 0 &&
           kind_at(pool, other) == SYM_MUL && node_at(pool, other)->n == 2 &&
           is_number(pool, arg_at(pool, other, 0)) && number_sign(pool, arg_at(pool, other, 0)) < 0;
}

static bool sort_terms(struct terms *in, struct list *out)
{
    if (!order_sort(in->pool, in->generators.v, in->generators.n, by_id))
        return false;
    keep_distinct(&in->generators);
    if (!order_sort(in->pool, in->generators.v, in->generators.n, order_sort_key) ||
        !index_generators(in))
        return false;
    struct order_term *spare = malloc((in->terms.n / 2 + 1) * sizeof *spare);
    if (!spare)
        return pool_nomem(in->pool), false;
    merge_terms(in, in->terms.v, in->terms.n, spare);
    free(spare);
    for (size_t i = 0; i < in->terms.n; i++)
        if (!list_push(out, in->terms.v[i].term))
            return false;
    return true;
}

bool order_terms(struct sym_pool *pool, sym_id add, struct list *out)
{
    if (number_stays_first(pool, add))
        return list_push_args(out, add);
    struct terms in = { .pool = pool };
    list_init(&in.generators, pool);
    bool ok = true;
    for (uint32_t i = 0; ok && i < node_at(pool, add)->n; i++)
        ok = add_term(&in, arg_at(pool, add, i));
    ok = ok && sort_terms(&in, out);
    list_release(&in.generators);
    vec_release(&in.powers);
    vec_release(&in.terms);
    return ok;
}
