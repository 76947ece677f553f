#include "cmd/calls/cache_ranks.h"

#include <stdlib.h>

#include "profile/calls/ranks/ranks_report.h"

static int print(struct cmd *cmd, const struct rank_times *times, struct opt_number rows, bool json)
{
    struct buf report = BUF_INIT, exact = BUF_INIT;
    const struct report_options how = calls_report_options(cmd, rows);
    if (json)
        ranks_json(times, &exact);
    else
        ranks_text(times, &how, &report);
    return calls_print(cmd, &report, &exact);
}

/* One recording of several, TAPE@RECORDING, is refused: the axis is that of all. */
static int open_tapes(struct cmd *cmd, struct tape_arg *tapes, bool strict)
{
    unsigned flags = TAPE_ARG_WHOLE | TAPE_ARG_FAILURES | (strict ? TAPE_ARG_STRICT : 0);
    for (size_t i = 0; i < cmd->n_operands; i++) {
        int code = tape_arg_open(&tapes[i], cmd->out, cmd->operands[i], flags);
        if (code == EXIT_DONE && tapes[i].selector.recording.n)
            code = out_usage(cmd->out, "%s: --ranks takes whole tapes", cmd->operands[i]);
        if (code != EXIT_DONE)
            return code;
    }
    return EXIT_DONE;
}

int cache_ranks_run(struct cmd *cmd, struct opt_number rows, bool json, bool strict)
{
    struct rank_times times = { 0 };
    struct err err = { 0 };
    size_t n = cmd->n_operands;
    struct tape_arg *tapes = calloc(n + 1, sizeof *tapes);
    struct trace **traces = calloc(n + 1, sizeof *traces);
    int code = tapes && traces ? open_tapes(cmd, tapes, strict)
                               : (err_nomem(&err), out_error(cmd->out, &err));
    for (size_t i = 0; code == EXIT_DONE && i < n; i++)
        traces[i] = tapes[i].trace;
    if (code == EXIT_DONE)
        code = rank_times_make(&times, traces, (uint32_t)n, &err) ? print(cmd, &times, rows, json)
                                                                  : out_error(cmd->out, &err);
    rank_times_release(&times);
    for (size_t i = 0; tapes && i < n; i++)
        tape_arg_close(&tapes[i]);
    free(tapes);
    free(traces);
    return code;
}
