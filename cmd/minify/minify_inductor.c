/* --torch-oracle with the backend inductor: which part of the compiler the smallest graph needs to
 * fail. */
#include "cmd/minify/minify.h"

/* Each of at most 32 compiles takes no longer than that of the whole graph. */
enum { COMPILES = 32, LEAST_SECONDS = 120 };

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
           minify_hide_text(job, &job->bisected.nodes, err) &&
           minify_hide_text(job, &job->bisected.why, err);
}

/* ", application 2 (aten.relu.default) in the forward graph" */
static void put_application(const struct torch_bisected *b, struct buf *out)
{
    buf_printf(out, ", application %llu", (unsigned long long)b->number);
    if (b->op.n)
        buf_printf(out, " (%.*s)", STR_ARG(b->op));
    if (b->graph.n)
        buf_printf(out, " in the %.*s graph", STR_ARG(b->graph));
    if (!b->kernel.n)
        return;
    buf_printf(out, "; kernel %.*s, of %.*s", STR_ARG(b->kernel), STR_ARG(b->nodes));
    buf_puts(out, b->fused ? ", which does not fail if nothing is fused" : "");
}

static bool is_setting(const struct torch_bisected *b)
{
    return str_eq(b->detail, b->subsystem);
}

/* "inductor, lowerings: relu, application 0 (aten.relu.default) in the inference graph; kernel
 * cpp_fused_relu_0, of relu"; "inductor, inductor_layout_optimization"; or why it was not found. */
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
    if (!is_setting(b) && b->detail.n)
        buf_printf(out, ": %.*s", STR_ARG(str_first(b->detail, 300)));
    if (b->subsystem.n && !is_setting(b))
        put_application(b, out);
}
