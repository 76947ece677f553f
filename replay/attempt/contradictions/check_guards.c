/* Guards, specializations and ranges at the end of a replay. */
#include "replay/attempt/contradictions/evidence.h"

struct end_checker {
    struct contradictions *found;
    const struct attempt_end *end;
    struct sym_pool *pool;
    struct intern unguarded; /* symbols of guards that were not replayed */
    bool failed;
};

static void add(struct end_checker *k, struct contradiction row)
{
    row.attempt = k->end->attempt;
    row.ref = TRACE_NONE;
    row.name = arena_copy(&k->found->arena, row.name);
    row.recorded = arena_copy(&k->found->arena, row.recorded);
    row.expected = arena_copy(&k->found->arena, row.expected);
    k->failed |=
        !row.name.p || !row.recorded.p || !row.expected.p || !vec_push(&k->found->list, row);
}

static sym_id parse(struct end_checker *k, struct str text)
{
    return guard_log_parse(k->end->log, text);
}

/* Clears what the environment raised; only that memory ran out matters. */
static void clear_raised(struct end_checker *k)
{
    k->failed |= env_raised(k->end->env).kind == ENV_RAISED_MEMORY;
}

static sym_id hint_of(struct end_checker *k, sym_id expr)
{
    struct err ignored = { 0 };
    sym_id ret = expr == SYM_NONE ? SYM_NONE : env_hint(k->end->env, expr);
    sym_ok(k->pool, &ignored);
    k->failed |= ignored.no_memory;
    clear_raised(k);
    return ret;
}

/* ---- Guards ---- */

/* Returns whether PyTorch knows that a condition is true whatever its symbols are. PyTorch adds no
 * guard for such a condition. */
static bool cannot_be_false(struct end_checker *k, const struct guard *guard, sym_id expr)
{
    if (expr == SYM_NONE)
        return false;
    bool ret = (sym_is_relational(k->pool, expr) &&
                sym_arg(k->pool, expr, 0) == sym_arg(k->pool, expr, 1)) ||
               (guard->kind == GUARD_EVAL && sym_known(k->pool, expr, NULL, NULL) == SYM_YES &&
                env_evaluate_static_as(k->end->env, expr, ENV_STATIC_PLAIN, false) == SYM_ID_TRUE);
    clear_raised(k);
    return ret;
}

/* _log_guard() is given what was true: the condition, or its negation (evaluate_expr of
 * torch/fx/experimental/symbolic_shapes.py). */
static void check_guard(struct end_checker *k, const struct guard *guard, sym_id expr)
{
    struct contradiction row = { .kind = CONTRADICTION_GUARD,
                                 .record = guard->record,
                                 .beside = TRACE_NONE,
                                 .name = guard->expr,
                                 .recorded = guard->expr };
    if (guard_is_denied(k->end->env, expr))
        row.expected = STR("a condition that is true at the hints");
    else if (cannot_be_false(k, guard, expr))
        row.expected = STR("a condition that can be false");
    if (row.expected.n)
        add(k, row);
}

/* The conditions that a graph asserts: insert_deferred_runtime_asserts() of
 * torch/fx/passes/runtime_assert.py writes each into the message of its node. */
static void gather_asserts(struct end_checker *k, struct intern *all, const struct graph *graph)
{
    const struct str begin = STR("Runtime assertion failed for expression ");
    for (uint32_t i = 0; i < graph->n_nodes && !k->failed; i++) {
        const struct node *node = &graph->nodes[i];
        if (node->n_args < 2 || !str_is(node->target, "torch.ops.aten._assert_scalar.default"))
            continue;
        const struct arg *message = &node_args(graph, node)[1];
        struct str text = message->kind == ARG_STRING ? message->text : STR("");
        if (str_starts(text, begin))
            k->failed |=
                intern(all, str_first(str_from(text, begin.n),
                                      str_find(str_from(text, begin.n), STR(" on node")))) ==
                INTERN_NONE;
    }
}

struct printed_symbols {
    const struct attempt_end *end;
    bool all;
};

static void look_at_symbol(void *user, struct str symbol)
{
    struct printed_symbols *printed = user;
    bool found = false;
    for (size_t i = 0; i < printed->end->n_graphs && !found; i++)
        found = graph_has_symbol(printed->end->graphs[i], symbol);
    printed->all &= found;
}

/* Tracing that leaves no graph, such as that of AOTAutograd's metadata, has symbols of its own. */
static bool has_only_printed_symbols(const struct end_checker *k, struct str expr)
{
    struct printed_symbols printed = { k->end, true };
    guard_symbols(expr, look_at_symbol, &printed);
    return printed.all;
}

/* An assert that was recorded is in the graph, if the graph asserts anything. */
static void check_asserts(struct end_checker *k)
{
    const struct guard_log *log = k->end->log;
    struct intern all = INTERN_INIT;
    for (size_t i = 0; i < k->end->n_graphs; i++)
        gather_asserts(k, &all, k->end->graphs[i]);
    for (uint32_t i = 0; i < log->n_recorded && all.texts.n && !k->failed; i++) {
        const struct guard_entry *entry = &log->entries.v[i];
        if (entry->guard->kind != GUARD_RUNTIME_ASSERT || entry->status != GUARD_STATUS_APPLIED ||
            intern_find(&all, entry->guard->expr) != INTERN_NONE ||
            !has_only_printed_symbols(k, entry->guard->expr))
            continue;
        add(k, (struct contradiction){ .kind = CONTRADICTION_GUARD,
                                       .record = entry->guard->record,
                                       .beside = TRACE_NONE,
                                       .name = entry->guard->expr,
                                       .recorded = entry->guard->expr,
                                       .expected = STR("a condition that the graphs assert") });
    }
    intern_release(&all);
}

static void check_guards(struct end_checker *k)
{
    const struct guard_log *log = k->end->log;
    const struct guard_list *all = k->end->guards;
    for (uint32_t i = 0; i < log->n_recorded && !k->failed; i++) {
        struct guard_entry *entry = &log->entries.v[i];
        if (entry->status == GUARD_STATUS_REPRODUCED)
            continue;
        sym_id expr = entry->expr != SYM_NONE ? entry->expr : parse(k, entry->guard->expr);
        check_guard(k, entry->guard, expr);
    }
    for (uint32_t i = 0; i < all->n && !k->failed; i++)
        if (all->guards[i].attempt == k->end->attempt && all->guards[i].kind == GUARD_SUPPRESSED)
            check_guard(k, &all->guards[i], parse(k, all->guards[i].expr));
}

/* ---- Specializations ---- */

static void add_symbol(void *user, struct str symbol)
{
    struct end_checker *k = user;
    k->failed |= intern(&k->unguarded, symbol) == INTERN_NONE;
}

/* Gathers the symbols of recorded guards that were not replayed, which are reported by themselves.
 */
static void gather_unguarded(struct end_checker *k)
{
    const struct guard_log *log = k->end->log;
    for (uint32_t i = 0; i < log->n_recorded && !k->failed; i++) {
        const struct guard_entry *entry = &log->entries.v[i];
        if (entry->denied ||
            (entry->status != GUARD_STATUS_REPRODUCED && entry->status != GUARD_STATUS_APPLIED))
            guard_symbols(entry->guard->expr, add_symbol, k);
    }
}

static void check_specialization(struct end_checker *k, const struct specialization *s)
{
    sym_id symbol = parse(k, s->symbol), value = parse(k, s->value);
    sym_id hint = hint_of(k, symbol);
    struct contradiction row = { .kind = CONTRADICTION_SPECIALIZATION,
                                 .record = s->record,
                                 .beside = TRACE_NONE,
                                 .name = s->symbol,
                                 .recorded = s->value };
    if (symbol == SYM_NONE || value == SYM_NONE || hint == SYM_NONE ||
        !sym_is_number(k->pool, value) || !sym_is_number(k->pool, hint))
        return;
    struct buf text = BUF_INIT;
    sym_id is = env_replace(k->end->env, symbol);
    clear_raised(k);
    if (!sym_numbers_near(k->pool, value, hint))
        sym_print(k->pool, hint, &text);
    else if (k->end->replayed && is != SYM_NONE && !sym_is_number(k->pool, is) &&
             intern_find(&k->unguarded, s->symbol) == INTERN_NONE)
        buf_puts(&text, "no specialization");
    row.expected = buf_str(&text);
    if (text.n)
        add(k, row);
    k->failed |= text.failed;
    buf_release(&text);
}

/* The sources of symbols by name. */
struct symbol_sources {
    struct intern names;
    vec_of(const struct symbol *)
    symbols;
};

static void read_sources(struct end_checker *k, struct symbol_sources *all)
{
    const struct symbol_table *table = k->end->symbols;
    for (uint32_t i = 0; i < table->n_symbols && !k->failed; i++) {
        if (table->symbols[i].attempt != k->end->attempt)
            continue;
        uint32_t id = intern(&all->names, table->symbols[i].name);
        k->failed |= id == INTERN_NONE ||
                     (id == all->symbols.n && !vec_push(&all->symbols, &table->symbols[i]));
    }
}

/* A specialization names the sources of its symbol, the first of which is that of its record. */
static void check_source(struct end_checker *k, const struct symbol_sources *all,
                         const struct specialization *s)
{
    uint32_t id = intern_find(&all->names, s->symbol);
    const struct symbol *symbol = id == INTERN_NONE ? NULL : all->symbols.v[id];
    if (symbol && symbol->source.n && s->source.n && !str_eq(symbol->source, s->source))
        add(k, (struct contradiction){ .kind = CONTRADICTION_SPECIALIZATION,
                                       .record = s->record,
                                       .beside = symbol->record,
                                       .name = s->symbol,
                                       .recorded = s->source,
                                       .expected = symbol->source });
}

static void check_specializations(struct end_checker *k)
{
    const struct symbol_table *table = k->end->symbols;
    struct symbol_sources sources = { 0 };
    read_sources(k, &sources);
    gather_unguarded(k);
    for (uint32_t i = 0; i < table->n_specializations && !k->failed; i++) {
        const struct specialization *s = &table->specializations[i];
        size_t n = k->found->list.n;
        if (s->attempt != k->end->attempt)
            continue;
        check_specialization(k, s);
        if (k->found->list.n == n)
            check_source(k, &sources, s);
    }
    intern_release(&sources.names);
    vec_release(&sources.symbols);
}

/* ---- Ranges ---- */

/* create_unbacked_symint, _symfloat and _symbool of torch/fx/experimental/symbolic_shapes.py. */
static void check_unbacked_ranges(struct end_checker *k)
{
    static const char *const usual[] = { "[-int_oo, int_oo]", "[-oo, oo]", "[0, 1]", "" };
    const struct symbol_table *table = k->end->symbols;
    for (uint32_t i = 0; i < table->n_symbols && !k->failed; i++) {
        const struct symbol *s = &table->symbols[i];
        if (s->attempt != k->end->attempt || !s->unbacked || str_is_one_of(s->range, usual, 4))
            continue;
        add(k, (struct contradiction){ .kind = CONTRADICTION_RANGE,
                                       .record = s->record,
                                       .beside = TRACE_NONE,
                                       .name = s->name,
                                       .recorded = s->range,
                                       .expected = str_starts(s->name, STR("z"))
                                                       ? STR("[-oo, oo]")
                                                       : STR("[-int_oo, int_oo]") });
    }
}

bool contradictions_check(struct contradictions *c, const struct attempt_end *end)
{
    struct end_checker k = { .found = c, .end = end, .pool = env_pool(end->env) };
    check_guards(&k);
    k.failed |= !check_tree(c, end);
    check_asserts(&k);
    check_specializations(&k);
    check_unbacked_ranges(&k);
    intern_release(&k.unguarded);
    return !k.failed;
}
