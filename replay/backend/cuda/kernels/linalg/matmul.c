/* Operators that are matmuls. */
#include <stdio.h>
#include <string.h>

#include "replay/backend/call/float8.h"
#include "replay/backend/cuda/device/linalg/matmul.h"
#include "replay/backend/cuda/kernels/strided.h"
#include "replay/backend/cuda/libraries/cublaslt.h"
#include "replay/backend/cuda/libraries/product_problem.h"
#include "trace/base/number.h"

enum { MATMUL_DOT_CONJ = 2 };
enum { MATMUL_TILE = 64, MATMUL_THIN = 8, MATMUL_TINY = 1 << 18 };

/* ---- Our own kernels ---- */

static struct matmul_operand matmul_operand_of(const struct cuda_matrix *x)
{
    struct matmul_operand ret = { .p = x->address, .row = x->row, .column = x->column };
    memcpy(ret.batch, x->batch, sizeof ret.batch);
    return ret;
}

/* Transposes the problem: rows become columns. */
static void turn_product(struct cuda_product *p)
{
    struct cuda_matrix a = p->a;
    int64_t m = p->m, a_sum = p->a_sum;
    p->a = p->b, p->b = a;
    p->m = p->n, p->n = m;
    p->a_sum = p->b_sum, p->b_sum = a_sum;
    struct cuda_scales scales = p->scales;
    p->scales.a = scales.b, p->scales.b = scales.a;
    p->scales.a_step = scales.b_step, p->scales.b_step = scales.a_step;
    struct cuda_matrix *matrices[] = { &p->a, &p->b, &p->c, &p->self };
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++)
        cuda_matrix_transpose(matrices[i]);
}

/* Merges batches into rows if they are contiguous and b is the same for all. */
static void merge_rows(struct cuda_product *p)
{
    for (int d = PRODUCT_BATCH_DIMS; d-- > 0;) {
        int64_t n = p->batch[d];
        if (n == 1)
            continue;
        if (p->m == 1)
            p->a.row = p->a.batch[d], p->c.row = p->c.batch[d], p->self.row = p->self.batch[d];
        if (p->b.batch[d] || p->sums != 1 || p->a.batch[d] != p->m * p->a.row ||
            p->c.batch[d] != p->m * p->c.row || p->self.batch[d] != p->m * p->self.row)
            return;
        p->m *= n;
        p->batch[d] = 1;
    }
}

/* Dimensions of batches of size 1 get stride 0; two that are contiguous are merged into the last
 * one. */
static void merge_batches(struct cuda_product *p)
{
    struct cuda_matrix *x[] = { &p->a, &p->b, &p->c, &p->self };
    int to = PRODUCT_BATCH_DIMS;
    for (int d = PRODUCT_BATCH_DIMS; d-- > 0;) {
        int64_t n = p->batch[d], stride[4];
        bool behind = to < PRODUCT_BATCH_DIMS;
        for (int i = 0; i < 4; i++) {
            stride[i] = x[i]->batch[d];
            behind = behind && stride[i] == x[i]->batch[to] * p->batch[to];
        }
        p->batch[d] = 1;
        for (int i = 0; i < 4; i++)
            x[i]->batch[d] = 0;
        if (n == 1)
            continue;
        if (behind) {
            p->batch[to] *= n;
            continue;
        }
        p->batch[--to] = n;
        for (int i = 0; i < 4; i++)
            x[i]->batch[to] = stride[i];
    }
}

static bool is_integer(const struct cuda_matrix *x)
{
    return dense_kind_of(x->dtype) == DENSE_INT;
}

static bool is_byte(const struct cuda_matrix *x)
{
    return x->dtype == DTYPE_I8 || x->dtype == DTYPE_U8;
}

/* Returns whether our kernels multiply a and b. */
static bool types_match(const struct cuda_product *p)
{
    const struct cuda_matrix *a = &p->a, *b = &p->b;
    return a->dtype == b->dtype || (is_float8(a->dtype) && is_float8(b->dtype)) ||
           (is_byte(a) && is_byte(b)) || (p->scaled && is_integer(a) != is_integer(b));
}

/* The type of sums. Those of bytes wrap as a result of 32 bits does. */
static const char *sum_type_of(const struct cuda_product *p)
{
    if (is_byte(&p->a) && is_byte(&p->b) && p->c.dtype == DTYPE_I32)
        return "u32";
    return cuda_sum_type(is_integer(&p->a) ? p->b.dtype : p->a.dtype);
}

/* Returns the function for at most so many rows. Those for other numbers are compiled later. */
static struct cuda_function *thin_function(struct kernel *k, int rows, const char *defines)
{
    char text[352];
    snprintf(text, sizeof text, "%s#define ROWS %d\n", defines, rows);
    struct cuda_function *ret = cuda_function(k, "matmul_thin", "matmul_thin", text);
    const bool is_new = cuda_function_first_use(ret);
    for (int other = 1; other <= MATMUL_THIN && is_new; other *= 2) {
        snprintf(text, sizeof text, "%s#define ROWS %d\n", defines, other);
        if (other != rows)
            cuda_function_later(k, "matmul_thin", "matmul_thin", text);
    }
    return ret;
}

/* thin: for at most so many rows; 0: for any. */
static struct cuda_function *matmul_function(struct kernel *k, const struct cuda_product *p,
                                             int thin)
{
    const char *a = cuda_type(p->a.dtype), *b = cuda_type(p->b.dtype), *c = cuda_type(p->c.dtype);
    const char *self = p->self.address ? cuda_type(p->self.dtype) : c;
    const char *scale = p->scaled ? cuda_type(p->scales.dtype) : "";
    const char *sum = sum_type_of(p);
    char defines[320];
    if (!a || !b || !c || !self || !sum || !scale)
        return NULL;
    snprintf(defines, sizeof defines,
             "#define TA %s\n#define TB %s\n#define TC %s\n#define TS %s\n#define ACC %s\n#define "
             "INTEGERS %d\n%s%s%s",
             a, b, c, self, sum, is_integer(&p->a) && is_integer(&p->b),
             p->scaled ? "#define SCALE " : "", scale, p->scaled ? "\n" : "");
    return thin ? thin_function(k, thin, defines)
                : cuda_function(k, "matmul_tile", "matmul_tile", defines);
}

static int64_t batches(const struct cuda_product *p)
{
    return p->batch[0] * p->batch[1] * p->batch[2];
}

/* Returns whether rows of x, contiguous along `stride` 1, begin at multiples of 16 bytes and have
 * such sizes. */
static bool by_16(const struct cuda_matrix *x, int64_t stride, int64_t sum)
{
    int64_t all = stride | sum | x->batch[0] | x->batch[1] | x->batch[2];
    return x->address % 16 == 0 && all * dtype_size(x->dtype) % 16 == 0;
}

static bool can_read_vectors(const struct cuda_product *p)
{
    return p->a.column == 1 && p->b.row == 1 && p->inner * dtype_size(p->a.dtype) % 16 == 0 &&
           p->inner * dtype_size(p->b.dtype) % 16 == 0 &&
           by_16(&p->a, p->m == 1 ? 0 : p->a.row, p->a_sum) &&
           by_16(&p->b, p->n == 1 ? 0 : p->b.column, p->b_sum);
}

/* Transposes a matmul of few columns to one of few rows; false: it has many of both. */
static bool orient(struct cuda_product *p)
{
    if (p->m > MATMUL_THIN && p->n > MATMUL_THIN)
        return false;
    if (p->m > MATMUL_THIN || (p->n <= MATMUL_THIN && p->n < p->m))
        turn_product(p);
    return true;
}

/* Returns whether our own kernel is faster: a few rows whose time is that of reading the other
 * matrix, 16 bytes at a time; or so little work that starting cuBLASLt takes longer. */
static bool prefers_own_kernel(struct cuda_product p)
{
    if (is_float8(p.a.dtype)) /* their conversion takes longer than reading them */
        return false;
    double work = (double)p.m * (double)p.n * (double)p.inner * (double)batches(&p);
    return orient(&p) && (work <= MATMUL_TINY || can_read_vectors(&p));
}

static void launch_matmul(struct kernel *k, struct cuda_product p)
{
    bool thin = orient(&p);
    struct matmul_args args = {
        .a = matmul_operand_of(&p.a),
        .b = matmul_operand_of(&p.b),
        .c = matmul_operand_of(&p.c),
        .self = matmul_operand_of(&p.self),
        .m = p.m,
        .n = p.n,
        .inner = p.inner,
        .batch = { p.batch[0], p.batch[1], p.batch[2] },
        .sums = p.sums,
        .a_sum = p.a_sum,
        .b_sum = p.b_sum,
        .alpha = p.alpha,
        .beta = p.beta,
        .alpha_int = (int64_t)p.alpha,
        .beta_int = (int64_t)p.beta,
        .scale_a = p.scales.a,
        .scale_b = p.scales.b,
        .scale_a_step = p.scales.a_step,
        .scale_b_step = p.scales.b_step,
        .most = p.scaled ? float8_max(p.c.dtype) : 0,
        .row_tiles = ceil_div(p.m, MATMUL_TILE),
        .column_tiles = ceil_div(p.n, MATMUL_TILE),
    };
    int rows = p.m <= 1 ? 1 : p.m <= 2 ? 2 : p.m <= 4 ? 4 : 8;
    if (thin) {
        /* a whole block for each column if there are too few columns for the device */
        args.columns = p.b.row != 1                                               ? 32
                       : ceil_div(p.n, 8) * batches(&p) < cuda_multiprocessors(k) ? 1
                                                                                  : 8;
        args.vector = can_read_vectors(&p);
        args.row_tiles = 1;
        args.column_tiles = ceil_div(p.n, args.columns);
    }
    int64_t blocks = args.row_tiles * args.column_tiles * batches(&p);
    if (blocks > INT32_MAX) {
        cuda_decline(k);
        return;
    }
    struct cuda_function *f = matmul_function(k, &p, thin ? rows : 0);
    cuda_launch(k, f, (struct cuda_grid){ (uint32_t)blocks, 1, 1, 256, 0 }, &args, sizeof args);
}

/* ---- The choice of a kernel ---- */

static uint64_t matrix_bytes(const struct cuda_product *p, const struct cuda_matrix *x,
                             int64_t rows, int64_t columns)
{
    int64_t n = (x->row ? rows : 1) * (x->column ? columns : 1);
    for (int d = 0; d < PRODUCT_BATCH_DIMS; d++)
        n *= x->batch[d] ? p->batch[d] : 1;
    return x->address ? (uint64_t)n * dtype_size(x->dtype) : 0;
}

void cuda_product_traffic(struct kernel *k, const struct cuda_product *p)
{
    uint64_t bytes = matrix_bytes(p, &p->a, p->m, p->inner) * (uint64_t)p->sums +
                     matrix_bytes(p, &p->b, p->inner, p->n) * (uint64_t)p->sums +
                     matrix_bytes(p, &p->c, p->m, p->n) + matrix_bytes(p, &p->self, p->m, p->n);
    uint64_t products = (uint64_t)(p->m * p->n * batches(p)) * (uint64_t)(p->inner * p->sums);
    cuda_traffic(k, bytes, 2 * products);
}

void cuda_put_self(struct kernel *k, const struct cuda_product *p)
{
    struct cuda_product sum = *p;
    sum.inner = 0;
    sum.beta = 1;
    cuda_traffic(k, 2 * matrix_bytes(p, &p->c, p->m, p->n), 0);
    launch_matmul(k, sum);
    cuda_product_traffic(k, p);
}

static void multiply_reals(struct kernel *k, const struct cuda_product *given)
{
    struct cuda_product p = *given;
    if (p.m == 0 || p.n == 0 || batches(&p) == 0 || k->failed)
        return;
    if (p.beta == 0)
        p.self = (struct cuda_matrix){ .dtype = p.c.dtype };
    if (!cuda_type(p.a.dtype) || !cuda_type(p.b.dtype) || !cuda_type(p.c.dtype) ||
        !cuda_type(p.self.dtype) || !sum_type_of(&p) || !types_match(&p)) {
        cuda_decline(k);
        return;
    }
    merge_rows(&p);
    merge_batches(&p);
    if (p.c.column != 1 && p.n != 1 && p.c.row == 1)
        turn_product(&p);
    cuda_product_traffic(k, &p);
    if (prefers_own_kernel(p) || (!cuda_multiply_padded(k, &p) && !cublaslt_multiply(k, &p)))
        launch_matmul(k, p);
}

/* Returns its real or imaginary parts. */
static struct cuda_matrix matrix_part(struct cuda_matrix x, bool imaginary)
{
    x.dtype = x.dtype == DTYPE_C128 ? DTYPE_F64 : DTYPE_F32;
    x.address += imaginary && x.address ? dtype_size(x.dtype) : 0;
    x.row *= 2;
    x.column *= 2;
    for (int d = 0; d < PRODUCT_BATCH_DIMS; d++)
        x.batch[d] *= 2;
    return x;
}

static double imaginary_sign(const struct cuda_matrix *x, bool imaginary)
{
    return imaginary && x->conj ? -1 : 1;
}

/* Computes re = re re - im im, im = re im + im re. */
static void multiply_by_parts(struct kernel *k, const struct cuda_product *p)
{
    for (int i = 0; i < 4; i++) {
        bool to_im = i & 2, a_im = i & 1, b_im = to_im != a_im;
        struct cuda_product q = *p;
        q.a = matrix_part(p->a, a_im);
        q.b = matrix_part(p->b, b_im);
        q.c = matrix_part(p->c, to_im);
        q.self = matrix_part(a_im ? p->c : p->self, to_im);
        q.a_sum *= 2;
        q.b_sum *= 2;
        q.alpha *=
            imaginary_sign(&p->a, a_im) * imaginary_sign(&p->b, b_im) * (a_im && b_im ? -1 : 1);
        q.beta = a_im ? 1 : p->beta * imaginary_sign(&p->self, to_im);
        multiply_reals(k, &q);
    }
}

static bool is_complex_matrix(const struct cuda_matrix *x)
{
    return x->dtype == DTYPE_C64 || x->dtype == DTYPE_C128;
}

void cuda_multiply(struct kernel *k, const struct cuda_product *p)
{
    bool all = is_complex_matrix(&p->a) && p->a.dtype == p->b.dtype && p->a.dtype == p->c.dtype &&
               (p->beta == 0 || p->self.dtype == p->c.dtype);
    if (all)
        multiply_by_parts(k, p);
    else
        multiply_reals(k, p);
}

/* ---- Operators ---- */

struct view {
    uint32_t ndim;
    int64_t size[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM];
};

static struct view matrix_view(struct kernel_tensor x)
{
    struct view v = { .ndim = tensor_sizes(x, v.size) };
    tensor_strides(x, v.stride);
    return v;
}

/* Adds a dimension of size 1 to a vector, in front or behind. */
static void add_unit_dim(struct view *v, bool behind)
{
    if (v->ndim == 1 && !behind) {
        v->size[1] = v->size[0], v->stride[1] = v->stride[0];
        v->size[0] = 1, v->stride[0] = 0;
    } else if (v->ndim == 1) {
        v->size[1] = 1, v->stride[1] = 0;
    } else if (v->ndim == 0) {
        v->size[0] = v->size[1] = 1;
        v->stride[0] = v->stride[1] = 0;
    }
    v->ndim = v->ndim < 2 ? 2 : v->ndim;
}

/* Broadcasts a matrix to the result's batches, rows and columns. */
static struct cuda_matrix matrix_of(struct kernel *k, const struct cuda_product *p,
                                    struct kernel_tensor x, const struct view *v)
{
    struct cuda_matrix ret = { .address = cuda_address(k, x),
                               .dtype = x.meta->dtype,
                               .conj = x.meta->conj };
    ret.row = v->size[v->ndim - 2] == 1 ? 0 : v->stride[v->ndim - 2];
    ret.column = v->size[v->ndim - 1] == 1 ? 0 : v->stride[v->ndim - 1];
    for (uint32_t d = PRODUCT_BATCH_DIMS; d-- > 0;) {
        uint32_t behind = PRODUCT_BATCH_DIMS - d + 2;
        bool is = behind <= v->ndim && v->size[v->ndim - behind] != 1 && p->batch[d] != 1;
        ret.batch[d] = is ? v->stride[v->ndim - behind] : 0;
    }
    return ret;
}

/* Broadcasts the batches of one tensor with the previous ones. */
static bool add_batches(struct cuda_product *p, const struct view *v)
{
    for (uint32_t i = 0; i + 2 < v->ndim; i++) {
        uint32_t behind = v->ndim - 2 - i;
        if (behind > PRODUCT_BATCH_DIMS && v->size[i] != 1)
            return false;
        if (behind <= PRODUCT_BATCH_DIMS && v->size[i] != 1)
            p->batch[PRODUCT_BATCH_DIMS - behind] = v->size[i];
    }
    return true;
}

static double sign_of_bit(struct kernel_tensor x)
{
    return x.meta && x.meta->neg ? -1 : 1;
}

/* Multiplies. self is broadcast to the result; .meta NULL: none. `over`: sums over the first
 * dimension. */
static void multiply_tensors(struct kernel *k, struct kernel_tensor x, struct kernel_tensor y,
                             struct kernel_tensor self, struct kernel_tensor to, bool over)
{
    struct cuda_product p = { .batch = { 1, 1, 1 }, .sums = 1, .alpha = 1, .beta = 1 };
    if (!x.meta || !y.meta || !to.meta || !is_stored_real(to)) {
        cuda_decline(k);
        return;
    }
    struct view a = matrix_view(x), b = matrix_view(y), c = matrix_view(to);
    bool left = a.ndim < 2, right = b.ndim < 2;
    add_unit_dim(&a, false);
    add_unit_dim(&b, true);
    if (over) {
        p.sums = a.size[0], p.a_sum = a.stride[0], p.b_sum = b.stride[0];
        a.size[0] = b.size[0] = 1;
    }
    /* dimensions that the result lacks: rows or columns of a vector */
    if (left || right) {
        uint32_t n = c.ndim + left + right;
        if (right)
            c.size[c.ndim] = 1, c.stride[c.ndim] = 0, c.ndim++;
        if (left) {
            c.size[n - 1] = c.size[c.ndim - 1], c.stride[n - 1] = c.stride[c.ndim - 1];
            c.size[n - 2] = 1, c.stride[n - 2] = 0, c.ndim = n;
        }
    }
    if (!add_batches(&p, &a) || !add_batches(&p, &b) || c.ndim < 2) {
        cuda_decline(k);
        return;
    }
    p.m = a.size[a.ndim - 2], p.n = b.size[b.ndim - 1], p.inner = a.size[a.ndim - 1];
    p.a = matrix_of(k, &p, x, &a);
    p.b = matrix_of(k, &p, y, &b);
    p.c = matrix_of(k, &p, to, &c);
    if (self.meta) {
        struct view s = matrix_view(self);
        add_unit_dim(&s, right && !left);
        p.self = matrix_of(k, &p, self, &s);
    } else {
        p.self.dtype = p.c.dtype;
    }
    if (value_arg(k, "alpha").kind == KERNEL_COMPLEX ||
        value_arg(k, "beta").kind == KERNEL_COMPLEX) {
        cuda_decline(k);
        return;
    }
    p.a.conj ^= k->row->param == MATMUL_DOT_CONJ;
    p.alpha = real_arg(k, "alpha", 1) * sign_of_bit(x) * sign_of_bit(y);
    p.beta = self.meta ? real_arg(k, "beta", 1) * sign_of_bit(self) : 0;
    cuda_multiply(k, &p);
}

/* PARAM 2: vdot, which conjugates its first argument. */
void cuda_matmul(struct kernel *k)
{
    const char *second = has_arg(k, "mat2")     ? "mat2"
                         : has_arg(k, "vec")    ? "vec"
                         : has_arg(k, "tensor") ? "tensor"
                                                : "other";
    multiply_tensors(k, tensor_arg(k, "self"), tensor_arg(k, second), (struct kernel_tensor){ 0 },
                     result(k, 0), false);
}

/* addmm, addmv, baddbmm, addbmm (PARAM 1: summed over the batch). */
void cuda_add_matmul(struct kernel *k)
{
    static const char *const names[][2] = { { "mat1", "mat2" },
                                            { "batch1", "batch2" },
                                            { "mat", "vec" } };
    size_t i = 0;
    while (i < 3 && !(has_arg(k, names[i][0]) && has_arg(k, names[i][1])))
        i++;
    if (i == 3)
        cuda_decline(k);
    else
        multiply_tensors(k, tensor_arg(k, names[i][0]), tensor_arg(k, names[i][1]),
                         tensor_arg(k, "self"), result(k, 0), k->row->param == 1);
}

/* beta * self + alpha * vec1 outer vec2 */
void cuda_addr(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "vec1"), y = tensor_arg(k, "vec2"), to = result(k, 0);
    struct kernel_tensor self = tensor_arg(k, "self");
    struct cuda_product p = { .batch = { 1, 1, 1 }, .sums = 1, .inner = 1 };
    if (!x.meta || !y.meta || !to.meta || !self.meta || !is_stored_real(to) ||
        value_arg(k, "alpha").kind == KERNEL_COMPLEX ||
        value_arg(k, "beta").kind == KERNEL_COMPLEX) {
        cuda_decline(k);
        return;
    }
    struct view a = matrix_view(x), b = matrix_view(y), c = matrix_view(to), s = matrix_view(self);
    add_unit_dim(&a, true);
    add_unit_dim(&b, false);
    add_unit_dim(&s, false);
    p.m = a.size[0], p.n = b.size[1];
    p.a = matrix_of(k, &p, x, &a);
    p.b = matrix_of(k, &p, y, &b);
    p.c = matrix_of(k, &p, to, &c);
    p.self = matrix_of(k, &p, self, &s);
    p.alpha = real_arg(k, "alpha", 1) * sign_of_bit(x) * sign_of_bit(y);
    p.beta = real_arg(k, "beta", 1) * sign_of_bit(self);
    cuda_multiply(k, &p);
}
