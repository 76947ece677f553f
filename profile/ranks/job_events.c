/* Facts from records: symbols, guards, graph breaks, failures, recompiles and caches. */
#include "profile/ranks/job_build.h"
#include "trace/events/caches.h"
#include "trace/events/guard_tree.h"
#include "trace/events/incidents/incident_text.h"
#include "trace/events/incidents/incidents.h"
#include "trace/events/symbols.h"
#include "trace/events/user_line.h"

/* Sets the place of a fact to the program's innermost line in a stack. */
static bool place_at_stack(struct job_build *b, uint32_t attempt, stack_id stack, struct fact *fact)
{
    uint32_t recording = b->trace->attempts[attempt].recording;
    struct frame frame =
        stack_frame(b->trace, recording, user_program_line(b->trace, recording, stack));
    return job_keep_place(b, frame.file, frame.function, frame.line, &fact->place) ||
           err_nomem(b->err);
}

/* The stack of dynamo_start may have the compiled frame only. That of a symbol goes from the
 * program's line through Dynamo. */
static bool place_call(struct job_build *b, const struct symbol *s)
{
    if (s->attempt == TRACE_NONE || b->compile_of[s->attempt] == JOB_NONE || !s->stack)
        return true;
    struct job_compile *c = &b->job->compiles.v[b->compile_of[s->attempt]];
    if (c->call != JOB_NONE)
        return true;
    stack_id stack = user_program_line(b->trace, s->recording, s->stack);
    struct frame frame = stack_frame(b->trace, s->recording, stack);
    return user_file_of(frame.file) != USER_FILE_PROGRAM ||
           job_keep_place(b, frame.file, frame.function, frame.line, &c->call) || err_nomem(b->err);
}

static bool read_symbols(struct job_build *b)
{
    const struct symbol_table *table = trace_symbols(b->trace, b->err);
    bool ok = table != NULL;
    for (uint32_t i = 0; ok && i < table->n_symbols; i++) {
        const struct symbol *s = &table->symbols[i];
        ok = place_call(b, s);
        if (!ok || !s->source.n || !job_is_last(b, s->attempt))
            continue;
        struct fact fact = { .kind = FACT_SYMBOL, .what = job_keep(b, s->source) };
        ok = place_at_stack(b, s->attempt, s->user_stack, &fact) &&
             job_put_fact(b, s->attempt, &fact);
    }
    for (uint32_t i = 0; ok && i < table->n_specializations; i++) {
        const struct specialization *s = &table->specializations[i];
        if (!s->source.n || !job_is_last(b, s->attempt))
            continue;
        struct fact fact = { .kind = FACT_CONSTANT,
                             .what = job_keep(b, s->source),
                             .detail = job_keep(b, s->value) };
        ok = place_at_stack(b, s->attempt, s->user_stack, &fact) &&
             job_put_fact(b, s->attempt, &fact);
    }
    return ok;
}

/* ---- Guards ---- */

/* Splits "G['rank'] == 1" at its last " == "; a guard of a type or of an object's address has none.
 */
static bool split_guard(struct str code, struct str *what, struct str *value)
{
    for (size_t i = code.n; i > 4; i--) {
        if (!str_is((struct str){ code.p + i - 4, 4 }, " == "))
            continue;
        *what = str_trim(str_first(code, i - 4));
        *value = str_trim(str_from(code, i));
        return what->n > 0 && value->n > 0;
    }
    return false;
}

static bool put_value(struct job_build *b, uint32_t attempt, const struct tree_guard *guard)
{
    struct str what, value;
    if (!split_guard(guard->code, &what, &value))
        return true;
    struct tree_place place = guard_tree_place(guard->comment);
    struct fact fact = { .kind = FACT_VALUE,
                         .what = job_keep(b, what),
                         .detail = job_keep(b, value),
                         .place = JOB_NONE };
    if (user_file_of(place.file) == USER_FILE_PROGRAM &&
        !job_keep_place(b, place.file, place.function, place.line, &fact.place))
        return err_nomem(b->err);
    return fact.place == JOB_NONE || job_put_fact(b, attempt, &fact);
}

static bool read_guards(struct job_build *b)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < b->trace->n_attempts; i++) {
        struct arena arena = { 0 };
        struct tree_guard guard;
        struct str text = STR("");
        struct err unreadable = { 0 };
        if (!job_is_last(b, i))
            continue;
        ok = guard_tree_read(b->trace, i, &arena, &text, &unreadable) ||
             unreadable.kind != ERR_ENV || err_copy(b->err, &unreadable);
        while (ok && guard_tree_next(&text, &guard))
            ok = put_value(b, i, &guard);
        arena_release(&arena);
    }
    return ok;
}

/* ---- Incidents and caches ---- */

static bool put_break(struct job_build *b, const struct graph_break *g)
{
    struct fact fact = { .kind = FACT_BREAK,
                         .what = job_keep(b, g->summary),
                         .detail = job_keep(b, g->explanation) };
    if (!job_keep_place(b, g->file, g->function, g->line, &fact.place))
        return err_nomem(b->err);
    return job_put_fact(b, g->attempt, &fact);
}

/* Where the metrics name no user line, as for an exception of a backend, the innermost line of the
 * program in the traceback of the artifact dynamo_error is one of it. */
static bool place_by_traceback(struct job_build *b, uint32_t attempt, struct fact *fact)
{
    const struct attempt *a = &b->trace->attempts[attempt];
    for (uint32_t i = 0; i < a->n_records; i++) {
        const struct record *r = &b->trace->records[a->records[i]];
        struct traceback_frame frame;
        struct err unreadable = { 0 };
        struct str text;
        if (r->event != EVENT_ARTIFACT || !str_contains(r->meta, STR("\"dynamo_error\"")))
            continue;
        if (trace_payload(b->trace, a->records[i], &text, &unreadable) &&
            traceback_program_frame(text, &frame) && user_file_of(frame.file) == USER_FILE_PROGRAM)
            return job_keep_place(b, frame.file, frame.function, frame.line, &fact->place);
    }
    return true;
}

/* "backend='backend' raised:" says nothing without the line behind it. */
static uint32_t keep_message(struct job_build *b, const struct failure *f)
{
    struct str rest = f->reason, line, next;
    if (f->cause.n || !str_ends(f->summary, STR(":")) || !text_next_line(&rest, &line) ||
        !text_next_line(&rest, &next))
        return job_keep(b, f->cause.n ? f->cause : f->summary);
    buf_clear(&b->text);
    buf_put(&b->text, line);
    buf_putc(&b->text, ' ');
    buf_put(&b->text, next);
    return job_keep_text(b);
}

static bool put_failure(struct job_build *b, const struct failure *f)
{
    struct fact fact = { .kind = FACT_FAILURE,
                         .what = job_keep(b, f->type),
                         .detail = keep_message(b, f) };
    if (f->is_break || f->attempt == TRACE_NONE)
        return true;
    if (!job_keep_place(b, f->file, STR(""), f->line, &fact.place) ||
        (fact.place == JOB_NONE && !place_by_traceback(b, f->attempt, &fact)))
        return err_nomem(b->err);
    return job_put_fact(b, f->attempt, &fact);
}

static bool put_recompile(struct job_build *b, const struct recompile *r)
{
    struct fact fact = { .kind = FACT_RECOMPILE, .place = JOB_NONE };
    if (!r->n_reasons || r->attempt == TRACE_NONE)
        return true;
    fact.what = job_keep(b, r->reasons[0].guard);
    return job_put_fact(b, b->last_of[r->attempt], &fact);
}

/* A break restarts its compile, so it belongs to an attempt that is not the last. */
static bool read_incidents(struct job_build *b)
{
    struct incidents *all = incidents_read(b->trace, b->chromium, b->err);
    bool ok = all != NULL;
    for (uint32_t i = 0; ok && i < all->n_breaks; i++) {
        struct graph_break g = all->breaks[i];
        g.attempt = g.attempt == TRACE_NONE ? TRACE_NONE : b->last_of[g.attempt];
        ok = put_break(b, &g);
    }
    for (uint32_t i = 0; ok && i < all->n_failures; i++)
        ok = put_failure(b, &all->failures[i]);
    for (uint32_t i = 0; ok && i < all->n_recompiles; i++)
        ok = put_recompile(b, &all->recompiles[i]);
    incidents_free(all);
    return ok;
}

static bool read_caches(struct job_build *b)
{
    struct cache_list *all = caches_read(b->trace, b->chromium, b->err);
    bool ok = all != NULL;
    for (uint32_t i = 0; ok && i < all->n; i++) {
        const struct cache_event *c = &all->events[i];
        if ((c->kind != CACHE_FX_GRAPH && c->kind != CACHE_AOTAUTOGRAD) ||
            (c->state != CACHE_HIT && c->state != CACHE_MISS && c->state != CACHE_BYPASS))
            continue;
        struct fact fact = { .kind = FACT_CACHE,
                             .what = job_keep(b, str_of(cache_kind_name(c->kind))),
                             .detail = job_keep(b, str_of(cache_state_name(c->state))),
                             .extra = job_keep(b, c->key),
                             .place = JOB_NONE };
        ok = job_put_fact(b, c->attempt, &fact);
    }
    caches_free(all);
    return ok;
}

bool job_read_events(struct job_build *b)
{
    return read_symbols(b) && read_guards(b) && read_incidents(b) && read_caches(b);
}
