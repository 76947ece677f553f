#include "cmd/cli/nearest.h"
#include <unistd.h>

#include "cmd/cmd.h"
#include "trace/selector.h"

static int run_help(struct cmd *cmd)
{
    const struct command_row *row = cmd->n_operands ? command_find(cmd->operands[0]) : NULL;
    if (cmd->n_operands && !row)
        return unknown_command(cmd->out, cmd->operands[0]);
    return help_print(row, cmd->out);
}

bool names_tape(const char *word)
{
    struct selector selector;
    struct err err = { 0 };
    struct buf path = BUF_INIT;
    bool ret = strcmp(word, "-") == 0 || access(word, F_OK) == 0;
    if (!ret && selector_parse(&selector, str_of(word), &err)) {
        buf_put(&path, selector.tape);
        buf_putc(&path, '\0');
        ret = !path.failed && selector.tape.n > 0 && access(path.p, F_OK) == 0;
    }
    buf_release(&path);
    return ret;
}

int unknown_command(struct out *out, const char *name)
{
    struct nearest search = nearest_of(str_of(name));
    for (const struct command_row *row = command_table; row->name; row++)
        nearest_offer(&search, str_of(row->name));
    if (str_find_char(str_of(name), '/') < strlen(name) ||
        str_find_char(str_of(name), '.') < strlen(name))
        return out_usage(out, "%s: there is no such file or command", name);
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
