/* softmax, log_softmax and their gradients along one dimension: a row belongs to a warp or a block,
 * or, if rows are adjacent in memory, is one of 32 that a block reads together. */
#include "replay/backend/cuda/device/reduce/softmax.h"
#include "replay/backend/cuda/kernels/spans.h"

enum {
    KEPT_BYTES = 32 * 1024
}; /* of shared memory, so that a multiprocessor can have several blocks */

static const char *const forms[] = { "SOFTMAX", "LOG_SOFTMAX", "SAFE_SOFTMAX" };

static const char *computed_in(struct kernel *k, const struct span_operand *x)
{
    const char *type = x->type ? cuda_sum_type(x->dtype) : NULL;
    if (!k->failed && (!type || dense_kind_of(x->dtype) != DENSE_REAL)) {
        cuda_decline(k);
        return NULL;
    }
    return type;
}

static bool vectors(const struct spans *s, const struct span_operand *x, const bool *used)
{
    for (uint32_t i = 0; i < 3; i++)
        if (used[i] && (x[i].dtype != x[0].dtype || !spans_vector(s, x, i)))
            return false;
    return true;
}

/* Returns whether other sizes of the same call may have vectors, or not. */
static bool may_be_vectors(const struct spans *s, const struct span_operand *x, const bool *used)
{
    for (uint32_t i = 0; i < 3; i++)
        if (used[i] && (x[i].dtype != x[0].dtype || !spans_may_be_vectors(s, i)))
            return false;
    return true;
}

static void launch_softmax(struct kernel *k, const struct dims *d, struct span_operand *x,
                           bool backward)
{
    struct spans s;
    struct defines text = { 0 };
    const char *acc = computed_in(k, &x[2]);
    bool used[] = { true, backward, true };
    if (!acc || !spans_of(k, d, x, 3, true, &s) || s.rows.n == 0 || s.cols.n == 0)
        return;
    struct softmax_args a = { .rows = s.rows, .cols = s.cols };
    bool vector = vectors(&s, x, used);
    uint32_t size = dtype_size(x[2].dtype) == 8 ? 8 : 4;
    a.team = team_for(&s, vector ? 16 / dtype_size(x[0].dtype) : 1);
    a.from = x[0].at;
    a.other = x[1].at;
    a.to = x[2].at;
    int64_t bytes = TEAM_THREADS / a.team.lanes * (int64_t)size;
    a.kept = !backward && s.cols.n <= KEPT_BYTES / bytes;
    bytes *= a.kept ? s.cols.n : 0;
    define(
        &text,
        "#define T %s\n#define U %s\n#define O %s\n#define ACC %s\n#define INDEX %s\n#define %s\n",
        x[0].type, x[backward].type, x[2].type, acc, s.wide ? "u64" : "u32", forms[k->row->param]);
    define(&text, "%s", backward ? "#define BACKWARD\n" : "");
    struct cuda_grid grid = { team_blocks(k, &s, a.team), 1, 1, TEAM_THREADS, (uint32_t)bytes };
    uint64_t n = (uint64_t)s.rows.n * (uint64_t)s.cols.n;
    cuda_traffic(k,
                 n * (dtype_size(x[0].dtype) + dtype_size(x[2].dtype) +
                      (backward ? dtype_size(x[1].dtype) : 0)),
                 0);
    cuda_launch(k,
                spans_function(k, "softmax", backward ? "softmax_backward" : "softmax", &text,
                               vector, may_be_vectors(&s, x, used)),
                grid, &a, sizeof a);
}

void cuda_softmax(struct kernel *k)
{
    struct kernel_tensor self = tensor_arg(k, "self");
    struct dims d = dims_of(self);
    if (d.ndim)
        d.reduced[wrapped_dim(int_arg(k, "dim", -1), d.ndim)] = true;
    struct span_operand x[] = { operand_broadcast(k, self, &d),
                                { 0 },
                                operand_broadcast(k, result(k, 0), &d) };
    launch_softmax(k, &d, x, false);
}

void cuda_softmax_backward(struct kernel *k)
{
    struct kernel_tensor g = tensor_arg(k, "grad_output");
    struct dims d = dims_of(g);
    if (d.ndim)
        d.reduced[wrapped_dim(int_arg(k, "dim", -1), d.ndim)] = true;
    struct span_operand x[] = { operand_broadcast(k, g, &d),
                                operand_broadcast(k, tensor_arg(k, "output"), &d),
                                operand_broadcast(k, result(k, 0), &d) };
    launch_softmax(k, &d, x, true);
}
