#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cli/memory_limit.h"
#include "cmd/cli/nearest.h"
#include "cmd/cli/refused_memory.h"
#include "cmd/cmd.h"

/* Options before the command: `symtape --version`, `symtape -q info T`; before a tape those of
 * `symtape diagnose` too, `symtape --all T`, and `--json` after --version. */
struct front_args {
    bool version;
};

static const struct opt front_options[] = {
    OPT_FLAG('V', "version", struct front_args, version, "print versions"),
    OPT_END,
};

/* If a standard stream is closed, a file that is opened later would take its descriptor. The stream
 * is replaced by one that cannot be used, so that writing to it is an error. */
static void reserve_standard_streams(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

static enum color_when color_of(const char *word)
{
    if (word && strcmp(word, "always") == 0)
        return COLOR_ALWAYS;
    return word && strcmp(word, "never") == 0 ? COLOR_NEVER : COLOR_AUTO;
}

/* Returns the option that one of too many operands is, without its dashes or misspelt; "" if there
 * is none. */
static struct str option_among(const struct command *command, const char *const *operands, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct nearest search = nearest_of(str_of(operands[i]));
        for (const struct opt *o = command->options; o && o->kind != OPT_KIND_END; o++)
            nearest_offer(&search, str_of(o->name));
        if (search.best.n)
            return search.best;
    }
    return STR("");
}

static int check_operands(struct out *out, const struct command_row *row,
                          const char *const *operands, size_t n)
{
    const struct command *command = row->command;
    if (n >= command->min_operands && n <= command->max_operands)
        return EXIT_DONE;
    struct str option = n > command->max_operands ? option_among(command, operands, n) : STR("");
    if (option.n)
        return out_usage(out, "%s: too many arguments; did you mean --%.*s?", row->name,
                         STR_ARG(option));
    return out_usage(out, "%s: %s; usage: symtape %s %.*s", row->name,
                     n < command->min_operands ? "an argument is missing" : "too many arguments",
                     row->name, (int)strcspn(command->synopsis, "\n"), command->synopsis);
}

static int usage_error(struct out *out, const struct command_row *row, struct err *err)
{
    if (row)
        err_at(err, "%s", row->name);
    return out_error(out, err);
}

/* Returns whether the options ask for data that other programs read, in lines of any length. */
static bool is_for_programs(const struct command *command, const void *args)
{
    static const char *const NAMES[] = { "json", "format", "save" };
    for (size_t i = 0; command->options && i < sizeof NAMES / sizeof *NAMES; i++) {
        const struct opt *opt = opt_find(command->options, NAMES[i]);
        if (opt && opt_is_given(opt, args))
            return true;
    }
    return false;
}

/* Parses the arguments after "symtape NAME" and runs the command. */
static int parse_and_run(struct out *out, const struct command_row *row, struct common_args common,
                         int argc, const char *const *argv)
{
    const struct command *command = row->command;
    struct err err = { 0 };
    struct memory_limit limit;
    void *args = calloc(1, command->args_size ? command->args_size : 1);
    const struct opt_target targets[] = { { command->options, args },
                                          { common_options, &common },
                                          { command->unlisted, args } };
    struct opt_parse parse = { .options_first = command->options_first,
                               .targets = targets,
                               .n_targets = 3 };
    int code;
    if (!args)
        err_nomem(&err);
    if (!args || !opt_parse(&parse, argc, argv, &err)) {
        code = usage_error(out, row, &err);
    } else {
        out_init(out, stdout, stderr, color_of(common.color));
        out->quiet = common.quiet;
        out->exact = is_for_programs(command, args);
        memory_limit_begin(&limit, common.big);
        limit.refused = refused_memory();
        out->limit = &limit;
        code = common.help ? help_print(row, out)
                           : check_operands(out, row, parse.operands.v, parse.operands.n);
        if (!common.help && code == EXIT_DONE)
            code = command->run(&(struct cmd){ command, out, args, parse.operands.v,
                                               parse.operands.n, parse.dashes });
    }
    if (args)
        opt_release(&parse);
    free(args);
    out->limit = NULL;
    return code;
}

/* Returns the first option that was given, or NULL if there is none. */
static const struct opt *first_given(const struct opt *options, const void *args)
{
    for (const struct opt *o = options; o->kind != OPT_KIND_END; o++)
        if (opt_is_given(o, args))
            return o;
    return NULL;
}

/* Runs the command that the first operand names, or `symtape diagnose` if it names a tape.
 * `diagnose_args` has the options in front of it that only the latter takes. */
static int run_named(struct out *out, struct common_args common, const void *diagnose_args,
                     const struct opt_parse *parse, int argc, const char *const *argv)
{
    const char *name = parse->operands.v[0];
    const struct command_row *row = command_find(name), *diagnose = command_find("diagnose");
    const struct opt *early = first_given(diagnose->command->options, diagnose_args);
    if (!row && names_tape(name))
        return parse_and_run(out, diagnose, (struct common_args){ 0 }, argc, argv);
    if (!row)
        return unknown_command(out, name);
    if (early && row->command->options && opt_find(row->command->options, early->name))
        return out_usage(out, "--%s goes behind the command: symtape %s --%s ...", early->name,
                         name, early->name);
    if (early)
        return out_usage(out, "%s has no option --%s; symtape %s --help lists its options", name,
                         early->name, name);
    return parse_and_run(out, row, common, (int)parse->operands.n - 1, parse->operands.v + 1);
}

/* Reports options that cannot be parsed; those of a command may stand in front of it. */
static int front_error(struct out *out, int argc, const char *const *argv, const struct err *err)
{
    for (int i = 0; err->kind == ERR_USAGE && i < argc; i++)
        if (command_find(argv[i]))
            return out_usage(out, "%.*s; options of a command go behind it: symtape %s ...",
                             (int)strcspn(err->text, ";"), err->text, argv[i]);
    return out_error(out, err);
}

static int dispatch(struct out *out, int argc, const char *const *argv)
{
    const struct command *diagnose = command_find("diagnose")->command;
    struct front_args front = { 0 };
    struct common_args common = { 0 };
    struct err err = { 0 };
    void *args = calloc(1, diagnose->args_size);
    const struct opt_target targets[] = { { front_options, &front },
                                          { common_options, &common },
                                          { diagnose->options, args } };
    struct opt_parse parse = { .options_first = true, .targets = targets, .n_targets = 3 };
    int code;
    if (!args)
        err_nomem(&err);
    if (!args || !opt_parse(&parse, argc, argv, &err)) {
        code = front_error(out, argc, argv, &err);
    } else if (common.help) {
        code = help_print(parse.operands.n ? command_find(parse.operands.v[0]) : NULL, out);
    } else if (front.version) {
        const char *const json[] = { "--json" };
        const struct opt *given = first_given(diagnose->options, args);
        bool is_json = given && strcmp(given->name, "json") == 0;
        code = parse_and_run(out, command_find("version"), common, is_json, json);
    } else if (parse.operands.n == 0) {
        code = out_usage(out, "a command is missing; symtape help lists them");
    } else {
        code = run_named(out, common, args, &parse, argc, argv);
    }
    if (args)
        opt_release(&parse);
    free(args);
    return code;
}

/* A command runs once and ends, and soon allocates again what it freed. Returning memory to the
 * system in between costs a page fault for each 4 KiB, a third of the time of `symtape profile`.
 * Only blocks above this size are returned: windows of zstd, one for each input, would
 * accumulate. */
static void keep_freed_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 8 << 20);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_TOP_PAD, 4 << 20);
#endif
}

/* A file that must not grow (ulimit -f) is an error of write(), and must not end the process. This
 * is a handler and not SIG_IGN, which programs that are started would inherit. */
static void file_too_large(int number)
{
    (void)number;
}

static void handle_file_size_limit(void)
{
    struct sigaction before, now = { .sa_handler = file_too_large, .sa_flags = SA_RESTART };
    if (sigaction(SIGXFSZ, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGXFSZ, &now, NULL);
}

int main(int argc, char **argv)
{
    struct out out;
    handle_file_size_limit();
    keep_freed_memory();
    reserve_standard_streams();
    out_init(&out, stdout, stderr, COLOR_AUTO);
    int code = argc > 0 ? dispatch(&out, argc - 1, (const char *const *)argv + 1) : EXIT_USAGE;
    return out_finish(&out, code);
}
