#include "prove/regions/regions.h"

#include "prove/regions/refusal.h"
#include "prove/regions/words.h"
#include "trace/base/clock.h"
#include "trace/events/user_line.h"

const char *region_kind_name(enum region_kind kind)
{
    static const char *const NAMES[REGION_KINDS] = {
        [REGION_RECORDED] = "recorded",       [REGION_GUARDS] = "guards",
        [REGION_BRANCH] = "branch",           [REGION_REFUSED] = "refused",
        [REGION_SPECIALIZED] = "specialized", [REGION_UNKNOWN] = "unknown",
    };
    return NAMES[kind];
}

/* Most questions need a few thousand steps. Their time is limited by steps, so that the same
 * regions are found on a slow machine. */
static const struct decide_limits LIMITS = { .steps = 100000, .ns = 2000000000 };

/* What a region and the regions around it are looked for in: the facts of a region up to one of
 * its conditions, which is false. */
struct cell {
    uint32_t region, condition; /* UINT32_MAX: all sizes */
};

struct finder {
    struct regions *regions;
    struct trace *trace;
    struct conditions *conditions;
    const struct regions_options *options;
    struct decider *decider;
    vec_of(struct cell)
    cells; /* in the order in which they are visited */
    vec_of(sym_id)
    facts; /* of the current cell */
    vec_of(struct region_condition)
    path; /* of the current point */
    vec_of(struct decide_value)
    point; /* by symbol that has a hint */
    uint64_t end_ns;
};

/* ---- The space ---- */

static bool is_size(const struct condition_symbol *s)
{
    return str_contains(s->source, STR(".size()["));
}

/* Returns whether a recorded range excludes negative numbers. */
static bool starts_at_zero(const struct finder *f, const struct condition_symbol *s)
{
    struct sym_pool *pool = f->conditions->pool;
    for (size_t i = 0; i < f->conditions->list.n; i++) {
        const struct condition *c = &f->conditions->list.v[i];
        int64_t bound;
        if (c->kind == CONDITION_RANGE && sym_kind_of(pool, c->expr) == SYM_GE &&
            sym_arg(pool, c->expr, 0) == s->symbol &&
            sym_to_i64(pool, sym_arg(pool, c->expr, 1), &bound) && bound >= 0)
            return true;
    }
    return false;
}

static bool add_symbols(struct finder *f, struct err *err)
{
    for (size_t i = 0; i < f->conditions->symbols.n; i++) {
        const struct condition_symbol *s = &f->conditions->symbols.v[i];
        struct decide_range range = DECIDE_RANGE_ANY;
        if (!s->has_hint)
            continue;
        if (is_size(s) || starts_at_zero(f, s))
            range.lower = 0;
        struct decide_value value = { s->symbol, s->hint };
        if (!decider_symbol(f->decider, s->symbol, range) || !vec_push(&f->point, value))
            return err_nomem(err);
    }
    return true;
}

/* ---- The path of a point: what is asked there ---- */

static sym_id point_hint(void *user, sym_id symbol)
{
    struct finder *f = user;
    for (size_t i = 0; i < f->point.n; i++)
        if (f->point.v[i].symbol == symbol)
            return sym_integer(f->conditions->pool, f->point.v[i].value);
    return SYM_NONE;
}

/* Sets *ret to the condition or its negation, whichever is true at the point; SYM_NONE if it has no
 * value there. */
static bool true_form(struct finder *f, sym_id expr, sym_id *ret, struct err *err)
{
    struct decide_result result = { .kind = DECIDE_NO_VALUE };
    struct err why = { 0 };
    *ret = SYM_NONE;
    if (!decider_evaluate(f->decider, expr, f->point.v, (uint32_t)f->point.n, &result))
        return err_nomem(err);
    if (result.kind != DECIDE_INTEGER)
        return true;
    *ret = result.integer ? expr : sym_not(f->conditions->pool, expr);
    return sym_ok(f->conditions->pool, &why) || !why.no_memory || err_nomem(err);
}

static bool add_condition(struct finder *f, sym_id expr, struct region_condition like,
                          struct err *err)
{
    sym_id form;
    if (expr == SYM_NONE || !true_form(f, expr, &form, err))
        return expr == SYM_NONE;
    if (form == SYM_NONE || form == SYM_ID_TRUE)
        return true;
    like.expr = form;
    like.recorded &= form == expr;
    if (form != expr) {
        struct buf text = BUF_INIT;
        sym_print(f->conditions->pool, form, &text);
        like.text = arena_copy(&f->regions->arena, buf_str(&text));
        bool failed = text.failed || !like.text.p;
        buf_release(&text);
        if (failed)
            return err_nomem(err);
    }
    return vec_push(&f->path, like) || err_nomem(err);
}

static struct region_condition at_frame(struct frame frame, struct str text)
{
    return (struct region_condition){
        .text = text, .file = frame.file, .code = frame.code, .line = frame.line, .recorded = true
    };
}

static struct region_condition place_of(const struct finder *f, stack_id stack, struct str text)
{
    stack_id line = user_line(f->trace, f->conditions->recording, stack);
    return at_frame(
        line ? stack_frame(f->trace, f->conditions->recording, line) : (struct frame){ 0 }, text);
}

/* A lower bound of 2 is 0/1 specialization: 0 and 1 become numbers, each for itself. */
static sym_id specialized(struct finder *f, const struct condition *c)
{
    struct sym_pool *pool = f->conditions->pool;
    int64_t value;
    if (c->kind != CONDITION_RANGE || sym_kind_of(pool, c->expr) != SYM_GE ||
        sym_arg(pool, c->expr, 1) != SYM_ID_TWO)
        return c->expr;
    sym_id symbol = sym_arg(pool, c->expr, 0), at = point_hint(f, symbol);
    bool zero_one = at != SYM_NONE && sym_to_i64(pool, at, &value) && (value == 0 || value == 1);
    return zero_one ? sym_eq(pool, symbol, at) : c->expr;
}

/* The recorded conditions; `all`: the guards, too, which a replay reports otherwise. */
static bool add_recorded(struct finder *f, bool all, struct err *err)
{
    for (size_t i = 0; i < f->conditions->list.n; i++) {
        const struct condition *c = &f->conditions->list.v[i];
        bool of_symbol = c->kind == CONDITION_RANGE || c->kind == CONDITION_SPECIALIZED;
        if (!c->is_whole || (!all && !of_symbol))
            continue;
        struct region_condition like =
            at_frame(condition_frame(f->trace, f->conditions->recording, c), c->text);
        sym_id expr = specialized(f, c);
        if (expr != c->expr && expr != SYM_NONE) {
            struct buf text = BUF_INIT;
            sym_print(f->conditions->pool, expr, &text);
            like.text = arena_copy(&f->regions->arena, buf_str(&text));
            like.recorded = false;
            bool failed = text.failed || !like.text.p;
            buf_release(&text);
            if (failed)
                return err_nomem(err);
        }
        if (!add_condition(f, expr, like, err))
            return false;
    }
    return true;
}

/* Returns the place of a node's user line. */
static struct region_condition node_place(struct finder *f, const struct replay_guard *guard)
{
    struct err ignored = { 0 };
    struct region_condition ret = { .text = guard->expr };
    const struct graph *graph =
        guard->ref == TRACE_NONE ? NULL : trace_graph(f->trace, guard->ref, &ignored);
    for (uint32_t i = 0; graph && i < graph->n_nodes; i++) {
        const struct node *node = &graph->nodes[i];
        if (!str_eq(node->name, guard->node) || node->location == LOCATION_NONE)
            continue;
        const struct location *l = &graph->locations[node->location];
        ret.file = l->file;
        ret.line = l->line;
        ret.code = l->code;
        break;
    }
    return ret;
}

static bool add_replayed(struct finder *f, const struct replay *replay,
                         const struct refusal *refusal, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; i < replay->n_guards && ok; i++) {
        const struct replay_guard *g = &replay->guards[i];
        struct str unknown;
        if (g->attempt != f->conditions->attempt ||
            (g->guard && g->guard->kind == GUARD_SUPPRESSED) || refusal_is_after(refusal, g))
            continue;
        sym_id expr = conditions_parse(f->conditions, g->expr, &unknown);
        if (sym_short_of_memory(f->conditions->pool))
            return err_nomem(err);
        struct region_condition like =
            g->guard ? place_of(f, g->guard->user_stack, g->expr) : node_place(f, g);
        like.text = arena_copy(&f->regions->arena, g->expr);
        ok = (like.text.p || err_nomem(err)) && add_condition(f, expr, like, err);
    }
    return ok;
}

/* ---- The replay of a point ---- */

static bool point_sets(struct finder *f, struct input_set *sets)
{
    for (size_t i = 0; i < f->point.n; i++) {
        struct buf text = BUF_INIT;
        buf_i64(&text, f->point.v[i].value);
        sets[i].symbol = sym_name(f->conditions->pool, f->point.v[i].symbol);
        sets[i].value = arena_copy(&f->regions->arena, buf_str(&text));
        bool ok = !text.failed && sets[i].value.p;
        buf_release(&text);
        if (!ok)
            return false;
    }
    return true;
}

/* Finds a specialization that the point violates: the recorded graph has that number in it. */
static bool find_specialization(struct finder *f, const struct condition **ret, struct err *err)
{
    *ret = NULL;
    for (size_t i = 0; i < f->conditions->list.n && !*ret; i++) {
        const struct condition *c = &f->conditions->list.v[i];
        struct decide_result result;
        if (!c->is_whole || c->kind != CONDITION_SPECIALIZED)
            continue;
        if (!decider_evaluate(f->decider, c->expr, f->point.v, (uint32_t)f->point.n, &result))
            return err_nomem(err);
        if (result.kind == DECIDE_INTEGER && !result.integer)
            *ret = c;
    }
    return true;
}

static bool set_specialized(struct finder *f, const struct condition *c, struct region *region,
                            struct err *err)
{
    struct buf text = BUF_INIT;
    struct frame frame = condition_frame(f->trace, f->conditions->recording, c);
    buf_printf(&text, "the program needs %.*s", STR_ARG(c->text));
    if (frame.file.n)
        buf_printf(&text, " at %.*s:%u", STR_ARG(frame.file), frame.line);
    buf_puts(&text, "; what it does with other sizes was not recorded");
    region->kind = REGION_SPECIALIZED;
    region->message = arena_copy(&f->regions->arena, buf_str(&text));
    bool ok = !text.failed && region->message.p;
    buf_release(&text);
    return ok || err_nomem(err);
}

static bool set_refused(struct finder *f, struct str why, struct region *region, struct err *err)
{
    region->kind = REGION_REFUSED;
    region->message = arena_copy(&f->regions->arena, why);
    return region->message.p || err_nomem(err);
}

/* Finds out what becomes of the point. */
static bool read_end(struct finder *f, const struct replay *replay, const struct refusal *refusal,
                     struct region *region, struct err *err)
{
    const struct condition *specialization;
    uint32_t attempt = f->conditions->attempt;
    if (!find_specialization(f, &specialization, err))
        return false;
    region->kind = REGION_GUARDS;
    for (size_t i = 0; i < replay->n_branches; i++) {
        const struct replay_branch *branch = &replay->branches[i];
        if (branch->attempt == attempt &&
            (!specialization || branch->guard->record < specialization->record))
            region->kind = REGION_BRANCH;
    }
    for (size_t i = 0; i < replay->n_violations; i++)
        if (replay->violations[i].attempt == attempt)
            return set_refused(f, replay->violations[i].text, region, err);
    if (refusal->call && (!specialization || refusal->is_certain))
        return set_refused(f, refusal->call->replayed, region, err);
    return !specialization || region->kind == REGION_BRANCH ||
           set_specialized(f, specialization, region, err);
}

static bool read_replay(struct finder *f, const struct replay *replay, struct region *region,
                        struct err *err)
{
    struct refusal refusal;
    bool ok = refusal_find(&refusal, f->trace, replay, f->conditions->attempt, err) &&
              read_end(f, replay, &refusal, region, err) && add_recorded(f, false, err) &&
              add_replayed(f, replay, &refusal, err);
    refusal_release(&refusal);
    return ok;
}

static bool replay_point(struct finder *f, struct region *region, struct err *err)
{
    const struct attempt *attempt = &f->trace->attempts[f->conditions->attempt];
    struct replay_options options = REPLAY_OPTIONS_DEFAULT;
    struct input_set *sets = arena_array(&f->regions->arena, struct input_set, f->point.n + 1);
    struct err why = { 0 };
    if (!sets || !point_sets(f, sets))
        return err_nomem(err);
    options.selector.recording = f->trace->recordings[attempt->recording].name;
    options.selector.compile = attempt->compile;
    options.selector.attempt = attempt->number;
    options.changes.sets = sets;
    options.changes.n_sets = f->point.n;
    struct replay *replay = replay_trace(f->trace, &options, &why);
    bool ok = replay ? read_replay(f, replay, region, err) : true;
    if (!replay && why.no_memory)
        ok = err_nomem(err);
    if (!replay && ok) {
        region->kind = REGION_UNKNOWN;
        region->message = arena_copy(&f->regions->arena, str_of(why.text));
        ok = add_recorded(f, true, err);
    }
    replay_free(replay);
    return ok;
}

/* ---- A cell ---- */

static bool push_fact(struct finder *f, sym_id fact, struct err *err)
{
    return (vec_push(&f->facts, fact) && decider_fact(f->decider, fact)) || err_nomem(err);
}

/* Makes the facts of a cell those of the decider. */
static bool enter_cell(struct finder *f, struct cell cell, struct err *err)
{
    struct sym_pool *pool = f->conditions->pool;
    struct err why = { 0 };
    bool ok = true;
    f->facts.n = 0;
    decider_forget(f->decider, 0);
    if (cell.region == UINT32_MAX)
        return true;
    const struct region *r = &f->regions->list.v[cell.region];
    size_t own = r->n_facts - r->n_conditions; /* the facts of its own cell come first */
    for (size_t i = 0; i < own + cell.condition && ok; i++)
        ok = push_fact(f, r->facts[i], err);
    sym_id no = sym_not(pool, r->conditions[cell.condition].expr);
    if (!sym_ok(pool, &why) && why.no_memory)
        return err_nomem(err);
    if (no == SYM_NONE) /* there is no such condition, and so no size that satisfies it */
        no = SYM_ID_FALSE;
    return ok && push_fact(f, no, err);
}

/* Finds the smallest sizes of the cell. *any is false if there are none or none were found. */
static bool find_point(struct finder *f, bool *any, bool *smallest, struct err *err)
{
    struct decide_answer answer;
    if (!decide(f->decider, SYM_ID_FALSE, &LIMITS, &answer))
        return err_nomem(err);
    f->regions->n_undecided += answer.verdict == DECIDE_UNDECIDED;
    *any = answer.verdict == DECIDE_REFUTED;
    *smallest = answer.smallest;
    for (size_t k = 0, s = 0; *any && s < f->conditions->symbols.n; s++) {
        const struct condition_symbol *row = &f->conditions->symbols.v[s];
        if (!row->has_hint)
            continue;
        f->point.v[k].value = row->hint;
        for (uint32_t i = 0; i < answer.n_values; i++)
            if (answer.values[i].symbol == row->symbol)
                f->point.v[k].value = answer.values[i].value;
        k++;
    }
    return true;
}

/* A path is reduced in a tenth of the time at most, so that some is left for other regions: what is
 * not reduced leads to cells that are empty. */
enum { REDUCE_PART = 10 };

/* Leaves those conditions of the path that do not follow from the cell and those before them. */
static bool reduce_path(struct finder *f, struct err *err)
{
    size_t n = 0;
    uint64_t end = clock_ns() + f->options->ns / REDUCE_PART;
    for (size_t i = 0; i < f->path.n; i++) {
        struct decide_answer answer = { .verdict = DECIDE_UNDECIDED };
        if (clock_ns() < end && clock_ns() < f->end_ns &&
            !decide(f->decider, f->path.v[i].expr, &LIMITS, &answer))
            return err_nomem(err);
        if (answer.verdict == DECIDE_PROVED)
            continue;
        f->path.v[n++] = f->path.v[i];
        if (!push_fact(f, f->path.v[n - 1].expr, err))
            return false;
    }
    f->path.n = n;
    return true;
}

/* ---- A region ---- */

struct symbol_search {
    sym_id symbol;
    size_t n;
};

static void find_symbol(void *user, sym_id symbol)
{
    struct symbol_search *search = user;
    search->symbol = search->n++ ? SYM_NONE : symbol;
}

/* Notes which conditions of a region contain one symbol alone. */
static bool find_symbols(struct finder *f, struct region_condition *conditions, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct symbol_search search = { SYM_NONE, 0 };
        if (!sym_free_symbols(f->conditions->pool, conditions[i].expr, find_symbol, &search))
            return false;
        conditions[i].symbol = search.symbol;
    }
    return true;
}

/* Describes the sizes in a region. */
static bool describe_region(struct finder *f, struct region *region)
{
    struct arena *arena = &f->regions->arena;
    struct words_places places;
    struct buf words = BUF_INIT;
    bool ok = words_put(f->decider, f->conditions, region->facts, region->n_facts, &places, &words);
    region->words = ok ? arena_copy(arena, buf_str(&words)) : (struct str){ 0 };
    buf_release(&words);
    struct region_size *sizes = ok ? arena_array(arena, struct region_size, places.n + 1) : NULL;
    if (!sizes || !region->words.p)
        return false;
    for (size_t i = 0; i < places.n; i++) {
        const struct words_place *place = &places.list[i];
        sizes[i] =
            (struct region_size){ place->symbol,
                                  { region->words.p + place->start, place->end - place->start } };
    }
    region->sizes = sizes;
    region->n_sizes = places.n;
    return true;
}

static bool keep_region(struct finder *f, struct region *region, struct err *err)
{
    struct arena *arena = &f->regions->arena;
    struct region_condition *conditions =
        arena_array(arena, struct region_condition, f->path.n + 1);
    sym_id *facts = arena_array(arena, sym_id, f->facts.n + 1);
    region->smallest = arena_array(arena, int64_t, f->conditions->symbols.n + 1);
    if (!conditions || !facts || !region->smallest)
        return err_nomem(err);
    for (size_t i = 0; i < f->path.n; i++)
        conditions[i] = f->path.v[i];
    for (size_t i = 0; i < f->facts.n; i++)
        facts[i] = f->facts.v[i];
    for (size_t s = 0, k = 0; s < f->conditions->symbols.n; s++)
        if (f->conditions->symbols.v[s].has_hint)
            region->smallest[s] = f->point.v[k++].value;
    region->conditions = conditions;
    region->n_conditions = f->path.n;
    region->facts = facts;
    region->n_facts = f->facts.n;
    return (find_symbols(f, conditions, f->path.n) && describe_region(f, region)) || err_nomem(err);
}

static bool push_cells(struct finder *f, uint32_t region, struct err *err)
{
    for (uint32_t i = 0; i < f->regions->list.v[region].n_conditions; i++) {
        struct cell cell = { region, i };
        if (!vec_push(&f->cells, cell))
            return err_nomem(err);
    }
    return true;
}

static bool add_region(struct finder *f, struct cell cell, struct err *err)
{
    bool first = cell.region == UINT32_MAX, any = true,
         program = f->conditions->attempt == TRACE_NONE;
    struct region region = { .kind = REGION_RECORDED,
                             .parent = first ? 0 : cell.region,
                             .separator = first ? 0 : cell.condition };
    if (!enter_cell(f, cell, err) || (!first && !find_point(f, &any, &region.has_smallest, err)))
        return false;
    if (!any)
        return true;
    f->path.n = 0;
    if (!first && program)
        region.kind = REGION_REFUSED;
    bool ok = first || program ? add_recorded(f, true, err) : replay_point(f, &region, err);
    ok = ok && reduce_path(f, err);
    if (ok && first)
        ok = find_point(f, &any, &region.has_smallest, err);
    uint32_t at = (uint32_t)f->regions->list.n;
    return ok && keep_region(f, &region, err) &&
           (vec_push(&f->regions->list, region) || err_nomem(err)) && push_cells(f, at, err);
}

bool regions_make(struct regions *ret, struct trace *trace, struct conditions *conditions,
                  const struct regions_options *options, struct err *err)
{
    struct finder f = { .regions = ret,
                        .trace = trace,
                        .conditions = conditions,
                        .options = options,
                        .end_ns = clock_ns() + options->ns };
    *ret = (struct regions){ 0 };
    f.decider = decider_new(conditions->pool, err);
    struct cell all = { UINT32_MAX, 0 };
    for (size_t i = 0; i < conditions->list.n; i++)
        ret->n_unread += conditions->list.v[i].expr == SYM_NONE;
    bool ok = f.decider && add_symbols(&f, err) && (vec_push(&f.cells, all) || err_nomem(err));
    size_t at = 0;
    while (ok && at < f.cells.n && (!options->limit || ret->list.n < options->limit) &&
           (!at || clock_ns() < f.end_ns))
        ok = add_region(&f, f.cells.v[at++], err);
    ret->complete = ok && at == f.cells.n && !ret->n_undecided && !ret->n_unread;
    decider_free(f.decider);
    vec_release(&f.cells);
    vec_release(&f.facts);
    vec_release(&f.path);
    vec_release(&f.point);
    return ok;
}

void regions_release(struct regions *regions)
{
    vec_release(&regions->list);
    arena_release(&regions->arena);
}
