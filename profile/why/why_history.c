/* The history of a size: what was recorded about its symbol, and what follows from it. */
#include "profile/why/why_build.h"
#include "trace/events/incidents/incident_text.h"

struct history {
    struct why_build *b;
    const struct why_attempt *a;
    struct why_size *size;
    bool keep;
    struct replay_state state;
    sym_id symbol;
    struct sym_range range; /* the latest known one */
    sym_id now;             /* what replaced the symbol, or itself */
    bool specialized;       /* a record says so */
};

static bool add_event(struct history *h, struct why_event event, struct err *err)
{
    return !h->keep || vec_push(&h->b->events, event) || err_nomem(err);
}

static struct str print_symbolic(struct history *h, sym_id e)
{
    struct buf text = BUF_INIT;
    sym_print(env_pool(h->state.env), e, &text);
    struct str ret = text.failed ? (struct str){ 0 } : arena_copy(&h->b->arena, buf_str(&text));
    buf_release(&text);
    return ret;
}

static struct str print_range(struct history *h, struct sym_range range)
{
    struct str lower = print_symbolic(h, range.lower), upper = print_symbolic(h, range.upper);
    if (!lower.p || !upper.p)
        return (struct str){ 0 };
    return why_printf(h->b, "[%.*s, %.*s]", STR_ARG(lower), STR_ARG(upper));
}

/* ---- Guards ---- */

struct mention {
    struct str symbol;
    bool found;
};

static void see_symbol(void *user, struct str symbol)
{
    struct mention *m = user;
    m->found |= str_eq(m->symbol, symbol);
}

bool why_mentions(struct str expr, struct str symbol)
{
    struct mention m = { symbol, false };
    guard_symbols(expr, see_symbol, &m);
    return m.found;
}

static bool add_guard(struct history *h, const struct guard *guard, struct err *err)
{
    static const enum why_event_kind KINDS[GUARD_KINDS] = { WHY_GUARD_ADDED, WHY_SUPPRESSED,
                                                            WHY_ASSERT };
    h->size->n_guards += guard->kind != GUARD_SUPPRESSED;
    return add_event(
        h,
        (struct why_event){ .kind = KINDS[guard->kind],
                            .record = guard->record,
                            .text = guard->expr,
                            .asked_by = guard->asked_by,
                            .asked = guard->asker != 0,
                            .line = why_user_line(h->b, guard->record, guard->user_stack) },
        err);
}

/* Adds what the environment derived from the last guard about the symbol. */
static bool add_changes(struct history *h, struct err *err)
{
    struct shape_env *env = h->state.env;
    struct sym_range range = h->range;
    sym_id now = env_replace(env, h->symbol);
    if (now != SYM_NONE && now != h->now) {
        h->now = now;
        bool number = sym_is_number(env_pool(env), now);
        struct why_event event = { .kind = number ? WHY_SPECIALIZED : WHY_REPLACED,
                                   .record = TRACE_NONE,
                                   .text = print_symbolic(h, now) };
        if (!event.text.p)
            return err_nomem(err);
        return (number && h->specialized) || add_event(h, event, err);
    }
    if (h->now != SYM_NONE && sym_is_number(env_pool(env), h->now))
        return true;
    env_range(env, h->symbol, &range);
    if (range.lower == h->range.lower && range.upper == h->range.upper)
        return true;
    h->range = range;
    struct str text = print_range(h, range);
    return text.p
               ? add_event(
                     h, (struct why_event){ .kind = WHY_RANGE, .record = TRACE_NONE, .text = text },
                     err)
               : err_nomem(err);
}

static bool apply_recorded_guard(struct history *h, const struct guard *guard, struct err *err)
{
    bool ignored;
    sym_id expr =
        guard->kind == GUARD_SUPPRESSED ? SYM_NONE : why_env_parse(&h->state, guard->expr);
    if (expr == SYM_NONE)
        return true;
    if (guard->kind == GUARD_RUNTIME_ASSERT)
        env_expect_true(h->state.env, expr, STR(""), &ignored);
    else
        env_guard_bool(h->state.env, expr, &ignored);
    return env_raised(h->state.env).kind != ENV_RAISED_MEMORY || err_nomem(err);
}

/* ---- Specializations ---- */

static bool add_specializations(struct history *h, uint32_t *next, uint32_t record, struct err *err)
{
    const struct symbol_table *table = h->b->symbols;
    for (; *next < table->n_specializations && table->specializations[*next].record < record;
         ++*next) {
        const struct specialization *s = &table->specializations[*next];
        if (s->attempt != h->a->attempt || !str_eq(s->symbol, h->size->symbol))
            continue;
        struct why_event event = { .kind = WHY_SPECIALIZED,
                                   .record = s->record,
                                   .text = s->value,
                                   .line = why_user_line(h->b, s->record, s->user_stack) };
        h->size->state = WHY_BECAME_CONSTANT;
        h->size->now = s->value;
        if (!add_event(h, event, err))
            return false;
    }
    return true;
}

static bool has_specialization(const struct history *h)
{
    const struct symbol_table *table = h->b->symbols;
    for (uint32_t i = 0; i < table->n_specializations; i++)
        if (table->specializations[i].attempt == h->a->attempt &&
            str_eq(table->specializations[i].symbol, h->size->symbol))
            return true;
    return false;
}

static bool follow_guards(struct history *h, struct err *err)
{
    const struct guard_list *list = h->b->guards;
    uint32_t next = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        const struct guard *guard = &list->guards[i];
        if (guard->attempt != h->a->attempt)
            continue;
        if (!add_specializations(h, &next, guard->record, err) ||
            (why_mentions(guard->expr, h->size->symbol) && !add_guard(h, guard, err)) ||
            !apply_recorded_guard(h, guard, err) || !add_changes(h, err))
            return false;
    }
    return add_specializations(h, &next, UINT32_MAX, err);
}

/* ---- The end ---- */

static bool set_end(struct history *h, struct err *err)
{
    struct why_size *size = h->size;
    bool number = h->now != SYM_NONE && sym_is_number(env_pool(h->state.env), h->now);
    struct str now = h->now == h->symbol ? size->symbol : print_symbolic(h, h->now);
    if (!now.p)
        return err_nomem(err);
    if (str_starts(size->symbol, STR("zf")) && (number || size->state == WHY_BECAME_CONSTANT))
        now = size->value; /* as Python prints it */
    else if (size->state == WHY_BECAME_CONSTANT)
        return true;
    size->now = now;
    if (h->now != h->symbol) {
        size->state = number ? WHY_BECAME_CONSTANT : WHY_WAS_REPLACED;
        return true;
    }
    size->now_range = print_range(h, h->range);
    return size->now_range.p || err_nomem(err);
}

/* Returns the line of an error's text that names the size or its symbol, or "". */
static struct str naming_line(const struct history *h, struct str text)
{
    while (text.n) {
        size_t end = str_find_char(text, '\n');
        struct str line = str_trim(str_first(text, end));
        text = str_from(text, end + 1);
        bool names = h->size->source.n && str_contains(line, h->size->source) &&
                     !str_starts(line, STR("Constraints violated"));
        if (names || (h->size->symbol.n && why_mentions(line, h->size->symbol)))
            return line;
    }
    return STR("");
}

static bool add_named_failure(struct history *h, struct err *err)
{
    const struct metrics *m = why_metrics(h->b, h->a->attempt);
    if (!m || !m->fail_reason.n || h->b->trace->attempts[h->a->attempt].status != ATTEMPT_FAILED)
        return true;
    struct str line = naming_line(h, m->fail_reason);
    struct why_event event = { .kind = WHY_FAILED,
                               .record = m->record,
                               .text = why_printf(h->b, "%.*s: %.*s", STR_ARG(m->fail_type),
                                                  STR_ARG(line)),
                               .line = { .file = m->fail_file, .line = m->fail_line } };
    if (!event.text.p)
        return err_nomem(err);
    return !line.n || add_event(h, event, err);
}

/* ---- What the compiled function checks ---- */

/* Returns whether a source stands in a condition as a whole: x.size()[1] and not x.size()[10]. */
static bool names_size(struct str code, struct str source)
{
    size_t at = source.n ? str_find(code, source) : code.n;
    return at < code.n;
}

/* Returns why PyTorch added a check, where its comment names a rule of PyTorch's. */
static struct str check_reason(struct str comment)
{
    if (str_contains(comment, STR("duck sizing")))
        return STR("duck shaping");
    if (str_contains(comment, STR("0/1 specialization")))
        return STR("0/1 specialization");
    return str_contains(comment, STR("NaN specialization")) ? STR("NaN specialization") : STR("");
}

static bool add_check(struct history *h, const struct tree_guard *guard, struct err *err)
{
    struct tree_place place = guard_tree_place(guard->comment);
    struct why_event event = { .kind = WHY_CHECKED,
                               .record = TRACE_NONE,
                               .text = guard->code,
                               .detail = check_reason(guard->comment),
                               .line = { place.file, place.function, place.code, place.line } };
    return add_event(h, event, err);
}

static bool add_checks(struct history *h, struct err *err)
{
    struct str tree = h->a->tree, last = STR("");
    struct tree_guard guard;
    while (h->keep && guard_tree_next(&tree, &guard)) {
        bool is = str_is(guard.kind, "LAMBDA_GUARD") || str_is(guard.kind, "EQUALS_MATCH");
        if (!is || !names_size(guard.code, h->size->source) || str_eq(guard.code, last))
            continue;
        last = guard.code;
        if (!add_check(h, &guard, err))
            return false;
    }
    return true;
}

/* A constant size is compared with others of its tensor by one TENSOR_MATCH. */
static bool add_size_check(struct history *h, struct err *err)
{
    bool constant = h->size->state == WHY_IS_CONSTANT || h->size->state == WHY_BECAME_CONSTANT;
    if (!h->keep || !constant || !h->a->tree.n || !str_contains(h->size->source, STR(".size()[")))
        return true;
    struct str now = h->size->now.n ? h->size->now : h->size->value;
    struct why_event event = { .kind = WHY_CHECKED,
                               .record = TRACE_NONE,
                               .text = why_printf(h->b, "%.*s == %.*s", STR_ARG(h->size->source),
                                                  STR_ARG(now)) };
    return event.text.p ? add_event(h, event, err) : err_nomem(err);
}

/* ---- Where a constant comes from ---- */

/* Appends the constant sizes of inputs that have a value, at most three. */
static void put_equal_sizes(const struct history *h, struct str value, struct buf *out)
{
    const struct inputs *inputs = &h->a->inputs;
    int64_t number;
    unsigned n = 0;
    for (size_t i = 0; i < inputs->list.n && str_to_i64(value, &number); i++) {
        const struct input_tensor *t = &inputs->list.v[i].tensor;
        if (inputs->list.v[i].kind != INPUT_TENSOR || !t->concrete)
            continue;
        for (uint32_t d = 0; d < t->ndim && n < 3; d++)
            if (t->size[d] == number && !t->size_symbol[d].name.n &&
                (t->of_module || inputs->static_by_default))
                buf_printf(out, "%s%.*s.size()[%u]", n++ ? ", " : "", STR_ARG(t->source),
                           (unsigned)d);
    }
}

/* A size becomes a constant when it has to equal one: says which inputs have such a size. */
static bool note_equal_sizes(struct history *h, struct err *err)
{
    struct buf list = BUF_INIT;
    if (h->size->state != WHY_BECAME_CONSTANT || h->size->evidence.n ||
        !str_contains(h->size->source, STR(".size()[")))
        return true;
    put_equal_sizes(h, h->size->now, &list);
    if (list.n)
        h->size->evidence = why_printf(h->b, "sizes of inputs that are the constant %.*s: %.*s",
                                       STR_ARG(h->size->now), STR_ARG(buf_str(&list)));
    bool ok = !list.failed && (!list.n || h->size->evidence.p);
    buf_release(&list);
    return ok || err_nomem(err);
}

/* ---- Sharing ---- */

static bool find_shared(struct history *h, struct err *err)
{
    struct str tree = h->a->tree;
    struct tree_guard guard;
    struct str owner = h->size->source;
    vec_of(struct str)
    shared = { 0 };
    bool ok = true;
    const struct symbol *symbol = why_find_symbol(h->b, h->a->attempt, h->size->symbol);
    if (symbol && !str_eq(symbol->source, owner)) {
        owner = symbol->source;
        ok = vec_push(&shared, owner);
    }
    while (ok && owner.n && guard_tree_next(&tree, &guard)) {
        size_t at = str_find(guard.code, STR(" == "));
        if (why_is_duck_guard(&guard) && str_eq(str_from(guard.code, at + 4), owner) &&
            !str_eq(str_first(guard.code, at), h->size->source))
            ok = vec_push(&shared, str_first(guard.code, at));
    }
    struct str *kept = arena_array(&h->b->arena, struct str, shared.n + 1);
    if (ok && kept && shared.n)
        memcpy(kept, shared.v, shared.n * sizeof *kept);
    h->size->shared = kept;
    h->size->n_shared = ok && kept ? (uint32_t)shared.n : 0;
    vec_release(&shared);
    return (ok && kept) || err_nomem(err);
}

/* ---- The whole ---- */

static bool add_creation(struct history *h, struct err *err)
{
    const struct symbol *symbol = why_find_symbol(h->b, h->a->attempt, h->size->symbol);
    struct why_event event = { .kind = WHY_CREATED };
    if (!symbol)
        return true;
    event.record = symbol->record;
    event.line = why_user_line(h->b, symbol->record, symbol->user_stack);
    event.text =
        why_printf(h->b, "%.*s%s%.*s%s%.*s", STR_ARG(symbol->name), symbol->value.n ? " = " : "",
                   STR_ARG(symbol->value), symbol->range.n ? " in " : "", STR_ARG(symbol->range));
    return event.text.p ? add_event(h, event, err) : err_nomem(err);
}

static bool follow_symbol(struct history *h, struct err *err)
{
    if (!why_env_open(h->b, h->a->attempt, &h->state, err))
        return false;
    h->symbol = replay_state_resolve(&h->state, env_pool(h->state.env), h->size->symbol);
    h->now = h->symbol;
    env_range(h->state.env, h->symbol, &h->range);
    h->specialized = has_specialization(h);
    return add_creation(h, err) && follow_guards(h, err) && set_end(h, err);
}

bool why_follow(struct why_build *b, const struct why_attempt *a, struct why_size *size, bool keep,
                struct err *err)
{
    struct history h = { .b = b, .a = a, .size = size, .keep = keep };
    bool ok = true;
    if (size->symbol.n)
        ok = follow_symbol(&h, err) && find_shared(&h, err) && note_equal_sizes(&h, err);
    else if (!size->now.n)
        size->now = size->value;
    if (size->state == WHY_IS_SHARED)
        size->now = size->symbol;
    ok = ok && add_named_failure(&h, err) && add_size_check(&h, err) && add_checks(&h, err);
    replay_state_close(&h.state);
    return ok;
}
