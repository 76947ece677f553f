#include "prove/conditions/build.h"

#include "replay/attempt/replay_state.h"
#include "trace/events/guards.h"
#include "trace/events/symbols.h"
#include "trace/events/user_line.h"
#include "trace/graph/graph.h"

static const char *const KIND_NAMES[CONDITION_KINDS] = {
    [CONDITION_RANGE] = "range",   [CONDITION_SPECIALIZED] = "specialized",
    [CONDITION_GUARD] = "guard",   [CONDITION_ASSERT] = "assert",
    [CONDITION_STATIC] = "static", [CONDITION_SHARED] = "shared",
};

const char *condition_kind_name(enum condition_kind kind)
{
    return KIND_NAMES[kind];
}

struct frame condition_frame(const struct trace *trace, uint32_t recording,
                             const struct condition *condition)
{
    const struct location *l = condition->location;
    stack_id line = l ? 0 : user_line(trace, recording, condition->user_stack);
    if (l)
        return (struct frame){ l->line, l->function, l->file, l->code };
    return line ? stack_frame(trace, recording, line) : (struct frame){ 0 };
}

/* ---- Symbols ---- */

const struct condition_symbol *conditions_find(const struct conditions *conditions, struct str name)
{
    uint32_t at = intern_find(&conditions->names, name);
    return at == INTERN_NONE ? NULL : &conditions->symbols.v[at];
}

const struct condition_symbol *conditions_symbol(const struct conditions *conditions, sym_id symbol)
{
    return conditions_find(conditions, sym_name(conditions->pool, symbol));
}

static sym_id make_symbol(struct sym_pool *pool, struct str name)
{
    bool real = str_starts(name, STR("zf")) || str_starts(name, STR("zuf"));
    return sym_symbol(pool, name, real ? SYM_IS_REAL : SYM_IS_INTEGER);
}

static bool add_symbol(struct conditions *c, const struct symbol *symbol, struct err *err)
{
    uint32_t at = intern(&c->names, symbol->name);
    if (at == INTERN_NONE)
        return err_nomem(err);
    if (at < c->symbols.n)
        return true;
    struct condition_symbol row = { .name = intern_text(&c->names, at),
                                    .source = symbol->source,
                                    .symbol = make_symbol(c->pool, symbol->name),
                                    .value = SYM_NONE };
    if (row.symbol == SYM_NONE)
        return sym_ok(c->pool, err);
    if (!symbol->unbacked)
        row.value = replay_state_number(c->pool, symbol->value);
    row.has_hint = row.value != SYM_NONE && sym_to_i64(c->pool, row.value, &row.hint);
    return vec_push(&c->symbols, row) || err_nomem(err);
}

/* ---- Reading expressions ---- */

struct name_reader {
    const struct conditions *conditions;
    bool recorded;
    struct str unknown; /* the first unknown name */
};

static sym_id resolve(void *user, struct sym_pool *pool, struct str name)
{
    struct name_reader *r = user;
    const struct condition_symbol *known = conditions_find(r->conditions, name);
    if (!known && !r->unknown.n)
        r->unknown = name;
    return known ? known->symbol : r->recorded ? make_symbol(pool, name) : SYM_NONE;
}

sym_id conditions_parse(const struct conditions *conditions, struct str text, struct str *unknown)
{
    struct name_reader r = { .conditions = conditions };
    struct err ignored = { 0 };
    sym_id ret = sym_parse(conditions->pool, text, resolve, &r);
    *unknown = r.unknown;
    return sym_ok(conditions->pool, &ignored) ? ret : SYM_NONE;
}

bool conditions_parse_recorded(struct conditions *c, struct str text, sym_id *ret, struct err *err)
{
    struct name_reader r = { .conditions = c, .recorded = true };
    struct err why = { 0 };
    *ret = sym_parse(c->pool, text, resolve, &r);
    if (!sym_ok(c->pool, &why))
        *ret = SYM_NONE;
    if (!sym_short_of_memory(c->pool))
        return true;
    return err_nomem(err);
}

struct symbol_check {
    const struct conditions *conditions;
    bool whole;
};

static void check_symbol(void *user, sym_id symbol)
{
    struct symbol_check *check = user;
    const struct condition_symbol *row = conditions_symbol(check->conditions, symbol);
    check->whole &= row && row->has_hint;
}

/* ---- Conditions ---- */

static bool is_known(const struct conditions *c, sym_id expr)
{
    uint32_t row;
    for (size_t at = hash_index_start(&c->by_expr, expr);
         hash_index_next(&c->by_expr, expr, &at, &row);)
        if (c->list.v[row].expr == expr)
            return true;
    return false;
}

bool conditions_add(struct conditions *c, struct condition condition, struct err *err)
{
    struct symbol_check check = { c, condition.expr != SYM_NONE };
    if (condition.expr == SYM_ID_TRUE ||
        (condition.expr != SYM_NONE && is_known(c, condition.expr)))
        return true;
    if (condition.expr != SYM_NONE &&
        !sym_free_symbols(c->pool, condition.expr, check_symbol, &check))
        return err_nomem(err);
    condition.is_whole = check.whole;
    if (!hash_index_reserve(&c->by_expr, 1) || !vec_push(&c->list, condition))
        return err_nomem(err);
    if (condition.expr != SYM_NONE)
        hash_index_add(&c->by_expr, condition.expr, (uint32_t)(c->list.n - 1));
    return true;
}

/* Adds a condition that is no record's text: a bound, or a specialization. */
static bool add_made(struct conditions *c, struct condition condition, struct err *err)
{
    struct buf text = BUF_INIT;
    struct err ignored = { 0 };
    if (!sym_ok(c->pool, &ignored) || condition.expr == SYM_NONE)
        return !sym_short_of_memory(c->pool) || err_nomem(err);
    sym_print(c->pool, condition.expr, &text);
    condition.text = arena_copy(&c->arena, buf_str(&text));
    bool ok = (!text.failed && condition.text.p) || err_nomem(err);
    buf_release(&text);
    return ok && conditions_add(c, condition, err);
}

/* The bounds of a symbol's range. A program's symbols were sizes of at least 2 when it was
 * exported, and its range says so although 0 and 1 are allowed (run_guards.c). */
static bool add_range(struct conditions *c, const struct symbol *symbol, struct err *err)
{
    const struct condition_symbol *row = conditions_find(c, symbol->name);
    struct sym_pool *pool = c->pool;
    struct condition condition = { .kind = CONDITION_RANGE,
                                   .record = symbol->record,
                                   .user_stack = symbol->user_stack };
    if (!row || !row->has_hint || !symbol->range.n)
        return true;
    struct sym_range range = replay_state_range(pool, symbol->name, symbol->range);
    if (symbol->attempt == TRACE_NONE && range.lower == SYM_ID_TWO)
        range.lower = SYM_ID_ZERO;
    if (range.lower != SYM_ID_MINUS_INT_OO) {
        condition.expr = sym_ge(pool, row->symbol, range.lower);
        if (!add_made(c, condition, err))
            return false;
    }
    if (range.upper == SYM_ID_INT_OO)
        return true;
    condition.expr = sym_le(pool, row->symbol, range.upper);
    return add_made(c, condition, err);
}

static bool add_specialization(struct conditions *c, const struct symbol_table *table,
                               const struct symbol *symbol, struct err *err)
{
    if (symbol->specialization == TRACE_NONE)
        return true;
    const struct specialization *s = &table->specializations[symbol->specialization];
    const struct condition_symbol *row = conditions_find(c, symbol->name);
    struct condition condition = { .kind = CONDITION_SPECIALIZED,
                                   .record = s->record,
                                   .user_stack = s->user_stack };
    sym_id value;
    if (!row || !conditions_parse_recorded(c, s->value, &value, err))
        return !row;
    if (value == SYM_NONE || !sym_is_number(c->pool, value))
        return true;
    condition.expr = sym_eq(c->pool, row->symbol, value);
    return add_made(c, condition, err);
}

static bool add_guards(struct conditions *c, const struct guard_list *guards, struct err *err)
{
    for (uint32_t i = 0; i < guards->n; i++) {
        const struct guard *g = &guards->guards[i];
        if (g->attempt != c->attempt || g->kind == GUARD_SUPPRESSED)
            continue;
        struct condition condition = {
            .kind = g->kind == GUARD_EVAL ? CONDITION_GUARD : CONDITION_ASSERT,
            .text = g->expr,
            .record = g->record,
            .user_stack = g->user_stack,
        };
        if (!conditions_parse_recorded(c, g->expr, &condition.expr, err) ||
            !conditions_add(c, condition, err))
            return false;
    }
    return true;
}

static bool read_all(struct conditions *c, struct trace *trace, struct err *err)
{
    const struct symbol_table *table = trace_symbols(trace, err);
    const struct guard_list *guards = table ? trace_guards(trace, err) : NULL;
    bool ok = guards != NULL;
    bool program = c->attempt == TRACE_NONE;
    for (int pass = 0; ok && pass < 2; pass++)
        for (uint32_t i = 0; ok && i < table->n_symbols; i++) {
            const struct symbol *symbol = &table->symbols[i];
            if (program ? symbol->record != c->record : symbol->attempt != c->attempt)
                continue;
            ok = pass == 0 ? add_symbol(c, symbol, err)
                           : add_range(c, symbol, err) && add_specialization(c, table, symbol, err);
        }
    return ok && (program ? conditions_add_program(c, trace, err) : add_guards(c, guards, err));
}

bool conditions_read(struct conditions *ret, struct trace *trace, uint32_t record, uint32_t attempt,
                     struct err *err)
{
    *ret = (struct conditions){ .record = record,
                                .attempt = attempt,
                                .recording = trace->records[record].recording,
                                .pool = sym_pool_new(err) };
    return ret->pool && read_all(ret, trace, err);
}

void conditions_release(struct conditions *conditions)
{
    sym_pool_free(conditions->pool);
    vec_release(&conditions->symbols);
    vec_release(&conditions->list);
    intern_release(&conditions->names);
    hash_index_release(&conditions->by_expr);
    vec_release(&conditions->sizes);
    intern_release(&conditions->size_sources);
    intern_release(&conditions->tensors);
    vec_release(&conditions->ndim);
    arena_release(&conditions->arena);
    *conditions = (struct conditions){ 0 };
}
