#include "profile/env_levels/env_levels.h"

#include <stdlib.h>

#include "profile/env_levels/derived_replacements.h"
#include "trace/base/vec.h"
#include "trace/events/symbols.h"
#include "trace/graphs.h"

const char *env_effect_name(enum env_effect effect)
{
    static const char *const names[] = { "replaced", "guarded", "asserted", "suppressed",
                                         "ignored" };
    return effect <= ENV_EFFECT_IGNORED ? names[effect] : "";
}

/* Stages come in their order, before the freeze and after it. */
enum { NEVER = UINT8_MAX };

static uint8_t order_of(enum env_stage stage, bool frozen)
{
    return (uint8_t)(stage + (frozen ? ENV_STAGES : 0));
}

/* A condition, or another record that shows that an attempt came to a level. */
struct note {
    uint32_t recording, attempt, record;
    uint8_t order, effect;
    bool is_condition, equality;
};

struct pending_replacement {
    uint32_t condition, at; /* at: the order in which they were found */
    struct env_replaced row;
};

struct open_symbol {
    uint32_t recording, attempt, at;
    struct env_open_symbol shown;
};

/* The state of an attempt while the records are read in their order. */
struct progress {
    uint32_t frozen_from;    /* the record of the freeze, or TRACE_NONE */
    uint32_t last_condition; /* or TRACE_NONE */
    enum env_stage stage;    /* by the graphs that were printed so far */
    bool joint;              /* it has a backward */
    uint32_t aot_record;     /* of the first graph of AOTAutograd, or TRACE_NONE */
    enum env_stage aot;      /* that which traced it */
};

struct levels_builder {
    struct trace *trace;
    const struct guard_list *guards;
    const struct symbol_table *table;
    const struct graph_list *graphs;
    struct env_stages *stages;
    struct derived_replacements derived;
    struct progress *progress;    /* by attempt, then by recording */
    struct env_open_symbol *open; /* by symbol of the table */
    struct arena *arena;
    vec_of(struct env_condition)
    conditions;
    vec_of(struct pending_replacement)
    replaced;
    vec_of(struct note)
    notes;
};

static struct progress *progress_of(struct levels_builder *b, uint32_t record, uint32_t attempt)
{
    return &b->progress[attempt == TRACE_NONE
                            ? b->trace->n_attempts + b->trace->records[record].recording
                            : attempt];
}

static bool is_frozen(struct levels_builder *b, uint32_t record, uint32_t attempt)
{
    return record > progress_of(b, record, attempt)->frozen_from;
}

static enum env_stage stage_of(struct levels_builder *b, uint32_t record, uint32_t attempt,
                               stack_id stack)
{
    enum env_stage ret = env_stage_of(b->stages, b->trace->records[record].recording, stack);
    return ret < ENV_STAGES ? ret : progress_of(b, record, attempt)->stage;
}

static bool note_level(struct levels_builder *b, uint32_t record, uint32_t attempt, uint8_t order)
{
    struct note row = { .recording = b->trace->records[record].recording,
                        .attempt = attempt,
                        .record = record,
                        .order = order };
    return vec_push(&b->notes, row);
}

/* ---- The record ---- */

/* Takes the graph, which shows that the attempt came to a stage, and what comes after it. */
static bool pass_graph(struct levels_builder *b, const struct graph_ref *ref)
{
    struct progress *p = progress_of(b, ref->record, ref->attempt);
    enum env_stage stage = ENV_STAGES;
    switch (ref->kind) {
    case GRAPH_DYNAMO:
    case GRAPH_PARTIAL_DYNAMO: stage = ENV_STAGE_TRACE; break;
    case GRAPH_JOINT: /* Inductor's passes print it, too, and call an inference graph so */
        stage = ref->is_event ? ENV_STAGE_JOINT : ENV_STAGE_BACKEND;
        break;
    case GRAPH_FORWARD:
    case GRAPH_BACKWARD: stage = ENV_STAGE_JOINT; break;
    case GRAPH_INFERENCE: stage = ENV_STAGE_INFERENCE; break;
    case GRAPH_PRE_GRAD:
    case GRAPH_PARTIAL_AOT: stage = ENV_STAGE_BACKEND; break;
    case GRAPH_POST_GRAD:
        stage = p->joint && ref->index > 0 ? ENV_STAGE_BACKWARD : ENV_STAGE_FORWARD;
        break;
    default: return true;
    }
    p->joint |= stage == ENV_STAGE_JOINT;
    p->stage = stage == ENV_STAGE_TRACE                                   ? ENV_STAGE_BACKEND
               : stage == ENV_STAGE_JOINT || stage == ENV_STAGE_INFERENCE ? ENV_STAGE_FORWARD
                                                                          : stage;
    return note_level(b, ref->record, ref->attempt,
                      order_of(stage, is_frozen(b, ref->record, ref->attempt)));
}

static bool add_condition(struct levels_builder *b, const struct env_condition *condition)
{
    progress_of(b, condition->record, condition->attempt)->last_condition =
        (uint32_t)b->conditions.n;
    return vec_push(&b->conditions, *condition);
}

static bool pass_guard(struct levels_builder *b, const struct guard *guard)
{
    struct env_condition row = {
        .record = guard->record,
        .attempt = guard->attempt,
        .user_stack = guard->user_stack,
        .stack = guard->stack,
        .stage = stage_of(b, guard->record, guard->attempt, guard->stack),
        .frozen = is_frozen(b, guard->record, guard->attempt),
        .is_guard = true,
        .kind = guard->kind,
        .expr = guard->expr,
    };
    return add_condition(b, &row);
}

/* Returns whether a specialization follows from a condition: ShapeEnv logs the condition
 * (_log_guard), and the function that called it derives replacements from it (_maybe_guard_rel).
 * So both stacks have the callers of that function. */
static bool follows_from(struct levels_builder *b, const struct specialization *s,
                         const struct env_condition *condition)
{
    enum { NEAR = 64 };   /* frames of ShapeEnv between that function and either record */
    enum { LINE = 1000 }; /* bytes of a line of code that are looked at */
    const uint32_t recording = b->trace->records[s->record].recording;
    if (b->trace->records[condition->record].recording != recording ||
        condition->user_stack != s->user_stack || condition->kind == GUARD_SUPPRESSED)
        return false;
    stack_id caller = 0, at = condition->stack;
    for (int i = 0; at && i < NEAR && !caller; i++, at = stack_parent(b->trace, at)) {
        struct frame frame = stack_frame(b->trace, recording, at);
        struct str code = str_first(frame.code, LINE);
        if (str_find(code, STR("_log_guard(")) < code.n)
            caller = stack_parent(b->trace, at);
    }
    if (!caller)
        return condition->stack == 0 || s->stack == 0;
    at = s->stack;
    for (int i = 0; at && i < NEAR; i++, at = stack_parent(b->trace, at))
        if (at == caller)
            return true;
    return false;
}

static bool add_replaced(struct levels_builder *b, uint32_t condition, struct env_replaced row,
                         const struct symbol *symbol)
{
    const struct env_condition *c = &b->conditions.v[condition];
    uint8_t order = order_of(c->stage, c->frozen);
    struct pending_replacement pending = { condition, (uint32_t)b->replaced.n, row };
    if (symbol && order < b->open[symbol - b->table->symbols].replaced)
        b->open[symbol - b->table->symbols].replaced = order;
    return vec_push(&b->replaced, pending);
}

static bool pass_specialization(struct levels_builder *b, const struct specialization *s)
{
    uint32_t condition = progress_of(b, s->record, s->attempt)->last_condition;
    const uint32_t recording = b->trace->records[s->record].recording;
    if (condition == TRACE_NONE || !follows_from(b, s, &b->conditions.v[condition])) {
        struct env_condition row = { .record = s->record,
                                     .attempt = s->attempt,
                                     .user_stack = s->user_stack,
                                     .stack = s->stack,
                                     .stage = stage_of(b, s->record, s->attempt, s->stack),
                                     .frozen = is_frozen(b, s->record, s->attempt) };
        condition = (uint32_t)b->conditions.n;
        if (!vec_push(&b->conditions, row))
            return false;
    }
    struct env_replaced row = { s->symbol, s->value, s->reason, true };
    return add_replaced(b, condition, row,
                        symbol_table_find(b->table, recording, s->attempt, s->symbol, s->record));
}

static bool pass_symbol(struct levels_builder *b, uint32_t i)
{
    const struct symbol *s = &b->table->symbols[i];
    if (b->trace->records[s->record].event == EVENT_PT2_MEMBER) {
        b->open[i].from = NEVER;
        return true;
    }
    const struct progress *p = progress_of(b, s->record, s->attempt);
    enum env_stage stage = stage_of(b, s->record, s->attempt, s->stack);
    /* The stack of an unbacked symbol has at most 25 frames (get_framework_stack of
     * torch/_logging/structured.py): the function that traces a graph is not among them. */
    if (s->unbacked && stage == ENV_STAGE_BACKEND && s->record < p->aot_record &&
        p->aot_record != TRACE_NONE)
        stage = p->aot;
    uint8_t order = order_of(stage, is_frozen(b, s->record, s->attempt));
    b->open[i] = (struct env_open_symbol){ s->name, order, NEVER };
    return note_level(b, s->record, s->attempt, order);
}

static void find_freezes(struct levels_builder *b)
{
    const struct trace *trace = b->trace;
    for (uint32_t i = 0; i < trace->n_attempts + trace->n_recordings; i++)
        b->progress[i] = (struct progress){ .frozen_from = TRACE_NONE,
                                            .last_condition = TRACE_NONE,
                                            .stage = ENV_STAGE_TRACE,
                                            .aot_record = TRACE_NONE };
    for (uint32_t i = 0; i < trace->n_records; i++) {
        uint32_t attempt = trace->records[i].attempt;
        if (trace->records[i].event == EVENT_DYNAMO_CPP_GUARDS_STR && attempt != TRACE_NONE &&
            b->progress[attempt].frozen_from == TRACE_NONE)
            b->progress[attempt].frozen_from = i;
    }
    for (uint32_t i = 0; i < b->graphs->n; i++) {
        const struct graph_ref *ref = &b->graphs->refs[i];
        struct progress *p = progress_of(b, ref->record, ref->attempt);
        if (p->aot_record == TRACE_NONE && ref->is_event &&
            (ref->kind == GRAPH_JOINT || ref->kind == GRAPH_INFERENCE)) {
            p->aot_record = ref->record;
            p->aot = ref->kind == GRAPH_JOINT ? ENV_STAGE_JOINT : ENV_STAGE_INFERENCE;
        }
    }
}

/* Goes over graphs, guards, symbols and specializations in the order of their records. */
static bool pass_records(struct levels_builder *b)
{
    const struct symbol_table *t = b->table;
    uint32_t graph = 0, guard = 0, symbol = 0, special = 0;
    for (;;) {
        uint32_t next[] = {
            graph < b->graphs->n ? b->graphs->refs[graph].record : TRACE_NONE,
            guard < b->guards->n ? b->guards->guards[guard].record : TRACE_NONE,
            symbol < t->n_symbols ? t->symbols[symbol].record : TRACE_NONE,
            special < t->n_specializations ? t->specializations[special].record : TRACE_NONE,
        };
        size_t first = 0;
        for (size_t i = 1; i < sizeof next / sizeof *next; i++)
            first = next[i] < next[first] ? i : first;
        if (next[first] == TRACE_NONE)
            return true;
        bool ok = first == 0   ? pass_graph(b, &b->graphs->refs[graph++])
                  : first == 1 ? pass_guard(b, &b->guards->guards[guard++])
                  : first == 2 ? pass_symbol(b, symbol++)
                               : pass_specialization(b, &t->specializations[special++]);
        if (!ok)
            return false;
    }
}

/* ---- The replay ---- */

/* Returns the condition of a recorded guard. Conditions are in the order of their records here. */
static uint32_t condition_of(const struct levels_builder *b, size_t n, const struct guard *guard)
{
    size_t low = 0, high = n;
    while (guard && low < high) {
        size_t middle = low + (high - low) / 2;
        if (b->conditions.v[middle].record < guard->record)
            low = middle + 1;
        else
            high = middle;
    }
    return guard && low < n && b->conditions.v[low].record == guard->record ? (uint32_t)low
                                                                            : TRACE_NONE;
}

static bool add_derived(struct levels_builder *b, size_t n, const struct derived_replacement *d)
{
    const struct attempt *attempt = &b->trace->attempts[d->attempt];
    const struct symbol *symbol =
        symbol_table_find(b->table, attempt->recording, d->attempt, d->symbol, UINT32_MAX);
    uint32_t condition = condition_of(b, n, d->guard);
    /* Numbers are recorded. A symbol that is not is one that PyTorch makes for a moment only. */
    if (!symbol || (d->number && symbol->specialization != TRACE_NONE))
        return true;
    if (condition == TRACE_NONE) {
        struct env_condition row = { .record = symbol->record,
                                     .attempt = d->attempt,
                                     .user_stack = d->user_stack,
                                     .line = d->line,
                                     .stage = d->stage,
                                     .expr = d->expr };
        /* A later stage makes the unbacked symbols anew, and renames each at once. */
        uint8_t from = b->open[symbol - b->table->symbols].from;
        if (str_starts(d->reason, STR("rename_unbacked")) &&
            from > order_of(ENV_STAGE_TRACE, false)) {
            row.stage = (enum env_stage)(from % ENV_STAGES);
            row.frozen = from >= ENV_STAGES;
        }
        condition = (uint32_t)b->conditions.n;
        if (!vec_push(&b->conditions, row))
            return false;
    }
    return add_replaced(b, condition,
                        (struct env_replaced){ d->symbol, d->value, d->reason, false }, symbol);
}

static bool add_all_derived(struct levels_builder *b)
{
    const size_t n = b->conditions.n;
    for (size_t i = 0; i < b->derived.n; i++)
        if (!add_derived(b, n, &b->derived.v[i]))
            return false;
    return true;
}

/* ---- The result ---- */

static int compare_replaced(const void *a, const void *b)
{
    const struct pending_replacement *x = a, *y = b;
    if (x->condition != y->condition)
        return x->condition < y->condition ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static enum env_effect effect_of(const struct env_condition *c)
{
    if (c->n_replaced)
        return ENV_EFFECT_REPLACED;
    if (c->kind == GUARD_SUPPRESSED)
        return ENV_EFFECT_SUPPRESSED;
    if (c->frozen)
        return ENV_EFFECT_IGNORED;
    return c->kind == GUARD_RUNTIME_ASSERT ? ENV_EFFECT_ASSERTED : ENV_EFFECT_GUARDED;
}

/* Gives each condition its replacements, and counts it. */
static bool finish_conditions(struct levels_builder *b)
{
    struct env_replaced *rows = arena_array(b->arena, struct env_replaced, b->replaced.n + 1);
    if (!rows)
        return false;
    if (b->replaced.n)
        qsort(b->replaced.v, b->replaced.n, sizeof *b->replaced.v, compare_replaced);
    for (size_t i = 0; i < b->replaced.n; i++) {
        struct env_condition *c = &b->conditions.v[b->replaced.v[i].condition];
        rows[i] = b->replaced.v[i].row;
        c->replaced = c->n_replaced ? c->replaced : &rows[i];
        c->n_replaced++;
    }
    for (size_t i = 0; i < b->conditions.n; i++) {
        struct env_condition *c = &b->conditions.v[i];
        c->effect = effect_of(c);
        struct note row = { .recording = b->trace->records[c->record].recording,
                            .attempt = c->attempt,
                            .record = c->record,
                            .order = order_of(c->stage, c->frozen),
                            .is_condition = true,
                            .effect = (uint8_t)c->effect,
                            .equality = str_starts(c->expr, STR("Eq(")) };
        if (!vec_push(&b->notes, row))
            return false;
    }
    return true;
}

static int compare_u32(uint32_t a, uint32_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_notes(const void *a, const void *b)
{
    const struct note *x = a, *y = b;
    int ret = compare_u32(x->recording, y->recording);
    ret = ret ? ret : compare_u32(x->attempt, y->attempt);
    ret = ret ? ret : compare_u32(x->order, y->order);
    return ret ? ret : compare_u32(x->record, y->record);
}

static int compare_symbols(const void *a, const void *b)
{
    const struct open_symbol *x = a, *y = b;
    int ret = compare_u32(x->recording, y->recording);
    ret = ret ? ret : compare_u32(x->attempt, y->attempt);
    return ret ? ret : compare_u32(x->at, y->at);
}

/* By record, and of one record as they were added. */
static int compare_conditions(const void *a, const void *b)
{
    const struct env_condition *x = a, *y = b;
    int ret = compare_u32(x->record, y->record);
    return ret ? ret
               : ((uintptr_t)x->replaced > (uintptr_t)y->replaced) -
                     ((uintptr_t)x->replaced < (uintptr_t)y->replaced);
}

static void count_note(struct env_level *level, const struct note *n)
{
    if (!n->is_condition)
        return;
    switch ((enum env_effect)n->effect) {
    case ENV_EFFECT_REPLACED: break;
    case ENV_EFFECT_GUARDED:
        level->guarded++;
        level->equalities += n->equality;
        break;
    case ENV_EFFECT_ASSERTED: level->asserted++; break;
    case ENV_EFFECT_SUPPRESSED: level->suppressed++; break;
    case ENV_EFFECT_IGNORED: level->ignored++; break;
    }
}

/* The symbols of all attempts, sorted by attempt. */
static struct open_symbol *sorted_symbols(struct levels_builder *b, uint32_t *n)
{
    struct open_symbol *ret = calloc((size_t)b->table->n_symbols + 1, sizeof *ret);
    *n = 0;
    for (uint32_t i = 0; ret && i < b->table->n_symbols; i++) {
        const struct symbol *s = &b->table->symbols[i];
        if (b->open[i].from != NEVER)
            ret[(*n)++] = (struct open_symbol){ b->trace->records[s->record].recording, s->attempt,
                                                i, b->open[i] };
    }
    if (ret && *n)
        qsort(ret, *n, sizeof *ret, compare_symbols);
    return ret;
}

/* Sets the symbols of each level; both lists are sorted by attempt. */
static bool set_symbols(struct levels_builder *b, struct env_level *levels, uint32_t n_levels)
{
    uint32_t n, at = 0;
    struct open_symbol *sorted = sorted_symbols(b, &n);
    struct env_open_symbol *shown = arena_array(b->arena, struct env_open_symbol, (size_t)n + 1);
    for (uint32_t i = 0; sorted && shown && i < n; i++)
        shown[i] = sorted[i].shown;
    for (uint32_t i = 0; sorted && shown && i < n_levels; i++) {
        struct env_level *level = &levels[i];
        struct open_symbol key = { .recording = level->recording, .attempt = level->attempt };
        bool same = i && levels[i - 1].recording == level->recording &&
                    levels[i - 1].attempt == level->attempt;
        if (same) {
            level->symbols = levels[i - 1].symbols;
            level->n_symbols = levels[i - 1].n_symbols;
        } else {
            while (at < n && compare_symbols(&sorted[at], &key) < 0)
                at++;
            level->symbols = &shown[at];
            for (; at < n && sorted[at].recording == key.recording &&
                   sorted[at].attempt == key.attempt;
                 at++)
                level->n_symbols++;
        }
        for (uint32_t s = 0; s < level->n_symbols; s++) {
            level->n_open += env_level_may_replace(level, &level->symbols[s]);
            level->replaced += level->symbols[s].replaced == level->order;
        }
    }
    bool ok = sorted && shown;
    free(sorted);
    return ok;
}

static bool make_levels(struct levels_builder *b, struct env_levels *ret)
{
    struct env_level *levels = arena_array(b->arena, struct env_level, b->notes.n + 1);
    uint32_t n = 0;
    if (!levels)
        return false;
    if (b->notes.n)
        qsort(b->notes.v, b->notes.n, sizeof *b->notes.v, compare_notes);
    for (size_t i = 0; i < b->notes.n; i++) {
        const struct note *now = &b->notes.v[i];
        struct env_level *level = n ? &levels[n - 1] : NULL;
        if (!level || level->recording != now->recording || level->attempt != now->attempt ||
            level->order != now->order) {
            levels[n] = (struct env_level){
                .recording = now->recording,
                .attempt = now->attempt,
                .record = now->record,
                .stage = (enum env_stage)(now->order % ENV_STAGES),
                .frozen = now->order >= ENV_STAGES,
                .partial = now->attempt != TRACE_NONE && b->derived.partial[now->attempt],
                .order = now->order,
            };
            level = &levels[n++];
        }
        count_note(level, now);
    }
    ret->levels = levels;
    ret->n_levels = n;
    return set_symbols(b, levels, n);
}

/* The public part comes first. */
struct env_levels_of {
    struct env_levels shown;
    struct arena arena;
};

static bool make(struct levels_builder *b, struct env_levels *ret)
{
    find_freezes(b);
    if (!pass_records(b) || !add_all_derived(b) || !finish_conditions(b) || !make_levels(b, ret))
        return false;
    struct env_condition *rows = arena_array(b->arena, struct env_condition, b->conditions.n + 1);
    if (!rows)
        return false;
    if (b->conditions.n)
        qsort(b->conditions.v, b->conditions.n, sizeof *b->conditions.v, compare_conditions);
    for (size_t i = 0; i < b->conditions.n; i++)
        rows[i] = b->conditions.v[i];
    ret->conditions = rows;
    ret->n_conditions = (uint32_t)b->conditions.n;
    return true;
}

static bool load(struct levels_builder *b, const struct selector *selector, struct err *err)
{
    struct trace *trace = b->trace;
    b->guards = trace_guards(trace, err);
    b->table = b->guards ? trace_symbols(trace, err) : NULL;
    b->graphs = b->table ? trace_graphs(trace, err) : NULL;
    b->stages = b->graphs ? env_stages_new(trace, err) : NULL;
    if (!b->stages || !derived_replacements_make(trace, selector, b->arena, &b->derived, err))
        return false;
    b->progress = calloc((size_t)trace->n_attempts + trace->n_recordings + 1, sizeof *b->progress);
    b->open = calloc((size_t)b->table->n_symbols + 1, sizeof *b->open);
    return (b->progress && b->open) || err_nomem(err);
}

struct env_levels *env_levels_make(struct trace *trace, const struct selector *selector,
                                   struct err *err)
{
    struct env_levels_of *ret = calloc(1, sizeof *ret);
    if (!ret) {
        err_nomem(err);
        return NULL;
    }
    struct levels_builder b = { .trace = trace, .arena = &ret->arena };
    bool ok = load(&b, selector, err) && (make(&b, &ret->shown) || err_nomem(err));
    env_stages_free(b.stages);
    free(b.progress);
    free(b.open);
    vec_release(&b.conditions);
    vec_release(&b.replaced);
    vec_release(&b.notes);
    if (ok)
        return &ret->shown;
    env_levels_free(&ret->shown);
    return NULL;
}

void env_levels_free(struct env_levels *levels)
{
    struct env_levels_of *of = (struct env_levels_of *)levels;
    if (of)
        arena_release(&of->arena);
    free(of);
}
