#include "profile/why/why_build.h"

static const struct {
    const char *name, *text;
} REASONS[WHY_REASONS] = {
#define WHY_REASON(id, name, text) [WHY_##id] = { name, text },
#include "profile/why/reasons.def"
#undef WHY_REASON
};

const char *why_reason_name(enum why_reason reason)
{
    return REASONS[reason].name;
}

const char *why_reason_text(enum why_reason reason)
{
    return REASONS[reason].text;
}

const char *why_state_name(enum why_state state)
{
    static const char *const NAMES[] = { "symbol",          "shared",   "constant",
                                         "became constant", "replaced", "derived" };
    return NAMES[state];
}

const char *why_event_name(enum why_event_kind kind)
{
    static const char *const NAMES[WHY_EVENTS] = { "created",         "guard",  "suppressed",
                                                   "assert",          "range",  "replaced",
                                                   "became constant", "failed", "checked" };
    return NAMES[kind];
}

const char *why_kind_name(enum why_kind kind)
{
    static const char *const NAMES[] = { "nothing", "source", "symbol", "guard", "node" };
    return NAMES[kind];
}

/* ---- Attempts that have the target ---- */

bool why_is_selected(const struct why_build *b, uint32_t attempt)
{
    const struct selector *selector = &b->options->selector;
    return selector_has_attempt(b->trace, selector, attempt) &&
           (attempt == TRACE_NONE ||
            selector_has_recording(b->trace, selector, b->trace->attempts[attempt].recording));
}

/* The less, the sooner an attempt is the one to explain. */
static unsigned attempt_rank(const struct trace *trace, uint32_t attempt)
{
    static const unsigned RANKS[] = {
        [ATTEMPT_OK] = 0, [ATTEMPT_FAILED] = 1, [ATTEMPT_UNFINISHED] = 1, [ATTEMPT_RESTARTED] = 2
    };
    return attempt == TRACE_NONE ? 0 : RANKS[trace->attempts[attempt].status];
}

static struct str function_id(const struct trace *trace, uint32_t attempt)
{
    struct str compile = attempt == TRACE_NONE ? STR("") : trace->attempts[attempt].compile;
    return str_first(compile, str_find_char(compile, '/'));
}

void why_order_attempts(struct why_build *b)
{
    size_t best = 0;
    if (!b->attempts.n)
        return;
    struct str function = function_id(b->trace, b->attempts.v[0]);
    for (size_t i = 1; i < b->attempts.n; i++)
        if (str_eq(function_id(b->trace, b->attempts.v[i]), function) &&
            attempt_rank(b->trace, b->attempts.v[i]) <= attempt_rank(b->trace, b->attempts.v[best]))
            best = i;
    uint32_t first = b->attempts.v[best];
    memmove(b->attempts.v + 1, b->attempts.v, best * sizeof *b->attempts.v);
    b->attempts.v[0] = first;
}

static bool push_attempt(struct why_build *b, uint32_t attempt, struct err *err)
{
    if (b->attempts.n && b->attempts.v[b->attempts.n - 1] == attempt)
        return true;
    return vec_push(&b->attempts, attempt) || err_nomem(err);
}

static bool has_symbol(const struct why_build *b, uint32_t attempt, struct str plain, bool *has,
                       struct arena *scratch)
{
    *has = false;
    for (uint32_t i = 0; i < b->symbols->n_symbols && !*has; i++) {
        const struct symbol *s = &b->symbols->symbols[i];
        if (s->attempt != attempt)
            continue;
        struct str name = why_name_plain(s->source, scratch);
        if (!name.p)
            return false;
        *has = s->source.n && str_eq(name, plain);
    }
    return true;
}

static bool has_source(struct why_build *b, uint32_t attempt, bool *has, struct err *err)
{
    struct why_description d = { .record = TRACE_NONE };
    struct tree_guard guard;
    struct str tree, source, value;
    if (!has_symbol(b, attempt, b->name.plain, has, &b->arena))
        return err_nomem(err);
    if (*has || attempt == TRACE_NONE)
        return true;
    if (!why_describe(b, attempt, b->name.base, &d, err))
        return false;
    int64_t dim = b->name.dim < 0 ? b->name.dim + d.ndim : b->name.dim;
    bool one = b->name.part == WHY_SIZE || b->name.part == WHY_STRIDE;
    *has = d.record != TRACE_NONE && (!one || (dim >= 0 && dim < d.ndim));
    if (*has || b->name.part != WHY_WHOLE)
        return true;
    if (!guard_tree_read(b->trace, attempt, &b->arena, &tree, err))
        return false;
    *has = why_tree_number(b, tree, b->name.plain, &source, &guard, &value);
    return true;
}

static bool find_source_attempts(struct why_build *b, struct err *err)
{
    bool has = false;
    for (uint32_t i = 0; i < b->trace->n_attempts; i++) {
        if (!why_is_selected(b, i))
            continue;
        if (!has_source(b, i, &has, err) || (has && !push_attempt(b, i, err)))
            return false;
    }
    if (!b->attempts.n && !has_source(b, TRACE_NONE, &has, err))
        return false;
    if (!b->attempts.n && has && !push_attempt(b, TRACE_NONE, err))
        return false;
    if (b->attempts.n)
        b->why.kind = WHY_SOURCE;
    return true;
}

static bool find_symbol_attempts(struct why_build *b, struct err *err)
{
    if (!why_is_symbol_name(b->options->target))
        return true;
    for (uint32_t i = 0; i < b->symbols->n_symbols; i++) {
        const struct symbol *s = &b->symbols->symbols[i];
        if (str_eq(s->name, b->options->target) &&
            (s->attempt == TRACE_NONE || why_is_selected(b, s->attempt)) &&
            !push_attempt(b, s->attempt, err))
            return false;
    }
    if (b->attempts.n)
        b->why.kind = WHY_SYMBOL;
    return true;
}

/* ---- Sizes ---- */

bool why_add_size(struct why_build *b, const struct why_attempt *a, struct why_size *size,
                  bool keep, struct err *err)
{
    return why_follow(b, a, size, keep, err) && (vec_push(&b->sizes, *size) || err_nomem(err));
}

static bool add_named(struct why_build *b, const struct why_attempt *a, const struct why_name *name,
                      bool keep, struct err *err)
{
    struct why_size size;
    bool found = false;
    bool ok = b->why.kind == WHY_SYMBOL
                  ? why_size_of_symbol(b, a, b->options->target, &size, &found, err)
                  : why_size_of(b, a, name, &size, &found, err);
    if (ok && found && keep)
        b->why.main = (uint32_t)b->sizes.n;
    return ok && (!found || why_add_size(b, a, &size, keep, err));
}

/* Adds each size of a tensor. */
static bool add_each_size(struct why_build *b, const struct why_attempt *a, uint32_t ndim,
                          struct err *err)
{
    for (uint32_t d = 0; d < ndim; d++) {
        struct why_name name = { .base = b->name.base, .part = WHY_SIZE, .dim = d };
        name.plain = why_printf(b, "%.*s.size()[%u]", STR_ARG(name.base), (unsigned)d);
        if (!name.plain.p)
            return err_nomem(err);
        if (!add_named(b, a, &name, false, err))
            return false;
    }
    return true;
}

static bool explain_attempt(struct why_build *b, uint32_t attempt, bool first, struct err *err)
{
    struct why_attempt a = { .attempt = attempt, .exported = true, .tree = STR("") };
    struct why_description d = { .record = TRACE_NONE };
    bool whole = b->why.kind == WHY_SOURCE && b->name.part == WHY_WHOLE && attempt != TRACE_NONE;
    bool ok = (attempt == TRACE_NONE || why_attempt_read(b, attempt, &a, err)) &&
              (!whole || why_describe(b, attempt, b->name.base, &d, err));
    bool tensor = d.record != TRACE_NONE;
    if (ok)
        ok = tensor ? add_each_size(b, &a, d.ndim, err) : add_named(b, &a, &b->name, first, err);
    if (ok && b->options->between[0].n && tensor)
        ok = err_set(err, ERR_USAGE, "--between needs one size or number, such as %.*s.size()[0]",
                     STR_ARG(b->options->target));
    bool thrown =
        attempt != TRACE_NONE && b->trace->attempts[attempt].status == ATTEMPT_RESTARTED && !first;
    if (ok && b->options->between[0].n && b->sizes.n && !thrown)
        ok = why_compare(b, &a, &b->sizes.v[b->sizes.n - 1], err);
    why_attempt_release(&a);
    return ok;
}

static bool explain_attempts(struct why_build *b, struct err *err)
{
    size_t n = b->attempts.n;
    why_order_attempts(b);
    if (b->options->limit && n > (size_t)b->options->limit + 1)
        n = (size_t)b->options->limit + 1;
    for (size_t i = 0; i < n; i++)
        if (!explain_attempt(b, b->attempts.v[i], i == 0, err))
            return false;
    b->why.n_omitted = (uint32_t)(b->attempts.n - n);
    return true;
}

/* ---- What the tape has instead ---- */

static bool add_known(struct why_build *b, struct str name, struct err *err)
{
    return (name.p && vec_push(&b->known, name)) || err_nomem(err);
}

static bool list_known_source(struct why_build *b, uint32_t record, struct json *doc,
                              struct err *err)
{
    struct err unreadable = { 0 };
    if (!record_json(b->trace, record, doc, &unreadable))
        return unreadable.kind != ERR_ENV || err_set(err, ERR_ENV, "%s", unreadable.text);
    struct str source = json_decoded(doc, json_get(doc, JSON_ROOT, STR("source")), &b->arena);
    if (!source.p)
        return err_nomem(err);
    return add_known(b, arena_copy(&b->arena, source), err);
}

static int compare_names(const void *a, const void *b)
{
    return str_compare(a, b);
}

static void sort_known(struct why_build *b)
{
    size_t n = 0;
    if (b->known.n)
        qsort(b->known.v, b->known.n, sizeof *b->known.v, compare_names);
    for (size_t i = 0; i < b->known.n; i++)
        if (b->known.v[i].n && (n == 0 || !str_eq(b->known.v[n - 1], b->known.v[i])))
            b->known.v[n++] = b->known.v[i];
    b->known.n = n;
}

static bool list_known(struct why_build *b, struct err *err)
{
    struct json doc = { 0 };
    bool ok = true;
    for (uint32_t i = 0; i < b->symbols->n_symbols && ok; i++) {
        const struct symbol *s = &b->symbols->symbols[i];
        if (s->attempt == TRACE_NONE || why_is_selected(b, s->attempt))
            ok = add_known(b, s->name, err) && (!s->source.n || add_known(b, s->source, err));
    }
    for (uint32_t i = 0; i < b->trace->n_records && ok; i++) {
        const struct record *record = &b->trace->records[i];
        if (record->event == EVENT_DESCRIBE_SOURCE && record->attempt != TRACE_NONE &&
            why_is_selected(b, record->attempt))
            ok = list_known_source(b, i, &doc, err);
    }
    json_release(&doc);
    sort_known(b);
    return ok;
}

/* ---- The whole ---- */

static bool read_recorded(struct why_build *b, struct err *err)
{
    b->symbols = trace_symbols(b->trace, err);
    b->guards = b->symbols ? trace_guards(b->trace, err) : NULL;
    b->metrics = b->guards ? metrics_read(b->trace, err) : NULL;
    return b->metrics != NULL;
}

static bool find_target(struct why_build *b, struct err *err)
{
    struct str plain = why_name_plain(b->options->target, &b->arena);
    if (!plain.p)
        return err_nomem(err);
    b->name = why_name_split(plain);
    if (b->options->selector.kind.n)
        return why_find_node(b, err);
    if (!find_symbol_attempts(b, err) ||
        (b->why.kind == WHY_NOTHING && !find_source_attempts(b, err)))
        return false;
    if (b->why.kind != WHY_NOTHING)
        return explain_attempts(b, err);
    return why_find_guard(b, err) && (b->why.kind != WHY_NOTHING || why_find_node(b, err));
}

static bool check_set(struct why_build *b, const struct why_set *set, struct err *err)
{
    for (uint32_t i = 0; i < b->symbols->n_symbols; i++)
        if (why_is_named(b, &b->symbols->symbols[i], set->name))
            return true;
    return err_set(err, ERR_USAGE, "--sizes: the tape has no symbol %.*s", STR_ARG(set->name));
}

static bool check_sets(struct why_build *b, struct err *err)
{
    for (size_t i = 0; i < b->options->n_sets; i++)
        if (!check_set(b, &b->options->sets[i], err))
            return false;
    return true;
}

static bool compare_at_all(const struct why_build *b, struct err *err)
{
    bool can = b->why.kind == WHY_SOURCE || b->why.kind == WHY_SYMBOL || b->why.kind == WHY_NOTHING;
    return !b->options->between[0].n || can ||
           err_set(err, ERR_USAGE, "--between needs a size, a number or a symbol, and %.*s is a %s",
                   STR_ARG(b->options->target), why_kind_name(b->why.kind));
}

/* Hands out the arrays. */
static void finish(struct why_build *b)
{
    struct why_answer *why = &b->why;
    why->sizes = b->sizes.v;
    why->n_sizes = (uint32_t)b->sizes.n;
    why->events = b->events.v;
    why->n_events = (uint32_t)b->events.n;
    why->steps = b->steps.v;
    why->n_steps = (uint32_t)b->steps.n;
    why->differences = b->differences.v;
    why->n_differences = (uint32_t)b->differences.n;
    why->notes = b->notes.v;
    why->n_notes = (uint32_t)b->notes.n;
    why->known = b->known.v;
    why->n_known = (uint32_t)b->known.n;
    why->compared = b->options->between[0].n > 0;
    why->between[0] = b->options->between[0];
    why->between[1] = b->options->between[1];
}

struct why_answer *why_make(struct trace *trace, const struct why_options *options, struct err *err)
{
    struct why_build *b = calloc(1, sizeof *b);
    if (!b) {
        err_nomem(err);
        return NULL;
    }
    b->trace = trace;
    b->options = options;
    b->why = (struct why_answer){ .trace = trace,
                                  .target = options->target,
                                  .graph = STR(""),
                                  .answer = STR(""),
                                  .main = TRACE_NONE };
    bool ok = read_recorded(b, err) && check_sets(b, err) && find_target(b, err) &&
              compare_at_all(b, err) && (b->why.kind != WHY_NOTHING || list_known(b, err));
    finish(b);
    if (ok && why_set_answer(b, err))
        return &b->why;
    why_free(&b->why);
    return NULL;
}

void why_free(struct why_answer *why)
{
    struct why_build *b = (struct why_build *)why;
    if (!b)
        return;
    metrics_free(b->metrics);
    vec_release(&b->attempts);
    vec_release(&b->sizes);
    vec_release(&b->events);
    vec_release(&b->steps);
    vec_release(&b->differences);
    vec_release(&b->notes);
    vec_release(&b->known);
    arena_release(&b->arena);
    free(b);
}
