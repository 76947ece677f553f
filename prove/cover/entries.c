#include "prove/cover/entries.h"

#include "prove/cover/range_facts.h"
#include "trace/base/clock.h"

enum { DIVISORS_DEPTH = 64, VISITS_MOST = 1 << 22 }; /* of nested expressions */

struct entries_maker {
    struct entries *entries;
    struct conditions *base;
    const struct cover_range *range;
    const struct entries_limits *limits;
    struct decider *decider;
    struct intern sources; /* of the base's sizes and numbers, */
    vec_of(sym_id)
    exprs;                      /* and what they are there */
    vec_of(struct decide_value) /* by symbol of the range */
    best;
    uint64_t end_ns, visits;
    bool undecided, best_is_smallest;
    bool optimistic; /* an entry of which something is not known serves what the rest allows */
};

/* ---- The sizes of the base ---- */

static bool add_source(struct entries_maker *m, struct str source, sym_id expr)
{
    uint32_t at = source.n ? intern(&m->sources, source) : INTERN_NONE;
    return !source.n || (at != INTERN_NONE && (at < m->exprs.n || vec_push(&m->exprs, expr)));
}

static bool add_sources(struct entries_maker *m, struct err *err)
{
    struct conditions *base = m->base;
    bool ok = true;
    for (size_t i = 0; ok && i < base->sizes.n; i++) {
        const struct condition_size *size = &base->sizes.v[i];
        sym_id expr = size->made != UINT32_MAX   ? base->symbols.v[size->made].symbol
                      : size->symbol != SYM_NONE ? size->symbol
                                                 : sym_integer(base->pool, size->value);
        ok = add_source(m, size->source, expr);
    }
    for (size_t i = 0; ok && i < base->symbols.n; i++)
        ok = !base->symbols.v[i].has_hint ||
             add_source(m, base->symbols.v[i].source, base->symbols.v[i].symbol);
    if (!ok)
        return err_nomem(err);
    return sym_ok(base->pool, err);
}

/* Returns what a source is in the base, or SYM_NONE. */
static sym_id expr_of(const struct entries_maker *m, struct str source)
{
    uint32_t at = source.n ? intern_find(&m->sources, source) : INTERN_NONE;
    return at == INTERN_NONE ? SYM_NONE : m->exprs.v[at];
}

/* ---- The conditions of an entry ---- */

static bool add_condition(struct entries_maker *m, struct entry *entry,
                          struct entry_condition condition, struct err *err)
{
    struct err why = { 0 };
    if (!sym_ok(m->base->pool, &why) && why.no_memory)
        return err_nomem(err);
    if (condition.expr == SYM_NONE && !entry->unknown.n)
        entry->unknown = condition.text;
    if (condition.expr == SYM_NONE || condition.expr == SYM_ID_TRUE)
        return true;
    return vec_push(&entry->list, condition) || err_nomem(err);
}

/* Adds a condition with a text that was made for it, which is released. */
static bool add_made(struct entries_maker *m, struct entry *entry, enum condition_kind kind,
                     sym_id expr, struct buf *text, struct err *err)
{
    struct entry_condition condition = { .kind = kind, .expr = expr };
    if (!text->failed)
        condition.text = arena_copy(&m->entries->arena, buf_str(text));
    buf_release(text);
    return (condition.text.p || err_nomem(err)) && add_condition(m, entry, condition, err);
}

/* Tensors of the base and the entry have as many sizes. */
static bool add_ranks(struct entries_maker *m, struct entry *entry, struct err *err)
{
    const struct conditions *c = entry->conditions;
    for (size_t i = 0; i < c->ndim.n; i++) {
        struct str source = intern_text(&c->tensors, (uint32_t)i);
        uint32_t at = intern_find(&m->base->tensors, source);
        if (at == INTERN_NONE || m->base->ndim.v[at] == c->ndim.v[i])
            continue;
        struct buf text = BUF_INIT;
        buf_printf(&text, "%.*s.dim() == %u", STR_ARG(source), c->ndim.v[i]);
        if (!add_made(m, entry, CONDITION_STATIC, SYM_ID_FALSE, &text, err))
            return false;
    }
    return true;
}

/* A static size is that number, and one that shares a symbol is the size that has it. */
static bool add_sizes(struct entries_maker *m, struct entry *entry, struct err *err)
{
    const struct conditions *c = entry->conditions;
    struct sym_pool *pool = m->base->pool;
    for (size_t i = 0; i < c->sizes.n; i++) {
        const struct condition_size *size = &c->sizes.v[i];
        const struct condition_symbol *symbol =
            size->symbol == SYM_NONE ? NULL : conditions_symbol(c, size->symbol);
        sym_id here = expr_of(m, size->source);
        sym_id there = symbol ? expr_of(m, symbol->source) : sym_integer(pool, size->value);
        if (here == SYM_NONE || there == SYM_NONE || here == there)
            continue;
        struct buf text = BUF_INIT;
        buf_printf(&text, "%.*s == ", STR_ARG(size->source));
        if (symbol)
            buf_put(&text, symbol->source);
        else
            buf_i64(&text, size->value);
        if (!add_made(m, entry, symbol ? CONDITION_SHARED : CONDITION_STATIC,
                      sym_eq(pool, here, there), &text, err))
            return false;
    }
    return true;
}

struct entry_names {
    const struct entries_maker *maker;
    const struct conditions *conditions;
    bool unbacked;
};

/* What a symbol of the entry is in the base: the size with its source, else its recorded value. */
static sym_id entry_symbol(void *user, struct sym_pool *pool, struct str name)
{
    struct entry_names *names = user;
    const struct condition_symbol *row = conditions_find(names->conditions, name);
    int64_t value;
    if (!row || row->value == SYM_NONE) {
        names->unbacked = true;
        return SYM_NONE;
    }
    sym_id ret = row->has_hint ? expr_of(names->maker, row->source) : SYM_NONE;
    if (ret != SYM_NONE)
        return ret;
    if (sym_to_i64(names->conditions->pool, row->value, &value))
        return sym_integer(pool, value);
    return sym_float(pool, sym_to_double(names->conditions->pool, row->value));
}

static bool add_guards(struct entries_maker *m, struct entry *entry, struct err *err)
{
    const struct conditions *c = entry->conditions;
    for (size_t i = 0; i < c->list.n; i++) {
        const struct condition *from = &c->list.v[i];
        struct entry_names names = { m, c, false };
        struct entry_condition condition = { from->kind, SYM_NONE, from->text, from->user_stack };
        if (from->kind == CONDITION_STATIC || from->kind == CONDITION_SHARED)
            continue; /* made for a name, and one of the sizes */
        if (from->expr != SYM_NONE)
            condition.expr = sym_parse(m->base->pool, from->text, entry_symbol, &names);
        struct err why = { 0 };
        bool skip = from->expr != SYM_NONE && names.unbacked;
        if (!sym_ok(m->base->pool, &why) && why.no_memory)
            return err_nomem(err);
        if (!skip && !add_condition(m, entry, condition, err))
            return false;
    }
    return true;
}

/* Notes a named size that the entry does not know: its tensor is none there. One of a tensor with
 * another rank is refuted by that. */
static void check_names(struct entries_maker *m, struct entry *entry)
{
    const struct conditions *c = entry->conditions;
    for (size_t i = 0; i < m->range->n_symbols && !entry->unknown.n; i++) {
        const struct condition_symbol *row =
            conditions_symbol(m->base, m->range->symbols[i].symbol);
        struct str source = row ? row->source : (struct str){ 0 };
        struct str tensor;
        uint32_t dim;
        bool known = intern_find(&c->size_sources, source) != INTERN_NONE ||
                     (conditions_split_size(source, &tensor, &dim) &&
                      intern_find(&c->tensors, tensor) != INTERN_NONE);
        for (size_t k = 0; k < c->symbols.n && !known; k++)
            known = c->symbols.v[k].has_hint && str_eq(c->symbols.v[k].source, source);
        if (!known)
            entry->unknown = source;
    }
}

static bool add_entry(struct entries_maker *m, const struct conditions *conditions, struct err *err)
{
    struct entry entry = { .conditions = conditions };
    check_names(m, &entry);
    bool ok = add_ranks(m, &entry, err) && add_sizes(m, &entry, err) && add_guards(m, &entry, err);
    if (ok && vec_push(&m->entries->list, entry))
        return true;
    vec_release(&entry.list);
    return ok ? err_nomem(err) : false;
}

/* ---- The points that no entry serves ---- */

static bool ask(struct entries_maker *m, sym_id goal, struct decide_answer *ret, struct err *err)
{
    m->entries->questions++;
    return decide(m->decider, goal, &m->limits->question, ret) || err_nomem(err);
}

/* Returns whether a point comes before the best one in the order that decide.h states. */
static bool is_better(const struct entries_maker *m, const struct decide_value *point)
{
    int64_t a = 0, b = 0;
    for (size_t i = 0; i < m->best.n; i++) {
        a = point[i].value > a ? point[i].value : a;
        b = m->best.v[i].value > b ? m->best.v[i].value : b;
    }
    if (a != b)
        return a < b;
    for (size_t i = 0; i < m->best.n; i++)
        if (point[i].value != m->best.v[i].value)
            return point[i].value < m->best.v[i].value;
    return false;
}

/* A symbol that the answer does not have may have any value of its range. */
static int64_t value_in(const struct decide_answer *answer, const struct cover_symbol *s)
{
    int64_t ret = INT64_MAX;
    for (uint32_t i = 0; i < answer->n_values; i++)
        if (answer->values[i].symbol == s->symbol)
            return answer->values[i].value;
    for (size_t i = 0; i < s->n_pieces; i++)
        ret = s->pieces[i].min < ret ? s->pieces[i].min : ret;
    return ret;
}

static bool note_point(struct entries_maker *m, const struct decide_answer *answer, struct err *err)
{
    size_t n = m->range->n_symbols;
    struct decide_value *point = arena_array(&m->entries->arena, struct decide_value, n + 1);
    if (!point)
        return err_nomem(err);
    for (size_t i = 0; i < n; i++)
        point[i] = (struct decide_value){ m->range->symbols[i].symbol,
                                          value_in(answer, &m->range->symbols[i]) };
    bool first = !m->best.n;
    if (!first && !is_better(m, point))
        return true;
    m->best.n = 0;
    for (size_t i = 0; i < n; i++)
        if (!vec_push(&m->best, point[i]))
            return err_nomem(err);
    m->best_is_smallest = answer->smallest;
    return true;
}

static bool add_fact(struct entries_maker *m, sym_id fact, struct err *err)
{
    struct err why = { 0 };
    if (!sym_ok(m->base->pool, &why) && why.no_memory)
        return err_nomem(err);
    if (fact == SYM_NONE)
        m->undecided = true;
    return fact == SYM_NONE || decider_fact(m->decider, fact) || err_nomem(err);
}

static bool divide(struct entries_maker *m, size_t at, struct err *err);

/* Visits those points of the decider's facts for which the condition is not true, and leaves the
 * others. */
static bool split(struct entries_maker *m, size_t at, sym_id condition, struct err *err)
{
    struct decide_answer answer;
    struct err why = { 0 };
    if (!sym_ok(m->base->pool, &why) && why.no_memory)
        return err_nomem(err);
    if (condition == SYM_NONE) {
        m->undecided = true;
        return true;
    }
    if (!ask(m, condition, &answer, err))
        return false;
    if (answer.verdict == DECIDE_PROVED)
        return true;
    uint32_t mark = decider_mark(m->decider);
    if (!add_fact(m, sym_not(m->base->pool, condition), err) || !divide(m, at + 1, err))
        return false;
    decider_forget(m->decider, mark);
    return add_fact(m, condition, err);
}

/* Divisors that are 0 make a condition raise, which is neither true nor false: such points are
 * visited before it is asked. `depth` and `visits` bound the work. */
static bool split_divisors(struct entries_maker *m, size_t at, sym_id e, unsigned depth,
                           struct err *err)
{
    struct sym_pool *pool = m->base->pool;
    if (depth == DIVISORS_DEPTH || m->visits++ >= VISITS_MOST) {
        m->undecided = true;
        return true;
    }
    for (uint32_t i = 0; i < sym_n_args(pool, e); i++)
        if (!split_divisors(m, at, sym_arg(pool, e, i), depth + 1, err))
            return false;
    sym_id divisor = SYM_NONE;
    int64_t power;
    switch (sym_kind_of(pool, e)) {
    case SYM_FLOORDIV:
    case SYM_CLEANDIV:
    case SYM_MOD:
    case SYM_PYTHON_MOD:
    case SYM_INT_TRUE_DIV:
    case SYM_FLOAT_TRUE_DIV: divisor = sym_arg(pool, e, 1); break;
    case SYM_MODULAR_INDEXING:
        divisor = sym_mul(pool, sym_arg(pool, e, 1), sym_arg(pool, e, 2));
        break;
    case SYM_POW:
        if (!sym_to_i64(pool, sym_arg(pool, e, 1), &power) || power < 0)
            divisor = sym_arg(pool, e, 0);
        break;
    default: break;
    }
    if (divisor == SYM_NONE || sym_is_number(pool, divisor))
        return true;
    return split(m, at, sym_ne(pool, divisor, SYM_ID_ZERO), err);
}

/* Visits the points of the decider's facts, which the entries before `at` do not serve. */
static bool divide(struct entries_maker *m, size_t at, struct err *err)
{
    struct decide_answer answer;
    if (m->entries->questions >= m->limits->questions || clock_ns() >= m->end_ns) {
        m->undecided = true;
        for (size_t i = at; i < m->entries->list.n; i++)
            m->entries->list.v[i].undecided = true;
        return true;
    }
    if (!ask(m, SYM_ID_FALSE, &answer, err))
        return false;
    if (answer.verdict == DECIDE_PROVED)
        return true;
    if (at == m->entries->list.n) {
        m->undecided |= answer.verdict == DECIDE_UNDECIDED;
        return answer.verdict == DECIDE_UNDECIDED || note_point(m, &answer, err);
    }
    struct entry *entry = &m->entries->list.v[at];
    if (entry->unknown.n && !m->optimistic) {
        entry->undecided = true;
        return divide(m, at + 1, err);
    }
    uint32_t mark = decider_mark(m->decider);
    for (size_t i = 0; i < entry->list.n; i++)
        if (!split_divisors(m, at, entry->list.v[i].expr, 0, err) ||
            !split(m, at, entry->list.v[i].expr, err))
            return false;
    if (!ask(m, SYM_ID_FALSE, &answer, err))
        return false;
    entry->adds |= !m->optimistic && answer.verdict == DECIDE_REFUTED;
    entry->undecided |= !m->optimistic && answer.verdict == DECIDE_UNDECIDED;
    decider_forget(m->decider, mark);
    return true;
}

/* ---- The answer ---- */

/* Finds the condition of each entry that is not true at the point. */
static bool explain(struct entries_maker *m, struct err *err)
{
    struct conditions *base = m->base;
    struct decide_value *point =
        arena_array(&m->entries->arena, struct decide_value, base->symbols.n + 1);
    uint32_t n = 0;
    if (!m->best.n)
        return true;
    if (!point)
        return err_nomem(err);
    for (size_t i = 0; i < base->symbols.n; i++) {
        const struct condition_symbol *s = &base->symbols.v[i];
        if (!s->has_hint)
            continue;
        point[n] = (struct decide_value){ s->symbol, s->hint };
        for (size_t k = 0; k < m->best.n; k++)
            if (m->best.v[k].symbol == s->symbol)
                point[n].value = m->best.v[k].value;
        n++;
    }
    for (size_t i = 0; i < m->entries->list.n; i++) {
        struct entry *entry = &m->entries->list.v[i];
        for (size_t k = 0; k < entry->list.n && !entry->violated; k++) {
            struct decide_result result;
            if (!decider_evaluate(m->decider, entry->list.v[k].expr, point, n, &result))
                return err_nomem(err);
            if (result.kind != DECIDE_INTEGER || !result.integer)
                entry->violated = &entry->list.v[k];
        }
    }
    return true;
}

/* Finds the smallest point that no entry is known to serve, and if something is not known of an
 * entry, the smallest one that it does not serve either. */
static bool find_points(struct entries_maker *m, struct err *err)
{
    struct entries *e = m->entries;
    bool unknown = false, ok = divide(m, 0, err);
    for (size_t i = 0; i < e->list.n; i++)
        unknown |= e->list.v[i].unknown.n > 0;
    e->verdict = m->best.n ? DECIDE_REFUTED : m->undecided ? DECIDE_UNDECIDED : DECIDE_PROVED;
    e->smallest = m->best.n && m->best_is_smallest && !m->undecided;
    if (!ok || !unknown || e->verdict != DECIDE_REFUTED)
        return ok;
    struct decide_value *point = arena_array(&e->arena, struct decide_value, m->best.n);
    if (!point)
        return err_nomem(err);
    for (size_t i = 0; i < m->best.n; i++)
        point[i] = m->best.v[i];
    size_t n = m->best.n;
    m->best.n = 0;
    m->undecided = false;
    m->optimistic = true;
    if (!divide(m, 0, err))
        return false;
    if (m->best.n) {
        e->smallest = m->best_is_smallest && !m->undecided;
        return true;
    }
    e->verdict = DECIDE_UNDECIDED;
    for (size_t i = 0; i < n; i++)
        if (!vec_push(&m->best, point[i]))
            return err_nomem(err);
    return true;
}

static bool keep_point(struct entries_maker *m, struct err *err)
{
    struct decide_value *kept = arena_array(&m->entries->arena, struct decide_value, m->best.n + 1);
    if (!kept)
        return err_nomem(err);
    for (size_t i = 0; i < m->best.n; i++)
        kept[i] = m->best.v[i];
    m->entries->values = kept;
    m->entries->n_values = (uint32_t)m->best.n;
    return true;
}

bool entries_make(struct entries *ret, struct conditions *base, const struct cover_range *range,
                  const struct conditions *compiles, size_t n, const struct entries_limits *limits,
                  struct err *err)
{
    struct entries_maker m = { .entries = ret,
                               .base = base,
                               .range = range,
                               .limits = limits,
                               .end_ns = clock_ns() + limits->ns };
    struct decide_answer any;
    *ret = (struct entries){ 0 };
    m.decider = decider_new(base->pool, err);
    bool ok = m.decider && range_facts_add(m.decider, base, range, err) && add_sources(&m, err);
    for (size_t i = 0; ok && i < n; i++)
        ok = add_entry(&m, &compiles[i], err);
    ok = ok && ask(&m, SYM_ID_FALSE, &any, err);
    ret->empty = ok && any.verdict == DECIDE_PROVED;
    ok = ok && find_points(&m, err) && explain(&m, err) && keep_point(&m, err);
    decider_free(m.decider);
    intern_release(&m.sources);
    vec_release(&m.exprs);
    vec_release(&m.best);
    return ok;
}

void entries_release(struct entries *entries)
{
    for (size_t i = 0; i < entries->list.n; i++)
        vec_release(&entries->list.v[i].list);
    vec_release(&entries->list);
    arena_release(&entries->arena);
}
