#include "replay/backend/run/run_guards.h"

#include <stdio.h>
#include <string.h>

#include "replay/attempt/replay_state.h"
#include "replay/backend/run/run_symbols.h"
#include "replay/shape/expr/solve.h"
#include "trace/base/buf.h"
#include "trace/events/guards.h"

/* ---- Values of symbols ---- */

static const struct run_symbol *recorded(const struct run *run, struct str name)
{
    for (size_t i = 0; i < run->options.n_symbols; i++)
        if (str_eq(run->options.symbols[i].name, name))
            return &run->options.symbols[i];
    return NULL;
}

static sym_id known_value(struct run *run, struct str name)
{
    struct sym_pool *pool = ops_pool(run->ops);
    const struct run_size *known = run_size_of(run, name);
    const struct run_symbol *symbol = recorded(run, name);
    if (known)
        return sym_integer(pool, known->value);
    return symbol && !symbol->has_hint ? replay_state_number(pool, symbol->text) : SYM_NONE;
}

static sym_id hinter(void *user, sym_id symbol)
{
    struct run *run = user;
    return known_value(run, sym_name(ops_pool(run->ops), symbol));
}

/* Detects whether a symbol of an expression differs from its recorded value. */
struct changes {
    const struct run *run;
    bool any;
};

static void note_change(void *user, struct str name)
{
    struct changes *c = user;
    const struct run_size *known = run_size_of(c->run, name);
    const struct run_symbol *symbol = recorded(c->run, name);
    c->any |= known && (!symbol || !symbol->has_hint || symbol->hint != known->value);
}

static bool is_changed(const struct run *run, struct str expr)
{
    struct changes c = { .run = run };
    guard_symbols(expr, note_change, &c);
    return c.any;
}

/* ---- Evaluation ---- */

enum answer { HOLDS, VIOLATED, UNKNOWN };

static enum answer range_answer(struct run *run, const struct run_guard *p)
{
    struct sym_pool *pool = ops_pool(run->ops);
    const struct run_size *known = run_size_of(run, p->symbol);
    struct sym_range range = replay_state_range(pool, p->symbol, p->expr);
    if (!known || !sym_range_ok(range))
        return UNKNOWN;
    sym_id value = sym_integer(pool, known->value);
    bool above =
        p->zero_one && known->value >= 0 && sym_number_compare(pool, range.lower, SYM_ID_TWO) <= 0;
    return (above || sym_number_compare(pool, value, range.lower) >= 0) &&
                   sym_number_compare(pool, value, range.upper) <= 0
               ? HOLDS
               : VIOLATED;
}

static enum answer guard_answer(struct run *run, const struct run_guard *p)
{
    struct sym_pool *pool = ops_pool(run->ops);
    struct err ignored = { 0 };
    if (p->kind == RUN_GUARD_RANGE)
        return range_answer(run, p);
    if (!is_changed(run, p->expr))
        return UNKNOWN;
    sym_id e = sym_parse(pool, p->expr, NULL, NULL);
    sym_id truth = e != SYM_NONE ? sym_evaluate(pool, e, hinter, run) : SYM_NONE;
    if (!sym_ok(pool, &ignored)) /* a division by zero, or an expression of an unknown kind */
        return UNKNOWN;
    return truth == SYM_ID_TRUE ? HOLDS : truth == SYM_ID_FALSE ? VIOLATED : UNKNOWN;
}

/* ---- Messages ---- */

struct guard_message {
    struct run *run;
    struct buf *out;
};

/* Appends a size: "20 (recorded: 4)". */
static void print_known_size(const struct guard_message *s, const struct run_size *size)
{
    const struct run_symbol *symbol = recorded(s->run, size->symbol);
    buf_printf(s->out, "%lld", (long long)size->value);
    if (symbol && symbol->has_hint && symbol->hint != size->value)
        buf_printf(s->out, " (recorded: %lld)", (long long)symbol->hint);
}

static void print_symbol(void *user, struct str name)
{
    struct guard_message *s = user;
    const struct run_size *known = run_size_of(s->run, name);
    if (!known)
        return;
    buf_printf(s->out, "%s%.*s = ", s->out->p[s->out->n - 1] == ':' ? " " : ", ", STR_ARG(name));
    print_known_size(s, known);
}

/* Appends the message without its place: "guard Eq(Mod(s27, 8), 0) does not hold: s27 = 31
 * (recorded: 24)". */
static void print_violation(struct run *run, const struct run_guard *p, struct buf *out)
{
    struct guard_message s = { run, out };
    switch (p->kind) {
    case RUN_GUARD_GUARD:
        buf_printf(out, "guard %.*s does not hold:", STR_ARG(p->expr));
        guard_symbols(p->expr, print_symbol, &s);
        break;
    case RUN_GUARD_ASSERT:
        buf_printf(out, "runtime assert %.*s does not hold:", STR_ARG(p->expr));
        guard_symbols(p->expr, print_symbol, &s);
        break;
    case RUN_GUARD_RANGE:
        buf_printf(out, "%.*s must be within %.*s, is ", STR_ARG(p->symbol), STR_ARG(p->expr));
        print_known_size(&s, run_size_of(run, p->symbol));
        break;
    case RUN_GUARD_SPECIALIZED:
        buf_printf(out, "%.*s became a number, %.*s:", STR_ARG(p->symbol), STR_ARG(p->expr));
        print_symbol(&s, p->symbol);
        break;
    }
}

/* Reports a violation. The text of the first one becomes the error's. */
static bool violate(struct run *run, const struct run_guard *p, struct err *err)
{
    struct buf text = BUF_INIT;
    print_violation(run, p, &text);
    run->violations++;
    struct buf *refusal = run->options.violated ? NULL : run->options.refusal;
    if (refusal && !refusal->n)
        buf_put(refusal, buf_str(&text));
    if (p->place.n)
        buf_printf(&text, ", at %.*s", STR_ARG(p->place));
    if (text.failed) {
        err_nomem(err);
    } else if (run->options.violated) {
        run->options.violated(run->options.user, buf_str(&text));
    } else if (run->violations == 1) {
        err_set(err, ERR_USAGE, "%.*s", STR_ARG(buf_str(&text)));
    }
    buf_release(&text);
    return !err_is_set(err);
}

/* Returns whether the same condition stands earlier in the list, perhaps from another place. */
static bool is_repeated(const struct run *run, const struct run_guard *p)
{
    for (const struct run_guard *q = run->options.guards; q < p; q++)
        if (q->kind == p->kind && str_eq(q->expr, p->expr) && str_eq(q->symbol, p->symbol))
            return true;
    return false;
}

/* Checks specializations and ranges before the guards that follow from them, since their messages
 * name the cause. */
static bool check_conditions(struct run *run, bool asserts, struct str symbol, struct err *err)
{
    static const enum run_guard_kind order[] = { RUN_GUARD_SPECIALIZED, RUN_GUARD_RANGE,
                                                 RUN_GUARD_GUARD, RUN_GUARD_ASSERT };
    bool ok = true;
    for (size_t k = 0; k < sizeof order / sizeof *order; k++)
        for (size_t i = 0; i < run->options.n_guards; i++) {
            const struct run_guard *p = &run->options.guards[i];
            bool meant = p->kind == order[k] && (p->kind == RUN_GUARD_ASSERT || !asserts);
            if (!meant || (asserts && !run_names(p->expr, symbol)))
                continue;
            if (guard_answer(run, p) == VIOLATED && !is_repeated(run, p))
                ok &= violate(run, p, err);
        }
    return ok;
}

bool run_check_guards(struct run *run, struct err *err)
{
    bool ok = check_conditions(run, false, STR(""), err);
    if (!ok && run->violations > 1) {
        char more[64];
        size_t n = strlen(err->text);
        snprintf(more, sizeof more, " (and %u more)", run->violations - 1);
        if (n + strlen(more) < sizeof err->text)
            memcpy(err->text + n, more, strlen(more) + 1);
    }
    return ok;
}

/* ---- Solving ---- */

struct unknowns {
    struct run *run;
    sym_id one;
    struct sym_pair known[16];
    uint32_t n_known, n;
};

static void sort_symbol(void *user, sym_id symbol)
{
    struct unknowns *u = user;
    sym_id value = known_value(u->run, sym_name(ops_pool(u->run->ops), symbol));
    if (value != SYM_NONE && u->n_known < 16) {
        u->known[u->n_known++] = (struct sym_pair){ symbol, value };
    } else {
        u->one = symbol;
        u->n++;
    }
}

/* Solves Eq(a, b) for its only unknown symbol, and adds its value. */
static bool solve_equation(struct run *run, const struct run_guard *p, bool *more, struct err *err)
{
    struct sym_pool *pool = ops_pool(run->ops);
    struct unknowns u = { .run = run };
    struct err ignored = { 0 };
    int64_t value;
    bool equation = p->kind == RUN_GUARD_GUARD || p->kind == RUN_GUARD_ASSERT;
    if (!equation || !str_starts(p->expr, STR("Eq(")))
        return true;
    sym_id e = sym_parse(pool, p->expr, NULL, NULL);
    if (!sym_ok(pool, &ignored) || e == SYM_NONE || !sym_free_symbols(pool, e, sort_symbol, &u))
        return true;
    if (u.n != 1 || u.n_known == 0)
        return true;
    sym_id put = sym_replace(pool, e, u.known, u.n_known);
    sym_id solved = sym_is_relational(pool, put) ? sym_solve(pool, put, u.one, false) : SYM_NONE;
    if (!sym_ok(pool, &ignored) || solved == SYM_NONE || sym_kind_of(pool, solved) != SYM_EQ ||
        sym_arg(pool, solved, 0) != u.one || !sym_to_i64(pool, sym_arg(pool, solved, 1), &value) ||
        value < 0)
        return true;
    *more = true;
    return run_add_size(run, sym_name(pool, u.one), value) || err_nomem(err);
}

bool run_solve_symbols(struct run *run, struct err *err)
{
    bool more = run->n_symbols > 0;
    for (unsigned round = 0; more && round < 64; round++) {
        more = false;
        for (size_t i = 0; i < run->options.n_guards; i++)
            if (!solve_equation(run, &run->options.guards[i], &more, err))
                return false;
    }
    return true;
}

/* ---- Unbacked symbols ---- */

static const struct meta *step_meta(const struct run *run, const struct step *step)
{
    const struct node *node = &run->graph->nodes[step->node];
    return node->meta == META_NONE ? NULL : &run->graph->pool->metas[node->meta];
}

static struct str symbol_of_expr(const struct run *run, uint32_t expr)
{
    const struct expr *e = expr_at(&run->graph->pool->exprs, expr);
    return e->kind == EXPR_SYMBOL ? e->text : STR("");
}

/* Returns the meta of a step's result; of several results, that of the first one with an unbacked
 * size. */
static const struct meta *unbacked_meta(const struct run *run, const struct step *step)
{
    const struct program *p = run->program;
    const struct meta *meta = step_meta(run, step);
    for (uint32_t i = step->node + 1; !meta && i < p->n_steps && i <= step->node + 8u; i++) {
        const struct step *item = &p->steps[i];
        if (item->kind != STEP_GETITEM || item->n_patches == 0 ||
            p->patches[item->first_patch].from != step->node)
            continue;
        const struct meta *of = step_meta(run, item);
        for (uint32_t k = 0; of && k < of->n_sizes && !meta; k++)
            meta = str_starts(symbol_of_expr(run, of->sizes[k]), STR("u")) ? of : NULL;
    }
    return meta;
}

/* Returns whether the meta contains unbacked symbols. */
static bool meta_has_unbacked(const struct run *run, const struct meta *meta)
{
    for (uint32_t i = 0; meta && i < meta->n_sizes; i++)
        if (str_starts(symbol_of_expr(run, meta->sizes[i]), STR("u")))
            return true;
    return false;
}

bool run_find_unbacked(struct run *run, struct err *err)
{
    run->binds = arena_array(&run->arena, bool, (size_t)run->program->n_steps + 1);
    if (!run->binds)
        return err_nomem(err);
    for (uint32_t i = 0; i < run->program->n_steps; i++) {
        const struct step *step = &run->program->steps[i];
        run->binds[i] = meta_has_unbacked(run, step_meta(run, step)) ||
                        meta_has_unbacked(run, unbacked_meta(run, step));
    }
    return true;
}

int64_t run_guess(struct run *run, const struct step *step)
{
    const struct meta *meta = run->binds[step->node] ? unbacked_meta(run, step) : NULL;
    struct err ignored = { 0 };
    for (uint32_t i = 0; meta && i < meta->n_sizes; i++) {
        struct str name = symbol_of_expr(run, meta->sizes[i]);
        if (!str_starts(name, STR("u")))
            continue;
        const struct run_size *known = run_size_of(run, name);
        if (!known && run_solve_symbols(run, &ignored))
            known = run_size_of(run, name);
        return known ? known->value : -1;
    }
    return -1;
}

int64_t run_recorded_most(void *user, uint32_t node)
{
    struct run *run = user;
    const struct meta *meta =
        run->binds[node] ? unbacked_meta(run, &run->program->steps[node]) : NULL;
    struct sym_pool *pool = ops_pool(run->ops);
    int64_t most;
    for (uint32_t i = 0; meta && i < meta->n_sizes; i++) {
        struct str name = symbol_of_expr(run, meta->sizes[i]);
        for (size_t k = 0; str_starts(name, STR("u")) && k < run->options.n_guards; k++) {
            const struct run_guard *p = &run->options.guards[k];
            if (p->kind != RUN_GUARD_RANGE || !str_eq(p->symbol, name))
                continue;
            struct sym_range range = replay_state_range(pool, p->symbol, p->expr);
            if (sym_range_ok(range) && sym_to_i64(pool, range.upper, &most) && most <= INT32_MAX)
                return most;
        }
    }
    return -1;
}

static bool set_unbacked(struct run *run, struct str name, sym_id size, struct err *err)
{
    int64_t value;
    if (!str_starts(name, STR("u")) || !sym_to_i64(ops_pool(run->ops), size, &value))
        return true;
    struct run_size *known = run_size_of(run, name);
    if (known && run->bound[known - run->symbols])
        return true;
    if (!known && !run_add_size(run, name, value))
        return err_nomem(err);
    known = run_size_of(run, name);
    known->value = value;
    run->bound[known - run->symbols] = true;
    return check_conditions(run, true, name, err);
}

bool run_bind_result(struct run *run, const struct step *step, struct value value, struct err *err)
{
    const struct meta *meta = run->binds[step->node] ? step_meta(run, step) : NULL;
    if (!meta)
        return true;
    if (meta->kind == META_SYM && meta->n_sizes == 1 && value_is_number(value))
        return set_unbacked(run, symbol_of_expr(run, meta->sizes[0]), value.u.sym, err);
    if (meta->kind != META_TENSOR || value.kind != VALUE_TENSOR)
        return true;
    const struct tensor_meta *got = value.u.tensor.meta;
    for (uint32_t i = 0; i < meta->n_sizes && i < got->ndim; i++)
        if (!set_unbacked(run, symbol_of_expr(run, meta->sizes[i]), got->size[i], err))
            return false;
    return true;
}

void run_ignore_violation(void *user, struct str text)
{
    (void)user, (void)text;
}
