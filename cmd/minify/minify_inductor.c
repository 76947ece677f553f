/* --torch-oracle with the backend inductor: which part of the compiler the smallest graph needs to
 * fail. */
#include "cmd/minify/minify.h"

/* Each of at most 30 compiles takes no longer than that of the whole graph. */
enum { COMPILES = 30, LEAST_SECONDS = 120 };

/* A worker that is lost does not end the command: the graph is there. */
static bool note_lost(struct minify_job *job, const struct err *lost, struct err *err)
{
    job->bisected = (struct torch_bisected){ .why = arena_copy(&job->texts, str_of(lost->text)) };
    return job->bisected.why.p || err_nomem(err);
}

bool minify_bisect_inductor(struct minify_job *job, struct err *err)
{
    struct err lost = { 0 };
    double seconds = job->torch.seconds * COMPILES;
    seconds = seconds > LEAST_SECONDS ? seconds : LEAST_SECONDS;
    if (!job->torch_oracle || job->result.end != MINIFY_DONE ||
        !oracle_torch_can_bisect(job->torch_oracle))
        return true;
    out_progress(job->cmd->out, "bisecting PyTorch's passes and lowerings");
    bool asked = oracle_torch_bisect(job->torch_oracle, job->result.best, seconds,
                                     job->options.stop, &job->texts, &job->bisected, &lost);
    out_progress_end(job->cmd->out);
    job->has_bisected = asked || note_lost(job, &lost, err);
    return job->has_bisected && minify_hide_text(job, &job->bisected.detail, err) &&
           minify_hide_text(job, &job->bisected.why, err);
}

/* "inductor, lowerings: relu"; "inductor, pre_grad_passes, application 3"; "inductor,
 * inductor_layout_optimization"; or why it was not found. */
void minify_put_bisected(const struct minify_job *job, struct buf *out)
{
    const struct torch_bisected *b = &job->bisected;
    if (!b->found) {
        buf_put(out, str_first(b->why, 300));
        return;
    }
    buf_printf(out, "%.*s, ", STR_ARG(b->backend));
    if (!b->subsystem.n)
        buf_puts(out, "not a pass, a lowering or a setting of it alone");
    else
        buf_put(out, b->subsystem);
    if (b->subsystem.n && !b->detail.n)
        buf_printf(out, ", application %llu", (unsigned long long)b->number);
    else if (!str_eq(b->detail, b->subsystem))
        buf_printf(out, ": %.*s", STR_ARG(str_first(b->detail, 300)));
}
