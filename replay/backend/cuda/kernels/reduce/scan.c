/* Cumulative sums, products and extremes: a row belongs to a thread if rows are adjacent in memory,
 * or else to a warp, a block, or, if rows are few and long, to many blocks. */
#include "replay/backend/cuda/device/reduce/scan.h"
#include "replay/backend/cuda/kernels/reduce/reduce.h"

enum { SCAN_TENSORS = 3, SCAN_TILE = TEAM_THREADS * 4 };

static void choose_splits(struct kernel *k, const struct spans *s, struct scan_args *a)
{
    int64_t n = s->cols.n, rows = s->rows.n, wanted = 4 * (int64_t)cuda_multiprocessors(k);
    bool many = rows >= 4096 && (s->across || n <= 16);
    a->team.lanes = many ? 1 : n <= 256 ? 32 : TEAM_THREADS;
    a->chunk = n;
    a->splits = 1;
    if (many || a->team.lanes < TEAM_THREADS || rows * 2 >= wanted || n < 4 * SCAN_TILE)
        return;
    int64_t splits = (wanted + rows - 1) / rows, most = n / (2 * SCAN_TILE);
    splits = splits < most ? splits : most;
    a->chunk = ((n + splits - 1) / splits + SCAN_TILE - 1) / SCAN_TILE * SCAN_TILE;
    a->splits = (n + a->chunk - 1) / a->chunk;
}

static void run_scan(struct kernel *k, const char *op, const char *acc, const struct dims *d,
                     const struct span_operand *x)
{
    struct spans s;
    struct defines text = { 0 };
    if (!acc || !spans_of(k, d, x, SCAN_TENSORS, true, &s) || !s.rows.n || !s.cols.n)
        return;
    struct scan_args a = {
        .rows = s.rows, .cols = s.cols, .from = x[0].at, .to = x[1].at, .places = x[2].at
    };
    choose_splits(k, &s, &a);
    define(&text, "#define %s\n#define T %s\n#define O %s\n#define ACC %s\n#define INDEX %s\n", op,
           x[0].type, x[1].type, acc, s.wide ? "u64" : "u32");
    struct cuda_grid grid = { team_blocks(k, &s, a.team), (uint32_t)a.splits, 1, TEAM_THREADS, 0 };
    uint64_t n = (uint64_t)s.rows.n * (uint64_t)s.cols.n;
    if (a.splits > 1) {
        a.partial = cuda_workspace(k, (size_t)(s.rows.n * a.splits) * 2 * sizeof(double));
        cuda_traffic(k, n * dtype_size(x[0].dtype), 0);
        cuda_launch(k, cuda_function(k, "scan", "scan_totals", text.text), grid, &a, sizeof a);
    }
    cuda_traffic(k, n * (dtype_size(x[0].dtype) + dtype_size(x[1].dtype) + (x[2].at ? 8 : 0)), 0);
    cuda_launch(k, cuda_function(k, "scan", "scan", text.text), grid, &a, sizeof a);
}

static struct dims dims_along(struct kernel *k, struct kernel_tensor x)
{
    struct dims d = dims_of(x);
    if (d.ndim)
        d.reduced[wrapped_dim(int_arg(k, "dim", 0), d.ndim)] = true;
    return d;
}

/* cumsum, cumprod (PARAM 1), logcumsumexp (2). */
void cuda_cumulate(struct kernel *k)
{
    static const char *const ops[] = { "OP_SUM", "OP_PROD", "OP_LOGSUMEXP" };
    struct kernel_tensor self = tensor_arg(k, "self");
    struct dims d = dims_along(k, self);
    const char *acc = sum_type_of(k, result(k, 0));
    struct span_operand x[] = { operand_broadcast(k, self, &d),
                                operand_broadcast(k, result(k, 0), &d),
                                { 0 } };
    if (acc && x[0].type && dense_kind_of(x[0].dtype) == DENSE_REAL &&
        dense_kind_of(x[1].dtype) == DENSE_INT)
        cuda_decline(k);
    else
        run_scan(k, ops[k->row->param], acc, &d, x);
}

/* cummax, cummin (PARAM 1) */
void cuda_cumulate_extreme(struct kernel *k)
{
    struct kernel_tensor self = tensor_arg(k, "self");
    struct dims d = dims_along(k, self);
    struct span_operand x[] = { operand_broadcast(k, self, &d),
                                operand_broadcast(k, result(k, 0), &d),
                                operand_broadcast(k, result(k, 1), &d) };
    run_scan(k, k->row->param ? "OP_MIN" : "OP_MAX", sum_type_of(k, self), &d, x);
}
