/* The cmd room's manual: commands, and what they have in common.
 *
 * A command is a file, cmd_NAME.c, or a folder with that file and others: a struct for its options,
 * a table that describes them (cmd/cli/opt.h), a `run` function, and one `const struct command`. It
 * parses nothing itself, calls a library, and prints through struct out (cmd/cli/out.h). The table
 * COMMANDS gives dispatch, `symtape help` and the shell completions.
 *
 * Adding a command: a row in COMMANDS, cmd/cmd_NAME.c in cmd/meson.build, man/symtape-NAME.1.scd in
 * man/meson.build, a section in README.md. tests/help.sh finds whatever was forgotten.
 *
 *     struct info_args { bool json; };
 *     static const struct opt options[] = { OPT_JSON(struct info_args, json), OPT_END };
 *     static int run(struct cmd *cmd) { const struct info_args *args = cmd->args; ... }
 *     const struct command command_info = {
 *         .synopsis = "[options] TAPE...", .description = "...", .options = options,
 *         .args_size = sizeof(struct info_args), .min_operands = 1, .max_operands = OPERANDS_ANY,
 *         .run = run,
 *     };
 */
#ifndef SYMTAPE_CMD_CMD_H
#define SYMTAPE_CMD_CMD_H

#include <stdint.h>

#include "cmd/cli/opt.h"
#include "cmd/cli/out.h"

/*  COMMAND(name, "what it does, as `symtape help` lists it") */
#define COMMANDS(COMMAND)                                                              \
    COMMAND(record, "run a program and pack what its compiles recorded into a tape")   \
    COMMAND(import, "pack logs, folders of logs and .pt2 archives into a tape")        \
    COMMAND(export, "write a log back byte for byte, or a tape as tables for SQL")     \
    COMMAND(info, "list what is on a tape: recordings, compiles, graphs, counts")      \
    COMMAND(show, "print graphs, guards, symbols and other records")                   \
    COMMAND(diagnose, "print causes and remedies of failures, recompiles, slowness")   \
    COMMAND(advise, "prove which remedies save what; write a patch of the program")    \
    COMMAND(profile, "report where compile time, operators and guards come from")      \
    COMMAND(report, "write a page to look at: one HTML file with everything")          \
    COMMAND(replay, "replay graphs with the shape engine, and compare with PyTorch")   \
    COMMAND(why, "explain why a size is a symbol, a constant, or shared")              \
    COMMAND(inputs, "list the sizes that guards tell apart; prove a range safe")       \
    COMMAND(cache, "replay Dynamo's caches over the calls of a program")               \
    COMMAND(dynamic, "replay automatic dynamic shapes, and compare policies")          \
    COMMAND(guards, "print what guards tell apart, cost, and which can go")            \
    COMMAND(validate, "prove that guards imply what was answered while tracing")       \
    COMMAND(cudagraphs, "print which CUDA graphs would be recorded, and why not")      \
    COMMAND(run, "run graphs with values, on the CPU or a GPU")                        \
    COMMAND(diff, "compare two runs: what changed, and at which user line")            \
    COMMAND(ranks, "compare the ranks of one job: which one did otherwise, and where") \
    COMMAND(dash, "print the table of benchmark suites, and what changed in them")     \
    COMMAND(collect, "collect many tapes into one database, a corpus, for query")      \
    COMMAND(query, "ask a corpus: shipped queries, and any SQL that only reads")       \
    COMMAND(each, "run a command for each of many tapes: a JSON line for each")        \
    COMMAND(merge, "join the parts that --shard made: corpora, or JSON lines")         \
    COMMAND(check, "check a tape against a baseline and limits, for CI")               \
    COMMAND(opcheck, "check operators by recorded calls, and kernels with PyTorch")    \
    COMMAND(minify, "reduce a graph that fails, and write a program that shows it")    \
    COMMAND(bisect, "find the first event after which a guard holds, or a call fails") \
    COMMAND(worker, "run checks for a symtape on another machine (--launcher)")        \
    COMMAND(rewrite, "rewrite boolean masks, so that fewer sizes depend on data")      \
    COMMAND(completions, "print a shell's completion script")                          \
    COMMAND(help, "explain how to use a command")                                      \
    COMMAND(version, "print the versions of symtape and of its libraries")

/* Exit codes (symtape(1)); the same for every command. */
enum exit_code {
    EXIT_DONE = 0,
    EXIT_DIFFERS = 1,       /* the result is negative: differs, regressed, not reproduced */
    EXIT_USAGE = 2,         /* the command line is wrong, or names something that is not on the
                             * tape */
    EXIT_INPUT = 3,         /* a file is damaged or is not what it claims to be */
    EXIT_ENV = 4,           /* I/O, memory, a missing library or device */
    EXIT_CANNOT_TELL = 125, /* git bisect's "skip" */
    EXIT_INTERRUPTED = 130, /* interrupted; the result so far was kept */
    EXIT_BROKEN_PIPE = 141, /* the reader of stdout closed it; shells report the same for SIGPIPE */
};

/* Names of the JSON documents that cmd/ writes; profile/report and profile/compare name theirs.
 * Fields may be added to one, never renamed; a change that breaks scripts is a new number. */
#define SCHEMA_INFO            "symtape.info/1"
#define SCHEMA_INFO_BACKENDS   "symtape.info.backends/1"
#define SCHEMA_SHOW            "symtape.show/1"
#define SCHEMA_RUN             "symtape.run/1"
#define SCHEMA_INPUTS          "symtape.inputs/1"
#define SCHEMA_INPUTS_COVER    "symtape.inputs.cover/1"
#define SCHEMA_OPCHECK         "symtape.opcheck/1"
#define SCHEMA_MINIFY          "symtape.minify/1"
#define SCHEMA_MINIFY_COST     "symtape.minify.cost/1"
#define SCHEMA_BISECT          "symtape.bisect/1"
#define SCHEMA_BISECT_VERSIONS "symtape.bisect.versions/1"
#define SCHEMA_REWRITE         "symtape.rewrite/1"
#define SCHEMA_VALIDATE        "symtape.validate/1"
#define SCHEMA_COLLECT         "symtape.collect/1"
#define SCHEMA_QUERY           "symtape.query/1"
#define SCHEMA_QUERY_LIST      "symtape.query.list/1"
#define SCHEMA_EACH            "symtape.each/1"
#define SCHEMA_MERGE           "symtape.merge/1"
#define SCHEMA_IMPORT          "symtape.import/1"
#define SCHEMA_RECORD          "symtape.record/1"
#define SCHEMA_RECORD_FOLDER   "symtape.record.folder/1"
#define SCHEMA_VERSION         "symtape.version/1"

#define OPERANDS_ANY SIZE_MAX

/* One run of one command: the argument of its run function. */
struct cmd {
    const struct command *command;
    struct out *out;
    const void *args;            /* the command's own options struct, filled in from argv */
    const char *const *operands; /* NULL-terminated: they can go to execvp() */
    size_t n_operands;
    bool dashes; /* a "--" ended the options */
};

struct command {
    const char *synopsis;       /* what follows "symtape NAME"; several forms are separated by \n */
    const char *description;    /* one paragraph; wrapped when printed */
    const char *examples;       /* one a line */
    const struct opt *options;  /* ends with OPT_END */
    const struct opt *unlisted; /* NULL, or further options, whose page is another command's */
    size_t args_size;           /* of the options struct */
    size_t min_operands, max_operands;
    bool options_first;          /* the first operand ends the options: the rest is CMD ARG... */
    int (*run)(struct cmd *cmd); /* returns the exit code; prints its own errors with out_error() */
};

#define COMMAND(name, summary) extern const struct command command_##name;
COMMANDS(COMMAND)
#undef COMMAND

struct command_row {
    const char *name, *summary;
    const struct command *command;
};

/* The commands in the order of COMMANDS; a row without a name ends the table. */
extern const struct command_row command_table[];
/* Returns NULL when there is no command of that name. */
const struct command_row *command_find(const char *name);
/* Returns whether a word that is no command names a tape: `symtape TAPE` diagnoses it. */
bool names_tape(const char *word);
/* Prints that there is no such command, with the nearest name; returns EXIT_USAGE. */
int unknown_command(struct out *out, const char *name);

/* Options that every command takes; each command's help lists them. */
struct common_args {
    bool help, quiet, big;
    const char *color;
};
extern const struct opt common_options[];

/* Prints the help of a command, as `symtape NAME -h` and `symtape help NAME` do, or the list of
 * commands if `row` is NULL. It is at most 80 columns wide. Returns the exit code. */
int help_print(const struct command_row *row, struct out *out);

#endif
