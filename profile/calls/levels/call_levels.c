#include "profile/calls/levels/call_levels.h"

#include "trace/events/incidents/incidents.h"
#include "trace/events/user_line.h"

/* The most frames that wait at a time; more are no program's. */
enum { MOST_WAITING = 256 };

enum break_kind { BREAK_NONE, BREAK_DATA, BREAK_OTHER };

/* The graph break that a compile ends in. */
struct entry_break {
    enum break_kind kind;
    int depth; /* as in struct graph_break */
};

/* A frame that waits for its resume function. */
struct waiting_frame {
    struct str file, function; /* the function as it is named in the program */
    uint32_t look;
    struct entry_break at;
};

struct level_builder {
    struct call_levels *levels;
    const struct call_log *log;
    const struct cache_run *run;
    struct intern compiles; /* those that end in a break */
    vec_of(struct entry_break)
    breaks; /* by compile */
    vec_of(struct waiting_frame)
    waiting;
};

static enum break_kind kind_of(const struct graph_break *at)
{
    static const char *const DATA[] = {
#define DATA_BREAK(text) text,
#include "profile/calls/levels/data_breaks.def"
#undef DATA_BREAK
    };
    for (size_t i = 0; i < sizeof DATA / sizeof *DATA; i++)
        if (str_contains(at->reason, str_of(DATA[i])))
            return BREAK_DATA;
    return BREAK_OTHER;
}

/* Of a compile that was begun again, the last break is the one at which it stopped. */
static bool add_break(struct level_builder *b, struct str compile, struct entry_break at)
{
    uint32_t id = intern(&b->compiles, compile);
    if (id == INTERN_NONE || (id == b->breaks.n && !vec_push(&b->breaks, at)))
        return false;
    b->breaks.v[id] = at;
    return true;
}

static bool read_breaks(struct level_builder *b, struct trace *trace, uint32_t recording,
                        struct err *err)
{
    struct incidents *incidents = incidents_read_failures(trace, err);
    bool ok = incidents != NULL;
    for (uint32_t i = 0; ok && i < incidents->n_breaks; i++) {
        const struct graph_break *at = &incidents->breaks[i];
        const struct attempt *attempt =
            at->attempt == TRACE_NONE ? NULL : &trace->attempts[at->attempt];
        if (!attempt || attempt->recording != recording)
            continue;
        const struct entry_break found = { kind_of(at), at->depth };
        ok = add_break(b, attempt->compile, found) || err_nomem(err);
    }
    b->levels->n_compiles = (uint32_t)b->breaks.n;
    incidents_free(incidents);
    return ok;
}

static struct entry_break break_of(const struct level_builder *b, uint32_t entry)
{
    const struct entry_break none = { BREAK_NONE, -1 };
    uint32_t id = intern_find(&b->compiles, entry_compile(&b->run->entries.v[entry]));
    return id == INTERN_NONE ? none : b->breaks.v[id];
}

/* Takes the frame off that a resume function belongs to, with those that it called and that are
 * done. Returns false if none waits for it. */
static bool take_waiting(struct level_builder *b, const struct cache_code *code,
                         struct str function, struct waiting_frame *ret)
{
    for (size_t i = b->waiting.n; i-- > 0;) {
        *ret = b->waiting.v[i];
        if (!str_eq(ret->function, function) || !str_eq(ret->file, code->file))
            continue;
        b->waiting.n = i;
        return true;
    }
    return false;
}

/* Returns whether look-up `next` is part of the group of a frame that waits, and whether a break
 * divides it from `last`, the look-up before it. */
static bool continues(const struct level_builder *b, const struct waiting_frame *frame,
                      uint32_t last, bool resumed, bool *divided)
{
    const struct look_level *looks = b->levels->looks.v;
    *divided = resumed && frame->look == last;
    return frame->at.kind == BREAK_DATA && looks[frame->look].group == looks[last].group &&
           (resumed || (frame->look == last && frame->at.depth != 0));
}

/* Places a look-up that an entry answers; `last` is the one before it in the call, or CALL_NONE. */
static bool place(struct level_builder *b, uint32_t look, uint32_t last)
{
    const struct lookup_row *row = &b->run->lookups.v[look];
    const struct cache_code *code = &b->run->codes.v[row->code];
    struct look_level *ret = &b->levels->looks.v[look];
    struct waiting_frame frame = { 0 };
    struct str function;
    bool resumed = function_resumes(code->function, &function), divided, found;
    *ret = (struct look_level){ .group = look, .segment = look, .level = 1 };
    if (resumed)
        found = take_waiting(b, code, function, &frame);
    else if ((found = last != CALL_NONE && b->waiting.n))
        frame = b->waiting.v[b->waiting.n - 1];
    if (found && last != CALL_NONE && continues(b, &frame, last, resumed, &divided)) {
        *ret = b->levels->looks.v[last];
        ret->level += divided;
        ret->segment = divided ? look : ret->segment;
        b->levels->n_data += divided;
    } else {
        b->levels->n_other += last != CALL_NONE;
    }
    if (b->waiting.n == MOST_WAITING)
        b->waiting.n = 0;
    const struct waiting_frame now = { code->file, function, look, break_of(b, row->answered) };
    return now.at.kind == BREAK_NONE || vec_push(&b->waiting, now);
}

static bool has_entry(const struct lookup_row *row)
{
    return (row->outcome == LOOKUP_HIT || row->outcome == LOOKUP_COMPILED) &&
           row->answered != CALL_NONE && row->code != CALL_NONE;
}

static bool place_all(struct level_builder *b)
{
    uint32_t last = CALL_NONE;
    for (uint32_t i = 0; i < b->run->lookups.n; i++) {
        const struct lookup_row *row = &b->run->lookups.v[i];
        const struct look_level none = { CALL_NONE, CALL_NONE, 0 };
        if (!b->log->calls.v[row->call].inside) {
            b->waiting.n = 0;
            last = CALL_NONE;
        }
        if (!vec_push(&b->levels->looks, none))
            return false;
        if (!has_entry(row)) {
            /* Python runs the frame, so that what follows is a group of its own. */
            b->waiting.n = 0;
            last = CALL_NONE;
            continue;
        }
        if (!place(b, i, last))
            return false;
        last = i;
    }
    return true;
}

bool call_levels_make(struct call_levels *ret, struct trace *trace, uint32_t recording,
                      const struct call_log *log, const struct cache_run *run, struct err *err)
{
    struct level_builder b = { .levels = ret, .log = log, .run = run };
    *ret = (struct call_levels){ 0 };
    bool ok = read_breaks(&b, trace, recording, err) && (place_all(&b) || err_nomem(err));
    intern_release(&b.compiles);
    vec_release(&b.breaks);
    vec_release(&b.waiting);
    return ok;
}

void call_levels_release(struct call_levels *levels)
{
    vec_release(&levels->looks);
}
