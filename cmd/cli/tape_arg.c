#include "cmd/cli/tape_arg.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cmd/cli/fx_arg.h"
#include "cmd/cli/memory_limit.h"
#include "cmd/cli/nearest.h"
#include "cmd/cmd.h"
#include "trace/graphs.h"
#include "trace/pt2/signature.h"

enum { DAMAGE_SHOWN = 3, FAILURES_SHOWN = 3 };

/* Prints "FILE:LINE: offset N: what", without a line if the tape itself is damaged. */
static void note_place(struct out *out, const struct damage *place)
{
    if (place->line > 0)
        out_note(out, "%.*s:%" PRIu64 ": offset %" PRIu64 ": %.*s", STR_ARG(place->source),
                 place->line, place->offset, STR_ARG(place->what));
    else
        out_note(out, "%.*s: offset %" PRIu64 ": %.*s", STR_ARG(place->source), place->offset,
                 STR_ARG(place->what));
}

static void note_tape_damage(const struct trace *trace, struct out *out)
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

static struct trace *open_operand(struct str tape, bool strict, struct memory_limit *limit,
                                  struct err *err)
{
    const struct trace_options options = { .strict = strict, .meter = &limit->meter };
    char *path = strndup(tape.p, tape.n);
    struct trace *trace = NULL;
    if (path)
        trace = trace_open(path, &options, err);
    else
        err_nomem(err);
    free(path);
    return trace;
}

bool tape_has_records(const struct trace *trace)
{
    for (uint32_t i = 0; i < trace->n_records; i++)
        if (trace->records[i].event != EVENT_RAW)
            return true;
    return false;
}

static uint32_t count_archives(const struct trace *trace)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < trace->n_recordings; i++)
        n += trace->recordings[i].kind == RECORDING_PT2;
    return n;
}

bool tape_check_programs(struct trace *trace, struct out *out, struct err *err)
{
    uint32_t n_archives = count_archives(trace), n_read = 0, n_renamed = 0;
    struct err first = { .kind = ERR_NONE };
    const struct graph_list *list = n_archives ? trace_graphs(trace, err) : NULL;
    for (uint32_t i = 0; list && i < list->n; i++) {
        struct err why = { .kind = ERR_NONE };
        if (trace->records[list->refs[i].record].event != EVENT_PT2_MEMBER)
            continue;
        const struct graph *graph = trace_graph(trace, i, &why);
        n_read += graph != NULL;
        n_renamed += graph && graph->signature ? graph->signature->n_renamed : 0;
        if (!graph && (why.kind != ERR_INPUT || !err_is_set(&first)))
            first = why;
        if (!graph && why.kind != ERR_INPUT)
            break;
    }
    if (n_renamed)
        out_note(out, "%.*s: %" PRIu32 " %s in Python and %s replaced", STR_ARG(trace->path),
                 n_renamed,
                 n_renamed == 1 ? "name of a node or an input is not an identifier"
                                : "names of nodes and inputs are not identifiers",
                 n_renamed == 1 ? "was" : "were");
    if (n_archives == trace->n_recordings && n_read == 0 && err_is_set(&first))
        *err = first;
    return !err_is_set(err);
}

/* Returns whether a path is that of a program, which has to be run and recorded first. */
bool tape_is_program(const char *path)
{
    return str_ends(str_of(path), STR(".py"));
}

bool tape_program_error(const char *path, struct err *err)
{
    struct str name = str_basename(str_of(path));
    *err = (struct err){ 0 };
    return err_set(err, ERR_INPUT,
                   "%s: a Python program, not a recording; to record it, run: symtape record -o "
                   "%.*s.tape -- python %s",
                   path, (int)(name.n - 3), name.p, path);
}

static struct nearest nearest_kind(struct str word)
{
    struct nearest search = nearest_of(word);
    for (int kind = 0; kind < GRAPH_KINDS; kind++)
        nearest_offer(&search, str_of(graph_kind_name((enum graph_kind)kind)));
    return search;
}

bool tape_selector_parse(struct selector *selector, const char *operand, struct err *err)
{
    struct str text = str_of(operand);
    if (selector_parse(selector, text, err))
        return true;
    size_t start = text.n;
    while (start > 0 && operand[start - 1] != ':')
        start--;
    struct nearest search = nearest_kind(str_from(text, start));
    if (start > 0 && search.best.n) {
        *err = (struct err){ 0 };
        err_set(err, ERR_USAGE,
                "\"%s\" is not COMPILE[_ATTEMPT][:KIND[#I]]; did you mean 0/0:%.*s?",
                operand + start, STR_ARG(search.best));
    }
    return false;
}

bool tape_check_kind(struct trace *trace, const struct selector *selector, struct err *err)
{
    char hint[NEAREST_TEXT];
    struct str kind = selector->kind;
    struct nearest search = nearest_kind(kind);
    const struct graph_list *list = kind.n ? trace_graphs(trace, err) : NULL;
    for (uint32_t i = 0; list && i < list->n; i++) {
        if (str_eq(list->refs[i].name, kind))
            return true;
        nearest_offer(&search, list->refs[i].name);
    }
    if (!list || str_eq(search.best, kind) || search.best.n == 0)
        return !err_is_set(err);
    return err_set(err, ERR_USAGE, "no graph is of kind \"%.*s\"%s", STR_ARG(kind),
                   nearest_text(&search, hint));
}

static bool check_operand(struct tape_arg *arg, unsigned flags, struct err *err)
{
    bool raw = (flags & TAPE_ARG_RAW) && arg->trace->n_records > 0;
    if (!raw && !tape_has_records(arg->trace))
        err_set(err, ERR_INPUT, "it contains no record of a TORCH_TRACE log");
    else if (selector_check(arg->trace, &arg->selector, err))
        tape_check_kind(arg->trace, &arg->selector, err);
    return !err_is_set(err) || err_at(err, "%.*s", STR_ARG(arg->selector.tape));
}

/* Notes the exceptions that ended selected compiles, "0/0 failed in PyTorch: TorchRuntimeError:
 * ...", so that no command reads such a recording without a word about it. */
static void note_failures(const struct failure_list *failures, struct out *out)
{
    for (size_t i = 0; i < failures->v.n && i < FAILURES_SHOWN; i++) {
        struct buf text = BUF_INIT;
        failure_list_note(failures, i, &text);
        if (!text.failed)
            out_note(out, "%.*s", STR_ARG(buf_str(&text)));
        buf_release(&text);
    }
    if (failures->v.n > FAILURES_SHOWN)
        out_note(out, "... and %zu more", failures->v.n - FAILURES_SHOWN);
}

int tape_arg_open(struct tape_arg *arg, struct out *out, const char *operand, unsigned flags)
{
    struct err err = { 0 };
    *arg = (struct tape_arg){ 0 };
    if (!tape_selector_parse(&arg->selector, operand, &err))
        return out_error(out, &err);
    if ((flags & TAPE_ARG_WHOLE) && (arg->selector.compile.n || arg->selector.kind.n))
        return out_usage(out, "%s: name a whole tape or recording here, not a part of it", operand);
    arg->trace = open_operand(arg->selector.tape, flags & TAPE_ARG_STRICT, out->limit, &err);
    if (!arg->trace && err.kind == ERR_INPUT && tape_is_program(operand))
        tape_program_error(operand, &err);
    else if (!arg->trace && err.kind == ERR_INPUT && fx_arg_is(operand, &out->limit->meter))
        fx_arg_error(operand, &err);
    if (!arg->trace)
        return out_error(out, &err);
    note_tape_damage(arg->trace, out);
    if (!tape_check_programs(arg->trace, out, &err))
        return out_error(out, &err);
    bool ok = check_operand(arg, flags, &err);
    if (ok && !(flags & TAPE_ARG_FAILURES)) {
        ok = failure_list_read(&arg->failures, arg->trace, &arg->selector, &err);
        note_failures(&arg->failures, out);
    }
    return ok ? EXIT_DONE : out_error(out, &err);
}

void tape_arg_close(struct tape_arg *arg)
{
    failure_list_release(&arg->failures);
    trace_close(arg->trace);
    arg->trace = NULL;
}
