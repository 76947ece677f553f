#include "cmd/inputs/program_calls.h"

#include <stdlib.h>

#include "profile/calls/cache/cache_run.h"

bool program_calls_read(struct program_calls *ret, struct cmd *cmd, const struct tape_arg *tape,
                        const char *path, struct err *err)
{
    const struct cache_options options = { 0 };
    const struct trace *trace = tape->trace;
    ret->recording = calls_arg_recording(tape);
    if (ret->recording >= trace->n_recordings ||
        trace->recordings[ret->recording].kind != RECORDING_LOG)
        return !path || err_set(err, ERR_USAGE, "--calls: there are no compiles");
    if (!(path ? calls_arg_read(cmd->out, path, &ret->log, err)
               : calls_arg_recorded(cmd->out, tape->trace, ret->recording, &ret->log, err)))
        return false;
    if (!ret->log.calls.n)
        return true;
    ret->run = calloc(1, sizeof *ret->run);
    return ret->run
               ? cache_run_make(ret->run, tape->trace, ret->recording, &ret->log, &options, err)
               : err_nomem(err);
}

void program_calls_release(struct program_calls *calls)
{
    if (calls->run)
        cache_run_release(calls->run);
    free(calls->run);
    call_log_release(&calls->log);
}

/* Returns the code object of a compile's function, or CALL_NONE. */
static uint32_t code_of(const struct program_calls *calls, struct str compile)
{
    for (size_t i = 0; i < calls->run->entries.n; i++)
        if (compile_same_function(calls->run->entries.v[i].compile, compile))
            return calls->run->entries.v[i].code;
    return CALL_NONE;
}

bool program_calls_count(const struct program_calls *calls, struct str compile,
                         struct form_count **ret, struct err *err)
{
    const struct call_log *log = &calls->log;
    uint32_t code = calls->run ? code_of(calls, compile) : CALL_NONE;
    *ret = NULL;
    if (code == CALL_NONE)
        return true;
    *ret = calloc((size_t)log->n_forms + 1, sizeof **ret);
    if (!*ret)
        return err_nomem(err);
    for (size_t i = 0; i < calls->run->lookups.n; i++) {
        const struct lookup_row *row = &calls->run->lookups.v[i];
        if (row->code != code || row->call >= log->calls.n)
            continue;
        struct form_count *form = &(*ret)[log->calls.v[row->call].form];
        if (!form->times++)
            form->call = row->call;
    }
    return true;
}
