#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/export/export.h"
#include "trace/base/file/output.h"
#include "trace/base/text/printable.h"
#include "trace/log/export.h"

static const struct opt options[] = {
    OPT_FLAG(0, "log", struct export_args, log, "write the log (the default)"),
    OPT_FLAG(
        0, "python", struct export_args, python,
        "write the graph that TAPE names as a Python program that needs PyTorch only: a function "
        "f, and inputs for it"),
    OPT_SIZES(
        0, "sizes", "SIZES", struct export_args, sizes,
        "with --python: use these sizes instead of the recorded ones: s77=31,s27=8, or a file "
        "with a line of s77=31 s27=8",
        .old = "set"),
    OPT_FLAG(0, "cpu", struct export_args, cpu,
             "with --python: put all tensors on the CPU, whatever device was recorded"),
    OPT_ALLOW(struct export_args, allow),
    OPT_STRING(0, "sqlite", "FILE", struct export_args, sqlite,
               "write compiles, phases, graphs, nodes, guards, symbols and more as the tables of a "
               "database of SQLite"),
    OPT_STRING(0, "jsonl", "DIR", struct export_args, jsonl,
               "write the same tables into this folder, each as a file of JSON lines (zstd)"),
    OPT_STRING('o', "output", "PATH", struct export_args, output,
               "write to this file, or for several recordings into this folder; - (the default) is "
               "standard output"),
    OPT_OVERWRITE(struct export_args, overwrite),
    OPT_STRICT(struct export_args, strict),
    OPT_END,
};

static bool to_output(void *user, struct str bytes, struct err *err)
{
    return output_write(user, bytes, err);
}

/* Writes the log of one recording into one file. */
static int export_one(struct out *out, const struct export_args *args, struct trace *trace,
                      uint32_t recording, const char *path)
{
    struct err err = { 0 }, damage = { 0 };
    struct output *output = output_open(path, args->overwrite ? OUTPUT_REPLACE : OUTPUT_NEW, &err);
    if (!output)
        return out_error(out, &err);
    struct export_sink sink = { .write = to_output, .user = output };
    bool whole = export_log(trace, recording, sink, &damage);
    /* A log with holes is kept, and the exit code reports it; every other failure removes the
     * file. */
    if (!whole && damage.kind != ERR_INPUT) {
        output_abort(output);
        return out_error(out, &damage);
    }
    if (!output_commit(output, &err))
        return out_error(out, &err);
    return whole ? EXIT_DONE : out_error(out, &damage);
}

enum { MAX_FILE_NAME = 200 };

/* Prints the file name for a recording. The recording's name may have any characters; those are
 * replaced that would lead to another folder, control a terminal, look like an option, or be
 * invalid in a file system. */
static void put_file_name(struct buf *out, struct str name)
{
    size_t at = out->n, end = at + MAX_FILE_NAME;
    printable_line(out, name);
    while (end < out->n && end > at && (out->p[end] & 0xC0) == 0x80) /* does not cut a character */
        end--;
    out->n = end < out->n ? end : out->n;
    for (size_t i = at; i < out->n; i++)
        if (out->p[i] == '/' || out->p[i] == '\\')
            out->p[i] = '_';
    if (out->n == at)
        buf_putc(out, '_');
    else if (out->p[at] == '-' || out->p[at] == '.')
        out->p[at] = '_';
}

/* Returns "DIR/rank0.log". */
static char *path_in(const char *folder, struct str name)
{
    struct buf path = BUF_INIT;
    buf_printf(&path, "%s/", folder);
    put_file_name(&path, name);
    buf_puts(&path, ".log");
    buf_putc(&path, '\0');
    if (!path.failed)
        return path.p;
    buf_release(&path);
    return NULL;
}

static int export_into(struct out *out, const struct export_args *args, struct trace *trace,
                       uint32_t recording)
{
    struct err err = { 0 };
    struct str name = trace->recordings[recording].name;
    if (trace->recordings[recording].kind != RECORDING_LOG) {
        out_note(out, "%.*s: left out, since it is not a log", STR_ARG(name));
        return EXIT_DONE;
    }
    char *path = path_in(args->output, name);
    if (!path) {
        err_nomem(&err);
        return out_error(out, &err);
    }
    int code = export_one(out, args, trace, recording, path);
    free(path);
    return code;
}

static int export_folder(struct out *out, const struct export_args *args, struct trace *trace)
{
    int code = EXIT_DONE;
    struct err err = { 0 };
    if (mkdir(args->output, 0777) != 0 && errno != EEXIST) {
        err_errno(&err, "%s", args->output);
        return out_error(out, &err);
    }
    for (uint32_t i = 0; i < trace->n_recordings; i++) {
        int one = export_into(out, args, trace, i);
        if (one != EXIT_DONE)
            code = one;
        if (one == EXIT_USAGE || one == EXIT_ENV)
            break;
    }
    return code;
}

/* Returns the only selected recording, or TRACE_NONE if there are several. */
static uint32_t only_recording(const struct tape_arg *tape)
{
    uint32_t found = TRACE_NONE;
    for (uint32_t i = 0; i < tape->trace->n_recordings; i++) {
        if (!selector_has_recording(tape->trace, &tape->selector, i))
            continue;
        if (found != TRACE_NONE)
            return TRACE_NONE;
        found = i;
    }
    return found;
}

static int export_tape(struct out *out, const struct export_args *args, struct tape_arg *tape)
{
    const char *output = args->output ? args->output : "-";
    struct buf names = BUF_INIT;
    uint32_t recording = only_recording(tape);
    if (recording != TRACE_NONE)
        return export_one(out, args, tape->trace, recording, output);
    if (strcmp(output, "-") != 0)
        return export_folder(out, args, tape->trace);
    for (uint32_t i = 0; i < tape->trace->n_recordings && i < 8; i++)
        buf_printf(&names, " @%.*s", STR_ARG(tape->trace->recordings[i].name));
    int code = out_usage(out, "export: %.*s has %u recordings; name one (%.*s ...) or -o FOLDER",
                         STR_ARG(tape->trace->path), (unsigned)tape->trace->n_recordings,
                         STR_ARG(str_trim(buf_str(&names))));
    buf_release(&names);
    return code;
}

static bool names_graph(const char *operand)
{
    struct selector selector;
    struct err err = { 0 };
    return selector_parse(&selector, str_of(operand), &err) && selector.kind.n > 0;
}

/* Returns what makes no sense together, or NULL. */
static const char *contradiction(const struct export_args *args)
{
    bool has_sizes = args->sizes.text || args->sizes.file;
    bool tables = args->sqlite || args->jsonl;
    if (args->python && args->log)
        return "--log and --python exclude each other";
    if (tables && (args->python || args->log))
        return "--sqlite and --jsonl exclude --log and --python";
    if (tables && args->output)
        return "--sqlite and --jsonl name their output themselves, and exclude --output";
    if (!args->python && has_sizes)
        return "--sizes needs --python";
    if (!args->python && args->cpu)
        return "--cpu needs --python";
    if (!args->python && args->allow)
        return "--allow needs --python";
    return NULL;
}

static int refuse_graph(struct cmd *cmd, bool tables)
{
    if (tables)
        return out_usage(cmd->out,
                         "export: %s: name a tape, a recording or a compile here, not a graph",
                         cmd->operands[0]);
    return out_usage(cmd->out,
                     "export: %s: a log is that of a whole recording; --python writes a graph, "
                     "and symtape show prints it",
                     cmd->operands[0]);
}

static int run_export(struct cmd *cmd)
{
    const struct export_args *args = cmd->args;
    struct tape_arg tape;
    bool tables = args->sqlite || args->jsonl;
    unsigned whole = args->python || tables ? 0 : TAPE_ARG_WHOLE | TAPE_ARG_RAW;
    const char *wrong = contradiction(args);
    if (wrong)
        return out_usage(cmd->out, "export: %s", wrong);
    if (!args->python && names_graph(cmd->operands[0]))
        return refuse_graph(cmd, tables);
    int code = tape_arg_open(&tape, cmd->out, cmd->operands[0],
                             whole | (args->strict ? TAPE_ARG_STRICT : 0));
    if (code == EXIT_DONE)
        code = args->python ? export_program(cmd->out, args, &tape)
               : tables     ? export_tables(cmd->out, args, &tape)
                            : export_tape(cmd->out, args, &tape);
    tape_arg_close(&tape);
    return code;
}

const struct command command_export = {
    .synopsis = "[--log] [-o PATH] [options] TAPE[@RECORDING]\n"
                "--python [options] TAPE[@RECORDING]:COMPILE[_ATTEMPT][:KIND[#I]]\n"
                "{--sqlite FILE | --jsonl DIR} [options] TAPE[@RECORDING][:COMPILE[_ATTEMPT]]",
    .description =
        "Writes the log of a recording as it was imported, byte for byte, or one of its "
        "graphs as a program, or what it holds as tables for queries (symtape-tables(5)). The log "
        "of a tape of several recordings needs @RECORDING, or -o with a folder for all of them.",
    .examples = "  symtape export --log bert.tape -o bert.log\n"
                "  symtape export dist.tape@rank1 | grep -c create_symbol\n"
                "  symtape export --python --sizes s77=31 bert.tape:0/0:forward -o forward.py\n"
                "  symtape export --sqlite bert.sqlite bert.tape\n",
    .options = options,
    .args_size = sizeof(struct export_args),
    .min_operands = 1,
    .max_operands = 1,
    .run = run_export,
};
