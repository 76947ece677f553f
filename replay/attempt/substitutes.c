#include "replay/attempt/substitutes.h"

#include "trace/base/intern.h"

struct substitute_search {
    const struct trace *trace;
    const uint32_t *own; /* the graph of each attempt, or TRACE_NONE */
    uint32_t *ret;       /* what was found so far */
};

static void keep_first(uint32_t *at, uint32_t graph)
{
    if (*at == TRACE_NONE)
        *at = graph;
}

/* Takes the graphs of the attempts that follow, or that precede, in the same compile. */
static void search_compile(const struct substitute_search *s, uint32_t *nearest, bool later)
{
    uint32_t n = s->trace->n_attempts;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = later ? n - 1 - i : i;
        const struct attempt *attempt = &s->trace->attempts[at];
        uint32_t from = later ? attempt->next : attempt->previous;
        bool done = from < n && (later ? from > at : from < at);
        nearest[at] = !done                        ? TRACE_NONE
                      : s->own[from] != TRACE_NONE ? s->own[from]
                                                   : nearest[from];
        keep_first(&s->ret[at], nearest[at]);
    }
}

/* Returns the number of an attempt's frame: its compile id without the number of the compile. */
static uint32_t frame_of(struct intern *frames, const struct attempt *attempt, struct buf *key)
{
    size_t end = attempt->compile.n, again;
    while (end && attempt->compile.p[end - 1] != '/')
        end--;
    struct str number = str_from(attempt->compile, end);
    again = str_find_char(number, '.'); /* the id was given again, perhaps to another frame */
    key->n = 0;
    buf_printf(key, "%u %.*s%.*s", attempt->recording, STR_ARG(str_first(attempt->compile, end)),
               STR_ARG(str_from(number, again)));
    return key->failed ? INTERN_NONE : intern(frames, buf_str(key));
}

/* Takes the graph of the first compile of the same frame. */
static bool search_frames(const struct substitute_search *s, uint32_t *frame, uint32_t *first)
{
    struct intern frames = INTERN_INIT;
    struct buf key = BUF_INIT;
    uint32_t n = s->trace->n_attempts;
    bool ok = true;
    for (uint32_t i = 0; i < n; i++)
        first[i] = TRACE_NONE;
    for (uint32_t i = 0; i < n && ok; i++) {
        frame[i] = frame_of(&frames, &s->trace->attempts[i], &key);
        ok = frame[i] != INTERN_NONE;
        if (ok)
            keep_first(&first[frame[i]], s->own[i]);
    }
    for (uint32_t i = 0; i < n && ok; i++)
        keep_first(&s->ret[i], first[frame[i]]);
    intern_release(&frames);
    buf_release(&key);
    return ok;
}

const uint32_t *substitute_graphs(const struct trace *trace, const struct graph_list *graphs,
                                  uint32_t kinds, struct arena *arena)
{
    size_t n = trace->n_attempts;
    uint32_t *own = arena_array(arena, uint32_t, n + 1), *ret = arena_array(arena, uint32_t, n + 1);
    uint32_t *a = arena_array(arena, uint32_t, n + 1), *b = arena_array(arena, uint32_t, n + 1);
    if (!own || !ret || !a || !b)
        return NULL;
    for (size_t i = 0; i < n; i++)
        own[i] = ret[i] = TRACE_NONE;
    for (uint32_t i = 0; i < graphs->n; i++) {
        const struct graph_ref *ref = &graphs->refs[i];
        if (ref->is_event && kinds >> ref->kind & 1 && ref->attempt < n)
            keep_first(&own[ref->attempt], i);
    }
    struct substitute_search search = { trace, own, ret };
    search_compile(&search, a, true);
    search_compile(&search, a, false);
    return search_frames(&search, a, b) ? ret : NULL;
}
