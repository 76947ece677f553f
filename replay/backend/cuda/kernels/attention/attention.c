/* Scaled dot product attention in all the forms that PyTorch has kernels for, and its backward.
 *
 * cuDNN computes the cases that it supports, our own kernels all others: attention_tf32.cu those of
 * f32 without sequences, attention.cu the rest. Dropout is not applied, as
 * on the CPU: its values would not be PyTorch's. The backward computes the weights again from
 * queries and keys. Of f32 and f64 it uses the forward's output and logarithms, which it is given;
 * those of half precision are rounded, and computed again. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "replay/backend/cuda/libraries/attention_problem.h"
#include "replay/backend/cuda/libraries/cudnn.h"
#include "replay/backend/cuda/runtime/cuda.h"

enum { ATTENTION_WARPS = 8, ATTENTION_DEPTHS = 512, FOUR = 4 };
/* Of attention_tf32.cu. */
enum { TF32_TILE = 64, TF32_THREADS = 128, TF32_DEPTHS = 256, TF32_ARCHITECTURE = 80 };

/* Reads a tensor as [batch, heads, rows, columns]; missing first dimensions are 1. If `size` is
 * given it is broadcast to that. */
static bool attention_tensor_of(struct kernel *k, struct kernel_tensor x, int64_t *size,
                                bool broadcast, struct attention_tensor *ret)
{
    int64_t sizes[TENSOR_MAX_DIM], strides[TENSOR_MAX_DIM], stride[FOUR] = { 0 };
    uint32_t ndim = x.meta ? tensor_sizes(x, sizes) : 0;
    if (!x.meta || ndim > FOUR || !tensor_strides(x, strides) || x.meta->conj || x.meta->neg)
        return false;
    for (uint32_t d = 0; d < FOUR; d++) {
        bool is = d + ndim >= FOUR;
        int64_t n = is ? sizes[d + ndim - FOUR] : 1;
        stride[d] = is && n != 1 ? strides[d + ndim - FOUR] : 0;
        if (broadcast && n != 1 && n != size[d])
            return false;
        if (!broadcast)
            size[d] = n;
    }
    *ret =
        (struct attention_tensor){ cuda_address(k, x), stride[0], stride[1], stride[2], stride[3] };
    return true;
}

static void swap_rows_and_heads(int64_t *size, struct attention_tensor *x)
{
    int64_t n = size[1], stride = x->head;
    size[1] = size[2], size[2] = n;
    x->head = x->row, x->row = stride;
}

/* Reads the call's tensors. rows_first: [batch, rows, heads, columns]. */
static bool read_cuda_attention(struct kernel *k, bool rows_first, struct cuda_attention *ret)
{
    struct attention_args *a = &ret->args;
    struct kernel_tensor q = tensor_arg(k, "query"), x = tensor_arg(k, "key"),
                         v = tensor_arg(k, "value");
    int64_t of_q[FOUR], of_k[FOUR], of_v[FOUR];
    memset(ret, 0, sizeof *ret);
    if (!attention_tensor_of(k, q, of_q, false, &a->q) ||
        !attention_tensor_of(k, x, of_k, false, &a->k) ||
        !attention_tensor_of(k, v, of_v, false, &a->v) || q.meta->ndim < 3 ||
        x.meta->ndim != q.meta->ndim || v.meta->ndim != q.meta->ndim ||
        x.meta->dtype != q.meta->dtype || v.meta->dtype != q.meta->dtype ||
        dense_kind_of(q.meta->dtype) != DENSE_REAL || !cuda_type(q.meta->dtype) ||
        of_q[3] > ATTENTION_DEPTHS || of_v[3] > ATTENTION_DEPTHS)
        return false;
    if (rows_first) {
        swap_rows_and_heads(of_q, &a->q);
        swap_rows_and_heads(of_k, &a->k);
        swap_rows_and_heads(of_v, &a->v);
    }
    a->batch = of_q[0], a->heads = of_q[1], a->n = of_q[2], a->depth = of_q[3];
    a->key_heads = of_k[1], a->m = of_k[2], a->value_depth = of_v[3];
    a->scale = real_arg(k, "scale", 1 / sqrt((double)a->depth));
    ret->dtype = ret->bias_dtype = q.meta->dtype;
    ret->log_dtype = DTYPE_F32;
    return of_k[0] == a->batch && of_v[0] == a->batch && of_v[1] == a->key_heads &&
           of_v[2] == a->m && of_k[3] == a->depth;
}

static bool bias_of(struct kernel *k, struct cuda_attention *a)
{
    const char *name = has_arg(k, "attn_bias") ? "attn_bias" : "attn_mask";
    int64_t size[FOUR] = { a->args.batch, a->args.heads, a->args.n, a->args.m };
    a->args.causal = bool_arg(k, "is_causal", false);
    if (!has_arg(k, name))
        return true;
    struct kernel_tensor bias = tensor_arg(k, name);
    if (!attention_tensor_of(k, bias, size, true, &a->args.bias) || !cuda_type(bias.meta->dtype))
        return false;
    a->bias_dtype = bias.meta->dtype;
    a->bias = bias.meta->dtype == DTYPE_B8 ? 2 : 1;
    return true;
}

/* ---- Launches ---- */

/* Returns the rows of a warp: as many as have space for their sums in its registers. */
static int rows_of_warp(const struct cuda_attention *a, int depths)
{
    if (a->dtype == DTYPE_F64)
        return depths > 256 ? 1 : 2;
    return depths > 256 ? 2 : 4;
}

static int depths_of(const struct cuda_attention *a)
{
    int64_t deepest = a->args.depth > a->args.value_depth ? a->args.depth : a->args.value_depth;
    return deepest > 256 ? 512 : deepest > 128 ? 256 : deepest > 64 ? 128 : 64;
}

static void launch_attention(struct kernel *k, struct cuda_attention *a, const char *name,
                             const char *out, int64_t rows, int64_t heads)
{
    int depths = depths_of(a), each = rows_of_warp(a, depths) * ATTENTION_WARPS;
    bool wide = a->dtype == DTYPE_F64;
    char defines[512];
    snprintf(defines, sizeof defines,
             "#define T %s\n#define TO %s\n#define TB %s\n#define TL %s\n#define ACC %s\n"
             "#define BIAS %d\n#define DEPTHS %d\n#define ROWS %d\n#define EXP %s\n"
             "#define LOG %s\n#define SEQUENCES %d\n#define X %s\n#define ONLY_%s\n",
             cuda_type(a->dtype), out, cuda_type(a->bias_dtype), cuda_type(a->log_dtype),
             cuda_sum_type(a->dtype), a->bias, depths, each / ATTENTION_WARPS,
             wide ? "exp" : "expf", wide ? "log" : "logf", a->args.bounds_q != 0,
             a->args.bounds_q ? cuda_type(a->bounds_dtype) : "i64", name);
    a->args.tiles = (rows + each - 1) / each;
    int64_t blocks = a->args.tiles * heads;
    if (blocks > INT32_MAX) {
        cuda_decline(k);
        return;
    }
    cuda_launch(k, cuda_function(k, "attention", name, defines),
                (struct cuda_grid){ (uint32_t)blocks, 1, 1, ATTENTION_WARPS * 32, 0 }, &a->args,
                sizeof a->args);
}

/* ---- On tensor cores ---- */

/* Returns whether the tensor is read 16 bytes at a time. */
static bool by_16(const struct attention_tensor *x, int64_t columns)
{
    return !x->p || (x->p % 16 == 0 && x->column == 1 && columns % 4 == 0 &&
                     (x->batch | x->head | x->row) % 4 == 0);
}

static uint32_t tf32_depths_of(const struct cuda_attention *a)
{
    int64_t deepest = a->args.depth > a->args.value_depth ? a->args.depth : a->args.value_depth;
    return deepest ? (uint32_t)(deepest + 31) / 32 * 32 : 32;
}

/* Kernels of attention_tf32.cu: the tensors of which a block has its own rows in shared memory, and
 * by columns how many rows of the other side it has at a time: as many as registers have space for.
 * Two tensors have rows of the other side. */
static const struct tf32_kernel {
    const char *name;
    uint32_t own, others_of_64, others_of_128, others_of_more;
} tf32_forward = { "attention_tf32", 1, 64, 32, 16 },
  tf32_query_gradient = { "attention_tf32_query_gradient", 2, 64, 32, 0 },
  tf32_key_gradient = { "attention_tf32_key_gradient", 2, 64, 32, 0 };

static uint32_t tf32_others(const struct tf32_kernel *kernel, uint32_t depths)
{
    return depths <= 64    ? kernel->others_of_64
           : depths <= 128 ? kernel->others_of_128
                           : kernel->others_of_more;
}

static uint32_t tf32_shared(const struct cuda_attention *a, const struct tf32_kernel *kernel)
{
    uint32_t depths = tf32_depths_of(a);
    uint32_t rows = kernel->own * TF32_TILE + 2 * tf32_others(kernel, depths);
    return rows * (depths + 4) * (uint32_t)sizeof(float);
}

static bool fits_tf32(const struct kernel *k, const struct cuda_attention *a,
                      const struct tf32_kernel *kernel)
{
    const struct cuda *cuda = cuda_of(k);
    return a->dtype == DTYPE_F32 && !a->args.bounds_q && cuda->architecture >= TF32_ARCHITECTURE &&
           tf32_depths_of(a) <= TF32_DEPTHS && tf32_others(kernel, tf32_depths_of(a)) &&
           tf32_shared(a, kernel) <= (uint32_t)cuda->shared_max;
}

/* `rows` of each of the `heads` are tiled. */
static void launch_tf32(struct kernel *k, struct cuda_attention *a,
                        const struct tf32_kernel *kernel, int64_t rows, int64_t heads)
{
    const struct attention_args *x = &a->args;
    char defines[256];
    snprintf(defines, sizeof defines,
             "#define TB %s\n#define TL %s\n#define BIAS %d\n#define DEPTHS %u\n"
             "#define OTHERS %u\n#define MOVE %d\n#define ONLY_%s\n",
             cuda_type(a->bias_dtype), cuda_type(a->log_dtype), a->bias, tf32_depths_of(a),
             tf32_others(kernel, tf32_depths_of(a)),
             by_16(&x->q, x->depth) && by_16(&x->k, x->depth) && by_16(&x->v, x->value_depth) &&
                     by_16(&x->grad_out, x->value_depth)
                 ? 16
                 : 4,
             kernel->name);
    a->args.tiles = (rows + TF32_TILE - 1) / TF32_TILE;
    int64_t blocks = a->args.tiles * heads;
    if (blocks > INT32_MAX) {
        cuda_decline(k);
        return;
    }
    cuda_launch(k, cuda_function(k, "attention_tf32", kernel->name, defines),
                (struct cuda_grid){ (uint32_t)blocks, 1, 1, TF32_THREADS, tf32_shared(a, kernel) },
                &a->args, sizeof a->args);
}

/* ---- Either ---- */

/* Launches the forward; out: its result's type. */
static void launch_forward(struct kernel *k, struct cuda_attention *a, const char *out,
                           int64_t rows)
{
    int64_t heads = a->args.batch * a->args.heads;
    if (fits_tf32(k, a, &tf32_forward))
        launch_tf32(k, a, &tf32_forward, rows, heads);
    else
        launch_attention(k, a, "attention", out, rows, heads);
}

/* Sets the log's bytes and operations: `times` the forward's two matmuls with keys and values. */
static void set_attention_traffic(struct kernel *k, const struct cuda_attention *a, double times)
{
    const struct attention_args *x = &a->args;
    double rows = (double)(x->batch * x->heads) * (double)x->n;
    double flops = times * rows * (double)x->m * (double)(x->depth + x->value_depth);
    double elements =
        rows * (double)(x->depth + x->value_depth) +
        (double)(x->batch * x->key_heads) * (double)x->m * (double)(x->depth + x->value_depth);
    cuda_traffic(k, (uint64_t)(elements * dtype_size(a->dtype)),
                 (uint64_t)(x->causal ? flops / 2 : flops));
}

/* ---- Forward ---- */

/* Reads the result for the logarithms. Its rows may be padded; cuDNN's have a last dimension of
 * size 1. */
static bool logarithms_of(struct kernel *k, struct cuda_attention *a, struct kernel_tensor to)
{
    struct attention_args *x = &a->args;
    int64_t size[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(to, size);
    ndim -= ndim == FOUR && size[FOUR - 1] == 1;
    if (!tensor_strides(to, stride) || ndim < 2 || ndim > 3 || size[ndim - 1] < x->n ||
        size[ndim - 2] != x->heads || (ndim == 3 ? size[0] : 1) != x->batch)
        return false;
    x->padded = size[ndim - 1];
    x->given = (struct attention_tensor){ cuda_address(k, to), ndim == 3 ? stride[0] : 0,
                                          stride[ndim - 2], stride[ndim - 1], 0 };
    a->log_dtype = to.meta->dtype;
    return cuda_type(to.meta->dtype) != NULL;
}

static bool out_of(struct kernel *k, struct cuda_attention *a, bool rows_first)
{
    struct kernel_tensor out = result(k, 0);
    int64_t size[FOUR];
    if (!out.meta || out.meta->dtype != a->dtype ||
        !attention_tensor_of(k, out, size, false, &a->args.out))
        return false;
    if (rows_first)
        swap_rows_and_heads(size, &a->args.out);
    return size[0] == a->args.batch && size[1] == a->args.heads && size[2] == a->args.n &&
           size[3] == a->args.value_depth;
}

/* Sets further results (seeds and others) to zero; our kernels have none. */
static void zero_others(struct kernel *k, uint32_t from)
{
    struct cuda *cuda = cuda_of(k);
    if (k->failed || !cuda_flush(cuda, k->err)) {
        k->failed = true;
        return;
    }
    for (uint32_t i = from; i < n_results(k) && !k->failed; i++) {
        struct kernel_tensor x = result(k, i);
        if (!x.meta || is_view(k, x) || !cuda_address(k, x) || !x.meta->countable)
            continue;
        k->failed =
            !cuda_batch_end(cuda, k->err) ||
            !cuda_check(cuda,
                        cuda->driver.fill_bytes(cuda_address(k, x), 0, x.meta->bytes, cuda->stream),
                        k->err, "zeroing result %u", i);
    }
}

static void run_attention(struct kernel *k, struct cuda_attention *a, uint32_t others)
{
    struct attention_args *x = &a->args;
    int64_t rows = x->given.p && x->padded > x->n ? x->padded : x->n;
    set_attention_traffic(k, a, 2);
    if (!cudnn_attend(k, a)) {
        launch_forward(k, a, cuda_type(a->dtype), rows);
    } else if (x->given.p) {
        cuda_traffic(k, (uint64_t)(x->batch * x->heads * (x->n + rows)) * sizeof(float), 0);
        launch_attention(k, a, "attention_logarithms", cuda_type(a->dtype), rows,
                         x->batch * x->heads);
    }
    zero_others(k, others);
}

void cuda_attention(struct kernel *k)
{
    struct kernel_tensor second = result(k, 1);
    /* it has no elements if the call does not request them (compute_log_sumexp) */
    bool logarithms = n_results(k) > 1 && second.meta &&
                      dense_kind_of(second.meta->dtype) == DENSE_REAL && second.meta->countable &&
                      second.meta->bytes > 0;
    struct cuda_attention a;
    if (!read_cuda_attention(k, false, &a) || !bias_of(k, &a) || !out_of(k, &a, false) ||
        (logarithms && !logarithms_of(k, &a, second)))
        cuda_decline(k);
    else
        run_attention(k, &a, logarithms ? 2 : 1);
}

/* Reads the bounds of concatenated sequences; returns true if there are none. */
static bool bounds_of(struct kernel *k, struct cuda_attention *a, int64_t *sequences)
{
    struct kernel_tensor q = tensor_arg(k, "cu_seqlens_q"), x = tensor_arg(k, "cu_seqlens_k");
    int64_t size[TENSOR_MAX_DIM], other[TENSOR_MAX_DIM];
    *sequences = -1;
    if (!q.meta && !x.meta)
        return true;
    if (!q.meta || !x.meta || q.meta->dtype != x.meta->dtype || tensor_sizes(q, size) != 1 ||
        tensor_sizes(x, other) != 1 || size[0] != other[0] || size[0] < 1 || a->args.batch != 1 ||
        (q.meta->dtype != DTYPE_I32 && q.meta->dtype != DTYPE_I64))
        return false;
    a->bounds_dtype = q.meta->dtype;
    *sequences = size[0] - 1;
    return true;
}

/* Each sequence is a batch; rows outside of sequences are 0. */
static void attend_sequences(struct kernel *k, struct cuda_attention *a, int64_t sequences)
{
    int64_t longest = int_arg(k, "max_seqlen_q", 0);
    zero_others(k, 0);
    a->args.bounds_q = cuda_contiguous(k, tensor_arg(k, "cu_seqlens_q"));
    a->args.bounds_k = cuda_contiguous(k, tensor_arg(k, "cu_seqlens_k"));
    a->args.error = cuda_error_word(k);
    set_attention_traffic(k, a, 2.0 / (double)(sequences ? sequences : 1));
    launch_attention(k, a, "attention", cuda_type(a->dtype),
                     longest > 0 && longest < a->args.n ? longest : a->args.n,
                     sequences * a->args.heads);
}

/* _efficient_attention_forward: [batch, n, heads, depth], or concatenated sequences. */
void cuda_sequences_attention(struct kernel *k)
{
    struct cuda_attention a;
    int64_t sequences;
    if (has_arg(k, "bias") || has_arg(k, "seqlen_k") || has_arg(k, "window_size") ||
        !read_cuda_attention(k, true, &a) || !out_of(k, &a, true) ||
        a.args.heads != a.args.key_heads || !bounds_of(k, &a, &sequences)) {
        cuda_decline(k);
        return;
    }
    a.args.causal = int_arg(k, "custom_mask_type", 0) != 0;
    if (sequences < 0)
        run_attention(k, &a, 1);
    else
        attend_sequences(k, &a, sequences);
}

/* ---- Backward ---- */

/* Reads result `i` as a gradient with those sizes; returns true if it is not requested. */
static bool gradient_of(struct kernel *k, uint32_t i, int64_t heads, int64_t rows, int64_t columns,
                        const struct cuda_attention *a, struct attention_tensor *ret)
{
    struct kernel_tensor to = i < n_results(k) ? result(k, i) : (struct kernel_tensor){ 0 };
    int64_t size[FOUR];
    if (!to.meta)
        return true;
    return to.meta->dtype == a->dtype && attention_tensor_of(k, to, size, false, ret) &&
           size[0] == a->args.batch && size[1] == heads && size[2] == rows && size[3] == columns;
}

static bool read_backward(struct kernel *k, struct cuda_attention *a)
{
    struct attention_args *x = &a->args;
    struct kernel_tensor g = tensor_arg(k, has_arg(k, "grad_out_") ? "grad_out_" : "grad_out");
    int64_t size[FOUR];
    return read_cuda_attention(k, false, a) && bias_of(k, a) &&
           attention_tensor_of(k, g, size, false, &x->grad_out) && g.meta->dtype == a->dtype &&
           size[2] == x->n && size[3] == x->value_depth &&
           gradient_of(k, 0, x->heads, x->n, x->depth, a, &x->grad_q) &&
           gradient_of(k, 1, x->key_heads, x->m, x->depth, a, &x->grad_k) &&
           gradient_of(k, 2, x->key_heads, x->m, x->value_depth, a, &x->grad_v) &&
           gradient_of(k, 3, x->heads, x->n, x->m, a, &x->grad_bias) &&
           (!x->grad_bias.p || a->bias == 1);
}

/* Reads what the forward left. False: it is computed again. */
static bool forward_of(struct kernel *k, struct cuda_attention *a)
{
    struct attention_args *x = &a->args;
    struct kernel_tensor out = tensor_arg(k, "out"), logarithms = tensor_arg(k, "logsumexp");
    int64_t size[FOUR];
    return dtype_size(a->dtype) >= 4 && out.meta && out.meta->dtype == a->dtype &&
           logarithms.meta && attention_tensor_of(k, out, size, false, &x->out) &&
           size[0] == x->batch && size[1] == x->heads && size[2] == x->n &&
           size[3] == x->value_depth && logarithms_of(k, a, logarithms);
}

/* Computes the forward into a workspace. */
static void attend_again(struct kernel *k, struct cuda_attention *a)
{
    struct attention_args *x = &a->args;
    size_t width = a->dtype == DTYPE_F64 ? 8 : 4, rows = (size_t)(x->batch * x->heads * x->n);
    x->given.p = 0;
    x->out =
        (struct attention_tensor){ .p = cuda_workspace(k, rows * (size_t)x->value_depth * width),
                                   .batch = x->heads * x->n * x->value_depth,
                                   .head = x->n * x->value_depth,
                                   .row = x->value_depth,
                                   .column = 1 };
    set_attention_traffic(k, a, 2);
    launch_forward(k, a, cuda_sum_type(a->dtype), x->n);
}

/* Launches what the gradients need of the forward: logarithms and sums. */
static void prepare_gradients(struct kernel *k, struct cuda_attention *a)
{
    struct attention_args *x = &a->args;
    const size_t rows = (size_t)(x->batch * x->heads * x->n);
    const size_t width = a->dtype == DTYPE_F64 ? 8 : 4;
    const bool given = forward_of(k, a);
    x->logarithms = rows ? cuda_workspace(k, rows * width) : 0;
    x->sums = rows ? cuda_workspace(k, rows * width) : 0;
    if (rows && !given)
        attend_again(k, a);
    cuda_traffic(k, rows * ((size_t)x->value_depth * 2 + 1) * width,
                 rows * (size_t)x->value_depth * 2);
    launch_attention(k, a, "attention_sums", cuda_sum_type(a->dtype), x->n, x->batch * x->heads);
}

/* Computes the gradients of query, key, value and, if there is one, bias. */
void cuda_attention_backward(struct kernel *k)
{
    struct cuda_attention a;
    struct attention_args *x = &a.args;
    if (!read_backward(k, &a)) {
        cuda_decline(k);
        return;
    }
    set_attention_traffic(k, &a, 7);
    if (cudnn_attend_back(k, &a))
        return;
    const char *out = cuda_sum_type(a.dtype);
    prepare_gradients(k, &a);
    int64_t heads = x->batch * x->heads, key_heads = x->batch * x->key_heads;
    if (x->grad_q.p || x->grad_bias.p) {
        set_attention_traffic(k, &a, 3);
        if (fits_tf32(k, &a, &tf32_query_gradient))
            launch_tf32(k, &a, &tf32_query_gradient, x->n, heads);
        else
            launch_attention(k, &a, "attention_query_gradient", out, x->n, heads);
    }
    if (x->grad_k.p || x->grad_v.p) {
        set_attention_traffic(k, &a, 4);
        if (fits_tf32(k, &a, &tf32_key_gradient))
            launch_tf32(k, &a, &tf32_key_gradient, x->m, key_heads);
        else
            launch_attention(k, &a, "attention_key_gradient", out, x->m, key_heads);
    }
}
