#include "cmd/tape_arg.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cmd/cmd.h"

enum { DAMAGE_SHOWN = 3 };

/* "FILE:LINE: offset N: what"; without a line where it is the tape itself that is damaged. */
static void note_place(struct out *out, const struct damage *place)
{
    if (place->line > 0)
        out_note(out, "%.*s:%" PRIu64 ": offset %" PRIu64 ": %.*s", STR_ARG(place->source),
                 place->line, place->offset, STR_ARG(place->what));
    else
        out_note(out, "%.*s: offset %" PRIu64 ": %.*s", STR_ARG(place->source), place->offset,
                 STR_ARG(place->what));
}

static void note_damage(const struct trace *trace, struct out *out)
{
    struct damage places[DAMAGE_SHOWN];
    uint64_t n = trace_damage(trace, places, DAMAGE_SHOWN);
    if (n == 0)
        return;
    out_note(out, "%.*s: %" PRIu64 " %s; the rest was read", STR_ARG(trace->path), n,
             n == 1 ? "place is damaged" : "places are damaged");
    for (uint64_t i = 0; i < n && i < DAMAGE_SHOWN; i++)
        note_place(out, &places[i]);
    if (n > DAMAGE_SHOWN)
        out_note(out, "... and %" PRIu64 " more", n - DAMAGE_SHOWN);
}

static struct trace *open_trace(struct str tape, bool strict, struct err *err)
{
    const struct trace_options options = { .strict = strict };
    char *path = strndup(tape.p, tape.n);
    struct trace *trace = NULL;
    if (path)
        trace = trace_open(path, &options, err);
    else
        err_nomem(err);
    free(path);
    return trace;
}

/* Not one record: this is no log, whatever its name says. Raw bytes are something, if allowed. */
static bool is_empty(const struct trace *trace, unsigned flags)
{
    for (uint32_t i = 0; i < trace->n_records; i++)
        if ((flags & TAPE_ARG_RAW) || trace->records[i].event != EVENT_RAW)
            return false;
    return true;
}

static bool check(struct tape_arg *arg, unsigned flags, struct err *err)
{
    if (is_empty(arg->trace, flags))
        err_set(err, ERR_INPUT, "no record of a TORCH_TRACE log is in it");
    else
        selector_check(arg->trace, &arg->selector, err);
    return !err_is_set(err) || err_at(err, "%.*s", STR_ARG(arg->selector.tape));
}

int tape_arg_open(struct tape_arg *arg, struct out *out, const char *operand, unsigned flags)
{
    struct err err = { 0 };
    *arg = (struct tape_arg){ 0 };
    if (!selector_parse(&arg->selector, str_of(operand), &err))
        return out_error(out, &err);
    if ((flags & TAPE_ARG_WHOLE) && (arg->selector.compile.n || arg->selector.kind.n))
        return out_usage(out, "%s: a whole tape or recording is meant here, not a part of it",
                         operand);
    arg->trace = open_trace(arg->selector.tape, flags & TAPE_ARG_STRICT, &err);
    if (!arg->trace)
        return out_error(out, &err);
    note_damage(arg->trace, out);
    return check(arg, flags, &err) ? EXIT_DONE : out_error(out, &err);
}

void tape_arg_close(struct tape_arg *arg)
{
    trace_close(arg->trace);
    arg->trace = NULL;
}
