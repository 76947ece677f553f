#include "cmd/cmd.h"

const struct command_row command_table[] = {
#define COMMAND(name, summary) { #name, summary, &command_##name },
    COMMANDS(COMMAND)
#undef COMMAND
        { 0 },
};

const struct opt common_options[] = {
    OPT_CHOICE(0, "color", "auto|always|never", struct common_args, color,
               "color the output; auto obeys NO_COLOR, CLICOLOR_FORCE and TERM"),
    OPT_FLAG(0, "big", struct common_args, big,
             "lift the limit on the memory that input may take, 64 MiB and 40 times its size"),
    OPT_FLAG('q', "quiet", struct common_args, quiet, "print errors only, no notes"),
    OPT_FLAG('h', "help", struct common_args, help, "print this help"),
    OPT_END,
};

const struct command_row *command_find(const char *name)
{
    for (const struct command_row *row = command_table; row->name; row++)
        if (strcmp(row->name, name) == 0)
            return row;
    return NULL;
}
