#include "cmd/cmd.h"
#include "profile/model/format.h"

/* Prints "Usage: symtape info [options] TAPE..."; further forms are printed below the first. */
static void synopsis(const struct command_row *row, struct buf *out)
{
    const char *lead = "Usage: ";
    struct str rest = str_of(row->command->synopsis);
    while (rest.n) {
        struct str form = str_first(rest, str_find_char(rest, '\n'));
        char words[200];
        rest = str_from(rest, form.n + 1);
        snprintf(words, sizeof words, "symtape %s %.*s", row->name, STR_ARG(form));
        buf_puts(out, lead);
        format_wrapped(out, str_of(words), OPT_HELP_COLUMNS, strlen(lead),
                       strlen("Usage: symtape "));
        lead = "       ";
    }
}

void help_of_command(const struct command_row *row, struct buf *out)
{
    const struct command *command = row->command;
    synopsis(row, out);
    buf_putc(out, '\n');
    format_wrapped(out, str_of(command->description), OPT_HELP_COLUMNS, 0, 0);
    if (command->options && command->options->kind != OPT_KIND_END) {
        buf_puts(out, "\nOptions:\n");
        opt_help(command->options, out);
    }
    buf_puts(out, "\nCommon options:\n");
    opt_help(common_options, out);
    if (command->examples)
        buf_printf(out, "\nExamples:\n%s", command->examples);
    buf_printf(out, "\nmore: man symtape-%s\n", row->name);
}

void help_overview(struct buf *out)
{
    buf_puts(out,
             "Usage: symtape COMMAND [options] ...\n       symtape COMMAND --help | --version "
             "[--json]\n\nRecords what PyTorch's compiler does with dynamic shapes, replays it "
             "without\nPyTorch, and reports where time, guards and operators come "
             "from.\n\nCommands:\n");
    for (const struct command_row *row = command_table; row->name; row++)
        buf_printf(out, "  %-13s %s\n", row->name, row->summary);
    buf_puts(out, "\nA TAPE may also be a TORCH_TRACE log (plain, .zst, .gz), a folder of logs, a\n"
                  ".pt2 archive, or - for standard input.\n"
                  "\nmore: man symtape\n");
}
