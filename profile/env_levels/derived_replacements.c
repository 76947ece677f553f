#include "profile/env_levels/derived_replacements.h"

#include <stdlib.h>

#include "replay/replay.h"
#include "replay/shape/env/env.h"
#include "trace/base/hash_index.h"
#include "trace/base/vec.h"

/* The result of the observer for an attempt. */
struct found {
    vec_of(struct derived_replacement)
    rows;
    bool partial;
    struct arena arena;
};

/* A recorded guard by the condition that the replay added for it. */
struct known_guard {
    sym_id expr;
    uint32_t entry;
};

struct finder {
    const struct graph_list *graphs;
    const struct replay_end *end;
    struct shape_env *env;
    struct sym_pool *pool;
    struct found *found;
    /* Sorted by expr, then by entry: */
    struct known_guard *guards; /* by what the replay added for them */
    struct known_guard *forms;  /* and asserts, by their canonical form */
    size_t n_guards, n_forms;
    struct hash_index seen; /* of rows, by their symbol's id */
    vec_of(sym_id)
    symbols;     /* by row */
    bool failed; /* out of memory */
};

static void found_free(void *observed)
{
    struct found *found = observed;
    if (!found)
        return;
    vec_release(&found->rows);
    arena_release(&found->arena);
    free(found);
}

static int compare_known(const void *a, const void *b)
{
    const struct known_guard *x = a, *y = b;
    if (x->expr != y->expr)
        return x->expr < y->expr ? -1 : 1;
    return x->entry < y->entry ? -1 : x->entry > y->entry;
}

static sym_id form_of(struct finder *f, sym_id expr)
{
    struct err ignored = { 0 };
    sym_id ret = expr == SYM_NONE ? SYM_NONE : sym_canonical(f->pool, expr);
    sym_ok(f->pool, &ignored);
    return ret;
}

static bool list_recorded(struct finder *f)
{
    const struct guard_log *log = f->end->log;
    f->guards = calloc((size_t)log->n_recorded + 1, sizeof *f->guards);
    f->forms = calloc((size_t)log->n_recorded + 1, sizeof *f->forms);
    if (!f->guards || !f->forms)
        return false;
    for (uint32_t i = 0; i < log->n_recorded; i++) {
        const struct guard_entry *entry = &log->entries.v[i];
        if (entry->guard->kind == GUARD_SUPPRESSED)
            continue;
        sym_id form = form_of(f, entry->expr);
        if (form != SYM_NONE)
            f->forms[f->n_forms++] = (struct known_guard){ form, i };
        if (entry->added != SYM_NONE)
            f->guards[f->n_guards++] = (struct known_guard){ entry->added, i };
    }
    qsort(f->guards, f->n_guards, sizeof *f->guards, compare_known);
    qsort(f->forms, f->n_forms, sizeof *f->forms, compare_known);
    return true;
}

/* Returns the first entry of an expression, or UINT32_MAX. */
static uint32_t entry_of(const struct known_guard *known, size_t n, sym_id expr)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (known[middle].expr < expr)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && known[low].expr == expr ? known[low].entry : UINT32_MAX;
}

static struct str printed(struct finder *f, sym_id e)
{
    struct buf text = BUF_INIT;
    struct err ignored = { 0 };
    sym_print(f->pool, e, &text);
    sym_ok(f->pool, &ignored);
    struct str ret = arena_copy(&f->found->arena, buf_str(&text));
    f->failed |= text.failed || !ret.p;
    buf_release(&text);
    return ret;
}

/* The stage that a replayed graph stands for. */
static enum env_stage stage_of(const struct finder *f, uint32_t ref)
{
    if (ref == TRACE_NONE || ref >= f->graphs->n)
        return ENV_STAGE_TRACE;
    switch (f->graphs->refs[ref].kind) {
    case GRAPH_JOINT:
    case GRAPH_FORWARD:
    case GRAPH_BACKWARD: return ENV_STAGE_JOINT;
    case GRAPH_INFERENCE: return ENV_STAGE_INFERENCE;
    case GRAPH_PRE_GRAD:
    case GRAPH_PARTIAL_AOT: return ENV_STAGE_BACKEND;
    case GRAPH_POST_GRAD: return ENV_STAGE_FORWARD;
    case GRAPH_EXPORTED: return ENV_STAGE_EXPORT;
    default: return ENV_STAGE_TRACE;
    }
}

static void set_cause(struct finder *f, const struct env_event *event,
                      struct derived_replacement *row)
{
    uint32_t entry = UINT32_MAX;
    sym_id expr = SYM_NONE;
    if (event->guard < env_n_guards(f->env)) {
        expr = env_guard_at(f->env, event->guard)->expr;
        entry = entry_of(f->guards, f->n_guards, expr);
    } else if (event->assert < env_n_asserts(f->env)) {
        expr = env_assert_at(f->env, event->assert)->expr;
        entry = entry_of(f->forms, f->n_forms, expr);
    } else {
        /* The walk takes the sizes of unbacked symbols from what the graph prints, before it comes
         * to the assert that made PyTorch print it. */
        sym_id equal = form_of(f, sym_eq(f->pool, event->expr, event->value));
        entry = equal == SYM_NONE ? UINT32_MAX : entry_of(f->forms, f->n_forms, equal);
        if (entry != UINT32_MAX)
            row->reason = STR("");
    }
    if (entry != UINT32_MAX) {
        row->guard = f->end->log->entries.v[entry].guard;
        return;
    }
    struct replay_place place = replay_place_of(f->end, event->origin);
    if (expr != SYM_NONE)
        row->expr = printed(f, expr);
    row->stage = stage_of(f, place.ref);
    row->user_stack = place.ref == TRACE_NONE ? event->origin.user_stack : 0;
    if (place.location_graph && place.location < place.location_graph->n_locations) {
        const struct location *at = &place.location_graph->locations[place.location];
        struct arena *arena = &f->found->arena;
        row->line = (struct frame){ at->line, arena_copy(arena, at->function),
                                    arena_copy(arena, at->file), arena_copy(arena, at->code) };
        f->failed |= !row->line.function.p || !row->line.file.p || !row->line.code.p;
    }
}

static bool is_new(struct finder *f, sym_id symbol)
{
    const uint32_t hash = (uint32_t)symbol * 2654435769u;
    uint32_t row;
    for (size_t at = hash_index_start(&f->seen, hash); hash_index_next(&f->seen, hash, &at, &row);)
        if (f->symbols.v[row] == symbol)
            return false;
    if (!hash_index_reserve(&f->seen, 1) || !vec_push(&f->symbols, symbol)) {
        f->failed = true;
        return false;
    }
    hash_index_add(&f->seen, hash, (uint32_t)f->symbols.n - 1);
    return true;
}

static bool is_number(struct finder *f, sym_id e)
{
    enum sym_kind kind = sym_kind_of(f->pool, e);
    return kind == SYM_INTEGER || kind == SYM_RATIONAL || kind == SYM_FLOAT;
}

static void find_replacements(struct finder *f)
{
    for (uint32_t i = 0; i < env_n_events(f->env) && !f->failed; i++) {
        const struct env_event event = *env_event_at(f->env, i);
        if (event.kind != ENV_EVENT_REPLACEMENT || !is_new(f, event.expr))
            continue;
        struct derived_replacement row = {
            .attempt = f->end->attempt,
            .symbol = arena_copy(&f->found->arena, sym_name(f->pool, event.expr)),
            .value = printed(f, event.value),
            .reason = arena_copy(&f->found->arena, str_of(event.reason ? event.reason : "")),
            .number = is_number(f, event.value),
        };
        set_cause(f, &event, &row);
        f->failed |= !row.symbol.p || !row.reason.p || !vec_push(&f->found->rows, row);
    }
}

struct observing {
    const struct graph_list *graphs;
    struct arena *arena;
    vec_of(struct derived_replacement)
    rows;
    bool *partial;
};

static void *observe(void *user, const struct replay_end *end, struct err *err)
{
    const struct observing *o = user;
    struct found *found = calloc(1, sizeof *found);
    struct finder f = {
        .graphs = o->graphs, .end = end, .env = end->env, .pool = env_pool(end->env), .found = found
    };
    if (found) {
        found->partial = end->partial;
        f.failed = !list_recorded(&f);
        find_replacements(&f);
    }
    bool ok = found && !f.failed && !sym_short_of_memory(f.pool) && !env_short_of_memory(f.env);
    free(f.guards);
    free(f.forms);
    hash_index_release(&f.seen);
    vec_release(&f.symbols);
    if (ok)
        return found;
    found_free(found);
    err_nomem(err);
    return NULL;
}

static bool copy_texts(struct arena *arena, struct derived_replacement *row)
{
    struct str *const texts[] = { &row->symbol,        &row->value,     &row->reason,   &row->expr,
                                  &row->line.function, &row->line.file, &row->line.code };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        *texts[i] = arena_copy(arena, *texts[i]);
        if (!texts[i]->p)
            return false;
    }
    return true;
}

static bool take(void *user, uint32_t attempt, void *observed)
{
    struct observing *o = user;
    struct found *found = observed;
    bool ok = true;
    if (found && attempt != TRACE_NONE) {
        o->partial[attempt] = found->partial;
        for (size_t i = 0; i < found->rows.n && ok; i++) {
            struct derived_replacement row = found->rows.v[i];
            ok = copy_texts(o->arena, &row) && vec_push(&o->rows, row);
        }
    }
    found_free(found);
    return ok;
}

bool derived_replacements_make(struct trace *trace, const struct selector *selector,
                               struct arena *arena, struct derived_replacements *ret,
                               struct err *err)
{
    struct observing o = { .graphs = trace_graphs(trace, err),
                           .arena = arena,
                           .partial = arena_array(arena, bool, (size_t)trace->n_attempts + 1) };
    if (!o.graphs || !o.partial)
        return o.graphs ? err_nomem(err) : false;
    struct replay_observer observer = { observe, found_free, take, &o };
    struct replay_options how = REPLAY_OPTIONS_DEFAULT;
    how.selector = *selector;
    how.selector.kind = (struct str){ 0 };
    how.selector.index = -1;
    how.observer = &observer;
    struct replay *replay = replay_trace(trace, &how, err);
    struct derived_replacement *rows =
        replay ? arena_array(arena, struct derived_replacement, o.rows.n + 1) : NULL;
    bool ok = rows || (replay && err_nomem(err));
    for (size_t i = 0; rows && i < o.rows.n; i++)
        rows[i] = o.rows.v[i];
    *ret = (struct derived_replacements){ rows, ok ? o.rows.n : 0, o.partial };
    replay_free(replay);
    vec_release(&o.rows);
    return rows != NULL;
}
