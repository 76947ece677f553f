#include "profile/calls/cache/tape_compiles.h"

#include "trace/events/guard_tree.h"
#include "trace/events/metrics.h"

/* Reads "0/3"; ids with compiled autograd ("!1/0/3") and those given again after a reset ("0/3.1")
 * belong to other caches. */
static bool read_id(struct str id, uint64_t *frame, uint64_t *number)
{
    size_t slash = str_find_char(id, '/');
    return str_to_u64(str_first(id, slash), frame) && str_to_u64(str_from(id, slash + 1), number);
}

static struct tape_code *find_code(struct tape_compiles *all, uint64_t frame)
{
    /* Frames are numbered from 0 in the order of their first compile, so the search is short. */
    for (size_t i = all->codes.n; i-- > 0;)
        if (all->codes.v[i].frame_id == frame)
            return &all->codes.v[i];
    return vec_push(&all->codes, (struct tape_code){ .frame_id = frame })
               ? &all->codes.v[all->codes.n - 1]
               : NULL;
}

static bool add_compile(struct tape_compiles *all, struct trace *trace, uint32_t attempt,
                        struct err *err)
{
    const struct attempt *a = &trace->attempts[attempt];
    struct tape_compile compile = { .id = a->compile, .attempt = attempt };
    uint64_t frame;
    if (!read_id(a->compile, &frame, &compile.number))
        return true;
    struct tape_code *code = find_code(all, frame);
    if (!code)
        return err_nomem(err);
    compile.order = attempt;
    if (!guard_tree_read(trace, attempt, &all->arena, &compile.tree, err))
        return false;
    return vec_push(&code->compiles, compile) || err_nomem(err);
}

/* "... exceeding the recompile_limit cache size limit (currently set to 3)" */
static uint64_t read_limit(struct str reason)
{
    static const struct str SET_TO = { "(currently set to ", 18 };
    uint64_t ret = 0;
    size_t at = str_find(reason, SET_TO);
    struct str number = str_from(reason, at + SET_TO.n);
    str_to_u64(str_first(number, str_digits(number)), &ret);
    return ret;
}

static struct tape_compile *compile_of_attempt(struct tape_compiles *all, struct trace *trace,
                                               uint32_t attempt, struct tape_code **ret)
{
    uint64_t frame, number;
    if (attempt == TRACE_NONE || !read_id(trace->attempts[attempt].compile, &frame, &number))
        return NULL;
    for (size_t i = 0; i < all->codes.n; i++) {
        struct tape_code *code = &all->codes.v[i];
        if (code->frame_id != frame)
            continue;
        *ret = code;
        for (size_t k = 0; k < code->compiles.n; k++)
            if (code->compiles.v[k].number == number)
                return &code->compiles.v[k];
    }
    return NULL;
}

static void add_metrics(struct tape_compiles *all, struct trace *trace, const struct metrics *m)
{
    struct tape_code *code;
    struct tape_compile *c =
        m->backward || m->runtime ? NULL : compile_of_attempt(all, trace, m->attempt, &code);
    if (!c)
        return;
    if (m->function.n) {
        code->file = m->file;
        code->function = m->function;
        code->line = m->line;
    }
    int64_t ns = m->values[METRIC_ENTIRE_FRAME_COMPILE];
    c->seconds = ns == METRIC_ABSENT ? 0 : (double)ns / 1e9;
    /* convert_frame.py: what Dynamo does not support skips the frame, all else is raised. */
    c->raised = m->fail_type.n && !str_is(m->fail_type, "Unsupported") &&
                !str_is(m->fail_type, "SkipFrame");
    c->refused = str_starts(m->fail_reason, STR("Dynamo recompile limit exceeded"));
    c->limit = c->refused ? read_limit(m->fail_reason) : 0;
}

static int by_number(const void *a, const void *b)
{
    const struct tape_compile *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

static struct str copy(struct tape_compiles *all, struct str text)
{
    struct str ret = arena_copy(&all->arena, text);
    return ret.p ? ret : STR("");
}

bool tape_compiles_read(struct tape_compiles *ret, struct trace *trace, uint32_t recording,
                        struct err *err)
{
    *ret = (struct tape_compiles){ 0 };
    for (uint32_t i = 0; i < trace->n_attempts; i++) {
        const struct attempt *a = &trace->attempts[i];
        if (a->recording == recording && a->next == TRACE_NONE && !add_compile(ret, trace, i, err))
            return false;
    }
    struct metrics_list *metrics = metrics_read(trace, err);
    if (!metrics)
        return false;
    for (uint32_t i = 0; i < metrics->n; i++)
        if (metrics->metrics[i].attempt != TRACE_NONE &&
            trace->attempts[metrics->metrics[i].attempt].recording == recording)
            add_metrics(ret, trace, &metrics->metrics[i]);
    ret->incidents = incidents_read(trace, NULL, err);
    for (uint32_t i = 0; ret->incidents && i < ret->incidents->n_recompiles; i++) {
        const struct recompile *why = &ret->incidents->recompiles[i];
        struct tape_code *code;
        struct tape_compile *c = trace->attempts[why->attempt].recording == recording
                                     ? compile_of_attempt(ret, trace, why->attempt, &code)
                                     : NULL;
        if (c)
            c->why = why;
    }
    for (size_t i = 0; i < ret->codes.n; i++) {
        struct tape_code *code = &ret->codes.v[i];
        code->file = copy(ret, code->file);
        code->function = copy(ret, code->function);
        qsort(code->compiles.v, code->compiles.n, sizeof *code->compiles.v, by_number);
    }
    metrics_free(metrics);
    return ret->incidents != NULL;
}

void tape_compiles_release(struct tape_compiles *compiles)
{
    for (size_t i = 0; i < compiles->codes.n; i++)
        vec_release(&compiles->codes.v[i].compiles);
    vec_release(&compiles->codes);
    incidents_free(compiles->incidents);
    arena_release(&compiles->arena);
}
