/* Finds compiles, attempts and their events that are new, gone or changed. */
#include "profile/compare/compare_build.h"
#include "trace/events/guards.h"

static const enum change_kind KIND_OF[OUTLINE_EVENT_KINDS] = {
    [OUTLINE_SYMBOL] = CHANGE_SYMBOLS,
    [OUTLINE_GUARD] = CHANGE_GUARDS,
    [OUTLINE_SUPPRESSED] = CHANGE_SUPPRESSED,
    [OUTLINE_ASSERT] = CHANGE_ASSERTS,
    [OUTLINE_SPECIALIZATION] = CHANGE_SPECIALIZATIONS,
    [OUTLINE_RESTART] = CHANGE_RESTARTS,
    [OUTLINE_RECOMPILE] = CHANGE_RECOMPILES,
    [OUTLINE_BREAK] = CHANGE_BREAKS,
    [OUTLINE_FAILURE] = CHANGE_FAILURES,
    [OUTLINE_CACHE] = CHANGE_CACHES,
    [OUTLINE_DISPATCH] = CHANGE_DISPATCHES,
    [OUTLINE_SIZE_USE] = CHANGE_SIZE_USES,
};

/* Returns whether events of this kind are listed even for compiles and attempts without a
 * partner. */
static bool is_incident(uint32_t kind)
{
    return kind == OUTLINE_RESTART || kind == OUTLINE_RECOMPILE || kind == OUTLINE_BREAK ||
           kind == OUTLINE_FAILURE;
}

static struct change_row event_change_row(enum change_kind kind, enum change change)
{
    return (struct change_row){
        .kind = kind,
        .change = change,
        .level = STR(""),
        .what = STR(""),
        .was = STR(""),
        .now = STR(""),
        .more = STR(""),
        .compile = STR(""),
        .before_ns = -1,
        .after_ns = -1,
        .place = { STR(""), STR(""), STR(""), 0 },
        .old_place = { STR(""), STR(""), STR(""), 0 },
    };
}

/* Returns the level of an event; for a guard it is what evaluated it. */
static struct str event_level_text(const struct outline_event *e)
{
    bool guard =
        e->kind == OUTLINE_GUARD || e->kind == OUTLINE_SUPPRESSED || e->kind == OUTLINE_ASSERT;
    return guard ? str_of(guard_class_name((enum guard_class)e->asked_by)) : STR("");
}

/* Adds an event that only one side has. */
static bool add_alone(struct compare_build *b, const struct outline *o, uint32_t event, bool is_new,
                      struct str compile, struct str more, uint32_t attempt)
{
    const struct outline_event *e = &o->events.v[event];
    struct change_row row = event_change_row(KIND_OF[e->kind], is_new ? CHANGE_NEW : CHANGE_GONE);
    row.level = event_level_text(e);
    row.what = outline_text(o, e->shown);
    row.more = more.n ? more : outline_text(o, e->detail);
    row.compile = compile;
    row.place = compare_place(o, e->line);
    *(is_new ? &row.after : &row.before) = e->count;
    *(is_new ? &row.after_ns : &row.before_ns) = e->ns;
    return compare_add(b, &row, attempt);
}

static bool add_changed(struct compare_build *b, const struct align_pair *pair, struct str compile,
                        uint32_t attempt)
{
    const struct outline_event *x = &b->a->events.v[pair->a], *y = &b->b->events.v[pair->b];
    struct change_row row = event_change_row(KIND_OF[y->kind], CHANGE_CHANGED);
    row.level = event_level_text(y);
    row.what = outline_text(b->b, y->shown);
    row.compile = compile;
    row.place = compare_place(b->b, y->line);
    row.before = x->count;
    row.after = y->count;
    row.before_ns = x->ns;
    row.after_ns = y->ns;
    if (pair->change & ALIGN_LINE)
        row.old_place = compare_place(b->a, x->line);
    if (pair->change & ALIGN_DETAIL) {
        row.was = outline_text(b->a, x->detail);
        row.now = outline_text(b->b, y->detail);
    } else if (pair->change & ALIGN_CLASS) {
        row.was = event_level_text(x);
        row.now = event_level_text(y);
    }
    return compare_add(b, &row, attempt);
}

static bool add_event_changes(struct compare_build *b, uint32_t number)
{
    const struct align_attempt *pair = &b->align->attempts.v[number];
    struct str before = compare_attempt_name(b, b->a, pair->a);
    struct str after = compare_attempt_name(b, b->b, pair->b);
    bool ok = before.p && after.p;
    for (uint32_t i = 0; i < pair->n_events && ok; i++) {
        const struct align_pair *event = &b->align->events.v[pair->first_event + i];
        if (event->b == ALIGN_NONE)
            ok = add_alone(b, b->a, event->a, false, before, STR(""), number);
        else if (event->a == ALIGN_NONE)
            ok = add_alone(b, b->b, event->b, true, after, STR(""), number);
        else if (event->change & ALIGN_DIFFERS)
            ok = add_changed(b, event, after, number);
    }
    return ok;
}

/* Appends the contents of an attempt: "2 graphs, 12 symbols, 77 guards". */
static void put_contents(struct buf *out, const struct outline *o, const struct outline_attempt *a)
{
    uint32_t n[OUTLINE_EVENT_KINDS] = { 0 }, graphs = 0;
    for (uint32_t i = 0; i < a->n_events; i++)
        n[o->events.v[a->first_event + i].kind]++;
    for (uint32_t i = 0; i < a->n_graphs; i++)
        graphs += o->graphs.v[a->first_graph + i].path == 0;
    const struct {
        uint32_t n;
        const char *noun;
    } parts[] = { { graphs, "graph" },
                  { n[OUTLINE_SYMBOL], "symbol" },
                  { n[OUTLINE_GUARD], "guard" } };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        buf_printf(out, "%s%u %s%s", i ? ", " : "", parts[i].n, parts[i].noun,
                   parts[i].n == 1 ? "" : "s");
}

/* Adds the incidents of an attempt without a partner, except that it was thrown away: that is added
 * with its cause. */
static bool add_lone_attempt(struct compare_build *b, const struct outline *o, uint32_t attempt,
                             bool is_new, uint32_t number)
{
    const struct outline_attempt *a = &o->attempts.v[attempt];
    struct str name = compare_attempt_name(b, o, attempt);
    buf_clear(&b->text);
    put_contents(&b->text, o, a);
    struct str contents = compare_keep(b, &b->text);
    bool ok = name.p && contents.p;
    for (uint32_t i = 0; i < a->n_events && ok; i++) {
        uint32_t kind = o->events.v[a->first_event + i].kind;
        if (is_incident(kind))
            ok = add_alone(b, o, a->first_event + i, is_new, name,
                           kind == OUTLINE_RESTART ? contents : STR(""), number);
    }
    return ok;
}

static bool add_lone_compile(struct compare_build *b, const struct outline *o, uint32_t compile,
                             bool is_new, uint32_t number)
{
    const struct outline_compile *c = &o->compiles.v[compile];
    struct change_row row = event_change_row(CHANGE_COMPILES, is_new ? CHANGE_NEW : CHANGE_GONE);
    bool ok = true;
    if (c->id != 0 && c->n_attempts > 0) { /* id 0 holds events outside compiles */
        const struct outline_attempt *last = &o->attempts.v[c->first_attempt + c->n_attempts - 1];
        row.what = outline_text(o, c->function);
        row.compile = compare_compile_name(b, o, compile);
        row.place = compare_place(o, c->line);
        buf_clear(&b->text);
        put_contents(&b->text, o, last);
        if (last->status != ATTEMPT_OK)
            buf_printf(&b->text, "; %s", attempt_status_name((enum attempt_status)last->status));
        row.more = compare_keep(b, &b->text);
        *(is_new ? &row.after : &row.before) = 1;
        *(is_new ? &row.after_ns : &row.before_ns) = c->ns;
        ok = row.compile.p && row.more.p && compare_add(b, &row, number);
    }
    for (uint32_t i = 0; i < c->n_attempts && ok; i++)
        ok = add_lone_attempt(b, o, c->first_attempt + i, is_new, number);
    return ok;
}

/* Compares how a compile ended. */
static bool compare_status(struct compare_build *b, const struct align_compile *pair,
                           uint32_t number)
{
    const struct outline_compile *x = &b->a->compiles.v[pair->a];
    const struct outline_compile *y = &b->b->compiles.v[pair->b];
    if (x->n_attempts == 0 || y->n_attempts == 0)
        return true;
    uint32_t was = b->a->attempts.v[x->first_attempt + x->n_attempts - 1].status;
    uint32_t now = b->b->attempts.v[y->first_attempt + y->n_attempts - 1].status;
    if (was == now)
        return true;
    struct change_row row = event_change_row(CHANGE_COMPILES, CHANGE_CHANGED);
    row.what = outline_text(b->b, y->function);
    row.was = str_of(attempt_status_name((enum attempt_status)was));
    row.now = str_of(attempt_status_name((enum attempt_status)now));
    row.compile = compare_compile_name(b, b->b, pair->b);
    row.place = compare_place(b->b, y->line);
    row.before = row.after = 1;
    row.before_ns = x->ns;
    row.after_ns = y->ns;
    return row.compile.p && compare_add(b, &row, number);
}

static bool add_compile_changes(struct compare_build *b, uint32_t number)
{
    const struct align_compile *pair = &b->align->compiles.v[number];
    /* Compiles without a partner are numbered after the pairs of attempts. */
    uint32_t beyond = (uint32_t)b->align->attempts.n + number;
    if (pair->b == ALIGN_NONE)
        return add_lone_compile(b, b->a, pair->a, false, beyond);
    if (pair->a == ALIGN_NONE)
        return add_lone_compile(b, b->b, pair->b, true, beyond);
    bool ok = compare_status(b, pair, beyond);
    for (uint32_t i = 0; i < pair->n_attempts && ok; i++) {
        uint32_t at = pair->first_attempt + i;
        const struct align_attempt *attempt = &b->align->attempts.v[at];
        if (attempt->b == ALIGN_NONE)
            ok = add_lone_attempt(b, b->a, attempt->a, false, at);
        else if (attempt->a == ALIGN_NONE)
            ok = add_lone_attempt(b, b->b, attempt->b, true, at);
        else
            ok = add_event_changes(b, at);
    }
    return ok;
}

bool compare_parts(struct compare_build *b)
{
    bool ok = true;
    for (uint32_t i = 0; i < b->align->compiles.n && ok; i++)
        ok = add_compile_changes(b, i);
    return ok;
}
