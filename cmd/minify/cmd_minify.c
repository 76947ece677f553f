#include "cmd/cli/memory_limit.h"
#include "cmd/cli/search_signals.h"
#include "cmd/minify/minify.h"

static const struct opt options[] = {
    OPT_STRING(0, "check", "CMD", struct minify_args, check,
               "what fails: CMD exits 0. It gets the path of a graph as FX text as its last "
               "argument, and SYMTAPE_PY and SYMTAPE_TAPE name it as a program and as a tape. "
               "1 to 124: does not fail; 125: cannot tell; 126, 127: cannot run"),
    OPT_CHOICE(
        0, "torch-oracle", TORCH_QUESTION_WORDS, struct minify_args, torch,
        "what fails: PyTorch itself ($SYMTAPE_PYTHON, or python3) raises the same error when "
        "compiling, or when running what it compiled, or its result is wrong beside eager's; "
        "or make_fx, torch.export or its decompositions raise it"),
    OPT_STRING(0, "expect", "REGEX", struct minify_args, expect,
               "what fails: symtape replay refuses a call, or differs from the record, with a "
               "message that matches REGEX. Default: the way in which it fails now"),
    OPT_STRING(0, "guard", "EXPR", struct minify_args, guard,
               "what fails: this guard is added, as in 'Eq(s27, 16)'"),
    OPT_STRING(0, "specializes", "SYMBOL", struct minify_args, specializes,
               "what fails: this symbol becomes a number"),
    OPT_STRING(0, "cost", "COST", struct minify_args, cost,
               "what fails: compiling takes at least N guards, dispatches or exprs, as in "
               "'guards>=40'"),
    OPT_STRING(0, "check-ops", "OPS", struct minify_args, ops,
               "what fails: these calls are there, as in 'aten.sin, aten.cos -> aten.relu'"),
    OPT_STRING(
        0, "backend-mismatch", "A[,B]", struct minify_args, mismatch,
        "what fails: run for real on backend A the graph differs from B (default: cpu) beyond "
        "the tolerance, first at the same operator"),
    OPT_FLAG(0, "tf32", struct minify_args, tf32,
             "with --backend-mismatch: matmuls of f32 on A may use TF32 inputs"),
    OPT_STRING(0, "backend", "NAME", struct minify_args, backend,
               "of torch.compile with --torch-oracle (default: aot_eager to compile, inductor for "
               "run and accuracy)"),
    OPT_FLAG(0, "cpu", struct minify_args, cpu,
             "with --torch-oracle: all on the CPU, whatever was recorded"),
    OPT_STRING('o', "output", "TAPE", struct minify_args, output,
               "write the smallest graph here, at every step (default: minified.tape; -: to "
               "standard output at the end)"),
    OPT_STRING(0, "repro", "FILE", struct minify_args, repro,
               "write it as a Python program that needs PyTorch only: exit 1 the bug is there, "
               "0 it is not, 125 cannot run here"),
    OPT_STRING(0, "issue", "FILE", struct minify_args, issue,
               "write a bug report: error, program, versions, what each part is there for"),
    OPT_ALLOW(struct minify_args, allow),
    OPT_STRING(0, "fx", "FILE", struct minify_args, fx, "write it as FX text"),
    OPT_STRING(0, "good", "FILE", struct minify_args, good,
               "write the nearest graph that does not fail, for a comparison: as a program where "
               "FILE ends in .py, else as FX text"),
    OPT_FLAG(0, "anonymize", struct minify_args, anonymize,
             "replace names, user lines, paths and strings in what is written"),
    OPT_OVERWRITE(struct minify_args, overwrite),
    OPT_STRING(0, "set", "HINT[,HINT...]", struct minify_args, set,
               "sizes that fail, where the recorded ones do not: s77=31"),
    OPT_NUMBER('j', "jobs", "N", struct minify_args, jobs,
               "ask N questions at once (default: 1); the result is the same for any N"),
    OPT_STRING(0, "timeout", "TIME", struct minify_args, timeout,
               "for one run of CMD (default: ten times the first, 5s at least, 5m at most)"),
    OPT_STRING(0, "deadline", "TIME", struct minify_args, deadline,
               "for all of it: 90s, 15m, 2h; the best so far is kept"),
    OPT_NUMBER(0, "max-calls", "N", struct minify_args, max_calls, "ask at most N times"),
    OPT_NUMBER(0, "repeat", "K", struct minify_args, repeat,
               "CMD fails only sometimes: ask K times at first to learn how often, and believe "
               "that something does not fail after as many runs as that takes"),
    OPT_FLAG(0, "invert", struct minify_args, invert, "CMD exits 0 when it does not fail"),
    OPT_CHOICE(0, "crash-is", "interesting|boring|abort", struct minify_args, crash_is,
               "what CMD killed by a signal means (default: cannot tell, asked once more)"),
    OPT_NUMBER(0, "also-interesting", "CODE", struct minify_args, also_interesting,
               "exit code of CMD for another failure: such graphs are kept in "
               "TAPE.also-interesting/"),
    OPT_FLAG(0, "resume", struct minify_args, resume,
             "go on where an interrupted run was, by its TAPE.journal"),
    OPT_FLAG(0, "force", struct minify_args, force,
             "replace a journal of another CMD, script or version"),
    OPT_STRING(0, "journal", "FILE", struct minify_args, journal,
               "keep all answers here (default: TAPE.journal)"),
    OPT_STRING(0, "passes", "NAME[,NAME...]", struct minify_args, passes, "only these reductions"),
    OPT_FLAG(0, "list-passes", struct minify_args, list_passes, "list the reductions and end"),
    OPT_STRING(0, "inject", "FAULT", struct minify_args, inject,
               "put a fault into the shape engine, for tests and demonstrations: "
               "flip-equality:N, or OPERATOR=RULE; with --backend-mismatch into A: OPERATOR=EPS"),
    OPT_JSON(struct minify_args, json),
    OPT_END,
};

static int list_passes(struct cmd *cmd)
{
    for (size_t i = 0; i < n_passes; i++)
        out_printf(cmd->out, "%-14s %s\n", passes[i].name, passes[i].description);
    return EXIT_DONE;
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

/* Ended by a fault of the oracle or the system: what there is, is on disk already. */
static int report_failure(struct minify_job *job, const struct err *err)
{
    struct out *out = job->cmd->out;
    uint64_t before = job->result.before.part[SIZE_CALLS], now = job->result.after.part[SIZE_CALLS];
    int code = out_error(out, err);
    if (job->result.best && now < before && strcmp(job->tape, "-") != 0)
        out_note(out, "%s: the best so far, %llu of %llu calls; --resume goes on from there",
                 job->tape, (unsigned long long)now, (unsigned long long)before);
    return code;
}

static int search(struct minify_job *job)
{
    struct search_signals signals;
    struct err err = { 0 };
    job->options.oracle = job->oracle;
    job->options.journal = job->journal;
    job->options.save = minify_save;
    job->options.aside = minify_aside;
    job->options.progress = minify_show_progress;
    job->options.user = job;
    job->options.stop = search_signals_begin(&signals);
    bool good = minify_run(job->whole, &job->options, &job->result, &err);
    out_progress_end(job->cmd->out);
    if (good && job->result.end != MINIFY_NOT_REPRODUCED)
        good = minify_find_whys(job, &err) && minify_write_files(job, &err);
    int code = good ? minify_report(job) : report_failure(job, &err);
    code = code == EXIT_DONE ? exit_of(&job->result) : code;
    if (code == EXIT_DONE && atomic_load(job->options.stop)) {
        out_note(job->cmd->out, "interrupted: the result stands, but not all that was asked for "
                                "is known of it; the same command goes on from here");
        code = EXIT_INTERRUPTED;
    }
    search_signals_end(&signals);
    return code;
}

/* What an oracle takes, or a program that it runs, is its own. */
static bool read_input(struct minify_job *job, struct err *err)
{
    bool ok = minify_read_input(job, err);
    if (ok)
        memory_limit_end(job->cmd->out->limit);
    return ok;
}

static int run(struct cmd *cmd)
{
    struct minify_job job = { .cmd = cmd, .args = cmd->args };
    struct err err = { 0 };
    if (job.args->list_passes)
        return list_passes(cmd);
    if (cmd->n_operands == 0)
        return out_usage(cmd->out, "minify: an argument is missing: which graph, as in "
                                   "bert.tape:0/0:forward");
    int code =
        minify_read_options(&job, &err) && read_input(&job, &err) && minify_make_oracle(&job, &err)
            ? search(&job)
            : out_error(cmd->out, &err);
    why_release(&job.whys);
    minify_result_release(&job.result);
    if (job.oracle)
        job.oracle->free(job.oracle);
    candidate_free(job.whole);
    cand_aliases_release(&job.aliases);
    arena_release(&job.texts);
    minify_release_options(&job);
    return code;
}

const struct command command_minify = {
    .synopsis = "[options] TAPE[@RECORDING]:COMPILE[_ATTEMPT][:KIND[#I]]\n"
                "[options] ARCHIVE.pt2 | GRAPH.fx",
    .description =
        "Shrinks a graph that fails, with its symbols, sizes and guards, to the smallest that still "
        "fails in the same way. What \"fails\" means is said by one of the first five options. The "
        "best so far is on disk at any moment; Ctrl-C ends with it, and --resume goes on.",
    .examples = "  Something in the shapes goes wrong; is it in symtape replay as well?\n"
                "    symtape show bert.tape --graphs           which graphs there are\n"
                "    symtape minify bert.tape:0/0:forward --repro repro.py\n"
                "\n"
                "  torch.compile fails on it, or gives something else than eager:\n"
                "    symtape minify bert.tape:0/0:dynamo --torch-oracle compile --issue bug.md\n"
                "    symtape minify bert.tape:0/0:dynamo --torch-oracle accuracy --repro repro.py\n"
                "\n"
                "  Which operators make my dynamic size a number, or add this guard?\n"
                "    symtape minify bert.tape:0/0:dynamo --specializes s27 --repro repro.py\n"
                "    symtape minify bert.tape:0/0:dynamo --guard 'Eq(Mod(s27, 8), 0)'\n"
                "\n"
                "  A script of your own decides (exit 0: still fails):\n"
                "    cat > fails.sh <<'END'\n"
                "    #!/bin/sh\n"
                "    python \"$SYMTAPE_PY\" 2>&1 | grep -q 'Cannot view a tensor'\n"
                "    END\n"
                "    chmod +x fails.sh\n"
                "    symtape minify bert.tape:0/0:forward --check ./fails.sh -j 4\n"
                "\n"
                "  Interrupted? The same command with --resume asks nothing twice.\n",
    .options = options,
    .args_size = sizeof(struct minify_args),
    .min_operands = 0,
    .max_operands = 1,
    .run = run,
};
