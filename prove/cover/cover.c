#include "prove/cover/cover.h"

#include "prove/cover/range_facts.h"

struct coverer {
    struct cover *cover;
    struct conditions *conditions;
    const struct cover_range *range;
    struct decider *decider;
    vec_of(struct sym_pair)
    constants;               /* of symbols that are no integers */
    uint32_t n_z3_undecided; /* questions */
};

/* ---- The facts ---- */

/* Floats keep their recorded value: they are replaced by it, since the decider knows integers only.
 */
static bool add_constants(struct coverer *c, struct err *err)
{
    for (size_t i = 0; i < c->conditions->symbols.n; i++) {
        const struct condition_symbol *s = &c->conditions->symbols.v[i];
        struct sym_pair pair = { s->symbol, s->value };
        if (!s->has_hint && s->value != SYM_NONE && !vec_push(&c->constants, pair))
            return err_nomem(err);
    }
    return true;
}

/* ---- The questions ---- */

static bool ask(struct coverer *c, sym_id goal, struct decide_answer *ret, struct err *err)
{
    struct decide_limits limits = c->range->limits;
    if (c->n_z3_undecided >= DECIDE_MAX_Z3_UNDECIDED && !limits.only_z3)
        limits.z3 = NULL;
    if (!decide(c->decider, goal, &limits, ret))
        return err_nomem(err);
    c->n_z3_undecided += ret->z3 != Z3_NOT_ASKED && ret->verdict == DECIDE_UNDECIDED;
    struct decide_value *values =
        arena_array(&c->cover->arena, struct decide_value, (size_t)ret->n_values + 1);
    uint32_t n = 0;
    if (!values)
        return err_nomem(err);
    for (uint32_t i = 0; i < ret->n_values; i++)
        if (cover_range_symbol(c->range, ret->values[i].symbol))
            values[n++] = ret->values[i];
    ret->values = values;
    ret->n_values = n;
    return true;
}

struct related {
    const struct coverer *coverer;
    bool any, data_dependent;
};

static void note_symbol(void *user, sym_id symbol)
{
    struct related *r = user;
    const struct condition_symbol *row = conditions_symbol(r->coverer->conditions, symbol);
    r->data_dependent |= !row || row->value == SYM_NONE;
    r->any |= cover_range_symbol(r->coverer->range, symbol) != NULL;
}

static bool add_row(struct coverer *c, const struct condition *condition, struct err *err)
{
    struct related related = { c, false, false };
    struct sym_pool *pool = c->conditions->pool;
    struct cover_row row = { .condition = condition };
    if (condition->expr != SYM_NONE &&
        !sym_free_symbols(pool, condition->expr, note_symbol, &related))
        return err_nomem(err);
    if (condition->expr != SYM_NONE && !related.any) {
        c->cover->n_unrelated++;
        return true;
    }
    if (related.data_dependent) {
        c->cover->n_data_dependent++;
        return true;
    }
    sym_id goal = condition->expr;
    struct err why = { 0 };
    if (goal != SYM_NONE && c->constants.n)
        goal = sym_replace(pool, goal, c->constants.v, (uint32_t)c->constants.n);
    if (!sym_ok(pool, &why) && why.no_memory)
        return err_nomem(err);
    if (goal == SYM_NONE)
        row.answer = (struct decide_answer){ .verdict = DECIDE_UNDECIDED, .no_values = true };
    else if (!ask(c, goal, &row.answer, err))
        return false;
    c->cover->n[row.answer.verdict]++;
    c->cover->n_by_z3 +=
        row.answer.verdict != DECIDE_UNDECIDED && row.answer.method == DECIDE_BY_Z3;
    return vec_push(&c->cover->rows, row) || err_nomem(err);
}

/* Returns the value of a symbol in a counterexample. One that it does not list may have any value,
 * and comes before those that are listed. */
static int64_t value_in(const struct decide_answer *answer, sym_id symbol)
{
    for (uint32_t i = 0; i < answer->n_values; i++)
        if (answer->values[i].symbol == symbol)
            return answer->values[i].value;
    return INT64_MIN;
}

/* Compares counterexamples: by the largest size, then by the sizes in the order of the range. */
static bool comes_before(const struct cover_range *range, const struct decide_answer *a,
                         const struct decide_answer *b)
{
    int64_t largest[2] = { INT64_MIN, INT64_MIN };
    const struct decide_answer *both[2] = { a, b };
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; i < both[k]->n_values; i++)
            if (both[k]->values[i].value > largest[k])
                largest[k] = both[k]->values[i].value;
    if (largest[0] != largest[1])
        return largest[0] < largest[1];
    for (size_t i = 0; i < range->n_symbols; i++) {
        int64_t x = value_in(a, range->symbols[i].symbol),
                y = value_in(b, range->symbols[i].symbol);
        if (x != y)
            return x < y;
    }
    return false;
}

static void sum_up(struct cover *cover, const struct cover_range *range)
{
    cover->first_is_smallest = !cover->n[DECIDE_UNDECIDED];
    for (size_t i = 0; i < cover->rows.n; i++) {
        const struct cover_row *row = &cover->rows.v[i];
        if (row->answer.verdict == DECIDE_REFUTED &&
            (!cover->first || comes_before(range, &row->answer, &cover->first->answer)))
            cover->first = row;
        if (row->answer.verdict == DECIDE_REFUTED && !row->answer.smallest)
            cover->first_is_smallest = false;
    }
    cover->verdict = cover->n[DECIDE_REFUTED]     ? DECIDE_REFUTED
                     : cover->n[DECIDE_UNDECIDED] ? DECIDE_UNDECIDED
                                                  : DECIDE_PROVED;
}

bool cover_make(struct cover *ret, struct conditions *conditions, const struct cover_range *range,
                struct err *err)
{
    struct coverer c = { .cover = ret, .conditions = conditions, .range = range };
    struct decide_answer any;
    *ret = (struct cover){ 0 };
    c.decider = decider_new(conditions->pool, err);
    bool ok = c.decider && range_facts_add(c.decider, conditions, range, err) &&
              add_constants(&c, err) && ask(&c, SYM_ID_FALSE, &any, err);
    ret->empty = ok && any.verdict == DECIDE_PROVED;
    for (size_t i = 0; ok && i < conditions->list.n; i++)
        ok = add_row(&c, &conditions->list.v[i], err);
    if (ok)
        sum_up(ret, range);
    decider_free(c.decider);
    vec_release(&c.constants);
    return ok;
}

void cover_release(struct cover *cover)
{
    vec_release(&cover->rows);
    arena_release(&cover->arena);
}
