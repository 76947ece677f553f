#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <unistd.h>

#include "cmd/cli/memory_limit.h"
#include "cmd/cli/tape_arg.h"
#include "cmd/cmd.h"
#include "cmd/record/record.h"
#include "trace/base/clock.h"
#include "trace/base/file/output.h"
#include "trace/log/redact/redact.h"
#include "trace/record/deep_install.h"

struct record_args {
    const char *output, *grace, *deep, *process;
    bool overwrite, redact, calls, expensive, keep_logs, json;
};

static const struct opt options[] = {
    OPT_STRING('o', "output", "TAPE", struct record_args, output,
               "write the tape here (default: record.tape)"),
    OPT_OVERWRITE(struct record_args, overwrite),
    OPT_REDACT(struct record_args, redact),
    OPT_FLAG('c', "calls", struct record_args, calls,
             "also note each call of a compiled function (symtape cache)"),
    OPT_OPTIONAL(0, "deep", "LEVEL", struct record_args, deep,
                 "also record what the log lacks: counts, graphs or all (default)"),
    OPT_FLAG(0, "expensive", struct record_args, expensive,
             "record every expression and guard in full (TORCH_DTRACE): slow"),
    OPT_FLAG(0, "keep-logs", struct record_args, keep_logs,
             "keep the logs, and print where they are"),
    OPT_STRING(0, "grace", "MS", struct record_args, grace,
               "wait this long for processes that outlive CMD (default: 2000)"),
    OPT_FLAG(0, "json", struct record_args, json,
             "print one JSON object, the last line of standard output"),
    OPT_STRING(0, "process", "PID", struct record_args, process,
               "run no CMD: pack what process PID logs to a folder that is printed"),
    OPT_END,
};

/* The output is checked before the program runs, which may take hours. */
static bool check_output(const struct record_args *args, const char *tape, struct err *err)
{
    if (str_is(str_of(tape), "-"))
        return err_set(err, ERR_USAGE,
                       "record: -o - is not possible: standard output belongs "
                       "to the program");
    struct output *output = output_open(tape, args->overwrite ? OUTPUT_REPLACE : OUTPUT_NEW, err);
    output_abort(output);
    return output != NULL;
}

static bool read_grace(const char *text, unsigned *ret, struct err *err)
{
    enum { DAY_MS = 24 * 60 * 60 * 1000 };
    uint64_t ms = RECORD_GRACE_MS;
    if (text && (!str_to_u64(str_of(text), &ms) || ms > DAY_MS))
        return err_set(err, ERR_USAGE,
                       "record: --grace: \"%s\" is not a number of milliseconds "
                       "of at most a day",
                       text);
    *ret = (unsigned)ms;
    return true;
}

static bool read_process(const char *text, pid_t *ret, struct err *err)
{
    uint64_t pid = 0;
    if (text && (!str_to_u64(str_of(text), &pid) || pid == 0 || pid > INT_MAX))
        return err_set(err, ERR_USAGE, "record: --process: \"%s\" is not the number of a process",
                       text);
    *ret = (pid_t)pid;
    return true;
}

static bool read_level(const char *given, const char **ret, struct err *err)
{
    *ret = given && !*given ? "all" : given;
    if (*ret && !deep_level_is(*ret))
        return err_set(err, ERR_USAGE, "record: --deep: \"%s\" is not one of counts, graphs, all",
                       given);
    return true;
}

static bool read_recording_cost(struct record_report *report, struct err *err)
{
    struct trace *trace = trace_open(report->tape, NULL, err);
    report->counted = trace && record_cost_read(trace, &report->cost, err) &&
                      (!report->level || record_deep_read(trace, &report->deep, err)) &&
                      (!report->calls || call_totals_read(trace, &report->noted, err));
    bool ok = report->counted && record_diagnose(report, trace, err);
    trace_close(trace);
    return ok;
}

/* If packing fails, the logs are the only copy of the recording, so they are kept. */
static bool pack_recording(struct record_report *report, const struct record_args *args,
                           const char *const *argv, struct err *err)
{
    char host[256] = "";
    const struct passwd *user = args->redact ? getpwuid(getuid()) : NULL;
    (void)gethostname(host, sizeof host - 1);
    const struct redact_known known = { .environment = (const char *const *)environ,
                                        .command = argv,
                                        .set = buf_str(&report->run.set),
                                        .user = user ? user->pw_name : NULL,
                                        .host = host };
    const struct import_options import = { .overwrite = args->overwrite,
                                           .redact = args->redact,
                                           .known = &known };
    struct record_run *run = &report->run;
    uint64_t began = clock_ns();
    size_t n = run->n_logs + run->n_sides;
    if (n == 0)
        return true;
    report->packed = import_paths((const char *const *)run->logs, n, report->tape, &import,
                                  &report->import, err);
    report->pack_ns = clock_ns() - began;
    run->keep_logs |= !report->packed;
    return report->packed && read_recording_cost(report, err);
}

/* A process that runs already gets to know its folder by a line of standard output. When it has
 * been killed, nobody reads what else is printed, and that must not end us. */
static bool record_running(struct record_report *report, const struct record_options *how,
                           pid_t process, struct err *err)
{
    if (!record_begin(how, &report->run, err))
        return false;
    signal(SIGPIPE, SIG_IGN);
    record_print_folder(report);
    return record_wait(process, STDIN_FILENO, how, &report->run, err);
}

/* A Python program without #!, or that is not on the PATH, is run by python. */
static void err_suggest_python(const char *program, struct err *err)
{
    *err = (struct err){ 0 };
    err_set(err, ERR_USAGE, "cannot run %s; did you mean: symtape record -- python %s?", program,
            program);
}

/* Returns the exit status of the program, or our own if the program succeeded and we failed. */
static int run_and_pack(struct record_report *report, const struct record_args *args,
                        const struct record_options *how, pid_t process, const char *const *argv)
{
    struct err err = { 0 };
    int code = EXIT_DONE;
    bool ran = process ? record_running(report, how, process, &err)
                       : record_run(argv, how, &report->run, &err);
    if (!ran && !process && err.kind == ERR_USAGE && tape_is_program(argv[0]))
        err_suggest_python(argv[0], &err);
    if (!ran || !pack_recording(report, args, argv, &err))
        code = out_error(report->out, &err);
    if (ran) {
        record_note_text(report);
        int printed = args->json ? record_print_json(report) : EXIT_DONE;
        code = code == EXIT_DONE ? printed : code;
    }
    err = (struct err){ 0 };
    if (!record_finish(&report->run, &err))
        code = out_error(report->out, &err);
    import_result_release(&report->import);
    record_deep_release(&report->deep);
    call_totals_release(&report->noted);
    buf_release(&report->diagnosis);
    return report->run.end.status != 0 ? report->run.end.status : code;
}

static int run_record(struct cmd *cmd)
{
    const struct record_args *args = cmd->args;
    struct record_report report = { .out = cmd->out,
                                    .tape = args->output ? args->output : "record.tape" };
    struct record_options how = { .expensive = args->expensive,
                                  .keep_logs = args->keep_logs,
                                  .calls = args->calls,
                                  .redact = args->redact };
    struct err err = { 0 };
    pid_t process = 0;
    if (cmd->n_operands == 0 && !args->process)
        return out_usage(cmd->out, "record: an argument is missing; usage: symtape record %s",
                         command_record.synopsis);
    if (!read_process(args->process, &process, &err) ||
        !read_grace(args->grace, &how.grace_ms, &err) || !read_level(args->deep, &how.deep, &err) ||
        !check_output(args, report.tape, &err))
        return out_error(cmd->out, &err);
    report.level = how.deep;
    report.calls = how.calls || how.deep;
    memory_limit_end(cmd->out->limit); /* CMD would inherit it */
    return run_and_pack(&report, args, &how, process, cmd->operands);
}

const struct command command_record = {
    .synopsis = "[options] [--] CMD [ARG...]",
    .description = "Runs CMD with PyTorch's compile log switched on (TORCH_TRACE) and packs what "
                   "every process of it logged into a tape, also when CMD fails, is killed or "
                   "interrupted. Streams, signals and the exit status are CMD's own.",
    .examples = "  symtape record -o bert.tape -- python train.py\n"
                "  symtape record --calls -o bert.tape -- python train.py\n"
                "  symtape record --deep -o bert.tape -- python train.py\n"
                "  symtape record -o dist.tape -- torchrun --nproc-per-node 2 train.py\n",
    .options = options,
    .args_size = sizeof(struct record_args),
    .max_operands = OPERANDS_ANY,
    .options_first = true,
    .run = run_record,
};
