#include "cmd/cli/nearest.h"
#include "cmd/cmd.h"

static int run_help(struct cmd *cmd)
{
    struct buf text = BUF_INIT;
    const struct command_row *row = cmd->n_operands ? command_find(cmd->operands[0]) : NULL;
    if (cmd->n_operands && !row)
        return unknown_command(cmd->out, cmd->operands[0]);
    if (row)
        help_of_command(row, &text);
    else
        help_overview(&text);
    int code = out_buf(cmd->out, &text);
    buf_release(&text);
    return code;
}

int unknown_command(struct out *out, const char *name)
{
    struct nearest search = nearest_of(str_of(name));
    for (const struct command_row *row = command_table; row->name; row++)
        nearest_offer(&search, str_of(row->name));
    if (search.best.n)
        return out_usage(out, "unknown command \"%s\"; did you mean \"%.*s\"?", name,
                         STR_ARG(search.best));
    return out_usage(out, "unknown command \"%s\"; symtape help lists them", name);
}

const struct command command_help = {
    .synopsis = "[COMMAND]",
    .description = "Explains how to use a command, or lists the commands.",
    .max_operands = 1,
    .run = run_help,
};
