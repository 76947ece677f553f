#include "cmd/validate/redundant_costs.h"

#include "cmd/inputs/inputs.h"
#include "profile/calls/tree/guard_trees.h"
#include "trace/events/guards.h"

/* A leaf of an entry that is a condition on sizes. */
struct size_leaf {
    sym_id form;
    struct str comment;
    bool bound, paired;
};

struct cost_reader {
    struct trace *trace;
    struct redundant_costs *costs;
    struct guard_trees trees; /* of `recording` */
    uint32_t recording;       /* UINT32_MAX: none was read */
};

struct entry_reader {
    struct conditions conditions;
    struct inputs_scope scope;
    vec_of(struct size_leaf)
    leaves;
};

/* ---- The entry of an attempt ---- */

static bool read_trees(struct cost_reader *r, uint32_t recording, struct err *err)
{
    if (recording == r->recording)
        return true;
    guard_trees_release(&r->trees);
    r->recording = recording;
    return guard_trees_read(&r->trees, r->trace, recording, false, err);
}

static const struct merged_entry *find_entry(const struct guard_trees *trees, uint32_t attempt,
                                             const struct merged_tree **tree)
{
    for (size_t i = 0; i < trees->functions.n; i++) {
        const struct guard_function *f = &trees->functions.v[i];
        const struct tape_code *code = &trees->tape.codes.v[f->code];
        for (size_t k = 0; k < f->tree.entries.n; k++) {
            const struct tape_compile *compile =
                tape_code_compile(code, f->tree.entries.v[k].number);
            *tree = &f->tree;
            if (compile && compile->attempt == attempt)
                return &f->tree.entries.v[k];
        }
    }
    return NULL;
}

/* ---- One form for guards and leaves ---- */

static bool made(struct entry_reader *e, sym_id form, sym_id *ret, struct err *err)
{
    struct err why = { 0 };
    if (sym_short_of_memory(e->conditions.pool))
        return err_nomem(err);
    *ret = sym_ok(e->conditions.pool, &why) ? form : SYM_NONE;
    return true;
}

enum { TERMS_MOST = 10000, STEPS_MOST = 10000 };

/* Returns how many terms an expression has at most once it is multiplied out; more than TERMS_MOST
 * where that takes too long to find out. */
static double terms_of(const struct sym_pool *pool, sym_id e, unsigned *steps)
{
    enum sym_kind kind = sym_kind_of(pool, e);
    double ret = kind == SYM_ADD ? 0 : 1;
    if (++*steps > STEPS_MOST)
        return TERMS_MOST + 1;
    for (uint32_t i = 0; i < sym_n_args(pool, e) && ret <= TERMS_MOST; i++) {
        double terms = terms_of(pool, sym_arg(pool, e, i), steps);
        int64_t power = 0;
        if (kind == SYM_ADD || sym_is_relational(pool, e))
            ret += terms;
        else if (kind != SYM_POW || terms > TERMS_MOST)
            ret *= terms;
        else if (i == 0 && terms > 1 && sym_to_i64(pool, sym_arg(pool, e, 1), &power))
            for (int64_t k = 0; k < power && ret <= TERMS_MOST; k++)
                ret *= terms;
    }
    return ret;
}

/* Sums are multiplied out as PyTorch does before it prints a leaf, unless that makes them long. */
static bool form_of(struct entry_reader *e, sym_id expr, sym_id *ret, struct err *err)
{
    struct sym_pool *pool = e->conditions.pool;
    enum sym_kind kind = sym_kind_of(pool, expr);
    bool logic = kind == SYM_AND || kind == SYM_OR || kind == SYM_NOT;
    unsigned steps = 0;
    if (!logic && terms_of(pool, expr, &steps) <= TERMS_MOST)
        expr = sym_expand(pool, expr);
    return made(e, expr == SYM_NONE ? expr : sym_canonical(pool, expr), ret, err);
}

/* A recorded guard is printed as Dynamo prints leaves, and read again, because "%" there stands for
 * two operators of PyTorch. SYM_NONE: it cannot be. */
static bool form_of_guard(struct entry_reader *e, const struct guard *guard, sym_id *ret,
                          struct err *err)
{
    struct sym_pool *pool = e->conditions.pool;
    struct str unknown;
    struct buf text = BUF_INIT;
    sym_id expr = conditions_parse(&e->conditions, guard->expr, &unknown);
    bool ok = made(e, expr, &expr, err);
    if (ok && expr != SYM_NONE) {
        sym_print_shape_guard(pool, expr, NULL, NULL, &text);
        ok = made(e, expr, &expr, err) && (!text.failed || err_nomem(err));
    }
    struct str kept = arena_copy(&e->scope.arena, buf_str(&text));
    buf_release(&text);
    if (ok && !kept.p)
        ok = err_nomem(err);
    *ret = SYM_NONE;
    if (!ok || expr == SYM_NONE)
        return ok;
    expr = conditions_parse(&e->conditions, kept, &unknown);
    return made(e, expr, &expr, err) && (expr == SYM_NONE || form_of(e, expr, ret, err));
}

/* Returns whether a leaf is what a range or a specialization of a symbol became: guards that say
 * the same have no leaf of their own. */
static bool is_bound(struct sym_pool *pool, sym_id form)
{
    bool bound = sym_is_relational(pool, form) || sym_kind_of(pool, form) == SYM_AND;
    bool both = sym_kind_of(pool, form) == SYM_AND;
    for (uint32_t i = 0; bound && i < sym_n_args(pool, form); i++) {
        sym_id arg = sym_arg(pool, form, i);
        bound = both ? sym_is_relational(pool, arg) && is_bound(pool, arg)
                     : sym_is_number(pool, arg) || sym_kind_of(pool, arg) == SYM_SYMBOL;
    }
    return bound;
}

static bool add_leaf(struct entry_reader *e, const struct merged_leaf *leaf, struct err *err)
{
    struct size_leaf row = { .comment = leaf->comment };
    struct str missing;
    struct err why = { 0 };
    sym_id expr = SYM_NONE;
    if (!str_is(leaf->kind, "LAMBDA_GUARD") && !str_is(leaf->kind, "SYMBOLIC_SHAPE_GUARD"))
        return true;
    bool ok = inputs_parse(&e->scope, leaf->code, &expr, &missing, &why);
    if (!ok && why.no_memory)
        return err_nomem(err);
    if (!made(e, ok && !missing.n ? expr : SYM_NONE, &expr, err))
        return false;
    if (expr == SYM_NONE)
        return true;
    if (!form_of(e, expr, &row.form, err))
        return false;
    row.bound = row.form != SYM_NONE && is_bound(e->conditions.pool, row.form);
    return row.form == SYM_NONE || vec_push(&e->leaves, row) || err_nomem(err);
}

/* ---- One attempt ---- */

static struct size_leaf *find_leaf(struct entry_reader *e, sym_id form)
{
    for (size_t i = 0; i < e->leaves.n; i++)
        if (e->leaves.v[i].form == form && form != SYM_NONE)
            return &e->leaves.v[i];
    return NULL;
}

/* Returns whether a leaf that no guard has may be that of the guard: its comment names the guard's
 * user line, "# demo/encoder.py:25 in forward (...)", or none is known. */
static bool may_have_leaf(const struct cost_reader *r, const struct entry_reader *e,
                          const struct guard *guard, bool *ret, struct err *err)
{
    struct frame frame =
        stack_frame(r->trace, r->trace->attempts[guard->attempt].recording, guard->user_stack);
    size_t slash = frame.file.n;
    struct buf place = BUF_INIT;
    while (slash > 0 && frame.file.p[slash - 1] != '/')
        slash--;
    buf_put(&place, str_from(frame.file, slash));
    buf_printf(&place, ":%u in ", frame.line);
    for (size_t i = 0; i < e->leaves.n && !*ret; i++)
        *ret = !e->leaves.v[i].paired && !e->leaves.v[i].bound &&
               (!guard->user_stack || !e->leaves.v[i].comment.n ||
                str_contains(e->leaves.v[i].comment, buf_str(&place)));
    bool ok = !place.failed || err_nomem(err);
    buf_release(&place);
    return ok;
}

/* Pairs all guards of the attempt with leaves: those that no guard has are of something else. */
static bool pair_guards(struct cost_reader *r, struct entry_reader *e,
                        const struct validate_attempt *a, struct attempt_costs *costs,
                        struct err *err)
{
    const struct guard_list *guards = trace_guards(r->trace, err);
    bool ok = guards != NULL;
    for (uint32_t i = 0; ok && i < guards->n; i++) {
        const struct guard *guard = &guards->guards[i];
        sym_id form;
        if (guard->attempt != a->attempt || guard->kind != GUARD_EVAL)
            continue;
        ok = form_of_guard(e, guard, &form, err);
        struct size_leaf *leaf = ok ? find_leaf(e, form) : NULL;
        for (size_t k = 0; leaf && k < a->n_redundant; k++)
            if (a->redundant[k].guard == guard)
                costs->guards[k] = leaf->paired || leaf->bound ? GUARD_LEAF_NONE : GUARD_LEAF_OWN;
        if (leaf)
            leaf->paired = true;
    }
    for (size_t k = 0; ok && k < a->n_redundant; k++) {
        bool maybe = false;
        if (costs->guards[k] == GUARD_LEAF_UNKNOWN)
            ok = may_have_leaf(r, e, a->redundant[k].guard, &maybe, err);
        if (costs->guards[k] != GUARD_LEAF_OWN && !maybe)
            costs->guards[k] = GUARD_LEAF_NONE;
        costs->own += costs->guards[k] == GUARD_LEAF_OWN;
        costs->unknown += costs->guards[k] == GUARD_LEAF_UNKNOWN;
    }
    return ok;
}

static bool read_entry(struct cost_reader *r, const struct validate_attempt *a,
                       const struct merged_tree *tree, const struct merged_entry *entry,
                       struct attempt_costs *costs, struct err *err)
{
    struct entry_reader e = { .scope = { .conditions = &e.conditions } };
    const struct attempt *attempt = &r->trace->attempts[a->attempt];
    bool ok = conditions_read(&e.conditions, r->trace, attempt->records[0], a->attempt, err) &&
              conditions_read_sizes(&e.conditions, r->trace, err);
    costs->has_tree = true;
    costs->leaves = entry->n_leaves;
    costs->all = entry->n_leaves + entry->n_accessors;
    costs->latency_us = entry->usual_us;
    for (uint32_t i = 0; ok && i < entry->n_leaves; i++)
        ok = add_leaf(&e, &tree->leaves.v[tree->uses.v[entry->first_use + i].leaf], err);
    ok = ok && pair_guards(r, &e, a, costs, err);
    vec_release(&e.leaves);
    inputs_scope_release(&e.scope);
    conditions_release(&e.conditions);
    return ok;
}

static bool read_attempt(struct cost_reader *r, const struct validate_attempt *a,
                         struct attempt_costs *costs, struct err *err)
{
    const struct attempt *attempt = &r->trace->attempts[a->attempt];
    const struct merged_tree *tree;
    costs->guards = arena_array(&r->costs->arena, enum guard_leaf, a->n_redundant + 1);
    if (!costs->guards)
        return err_nomem(err);
    for (size_t k = 0; k < a->n_redundant; k++)
        costs->guards[k] = GUARD_LEAF_UNKNOWN;
    costs->unknown = 0;
    if (!a->n_redundant || !attempt->n_records)
        return true;
    if (!read_trees(r, attempt->recording, err))
        return false;
    const struct merged_entry *entry = find_entry(&r->trees, a->attempt, &tree);
    if (entry)
        return read_entry(r, a, tree, entry, costs, err);
    costs->unknown = (uint32_t)a->n_redundant;
    return true;
}

bool redundant_costs_make(struct redundant_costs *ret, struct trace *trace,
                          const struct validation *v, struct err *err)
{
    struct cost_reader r = { .trace = trace, .costs = ret, .recording = UINT32_MAX };
    ret->attempts = arena_array(&ret->arena, struct attempt_costs, v->n_attempts + 1);
    bool ok = ret->attempts || err_nomem(err);
    for (size_t i = 0; ok && i < v->n_attempts; i++) {
        ret->attempts[i] = (struct attempt_costs){ 0 };
        ok = read_attempt(&r, v->attempts[i], &ret->attempts[i], err);
    }
    guard_trees_release(&r.trees);
    return ok;
}

void redundant_costs_release(struct redundant_costs *costs)
{
    arena_release(&costs->arena);
}
