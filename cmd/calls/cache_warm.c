#include "cmd/calls/cache_warm.h"

#include "profile/calls/warm/warm_report.h"

/* Returns the recording that the operand names, or all, if there are several. */
static uint32_t recordings_of(const struct tape_arg *tape)
{
    bool all = !tape->selector.recording.n && tape->trace->n_recordings > 1;
    return all ? TRACE_NONE : calls_arg_recording(tape);
}

int cache_warm_run(struct cmd *cmd, const struct tape_arg tapes[2], struct opt_number rows,
                   bool json)
{
    struct warm_start starts = { 0 };
    struct buf report = BUF_INIT, exact = BUF_INIT;
    struct err err = { 0 };
    if (!warm_start_make(&starts, tapes[0].trace, recordings_of(&tapes[0]), tapes[1].trace,
                         recordings_of(&tapes[1]), &err)) {
        warm_start_release(&starts);
        return out_error(cmd->out, &err);
    }
    const struct report_options how = calls_report_options(cmd, rows);
    if (json)
        warm_json(&starts, &exact);
    else
        warm_text(&starts, &how, &report);
    int code = calls_print(cmd, &report, &exact);
    bool again = starts.counts[WARM_AGAIN];
    warm_start_release(&starts);
    return code == EXIT_DONE && again ? EXIT_DIFFERS : code;
}
