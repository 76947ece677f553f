#include "cmd/calls/calls_arg.h"

#include <stdlib.h>

#include "cmd/cli/memory_limit.h"
#include "trace/events/calls.h"
#include "trace/log/source.h"

enum { ROWS_DEFAULT = 40 };

struct report_options calls_report_options(const struct cmd *cmd, struct opt_number rows)
{
    uint64_t limit = rows.given ? rows.value : ROWS_DEFAULT;
    return (struct report_options){
        .width = cmd->out->width,
        .styles = out_styles(cmd->out),
        .limit = limit < UINT32_MAX ? (uint32_t)limit : 0,
    };
}

uint32_t calls_arg_recording(const struct tape_arg *tape)
{
    for (uint32_t i = 0; i < tape->trace->n_recordings; i++)
        if (tape->trace->recordings[i].kind == RECORDING_LOG &&
            (!tape->selector.recording.n ||
             str_eq(tape->trace->recordings[i].name, tape->selector.recording)))
            return i;
    return 0;
}

static bool read_pieces(struct source *in, struct call_reader *reader, struct err *err)
{
    char *piece = malloc(SOURCE_READ_SIZE);
    bool ok = piece || err_nomem(err);
    for (size_t n = 1; ok && n > 0;)
        ok = source_read(in, piece, SOURCE_READ_SIZE, &n, err) &&
             call_reader_take(reader, (struct str){ piece, n }, err);
    free(piece);
    return ok && call_reader_end(reader, err);
}

bool calls_arg_read(struct out *out, const char *path, struct call_log *log, struct err *err)
{
    struct source *in = source_open(path, err);
    struct call_reader *reader = call_reader_new(log);
    bool ok = in && (reader || err_nomem(err));
    if (ok)
        source_set_meter(in, out->limit ? &out->limit->meter : NULL);
    ok = ok && (read_pieces(in, reader, err) || err_at(err, "%s", path));
    if (ok && !log->calls.n)
        ok = err_set(err, ERR_INPUT, "%s: no calls; each line is an object with \"call\"", path);
    call_reader_free(reader);
    source_close(in);
    return ok;
}

static bool take_call(void *data, const struct recorded_call *call, struct err *err)
{
    return call_reader_recorded(data, call, err);
}

bool calls_arg_recorded(struct out *out, struct trace *trace, uint32_t recording,
                        struct call_log *log, struct err *err)
{
    struct call_reader *reader = call_reader_new(log);
    struct recorded_calls calls = { .take = take_call, .data = reader };
    log->of_tape = true;
    bool ok = (reader || err_nomem(err)) && recorded_calls_read(trace, recording, &calls, err) &&
              call_reader_end(reader, err);
    if (ok && calls.skipped)
        out_note(out, "%llu call%s on the tape could not be read",
                 (unsigned long long)calls.skipped, calls.skipped == 1 ? "" : "s");
    recorded_calls_release(&calls);
    call_reader_free(reader);
    return ok;
}

bool calls_arg_missing(const struct trace *trace, struct err *err)
{
    return err_set(err, ERR_USAGE,
                   "%.*s has no calls: record them with symtape record --calls, or name a file "
                   "with --calls FILE",
                   STR_ARG(trace->path));
}

bool calls_arg_required(struct out *out, const char *path, const struct tape_arg *tape,
                        struct call_log *log, struct err *err)
{
    if (path)
        return calls_arg_read(out, path, log, err);
    return calls_arg_recorded(out, tape->trace, calls_arg_recording(tape), log, err) &&
           (log->calls.n || calls_arg_missing(tape->trace, err));
}

int calls_print(struct cmd *cmd, struct buf *report, struct buf *exact)
{
    int code = out_buf(cmd->out, report);
    cmd->out->exact = true;
    if (code == EXIT_DONE)
        code = out_buf(cmd->out, exact);
    buf_release(report);
    buf_release(exact);
    return code;
}

int calls_run(struct cmd *cmd, bool strict, int (*one)(struct cmd *cmd, struct tape_arg *tape),
              int (*two)(struct cmd *cmd, struct tape_arg *tapes))
{
    struct tape_arg tapes[2] = { 0 };
    unsigned flags = TAPE_ARG_WHOLE | TAPE_ARG_FAILURES | (strict ? TAPE_ARG_STRICT : 0);
    int code = EXIT_DONE;
    for (size_t i = 0; code == EXIT_DONE && i < cmd->n_operands; i++)
        code = tape_arg_open(&tapes[i], cmd->out, cmd->operands[i], flags);
    if (code == EXIT_DONE)
        code = cmd->n_operands == 1 ? one(cmd, &tapes[0]) : two(cmd, tapes);
    for (size_t i = 0; i < cmd->n_operands; i++)
        tape_arg_close(&tapes[i]);
    return code;
}
