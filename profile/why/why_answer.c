/* The answer in one sentence. */
#include "profile/model/format.h"
#include "profile/why/why_build.h"

static void put_line(struct buf *out, const struct why_line *line)
{
    if (!line->file.n)
        return;
    buf_puts(out, " at ");
    format_place(out, line->file, line->line);
    if (line->code.n) {
        buf_puts(out, " `");
        format_text(out, line->code, 60);
        buf_putc(out, '`');
    }
}

static void put_compile(struct why_build *b, struct buf *out, uint32_t attempt)
{
    struct str compile = why_compile(b, attempt);
    out->failed |= !compile.p;
    buf_printf(out, " in %.*s", STR_ARG(compile));
}

static const struct why_event *find_event(const struct why_build *b, enum why_event_kind kind,
                                          enum why_event_kind other)
{
    for (size_t i = 0; i < b->events.n; i++)
        if (b->events.v[i].kind == kind || b->events.v[i].kind == other)
            return &b->events.v[i];
    return NULL;
}

/* Returns the guard after which the symbol was a constant or replaced, or NULL. */
static const struct why_event *guard_before(const struct why_build *b,
                                            const struct why_event *event)
{
    const struct why_event *ret = NULL;
    for (size_t i = 0; i < b->events.n && (!event || &b->events.v[i] != event); i++)
        if (b->events.v[i].kind == WHY_GUARD_ADDED || b->events.v[i].kind == WHY_ASSERT)
            ret = &b->events.v[i];
    return ret;
}

static void put_name(struct buf *out, const struct why_size *size)
{
    format_text(out, size->source.n ? size->source : size->symbol, 0);
}

static void put_reason(struct buf *out, const struct why_size *size)
{
    buf_printf(out, "%s", why_reason_text(size->reason));
    if (size->evidence.n && size->reason != WHY_DUCK) {
        buf_puts(out, ": ");
        format_text(out, size->evidence, 160);
    }
}

static void put_guards(struct why_build *b, struct buf *out, const struct why_size *size)
{
    const struct why_event *first = find_event(b, WHY_GUARD_ADDED, WHY_ASSERT);
    if (!first || !size->n_guards)
        return;
    buf_puts(out, "; ");
    if (size->n_guards == 1)
        buf_puts(out, "one guard depends on it, ");
    else
        buf_printf(out, "%u guards depend on it, first ", size->n_guards);
    format_text(out, first->text, 80);
    put_line(out, &first->line);
}

static void put_symbol_size(struct why_build *b, struct buf *out, const struct why_size *size)
{
    if (!size->source.n) {
        buf_printf(out, " is an unbacked symbol");
        put_compile(b, out, size->attempt);
        buf_puts(out, size->line.file.n ? ", made" : "");
        put_line(out, &size->line);
        buf_puts(out, ": ");
    } else {
        buf_puts(out, size->reason == WHY_MARK_UNBACKED ? " is the unbacked symbol "
                                                        : " is the symbol ");
        format_text(out, size->symbol, 0);
        put_compile(b, out, size->attempt);
        buf_puts(out, ", ");
        format_text(out, size->value, 40);
        buf_puts(out, size->attempt == TRACE_NONE ? " when it was exported: "
                                                  : " when it was compiled: ");
    }
    put_reason(out, size);
    put_guards(b, out, size);
}

static void put_shared_size(struct why_build *b, struct buf *out, const struct why_size *size)
{
    buf_puts(out, " shares the symbol ");
    format_text(out, size->symbol, 0);
    if (size->n_shared) {
        buf_puts(out, " with ");
        format_text(out, size->shared[0], 0);
    }
    put_compile(b, out, size->attempt);
    buf_puts(out, ": both were ");
    format_text(out, size->value, 40);
    buf_puts(out, " when it was compiled (duck shaping)");
    put_guards(b, out, size);
}

static const char *asker_name(enum guard_class asker)
{
    static const char *const NAMES[GUARD_CLASSES] = { "a kernel", "a torch function", "Dynamo",
                                                      "the backend", "user code" };
    return NAMES[asker];
}

struct symbol_list {
    struct why_build *b;
    struct buf *out;
    uint32_t attempt;
    bool any;
};

static void put_source_of_symbol(void *user, struct str name)
{
    struct symbol_list *l = user;
    const struct symbol *symbol = why_find_symbol(l->b, l->attempt, name);
    if (!symbol || !symbol->source.n)
        return;
    buf_puts(l->out, l->any ? ", " : ", where ");
    format_text(l->out, name, 0);
    buf_puts(l->out, " is ");
    format_text(l->out, symbol->source, 0);
    l->any = true;
}

/* Says which sizes the symbols of an expression are. */
static void put_symbols(struct why_build *b, struct buf *out, struct str expr, uint32_t attempt)
{
    struct symbol_list list = { b, out, attempt, false };
    guard_symbols(expr, put_source_of_symbol, &list);
}

static void put_became(struct why_build *b, struct buf *out, const struct why_size *size)
{
    const struct why_event *end = find_event(b, WHY_SPECIALIZED, WHY_REPLACED);
    const struct why_event *guard = guard_before(b, end);
    buf_puts(out,
             size->state == WHY_BECAME_CONSTANT ? " became the constant " : " was replaced by ");
    format_text(out, size->now, 80);
    put_compile(b, out, size->attempt);
    buf_puts(out, size->symbol.n ? ", though it began as the symbol " : "");
    format_text(out, size->symbol, 0);
    if (guard) {
        buf_puts(out, ": the guard ");
        format_text(out, guard->text, 80);
        put_line(out, &guard->line);
        buf_printf(out, ", asked by %s", asker_name(guard->asked_by));
    } else if (end) {
        put_line(out, &end->line);
    }
    put_symbols(b, out, size->now, size->attempt);
}

static void put_constant_size(struct why_build *b, struct buf *out, const struct why_size *size)
{
    buf_puts(out, " is the constant ");
    format_text(out, size->value, 80);
    put_compile(b, out, size->attempt);
    buf_puts(out, ": ");
    put_reason(out, size);
}

static void put_derived(struct why_build *b, struct buf *out, const struct why_size *size)
{
    buf_puts(out, " follows from the sizes of the inputs");
    put_compile(b, out, size->attempt);
    buf_puts(out, ": it has to be ");
    format_text(out, size->now, 120);
}

/* joined: what stands between the name and the sentence about it. */
static void put_size(struct why_build *b, struct buf *out, const char *joined,
                     const struct why_size *size)
{
    static void (*const PUT[])(struct why_build *, struct buf *, const struct why_size *) = {
        [WHY_IS_SYMBOL] = put_symbol_size,     [WHY_IS_SHARED] = put_shared_size,
        [WHY_IS_CONSTANT] = put_constant_size, [WHY_BECAME_CONSTANT] = put_became,
        [WHY_WAS_REPLACED] = put_became,       [WHY_IS_DERIVED] = put_derived,
    };
    put_name(out, size);
    buf_puts(out, joined);
    PUT[size->state](b, out, size);
}

/* A tensor: what each of its sizes is at the end. */
static void put_tensor(struct why_build *b, struct buf *out)
{
    format_text(out, b->options->target, 0);
    if (!b->sizes.n) {
        buf_puts(out, " has no sizes");
        return;
    }
    buf_puts(out, " has the sizes [");
    for (size_t i = 0; i < b->sizes.n && b->sizes.v[i].attempt == b->sizes.v[0].attempt; i++) {
        buf_puts(out, i ? ", " : "");
        format_text(out, b->sizes.v[i].now, 40);
    }
    buf_putc(out, ']');
    put_compile(b, out, b->sizes.v[0].attempt);
}

static void put_guard(struct why_build *b, struct buf *out)
{
    const struct why_event *guard = find_event(b, WHY_GUARD_ADDED, WHY_ASSERT);
    const struct why_event *other = guard ? guard : find_event(b, WHY_SUPPRESSED, WHY_SUPPRESSED);
    const struct why_event *end = find_event(b, WHY_SPECIALIZED, WHY_REPLACED);
    format_text(out, other ? other->text : b->options->target, 160);
    if (!other)
        return;
    buf_printf(out, " was asked by %s", asker_name(other->asked_by));
    put_line(out, &other->line);
    put_compile(b, out, b->attempts.v[0]);
    if (!guard)
        buf_puts(out, ", while guards were suppressed, so nothing checks it");
    if (end && b->sizes.n) {
        buf_puts(out, "; it made ");
        put_name(out, &b->sizes.v[0]);
        buf_puts(out, end->kind == WHY_SPECIALIZED ? " the constant " : " ");
        format_text(out, end->text, 40);
    }
}

/* The first place where the way back ends. */
static const struct why_step *find_origin(const struct why_build *b)
{
    for (size_t i = 0; i < b->steps.n; i++)
        if (b->steps.v[i].origin)
            return &b->steps.v[i];
    return NULL;
}

static void put_origin(struct why_build *b, struct buf *out, const struct why_step *origin)
{
    if (str_is(str_of(origin->origin), "input") && b->sizes.n) {
        buf_puts(out, ": it is that of ");
        put_size(b, out, ", which", &b->sizes.v[0]);
        return;
    }
    buf_printf(out, ": it is %s",
               str_is(str_of(origin->origin), "literal")    ? "an argument of the call "
               : str_is(str_of(origin->origin), "computed") ? "computed by "
               : str_is(str_of(origin->origin), "input")    ? "that of the input "
                                                            : "that of the attribute ");
    format_text(out, origin->node, 80);
    buf_printf(out, " (%.*s)", STR_ARG(origin->op));
    put_line(out, &origin->line);
}

static void put_node(struct why_build *b, struct buf *out)
{
    const struct why_step *origin = find_origin(b);
    format_text(out, b->options->target, 0);
    if (!b->steps.n) {
        buf_puts(out, " has no sizes in ");
        format_text(out, b->why.graph, 0);
        return;
    }
    buf_puts(out, " is ");
    format_text(out, b->steps.v[0].text, 80);
    buf_puts(out, " in ");
    format_text(out, b->why.graph, 0);
    if (origin)
        put_origin(b, out, origin);
}

static void put_answer(struct why_build *b, struct buf *out)
{
    if (b->why.kind == WHY_GUARD)
        put_guard(b, out);
    else if (b->why.kind == WHY_NODE)
        put_node(b, out);
    else if (b->why.main != TRACE_NONE)
        put_size(b, out, "", &b->sizes.v[b->why.main]);
    else if (b->why.kind != WHY_NOTHING)
        put_tensor(b, out);
}

bool why_set_answer(struct why_build *b, struct err *err)
{
    struct buf text = BUF_INIT;
    put_answer(b, &text);
    b->why.answer = text.failed ? (struct str){ 0 } : arena_copy(&b->arena, buf_str(&text));
    buf_release(&text);
    return b->why.answer.p || err_nomem(err);
}
