#include "trace/align/outline.h"

#include <stdlib.h>

#include "trace/align/outline_build.h"
#include "trace/events/user_line.h"

const char *outline_event_kind_name(enum outline_event_kind kind)
{
    static const char *const NAMES[] = {
#define OUTLINE_EVENT(id, name, text, detail) name,
#include "trace/align/outline_events.def"
#undef OUTLINE_EVENT
    };
    return NAMES[kind];
}

uint32_t outline_intern(struct outline_build *b, struct str text)
{
    return intern(&b->outline->texts, text);
}

uint32_t outline_attempt_for(const struct outline_build *b, uint32_t recording, uint32_t attempt)
{
    return attempt == TRACE_NONE ? b->loose[recording] : b->attempt_of[attempt];
}

bool outline_line_at(struct outline_build *b, struct str file, struct str function, struct str code,
                     uint32_t line, uint32_t *ret)
{
    *ret = OUTLINE_NONE;
    if (file.n == 0 && code.n == 0 && function.n == 0)
        return true;
    struct outline_line l = { outline_intern(b, file), outline_intern(b, function),
                              outline_intern(b, code), line };
    if (l.file == INTERN_NONE || l.function == INTERN_NONE || l.code == INTERN_NONE)
        return false;
    *ret = intern(&b->line_keys, OUTLINE_KEY(l.file, l.function, l.code, l.line));
    return *ret != INTERN_NONE && (*ret < b->outline->lines.n || vec_push(&b->outline->lines, l));
}

bool outline_line_of_stack(struct outline_build *b, uint32_t recording, stack_id stack,
                           uint32_t *ret)
{
    *ret = OUTLINE_NONE;
    if (stack == 0)
        return true;
    uint32_t *known = &b->line_of_stack[stack];
    if (*known == 0 || b->trace->n_recordings > 1) {
        stack_id line = user_line(b->trace, recording, stack);
        struct frame frame = stack_frame(b->trace, recording, line);
        if (!outline_line_at(b, frame.file, frame.function, frame.code, frame.line, ret))
            return false;
        *known = *ret + 2; /* OUTLINE_NONE becomes 1 */
        return true;
    }
    *ret = *known - 2;
    return true;
}

static bool read_trace(struct outline_build *b, struct err *err)
{
    const struct trace *trace = b->trace;
    b->attempt_of = calloc((size_t)trace->n_attempts + 1, sizeof *b->attempt_of);
    b->loose = calloc((size_t)trace->n_recordings + 1, sizeof *b->loose);
    b->line_of_stack = calloc((size_t)trace_n_stacks(trace) + 1, sizeof *b->line_of_stack);
    if (!b->attempt_of || !b->loose || !b->line_of_stack || outline_intern(b, STR("")) != 0)
        return err_nomem(err);
    return (b->chromium = chromium_read(b->trace, err)) &&
           (b->metrics = metrics_read(b->trace, err)) &&
           (b->incidents = incidents_read(b->trace, b->chromium, err)) &&
           (b->caches = caches_read(b->trace, b->chromium, err)) &&
           (b->deep = deep_read(b->trace, err));
}

/* Returns whether `tail` is the path or its end. Messages may truncate a long path anywhere. */
static bool is_tail(struct str tail, struct str path)
{
    return str_ends(path, tail) && (path.n == tail.n || path.p[path.n - tail.n - 1] == '/' ||
                                    str_find_char(tail, '/') < tail.n);
}

/* Fills in code and folders of lines: messages name lines without their code, and files without
 * their folders, but other records have them. */
static void fill_codes(struct outline *o)
{
    size_t left = 100000000; /* limit on the number of steps, for logs that PyTorch did not write */
    for (size_t i = 0; i < o->lines.n; i++) {
        struct outline_line *l = &o->lines.v[i];
        struct str file = outline_text(o, l->file);
        for (size_t k = 0; k < o->lines.n && l->code == 0 && l->function == 0 && file.n && left;
             k++, left--) {
            const struct outline_line *known = &o->lines.v[k];
            if (known->line == l->line && known->code != 0 &&
                is_tail(file, outline_text(o, known->file)))
                *l = *known;
        }
    }
}

static void release_build(struct outline_build *b)
{
    deep_free(b->deep);
    caches_free(b->caches);
    incidents_free(b->incidents);
    metrics_free(b->metrics);
    chromium_free(b->chromium);
    free(b->attempt_of);
    free(b->loose);
    free(b->line_of_stack);
    intern_release(&b->line_keys);
    intern_release(&b->form_keys);
    intern_release(&b->symbol_keys);
    vec_release(&b->symbol_names);
    vec_release(&b->events);
    vec_release(&b->attempt_of_event);
    expr_pool_release(&b->exprs);
    buf_release(&b->text);
    buf_release(&b->key);
}

struct outline *outline_build(struct trace *trace, const struct selector *only, struct err *err)
{
    struct outline_build b = {
        .outline = calloc(1, sizeof *b.outline),
        .trace = trace,
        .only = only,
    };
    if (!b.outline) {
        err_nomem(err);
        return NULL;
    }
    bool ok = read_trace(&b, err) && outline_build_compiles(&b, err) &&
              outline_build_symbols(&b, err) && outline_build_events(&b, err) &&
              outline_build_graphs(&b, err);
    if (ok)
        fill_codes(b.outline);
    release_build(&b);
    if (ok)
        return b.outline;
    outline_free(b.outline);
    return NULL;
}

void outline_free(struct outline *outline)
{
    if (!outline)
        return;
    intern_release(&outline->texts);
    vec_release(&outline->lines);
    vec_release(&outline->recordings);
    vec_release(&outline->compiles);
    vec_release(&outline->attempts);
    vec_release(&outline->events);
    vec_release(&outline->graphs);
    vec_release(&outline->forms);
    vec_release(&outline->nodes);
    vec_release(&outline->refs);
    free(outline);
}
