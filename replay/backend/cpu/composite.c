/* Operators that PyTorch itself writes with others (CompositeImplicitAutograd), as graphs before
 * their decomposition hold them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "replay/backend/cpu/matmul.h"

static struct value pass(const struct kernel *k, const char *name)
{
    return value_arg(k, name);
}

static sym_id integer(struct kernel *k, int64_t n)
{
    return sym_integer((struct sym_pool *)k->call->pool, n);
}

static struct value int_list(struct kernel *k, const int64_t *x, uint32_t n)
{
    struct value *items = room(k, n, sizeof *items);
    for (uint32_t i = 0; i < n && items; i++)
        items[i] = value_int(integer(k, x[i]));
    return value_items(VALUE_LIST, items, items ? n : 0);
}

static struct value flag(bool yes)
{
    return value_sym(VALUE_BOOL, yes ? SYM_ID_TRUE : SYM_ID_FALSE);
}

/* input @ weight.T + bias */
void kernel_linear(struct kernel *k)
{
    static const uint32_t turned[] = { 1, 0 };
    struct dense x = load_as(k, tensor_arg(k, "input"), DENSE_REAL);
    struct dense w = load_as(k, tensor_arg(k, "weight"), DENSE_REAL);
    struct dense bias = has_arg(k, "bias") ? load_as(k, tensor_arg(k, "bias"), DENSE_REAL)
                                           : (struct dense){ 0 };
    int64_t inner = w.ndim ? w.size[w.ndim - 1] : 1, n = w.ndim > 1 ? w.size[0] : 1;
    int64_t size[] = { inner ? x.n / inner : 0, n };
    struct dense out = dense_new(k, DENSE_REAL, size, 2);
    w = w.ndim == 2 ? dense_permute(k, w, turned) : w;
    if (k->failed)
        return;
    multiply_matrices(x.u.r, w.u.r, out.u.r, size[0], n, inner);
    for (int64_t i = 0; bias.u.p && i < out.n; i++)
        out.u.r[i] += bias.u.r[i % n];
    store(k, result(k, 0), out);
}

/* matmul: batches of matrices, broadcast; vectors gain a dimension that the result has not. */
void kernel_matmul(struct kernel *k)
{
    struct dense a = load_as(k, tensor_arg(k, "self"), DENSE_REAL);
    struct dense b = load_as(k, tensor_arg(k, "other"), DENSE_REAL);
    bool left = a.ndim == 1, right = b.ndim == 1;
    int64_t vector[2];
    if (left) {
        vector[0] = 1, vector[1] = a.n;
        a = dense_reshape(a, vector, 2);
    }
    if (right) {
        vector[0] = b.n, vector[1] = 1;
        b = dense_reshape(b, vector, 2);
    }
    if (k->failed || a.ndim < 2 || b.ndim < 2)
        return;
    uint32_t ndim = a.ndim > b.ndim ? a.ndim : b.ndim;
    int64_t as[TENSOR_MAX_DIM], bs[TENSOR_MAX_DIM], batch = 1;
    int64_t m = a.size[a.ndim - 2], inner = a.size[a.ndim - 1], n = b.size[b.ndim - 1];
    for (uint32_t i = 0; i + 2 < ndim; i++) {
        int64_t x = i + a.ndim >= ndim ? a.size[i + a.ndim - ndim] : 1;
        int64_t y = i + b.ndim >= ndim ? b.size[i + b.ndim - ndim] : 1;
        as[i] = bs[i] = x == 1 ? y : x;
        batch *= as[i];
    }
    as[ndim - 2] = m, as[ndim - 1] = inner, bs[ndim - 2] = inner, bs[ndim - 1] = n;
    a = dense_broadcast(k, a, as, ndim);
    b = dense_broadcast(k, b, bs, ndim);
    int64_t size[] = { batch, m, n };
    struct dense out = dense_new(k, DENSE_REAL, size, 3);
    for (int64_t i = 0; i < batch && !k->failed; i++)
        multiply_matrices(a.u.r + i * m * inner, b.u.r + i * inner * n, out.u.r + i * m * n, m, n,
                          inner);
    store(k, result(k, 0), out);
}

/* conv1d, conv2d, conv3d; conv_transpose*d (PARAM 10 more). "same" and "valid" are paddings, too. */
void kernel_conv(struct kernel *k)
{
    uint32_t dims = (uint32_t)k->row->param % 10;
    bool transposed = k->row->param > 10;
    int64_t padding[3] = { 0 }, window[TENSOR_MAX_DIM], dilation[3];
    uint32_t n = ints_arg(k, "dilation", dilation, 3);
    tensor_sizes(k, tensor_arg(k, "weight"), window);
    for (uint32_t i = 0; i < dims && n; i++)
        padding[i] = (window[2 + i] - 1) * dilation[i < n ? i : n - 1] / 2;
    struct value pad = pass(k, "padding");
    if (pad.kind == VALUE_STRING) {
        if (str_is(pad.u.text, "valid"))
            memset(padding, 0, sizeof padding);
        pad = int_list(k, padding, dims);
    }
    struct value output_padding = transposed ? pass(k, "output_padding")
                                             : int_list(k, (const int64_t[3]){ 0 }, dims);
    struct value args[] = { pass(k, "input"), pass(k, "weight"), pass(k, "bias"),
                            pass(k, "stride"), pad, pass(k, "dilation"), flag(transposed),
                            output_padding, pass(k, "groups") };
    copy_results(k, run_op(k, "aten.convolution.default", args, 9));
}

static void first_of(struct kernel *k, const char *name, const struct value *args, uint32_t n)
{
    struct value all = run_op(k, name, args, n);
    if ((all.kind == VALUE_TUPLE || all.kind == VALUE_LIST) && all.n)
        copy_results(k, all.u.items[0]);
}

void kernel_layer_norm_whole(struct kernel *k)
{
    struct value args[] = { pass(k, "input"), pass(k, "normalized_shape"), pass(k, "weight"),
                            pass(k, "bias"), pass(k, "eps") };
    first_of(k, "aten.native_layer_norm.default", args, 5);
}

void kernel_group_norm_whole(struct kernel *k)
{
    int64_t size[TENSOR_MAX_DIM], hw = 1;
    uint32_t ndim = tensor_sizes(k, tensor_arg(k, "input"), size);
    for (uint32_t i = 2; i < ndim; i++)
        hw *= size[i];
    struct value args[] = { pass(k, "input"), pass(k, "weight"), pass(k, "bias"),
                            value_int(integer(k, size[0])), value_int(integer(k, size[1])),
                            value_int(integer(k, hw)), pass(k, "num_groups"), pass(k, "eps") };
    first_of(k, "aten.native_group_norm.default", args, 8);
}

void kernel_batch_norm_whole(struct kernel *k)
{
    struct value args[] = { pass(k, "input"), pass(k, "weight"), pass(k, "bias"),
                            pass(k, "running_mean"), pass(k, "running_var"), pass(k, "training"),
                            pass(k, "momentum"), pass(k, "eps") };
    first_of(k, "aten.native_batch_norm.default", args, 8);
}

void kernel_rms_norm(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "input"), DENSE_REAL);
    struct dense w = has_arg(k, "weight") ? load_as(k, tensor_arg(k, "weight"), DENSE_REAL)
                                          : (struct dense){ 0 };
    int64_t shape[TENSOR_MAX_DIM], n = 1;
    uint32_t ndim = ints_arg(k, "normalized_shape", shape, TENSOR_MAX_DIM);
    struct tensor to = result(k, 0);
    for (uint32_t i = 0; i < ndim; i++)
        n *= shape[i];
    double eps = real_arg(k, "eps", to.meta && to.meta->dtype == DTYPE_F64 ? 0x1p-52 : 0x1p-23);
    int64_t rows = n ? x.n / n : 0;
    struct dense rstd = dense_new(k, DENSE_REAL, &rows, 1);
    for (int64_t r = 0; r < rows && !k->failed; r++) {
        double sum = 0;
        for (int64_t i = 0; i < n; i++)
            sum += x.u.r[r * n + i] * x.u.r[r * n + i];
        rstd.u.r[r] = 1 / sqrt(sum / (double)n + eps);
        for (int64_t i = 0; i < n; i++)
            x.u.r[r * n + i] *= rstd.u.r[r] * (w.u.p ? w.u.r[i] : 1);
    }
    store(k, to, x);
    if (n_results(k) > 1)
        store(k, result(k, 1), rstd);
}

/* dropout: evaluated it is the identity. */
void kernel_dropout_whole(struct kernel *k)
{
    struct dense x = load(k, tensor_arg(k, "input"));
    double p = real_arg(k, "p", 0.5);
    struct random r = random_of(k);
    bool train = bool_arg(k, "train", false);
    for (int64_t i = 0; i < x.n && train && x.kind == DENSE_REAL; i++)
        x.u.r[i] = random_uniform(&r) >= p && p < 1 ? x.u.r[i] / (1 - p) : 0;
    store(k, result(k, 0), x);
}

/* adaptive_avg_pool2d and its like. */
void kernel_adaptive_avg_pool_whole(struct kernel *k)
{
    struct value args[] = { pass(k, "self"), pass(k, "output_size") };
    copy_results(k, run_op(k, k->row->param == 2 ? "aten._adaptive_avg_pool2d.default"
                                                 : "aten._adaptive_avg_pool3d.default",
                           args, 2));
}

void kernel_max_pool_whole(struct kernel *k)
{
    struct value args[] = { pass(k, "self"), pass(k, "kernel_size"), pass(k, "stride"),
                            pass(k, "padding"), pass(k, "dilation"), pass(k, "ceil_mode") };
    first_of(k, k->row->param == 2 ? "aten.max_pool2d_with_indices.default"
                                   : "aten.max_pool3d_with_indices.default",
             args, 6);
}

/* pad: by its mode. */
void kernel_pad_whole(struct kernel *k)
{
    struct str mode = text_arg(k, "mode");
    int64_t pad[2 * TENSOR_MAX_DIM];
    uint32_t n = ints_arg(k, "pad", pad, 2 * TENSOR_MAX_DIM) / 2;
    struct value args[] = { pass(k, "self"), pass(k, "pad"), pass(k, "value") };
    bool constant = mode.n == 0 || str_is(mode, "constant"), reflect = str_is(mode, "reflect");
    char name[64] = "aten.constant_pad_nd.default";
    if (!constant && !reflect && !str_is(mode, "replicate")) {
        kernel_fail(k, "padding mode %.*s", STR_ARG(mode));
        return;
    }
    if (!constant)
        snprintf(name, sizeof name, "aten.%s_pad%ud.default",
                 reflect ? "reflection" : "replication", n);
    if (args[2].kind == VALUE_NONE)
        args[2] = value_int(SYM_ID_ZERO);
    copy_results(k, run_op(k, name, args, constant ? 3 : 2));
}
