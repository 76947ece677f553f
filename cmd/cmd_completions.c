#include "cmd/cmd.h"

/* Prints completion scripts, generated from the tables of commands and options. The shell
 * completes file names: every operand and every value that is not a choice is one. */

/* Prints the words of an option for the shell: "--output -o". */
static void option_words(const struct opt *options, struct buf *out)
{
    for (const struct opt *o = options; o && o->kind != OPT_KIND_END; o++) {
        buf_printf(out, " --%s", o->name);
        if (o->letter)
            buf_printf(out, " -%c", o->letter);
    }
}

static void choice_words(const struct opt *opt, struct buf *out)
{
    const char *rest = opt->value;
    for (const char *lead = ""; *rest; lead = " ") {
        struct str word = opt_next_word(&rest);
        buf_printf(out, "%s%.*s", lead, STR_ARG(word));
    }
}

static void command_words(struct buf *out)
{
    for (const struct command_row *row = command_table; row->name; row++)
        buf_printf(out, "%s%s", row == command_table ? "" : " ", row->name);
}

static void bash_choices(const char *command, const struct opt *options, struct buf *out)
{
    for (const struct opt *o = options; o && o->kind != OPT_KIND_END; o++) {
        if (o->kind != OPT_KIND_CHOICE)
            continue;
        buf_printf(out, "    %s' --%s') COMPREPLY=($(compgen -W '", command, o->name);
        choice_words(o, out);
        buf_puts(out, "' -- \"$word\")); return ;;\n");
    }
}

static void bash(struct buf *out)
{
    buf_puts(out, "# bash completion of symtape; made by: symtape completions bash\n"
                  "_symtape() {\n"
                  "    local word=${COMP_WORDS[COMP_CWORD]} command= i\n"
                  "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                  "        case ${COMP_WORDS[i]} in\n"
                  "        -*) ;;\n"
                  "        *) command=${COMP_WORDS[i]}; break ;;\n"
                  "        esac\n"
                  "    done\n"
                  "    case $command' '${COMP_WORDS[COMP_CWORD - 1]} in\n");
    for (const struct command_row *row = command_table; row->name; row++)
        bash_choices(row->name, row->command->options, out);
    bash_choices("*", common_options, out);
    buf_puts(out, "    esac\n    case $command in\n    '') COMPREPLY=($(compgen -W '");
    command_words(out);
    buf_puts(out, " --help --version' -- \"$word\")); return ;;\n"
                  "    help) COMPREPLY=($(compgen -W '");
    command_words(out);
    buf_puts(out,
             "' -- \"$word\")); return ;;\n"
             "    completions) COMPREPLY=($(compgen -W 'bash zsh fish' -- \"$word\")); return ;;\n"
             "    esac\n"
             "    [[ $word == -* ]] || { COMPREPLY=($(compgen -f -- \"$word\")); return; }\n"
             "    case $command in\n");
    for (const struct command_row *row = command_table; row->name; row++) {
        buf_printf(out, "    %s) COMPREPLY=($(compgen -W '", row->name);
        option_words(row->command->options, out);
        option_words(common_options, out);
        buf_puts(out, "' -- \"$word\")) ;;\n");
    }
    buf_puts(out, "    esac\n}\ncomplete -o filenames -F _symtape symtape\n");
}

/* Prints text inside single quotes; characters that are special in zsh's descriptions are escaped,
 * too. */
static void quoted(struct buf *out, const char *text, const char *specials)
{
    for (const char *p = text; *p; p++) {
        if (*p == '\'')
            buf_puts(out, "'\\'");
        else if (strchr(specials, *p))
            buf_putc(out, '\\');
        buf_putc(out, *p);
    }
}

/* Prints '(-o --output)'{-o,--output}'[write the tape here]:TAPE:_files'. */
static void zsh_options(const struct opt *options, struct buf *out)
{
    for (const struct opt *o = options; o && o->kind != OPT_KIND_END; o++) {
        const char *equals = o->kind == OPT_KIND_OPTIONAL ? "=-" : "";
        if (o->letter)
            buf_printf(out, "            '(-%c --%s)'{-%c,--%s}'[", o->letter, o->name, o->letter,
                       o->name);
        else
            buf_printf(out, "            '--%s%s[", o->name, equals);
        quoted(out, o->help, "[]:\\");
        buf_putc(out, ']');
        if (o->kind == OPT_KIND_CHOICE) {
            buf_printf(out, ":%s:(", o->name);
            choice_words(o, out);
            buf_putc(out, ')');
        } else if (opt_takes_value(o) || o->kind == OPT_KIND_OPTIONAL) {
            buf_printf(out, "%s:", o->kind == OPT_KIND_OPTIONAL ? ":" : "");
            quoted(out, o->value, "[]:\\");
            buf_puts(out, ":_files");
        }
        buf_puts(out, "' \\\n");
    }
}

static void zsh(struct buf *out)
{
    buf_puts(out,
             "#compdef symtape\n# zsh completion of symtape; made by: symtape completions zsh\n"
             "_symtape() {\n    local -a commands=(\n");
    for (const struct command_row *row = command_table; row->name; row++) {
        buf_printf(out, "        '%s:", row->name);
        quoted(out, row->summary, ":\\");
        buf_puts(out, "'\n");
    }
    buf_puts(out, "    )\n    if ((CURRENT == 2)); then\n        _describe command commands\n"
                  "        return\n    fi\n    local command=$words[2]\n    shift words\n"
                  "    ((CURRENT--))\n    case $command in\n"
                  "    help) _describe command commands ;;\n"
                  "    completions) _values shell bash zsh fish ;;\n");
    for (const struct command_row *row = command_table; row->name; row++) {
        if (!row->command->options)
            continue;
        buf_printf(out, "    %s)\n        _arguments -s \\\n", row->name);
        zsh_options(row->command->options, out);
        zsh_options(common_options, out);
        buf_puts(out, "            '*:file:_files'\n        ;;\n");
    }
    buf_puts(out, "    esac\n}\n_symtape \"$@\"\n");
}

static void fish_options(const char *condition, const struct opt *options, struct buf *out)
{
    for (const struct opt *o = options; o && o->kind != OPT_KIND_END; o++) {
        buf_printf(out, "complete -c symtape%s -l %s", condition, o->name);
        if (o->letter)
            buf_printf(out, " -s %c", o->letter);
        if (o->kind == OPT_KIND_CHOICE) {
            buf_puts(out, " -xa '");
            choice_words(o, out);
            buf_putc(out, '\'');
        } else if (opt_takes_value(o)) {
            buf_puts(out, " -r");
        }
        buf_puts(out, " -d '");
        quoted(out, o->help, "\\");
        buf_puts(out, "'\n");
    }
}

static void fish(struct buf *out)
{
    buf_puts(out, "# fish completion of symtape; made by: symtape completions fish\n");
    for (const struct command_row *row = command_table; row->name; row++) {
        buf_printf(out, "complete -c symtape -n __fish_use_subcommand -f -a %s -d '", row->name);
        quoted(out, row->summary, "\\");
        buf_puts(out, "'\n");
    }
    buf_puts(out, "complete -c symtape -n '__fish_seen_subcommand_from help' -f -a '");
    command_words(out);
    buf_puts(out, "'\ncomplete -c symtape -n '__fish_seen_subcommand_from completions' -f "
                  "-a 'bash zsh fish'\n");
    fish_options("", common_options, out);
    for (const struct command_row *row = command_table; row->name; row++) {
        char condition[80];
        snprintf(condition, sizeof condition, " -n '__fish_seen_subcommand_from %s'", row->name);
        fish_options(condition, row->command->options, out);
    }
}

static int run_completions(struct cmd *cmd)
{
    static const struct {
        const char *name;
        void (*write)(struct buf *out);
    } shells[] = { { "bash", bash }, { "zsh", zsh }, { "fish", fish } };
    cmd->out->exact = true;
    for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++) {
        struct buf text = BUF_INIT;
        if (strcmp(cmd->operands[0], shells[i].name) != 0)
            continue;
        shells[i].write(&text);
        int code = out_buf(cmd->out, &text);
        buf_release(&text);
        return code;
    }
    return out_usage(cmd->out, "completions: \"%s\" is not one of bash, zsh, fish",
                     cmd->operands[0]);
}

const struct command command_completions = {
    .synopsis = "bash|zsh|fish",
    .description = "Prints the completion script of a shell. An installation of symtape "
                   "includes these scripts.",
    .examples = "  source <(symtape completions bash)\n",
    .min_operands = 1,
    .max_operands = 1,
    .run = run_completions,
};
