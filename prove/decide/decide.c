/* Deciders: facts, questions and the order of the methods. */
#include "prove/decide/decider.h"

#include <stdlib.h>

#include "replay/shape/expr/sym_pool.h"
#include "trace/base/clock.h"

enum { STEPS_OF_A_ROW = 8, MAX_DIVISORS = 16 };

const char *decide_verdict_name(enum decide_verdict verdict)
{
    static const char *const NAMES[] = {
        [DECIDE_PROVED] = "proved",
        [DECIDE_REFUTED] = "refuted",
        [DECIDE_UNDECIDED] = "undecided",
    };
    return NAMES[verdict];
}

const char *decide_method_name(enum decide_method method)
{
    static const char *const names[DECIDE_METHODS] = {
        [DECIDE_BY_FACT] = "fact",     [DECIDE_BY_INTERVALS] = "intervals",
        [DECIDE_BY_LINEAR] = "linear", [DECIDE_BY_SEARCH] = "search",
        [DECIDE_BY_Z3] = "z3",
    };
    return method < DECIDE_METHODS ? names[method] : "";
}

struct decider *decider_new(struct sym_pool *pool, struct err *err)
{
    struct decider *d = calloc(1, sizeof *d);
    if (!d)
        return err_nomem(err), NULL;
    d->pool = pool;
    formula_init(&d->formula, pool);
    d->propagation.f = &d->formula;
    d->point.f = &d->formula;
    return d;
}

void decider_free(struct decider *d)
{
    if (!d)
        return;
    formula_release(&d->formula);
    propagation_release(&d->propagation);
    point_release(&d->point);
    vec_release(&d->facts);
    vec_release(&d->fact_symbols);
    vec_release(&d->canonical);
    hash_index_release(&d->by_canonical);
    vec_release(&d->ranges);
    vec_release(&d->group);
    vec_release(&d->equal);
    vec_release(&d->symbols);
    vec_release(&d->relevant);
    vec_release(&d->asked);
    vec_release(&d->known);
    vec_release(&d->values);
    vec_release(&d->found);
    vec_release(&d->best);
    free(d);
}

bool decider_is_over(struct decider *d)
{
    return d->steps > d->limits.steps || clock_ns() > d->until;
}

static uint64_t allowed_steps(const struct decider *d)
{
    return (uint64_t)STEPS_OF_A_ROW * d->formula.rows.n + 1024;
}

/* Adds the rows of an expression and queues those that are new. */
static uint32_t add_row(struct decider *d, sym_id e)
{
    size_t before = d->formula.rows.n;
    uint32_t row = formula_row(&d->formula, e);
    for (size_t i = before; i < d->formula.rows.n; i++)
        propagation_queue(&d->propagation, (uint32_t)i);
    return row;
}

/* --- Facts --- */

bool decider_symbol(struct decider *d, sym_id symbol, struct decide_range range)
{
    if (symbol == SYM_NONE || kind_at(d->pool, symbol) != SYM_SYMBOL)
        return symbol != SYM_NONE;
    uint32_t row = add_row(d, symbol);
    if (row == ROW_NONE)
        return false;
    struct span span = { range.lower, range.upper };
    if (span.lower < -DECIDE_MOST)
        span.lower = DECIDE_NO_LOWER;
    else if (span.lower > DECIDE_MOST)
        span.lower = DECIDE_MOST;
    if (span.upper > DECIDE_MOST)
        span.upper = DECIDE_NO_UPPER;
    else if (span.upper < -DECIDE_MOST)
        span.upper = -DECIDE_MOST;
    if (!vec_push(&d->ranges, (struct given_range){ row, span }))
        return false;
    d->grouped = d->satisfiable = false;
    propagation_narrow(&d->propagation, row, span);
    return !d->propagation.failed;
}

struct symbol_list {
    struct decider *d;
    bool failed;
};

static void add_symbol(void *user, sym_id symbol)
{
    struct symbol_list *list = user;
    uint32_t row = formula_row(&list->d->formula, symbol);
    if (row == ROW_NONE || !vec_push(&list->d->fact_symbols, list->d->formula.rows.v[row].symbol))
        list->failed = true;
}

/* Appends the symbols of an expression to fact_symbols. */
static bool list_symbols(struct decider *d, sym_id e)
{
    struct symbol_list list = { .d = d };
    return sym_free_symbols(d->pool, e, add_symbol, &list) && !list.failed;
}

/* Returns the canonical form, or the expression itself if it has none. False: out of memory. */
static bool canonical_form(struct decider *d, sym_id e, sym_id *ret)
{
    struct err ignored = { 0 };
    *ret = sym_canonical(d->pool, e);
    if (*ret != SYM_NONE)
        return true;
    *ret = e;
    sym_ok(d->pool, &ignored);
    return !sym_short_of_memory(d->pool);
}

static uint32_t canonical_hash(sym_id e)
{
    return (uint32_t)(e * UINT64_C(0x9E3779B97F4A7C15) >> 32);
}

static bool is_fact(const struct decider *d, sym_id canonical)
{
    uint32_t row, hash = canonical_hash(canonical);
    for (size_t at = hash_index_start(&d->by_canonical, hash);
         hash_index_next(&d->by_canonical, hash, &at, &row);)
        if (d->canonical.v[row] == canonical)
            return true;
    return false;
}

static bool add_fact(struct decider *d, sym_id condition, unsigned depth)
{
    if (kind_at(d->pool, condition) == SYM_AND && depth < 64) {
        for (uint32_t i = 0; i < sym_n_args(d->pool, condition); i++)
            if (!add_fact(d, sym_arg(d->pool, condition, i), depth + 1))
                return false;
        return true;
    }
    struct fact fact = { .condition = condition, .first = (uint32_t)d->fact_symbols.n };
    sym_id canonical;
    fact.row = add_row(d, condition);
    if (fact.row == ROW_NONE || !list_symbols(d, condition) ||
        !canonical_form(d, condition, &canonical))
        return false;
    fact.n = (uint32_t)d->fact_symbols.n - fact.first;
    if (!vec_reserve(&d->facts, 1) || !vec_reserve(&d->canonical, 1) ||
        !hash_index_reserve(&d->by_canonical, 1))
        return false;
    hash_index_add(&d->by_canonical, canonical_hash(canonical), (uint32_t)d->facts.n);
    d->facts.v[d->facts.n++] = fact;
    d->canonical.v[d->canonical.n++] = canonical;
    d->grouped = d->satisfiable = false;
    return true;
}

bool decider_fact(struct decider *d, sym_id condition)
{
    return condition != SYM_NONE && add_fact(d, condition, 0);
}

void decider_trust_facts(struct decider *d)
{
    d->satisfiable = true;
}

uint32_t decider_mark(const struct decider *d)
{
    return (uint32_t)d->facts.n;
}

void decider_forget(struct decider *d, uint32_t mark)
{
    if (mark >= d->facts.n)
        return;
    d->fact_symbols.n = d->facts.v[mark].first;
    d->facts.n = d->canonical.n = mark;
    hash_index_clear(&d->by_canonical);
    for (uint32_t i = 0; i < mark; i++)
        hash_index_add(&d->by_canonical, canonical_hash(d->canonical.v[i]), i);
    decider_forget_equalities(d);
    d->again = true;
    d->grouped = d->contradictory = d->satisfiable = false;
}

/* Brings the spans up to date with the facts. */
static bool assume_facts(struct decider *d)
{
    struct propagation *p = &d->propagation;
    if (d->again) {
        propagation_undo(p, 0);
        for (size_t i = 0; i < d->ranges.n; i++)
            propagation_narrow(p, d->ranges.v[i].row, d->ranges.v[i].span);
        for (size_t i = 0; i < d->formula.rows.n; i++)
            propagation_queue(p, (uint32_t)i);
        d->n_propagated = 0;
        d->again = false;
    }
    for (; d->n_propagated < d->facts.n; d->n_propagated++)
        propagation_narrow(p, d->facts.v[d->n_propagated].row, (struct span){ 1, 1 });
    /* A question without steps looks at new rows only, so that its time does not depend on the
     * number of facts. */
    uint64_t known = d->limits.steps ? 0 : (uint64_t)STEPS_OF_A_ROW * d->n_assumed_rows;
    if (!d->contradictory && !propagation_run(p, allowed_steps(d) - known))
        d->contradictory = p->empty;
    d->n_assumed_rows = d->formula.rows.n;
    return !p->failed && !d->formula.failed;
}

/* --- The symbols and facts that a question needs --- */

static bool has_one_value(const struct decider *d, uint32_t symbol)
{
    return span_is_one(d->formula.rows.v[d->formula.symbols.v[symbol].row].span);
}

/* Puts the symbols that a fact contains into one group; those with one value connect nothing. */
static bool group_symbols(struct decider *d)
{
    size_t n = d->formula.symbols.n;
    d->group.n = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!vec_push(&d->group, i))
            return false;
    for (size_t i = 0; i < d->facts.n; i++) {
        uint32_t first = ROW_NONE;
        const uint32_t *symbols = vec_from(&d->fact_symbols, d->facts.v[i].first);
        for (uint32_t j = 0; j < d->facts.v[i].n; j++) {
            if (has_one_value(d, symbols[j]))
                continue;
            uint32_t group = disjoint_set_find(d->group.v, symbols[j]);
            if (first == ROW_NONE)
                first = group;
            d->group.v[group] = first = disjoint_set_find(d->group.v, first);
        }
    }
    d->grouped = true;
    d->steps += n + d->facts.n;
    return true;
}

/* Returns whether a fact is in a group that is marked in `known`. One whose symbols have one value
 * each is computed, too, because propagation may not have decided it. */
static bool is_relevant(struct decider *d, const struct fact *fact)
{
    const uint32_t *symbols = vec_from(&d->fact_symbols, fact->first);
    for (uint32_t j = 0; j < fact->n; j++)
        if (!has_one_value(d, symbols[j]))
            return d->known.v[disjoint_set_find(d->group.v, symbols[j])];
    return true;
}

/* Marks no group, and gives each symbol that has one value that value. */
static bool start_choice(struct decider *d)
{
    size_t n = d->formula.symbols.n;
    if ((!d->grouped || d->group.n != n) && !group_symbols(d))
        return false;
    d->known.n = d->values.n = 0;
    if (!vec_reserve(&d->known, n) || !vec_reserve(&d->values, n))
        return false;
    for (size_t i = 0; i < n; i++) {
        d->known.v[d->known.n++] = false;
        d->values.v[d->values.n++] = 0;
    }
    return true;
}

/* Sets `symbols` and `relevant` to those of the marked groups, or to all of them. */
static bool choose_marked(struct decider *d, bool all)
{
    d->symbols.n = d->relevant.n = 0;
    for (uint32_t i = 0; i < d->known.n; i++)
        if ((all || d->known.v[disjoint_set_find(d->group.v, i)]) && !vec_push(&d->symbols, i))
            return false;
    for (uint32_t i = 0; i < d->facts.n; i++)
        if ((all || is_relevant(d, &d->facts.v[i])) && !vec_push(&d->relevant, i))
            return false;
    d->steps += d->known.n + d->facts.n;
    for (size_t i = 0; i < d->known.n; i++) {
        struct span span = d->formula.rows.v[d->formula.symbols.v[i].row].span;
        d->known.v[i] = span_is_one(span);
        d->values.v[i] = span.lower;
    }
    return true;
}

static bool choose_relevant(struct decider *d, sym_id goal)
{
    size_t first = d->fact_symbols.n;
    if (!list_symbols(d, goal) || !start_choice(d))
        return false;
    for (size_t i = first; i < d->fact_symbols.n; i++)
        d->known.v[disjoint_set_find(d->group.v, d->fact_symbols.v[i])] = true;
    d->asked.n = 0;
    for (size_t i = 0; i < d->formula.symbols.n; i++)
        if (!vec_push(&d->asked, false))
            return false;
    for (size_t i = first; i < d->fact_symbols.n; i++)
        d->asked.v[d->fact_symbols.v[i]] = true;
    d->fact_symbols.n = first;
    return choose_marked(d, goal == SYM_ID_FALSE);
}

/* --- Questions --- */

static bool divides(enum sym_kind kind)
{
    return kind == SYM_FLOORDIV || kind == SYM_MOD || kind == SYM_INT_TRUE_DIV ||
           kind == SYM_FLOAT_TRUE_DIV;
}

/* Finds the divisors of an expression that may be 0. */
static void find_divisors(struct decider *d, uint32_t number, uint32_t *divisors, uint32_t *n)
{
    struct row *row = &d->formula.rows.v[number];
    if (row->visited == d->formula.walk)
        return;
    row->visited = d->formula.walk;
    if (divides(row->kind) && row->n == 2 && *n < MAX_DIVISORS) {
        uint32_t divisor = row_arg(&d->formula, row, 1);
        struct span span = d->formula.rows.v[divisor].span;
        if (span.lower <= 0 && span.upper >= 0)
            divisors[(*n)++] = divisor;
    }
    for (uint32_t i = 0; i < row->n; i++)
        find_divisors(d, row_arg(&d->formula, &d->formula.rows.v[number], i), divisors, n);
}

struct part_verdict {
    enum decide_verdict verdict;
    bool smallest, raises;
};

static bool is_only_z3(const struct decider *d)
{
    return d->limits.z3 && d->limits.only_z3;
}

static void tried(struct decide_answer *ret, enum decide_method method)
{
    ret->method = ret->method > method ? ret->method : method;
}

/* Finds values with which a row is 0 by search, or else by Z3. */
static struct part_verdict find_values(struct decider *d, uint32_t row, bool any,
                                       struct decide_answer *ret)
{
    struct part_verdict part = { 0 };
    enum search_result found = SEARCH_UNDECIDED;
    if (!is_only_z3(d)) {
        tried(ret, DECIDE_BY_SEARCH);
        found = decider_search(d, &part.smallest, &part.raises);
    }
    if (found == SEARCH_UNDECIDED && d->limits.z3 && !d->failed) {
        tried(ret, DECIDE_BY_Z3);
        found = decider_ask_z3(d, row, any ? NULL : &part.smallest, &part.raises, &ret->z3);
    }
    part.verdict = found == SEARCH_FOUND  ? DECIDE_REFUTED
                   : found == SEARCH_NONE ? DECIDE_PROVED
                                          : DECIDE_UNDECIDED;
    return part;
}

/* Decides whether the goal is other than true where a row is 0: the goal's own, or a divisor. */
static struct part_verdict decide_where(struct decider *d, uint32_t row, struct decide_answer *ret)
{
    struct propagation *p = &d->propagation;
    struct part_verdict part = { .verdict = DECIDE_PROVED };
    size_t trail = p->trail.n;
    uint64_t before = p->steps;
    if (is_only_z3(d))
        return find_values(d, row, false, ret);
    propagation_narrow(p, row, (struct span){ 0, 0 });
    bool open = propagation_run(p, allowed_steps(d));
    if (open) {
        /* Where bounds grow without end, they are of no use to linear arithmetic. */
        propagation_undo(p, trail);
        open = !decider_linear(d, row);
        tried(ret, DECIDE_BY_LINEAR);
    }
    if (open) {
        propagation_narrow(p, row, (struct span){ 0, 0 });
        propagation_run(p, allowed_steps(d));
        part = find_values(d, row, false, ret);
    }
    propagation_undo(p, trail);
    d->steps += p->steps - before;
    return part;
}

/* Searches values of each group of symbols, because a counterexample is none if the facts about
 * other symbols contradict each other. */
static bool satisfy_facts(struct decider *d, struct decide_answer *ret)
{
    enum decide_method method = ret->method;
    size_t n = d->formula.symbols.n;
    d->goal = add_row(d, SYM_ID_FALSE);
    for (uint32_t i = 0; i < n && ret->verdict == DECIDE_REFUTED; i++) {
        if (!start_choice(d))
            return false;
        if (disjoint_set_find(d->group.v, i) != i)
            continue;
        d->known.v[i] = true;
        if (!choose_marked(d, false))
            return false;
        ret->verdict = find_values(d, d->goal, true, ret).verdict;
    }
    if (ret->verdict == DECIDE_REFUTED)
        ret->method = method;
    d->satisfiable = ret->verdict == DECIDE_REFUTED;
    d->contradictory |= ret->verdict == DECIDE_PROVED;
    return d->goal != ROW_NONE && !d->failed;
}

/* Does the same once for the facts at hand. */
static bool check_facts(struct decider *d, sym_id goal, struct decide_answer *ret)
{
    if (d->satisfiable || ret->verdict != DECIDE_REFUTED)
        return true;
    if (goal == SYM_ID_FALSE) {
        d->satisfiable = true;
        return true;
    }
    return satisfy_facts(d, ret);
}

static int64_t largest_of(const struct decide_value *values, size_t n)
{
    int64_t ret = 0;
    for (size_t i = 0; i < n; i++)
        ret = llabs(values[i].value) > ret ? llabs(values[i].value) : ret;
    return ret;
}

/* Returns whether the values that were found come before the best ones, in the order of decide.h.
 */
static bool is_before(const struct decider *d)
{
    int64_t a = largest_of(d->found.v, d->found.n), b = largest_of(d->best.v, d->best.n);
    for (size_t i = 0; a == b && i < d->found.n && i < d->best.n; i++) {
        a = d->found.v[i].value;
        b = d->best.v[i].value;
        if ((a < 0) != (b < 0))
            return b < 0;
        a = llabs(a);
        b = llabs(b);
    }
    return a < b;
}

/* Combines the verdicts of the parts of a question. */
static bool take_verdict(struct decider *d, struct part_verdict part, struct decide_answer *ret)
{
    bool better =
        part.verdict == DECIDE_REFUTED && (ret->verdict != DECIDE_REFUTED || is_before(d));
    d->exact &= part.verdict == DECIDE_PROVED || (part.verdict == DECIDE_REFUTED && part.smallest);
    if (better) {
        d->best.n = 0;
        for (size_t i = 0; i < d->found.n; i++)
            if (!vec_push(&d->best, d->found.v[i]))
                return false;
        ret->raises = part.raises;
    }
    if (part.verdict == DECIDE_REFUTED || ret->verdict == DECIDE_PROVED)
        ret->verdict = part.verdict;
    ret->smallest = ret->verdict == DECIDE_REFUTED && d->exact;
    return true;
}

static bool decide_row(struct decider *d, sym_id goal, struct decide_answer *ret)
{
    uint32_t divisors[MAX_DIVISORS], n = 0;
    d->formula.walk++;
    find_divisors(d, d->goal, divisors, &n);
    d->best.n = 0;
    ret->method = DECIDE_BY_INTERVALS;
    if (n == 0 && d->formula.rows.v[d->goal].span.lower == 1 && !is_only_z3(d))
        return true;
    if (n == 0 && !is_only_z3(d) && decider_equal(d, goal)) {
        ret->method = DECIDE_BY_LINEAR;
        return true;
    }
    if (d->failed)
        return false;
    if (d->limits.steps == 0) {
        ret->verdict = DECIDE_UNDECIDED;
        return true;
    }
    if (!choose_relevant(d, goal))
        return false;
    if (!take_verdict(d, decide_where(d, d->goal, ret), ret))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!take_verdict(d, decide_where(d, divisors[i], ret), ret))
            return false;
    if (n == MAX_DIVISORS && ret->verdict == DECIDE_PROVED)
        ret->verdict = DECIDE_UNDECIDED;
    if (!check_facts(d, goal, ret))
        return false;
    ret->raises &= ret->verdict == DECIDE_REFUTED;
    ret->smallest &= ret->verdict == DECIDE_REFUTED;
    ret->values = ret->verdict == DECIDE_REFUTED ? d->best.v : NULL;
    ret->n_values = ret->verdict == DECIDE_REFUTED ? (uint32_t)d->best.n : 0;
    ret->no_values = ret->verdict == DECIDE_UNDECIDED && d->no_values;
    return !d->failed && !d->propagation.failed;
}

bool decide(struct decider *d, sym_id goal, const struct decide_limits *limits,
            struct decide_answer *ret)
{
    uint64_t start = clock_ns(), before = d->propagation.steps;
    sym_id canonical;
    *ret = (struct decide_answer){ .verdict = DECIDE_PROVED, .method = DECIDE_BY_FACT };
    if (goal == SYM_NONE)
        return false;
    d->limits = *limits;
    d->until = limits->ns > UINT64_MAX - start ? UINT64_MAX : start + limits->ns;
    d->steps = d->points = 0;
    d->no_values = d->failed = false;
    d->exact = true;
    d->found.n = 0;
    if (!assume_facts(d) || !canonical_form(d, goal, &canonical))
        return false;
    bool ok = true;
    uint64_t assumed = d->propagation.steps - before;
    if (goal != SYM_ID_TRUE && !is_fact(d, canonical)) {
        d->goal = add_row(d, goal);
        ok = d->goal != ROW_NONE && assume_facts(d);
        assumed = d->propagation.steps - before;
        if (ok && d->contradictory && !is_only_z3(d))
            ret->method = DECIDE_BY_INTERVALS;
        else
            ok = ok && decide_row(d, goal, ret);
    }
    ret->steps = d->steps + assumed;
    ret->points = d->points;
    ret->ns = clock_ns() - start;
    return ok;
}

bool decider_evaluate(struct decider *d, sym_id e, const struct decide_value *values, uint32_t n,
                      struct decide_result *ret)
{
    if (e == SYM_NONE)
        return false;
    uint32_t row = add_row(d, e);
    size_t symbols = d->formula.symbols.n;
    d->known.n = d->values.n = 0;
    if (row == ROW_NONE || !vec_reserve(&d->known, symbols) || !vec_reserve(&d->values, symbols))
        return false;
    for (size_t i = 0; i < symbols; i++) {
        d->known.v[d->known.n++] = false;
        d->values.v[d->values.n++] = 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (values[i].symbol >= d->formula.row_of.n || !d->formula.row_of.v[values[i].symbol])
            continue;
        uint32_t symbol = d->formula.rows.v[d->formula.row_of.v[values[i].symbol] - 1].symbol;
        if (symbol == ROW_NONE)
            continue;
        d->known.v[symbol] = true;
        d->values.v[symbol] = values[i].value;
    }
    d->point.values = d->values.v;
    d->point.known = d->known.v;
    if (!point_start(&d->point))
        return false;
    *ret = point_value(&d->point, row);
    return true;
}
