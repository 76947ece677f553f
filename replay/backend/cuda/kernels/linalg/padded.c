/* Matmuls of f16 and bf16 whose sizes are padded to multiples of 8, as Inductor's pad_mm pads them
 * (torch/_inductor/fx_passes/pad_mm.py).
 *
 * cuBLASLt has its fastest kernels where each contiguous dimension is a multiple of 16 bytes;
 * without that, a product of bf16 takes two to seven times as long on an H200. Strides that are
 * such multiples are not enough: with the same sizes, it takes as long as without them. The copies
 * are worth it from about 200 multiplications for each element of the matrices on; f32 without TF32
 * gains nothing (tests/device/results/backend.md, "Products of odd sizes"). */
#include <stdlib.h>
#include <string.h>

#include "replay/backend/cuda/device/linalg/resize.h"
#include "replay/backend/cuda/kernels/strided.h"
#include "replay/backend/cuda/libraries/cublaslt.h"
#include "replay/backend/cuda/libraries/product_problem.h"
#include "trace/base/number.h"

enum { PAD_MULTIPLE = 8, PAD_INTENSITY = 200, PAD_WARPS = 8, LAST = PRODUCT_BATCH_DIMS - 1 };

static int64_t rounded_up(int64_t n)
{
    return ceil_div(n, PAD_MULTIPLE) * PAD_MULTIPLE;
}

/* Returns whether rows are contiguous instead of columns. */
static bool is_turned(const struct cuda_matrix *x)
{
    return x->column != 1 && x->row == 1;
}

/* Returns whether rows or columns are contiguous, which cuBLASLt requires. */
static bool is_contiguous(const struct cuda_matrix *x)
{
    return x->column == 1 || x->row == 1;
}

static bool is_half(enum dtype dtype)
{
    return dtype == DTYPE_F16 || dtype == DTYPE_BF16;
}

static bool is_supported(const struct cuda_product *p)
{
    const enum dtype dtype = p->a.dtype;
    return is_half(dtype) && p->b.dtype == dtype && p->c.dtype == dtype &&
           (!p->self.address || p->self.dtype == dtype) && p->c.column == 1 &&
           is_contiguous(&p->a) && is_contiguous(&p->b) && !p->scaled && p->sums == 1 &&
           p->batch[0] == 1 && p->batch[1] == 1 && p->inner > 0;
}

/* Returns whether there are so many multiplications that copies of the matrices do not matter. */
static bool pays(const struct cuda_product *p)
{
    const char *how = getenv("SYMTAPE_CUDA_PAD_MM");
    const double m = (double)p->m, n = (double)p->n, inner = (double)p->inner;
    if (how && (strcmp(how, "all") == 0 || strcmp(how, "none") == 0))
        return *how == 'a';
    return m * n * inner >= PAD_INTENSITY * (m * inner + inner * n + m * n);
}

/* Rounds up the sizes of contiguous dimensions; false: they are multiples already. */
static bool pad_sizes(struct cuda_product *p)
{
    const struct cuda_product before = *p;
    if (p->a.column == 1 || is_turned(&p->b))
        p->inner = rounded_up(p->inner);
    if (is_turned(&p->a))
        p->m = rounded_up(p->m);
    p->n = rounded_up(p->n);
    return p->m != before.m || p->n != before.n || p->inner != before.inner;
}

/* A matrix and its sizes. */
struct sized {
    struct cuda_matrix x;
    int64_t rows, columns;
};

static struct sized transposed(struct sized s)
{
    const int64_t rows = s.rows;
    cuda_matrix_transpose(&s.x);
    s.rows = s.columns;
    s.columns = rows;
    return s;
}

static void resize(struct kernel *k, struct sized to, struct sized from, int64_t batches)
{
    if (is_turned(&to.x)) {
        to = transposed(to);
        from = transposed(from);
    }
    const struct resize_args args = {
        .to = to.x.address,
        .from = from.x.address,
        .batches = batches,
        .rows = to.rows,
        .columns = to.columns,
        .from_rows = from.rows,
        .from_columns = from.columns,
        .to_batch = to.x.batch[LAST],
        .to_row = to.x.row,
        .from_batch = from.x.batch[LAST],
        .from_row = from.x.row,
        .from_column = from.x.column,
        .parts = ceil_div(to.columns, RESIZE_COLUMNS),
    };
    const int64_t lines = batches * to.rows * args.parts;
    const int64_t reach = batches * (to.x.batch[LAST] + from.x.batch[LAST]) +
                          to.rows * (to.x.row + from.x.row) +
                          (to.columns + RESIZE_COLUMNS) * (1 + from.x.column) + lines;
    const bool wide = cuda_always_wide(k) || reach > INT32_MAX;
    cuda_traffic(k, 2 * (uint64_t)(batches * to.rows * to.columns) * dtype_size(to.x.dtype), 0);
    cuda_launch(
        k,
        cuda_function(k, "resize", "resize",
                      wide ? "#define T u16\n#define I i64\n" : "#define T u16\n#define I i32\n"),
        (struct cuda_grid){ cuda_blocks(k, lines, PAD_WARPS), 1, 1, PAD_WARPS * 32, 0 }, &args,
        sizeof args);
}

/* ---- The copies ---- */

/* Replaces the matrix by a workspace of these sizes, laid out as it is. False: there is no memory.
 */
static bool take_like(struct kernel *k, struct cuda_matrix *x, int64_t rows, int64_t columns,
                      int64_t batches)
{
    const bool turned = is_turned(x);
    struct cuda_matrix ret = { .dtype = x->dtype };
    ret.address =
        cuda_workspace_optional(k, (size_t)(rows * columns * batches) * dtype_size(x->dtype));
    ret.row = turned ? 1 : columns;
    ret.column = turned ? rows : 1;
    ret.batch[LAST] = batches == 1 ? 0 : rows * columns;
    *x = ret;
    return ret.address != 0;
}

/* One that all batches share is copied once. */
static int64_t copies_of(const struct cuda_matrix *x, int64_t batches)
{
    return x->batch[LAST] ? batches : 1;
}

static bool has_other_result(const struct cuda_product *given, const struct cuda_product *p)
{
    return p->m != given->m || p->n != given->n;
}

/* Returns whether what is added is a vector for cuBLASLt's epilogue. */
static bool is_vector(const struct cuda_product *p)
{
    return p->self.row == 0 && p->self.column == 1 && p->beta == 1 && p->batch[LAST] == 1;
}

/* The result gets a workspace; what is added to it is copied there, or is a vector. */
static bool take_result(struct kernel *k, const struct cuda_product *given, struct cuda_product *p)
{
    if (!take_like(k, &p->c, p->m, p->n, p->batch[LAST]))
        return false;
    if (!p->self.address)
        return true;
    if (!is_vector(given)) {
        p->self = p->c;
        return true;
    }
    if (p->n == given->n)
        return true;
    const bool taken = take_like(k, &p->self, 1, p->n, 1);
    p->self.row = 0;
    return taken;
}

/* Replaces the matrices whose sizes are others by workspaces, before anything is copied. False:
 * there is no memory for one of them. */
static bool take_copies(struct kernel *k, const struct cuda_product *given, struct cuda_product *p)
{
    const int64_t batches = p->batch[LAST];
    const bool other_a = p->m != given->m || p->inner != given->inner;
    const bool other_b = p->n != given->n || p->inner != given->inner;
    return (!other_a || take_like(k, &p->a, p->m, p->inner, copies_of(&p->a, batches))) &&
           (!other_b || take_like(k, &p->b, p->inner, p->n, copies_of(&p->b, batches))) &&
           (!has_other_result(given, p) || take_result(k, given, p));
}

/* Copies what the product reads to the workspaces. */
static void fill_copies(struct kernel *k, const struct cuda_product *given,
                        const struct cuda_product *p)
{
    const int64_t batches = p->batch[LAST];
    if (p->a.address != given->a.address)
        resize(k, (struct sized){ p->a, p->m, p->inner },
               (struct sized){ given->a, given->m, given->inner }, copies_of(&given->a, batches));
    if (p->b.address != given->b.address)
        resize(k, (struct sized){ p->b, p->inner, p->n },
               (struct sized){ given->b, given->inner, given->n }, copies_of(&given->b, batches));
    if (p->self.address != given->self.address) {
        const bool vector = is_vector(given);
        resize(k, (struct sized){ p->self, vector ? 1 : p->m, p->n },
               (struct sized){ given->self, vector ? 1 : given->m, given->n }, batches);
    }
}

static bool multiply_copies(struct kernel *k, const struct cuda_product *given,
                            struct cuda_product *p)
{
    if (!take_copies(k, given, p) || cublaslt_refuses(k, p))
        return false;
    fill_copies(k, given, p);
    cuda_product_traffic(k, given);
    if (k->failed || !cublaslt_multiply(k, p))
        return false;
    if (has_other_result(given, p))
        resize(k, (struct sized){ given->c, given->m, given->n },
               (struct sized){ p->c, p->m, p->n }, p->batch[LAST]);
    return true;
}

bool cuda_multiply_padded(struct kernel *k, const struct cuda_product *given)
{
    struct cuda_product p = *given;
    if (!is_supported(given) || !pad_sizes(&p) || !pays(given) || !cublaslt_is_found(k))
        return false;
    const size_t before = cuda_workspaces(k);
    if (multiply_copies(k, given, &p))
        return true;
    cuda_workspaces_give_back(k, before);
    return k->failed;
}
