#include "prove/regions/words.h"

enum { WINDOW = 256, LISTED = 4, EXCEPTIONS = 3 };

struct word_maker {
    struct decider *decider;
    const struct conditions *conditions;
    const sym_id *facts;
    const sym_id *single; /* by fact: its only symbol, or SYM_NONE */
    size_t n;
    int64_t base; /* the smallest size that the symbol may have; the window starts there */
    int64_t members[WINDOW]; /* the sizes of the window that the symbol may have, ascending */
    size_t n_members;
    int64_t end;    /* of the window */
    size_t n_named; /* symbols that have facts; only the first WORDS_NAMED get words */
};

/* ---- The facts of one symbol ---- */

struct symbol_count {
    sym_id symbol;
    size_t n;
};

static void count_symbol(void *user, sym_id symbol)
{
    struct symbol_count *count = user;
    count->symbol = symbol;
    count->n++;
}

/* Returns whether a size satisfies the facts that contain this symbol alone. */
static bool is_member(struct word_maker *m, sym_id symbol, int64_t size, bool *failed)
{
    const struct decide_value value = { symbol, size };
    for (size_t i = 0; i < m->n; i++) {
        struct decide_result result;
        if (m->single[i] != symbol)
            continue;
        if (!decider_evaluate(m->decider, m->facts[i], &value, 1, &result)) {
            *failed = true;
            return false;
        }
        if (result.kind != DECIDE_INTEGER || !result.integer)
            return false;
    }
    return true;
}

static bool find_members(struct word_maker *m, sym_id symbol)
{
    bool failed = false;
    m->n_members = 0;
    m->end = m->base + WINDOW;
    for (int64_t size = m->base; size < m->end && !failed; size++)
        if (is_member(m, symbol, size, &failed))
            m->members[m->n_members++] = size;
    return !failed;
}

/* ---- Proofs of words ---- */

static bool add_facts(struct word_maker *m, sym_id symbol)
{
    bool ok = true;
    for (size_t i = 0; i < m->n && ok; i++)
        if (m->single[i] == symbol)
            ok = decider_fact(m->decider, m->facts[i]);
    return ok;
}

/* Sets *ret to whether the facts of the symbol imply a condition. */
static bool implied(struct word_maker *m, sym_id symbol, sym_id condition, bool *ret)
{
    struct decide_answer answer;
    uint32_t mark = decider_mark(m->decider);
    bool ok = add_facts(m, symbol) && decide(m->decider, condition, &DECIDE_LIMITS, &answer);
    decider_forget(m->decider, mark);
    *ret = ok && answer.verdict == DECIDE_PROVED;
    return ok;
}

/* Returns false if a question was not refuted by a size of the symbol. */
static bool value_of(const struct decide_answer *answer, sym_id symbol, int64_t *ret)
{
    for (uint32_t i = 0; answer->verdict == DECIDE_REFUTED && i < answer->n_values; i++)
        if (answer->values[i].symbol == symbol) {
            *ret = answer->values[i].value;
            return true;
        }
    return false;
}

/* Finds the smallest size that the facts of the symbol allow. */
static bool find_base(struct word_maker *m, sym_id symbol, bool *found)
{
    struct decide_answer answer;
    uint32_t mark = decider_mark(m->decider);
    bool ok = add_facts(m, symbol) && decide(m->decider, SYM_ID_FALSE, &DECIDE_LIMITS, &answer);
    decider_forget(m->decider, mark);
    m->base = 0;
    *found = ok && value_of(&answer, symbol, &m->base);
    return ok;
}

/* Sets *ret to whether a condition implies the facts of the symbol; if not, *first to the smallest
 * size known that satisfies the condition and violates a fact. */
static bool implies(struct word_maker *m, sym_id symbol, sym_id condition, bool *ret,
                    int64_t *first)
{
    uint32_t mark = decider_mark(m->decider);
    bool ok = decider_fact(m->decider, condition);
    *ret = true;
    *first = INT64_MAX;
    for (size_t i = 0; i < m->n && ok; i++) {
        struct decide_answer answer;
        if (m->single[i] != symbol)
            continue;
        ok = decide(m->decider, m->facts[i], &DECIDE_LIMITS, &answer);
        *ret &= ok && answer.verdict == DECIDE_PROVED;
        int64_t value;
        if (ok && value_of(&answer, symbol, &value) && value < *first)
            *first = value;
    }
    decider_forget(m->decider, mark);
    return ok;
}

/* The condition that a size is first, first + step ..., up to last (SYM_NONE: without end). */
static sym_id progression(struct sym_pool *pool, sym_id symbol, int64_t first, int64_t step,
                          sym_id last)
{
    sym_id from = sym_integer(pool, first);
    sym_id ret = sym_ge(pool, symbol, from);
    if (step > 1) {
        sym_id rest = sym_mod(pool, symbol, sym_integer(pool, step));
        ret = sym_and(pool, ret, sym_eq(pool, rest, sym_integer(pool, first % step)));
    }
    return last == SYM_NONE ? ret : sym_and(pool, ret, sym_le(pool, symbol, last));
}

/* A set of sizes: first, first + step ... up to last, or without end. With `except`, all sizes from
 * `first` on but for those. */
struct size_set {
    int64_t first, step, last;
    bool open, except;
    int64_t except_first, except_step;
    int64_t apart[EXCEPTIONS]; /* or except these */
    size_t n_apart;
};

static bool find_step(const int64_t *sizes, size_t n, int64_t *step)
{
    *step = n > 1 ? sizes[1] - sizes[0] : 1;
    for (size_t i = 1; i < n; i++)
        if (sizes[i] - sizes[i - 1] != *step)
            return false;
    return n > 0;
}

/* Finds a set that has the same sizes in the window; false if there is none. */
static bool find_set(const struct word_maker *m, struct size_set *ret)
{
    int64_t missing[WINDOW];
    size_t n = 0;
    int64_t first = m->members[0], last = m->members[m->n_members - 1];
    *ret = (struct size_set){ .first = first, .last = last };
    bool plain = find_step(m->members, m->n_members, &ret->step);
    ret->open = m->n_members > 2 && last + ret->step >= m->end;
    if (plain)
        return true;
    for (int64_t size = first, i = 0; size < m->end; size++)
        if (i < (int64_t)m->n_members && m->members[i] == size)
            i++;
        else
            missing[n++] = size;
    ret->step = 1;
    ret->open = true;
    if (n <= EXCEPTIONS && last == m->end - 1) {
        for (ret->n_apart = 0; ret->n_apart < n; ret->n_apart++)
            ret->apart[ret->n_apart] = missing[ret->n_apart];
        return true;
    }
    ret->except = true;
    ret->except_first = n ? missing[0] : 0;
    return n > 2 && find_step(missing, n, &ret->except_step) && ret->except_step > 1 &&
           missing[n - 1] + ret->except_step >= m->end;
}

static sym_id set_condition(struct sym_pool *pool, sym_id symbol, const struct size_set *set)
{
    sym_id last = set->open ? SYM_NONE : sym_integer(pool, set->last);
    sym_id ret = progression(pool, symbol, set->first, set->step, last);
    for (size_t i = 0; i < set->n_apart; i++)
        ret = sym_and(pool, ret, sym_ne(pool, symbol, sym_integer(pool, set->apart[i])));
    if (!set->except)
        return ret;
    return sym_and(
        pool, ret,
        sym_not(pool, progression(pool, symbol, set->except_first, set->except_step, SYM_NONE)));
}

static void put_start(int64_t first, int64_t step, struct buf *out)
{
    buf_printf(out, "{%lld, %lld, %lld, ...}", (long long)first, (long long)(first + step),
               (long long)(first + 2 * step));
}

static void put_set(const struct word_maker *m, const struct size_set *set, struct buf *out)
{
    if (set->open && set->step == 1) {
        buf_printf(out, " >= %lld", (long long)set->first);
        if (set->except) {
            buf_puts(out, " except ");
            put_start(set->except_first, set->except_step, out);
        }
        for (size_t i = 0; i < set->n_apart; i++)
            buf_printf(out, "%s%lld", i ? ", " : " except ", (long long)set->apart[i]);
        return;
    }
    if (m->n_members == 1) {
        buf_printf(out, " = %lld", (long long)set->first);
        return;
    }
    buf_puts(out, " in ");
    if (set->open)
        put_start(set->first, set->step, out);
    else if (set->step == 1 && m->n_members > LISTED)
        buf_printf(out, "%lld..%lld", (long long)set->first, (long long)set->last);
    else if (m->n_members > LISTED)
        buf_printf(out, "{%lld, %lld, ..., %lld}", (long long)set->first,
                   (long long)(set->first + set->step), (long long)set->last);
    else
        for (size_t i = 0; i < m->n_members; i++)
            buf_printf(out, "%s%lld%s", i ? ", " : "{", (long long)m->members[i],
                       i + 1 < m->n_members ? "" : "}");
}

/* ---- Words ---- */

static bool put_members(struct word_maker *m, const struct condition_symbol *s, struct buf *out)
{
    struct size_set set;
    bool from = false, to = false;
    if (!find_set(m, &set)) {
        buf_puts(out, " in {");
        for (size_t i = 0; i < m->n_members && i < LISTED; i++)
            buf_printf(out, "%s%lld", i ? ", " : "", (long long)m->members[i]);
        buf_puts(out, m->n_members > LISTED ? " and others}" : "} and perhaps others");
        return true;
    }
    for (int try = 0; try < 2 && !(from && to); try++) {
        int64_t first = INT64_MAX;
        sym_id condition = set_condition(m->conditions->pool, s->symbol, &set);
        if (condition == SYM_NONE)
            break;
        if (!implies(m, s->symbol, condition, &to, &first))
            return false;
        if (!to && set.open && !set.except && first != INT64_MAX) { /* there is an end */
            set.open = false;
            set.last = first - set.step;
            m->n_members = LISTED + 1;
            continue;
        }
        if (to && !implied(m, s->symbol, condition, &from))
            return false;
    }
    put_set(m, &set, out);
    if (!from || !to)
        buf_printf(out, " (computed up to %lld)", (long long)m->end - 1);
    return true;
}

static bool put_symbol(struct word_maker *m, uint32_t symbol, struct words_places *places,
                       struct buf *out)
{
    const struct condition_symbol *s = &m->conditions->symbols.v[symbol];
    bool found;
    size_t n_facts = 0;
    for (size_t i = 0; i < m->n; i++)
        n_facts += m->single[i] == s->symbol;
    if (!n_facts || m->n_named++ == WORDS_NAMED)
        return true;
    if (!find_base(m, s->symbol, &found) || !find_members(m, s->symbol))
        return false;
    buf_printf(out, "%s%.*s", out->n ? ", " : "", STR_ARG(s->name));
    struct words_place *place = &places->list[places->n++];
    *place = (struct words_place){ .symbol = symbol, .start = (uint32_t)out->n + 1 };
    bool ok = !m->n_members || put_members(m, s, out);
    if (!m->n_members)
        buf_puts(out, found ? " is limited" : " is not decided");
    place->end = (uint32_t)out->n;
    return ok;
}

bool words_put(struct decider *decider, const struct conditions *conditions, const sym_id *facts,
               size_t n, struct words_places *places, struct buf *out)
{
    struct arena arena = ARENA_INIT;
    sym_id *single = arena_array(&arena, sym_id, n + 1);
    struct word_maker m = {
        .decider = decider, .conditions = conditions, .facts = facts, .single = single, .n = n
    };
    size_t n_several = 0;
    bool ok = single != NULL;
    for (size_t i = 0; i < n && ok; i++) {
        struct symbol_count count = { SYM_NONE, 0 };
        ok = sym_free_symbols(conditions->pool, facts[i], count_symbol, &count);
        single[i] = count.n == 1 ? count.symbol : SYM_NONE;
        n_several += count.n > 1;
    }
    decider_forget(decider, 0);
    places->n = 0;
    for (size_t i = 0; i < conditions->symbols.n && ok && m.n_named <= WORDS_NAMED; i++)
        if (conditions->symbols.v[i].has_hint)
            ok = put_symbol(&m, (uint32_t)i, places, out);
    if (m.n_named > WORDS_NAMED)
        buf_puts(out, ", and conditions on more symbols");
    if (n_several)
        buf_printf(out, "%s%zu condition%s on several sizes", out->n ? ", and " : "", n_several,
                   n_several == 1 ? "" : "s");
    if (!out->n)
        buf_puts(out, "all sizes");
    arena_release(&arena);
    return ok && !out->failed;
}
