#include "cmd/profile/profiled.h"

#include <stdlib.h>
#include <unistd.h>

static int open_profiled_tape(struct cmd *cmd, const char *operand, bool strict,
                              struct tape_arg *tape)
{
    int code =
        tape_arg_open(tape, cmd->out, operand, TAPE_ARG_FAILURES | (strict ? TAPE_ARG_STRICT : 0));
    if (code != EXIT_DONE)
        return code;
    const struct selector *selector = &tape->selector;
    if (selector->kind.n)
        return out_usage(cmd->out, "%s: name a tape, a recording or a compile here, not a graph",
                         operand);
    if (cmd->n_operands > 1 && (selector->recording.n || selector->compile.n))
        return out_usage(cmd->out,
                         "%s: of several tapes each is read whole; name one tape, or use "
                         "--recording and --compile",
                         operand);
    return EXIT_DONE;
}

int profiled_open(struct profiled *profiled, struct cmd *cmd, bool strict)
{
    struct err err = { 0 };
    int code = EXIT_DONE;
    profiled->n = cmd->n_operands;
    profiled->tapes = calloc(profiled->n, sizeof *profiled->tapes);
    profiled->traces = calloc(profiled->n, sizeof *profiled->traces);
    if (!profiled->tapes || !profiled->traces) {
        err_nomem(&err);
        code = out_error(cmd->out, &err);
    }
    for (size_t i = 0; i < profiled->n && code == EXIT_DONE; i++) {
        code = open_profiled_tape(cmd, cmd->operands[i], strict, &profiled->tapes[i]);
        profiled->traces[i] = profiled->tapes[i].trace;
    }
    return code;
}

bool profiled_select(struct profiled *profiled, struct profile_options *what, struct err *err)
{
    const struct selector *only = &profiled->tapes[0].selector;
    if (profiled->n > 1)
        return true;
    if (only->recording.n)
        what->recording = only->recording;
    if (only->compile.n == 0)
        return true;
    buf_put(&profiled->compile, only->compile);
    if (only->attempt >= 0)
        buf_printf(&profiled->compile, "_%lld", (long long)only->attempt);
    what->compile = buf_str(&profiled->compile);
    return !profiled->compile.failed || err_nomem(err);
}

void profiled_close(struct profiled *profiled)
{
    for (size_t i = 0; profiled->tapes && i < profiled->n; i++)
        tape_arg_close(&profiled->tapes[i]);
    free(profiled->tapes);
    free(profiled->traces);
    buf_release(&profiled->compile);
}

uint32_t profiled_jobs(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 && n < 1024 ? (uint32_t)n : 1;
}
