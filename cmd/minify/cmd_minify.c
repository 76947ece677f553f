#include "cmd/cli/memory_limit.h"
#include "cmd/cli/search_signals.h"
#include "cmd/minify/minify.h"
#include "profile/model/format.h"

static const struct opt options[] = {
    OPT_STRING(0, "check", "CMD", struct minify_args, check,
               "a graph fails if CMD exits with 0 (1 to 124: it does not fail; 125: cannot "
               "tell; 126, 127: cannot run). CMD gets the path of the graph as FX text as its "
               "last argument; $SYMTAPE_PY names it as a program, $SYMTAPE_TAPE as a tape"),
    OPT_CHOICE(
        0, "torch-oracle", TORCH_QUESTION_WORDS, struct minify_args, torch,
        "a graph fails if PyTorch itself (that of --python) raises the same error "
        "when it compiles it or runs the result, or if the result differs from eager's; or if "
        "make_fx, torch.export or its decompositions raise the error; or (seconds) if compiling "
        "takes at least half of the processor time; with --cost, PyTorch is asked that about the "
        "whole graph and the smallest alone"),
    OPT_STRING(0, "error", "REGEX", struct minify_args, error,
               "a graph fails if symtape replay refuses a call or differs from the recording, "
               "with a message that matches REGEX (default: the failure of the whole graph)",
               .old = "expect"),
    OPT_STRING(0, "guard", "EXPR", struct minify_args, guard,
               "a graph fails if this guard is added, as in 'Eq(s27, 16)'"),
    OPT_STRING(0, "specializes", "SYMBOL", struct minify_args, specializes,
               "a graph fails if this symbol becomes a number"),
    OPT_STRING(
        0, "cost", "COST", struct minify_args, cost,
        "a graph fails if its compile takes at least N guards, dispatches, evaluations, "
        "symbolic-tensors or exprs, an expression of N nodes (expr-size), or estimated "
        "seconds, as in 'guards>=40'; a name alone, as in seconds, prints what the graph costs, "
        "by operator"),
    OPT_STRING(0, "has-ops", "OPS", struct minify_args, has_ops,
               "a graph fails if it has these calls, as in 'aten.sin, aten.cos -> aten.relu'",
               .old = "check-ops"),
    OPT_STRING(0, "backend-mismatch", "A[,B]", struct minify_args, mismatch,
               "a graph fails if its results on backend A differ from those on B (default: cpu) by "
               "more than the tolerance, first at the same operator"),
    OPT_FLAG(0, "tf32", struct minify_args, tf32,
             "with --backend-mismatch: matmuls of f32 on A may use TF32 inputs"),
    OPT_STRING(0, "torch-backend", "NAME|MODULE:NAME", struct minify_args, backend,
               "with --torch-oracle: the backend of torch.compile: a name that PyTorch knows, or "
               "MODULE:NAME of a function (default: aot_eager for compile, inductor for run and "
               "accuracy)",
               .old = "backend"),
    OPT_STRING(
        0, "python", "PYTHON", struct minify_args, python,
        "ask the PyTorch of this Python, and verify the repro with it (default: "
        "$SYMTAPE_PYTHON, or else that of CMD, or else the first python3 of $PATH that has PyTorch)"),
    OPT_STRING(0, "import", "FILE[,FILE...]", struct minify_args, import,
               "with --torch-oracle: import these Python files (FILE.py) or modules first, in "
               "programs, too"),
    OPT_STRING(
        0, "env", "NAME=VALUE[,...]", struct minify_args, env,
        "with --torch-oracle: set these environment variables before PyTorch is imported, in "
        "programs, too"),
    OPT_STRING(0, "config", "OPTION=VALUE[,...]", struct minify_args, config,
               "with --torch-oracle: set these options of PyTorch, in programs, too: "
               "inductor.max_autotune=True (inductor, dynamo, functorch, fx)"),
    OPT_CHOICE(0, "values", REPRO_VALUES_WORDS, struct minify_args, values,
               "with --torch-oracle: the values of inputs of floats (default: normal)"),
    OPT_FLAG(0, "cpu", struct minify_args, cpu,
             "with --torch-oracle: put all tensors on the CPU, whatever device was recorded"),
    OPT_STRING('o', "output", "TAPE", struct minify_args, output,
               "write the smallest graph here after every step (default: minified.tape; -: to "
               "standard output at the end)"),
    OPT_STRING(0, "repro", "FILE", struct minify_args, repro,
               "write it as a Python program that needs PyTorch only; it exits with 1 if the "
               "bug occurs, with 0 if it does not, and with 125 if it cannot run"),
    OPT_STRING(0, "issue", "FILE", struct minify_args, issue,
               "write a bug report: error, program, versions, why each part is needed"),
    OPT_ALLOW(struct minify_args, allow),
    OPT_STRING(0, "fx", "FILE", struct minify_args, fx, "write it as FX text"),
    OPT_STRING(0, "good", "FILE", struct minify_args, good,
               "write the nearest graph that does not fail, for comparison: as a program if "
               "FILE ends in .py, else as FX text"),
    OPT_FLAG(0, "anonymize", struct minify_args, anonymize,
             "replace names, user lines, paths and strings in what is written"),
    OPT_OVERWRITE(struct minify_args, overwrite),
    OPT_SIZES(
        0, "sizes", "SIZES", struct minify_args, sizes,
        "use these sizes instead of the recorded ones, if only these fail: s77=31,s27=8, or a "
        "file with a line of s77=31 s27=8",
        .old = "set"),
    OPT_NUMBER('j', "jobs", "N", struct minify_args, jobs,
               "run N checks at once (default: 1); the result is the same for any N"),
    OPT_STRING(
        0, "launcher", "LAUNCH", struct minify_args, launcher,
        "with --check or --torch-oracle: workers that this command starts, one for each job, "
        "run CMD or PyTorch, as in 'srun -N1 -n1 --gpus=1' or 'ssh HOST'; files that CMD or "
        "--import name are sent along"),
    OPT_STRING(
        0, "timeout", "TIME", struct minify_args, timeout,
        "time limit for one run of CMD or one question to PyTorch (default: ten times the "
        "first, at least 5s, or 60s for PyTorch, and at most 5m; for seconds at least 60s and "
        "twice the first)"),
    OPT_STRING(0, "deadline", "TIME", struct minify_args, deadline,
               "time limit for the whole search: 90s, 15m, 2h; the best graph so far is kept"),
    OPT_NUMBER(0, "max-calls", "N", struct minify_args, max_calls, "check at most N graphs"),
    OPT_NUMBER(0, "repeat", "K", struct minify_args, repeat,
               "for a CMD that fails only sometimes: run it K times at first to learn how "
               "often, and take a graph as not failing after as many runs as that needs"),
    OPT_FLAG(0, "invert", struct minify_args, invert,
             "CMD exits with 0 if the graph does not fail"),
    OPT_CHOICE(0, "crash-is", "interesting|boring|abort", struct minify_args, crash_is,
               "what it means if a signal kills CMD (default: cannot tell; CMD is run once more)"),
    OPT_NUMBER(0, "also-interesting", "CODE", struct minify_args, also_interesting,
               "exit code of CMD that means another failure; such graphs are kept in "
               "TAPE.also-interesting/"),
    OPT_FLAG(0, "resume", struct minify_args, resume,
             "continue an interrupted search from its TAPE.journal"),
    OPT_FLAG(0, "overwrite-journal", struct minify_args, overwrite_journal,
             "replace a journal of another CMD, script or version", .old = "force"),
    OPT_STRING(0, "journal", "FILE", struct minify_args, journal,
               "write the journal of all answers here (default: TAPE.journal)"),
    OPT_STRING(0, "passes", "NAME[,NAME...]", struct minify_args, passes,
               "use only these reductions"),
    OPT_FLAG(0, "list-passes", struct minify_args, list_passes, "list the reductions and exit"),
    OPT_STRING(0, "inject-fault", "FAULT", struct minify_args, inject_fault,
               "inject a fault into the shape engine, for tests and demonstrations: "
               "flip-equality:N, or OPERATOR=RULE; with --backend-mismatch into A: OPERATOR=EPS",
               .old = "inject"),
    OPT_JSON(struct minify_args, json),
    OPT_END,
};

static int list_passes(struct cmd *cmd)
{
    enum { DESCRIPTIONS_AT = 15 };
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < n_passes; i++) {
        buf_printf(&text, "%-14s ", passes[i].name);
        format_wrapped(&text, str_of(passes[i].description), cmd->out->width, DESCRIPTIONS_AT,
                       DESCRIPTIONS_AT);
    }
    int code = out_buf(cmd->out, &text);
    buf_release(&text);
    return code;
}

static int exit_of(const struct minify_result *result)
{
    switch (result->end) {
    case MINIFY_DONE: return EXIT_DONE;
    case MINIFY_NOT_REPRODUCED:
        return result->first.verdict == VERDICT_UNRESOLVED ? EXIT_CANNOT_TELL : EXIT_DIFFERS;
    case MINIFY_UNRESOLVED: return EXIT_CANNOT_TELL;
    default: return EXIT_INTERRUPTED;
    }
}

/* Reports a search that an error of the oracle or the system ended. The result so far is already on
 * disk. */
static int report_failure(struct minify_job *job, const struct err *err)
{
    struct out *out = job->cmd->out;
    uint64_t before = job->result.before.part[SIZE_CALLS], now = job->result.after.part[SIZE_CALLS];
    int code = out_error(out, err);
    if (job->result.best && now < before && strcmp(job->tape, "-") != 0)
        out_note(out,
                 "%s: the best graph so far, with %llu of %llu calls; --resume continues "
                 "from there",
                 job->tape, (unsigned long long)now, (unsigned long long)before);
    else if (job->journal && job->result.calls > 1)
        out_note(out, "%s: the answers so far; --resume continues from there", job->journal);
    return code;
}

static int search_smallest(struct minify_job *job)
{
    struct err err = { 0 };
    job->options.oracle = job->oracle;
    job->options.journal = job->journal;
    job->options.save = minify_save;
    job->options.aside = minify_aside;
    job->options.progress = minify_show_progress;
    job->options.user = job;
    bool good = minify_run(job->whole, &job->options, &job->result, &err);
    out_progress_end(job->cmd->out);
    if (good && job->result.end != MINIFY_NOT_REPRODUCED)
        good = minify_find_whys(job, &err) && minify_bisect_inductor(job, &err) &&
               minify_time_smallest(job, &err) && minify_write_files(job, &err);
    int code = good ? minify_report(job) : report_failure(job, &err);
    code = code == EXIT_DONE ? exit_of(&job->result) : code;
    if (code == EXIT_DONE && atomic_load(job->options.stop)) {
        out_note(job->cmd->out, "interrupted: the result is final, but explanations or files "
                                "that were requested are missing; the same command continues "
                                "from here");
        code = EXIT_INTERRUPTED;
    }
    return code;
}

/* The memory that an oracle or a program uses is not counted against the limit for the input. */
static bool read_whole_graph(struct minify_job *job, struct err *err)
{
    bool ok = minify_read_input(job, err);
    if (ok)
        memory_limit_end(job->cmd->out->limit);
    return ok;
}

/* Options are checked before a program runs; the names of files are known after it. */
static bool read_job(struct minify_job *job, struct err *err)
{
    return minify_read_options(job, err) && minify_check_oracle(job, err) &&
           minify_check_files(job, err) && (!job->program || minify_record(job, err)) &&
           minify_pick(job, err) &&
           (job->nothing_failed || (minify_list_graphs(job, err) && minify_check_files(job, err) &&
                                    read_whole_graph(job, err)));
}

/* The first questions, and a program that is run again, may take as long as the search. */
static int answer_job(struct minify_job *job)
{
    struct search_signals signals;
    struct err err = { 0 };
    if (job->nothing_failed)
        return EXIT_DIFFERS;
    if (minify_only_costs(job->args))
        return minify_print_cost(job);
    job->options.stop = search_signals_begin(&signals);
    int code =
        minify_make_oracle(job, &err) ? search_smallest(job) : out_error(job->cmd->out, &err);
    search_signals_end(&signals);
    return code;
}

static int run_minify(struct cmd *cmd)
{
    struct minify_job job = { .cmd = cmd,
                              .chosen = *(const struct minify_args *)cmd->args,
                              .operand = cmd->operands[0],
                              .program = minify_runs_program(cmd) };
    struct err err = { 0 };
    job.args = &job.chosen;
    if (job.args->list_passes)
        return list_passes(cmd);
    if (cmd->n_operands == 0)
        return out_usage(cmd->out, "minify: an argument is missing: name a graph, as in "
                                   "bert.tape:0/0:forward");
    int code = read_job(&job, &err) ? answer_job(&job) : out_error(cmd->out, &err);
    why_release(&job.whys);
    minify_result_release(&job.result);
    if (job.oracle)
        job.oracle->free(job.oracle);
    if (job.timing)
        job.timing->free(job.timing);
    uint64_t lost = launcher_lost(job.launcher), killed = launcher_close(job.launcher);
    if (lost)
        out_note(cmd->out, LAUNCHER_LOST, (unsigned long long)lost);
    if (killed)
        out_note(cmd->out, LAUNCHER_KILLED, (unsigned long long)killed);
    candidate_free(job.whole);
    vec_release(&job.graphs);
    cand_aliases_release(&job.aliases);
    torch_python_release(&job.python);
    arena_release(&job.texts);
    minify_release_options(&job);
    return code;
}

const struct command command_minify = {
    .synopsis = "[options] TAPE[@RECORDING]:COMPILE[_ATTEMPT][:KIND[#I]]\n"
                "[options] ARCHIVE.pt2 | GRAPH.fx\n"
                "[options] TAPE\n"
                "[options] -- CMD [ARG...]",
    .description =
        "Reduces a graph that fails, with its symbols, sizes and guards, to the smallest graph "
        "that still fails in the same way. One of the first eight options says what it means "
        "that a graph fails; without them, it is the failure on the tape, of the compile that TAPE "
        "names or of the last one that failed. The best graph so far is on disk at any moment; Ctrl-C ends the "
        "search, and --resume continues it.",
    .examples = "  A compile fails: from the program to a repro and a bug report:\n"
                "    symtape minify -- python fail.py\n"
                "    symtape minify fail.tape\n"
                "\n"
                "  The shapes are wrong, and symtape replay shows the error, too:\n"
                "    symtape show bert.tape --graphs           which graphs there are\n"
                "    symtape minify bert.tape:0/0:forward --repro repro.py\n"
                "\n"
                "  torch.compile fails, or its results differ from eager's:\n"
                "    symtape minify bert.tape:0/0:dynamo --torch-oracle compile --issue bug.md\n"
                "    symtape minify bert.tape:0/0:dynamo --torch-oracle accuracy --repro repro.py\n"
                "\n"
                "  Which operators make my dynamic size a number, or add this guard?\n"
                "    symtape minify bert.tape:0/0:dynamo --specializes s27 --repro repro.py\n"
                "    symtape minify bert.tape:0/0:dynamo --guard 'Eq(Mod(s27, 8), 0)'\n"
                "\n"
                "  A script of your own decides (exit code 0: it still fails):\n"
                "    cat > fails.sh <<'END'\n"
                "    #!/bin/sh\n"
                "    python \"$SYMTAPE_PY\" 2>&1 | grep -q 'Cannot view a tensor'\n"
                "    END\n"
                "    chmod +x fails.sh\n"
                "    symtape minify bert.tape:0/0:forward --check ./fails.sh -j 4\n"
                "\n"
                "  After an interruption, the same command with --resume repeats no check.\n",
    .options = options,
    .args_size = sizeof(struct minify_args),
    .min_operands = 0,
    .max_operands = OPERANDS_ANY,
    .run = run_minify,
};
