/* Reductions. Each launch chooses how rows are distributed by their number and length: several rows
 * to a warp, a warp or a block for each, or, if that leaves the device idle, many blocks for each,
 * whose states a second launch combines. Rows that are adjacent in memory are read 32 at a time. */
#include "replay/backend/cuda/kernels/reduce/reduce.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "replay/backend/cuda/kernels/strided.h"

const char *sum_type_of(struct kernel *k, struct kernel_tensor x)
{
    const char *type = x.meta ? cuda_sum_type(x.meta->dtype) : NULL;
    if (!type || x.meta->dtype == DTYPE_U64)
        cuda_decline(k);
    return x.meta && x.meta->dtype == DTYPE_U64 ? NULL : type;
}

/* ---- Launches ---- */

/* Returns the blocks for a row, so that the whole device is busy and each block has enough work. */
static void split_rows(struct kernel *k, const struct spans *s, struct reduce_args *a)
{
    int64_t n = s->cols.n, rows = (int64_t)TEAM_THREADS / a->team.lanes;
    int64_t blocks = (s->rows.n + rows - 1) / rows, wanted = 4 * (int64_t)cuda_multiprocessors(k);
    int64_t least = (int64_t)a->team.lanes * 16, align = 4096;
    a->splits = 1;
    a->chunk = n;
    if (blocks * 2 >= wanted || n < 2 * least || (!s->across && a->team.lanes < TEAM_THREADS))
        return;
    int64_t splits = (wanted + blocks - 1) / (blocks ? blocks : 1);
    splits = splits < n / least ? splits : n / least;
    splits = splits < 65535 ? splits : 65535;
    a->chunk = (n + splits - 1) / splits;
    align = s->across ? 1 : a->chunk < align ? 64 : align;
    a->chunk = (a->chunk + align - 1) / align * align;
    a->splits = (n + a->chunk - 1) / a->chunk;
}

static void define_reduction(const struct reduction *r, const struct spans *s, bool vector,
                             struct defines *d)
{
    static const char names[] = "TUVW";
    define(d, "#define %s\n#define ACC %s\n#define INPUTS %u\n#define INDEX %s\n", r->op, r->acc,
           r->n_inputs, s->wide ? "u64" : "u32");
    for (uint32_t i = 0; i < REDUCE_INPUTS; i++)
        define(d, "#define %c %s\n", names[i], r->x[i].at && r->x[i].type ? r->x[i].type : "f32");
    for (uint32_t i = 0; i < REDUCE_OUTPUTS; i++) {
        const struct span_operand *to = &r->x[REDUCE_INPUTS + i];
        define(d, "#define %c %s\n", "OP"[i], to -> at && to -> type ? to -> type : "f32");
    }
    if (vector)
        define(d, "#define VECTOR\n");
}

static uint64_t reduction_bytes(const struct reduction *r, const struct spans *s)
{
    double bytes = 0, n = (double)s->rows.n * (double)s->cols.n;
    for (uint32_t i = 0; i < SPAN_TENSORS; i++) {
        bool steps = i >= REDUCE_INPUTS;
        for (uint32_t d = 0; d < r->dims.ndim; d++)
            steps |= r->x[i].stride[d] != 0;
        if (r->x[i].at && steps)
            bytes += (i < REDUCE_INPUTS ? n : (double)s->rows.n) * dtype_size(r->x[i].dtype);
    }
    return bytes < 1e18 ? (uint64_t)bytes : 0;
}

/* The kernel for sizes that need the other reads is compiled between runs. */
static void put_off_reduction(struct kernel *k, const struct reduction *r, const struct spans *s,
                              bool vector)
{
    struct defines d = { 0 };
    if (r->n_inputs != 1 || !spans_may_be_vectors(s, 0) || r->live.at)
        return;
    define_reduction(r, s, !vector, &d);
    cuda_function_later(k, "reduce", "reduce", d.text);
}

static void launch_reduction(struct kernel *k, const struct reduction *r, const struct spans *s)
{
    struct reduce_args a = { .rows = s->rows, .cols = s->cols, .p = r->p, .scale = r->scale };
    struct defines d = { 0 };
    bool vector = r->n_inputs == 1 && spans_vector(s, r->x, 0);
    uint32_t each = vector ? 16 / dtype_size(r->x[0].dtype) : 2;
    a.team = team_for(s, each);
    split_rows(k, s, &a);
    for (uint32_t i = 0; i < REDUCE_INPUTS; i++)
        a.from[i] = r->x[i].at;
    for (uint32_t i = 0; i < REDUCE_OUTPUTS; i++)
        a.to[i] = r->x[REDUCE_INPUTS + i].at;
    if (a.splits > 1)
        a.partial = cuda_workspace(k, (size_t)(s->rows.n * a.splits) * 4 * sizeof(double));
    define_reduction(r, s, vector, &d);
    struct cuda_grid grid = { team_blocks(k, s, a.team), (uint32_t)a.splits, 1, TEAM_THREADS, 0 };
    cuda_traffic(k, reduction_bytes(r, s), 0);
    cuda_launch_live(k, "reduce", "reduce", d.text, grid, &a, sizeof a, r->live_field, r->live);
    put_off_reduction(k, r, s, vector);
    if (a.splits == 1)
        return;
    a.team = (struct team_shape){ .lanes = a.splits > 64 && s->rows.n < 1024 ? TEAM_THREADS : 32 };
    grid = (struct cuda_grid){ team_blocks(k, s, a.team), 1, 1, TEAM_THREADS, 0 };
    cuda_launch_live(k, "reduce", "reduce_splits", d.text, grid, &a, sizeof a, r->live_field,
                     r->live);
}

void run_reduction(struct kernel *k, const struct reduction *r)
{
    struct spans s;
    if (!r->acc || !spans_of(k, &r->dims, r->x, SPAN_TENSORS, r->places, &s) || s.rows.n == 0)
        return;
    launch_reduction(k, r, &s);
}

/* ---- Operators ---- */

/* Limits the rows, or the columns, by a size of x that the device knows. */
static void limit_reduction(struct kernel *k, struct reduction *r, struct kernel_tensor x)
{
    int64_t each = 1;
    if (!x.meta || !x.meta->extent.is)
        return;
    bool reduced = r->dims.reduced[x.meta->extent.dim];
    for (uint32_t d = 0; d < r->dims.ndim; d++)
        if (d != x.meta->extent.dim && r->dims.reduced[d] == reduced)
            each *= r->dims.size[d];
    r->live = cuda_live_of(k, x, each);
    r->live_field = reduced ? "cols.n" : "rows.n";
}

/* Reduces `self` over the dimensions in `dim`. */
static struct reduction reduction_of(struct kernel *k, const char *op)
{
    struct kernel_tensor self = tensor_arg(k, "self");
    struct reduction r = { .op = op, .dims = dims_of(self), .n_inputs = 1 };
    dims_arg(k, "dim", r.dims.ndim, r.dims.reduced);
    r.x[0] = operand_broadcast(k, self, &r.dims);
    r.x[REDUCE_INPUTS] = operand_kept(k, result(k, 0), &r.dims);
    limit_reduction(k, &r, self);
    return r;
}

static struct kernel_value reduced_dims(struct kernel *k, uint32_t ndim)
{
    int64_t dims[TENSOR_MAX_DIM];
    bool reduced[TENSOR_MAX_DIM];
    uint32_t n = 0;
    dims_arg(k, "dim", ndim, reduced);
    for (uint32_t d = 0; d < ndim; d++)
        if (reduced[d])
            dims[n++] = d;
    return value_of_ints(k, dims, n);
}

/* Sums and means of complex numbers are those of their parts. */
static void reduce_parts(struct kernel *k, const char *name)
{
    struct kernel_tensor self = tensor_arg(k, "self"), to = result(k, 0);
    bool keep = to.meta && self.meta && to.meta->ndim == self.meta->ndim;
    if (k->failed || self.meta->dtype != to.meta->dtype || self.meta->ndim == 0 ||
        !is_stored_real(to)) {
        cuda_decline(k);
        return;
    }
    struct kernel_value whole = value_of_tensor(self), seen = value_of_tensor(to);
    if (!is_stored_real(self))
        whole = run_op(k, "aten.clone.default", &whole, 1);
    struct kernel_value args[] = { run_op(k, "aten.view_as_real.default", &whole, 1),
                                   reduced_dims(k, self.meta->ndim), value_of_bool(keep) };
    seen = run_op(k, "aten.view_as_real.default", &seen, 1);
    run_into(k, name, args, 3, seen);
}

static bool is_complex_tensor(struct kernel_tensor x)
{
    return x.meta && dense_kind_of(x.meta->dtype) == DENSE_COMPLEX;
}

/* Reduces the result of operator `name` for a complex tensor: its magnitudes, or whether elements
 * are zero. */
static void reduce_of(struct kernel *k, const char *name)
{
    struct kernel_value args[8], of[2] = { value_arg(k, "self"), value_of_int(0) };
    uint32_t n = k->call->op->n_positional;
    struct str op = k->call->op->name;
    char text[128];
    if (k->foreach || n > 8 || has_arg(k, "dtype") || op.n >= sizeof text) {
        cuda_decline(k);
        return;
    }
    snprintf(text, sizeof text, "%.*s", STR_ARG(op));
    memcpy(args, k->call->args, n * sizeof *args);
    args[0] = run_op(k, name, of, strcmp(name, "aten.abs.default") ? 2 : 1);
    run_into(k, text, args, n, k->call->result);
}

void cuda_reduce(struct kernel *k)
{
    static const char *const ops[] = { "OP_SUM",  "OP_MEAN", "OP_PROD", "OP_AMAX",
                                       "OP_AMIN", "OP_ANY",  "OP_ALL" };
    int what = k->row->param;
    struct kernel_tensor self = tensor_arg(k, "self");
    if (is_complex_tensor(self) && what < 2) {
        reduce_parts(k, what ? "aten.mean.dim" : "aten.sum.dim_IntList");
        return;
    }
    if (is_complex_tensor(self) && what >= 5) {
        reduce_of(k, "aten.ne.Scalar");
        return;
    }
    struct reduction r = reduction_of(k, ops[what]);
    bool real = r.x[0].type && dense_kind_of(r.x[0].dtype) == DENSE_REAL;
    if (what >= 5)
        r.acc = "i64";
    else
        r.acc = sum_type_of(k, result(k, 0));
    if (real && r.acc && what < 5 && dense_kind_of(r.x[REDUCE_INPUTS].dtype) == DENSE_INT)
        cuda_decline(k); /* sums of floats, converted to integers */
    else
        run_reduction(k, &r);
}

/* var, std (PARAM 1), var_mean (2), std_mean (3). */
void cuda_variance(struct kernel *k)
{
    struct reduction r = reduction_of(k, "OP_VARIANCE");
    r.acc = sum_type_of(k, result(k, 0));
    r.p = has_arg(k, "correction") ? real_arg(k, "correction", 1) : bool_arg(k, "unbiased", true);
    r.scale = k->row->param & 1;
    if (k->row->param & 2)
        r.x[REDUCE_INPUTS + 1] = operand_kept(k, result(k, 1), &r.dims);
    run_reduction(k, &r);
}

void cuda_norm(struct kernel *k)
{
    if (is_complex_tensor(tensor_arg(k, "self"))) {
        reduce_of(k, "aten.abs.default");
        return;
    }
    double p = real_arg(k, has_arg(k, "ord") ? "ord" : "p", 2);
    const char *op = p == 0              ? "OP_COUNT"
                     : p == 1            ? "OP_NORM_ONE"
                     : p == 2            ? "OP_NORM_TWO"
                     : isinf(p) && p > 0 ? "OP_NORM_GREATEST"
                     : isinf(p)          ? "OP_NORM_LEAST"
                                         : "OP_NORM";
    struct reduction r = reduction_of(k, op);
    r.acc = p == 0 ? "i64" : sum_type_of(k, result(k, 0));
    r.p = p;
    run_reduction(k, &r);
}

void cuda_logsumexp(struct kernel *k)
{
    struct reduction r = reduction_of(k, "OP_LOGSUMEXP");
    r.acc = sum_type_of(k, result(k, 0));
    run_reduction(k, &r);
}

/* count_nonzero; nansum (PARAM 1). */
void cuda_count_nonzero(struct kernel *k)
{
    if (is_complex_tensor(tensor_arg(k, "self")) && !k->row->param) {
        reduce_of(k, "aten.ne.Scalar");
        return;
    }
    struct reduction r = reduction_of(k, k->row->param ? "OP_NANSUM" : "OP_COUNT");
    r.acc = sum_type_of(k, result(k, 0));
    run_reduction(k, &r);
}

void cuda_aminmax(struct kernel *k)
{
    struct reduction r = reduction_of(k, "OP_AMINMAX");
    r.acc = sum_type_of(k, tensor_arg(k, "self"));
    r.x[REDUCE_INPUTS + 1] = operand_kept(k, result(k, 1), &r.dims);
    run_reduction(k, &r);
}

/* max, min, argmax, argmin of a dimension or of everything; of equal elements the first counts. */
void cuda_pick(struct kernel *k)
{
    static const char *const ops[] = { "OP_MAX", "OP_MIN", "OP_ARGMAX", "OP_ARGMIN" };
    if (has_arg(k, "other")) {
        cuda_decline(k); /* max.other is maximum */
        return;
    }
    struct reduction r = reduction_of(k, ops[k->row->param]);
    r.acc = sum_type_of(k, tensor_arg(k, "self"));
    r.places = true;
    if (k->row->param < 2 && n_results(k) > 1)
        r.x[REDUCE_INPUTS + 1] = operand_kept(k, result(k, 1), &r.dims);
    run_reduction(k, &r);
}
