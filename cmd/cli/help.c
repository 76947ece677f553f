#include "cmd/cmd.h"
#include "profile/model/format.h"

enum { HELP_COLUMNS = 80, SUMMARY_AT = 16 };

/* Prints "Usage: symtape info [options] TAPE..."; further forms are printed below the first. */
static void put_synopsis(const struct command_row *row, unsigned width, struct buf *out)
{
    const char *lead = "Usage: ";
    struct str rest = str_of(row->command->synopsis);
    while (rest.n) {
        struct str form = str_first(rest, str_find_char(rest, '\n'));
        char words[200];
        rest = str_from(rest, form.n + 1);
        snprintf(words, sizeof words, "symtape %s %.*s", row->name, STR_ARG(form));
        buf_puts(out, lead);
        format_wrapped(out, str_of(words), width, strlen(lead), strlen("Usage: symtape "));
        lead = "       ";
    }
}

static void put_command_help(const struct command_row *row, unsigned width, struct buf *out)
{
    const struct command *command = row->command;
    put_synopsis(row, width, out);
    buf_putc(out, '\n');
    format_wrapped(out, str_of(command->description), width, 0, 0);
    if (command->options && command->options->kind != OPT_KIND_END) {
        buf_puts(out, "\nOptions:\n");
        opt_help(command->options, width, out);
    }
    buf_puts(out, "\nCommon options:\n");
    opt_help(common_options, width, out);
    if (command->examples)
        buf_printf(out, "\nExamples:\n%s", command->examples);
    buf_printf(out, "\nmore: man symtape-%s\n", row->name);
}

static void put_overview(unsigned width, struct buf *out)
{
    static const char WHAT[] =
        "Records what PyTorch's compiler does with dynamic shapes, replays it without PyTorch, and "
        "reports where time, guards and operators come from.";
    static const char TAPES[] =
        "A TAPE may also be a TORCH_TRACE log (plain, .zst, .gz), a folder of logs, a .pt2 "
        "archive, or - for standard input.";
    buf_puts(out, "Usage: symtape COMMAND [options] ...\n       symtape COMMAND --help | --version "
                  "[--json]\n\n");
    format_wrapped(out, STR(WHAT), width, 0, 0);
    buf_puts(out, "\nCommands:\n");
    for (const struct command_row *row = command_table; row->name; row++) {
        buf_printf(out, "  %-13s ", row->name);
        format_wrapped(out, str_of(row->summary), width, SUMMARY_AT, SUMMARY_AT);
    }
    buf_putc(out, '\n');
    format_wrapped(out, STR(TAPES), width, 0, 0);
    buf_puts(out, "\nmore: man symtape\n");
}

int help_print(const struct command_row *row, struct out *out)
{
    unsigned width = out->width > 0 && out->width < HELP_COLUMNS ? out->width : HELP_COLUMNS;
    struct buf text = BUF_INIT;
    if (row)
        put_command_help(row, width, &text);
    else
        put_overview(width, &text);
    int code = out_buf(out, &text);
    buf_release(&text);
    return code;
}
