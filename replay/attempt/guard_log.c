#include "replay/attempt/guard_log.h"

#include "replay/ops/dispatch/ops.h"
#include "trace/base/hash.h"

bool guard_log_init(struct guard_log *log, const struct guard_list *list, uint32_t attempt,
                    uint32_t from, uint32_t end, struct shape_env *env, sym_resolver *symbol,
                    void *user)
{
    *log =
        (struct guard_log){ .env = env, .symbol = symbol, .user = user, .stop = GUARD_STOP_NEVER };
    for (uint32_t i = 0; i < list->n; i++)
        if (list->guards[i].attempt == attempt && list->guards[i].kind != GUARD_SUPPRESSED &&
            list->guards[i].record >= from && list->guards[i].record < end &&
            !vec_push(&log->entries, (struct guard_entry){ .guard = &list->guards[i],
                                                           .canonical = SYM_NONE,
                                                           .expr = SYM_NONE,
                                                           .added = SYM_NONE,
                                                           .next = UINT32_MAX,
                                                           .rule = "" }))
            return false;
    log->n_recorded = log->n_confirmed = (uint32_t)log->entries.n;
    return true;
}

void guard_log_release(struct guard_log *log)
{
    for (size_t i = log->n_recorded; i < log->entries.n; i++)
        free((char *)log->entries.v[i].text.p);
    vec_release(&log->entries);
    vec_release(&log->forms);
    hash_index_release(&log->form_index);
    vec_release(&log->texts);
    hash_index_release(&log->by_text);
}

sym_id guard_log_parse(struct guard_log *log, struct str text)
{
    struct err ignored = { 0 };
    struct sym_pool *pool = env_pool(log->env);
    uint32_t hash = (uint32_t)hash_str(text), i;
    for (size_t at = hash_index_start(&log->by_text, hash);
         hash_index_next(&log->by_text, hash, &at, &i);)
        if (str_eq(log->texts.v[i].text, text))
            return log->texts.v[i].expr;
    sym_id ret = sym_parse(pool, text, log->symbol, log->user);
    sym_ok(pool, &ignored);
    /* A text that there is no memory to remember is parsed again. */
    if (hash_index_reserve(&log->by_text, 1) &&
        vec_push(&log->texts, (struct parsed_text){ text, ret }))
        hash_index_add(&log->by_text, hash, (uint32_t)log->texts.n - 1);
    return ret;
}

/* Returns the canonical form. Products are multiplied out first: 4*(a + 1) equals 4*a + 4. */
static sym_id canonical_guard(struct guard_log *log, sym_id expr)
{
    struct err ignored = { 0 };
    struct sym_pool *pool = env_pool(log->env);
    sym_id flat = expr == SYM_NONE ? SYM_NONE : sym_expand(pool, expr);
    sym_id ret = flat == SYM_NONE ? SYM_NONE : sym_canonical(pool, flat);
    sym_ok(pool, &ignored);
    return ret == SYM_NONE ? expr : ret;
}

static uint32_t form_hash(sym_id canonical)
{
    return (uint32_t)canonical * 2654435769u;
}

static struct guard_form *find_form(struct guard_log *log, sym_id canonical)
{
    uint32_t hash = form_hash(canonical), row;
    for (size_t at = hash_index_start(&log->form_index, hash);
         hash_index_next(&log->form_index, hash, &at, &row);)
        if (log->forms.v[row].canonical == canonical)
            return &log->forms.v[row];
    return NULL;
}

/* Sets the status of an entry that was found. */
static void set_matched(struct guard_log *log, struct guard_entry *entry, enum guard_status status)
{
    uint32_t at = (uint32_t)(entry - log->entries.v);
    struct guard_form *form = entry->expr == SYM_NONE ? NULL : find_form(log, entry->canonical);
    entry->status = status;
    if (form && entry->guard->kind == GUARD_EVAL && at < form->matched)
        form->matched = at;
}

/* Adds an entry to those of its form. */
static bool add_to_form(struct guard_log *log, struct guard_entry *entry)
{
    uint32_t at = (uint32_t)(entry - log->entries.v);
    struct guard_form *form = find_form(log, entry->canonical);
    if (form) {
        log->entries.v[form->last].next = at;
        form->last = at;
        form->pending = form->pending == UINT32_MAX ? at : form->pending;
        return true;
    }
    if (!hash_index_reserve(&log->form_index, 1) ||
        !vec_push(&log->forms, (struct guard_form){ entry->canonical, at, at, UINT32_MAX }))
        return false;
    hash_index_add(&log->form_index, form_hash(entry->canonical), (uint32_t)log->forms.n - 1);
    return true;
}

/* Parses a recorded guard, when it is needed for the first time. */
static void parse_entry(struct guard_log *log, struct guard_entry *entry)
{
    if (entry->read || !entry->guard)
        return;
    entry->read = true;
    entry->expr = guard_log_parse(log, entry->guard->expr);
    entry->canonical = canonical_guard(log, entry->expr);
    if (entry->expr != SYM_NONE && entry->guard->kind == GUARD_EVAL)
        log->failed |= !add_to_form(log, entry);
}

void guard_log_parse_all(struct guard_log *log)
{
    for (size_t i = 0; i < log->n_recorded; i++)
        parse_entry(log, &log->entries.v[i]);
}

static bool is_kernel(const struct guard_entry *entry)
{
    return entry->guard->asked_by == GUARD_BY_KERNEL;
}

/* Returns whether the environment would evaluate the guard without adding it. At other hints, the
 * negation of a recorded guard may be what is known. */
static bool is_known_guard(struct guard_log *log, struct guard_entry *entry)
{
    parse_entry(log, entry);
    if (entry->expr == SYM_NONE)
        return true;
    sym_id ret = env_peek_static(log->env, entry->expr);
    env_raised(log->env);
    return ret == SYM_ID_TRUE || (log->stop.at_branch && ret == SYM_ID_FALSE);
}

/* A float is recorded with 15 digits and its hint with 17. */
static bool is_rounded_equality(struct shape_env *env, sym_id expr)
{
    struct sym_pool *pool = env_pool(env);
    if (sym_kind_of(pool, expr) != SYM_EQ)
        return false;
    sym_id a = env_hint(env, sym_arg(pool, expr, 0)), b = env_hint(env, sym_arg(pool, expr, 1));
    return a != SYM_NONE && b != SYM_NONE && sym_numbers_near(pool, a, b);
}

/* Returns an equality with the float that was rounded when it was printed. */
static sym_id exact_condition(struct shape_env *env, sym_id expr)
{
    struct sym_pool *pool = env_pool(env);
    if (env_hint(env, expr) != SYM_ID_FALSE || !is_rounded_equality(env, expr))
        return expr;
    sym_id a = sym_arg(pool, expr, 0), b = sym_arg(pool, expr, 1);
    return sym_is_number(pool, a) ? sym_eq(pool, env_hint(env, b), b)
                                  : sym_eq(pool, a, env_hint(env, a));
}

bool guard_is_denied(struct shape_env *env, sym_id expr)
{
    struct err ignored = { 0 };
    bool ret =
        expr != SYM_NONE && env_hint(env, expr) == SYM_ID_FALSE && !is_rounded_equality(env, expr);
    env_raised(env);
    sym_ok(env_pool(env), &ignored);
    return ret;
}

static sym_id instead_of_denied(struct guard_log *log, const struct guard *guard, sym_id expr)
{
    struct sym_pool *pool = env_pool(log->env);
    enum denied_guard instead = log->instead;
    sym_id value;
    if (log->stop.at_branch)
        instead = guard->of_value ? DENIED_VALUE : DENIED_NEGATION;
    switch (instead) {
    case DENIED_VALUE:
        if (sym_kind_of(pool, expr) != SYM_EQ)
            return SYM_NONE;
        value = env_hint(log->env, sym_arg(pool, expr, 0));
        return value == SYM_NONE ? SYM_NONE : sym_eq(pool, sym_arg(pool, expr, 0), value);
    case DENIED_NEGATION: return sym_not(pool, expr);
    default: return SYM_NONE;
    }
}

static bool is_python_branch(const struct guard *guard)
{
    return guard->kind == GUARD_EVAL && !guard->of_graph &&
           (guard->asked_by == GUARD_BY_DYNAMO || guard->asked_by == GUARD_BY_USER);
}

/* Called when the replay has reached a recorded guard. */
static void end_at(struct guard_log *log, const struct guard_entry *entry)
{
    if (entry->denied && log->stop.at_branch && is_python_branch(entry->guard))
        log->branch = entry->guard;
    log->ended = log->branch || entry->guard->record == log->stop.record;
    log->last = entry->guard->record;
}

/* Adds the condition of an entry to the environment. */
static void add_condition(struct guard_log *log, struct guard_entry *entry)
{
    struct env_origin none = { .graph = UINT32_MAX,
                               .node = ENV_NODE_NONE,
                               .user_stack = entry->guard->user_stack,
                               .rule = "" };
    bool ignored;
    parse_entry(log, entry);
    if (entry->expr == SYM_NONE)
        return;
    /* PyTorch adds what is true; another condition would only make the environment contradict
     * itself. */
    entry->denied = guard_is_denied(log->env, entry->expr);
    log->n_denied += entry->denied;
    sym_id expr = entry->denied ? instead_of_denied(log, entry->guard, entry->expr)
                                : exact_condition(log->env, entry->expr);
    if (expr == SYM_NONE)
        return;
    env_set_origin(log->env, none);
    uint32_t n = env_n_guards(log->env);
    if (entry->guard->kind == GUARD_RUNTIME_ASSERT)
        env_expect_true(log->env, expr, STR(""), &ignored);
    else
        env_guard_bool(log->env, expr, &ignored);
    env_raised(log->env);
    if (env_n_guards(log->env) > n)
        entry->added = env_guard_at(log->env, n)->expr;
}

static void apply_entry(struct guard_log *log, struct guard_entry *entry)
{
    add_condition(log, entry);
    set_matched(log, entry, GUARD_STATUS_APPLIED);
}

/* Returns whether a call's guard delays those that were recorded after it: it does until it is
 * known. Deferred asserts of kernels, which rules add, too, delay nothing. */
static bool delays_others(struct guard_log *log, struct guard_entry *entry)
{
    if (entry->status != GUARD_STATUS_PENDING || entry->guard->kind != GUARD_EVAL)
        return false;
    return !is_known_guard(log, entry);
}

static uint64_t knowledge(const struct shape_env *env)
{
    return ((uint64_t)env_n_guards(env) << 32) + env_n_replacements(env) +
           (uint64_t)env_n_asserts(env);
}

/* Returns whether an equality is that of a size that is needed as a number. Calls compare sizes
 * with 0 and 1. */
static bool is_specialization(struct sym_pool *pool, sym_id size, sym_id number)
{
    return sym_kind_of(pool, number) == SYM_INTEGER &&
           (sym_kind_of(pool, size) == SYM_SYMBOL ||
            (number != SYM_ID_ZERO && number != SYM_ID_ONE));
}

/* Returns whether an entry at the head is the condition of an if in a formula of autograd, which is
 * being replayed: no call adds it, and the calls after it depend on it. Formulas compare sizes by
 * order, and need some of them as numbers; other equalities come from the calls that they make. */
static bool is_due_formula(struct guard_log *log, struct guard_entry *entry)
{
    if (!log->backward || !entry->guard->of_formula || entry->guard->kind != GUARD_EVAL)
        return false;
    parse_entry(log, entry);
    if (entry->expr == SYM_NONE)
        return false;
    struct sym_pool *pool = env_pool(log->env);
    enum sym_kind kind = sym_kind_of(pool, entry->expr);
    if (kind == SYM_EQ)
        return is_specialization(pool, sym_arg(pool, entry->expr, 0),
                                 sym_arg(pool, entry->expr, 1));
    return kind == SYM_LT || kind == SYM_LE || kind == SYM_GT || kind == SYM_GE;
}

/* Returns whether an entry at the head is applied. A call's guard that is known already needs no
 * application, and a rule may add it later. */
static bool is_applied(struct guard_log *log, struct guard_entry *entry, bool all)
{
    return !is_kernel(entry) && (all || !entry->guard->of_graph || is_due_formula(log, entry));
}

void guard_log_set_backward(struct guard_log *log, bool backward)
{
    if (log->backward != backward)
        log->last_change = 0;
    log->backward = backward;
}

bool guard_log_apply(struct guard_log *log, uint32_t record, bool all)
{
    uint64_t now = knowledge(log->env);
    if (!all && log->last_change == now + 1)
        return true;
    while (log->head < log->n_recorded && !log->ended) {
        struct guard_entry *entry = &log->entries.v[log->head];
        if (entry->guard->record >= record)
            break;
        if (!all && entry->guard->of_graph && !is_due_formula(log, entry) &&
            delays_others(log, entry))
            break;
        if (entry->status == GUARD_STATUS_PENDING && is_applied(log, entry, all)) {
            if (!guard_log_gather(log))
                return false;
            apply_entry(log, entry);
            log->seen = env_n_guards(log->env);
        }
        end_at(log, entry);
        log->head++;
    }
    log->last_change = knowledge(log->env) + 1;
    return true;
}

/* Returns the first guard of a form that no replayed guard has matched yet, of those that were
 * parsed. */
static struct guard_entry *first_pending(struct guard_log *log, struct guard_form *form)
{
    while (form && form->pending != UINT32_MAX) {
        struct guard_entry *entry = &log->entries.v[form->pending];
        if (entry->status == GUARD_STATUS_PENDING)
            return entry;
        form->pending = entry->next;
    }
    return NULL;
}

/* Returns the first equal recorded guard that no replayed guard has matched yet. Equal conditions
 * have one canonical form. */
static struct guard_entry *find_pending_entry(struct guard_log *log, sym_id canonical)
{
    struct guard_entry *found = first_pending(log, find_form(log, canonical));
    for (; !found && log->first_unread < log->n_recorded; log->first_unread++) {
        struct guard_entry *entry = &log->entries.v[log->first_unread];
        if (entry->status != GUARD_STATUS_PENDING || entry->guard->kind != GUARD_EVAL)
            continue;
        parse_entry(log, entry);
        if (entry->expr != SYM_NONE && entry->canonical == canonical)
            found = entry;
    }
    return found;
}

/* Returns an equal guard that was matched already: PyTorch may add a guard again that its small
 * caches have evicted, and guards count as a set. */
static const struct guard_entry *find_matched(struct guard_log *log, sym_id canonical)
{
    const struct guard_form *form = find_form(log, canonical);
    return form && form->matched != UINT32_MAX ? &log->entries.v[form->matched] : NULL;
}

static bool add_extra(struct guard_log *log, const struct env_guard *guard, sym_id form)
{
    struct buf text = BUF_INIT;
    sym_print(env_pool(log->env), guard->expr, &text);
    return !text.failed &&
           vec_push(&log->entries, (struct guard_entry){ .text = { text.p, text.n },
                                                         .expr = guard->expr,
                                                         .added = guard->expr,
                                                         .canonical = form,
                                                         .status = GUARD_STATUS_EXTRA,
                                                         .has_node = true,
                                                         .graph = guard->origin.graph,
                                                         .node = guard->origin.node,
                                                         .rule = guard->origin.rule });
}

/* Applies the guards before `to`, which were recorded before the one that was just replayed. */
static void move_head(struct guard_log *log, uint32_t to)
{
    for (; log->head < to && !log->ended; log->head++) {
        struct guard_entry *entry = &log->entries.v[log->head];
        if (entry->status == GUARD_STATUS_PENDING && !is_kernel(entry))
            apply_entry(log, entry);
        end_at(log, entry);
    }
}

/* Returns the form of the guard as its text is read, in which floats have fewer digits. */
static sym_id printed_form(struct guard_log *log, sym_id expr)
{
    struct err ignored = { 0 };
    struct sym_pool *pool = env_pool(log->env);
    struct buf text = BUF_INIT;
    sym_print(pool, expr, &text);
    sym_id ret = text.failed ? SYM_NONE : sym_parse(pool, buf_str(&text), log->symbol, log->user);
    sym_ok(pool, &ignored);
    buf_release(&text);
    return canonical_guard(log, ret);
}

/* Matches a replayed guard; *next: the entries before it were recorded earlier. */
static bool match_guard(struct guard_log *log, uint32_t i, uint32_t *next)
{
    struct env_guard guard = *env_guard_at(log->env, i);
    sym_id form = canonical_guard(log, guard.expr);
    struct guard_entry *entry = find_pending_entry(log, form);
    if (!entry && find_matched(log, form))
        return true;
    sym_id printed = entry ? form : printed_form(log, guard.expr);
    if (printed != form && printed != SYM_NONE)
        entry = find_pending_entry(log, printed);
    if (!entry)
        return guard.origin.node == ENV_NODE_NONE || add_extra(log, &guard, form);
    set_matched(log, entry, GUARD_STATUS_REPRODUCED);
    entry->added = guard.expr;
    entry->has_node = guard.origin.node != ENV_NODE_NONE;
    entry->graph = guard.origin.graph;
    entry->node = guard.origin.node;
    entry->rule = guard.origin.rule;
    uint32_t at = (uint32_t)(entry - log->entries.v);
    *next = at > *next ? at : *next;
    log->n_confirmed = (uint32_t)log->entries.n;
    return true;
}

bool guard_log_gather(struct guard_log *log)
{
    uint32_t n = env_n_guards(log->env), next = log->head;
    for (; log->seen < n; log->seen++)
        if (!match_guard(log, log->seen, &next))
            return false;
    move_head(log, next);
    log->seen = env_n_guards(log->env); /* without those that move_head() applied */
    return !log->failed;
}

bool guard_log_concede(struct guard_log *log, uint32_t record)
{
    struct sym_pool *pool = env_pool(log->env);
    for (; log->conceded < log->n_recorded; log->conceded++) {
        struct guard_entry *entry = &log->entries.v[log->conceded];
        if (entry->guard->record >= record)
            break;
        if (entry->status != GUARD_STATUS_PENDING || !is_kernel(entry) ||
            entry->guard->kind != GUARD_EVAL)
            continue;
        parse_entry(log, entry);
        if (entry->expr == SYM_NONE || sym_kind_of(pool, entry->expr) != SYM_EQ)
            continue;
        add_condition(log, entry);
    }
    log->seen = env_n_guards(log->env);
    return true;
}

bool guard_log_is_gone(struct guard_log *log, struct guard_entry *entry, bool exported)
{
    if (entry->added != SYM_NONE || !entry->guard || entry->guard->kind != GUARD_EVAL)
        return false;
    return exported || entry->status != GUARD_STATUS_MISSING || is_known_guard(log, entry);
}

bool guard_log_take(struct guard_log *log, struct guard_log *from, bool extra)
{
    for (uint32_t i = 0; i < log->n_recorded; i++) {
        const struct guard_entry *found = &from->entries.v[i];
        struct guard_entry *entry = &log->entries.v[i];
        if (found->status != GUARD_STATUS_REPRODUCED || entry->status == GUARD_STATUS_REPRODUCED)
            continue;
        parse_entry(log, entry);
        set_matched(log, entry, GUARD_STATUS_REPRODUCED);
        entry->has_node = found->has_node;
        entry->graph = found->graph;
        entry->node = found->node;
        entry->rule = found->rule;
    }
    for (uint32_t i = from->n_recorded; extra && i < from->n_confirmed; i++) {
        if (!vec_push(&log->entries, from->entries.v[i]))
            return false;
        from->entries.v[i].text = (struct str){ NULL, 0 };
    }
    return !log->failed;
}

bool guard_log_ended_before(const struct guard_log *log, const struct guard_entry *entry)
{
    return log->ended && entry->guard &&
           (entry->status == GUARD_STATUS_PENDING || entry->guard->record > log->last);
}

struct visibility_search {
    bool (*visible)(void *user, struct str symbol);
    void *user;
    bool found, any;
};

static void look_at_symbol(void *user, struct str symbol)
{
    struct visibility_search *l = user;
    l->any = true;
    l->found |= l->visible(l->user, symbol);
}

/* The deferred asserts that rules added, in canonical form and sorted. */
struct replayed_asserts {
    vec_of(sym_id)
    forms;
};

static int compare_ids(const void *a, const void *b)
{
    const sym_id *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void gather_asserts(struct guard_log *log, struct replayed_asserts *all)
{
    for (uint32_t i = 0; i < env_n_asserts(log->env) && !log->failed; i++)
        log->failed |=
            !vec_push(&all->forms, canonical_guard(log, env_assert_at(log->env, i)->expr));
    if (all->forms.n)
        qsort(all->forms.v, all->forms.n, sizeof *all->forms.v, compare_ids);
}

static bool has_assert(const struct replayed_asserts *all, sym_id form)
{
    return all->forms.n &&
           bsearch(&form, all->forms.v, all->forms.n, sizeof *all->forms.v, compare_ids);
}

void guard_log_finish(struct guard_log *log, bool (*visible)(void *user, struct str symbol),
                      void *user, uint32_t graphless)
{
    struct replayed_asserts asserts = { { 0 } };
    gather_asserts(log, &asserts);
    for (uint32_t i = 0; i < log->n_recorded; i++) {
        struct guard_entry *entry = &log->entries.v[i];
        struct visibility_search l = { visible, user, false, false };
        if (entry->status != GUARD_STATUS_PENDING || log->ended)
            continue;
        parse_entry(log, entry);
        if (entry->guard->kind == GUARD_RUNTIME_ASSERT && entry->expr != SYM_NONE &&
            has_assert(&asserts, entry->canonical)) {
            set_matched(log, entry, GUARD_STATUS_REPRODUCED);
            continue;
        }
        if (entry->guard->kind == GUARD_EVAL && entry->expr != SYM_NONE) {
            const struct guard_entry *met = find_matched(log, entry->canonical);
            if (met && (met->status == GUARD_STATUS_REPRODUCED || graphless)) {
                set_matched(log, entry, is_kernel(entry) ? GUARD_STATUS_REPRODUCED : met->status);
                entry->has_node = met->has_node;
                entry->graph = met->graph;
                entry->node = met->node;
                entry->rule = met->rule;
                continue;
            }
        }
        if (!is_kernel(entry)) {
            set_matched(log, entry, GUARD_STATUS_APPLIED);
            continue;
        }
        guard_symbols(entry->guard->expr, look_at_symbol, &l);
        entry->status = entry->guard->record >= graphless ? GUARD_STATUS_NO_GRAPH
                        : l.found                         ? GUARD_STATUS_MISSING
                                                          : GUARD_STATUS_INVISIBLE;
    }
    vec_release(&asserts.forms);
}

uint32_t guard_log_first_outside(const struct trace *trace, const struct graph_list *list,
                                 uint32_t ref)
{
    const struct graph_ref *refs = list->refs;
    uint32_t recording = trace->records[refs[ref].record].recording;
    uint32_t first = trace->recordings[recording].first_record;
    for (uint32_t i = ref; i-- > 0 && refs[i].record >= first;)
        if (refs[i].attempt == TRACE_NONE && refs[i].record < refs[ref].record)
            return refs[i].record;
    return first;
}
