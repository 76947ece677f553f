#include <stdlib.h>

#include "cmd/cli/memory_limit.h"
#include "cmd/cli/tape_arg.h"
#include "cmd/cmd.h"
#include "profile/calls/cache/cache_report.h"
#include "trace/events/calls.h"
#include "trace/log/source.h"

struct cache_args {
    const char *calls;
    struct opt_number recompile_limit, accumulated_limit, limit;
    bool all, json, strict;
};

enum { LIMIT_DEFAULT = 40 };

static const struct opt options[] = {
    OPT_STRING(
        'c', "calls", "FILE", struct cache_args, calls,
        "the calls of the program, one JSON object a line; - is standard input (default: those "
        "on the tape, which symtape record --calls notes)"),
    OPT_NUMBER(0, "recompile-limit", "N", struct cache_args, recompile_limit,
               "torch._dynamo.config.recompile_limit (default: as recorded)"),
    OPT_NUMBER(0, "accumulated-recompile-limit", "N", struct cache_args, accumulated_limit,
               "torch._dynamo.config.accumulated_recompile_limit (default: as recorded)"),
    OPT_FLAG('a', "all", struct cache_args, all,
             "also check the entries behind the one that answers"),
    OPT_NUMBER('n', "limit", "N", struct cache_args, limit,
               "print at most N rows of each list (default 40, 0: all)"),
    OPT_JSON(struct cache_args, json),
    OPT_STRICT(struct cache_args, strict),
    OPT_END,
};

/* Returns the recording that the operand names, or the first log. */
static uint32_t recording_of(const struct tape_arg *tape)
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

static bool read_calls(struct cmd *cmd, const char *path, struct call_log *log, struct err *err)
{
    struct source *in = source_open(path, err);
    struct call_reader *reader = call_reader_new(log);
    bool ok = in && (reader || err_nomem(err));
    if (ok)
        source_set_meter(in, cmd->out->limit ? &cmd->out->limit->meter : NULL);
    ok = ok && (read_pieces(in, reader, err) || err_at(err, "%s", path));
    if (ok && !log->calls.n)
        ok = err_set(err, ERR_INPUT, "%s: no calls; each line is an object with \"call\"", path);
    call_reader_free(reader);
    source_close(in);
    return ok;
}

/* Reads the calls that `symtape record --calls` noted. */
static bool read_recorded_calls(struct trace *trace, uint32_t recording, struct call_log *log,
                                struct err *err)
{
    struct recorded_calls calls = { 0 };
    bool ok = recorded_calls_read(trace, recording, &calls, err);
    if (ok && !calls.n)
        ok = err_set(err, ERR_USAGE,
                     "%.*s has no calls: record them with symtape record --calls, or name a file "
                     "with --calls FILE",
                     STR_ARG(trace->path));
    ok = ok && call_log_read(log, buf_str(&calls.lines), err);
    recorded_calls_release(&calls);
    return ok;
}

static int print(struct cmd *cmd, const struct cache_run *run, const struct call_log *log)
{
    const struct cache_args *args = cmd->args;
    struct buf out = BUF_INIT;
    if (args->json) {
        cmd->out->exact = true;
        cache_json(run, log, &out);
    } else {
        uint64_t limit = args->limit.given ? args->limit.value : LIMIT_DEFAULT;
        const struct report_options shown = {
            .width = cmd->out->width,
            .styles = out_styles(cmd->out),
            .limit = limit < UINT32_MAX ? (uint32_t)limit : 0,
        };
        cache_text(run, log, &shown, &out);
    }
    int code = out_buf(cmd->out, &out);
    buf_release(&out);
    return code;
}

static int run(struct cmd *cmd)
{
    const struct cache_args *args = cmd->args;
    struct tape_arg tape = { 0 };
    struct call_log log = { 0 };
    struct cache_run run = { 0 };
    struct cache_options how = { .limits = { args->recompile_limit.value,
                                             args->accumulated_limit.value },
                                 .all_checks = args->all };
    struct err err = { 0 };
    int code =
        tape_arg_open(&tape, cmd->out, cmd->operands[0],
                      TAPE_ARG_WHOLE | TAPE_ARG_FAILURES | (args->strict ? TAPE_ARG_STRICT : 0));
    if (code == EXIT_DONE) {
        uint32_t recording = recording_of(&tape);
        bool ok = args->calls ? read_calls(cmd, args->calls, &log, &err)
                              : read_recorded_calls(tape.trace, recording, &log, &err);
        ok = ok && cache_run_make(&run, tape.trace, recording, &log, &how, &err);
        code = ok ? print(cmd, &run, &log) : out_error(cmd->out, &err);
    }
    cache_run_release(&run);
    call_log_release(&log);
    tape_arg_close(&tape);
    return code;
}

const struct command command_cache = {
    .synopsis = "[options] TAPE",
    .description =
        "Replays Dynamo's caches over the calls that a program made: which compiled entry answers "
        "each call, which guard turns it away, which compile follows and what it costs.",
    .examples = "  symtape cache train.tape\n"
                "  symtape cache --calls calls.jsonl train.log\n"
                "  symtape cache --calls calls.jsonl --recompile-limit 16 train.log\n",
    .options = options,
    .args_size = sizeof(struct cache_args),
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
