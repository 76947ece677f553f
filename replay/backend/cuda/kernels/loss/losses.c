/* Losses of pairs, which are reductions over several tensors, and losses of classes. */
#include "replay/backend/cuda/device/loss/nll.h"
#include "replay/backend/cuda/kernels/reduce/reduce.h"

enum { REDUCE_NONE, REDUCE_MEAN, REDUCE_SUM };

static const char *real_sum_type(struct kernel *k, struct kernel_tensor x)
{
    const char *acc = sum_type_of(k, x);
    if (!acc || dense_kind_of(x.meta->dtype) == DENSE_REAL)
        return acc;
    cuda_decline(k);
    return NULL;
}

/* ---- Pairs ---- */

static double loss_parameter(const struct kernel *k)
{
    return real_arg(k, "beta", real_arg(k, "delta", 1));
}

static double dims_elements(const struct dims *d)
{
    double n = 1;
    for (uint32_t i = 0; i < d->ndim; i++)
        n *= (double)d->size[i];
    return n;
}

/* Returns the sizes that both broadcast to. */
static struct dims dims_of_pair(struct kernel_tensor x, struct kernel_tensor y)
{
    struct dims a = dims_of(x), b = dims_of(y), ret = a.ndim > b.ndim ? a : b;
    for (uint32_t i = 0; i < ret.ndim; i++) {
        int64_t p = i + a.ndim >= ret.ndim ? a.size[i + a.ndim - ret.ndim] : 1;
        int64_t q = i + b.ndim >= ret.ndim ? b.size[i + b.ndim - ret.ndim] : 1;
        ret.size[i] = p == 1 ? q : p;
    }
    return ret;
}

void cuda_pair_loss(struct kernel *k)
{
    static const char *const ops[] = { "OP_MSE",         "OP_BCE",       "OP_BCE_LOGITS",
                                       "OP_SOFT_MARGIN", "OP_SMOOTH_L1", "OP_HUBER" };
    struct kernel_tensor x = tensor_arg(k, "self"), y = tensor_arg(k, "target");
    int64_t reduction = int_arg(k, "reduction", REDUCE_MEAN);
    struct reduction r = { .op = ops[k->row->param],
                           .acc = real_sum_type(k, result(k, 0)),
                           .dims = dims_of_pair(x, y),
                           .n_inputs = 4,
                           .p = loss_parameter(k) };
    r.scale = reduction == REDUCE_MEAN ? 1 / dims_elements(&r.dims) : 1;
    r.x[0] = operand_broadcast(k, x, &r.dims);
    r.x[1] = operand_broadcast(k, y, &r.dims);
    r.x[2] = operand_broadcast(k, tensor_arg(k, "weight"), &r.dims);
    r.x[3] = operand_broadcast(k, tensor_arg(k, "pos_weight"), &r.dims);
    for (uint32_t i = 0; i < r.dims.ndim; i++)
        r.dims.reduced[i] = reduction != REDUCE_NONE;
    r.x[REDUCE_INPUTS] = operand_kept(k, result(k, 0), &r.dims);
    run_reduction(k, &r);
}

/* Without a reduction: one value for each element. */
void cuda_pair_loss_backward(struct kernel *k)
{
    static const char *const ops[] = {
        "OP_MSE_BACKWARD",         "OP_BCE_BACKWARD",       NULL,
        "OP_SOFT_MARGIN_BACKWARD", "OP_SMOOTH_L1_BACKWARD", "OP_HUBER_BACKWARD"
    };
    struct kernel_tensor x = tensor_arg(k, "self");
    struct reduction r = { .op = ops[k->row->param],
                           .acc = real_sum_type(k, result(k, 0)),
                           .dims = dims_of(x),
                           .n_inputs = 4,
                           .p = loss_parameter(k) };
    r.scale = int_arg(k, "reduction", REDUCE_MEAN) == REDUCE_MEAN ? 1 / dims_elements(&r.dims) : 1;
    r.x[0] = operand_broadcast(k, x, &r.dims);
    r.x[1] = operand_broadcast(k, tensor_arg(k, "target"), &r.dims);
    r.x[2] = operand_broadcast(k, tensor_arg(k, "grad_output"), &r.dims);
    r.x[3] = operand_broadcast(k, tensor_arg(k, "weight"), &r.dims);
    r.x[REDUCE_INPUTS] = operand_broadcast(k, result(k, 0), &r.dims);
    run_reduction(k, &r);
}

/* ---- Classes ---- */

/* Sets the arguments that forward and backward share: the classes' dimension and weights. */
static uint32_t start_nll(struct kernel *k, struct kernel_tensor x, struct nll_args *a,
                          struct span_operand *weight)
{
    struct dims one = { .ndim = 1 }, d = dims_of(x);
    uint32_t at = d.ndim > 1;
    *weight = operand_broadcast(k, tensor_arg(k, "weight"), &one);
    *a = (struct nll_args){ .weight = weight->at,
                            .weight_step = weight->stride[0],
                            .classes = d.ndim ? d.size[at] : 1,
                            .ignore = int_arg(k, "ignore_index", -100) };
    return at;
}

static struct cuda_function *nll_function(struct kernel *k, const char *name, const char *acc,
                                          const struct span_operand *x,
                                          const struct span_operand *target,
                                          const struct span_operand *weight, bool wide)
{
    struct defines d = { 0 };
    define(&d, "#define T %s\n#define I %s\n#define W %s\n#define ACC %s\n#define INDEX %s\n",
           x->type, target->type, weight->at ? weight->type : "f32", acc, wide ? "u64" : "u32");
    return cuda_function(k, "nll", name, d.text);
}

/* Sums losses and weights in workspaces. */
static void reduce_nll(struct kernel *k, const char *acc, const struct nll_args *a, bool mean)
{
    enum dtype dtype = *acc && acc[1] == '6' ? DTYPE_F64 : DTYPE_F32;
    struct span_operand in = { .type = acc, .dtype = dtype, .stride = { 1 } };
    struct reduction r = { .op = "OP_NLL", .acc = acc, .n_inputs = 2, .scale = mean };
    r.dims = (struct dims){ .ndim = 1, .size = { a->span.n }, .reduced = { true } };
    r.x[0] = r.x[1] = in;
    r.x[0].at = a->losses;
    r.x[1].at = a->weights;
    r.x[REDUCE_INPUTS] = operand_kept(k, result(k, 0), &r.dims);
    r.x[REDUCE_INPUTS + 1] = operand_kept(k, result(k, 1), &r.dims);
    run_reduction(k, &r);
}

void cuda_nll_loss(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "self");
    struct dims d = dims_of(tensor_arg(k, "target")), whole = dims_of(x);
    int64_t reduction = int_arg(k, "reduction", REDUCE_MEAN);
    const char *acc = real_sum_type(k, x);
    struct span_operand weight, o[3] = { operand_broadcast(k, tensor_arg(k, "target"), &d) };
    struct nll_args a;
    struct spans s;
    uint32_t at = start_nll(k, x, &a, &weight);
    struct span_operand in = operand_broadcast(k, x, &whole);
    if (!acc || whole.ndim == 0 || (d.ndim + 1 != whole.ndim && d.ndim)) {
        cuda_decline(k);
        return;
    }
    o[1] = in;
    for (uint32_t i = at; i < d.ndim; i++)
        o[1].stride[i] = in.stride[i + 1];
    for (uint32_t i = d.ndim; i < TENSOR_MAX_DIM; i++)
        o[1].stride[i] = 0;
    if (reduction == REDUCE_NONE)
        o[2] = operand_broadcast(k, result(k, 0), &d);
    if (reduction == REDUCE_NONE && whole.ndim == 1) {
        cuda_decline(k); /* a single sample also returns its weight */
        return;
    }
    if (!spans_of(k, &d, o, 3, false, &s))
        return;
    a.span = s.rows;
    a.class_step = in.stride[at];
    a.x = in.at;
    a.target = o[0].at;
    a.to = o[2].at;
    a.error = cuda_error_word(k);
    a.losses = cuda_workspace(k, (size_t)s.rows.n * sizeof(double) + 1);
    a.weights = cuda_workspace(k, (size_t)s.rows.n * sizeof(double) + 1);
    struct cuda_grid grid = { cuda_blocks(k, s.rows.n, 256), 1, 1, 256, 0 };
    if (s.rows.n)
        cuda_launch(k, nll_function(k, "nll", acc, &in, &o[0], &weight, s.wide), grid, &a,
                    sizeof a);
    if (reduction != REDUCE_NONE) {
        reduce_nll(k, acc, &a, reduction == REDUCE_MEAN);
        return;
    }
    a.span.n = 0; /* no weight: the sum is 0 */
    struct reduction r = { .op = "OP_SUM", .acc = acc, .n_inputs = 1 };
    r.dims = (struct dims){ .ndim = 1, .reduced = { true } };
    r.x[0] = (struct span_operand){ .at = a.weights, .type = acc, .dtype = DTYPE_F32 };
    r.x[REDUCE_INPUTS] = operand_kept(k, result(k, 1), &r.dims);
    run_reduction(k, &r);
}

void cuda_nll_loss_backward(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "self"), target = tensor_arg(k, "target");
    struct dims d = dims_of(x), none = { 0 };
    int64_t reduction = int_arg(k, "reduction", REDUCE_MEAN);
    const char *acc = real_sum_type(k, x);
    struct span_operand weight, o[4],
        total = operand_broadcast(k, tensor_arg(k, "total_weight"), &none);
    struct nll_args a;
    struct spans s;
    uint32_t at = start_nll(k, x, &a, &weight);
    struct dims places = dims_of(target);
    struct kernel_tensor g = tensor_arg(k, "grad_output");
    if (!acc || d.ndim == 0 || (places.ndim + 1 != d.ndim && places.ndim)) {
        cuda_decline(k);
        return;
    }
    struct span_operand y = operand_broadcast(k, target, &places),
                        up = operand_broadcast(k, g, &places);
    o[0] = operand_broadcast(k, result(k, 0), &d);
    o[1] = y;
    o[2] = up;
    o[3] = (struct span_operand){ 0 };
    for (uint32_t i = 0; i < d.ndim; i++) {
        bool there = i != at && places.ndim;
        o[1].stride[i] = there ? y.stride[i - (i > at)] : 0;
        o[2].stride[i] = there && reduction == REDUCE_NONE ? up.stride[i - (i > at)] : 0;
    }
    o[3].stride[at] = 1;
    if (!spans_of(k, &d, o, 4, false, &s) || s.rows.n == 0)
        return;
    if (up.dtype != o[0].dtype || total.dtype != o[0].dtype) {
        cuda_decline(k);
        return;
    }
    a.span = s.rows;
    a.to = o[0].at;
    a.target = y.at;
    a.grad = up.at;
    a.total = reduction == REDUCE_MEAN ? total.at : 0;
    struct cuda_grid grid = { cuda_blocks(k, s.rows.n, 256), 1, 1, 256, 0 };
    cuda_traffic(k, (uint64_t)s.rows.n * dtype_size(o[0].dtype), 0);
    cuda_launch(k, nll_function(k, "nll_backward", acc, &o[0], &y, &weight, s.wide), grid, &a,
                sizeof a);
}
