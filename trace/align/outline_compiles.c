/* Collects the recordings, compiles and attempts of an outline. */
#include <stdlib.h>

#include "trace/align/outline_build.h"
#include "trace/selector.h"

struct named {
    struct str function, file;
    uint32_t line;
    int64_t ns;
};

/* Names each attempt's function, from compilation_metrics or else from the last frame of
 * dynamo_start. */
static bool name_attempts(struct outline_build *b, struct named *named, struct err *err)
{
    const struct trace *trace = b->trace;
    for (uint32_t i = 0; i < trace->n_attempts; i++)
        named[i].ns = -1;
    struct json doc = { 0 };
    bool ok = true;
    for (uint32_t i = 0; i < trace->n_records && ok; i++) {
        const struct record *r = &trace->records[i];
        struct err unreadable = { 0 };
        if (r->event != EVENT_DYNAMO_START || r->attempt == TRACE_NONE)
            continue;
        if (record_json(trace, i, &doc, &unreadable)) {
            struct frame frame =
                stack_frame(trace, r->recording, record_stack(b->trace, &doc, STR("stack")));
            named[r->attempt] = (struct named){ frame.function, frame.file, frame.line, -1 };
        }
        ok = unreadable.kind != ERR_ENV || err_set(err, ERR_ENV, "%s", unreadable.text);
    }
    json_release(&doc);
    for (uint32_t i = 0; i < b->metrics->n && ok; i++) {
        const struct metrics *m = &b->metrics->metrics[i];
        if (m->attempt == TRACE_NONE || m->backward || m->runtime)
            continue;
        struct named *name = &named[m->attempt];
        int64_t ns = m->values[METRIC_ENTIRE_FRAME_COMPILE];
        if (m->function.n > 0)
            *name = (struct named){ m->function, m->file, m->line, -1 };
        name->ns = ns == METRIC_ABSENT ? -1 : ns;
    }
    return ok;
}

/* Returns a function's name without the line in it: torch_dynamo_resume_in_forward_at_12 is
 * named after the line where its frame was broken (torch/_dynamo/resume_execution.py). */
static struct str function_without_line(struct str name)
{
    size_t n = name.n;
    if (!str_starts(name, STR("torch_dynamo_resume_in_")))
        return name;
    while (n > 0 && is_digit(name.p[n - 1]))
        n--;
    return n < name.n && str_ends(str_first(name, n), STR("_at_")) ? str_first(name, n - 4) : name;
}

static bool add_outline_compile(struct outline_build *b, uint32_t recording, struct str id,
                                const struct named *named)
{
    struct outline *o = b->outline;
    struct outline_compile compile = {
        .recording = recording,
        .id = outline_intern(b, id),
        .function = outline_intern(b, function_without_line(named->function)),
        .first_attempt = (uint32_t)o->attempts.n,
        .ns = named->ns,
    };
    o->recordings.v[recording].n_compiles++;
    return compile.id != INTERN_NONE && compile.function != INTERN_NONE &&
           outline_line_at(b, named->file, named->function, STR(""), named->line, &compile.line) &&
           vec_push(&o->compiles, compile);
}

static bool add_outline_attempt(struct outline_build *b, uint32_t number,
                                enum attempt_status status)
{
    struct outline *o = b->outline;
    struct outline_attempt attempt = { .compile = (uint32_t)o->compiles.n - 1,
                                       .number = number,
                                       .status = status };
    o->compiles.v[o->compiles.n - 1].n_attempts++;
    return vec_push(&o->attempts, attempt);
}

static bool is_selected(const struct outline_build *b, uint32_t attempt)
{
    return !b->only || selector_has_attempt(b->trace, b->only, attempt);
}

/* Adds a compile with all its attempts, which is found by its first one. Its name is that of the
 * last attempt that has one. */
static bool take_compile(struct outline_build *b, const struct named *named, uint32_t recording,
                         uint32_t first)
{
    const struct trace *trace = b->trace;
    struct named name = named[first];
    bool asked = false;
    for (uint32_t a = first, n = 0; a != TRACE_NONE && n <= trace->n_attempts; n++) {
        if (named[a].function.n > 0 || named[a].ns >= 0)
            name = named[a];
        asked = asked || is_selected(b, a);
        a = trace->attempts[a].next;
    }
    if (!asked)
        return true;
    if (!add_outline_compile(b, recording, trace->attempts[first].compile, &name))
        return false;
    for (uint32_t a = first, n = 0; a != TRACE_NONE && n <= trace->n_attempts; n++) {
        bool taken = is_selected(b, a);
        b->attempt_of[a] = taken ? (uint32_t)b->outline->attempts.n : OUTLINE_NONE;
        if (taken && !add_outline_attempt(b, trace->attempts[a].number, trace->attempts[a].status))
            return false;
        a = trace->attempts[a].next;
    }
    return true;
}

static bool take_recording(struct outline_build *b, const struct named *named, uint32_t index)
{
    static const struct named NOBODY = { { "", 0 }, { "", 0 }, 0, -1 };
    const struct trace *trace = b->trace;
    const struct recording *recording = &trace->recordings[index];
    b->loose[index] = OUTLINE_NONE;
    if (b->only && !selector_has_recording(trace, b->only, index))
        return true;
    struct outline_recording row = {
        .name = outline_intern(b, recording->name),
        .torch_version = outline_intern(b, recording->torch_version),
        .rank = recording->rank,
        .is_pt2 = recording->kind == RECORDING_PT2,
        .first_compile = (uint32_t)b->outline->compiles.n,
    };
    if (row.name == INTERN_NONE || row.torch_version == INTERN_NONE ||
        !vec_push(&b->outline->recordings, row))
        return false;
    uint32_t number = (uint32_t)b->outline->recordings.n - 1;
    if (is_selected(b, TRACE_NONE)) {
        b->loose[index] = (uint32_t)b->outline->attempts.n;
        if (!add_outline_compile(b, number, STR(""), &NOBODY) ||
            !add_outline_attempt(b, 0, ATTEMPT_OK))
            return false;
    }
    for (uint32_t a = 0; a < trace->n_attempts; a++)
        if (trace->attempts[a].recording == index && trace->attempts[a].previous == TRACE_NONE &&
            !take_compile(b, named, number, a))
            return false;
    return true;
}

bool outline_build_compiles(struct outline_build *b, struct err *err)
{
    struct named *named = calloc((size_t)b->trace->n_attempts + 1, sizeof *named);
    bool ok = named || err_nomem(err);
    ok = ok && name_attempts(b, named, err);
    for (uint32_t i = 0; ok && i < b->trace->n_attempts; i++)
        b->attempt_of[i] = OUTLINE_NONE;
    for (uint32_t i = 0; ok && i < b->trace->n_recordings; i++)
        ok = take_recording(b, named, i) || err_nomem(err);
    free(named);
    return ok;
}
