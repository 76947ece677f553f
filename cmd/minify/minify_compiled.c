/* --cost with --torch-oracle seconds: whether PyTorch takes as long for the smallest graph as its
 * cost says. The cost is asked about each candidate, PyTorch about two graphs. */
#include "cmd/minify/minify.h"
#include "profile/model/format.h"

bool minify_times_result(const struct minify_args *args)
{
    return args->cost && args->torch && strcmp(args->torch, "seconds") == 0;
}

bool minify_time_whole(struct minify_job *job, struct err *err)
{
    struct torch_first first;
    if (!minify_note_oracle(job, err))
        return false;
    const struct torch_options options = {
        .question = TORCH_SECONDS,
        .python = str_of(job->python.path),
        .backend = str_of(job->args->backend ? job->args->backend : ""),
        .cpu = job->args->cpu,
        .setup = job->repro.setup,
        .timeout = job->options.timeout,
        .cancel = job->options.stop,
    };
    out_progress(job->cmd->out, "compiling the whole graph in PyTorch");
    job->timing = oracle_torch(&options, job->whole, &first, err);
    out_progress_end(job->cmd->out);
    if (!job->timing)
        return false;
    job->torch.version = first.version;
    job->compiled.before = first.verdict == VERDICT_INTERESTING ? first.compiled : -1;
    if (job->compiled.before < 0 && !atomic_load(job->options.stop))
        out_note(job->cmd->out,
                 "PyTorch %.*s: what compiling the whole graph takes is not known: %.*s%s",
                 STR_ARG(first.version), STR_ARG(str_first(first.error, 300)),
                 first.no_device ? "; --cpu puts all tensors on the CPU" : "");
    return true;
}

/* A worker that is lost does not end the command: the graph is there. */
bool minify_time_smallest(struct minify_job *job, struct err *err)
{
    struct minify_compiled *compiled = &job->compiled;
    double limit = job->options.timeout > 0 ? job->options.timeout : 0;
    struct err lost = { 0 };
    if (!job->timing || job->result.end != MINIFY_DONE)
        return true;
    out_progress(job->cmd->out, "compiling the smallest graph in PyTorch");
    compiled->known = oracle_torch_time(job->timing, job->result.best, limit, job->options.stop,
                                        &job->texts, &compiled->after, &compiled->why, &lost);
    out_progress_end(job->cmd->out);
    if (compiled->known && compiled->after > 0) {
        job->repro.check = REPRO_SECONDS;
        job->repro.backend = str_of(job->args->backend ? job->args->backend : "");
        job->repro.cpu = job->args->cpu;
        job->repro.seconds = compiled->after / 2;
        return true;
    }
    if (!compiled->known) {
        compiled->known = true;
        compiled->after = -1;
        compiled->why = arena_copy(&job->texts, str_of(lost.text));
    }
    return (compiled->why.p || err_nomem(err)) && minify_hide_text(job, &compiled->why, err);
}

/* "PyTorch 2.13.0: compiling takes 61 s of processor time, 22 % of the 274 s of the whole graph" */
void minify_put_compiled(const struct minify_job *job, struct buf *out)
{
    const struct minify_compiled *compiled = &job->compiled;
    buf_printf(out, "PyTorch %.*s: ", STR_ARG(job->torch.version));
    if (compiled->after < 0) { /* the first line, since messages of PyTorch are long */
        struct str line = str_first(compiled->why, str_find_char(compiled->why, '\n'));
        buf_printf(out, "the smallest graph was not compiled: %.*s\n",
                   STR_ARG(str_first(line, 300)));
        return;
    }
    buf_printf(out, "compiling takes %.3g s of processor time", compiled->after);
    if (compiled->before > 0)
        buf_printf(out, ", %.3g %% of the %.3g s of the whole graph",
                   100 * compiled->after / compiled->before, compiled->before);
    buf_putc(out, '\n');
}
