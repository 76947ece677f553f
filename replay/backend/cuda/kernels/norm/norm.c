/* Normalisation: layer, group, RMS, batch; forward and backward.
 *
 * One launch normalises rows if there is a block for each. For few and long rows, and for channels
 * of batches, a reduction over the whole device computes the statistics, and a second launch
 * applies them to all elements. */
#include "replay/backend/cuda/kernels/norm/norm.h"

#include <string.h>

enum {
    KEPT_BYTES = 32 * 1024
}; /* of shared memory, so that a multiprocessor can have several blocks */

enum dtype norm_acc_dtype(const char *acc)
{
    return strcmp(acc, "f64") ? DTYPE_F32 : DTYPE_F64;
}

const char *norm_start(struct kernel *k, struct kernel_tensor x)
{
    if (!x.meta || dense_kind_of(x.meta->dtype) != DENSE_REAL || !cuda_sum_type(x.meta->dtype)) {
        cuda_decline(k);
        return NULL;
    }
    return cuda_sum_type(x.meta->dtype);
}

/* Returns statistics in the order of the kept dimensions. */
static struct span_operand statistics_in_order(struct kernel *k, struct kernel_tensor x,
                                               const struct dims *d)
{
    struct span_operand ret = operand_kept(k, x, d);
    int64_t step = 1;
    if (!ret.at)
        return ret;
    ret.at = cuda_contiguous(k, x);
    for (uint32_t i = d->ndim; i-- > 0;) {
        ret.stride[i] = d->reduced[i] || d->size[i] == 1 ? 0 : step;
        step *= d->reduced[i] ? 1 : d->size[i];
    }
    return ret;
}

static int64_t kept_rows(const struct dims *d)
{
    int64_t n = 1;
    for (uint32_t i = 0; i < d->ndim; i++)
        n *= d->reduced[i] ? 1 : d->size[i];
    return n;
}

static int64_t cols_of(const struct dims *d)
{
    int64_t n = 1;
    for (uint32_t i = 0; i < d->ndim; i++)
        n *= d->reduced[i] ? d->size[i] : 1;
    return n;
}

/* ---- Launches ---- */

static struct norm_args norm_args_of(const struct norm_call *n, const struct spans *s)
{
    return (struct norm_args){ .rows = s->rows,
                               .cols = s->cols,
                               .x = n->x[NORM_X].at,
                               .to = n->x[NORM_TO].at,
                               .weight = n->x[NORM_WEIGHT].at,
                               .other = n->x[NORM_OTHER].at,
                               .mean = n->mean,
                               .rstd = n->rstd,
                               .sum = n->sum,
                               .along = n->along,
                               .eps = n->eps,
                               .count = n->count,
                               .centred = n->centred,
                               .weighted = n->weighted };
}

static void define_norm(const struct norm_call *n, const struct spans *s, const char *part,
                        struct defines *d)
{
    const struct span_operand *w = &n->x[NORM_WEIGHT], *b = &n->x[NORM_OTHER];
    define(d, "#define %s\n#define T %s\n#define W %s\n#define B %s\n#define S %s\n", part,
           n->x[NORM_X].type, w->at ? w->type : "f32", b->at ? b->type : "f32", n->stats_type);
    define(d, "#define ACC %s\n#define INDEX %s\n%s", n->acc, s->wide ? "u64" : "u32",
           n->backward ? "#define BACKWARD\n" : "");
}

/* Returns whether x, the result and, in backward, the gradient have one type, which vectors
 * need. */
static bool same_types(const struct norm_call *n)
{
    return n->x[NORM_TO].dtype == n->x[NORM_X].dtype &&
           (!n->backward || n->x[NORM_OTHER].dtype == n->x[NORM_X].dtype);
}

static uint64_t traffic(const struct norm_call *n, const struct spans *s)
{
    uint64_t size = dtype_size(n->x[NORM_X].dtype);
    return (uint64_t)s->rows.n * (uint64_t)s->cols.n * size * (n->backward ? 3 : 2);
}

static void launch_rows(struct kernel *k, const struct norm_call *n, const struct spans *s)
{
    struct norm_args a = norm_args_of(n, s);
    struct defines d = { 0 };
    bool vector = same_types(n) && spans_vector(s, n->x, NORM_X) &&
                  spans_vector(s, n->x, NORM_TO) &&
                  (!n->backward || spans_vector(s, n->x, NORM_OTHER));
    a.team = team_for(s, vector ? 16 / dtype_size(n->x[NORM_X].dtype) : 1);
    int64_t bytes = TEAM_THREADS / a.team.lanes * (int64_t)dtype_size(norm_acc_dtype(n->acc));
    a.kept = !n->backward && s->cols.n <= KEPT_BYTES / bytes;
    bytes *= a.kept ? s->cols.n : 0;
    bool both = same_types(n) && spans_may_be_vectors(s, NORM_X) &&
                spans_may_be_vectors(s, NORM_TO) &&
                (!n->backward || spans_may_be_vectors(s, NORM_OTHER));
    define_norm(n, s, "ROWS", &d);
    struct cuda_grid grid = { team_blocks(k, s, a.team), 1, 1, TEAM_THREADS, (uint32_t)bytes };
    cuda_traffic(k, traffic(n, s), 0);
    const char *name = n->backward ? "norm_rows_backward" : "norm_rows";
    cuda_launch(k, spans_function(k, "norm", name, &d, vector, both), grid, &a, sizeof a);
}

static bool is_run(const struct spans *s, uint32_t i)
{
    return s->rows.ndim > 0 && s->rows.stride[i][s->rows.ndim - 1] == 1;
}

/* Returns whether runs of 16 bytes along the innermost dimension can be read and written. */
static bool runs_of_16(const struct spans *s, const struct span_operand *x, uint32_t i)
{
    int64_t each = 16 / (int64_t)dtype_size(x[i].dtype), last = s->rows.ndim - 1;
    if (!is_run(s, i) || s->rows.size[last] % each || x[i].at % 16)
        return false;
    for (int64_t d = 0; d < last; d++)
        if (s->rows.stride[i][d] % each)
            return false;
    return true;
}

void norm_apply(struct kernel *k, const struct norm_call *n)
{
    struct spans s;
    struct defines d = { 0 };
    struct dims all = n->dims;
    memset(all.reduced, 0, sizeof all.reduced);
    if (!spans_of(k, &all, n->x, NORM_TENSORS, false, &s) || s.rows.n == 0)
        return;
    struct norm_args a = norm_args_of(n, &s);
    bool vector = same_types(n) && runs_of_16(&s, n->x, NORM_X) && runs_of_16(&s, n->x, NORM_TO) &&
                  (!n->backward || runs_of_16(&s, n->x, NORM_OTHER));
    bool both = same_types(n) && is_run(&s, NORM_X) && is_run(&s, NORM_TO) &&
                (!n->backward || is_run(&s, NORM_OTHER));
    define_norm(n, &s, "APPLY", &d);
    int64_t each = vector ? 16 / (int64_t)dtype_size(n->x[NORM_X].dtype) : 1;
    struct cuda_grid grid = { cuda_blocks(k, s.rows.n, TEAM_THREADS * each), 1, 1, TEAM_THREADS,
                              0 };
    cuda_traffic(k, traffic(n, &s), 0);
    const char *name = n->backward ? "norm_apply_backward" : "norm_apply";
    cuda_launch(k, spans_function(k, "norm", name, &d, vector, both), grid, &a, sizeof a);
}

void norm_stats(struct kernel *k, const struct norm_stats_args *a, const char *acc,
                const char *const *types)
{
    struct defines d = { 0 };
    define(&d, "#define INDEX u64\n#define ACC %s\n#define M %s\n#define S %s\n#define R %s\n", acc,
           types[0], types[1], types[2]);
    struct cuda_grid grid = { cuda_blocks(k, a->n, TEAM_THREADS), 1, 1, TEAM_THREADS, 0 };
    if (a->n)
        cuda_launch(k, cuda_function(k, "norm", "norm_stats", d.text), grid, a, sizeof *a);
}

/* ---- Rows: layer, group, RMS ---- */

static bool few_and_long(const struct kernel *k, const struct spans *s)
{
    return s->rows.n < cuda_multiprocessors(k) && s->cols.n > 16384;
}

void norm_moments(struct kernel *k, const struct norm_call *n, struct span_operand *mean,
                  struct span_operand *var)
{
    *mean = operand_workspace(k, norm_acc_dtype(n->acc), &n->dims);
    *var = operand_workspace(k, norm_acc_dtype(n->acc), &n->dims);
    struct reduction r = { .op = "OP_VARIANCE", .acc = n->acc, .dims = n->dims, .n_inputs = 1 };
    r.x[0] = n->x[NORM_X];
    r.x[REDUCE_INPUTS] = *var;
    r.x[REDUCE_INPUTS + 1] = *mean;
    run_reduction(k, &r);
}

static void normalise_apart(struct kernel *k, struct norm_call *n)
{
    struct span_operand mean, var;
    norm_moments(k, n, &mean, &var);
    struct norm_stats_args a = { .n = kept_rows(&n->dims),
                                 .mean = mean.at,
                                 .var = var.at,
                                 .step = 1,
                                 .to_rstd = var.at,
                                 .save_mean = n->mean,
                                 .save_rstd = n->rstd,
                                 .eps = n->eps };
    norm_stats(k, &a, n->acc, (const char *const[]){ n->acc, n->stats_type, n->acc });
    n->x[NORM_STATS] = mean;
    n->mean = mean.at;
    n->rstd = var.at;
    norm_apply(k, n);
}

static bool save_in_order(const struct norm_call *n)
{
    int64_t step = 1;
    for (uint32_t i = n->dims.ndim; i-- > 0;)
        if (!n->dims.reduced[i] && n->dims.size[i] != 1) {
            if (n->mean && n->x[NORM_STATS].stride[i] != step)
                return false;
            step *= n->dims.size[i];
        }
    return true;
}

static void normalise_rows(struct kernel *k, struct norm_call *n)
{
    struct spans s;
    if (!spans_of(k, &n->dims, n->x, NORM_TENSORS, false, &s))
        return;
    if (s.cols.n == 0 && s.rows.n)
        cuda_decline(k);
    else if (s.rows.n && n->centred && few_and_long(k, &s) && save_in_order(n))
        normalise_apart(k, n);
    else if (s.rows.n)
        launch_rows(k, n, &s);
}

/* Sums the gradient g * w, and its product with the values, in workspaces, and then computes the
 * gradient of x. */
static void differentiate_apart(struct kernel *k, struct norm_call *n)
{
    enum dtype dtype = norm_acc_dtype(n->acc);
    struct span_operand sum = operand_workspace(k, dtype, &n->dims),
                        along = operand_workspace(k, dtype, &n->dims);
    struct span_operand mean = n->x[NORM_STATS];
    mean.at = n->mean;
    struct reduction r = { .op = "OP_GRADIENT",
                           .acc = n->acc,
                           .dims = n->dims,
                           .n_inputs = 4,
                           .p = 1,
                           .x = { n->x[NORM_OTHER], n->x[NORM_X], mean, n->x[NORM_WEIGHT], sum,
                                  along } };
    run_reduction(k, &r);
    n->sum = sum.at;
    n->along = along.at;
    n->weighted = true;
    n->count = (double)cols_of(&n->dims);
    norm_apply(k, n);
}

static void differentiate(struct kernel *k, struct norm_call *n)
{
    struct spans s;
    if (!spans_of(k, &n->dims, n->x, NORM_TENSORS, false, &s) || !s.rows.n || !s.cols.n)
        return;
    if (few_and_long(k, &s))
        differentiate_apart(k, n);
    else
        launch_rows(k, n, &s);
}

/* Computes the gradients of weight and bias: sums over the elements that share a weight. */
static void weight_gradients(struct kernel *k, const struct norm_call *n, const struct dims *d,
                             struct span_operand weight, struct span_operand bias)
{
    struct span_operand mean = n->x[NORM_STATS], rstd = mean;
    mean.at = n->mean;
    rstd.at = n->rstd;
    struct reduction r = { .op = "OP_GRADIENT",
                           .acc = n->acc,
                           .dims = *d,
                           .n_inputs = 4,
                           .x = { n->x[NORM_OTHER], n->x[NORM_X], mean, rstd, bias, weight } };
    if (weight.at || bias.at)
        run_reduction(k, &r);
}

/* Returns the dimensions, with the last ones reduced, as many as normalized_shape has. */
static struct dims dims_of_layer(struct kernel *k, struct kernel_tensor x)
{
    int64_t shape[TENSOR_MAX_DIM];
    struct dims d = dims_of(x);
    uint32_t n = ints_arg(k, "normalized_shape", shape, TENSOR_MAX_DIM);
    for (uint32_t i = 0; i < n && i < d.ndim; i++)
        d.reduced[d.ndim - 1 - i] = true;
    return d;
}

static void save_stats(struct kernel *k, struct norm_call *n, struct kernel_tensor mean,
                       struct kernel_tensor rstd)
{
    struct span_operand m = operand_kept(k, mean, &n->dims), r = operand_kept(k, rstd, &n->dims);
    n->x[NORM_STATS] = r;
    n->mean = m.at;
    n->rstd = r.at;
    n->stats_type = r.at ? r.type : n->acc;
}

void cuda_layer_norm(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "input");
    struct norm_call n = { .dims = dims_of_layer(k, x), .acc = norm_start(k, x), .centred = true };
    if (!n.acc)
        return;
    n.eps = real_arg(k, "eps", 1e-5);
    n.x[NORM_X] = operand_broadcast(k, x, &n.dims);
    n.x[NORM_TO] = operand_broadcast(k, result(k, 0), &n.dims);
    n.x[NORM_WEIGHT] = operand_broadcast(k, tensor_arg(k, "weight"), &n.dims);
    n.x[NORM_OTHER] = operand_broadcast(k, tensor_arg(k, "bias"), &n.dims);
    n.stats_type = n.acc;
    if (n_results(k) == 3)
        save_stats(k, &n, result(k, 1), result(k, 2));
    normalise_rows(k, &n);
}

/* rms_norm, _fused_rms_norm */
void cuda_rms_norm(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "input");
    struct norm_call n = { .dims = dims_of_layer(k, x), .acc = norm_start(k, x) };
    if (!n.acc)
        return;
    n.eps = real_arg(k, "eps", x.meta->dtype == DTYPE_F64 ? 0x1p-52 : 0x1p-23);
    n.x[NORM_X] = operand_broadcast(k, x, &n.dims);
    n.x[NORM_TO] = operand_broadcast(k, result(k, 0), &n.dims);
    n.x[NORM_WEIGHT] = operand_broadcast(k, tensor_arg(k, "weight"), &n.dims);
    n.stats_type = n.acc;
    if (n_results(k) > 1)
        save_stats(k, &n, (struct kernel_tensor){ 0 }, result(k, 1));
    normalise_rows(k, &n);
}

static void start_backward(struct kernel *k, struct norm_call *n)
{
    struct span_operand mean = statistics_in_order(k, tensor_arg(k, "mean"), &n->dims);
    struct span_operand rstd = statistics_in_order(k, tensor_arg(k, "rstd"), &n->dims);
    n->backward = n->centred = true;
    n->x[NORM_STATS] = rstd;
    n->stats_type = rstd.type ? rstd.type : n->acc;
    n->mean = mean.at;
    n->rstd = rstd.at;
    if (rstd.at && mean.dtype != rstd.dtype)
        cuda_decline(k);
}

void cuda_layer_norm_backward(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "input");
    struct norm_call n = { .dims = dims_of_layer(k, x), .acc = norm_start(k, x) };
    struct dims across = n.dims;
    if (!n.acc)
        return;
    for (uint32_t i = 0; i < across.ndim; i++)
        across.reduced[i] = !n.dims.reduced[i];
    start_backward(k, &n);
    n.x[NORM_X] = operand_broadcast(k, x, &n.dims);
    n.x[NORM_OTHER] = operand_broadcast(k, tensor_arg(k, "grad_out"), &n.dims);
    n.x[NORM_WEIGHT] = operand_broadcast(k, tensor_arg(k, "weight"), &n.dims);
    struct span_operand weight = operand_kept(k, result(k, 1), &across);
    struct span_operand bias = operand_kept(k, result(k, 2), &across);
    if (result(k, 0).meta) {
        n.x[NORM_TO] = operand_broadcast(k, result(k, 0), &n.dims);
        struct norm_call rows = n;
        differentiate(k, &rows);
    }
    weight_gradients(k, &n, &across, weight, bias);
}

/* ---- Groups: [N, C, ...] as [N, group, C / group, ...] ---- */

static bool dims_of_groups(struct kernel *k, struct kernel_tensor x, struct dims *ret)
{
    struct dims d = dims_of(x);
    int64_t groups = int_arg(k, "group", 1), n = int_arg(k, "N", 1), c = int_arg(k, "C", 1);
    if (d.ndim < 2 || d.ndim + 1 > TENSOR_MAX_DIM || groups < 1 || d.size[0] != n ||
        d.size[1] != c || c % groups) {
        cuda_decline(k);
        return false;
    }
    *ret = (struct dims){ .ndim = d.ndim + 1, .size = { n, groups, c / groups } };
    memcpy(ret->size + 3, d.size + 2, (d.ndim - 2) * sizeof *d.size);
    for (uint32_t i = 2; i < ret->ndim; i++)
        ret->reduced[i] = true;
    return true;
}

/* Returns a tensor's operand whose dimension of channels, `at`, is split in two. */
static struct span_operand split_channels(struct kernel *k, struct kernel_tensor x, uint32_t at,
                                          const struct dims *d)
{
    struct dims dims = { .ndim = x.meta ? x.meta->ndim : 0 };
    struct span_operand whole = operand_broadcast(k, x, &dims), ret = whole;
    memset(ret.stride, 0, sizeof ret.stride);
    for (uint32_t i = 0; i < dims.ndim; i++)
        ret.stride[i + 1 - at + (i > at)] = whole.stride[i];
    if (dims.ndim) {
        ret.stride[2] = whole.stride[at];
        ret.stride[1] = whole.stride[at] * d->size[2];
    }
    return ret;
}

void cuda_group_norm(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "input");
    struct norm_call n = { .acc = norm_start(k, x), .centred = true };
    if (!n.acc || !dims_of_groups(k, x, &n.dims))
        return;
    n.eps = real_arg(k, "eps", 1e-5);
    n.x[NORM_X] = split_channels(k, x, 1, &n.dims);
    n.x[NORM_TO] = split_channels(k, result(k, 0), 1, &n.dims);
    n.x[NORM_WEIGHT] = split_channels(k, tensor_arg(k, "weight"), 0, &n.dims);
    n.x[NORM_OTHER] = split_channels(k, tensor_arg(k, "bias"), 0, &n.dims);
    save_stats(k, &n, result(k, 1), result(k, 2));
    normalise_rows(k, &n);
}

void cuda_group_norm_backward(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "input");
    struct norm_call n = { .acc = norm_start(k, x) };
    if (!n.acc || !dims_of_groups(k, x, &n.dims))
        return;
    struct dims across = n.dims;
    for (uint32_t i = 0; i < across.ndim; i++)
        across.reduced[i] = i == 0 || i > 2;
    start_backward(k, &n);
    n.x[NORM_X] = split_channels(k, x, 1, &n.dims);
    n.x[NORM_OTHER] = split_channels(k, tensor_arg(k, "grad_out"), 1, &n.dims);
    n.x[NORM_WEIGHT] = split_channels(k, tensor_arg(k, "weight"), 0, &n.dims);
    struct span_operand weight = split_channels(k, result(k, 1), 0, &across);
    struct span_operand bias = split_channels(k, result(k, 2), 0, &across);
    if (result(k, 0).meta) {
        n.x[NORM_TO] = split_channels(k, result(k, 0), 1, &n.dims);
        struct norm_call rows = n;
        differentiate(k, &rows);
    }
    weight_gradients(k, &n, &across, weight, bias);
}
