/* A guard as a target: its records, what it did, and the sizes in it. */
#include "profile/why/why_build.h"

struct guard_search {
    struct why_build *b;
    struct replay_state state;
    struct str text; /* the target, with symbols in place of sources */
    sym_id expr, canonical;
    vec_of(uint32_t)
    found; /* indices of the guards that are the target, in the first attempt to explain */
    const struct why_attempt *a;
    struct err *err;
    bool ok;
    vec_of(struct str)
    seen;
};

/* Returns whether a text may be a condition: a name never has these. */
static bool looks_like_condition(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (strchr("=<>", text.p[i]) && text.p[i] != '\0')
            return true;
    return str_contains(text, STR("Eq(")) || str_contains(text, STR("Ne(")) ||
           str_contains(text, STR("Mod("));
}

static bool same_without_blanks(struct str a, struct str b)
{
    size_t i = 0, k = 0;
    while (true) {
        while (i < a.n && is_space(a.p[i]))
            i++;
        while (k < b.n && is_space(b.p[k]))
            k++;
        if (i == a.n || k == b.n)
            return i == a.n && k == b.n;
        if (a.p[i++] != b.p[k++])
            return false;
    }
}

/* ---- The target as an expression of the attempt's symbols ---- */

/* Replaces a source that stands as a whole name. */
static bool replace_source(struct why_build *b, struct str source, struct str symbol,
                           struct str *text)
{
    struct buf out = BUF_INIT;
    bool changed = false;
    for (size_t at = 0; at < text->n;) {
        bool whole = at == 0 || (!is_word_char(text->p[at - 1]) && text->p[at - 1] != '.' &&
                                 text->p[at - 1] != ']');
        if (whole && source.n && str_starts(str_from(*text, at), source)) {
            buf_put(&out, symbol);
            at += source.n;
            changed = true;
        } else {
            buf_putc(&out, text->p[at++]);
        }
    }
    if (changed)
        *text = out.failed ? (struct str){ 0 } : arena_copy(&b->arena, buf_str(&out));
    bool ok = !out.failed && (!changed || text->p);
    buf_release(&out);
    return ok;
}

static bool read_condition(struct guard_search *g, uint32_t attempt, struct err *err)
{
    struct why_build *b = g->b;
    g->text = why_name_plain(b->options->target, &b->arena);
    bool ok = g->text.p;
    for (uint32_t i = 0; i < b->symbols->n_symbols && ok; i++) {
        const struct symbol *s = &b->symbols->symbols[i];
        if (s->attempt != attempt || !s->source.n)
            continue;
        struct str plain = why_name_plain(s->source, &b->arena);
        ok = plain.p && replace_source(b, plain, s->name, &g->text);
    }
    return ok || err_nomem(err);
}

/* "%" is read as PythonMod, which sizes do not have: they print Mod. */
static sym_id with_mod(struct sym_pool *pool, sym_id e, unsigned depth)
{
    sym_id args[2];
    struct sym_pair pair;
    for (uint32_t i = 0; i < sym_n_args(pool, e) && depth < 64; i++) {
        sym_id arg = sym_arg(pool, e, i), changed = with_mod(pool, arg, depth + 1);
        if (changed != arg && changed != SYM_NONE) {
            pair = (struct sym_pair){ arg, changed };
            e = sym_replace(pool, e, &pair, 1);
        }
    }
    if (e == SYM_NONE || sym_kind_of(pool, e) != SYM_PYTHON_MOD || sym_n_args(pool, e) != 2)
        return e;
    args[0] = sym_arg(pool, e, 0);
    args[1] = sym_arg(pool, e, 1);
    return sym_mod(pool, args[0], args[1]);
}

static sym_id canonical_form(struct sym_pool *pool, sym_id e)
{
    struct err ignored = { 0 };
    sym_id flat = e == SYM_NONE ? e : sym_expand(pool, e);
    sym_id ret = flat == SYM_NONE ? flat : sym_canonical(pool, flat);
    sym_ok(pool, &ignored);
    return ret == SYM_NONE ? e : ret;
}

static bool is_target(struct guard_search *g, const struct guard *guard)
{
    struct sym_pool *pool = env_pool(g->state.env);
    if (same_without_blanks(guard->expr, g->b->options->target))
        return true;
    if (g->expr == SYM_NONE)
        return false;
    sym_id expr = why_env_parse(&g->state, guard->expr);
    return expr != SYM_NONE && (expr == g->expr || canonical_form(pool, expr) == g->canonical);
}

static bool search_attempt(struct guard_search *g, uint32_t attempt, struct err *err)
{
    struct why_build *b = g->b;
    struct err ignored = { 0 };
    g->found.n = 0;
    if (!read_condition(g, attempt, err) || !why_env_open(b, attempt, &g->state, err))
        return false;
    struct sym_pool *pool = env_pool(g->state.env);
    g->expr = why_env_parse(&g->state, g->text);
    g->expr = g->expr == SYM_NONE ? SYM_NONE : with_mod(pool, g->expr, 0);
    sym_ok(pool, &ignored);
    g->canonical = canonical_form(pool, g->expr);
    for (uint32_t i = 0; i < b->guards->n; i++)
        if (b->guards->guards[i].attempt == attempt && is_target(g, &b->guards->guards[i]) &&
            !vec_push(&g->found, i))
            return err_nomem(err);
    return true;
}

/* ---- What it did ---- */

/* Leaves of the events from `first` on only the guards found and what followed from them. */
static void keep_found(struct guard_search *g, size_t first)
{
    struct why_build *b = g->b;
    size_t n = first;
    bool keeping = false;
    for (size_t i = first; i < b->events.n; i++) {
        struct why_event event = b->events.v[i];
        if (event.kind == WHY_CHECKED || event.kind == WHY_CREATED)
            keeping = false;
        else if (event.record != TRACE_NONE && event.kind != WHY_SPECIALIZED) {
            keeping = false;
            for (size_t k = 0; k < g->found.n && !keeping; k++)
                keeping = b->guards->guards[g->found.v[k]].record == event.record;
            for (size_t k = 0; k < first && keeping; k++)
                keeping = b->events.v[k].record != event.record;
        }
        if (keeping)
            b->events.v[n++] = event;
    }
    b->events.n = n;
}

static void explain_symbol_of_guard(void *user, struct str symbol)
{
    struct guard_search *g = user;
    struct why_size size;
    size_t first = g->b->events.n;
    bool found;
    for (size_t i = 0; i < g->seen.n && g->ok; i++)
        if (str_eq(g->seen.v[i], symbol))
            return;
    g->ok = g->ok && (vec_push(&g->seen, symbol) || err_nomem(g->err)) &&
            why_size_of_symbol(g->b, g->a, symbol, &size, &found, g->err);
    if (g->ok && found) {
        g->ok = why_add_size(g->b, g->a, &size, true, g->err);
        keep_found(g, first);
    }
}

static bool explain_guard(struct guard_search *g, struct err *err)
{
    struct why_build *b = g->b;
    struct why_attempt a;
    const struct guard *guard = &b->guards->guards[g->found.v[0]];
    g->err = err;
    g->ok = why_attempt_read(b, guard->attempt, &a, err);
    g->a = &a;
    b->why.kind = WHY_GUARD;
    if (g->ok)
        guard_symbols(guard->expr, explain_symbol_of_guard, g);
    why_attempt_release(&a);
    return g->ok;
}

/* ---- The search ---- */

static bool search(struct guard_search *g, struct err *err)
{
    struct why_build *b = g->b;
    for (uint32_t i = 0; i < b->trace->n_attempts; i++) {
        if (!why_is_selected(b, i))
            continue;
        if (!search_attempt(g, i, err) || (g->found.n && !vec_push(&b->attempts, i)))
            return err_nomem(err);
        replay_state_close(&g->state);
    }
    if (!b->attempts.n)
        return true;
    why_order_attempts(b);
    return search_attempt(g, b->attempts.v[0], err) && (!g->found.n || explain_guard(g, err));
}

bool why_find_guard(struct why_build *b, struct err *err)
{
    struct guard_search g = { .b = b, .ok = true };
    if (!looks_like_condition(b->options->target))
        return true;
    bool ok = search(&g, err);
    replay_state_close(&g.state);
    vec_release(&g.found);
    vec_release(&g.seen);
    return ok;
}
