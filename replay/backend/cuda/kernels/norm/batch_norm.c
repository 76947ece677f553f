/* Batch normalisation under all its names: a reduction for each channel, a launch that computes
 * scales from its statistics, and one pass over the elements. */
#include "replay/backend/cuda/kernels/norm/norm.h"

/* Returns all dimensions, with those that are not channels reduced. */
static struct dims dims_of_channels(struct kernel_tensor x)
{
    struct dims d = dims_of(x);
    for (uint32_t i = 0; i < d.ndim; i++)
        d.reduced[i] = i != 1;
    return d;
}

static int64_t reduced_elements(const struct dims *d)
{
    int64_t n = 1;
    for (uint32_t i = 0; i < d->ndim; i++)
        n *= d->size[i];
    return n;
}

/* Returns the address of a contiguous vector of channels; 0: there is none. */
static uint64_t channels(struct kernel *k, struct kernel_tensor x, const char **type)
{
    struct dims d = { .ndim = 1 };
    struct span_operand o = operand_broadcast(k, x, &d);
    if (!o.at)
        return 0;
    if (o.stride[0] > 1 || (*type && *type != o.type))
        cuda_decline(k);
    *type = o.type;
    return o.at;
}

/* Returns a result if the schema has it: batch_norm has only the first one. */
static struct kernel_tensor result_or_none(const struct kernel *k, uint32_t i)
{
    return i < n_results(k) ? result(k, i) : (struct kernel_tensor){ 0 };
}

/* Uses the batch's statistics, saves them, and updates the running ones, in place or, for
 * functional forms, in the last two results. */
static void use_batch_statistics(struct kernel *k, struct norm_call *n, struct norm_stats_args *a)
{
    const char *types[3] = { n->acc, NULL, NULL };
    struct span_operand mean, var;
    struct kernel_tensor old_mean = tensor_arg(k, "running_mean"),
                         old_var = tensor_arg(k, "running_var");
    uint32_t results = n_results(k);
    bool functional = results >= 5;
    double count = (double)reduced_elements(&n->dims) / (double)a->n;
    a->save_mean = channels(k, result_or_none(k, 1), &types[1]);
    a->save_rstd = channels(k, result_or_none(k, 2), &types[1]);
    a->old_mean = channels(k, old_mean, &types[2]);
    a->old_var = channels(k, old_var, &types[2]);
    if (old_mean.meta)
        a->new_mean = channels(k, functional ? result(k, results - 2) : old_mean, &types[2]);
    if (old_var.meta)
        a->new_var = channels(k, functional ? result(k, results - 1) : old_var, &types[2]);
    if (k->failed)
        return;
    norm_moments(k, n, &mean, &var);
    a->mean = mean.at;
    a->var = var.at;
    a->to_rstd = var.at;
    a->unbiased = count / (count - 1);
    n->mean = mean.at;
    n->rstd = var.at;
    types[1] = types[1] ? types[1] : n->acc;
    types[2] = types[2] ? types[2] : n->acc;
    norm_stats(k, a, n->acc, types);
}

/* Uses the running statistics. */
static void use_running_statistics(struct kernel *k, struct norm_call *n, struct norm_stats_args *a)
{
    struct span_operand mean = operand_workspace(k, norm_acc_dtype(n->acc), &n->dims);
    struct span_operand rstd = operand_workspace(k, norm_acc_dtype(n->acc), &n->dims);
    const char *type = NULL;
    a->mean = channels(k, tensor_arg(k, "running_mean"), &type);
    a->var = channels(k, tensor_arg(k, "running_var"), &type);
    if (!a->mean || !a->var) {
        cuda_decline(k);
        return;
    }
    a->to_mean = n->mean = mean.at;
    a->to_rstd = n->rstd = rstd.at;
    norm_stats(k, a, n->acc, (const char *const[]){ type, n->acc, n->acc });
}

static bool start_batch_norm(struct kernel *k, struct kernel_tensor x, struct norm_call *n,
                             struct norm_stats_args *a)
{
    *n =
        (struct norm_call){ .dims = dims_of_channels(x), .acc = norm_start(k, x), .centred = true };
    *a = (struct norm_stats_args){ .step = 1, .running_step = 1 };
    if (!n->acc)
        return false;
    if (n->dims.ndim < 2 || reduced_elements(&n->dims) == 0) {
        cuda_decline(k);
        return false;
    }
    a->n = n->dims.size[1];
    a->eps = real_arg(k, "eps", real_arg(k, "epsilon", 1e-5));
    a->momentum = real_arg(k, "momentum", 0.1);
    n->stats_type = n->acc;
    n->x[NORM_X] = operand_broadcast(k, x, &n->dims);
    n->x[NORM_WEIGHT] = operand_along(k, tensor_arg(k, "weight"), 1);
    n->x[NORM_STATS] = (struct span_operand){ .dtype = norm_acc_dtype(n->acc), .type = n->acc };
    n->x[NORM_STATS].stride[1] = 1;
    return true;
}

/* PARAM 1: always uses the batch's statistics; 2: never. */
void cuda_batch_norm(struct kernel *k)
{
    struct norm_call n;
    struct norm_stats_args a;
    bool training = bool_arg(k, "training", bool_arg(k, "train", false));
    if (!start_batch_norm(k, tensor_arg(k, "input"), &n, &a))
        return;
    n.x[NORM_TO] = operand_broadcast(k, result(k, 0), &n.dims);
    n.x[NORM_OTHER] = operand_along(k, tensor_arg(k, "bias"), 1);
    if (k->row->param == 1 || (training && k->row->param != 2))
        use_batch_statistics(k, &n, &a);
    else
        use_running_statistics(k, &n, &a);
    norm_apply(k, &n);
}

/* ---- Backward ---- */

/* Copies sums from a workspace to a result of another type. */
static void copy_sums(struct kernel *k, const struct norm_call *n, struct span_operand from,
                      struct kernel_tensor to)
{
    struct dims d = { .ndim = 1, .size = { n->dims.size[1] } };
    struct reduction r = { .op = "OP_SUM", .acc = n->acc, .dims = d, .n_inputs = 1 };
    if (!to.meta)
        return;
    from.stride[0] = 1;
    r.x[0] = from;
    r.x[REDUCE_INPUTS] = operand_broadcast(k, to, &d);
    run_reduction(k, &r);
}

static void store_statistics(struct kernel *k, struct norm_call *n)
{
    const char *type = NULL;
    n->mean = channels(k, tensor_arg(k, "save_mean"), &type);
    n->rstd =
        channels(k, tensor_arg(k, has_arg(k, "save_invstd") ? "save_invstd" : "save_var"), &type);
    n->stats_type = type ? type : n->acc;
    if (!n->mean || !n->rstd)
        cuda_decline(k);
}

void cuda_batch_norm_backward(struct kernel *k)
{
    struct norm_call n;
    struct norm_stats_args a;
    bool training = k->row->param == 1 || bool_arg(k, "train", bool_arg(k, "update", true));
    struct kernel_tensor g = tensor_arg(k, has_arg(k, "grad_out") ? "grad_out" : "grad_output");
    if (!start_batch_norm(k, tensor_arg(k, "input"), &n, &a))
        return;
    n.backward = true;
    n.x[NORM_OTHER] = operand_broadcast(k, g, &n.dims);
    if (result(k, 0).meta)
        n.x[NORM_TO] = operand_broadcast(k, result(k, 0), &n.dims);
    if (training)
        store_statistics(k, &n);
    else
        use_running_statistics(k, &n, &a);
    struct span_operand sum = operand_workspace(k, norm_acc_dtype(n.acc), &n.dims);
    struct span_operand along = operand_workspace(k, norm_acc_dtype(n.acc), &n.dims);
    struct span_operand mean = n.x[NORM_STATS], rstd = mean;
    mean.type = rstd.type = n.stats_type;
    mean.at = n.mean;
    rstd.at = n.rstd;
    struct reduction r = { .op = "OP_GRADIENT",
                           .acc = n.acc,
                           .dims = n.dims,
                           .n_inputs = 4,
                           .x = { n.x[NORM_OTHER], n.x[NORM_X], mean, rstd, sum, along } };
    run_reduction(k, &r);
    n.sum = training ? sum.at : 0;
    n.along = along.at;
    n.count = (double)reduced_elements(&n.dims) / (double)a.n;
    if (result(k, 0).meta)
        norm_apply(k, &n);
    copy_sums(k, &n, along, result(k, 1));
    copy_sums(k, &n, sum, result(k, 2));
}
