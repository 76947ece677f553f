/* Collects the events of an outline: symbols, guards, incidents, caches, by attempt and in the
 * order of their records. */
#include <inttypes.h>

#include "trace/align/outline_build.h"
#include "trace/events/user_line.h"

/* Adds an event; `event` has everything but its line. */
static bool add_outline_event(struct outline_build *b, struct outline_event event,
                              uint32_t recording, uint32_t attempt)
{
    uint32_t of = outline_attempt_for(b, recording, attempt);
    if (event.text == INTERN_NONE || event.shown == INTERN_NONE || event.detail == INTERN_NONE)
        return false;
    event.count = event.count ? event.count : 1;
    return of == OUTLINE_NONE ||
           (vec_push(&b->events, event) && vec_push(&b->attempt_of_event, of));
}

static uint32_t event_recording(const struct outline_build *b, uint32_t record, uint32_t attempt)
{
    return attempt == TRACE_NONE ? b->trace->records[record].recording
                                 : b->trace->attempts[attempt].recording;
}

static bool add_symbol_event(struct outline_build *b, const struct symbol *s)
{
    struct outline_event event = { .kind = OUTLINE_SYMBOL, .record = s->record, .ns = -1 };
    struct outline_scope scope = { b->trace->records[s->record].recording, s->attempt };
    event.text = outline_symbol(b, scope, s->name);
    buf_clear(&b->text);
    buf_put(&b->text, s->name);
    buf_puts(&b->text, s->source.n ? " = " : "");
    buf_put(&b->text, s->source);
    event.shown = b->text.failed ? INTERN_NONE : outline_intern(b, buf_str(&b->text));
    buf_clear(&b->text);
    if (s->value.n)
        buf_printf(&b->text, "hint %.*s", STR_ARG(s->value));
    if (s->range.n)
        buf_printf(&b->text, "%srange %.*s", s->value.n ? ", " : "", STR_ARG(s->range));
    event.detail = b->text.failed ? INTERN_NONE : outline_intern(b, buf_str(&b->text));
    return outline_line_of_stack(b, scope.recording, s->user_stack, &event.line) &&
           add_outline_event(b, event, scope.recording, s->attempt);
}

static bool add_specialization_event(struct outline_build *b, const struct specialization *s)
{
    struct outline_event event = { .kind = OUTLINE_SPECIALIZATION, .record = s->record, .ns = -1 };
    struct outline_scope scope = { b->trace->records[s->record].recording, s->attempt };
    uint32_t name = outline_symbol(b, scope, s->symbol);
    buf_clear(&b->text);
    buf_put(&b->text, name == OUTLINE_NONE ? s->symbol : outline_text(b->outline, name));
    buf_printf(&b->text, " %.*s", STR_ARG(s->reason));
    event.text = b->text.failed ? INTERN_NONE : outline_intern(b, buf_str(&b->text));
    buf_clear(&b->text);
    buf_printf(&b->text, "%.*s%s%.*s (%.*s)", STR_ARG(s->symbol), s->source.n ? " = " : "",
               STR_ARG(s->source), STR_ARG(s->reason));
    event.shown = b->text.failed ? INTERN_NONE : outline_intern(b, buf_str(&b->text));
    buf_clear(&b->text);
    outline_put_expr_text(b, scope, s->value, &b->text);
    event.detail = b->text.failed ? INTERN_NONE : outline_intern(b, buf_str(&b->text));
    return outline_line_of_stack(b, scope.recording, s->user_stack, &event.line) &&
           add_outline_event(b, event, scope.recording, s->attempt);
}

static bool add_guard_event(struct outline_build *b, const struct guard *g)
{
    static const enum outline_event_kind KINDS[GUARD_KINDS] = {
        [GUARD_EVAL] = OUTLINE_GUARD,
        [GUARD_SUPPRESSED] = OUTLINE_SUPPRESSED,
        [GUARD_RUNTIME_ASSERT] = OUTLINE_ASSERT,
    };
    struct outline_event event = {
        .kind = KINDS[g->kind], .asked_by = g->asked_by, .record = g->record, .ns = -1
    };
    struct outline_scope scope = { b->trace->records[g->record].recording, g->attempt };
    buf_clear(&b->text);
    outline_put_expr_text(b, scope, g->expr, &b->text);
    event.text = b->text.failed ? INTERN_NONE : outline_intern(b, buf_str(&b->text));
    event.shown = outline_intern(b, g->expr);
    return outline_line_of_stack(b, scope.recording, g->user_stack, &event.line) &&
           add_outline_event(b, event, scope.recording, g->attempt);
}

static bool add_shapes(struct outline_build *b, struct err *err)
{
    const struct symbol_table *symbols = trace_symbols(b->trace, err);
    const struct guard_list *guards = symbols ? trace_guards(b->trace, err) : NULL;
    if (!guards)
        return false;
    bool ok = true;
    for (uint32_t i = 0; i < symbols->n_symbols && ok; i++)
        ok = add_symbol_event(b, &symbols->symbols[i]);
    for (uint32_t i = 0; i < symbols->n_specializations && ok; i++)
        ok = add_specialization_event(b, &symbols->specializations[i]);
    for (uint32_t i = 0; i < guards->n && ok; i++)
        ok = add_guard_event(b, &guards->guards[i]);
    return ok || err_nomem(err);
}

static bool add_restart_event(struct outline_build *b, const struct restart *r)
{
    const struct attempt *attempt = &b->trace->attempts[r->attempt];
    struct outline_scope scope = { attempt->recording, r->attempt };
    struct outline_event event = {
        .kind = OUTLINE_RESTART,
        .text = outline_intern_stable(b, scope, r->summary),
        .line = OUTLINE_NONE,
        .record = attempt->n_records ? attempt->records[attempt->n_records - 1] : OUTLINE_NONE,
        .ns = r->ns,
    };
    buf_clear(&b->text);
    if (r->meaning.n)
        buf_printf(&b->text, "%.*s: ", STR_ARG(r->meaning));
    buf_put(&b->text, r->summary);
    event.shown = b->text.failed ? INTERN_NONE : outline_intern(b, buf_str(&b->text));
    return add_outline_event(b, event, attempt->recording, r->attempt);
}

static bool add_recompile(struct outline_build *b, const struct recompile *r)
{
    static const struct recompile_reason UNTOLD = { { "", 0 }, { "", 0 }, { "", 0 }, 0 };
    const struct recompile_reason *why = r->n_reasons ? &r->reasons[0] : &UNTOLD;
    uint32_t recording = event_recording(b, r->record, r->attempt);
    struct outline_event event = {
        .kind = OUTLINE_RECOMPILE,
        .text =
            outline_intern_stable(b, (struct outline_scope){ recording, r->attempt }, why->guard),
        .shown = outline_intern(b, why->guard),
        .record = r->record,
        .ns = r->ns,
    };
    return outline_line_at(b, why->file, STR(""), STR(""), why->line, &event.line) &&
           add_outline_event(b, event, recording, r->attempt);
}

static bool add_break(struct outline_build *b, const struct graph_break *g)
{
    uint32_t recording = event_recording(b, g->record, g->attempt);
    struct outline_scope scope = { recording, g->attempt };
    struct outline_event event = {
        .kind = OUTLINE_BREAK,
        .text = outline_intern_stable(b, scope, g->summary),
        .shown = outline_intern(b, g->summary),
        .detail = outline_intern_stable(b, scope, g->explanation),
        .record = g->record,
        .ns = -1,
    };
    return outline_line_at(b, g->file, g->function, g->code, g->line, &event.line) &&
           add_outline_event(b, event, recording, g->attempt);
}

static bool add_failure(struct outline_build *b, const struct failure *f)
{
    uint32_t recording = event_recording(b, f->record, f->attempt);
    struct outline_scope scope = { recording, f->attempt };
    struct outline_event event = {
        .kind = OUTLINE_FAILURE,
        .text = outline_intern(b, f->type),
        .detail = outline_intern_stable(b, scope, f->summary),
        .record = f->record,
        .ns = -1,
    };
    buf_clear(&b->text);
    buf_printf(&b->text, "%.*s: %.*s", STR_ARG(f->type), STR_ARG(f->summary));
    event.shown = b->text.failed ? INTERN_NONE : outline_intern(b, buf_str(&b->text));
    return outline_line_at(b, f->file, STR(""), f->code, f->line, &event.line) &&
           add_outline_event(b, event, recording, f->attempt);
}

static bool add_cache_event(struct outline_build *b, const struct cache_event *c)
{
    uint32_t recording = event_recording(b, c->record, c->attempt);
    struct outline_event event = {
        .kind = OUTLINE_CACHE,
        .line = OUTLINE_NONE,
        .record = c->record,
        .ns = c->taken_ns,
    };
    bool named = c->kind == CACHE_TRITON || c->kind == CACHE_OTHER;
    buf_clear(&b->text);
    buf_puts(&b->text, cache_kind_name(c->kind));
    if (named)
        buf_printf(&b->text, " %.*s", STR_ARG(c->name));
    event.text = b->text.failed ? INTERN_NONE : outline_intern(b, buf_str(&b->text));
    event.shown = event.text;
    buf_clear(&b->text);
    buf_puts(&b->text, cache_state_name(c->state));
    if (c->reason.n)
        buf_printf(&b->text, ": %.*s", STR_ARG(c->reason));
    event.detail = b->text.failed ? INTERN_NONE : outline_intern(b, buf_str(&b->text));
    return add_outline_event(b, event, recording, c->attempt);
}

static bool add_incidents(struct outline_build *b)
{
    const struct incidents *all = b->incidents;
    bool ok = true;
    for (uint32_t i = 0; i < all->n_restarts && ok; i++)
        ok = add_restart_event(b, &all->restarts[i]);
    for (uint32_t i = 0; i < all->n_recompiles && ok; i++)
        ok = add_recompile(b, &all->recompiles[i]);
    for (uint32_t i = 0; i < all->n_breaks && ok; i++)
        ok = add_break(b, &all->breaks[i]);
    for (uint32_t i = 0; i < all->n_failures && ok; i++)
        ok = add_failure(b, &all->failures[i]);
    for (uint32_t i = 0; i < b->caches->n && ok; i++)
        ok = add_cache_event(b, &b->caches->events[i]);
    return ok;
}

/* ---- deep recordings ------------------------------------------------------------------------ */

/* Returns the innermost frame outside PyTorch. */
static bool deep_line(struct outline_build *b, uint32_t stack, uint32_t *ret)
{
    *ret = OUTLINE_NONE;
    if (stack == DEEP_NO_STACK || b->deep->stacks[stack].n_frames == 0)
        return true;
    const struct deep_stack *s = &b->deep->stacks[stack];
    uint32_t i = s->n_frames - 1;
    while (i > 0 && torch_is_own_file(s->frames[i].file))
        i--;
    const struct deep_frame *frame =
        &s->frames[torch_is_own_file(s->frames[i].file) ? s->n_frames - 1 : i];
    return outline_line_at(b, frame->file, frame->function, frame->code, frame->line, ret);
}

/* Adds an event, or counts it if only depth, path and result differ from an earlier one; `keys`
 * numbers them. */
static bool add_counted(struct outline_build *b, struct outline_event event, uint32_t attempt,
                        struct intern *keys, size_t base)
{
    uint32_t of = outline_attempt_for(b, b->trace->records[event.record].recording, attempt);
    if (event.text == INTERN_NONE || event.shown == INTERN_NONE)
        return false;
    if (of == OUTLINE_NONE)
        return true;
    uint32_t id = intern(keys, OUTLINE_KEY(of, event.kind, event.text, event.line));
    if (id == INTERN_NONE)
        return false;
    if (base + id < b->events.n) {
        struct outline_event *known = &b->events.v[base + id];
        known->count += event.count;
        if (__builtin_add_overflow(known->ns, event.ns, &known->ns))
            known->ns = INT64_MAX;
        return true;
    }
    return vec_push(&b->events, event) && vec_push(&b->attempt_of_event, of);
}

static bool add_dispatch_event(struct outline_build *b, const struct deep_dispatch *d,
                               struct intern *keys, size_t base)
{
    struct outline_event event = { .kind = OUTLINE_DISPATCH,
                                   .record = d->record,
                                   .count = d->count };
    event.ns = d->self_ns > INT64_MAX ? INT64_MAX : (int64_t)d->self_ns;
    buf_clear(&b->text);
    buf_printf(&b->text, "%s %.*s", deep_mode_name(d->mode), STR_ARG(d->op));
    event.text = b->text.failed ? INTERN_NONE : outline_intern(b, buf_str(&b->text));
    event.shown = event.text;
    return deep_line(b, d->stack, &event.line) && add_counted(b, event, d->attempt, keys, base);
}

static bool add_use(struct outline_build *b, const struct deep_use *u, struct intern *keys,
                    size_t base)
{
    struct outline_event event = { .kind = OUTLINE_SIZE_USE,
                                   .record = u->record,
                                   .count = u->count };
    struct outline_scope scope = { b->trace->records[u->record].recording, u->attempt };
    buf_clear(&b->text);
    buf_printf(&b->text, "%.*s ", STR_ARG(u->use));
    outline_put_expr_text(b, scope, u->expr, &b->text);
    event.text = b->text.failed ? INTERN_NONE : outline_intern(b, buf_str(&b->text));
    buf_clear(&b->text);
    buf_printf(&b->text, "%.*s %.*s", STR_ARG(u->use), STR_ARG(u->expr));
    event.shown = b->text.failed ? INTERN_NONE : outline_intern(b, buf_str(&b->text));
    return deep_line(b, u->stack, &event.line) && add_counted(b, event, u->attempt, keys, base);
}

static bool add_deep_events(struct outline_build *b)
{
    struct intern keys = INTERN_INIT;
    size_t base = b->events.n;
    bool ok = true;
    for (uint32_t i = 0; i < b->deep->n_dispatches && ok; i++)
        ok = add_dispatch_event(b, &b->deep->dispatches[i], &keys, base);
    for (uint32_t i = 0; i < b->deep->n_uses && ok; i++)
        ok = add_use(b, &b->deep->uses[i], &keys, base);
    intern_release(&keys);
    return ok;
}

struct event_position {
    struct outline_event event;
    uint32_t attempt, index;
};

static int by_attempt_and_record(const void *a, const void *b)
{
    const struct event_position *x = a, *y = b;
    if (x->attempt != y->attempt)
        return x->attempt < y->attempt ? -1 : 1;
    if (x->event.record != y->event.record)
        return x->event.record < y->event.record ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Moves the events to the outline, grouped by attempt. */
static bool group_events(struct outline_build *b)
{
    struct outline *o = b->outline;
    size_t n = b->events.n;
    struct event_position *all = calloc(n + 1, sizeof *all);
    if (!all || !vec_reserve(&o->events, n + 1)) {
        free(all);
        return false;
    }
    for (uint32_t i = 0; i < n; i++)
        all[i] = (struct event_position){ b->events.v[i], b->attempt_of_event.v[i], i };
    qsort(all, n, sizeof *all, by_attempt_and_record);
    for (size_t i = 0; i < n; i++) {
        struct outline_attempt *attempt = &o->attempts.v[all[i].attempt];
        if (attempt->n_events++ == 0)
            attempt->first_event = (uint32_t)i;
        o->events.v[o->events.n++] = all[i].event;
    }
    free(all);
    return true;
}

bool outline_build_events(struct outline_build *b, struct err *err)
{
    return add_shapes(b, err) &&
           ((add_incidents(b) && add_deep_events(b) && group_events(b)) || err_nomem(err));
}
