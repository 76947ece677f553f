#include "profile/calls/cache/tape_compiles.h"

#include "trace/events/guard_tree.h"
#include "trace/events/metrics.h"

/* Reads "0/3", or "0/3.1", of the generation after a reset; ids with compiled autograd
 * ("!1/0/3") belong to other caches. */
static bool read_id(struct str id, uint64_t *frame, uint64_t *number, uint64_t *generation)
{
    size_t slash = str_find_char(id, '/');
    struct str rest = str_from(id, slash + 1);
    size_t dot = str_find_char(rest, '.');
    *generation = 0;
    return str_to_u64(str_first(id, slash), frame) && str_to_u64(str_first(rest, dot), number) &&
           (dot >= rest.n || str_to_u64(str_from(rest, dot + 1), generation));
}

static uint32_t frame_hash(uint64_t generation, uint64_t frame)
{
    return (uint32_t)((frame + generation * 0xc2b2ae3d27d4eb4fu) * 0x9e3779b97f4a7c15u >> 32);
}

struct tape_code *tape_code_find(const struct tape_compiles *all, uint64_t generation,
                                 uint64_t frame)
{
    uint32_t row, hash = frame_hash(generation, frame);
    const struct hash_index *index = &all->frames;
    for (size_t at = hash_index_start(index, hash); hash_index_next(index, hash, &at, &row);)
        if (all->codes.v[row].frame_id == frame && all->codes.v[row].generation == generation)
            return &all->codes.v[row];
    return NULL;
}

/* Returns the code object of a frame, which is added if it is new; NULL when memory ran out. */
static struct tape_code *make_code(struct tape_compiles *all, uint64_t generation, uint64_t frame)
{
    struct tape_code *code = tape_code_find(all, generation, frame);
    if (code)
        return code;
    if (!hash_index_reserve(&all->frames, 1) ||
        !vec_push(&all->codes, (struct tape_code){ .frame_id = frame, .generation = generation }))
        return NULL;
    hash_index_add(&all->frames, frame_hash(generation, frame), (uint32_t)all->codes.n - 1);
    return &all->codes.v[all->codes.n - 1];
}

static bool add_compile(struct tape_compiles *all, struct trace *trace, uint32_t attempt,
                        struct err *err)
{
    const struct attempt *a = &trace->attempts[attempt];
    struct tape_compile compile = { .id = a->compile, .attempt = attempt };
    uint64_t frame, generation;
    if (!read_id(a->compile, &frame, &compile.number, &generation))
        return true;
    struct tape_code *code = make_code(all, generation, frame);
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

static int by_number(const void *a, const void *b)
{
    const struct tape_compile *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

size_t tape_code_from(const struct tape_code *code, uint64_t number)
{
    size_t first = 0, end = code->compiles.n;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (code->compiles.v[middle].number < number)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

struct tape_compile *tape_code_compile(const struct tape_code *code, uint64_t number)
{
    size_t at = tape_code_from(code, number);
    return at < code->compiles.n && code->compiles.v[at].number == number ? &code->compiles.v[at]
                                                                          : NULL;
}

static struct tape_compile *compile_of_attempt(const struct tape_compiles *all, struct trace *trace,
                                               uint32_t attempt, struct tape_code **ret)
{
    uint64_t frame, number, generation;
    if (attempt == TRACE_NONE ||
        !read_id(trace->attempts[attempt].compile, &frame, &number, &generation))
        return NULL;
    *ret = tape_code_find(all, generation, frame);
    return *ret ? tape_code_compile(*ret, number) : NULL;
}

static void add_metrics(struct tape_compiles *all, struct trace *trace, const struct metrics *m)
{
    struct tape_code *code;
    struct tape_compile *c = m->runtime ? NULL : compile_of_attempt(all, trace, m->attempt, &code);
    if (!c)
        return;
    if (m->backward) {
        int64_t took = m->values[METRIC_DURATION];
        c->lazy_backward = true;
        c->backward_seconds = took == METRIC_ABSENT ? 0 : (double)took / 1e9;
        return;
    }
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
    c->failed = str_is(m->fail_type, "FailOnRecompileLimitHit");
    c->refused = c->failed || str_starts(m->fail_reason, STR("Dynamo recompile limit exceeded"));
    c->limit = c->refused ? read_limit(m->fail_reason) : 0;
}

static bool copy(struct tape_compiles *all, struct str *text)
{
    *text = arena_copy(&all->arena, *text);
    return text->p != NULL;
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
    for (size_t i = 0; i < ret->codes.n; i++)
        qsort(ret->codes.v[i].compiles.v, ret->codes.v[i].compiles.n, sizeof(struct tape_compile),
              by_number);
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
    bool ok = true;
    for (size_t i = 0; ok && i < ret->codes.n; i++)
        ok = copy(ret, &ret->codes.v[i].file) && copy(ret, &ret->codes.v[i].function);
    metrics_free(metrics);
    return ret->incidents && (ok || err_nomem(err));
}

void tape_compiles_release(struct tape_compiles *compiles)
{
    for (size_t i = 0; i < compiles->codes.n; i++)
        vec_release(&compiles->codes.v[i].compiles);
    vec_release(&compiles->codes);
    hash_index_release(&compiles->frames);
    incidents_free(compiles->incidents);
    arena_release(&compiles->arena);
}
