/* Operators that move or repeat the elements of a tensor. */
#include "replay/ops/rules/factory/factories.h"

#include <string.h>

/* --- repeat and tile --- */

bool rule_repeat(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    const sym_id *times;
    uint32_t n = arg_syms(c, 1, &times);
    if (!x.meta)
        return false;
    struct geometry g = geometry_of(x);
    REQUIRE(c, n >= g.n, "RuntimeError",
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
            "tensor");
    if (!check_ndim(c, n))
        return false;
    sym_id size[TENSOR_MAX_DIM];
    for (uint32_t i = 0; i < n && !c->failed && !eager(c); i++)
        CHECK(c, py_ge(c, times[i], SYM_ID_ZERO), "RuntimeError",
              "Repeats cannot be negative, found %s at index %u", sym_text(c, times[i]), i);
    for (uint32_t i = 0; i < n; i++)
        size[i] = i < n - g.n ? times[i] : mul(c, g.size[i - (n - g.n)], times[i]);
    struct tensor_kind kind = { x.meta->dtype, x.meta->device };
    return ret_tensor(c, empty(c, kind, size, n));
}

bool rule_tile(struct call *c)
{
    const sym_id *times;
    return check_ndim(c, arg_syms(c, 1, &times)) && decompose(c, NULL);
}

/* --- flip, roll, rot90 --- */

static struct tensor call_flip(struct call *c, struct tensor x, const int64_t *dims, uint32_t n)
{
    struct value args[] = { value_tensor(x), ints_value(c, dims, n) };
    return call_tensor(c, "aten.flip.default", args, 2);
}

bool rule_flip(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    const int64_t *dims;
    uint32_t n = arg_ints(c, 1, &dims);
    uint64_t seen = 0;
    if (!x.meta)
        return false;
    for (uint32_t i = 0; i < n && !c->failed; i++) {
        uint32_t dim = wrap_dim(c, dims[i], x.meta->ndim);
        if (c->failed)
            return false;
        if (seen >> dim & 1)
            return refuse(c, "RuntimeError",
                          !eager(c) ? "duplicate value in the list of dims"
                                    : "dim %u appears multiple times in the list of dims",
                          dim);
        seen |= UINT64_C(1) << dim;
    }
    struct tensor_kind kind = { x.meta->dtype, x.meta->device };
    return !c->failed && ret_tensor(c, empty_like(c, x, kind, FORMAT_PRESERVE, c->symbolic));
}

/* fliplr and flipud; param is the dimension. */
bool rule_flip_one(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    const int64_t dims[] = { c->param };
    REQUIRE(c, x.meta && x.meta->ndim > (uint32_t)c->param, "RuntimeError",
            "Input must be >= %d-d.", (int)c->param + 1);
    return ret_tensor(c, call_flip(c, x, dims, 1));
}

/* Rolls x along one dimension with an index_select. */
static struct tensor roll_dim(struct call *c, struct tensor x, sym_id shift, int64_t dim)
{
    sym_id size = x.meta->size[wrap_dim(c, dim, x.meta->ndim)];
    struct value end = value_int(size), device = device_value(x.meta->device);
    struct keyword keyword = { STR("device"), device };
    struct value index = call_op_keywords(c, "aten.arange.default", &end, 1, &keyword, 1);
    struct value sum[] = { index, value_int(mod(c, sub(c, size, shift), size)) };
    sum[0] = call_op(c, "aten.add.Tensor", sum, 2);
    sum[1] = end;
    index = call_op(c, "aten.fmod.Scalar", sum, 2);
    struct value args[] = { value_tensor(x), int_value(c, dim), index };
    return call_tensor(c, "aten.index_select.default", args, 3);
}

bool rule_roll(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    const sym_id *shifts;
    const int64_t *dims;
    uint32_t n_shifts = arg_syms(c, 1, &shifts), n_dims = arg_ints(c, 2, &dims);
    if (!x.meta)
        return false;
    struct tensor_kind kind = { x.meta->dtype, x.meta->device };
    for (uint32_t i = 0; i < n_dims && !c->failed && !eager(c); i++)
        wrap_dim(c, dims[i], x.meta->ndim);
    REQUIRE(c, n_shifts > 0, "RuntimeError", "`shifts` required");
    if (n_shifts != 1 || n_dims != 1)
        REQUIRE(c, n_shifts == n_dims || (n_dims == 0 && n_shifts == 1), "RuntimeError",
                "shifts and dimensions must align. shifts: %u, dims:%s%u", n_shifts,
                eager(c) ? "" : " ", n_dims);
    if (guard_bool(c, py_eq(c, numel(c, x), SYM_ID_ZERO)))
        return ret_tensor(c, empty_like(c, x, kind, FORMAT_PRESERVE, c->symbolic));
    for (uint32_t i = 0; i < n_dims && !c->failed; i++) {
        REQUIRE(c, x.meta->ndim > 0, "IndexError",
                "Dimension specified as %lld but tensor has no dimensions", (long long)dims[i]);
        wrap_dim(c, dims[i], x.meta->ndim);
    }
    if (!eager(c) && c->symbolic && !c->failed && n_dims) {
        for (uint32_t i = 0; i < n_dims && !c->failed; i++)
            x = roll_dim(c, x, shifts[i], dims[i]);
        return ret_tensor(c, x);
    }
    return !c->failed &&
           ret_tensor(c, new_tensor(c, kind.dtype, kind.device, x.meta->size, x.meta->ndim));
}

bool rule_rot90(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    const int64_t *dims;
    uint32_t n = arg_ints(c, 2, &dims);
    int64_t turns = ((arg_int(c, 1) % 4) + 4) % 4;
    if (!x.meta)
        return false;
    REQUIRE(c, n == 2, "RuntimeError", "expected total rotation dims == 2, but got dims = %u", n);
    REQUIRE(c, x.meta->ndim >= 2, "RuntimeError",
            "expected total dims >= 2, but got total dims = %u", x.meta->ndim);
    int64_t a = wrap_dim(c, dims[0], x.meta->ndim), b = wrap_dim(c, dims[1], x.meta->ndim);
    if (c->failed)
        return false;
    REQUIRE(c, a != b, "RuntimeError",
            "expected rotation dims to be different, but got dim0 = %lld and dim1 = %lld",
            (long long)a, (long long)b);
    const int64_t both[] = { a, b };
    switch (turns) {
    case 1: return ret_tensor(c, call_transpose(c, call_flip(c, x, &b, 1), a, b));
    case 2: return ret_tensor(c, call_flip(c, x, both, 2));
    case 3: return ret_tensor(c, call_transpose(c, call_flip(c, x, &a, 1), a, b));
    default: return ret_tensor(c, call_clone_format(c, x, FORMAT_CONTIGUOUS));
    }
}

/* --- Pixels and channels --- */

/* meta_pixel_shuffle of torch/_meta_registrations.py makes a new tensor, then calls
 * to(memory_format=...). */
bool rule_pixel_shuffle(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    int64_t factor = arg_int(c, 1);
    if (!x.meta)
        return false;
    struct geometry g = geometry_of(x);
    sym_id by = num(c, factor), square = mul(c, by, by);
    REQUIRE(c, g.n > 2, "RuntimeError",
            "pixel_shuffle expects input to have at least 3 dimensions, but got input with %u "
            "dimension(s)",
            g.n);
    REQUIRE(c, factor > 0, "RuntimeError",
            "pixel_shuffle expects a positive upscale_factor, but got %lld", (long long)factor);
    sym_id *size = g.size + (g.n - 3);
    CHECK(c, py_eq(c, mod(c, size[0], square), SYM_ID_ZERO), "RuntimeError",
          "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of "
          "upscale_factor, but input.size(-3)=%s is not divisible by %lld",
          sym_text(c, size[0]), (long long)(factor * factor));
    enum memory_format format = c->failed ? FORMAT_CONTIGUOUS : suggest_format(c, x);
    size[0] = floordiv(c, size[0], square);
    size[1] = mul(c, size[1], by);
    size[2] = mul(c, size[2], by);
    struct tensor_kind kind = { x.meta->dtype, x.meta->device };
    if (kind.device.type != DEVICE_CPU)
        format = FORMAT_CONTIGUOUS;
    if (behaves(c->env, BEHAVIOR_PIXEL_SHUFFLE_MAKES_STRIDES)) {
        struct tensor like = new_tensor_format(c, kind.dtype, kind.device, g.size, g.n, format);
        return like.meta && ret_tensor(c, new_tensor_strided(c, kind.dtype, kind.device, g.size,
                                                             like.meta->stride, g.n));
    }
    struct tensor made = empty(c, kind, g.size, g.n);
    if (c->failed || suggest_format_c10(c, made) == format)
        return ret_tensor(c, made);
    return ret_tensor(c, new_tensor_format(c, kind.dtype, kind.device, g.size, g.n, format));
}

static struct tensor permuted(struct call *c, struct tensor x, uint32_t batch, const uint8_t *order)
{
    int64_t dims[TENSOR_MAX_DIM];
    for (uint32_t i = 0; i < batch; i++)
        dims[i] = i;
    for (uint32_t i = 0; i < 5; i++)
        dims[batch + i] = batch + order[i];
    return call_permute(c, x, dims, batch + 5);
}

bool rule_pixel_unshuffle(struct call *c)
{
    static const uint8_t order[] = { 0, 2, 4, 1, 3 };
    struct tensor x = arg_tensor(c, 0);
    int64_t factor = arg_int(c, 1);
    if (!x.meta)
        return false;
    struct geometry g = geometry_of(x);
    REQUIRE(c, g.n >= 3, "RuntimeError",
            "pixel_unshuffle expects input to have at least 3 dimensions, but got input with %u "
            "dimension(s)",
            g.n);
    REQUIRE(c, factor > 0, "RuntimeError",
            "pixel_unshuffle expects a positive downscale_factor, but got %lld", (long long)factor);
    uint32_t batch = g.n - 3;
    sym_id by = num(c, factor), square = num(c, factor * factor);
    sym_id *size = g.size + batch;
    static const char *const names[] = { "", "height", "width" };
    for (uint32_t i = 1; i < 3 && eager(c); i++)
        CHECK(c, eq(c, mod(c, size[i], by), SYM_ID_ZERO), "RuntimeError",
              "pixel_unshuffle expects %s to be divisible by downscale_factor, but input.size(%d)"
              "=%s is not divisible by %lld",
              names[i], i == 1 ? -2 : -1, sym_text(c, size[i]), (long long)factor);
    if (!check_ndim(c, (uint64_t)batch + 5))
        return false;
    sym_id h = floordiv(c, size[1], by), w = floordiv(c, size[2], by);
    sym_id apart[TENSOR_MAX_DIM], whole[TENSOR_MAX_DIM];
    memcpy(apart, g.size, batch * sizeof(*apart));
    memcpy(whole, g.size, batch * sizeof(*whole));
    const sym_id inner[] = { size[0], h, by, w, by }, outer[] = { mul(c, size[0], square), h, w };
    memcpy(apart + batch, inner, sizeof(inner));
    memcpy(whole + batch, outer, sizeof(outer));
    enum memory_format format = FORMAT_CONTIGUOUS;
    if (eager(c)) {
        format = suggest_format_c10(c, x);
        return ret_tensor(c,
                          new_tensor_format(c, x.meta->dtype, x.meta->device, whole, g.n, format));
    }
    c->in_kernel = !c->symbolic;
    struct tensor y = permuted(c, call_view(c, x, apart, batch + 5), batch, order);
    y = call_reshape(c, y, whole, g.n);
    format = c->failed ? format : suggest_format(c, x);
    return ret_tensor(c, call_clone_format(c, y, format));
}

/* channel_shuffle of torch/_refs/nn/functional */
bool rule_channel_shuffle(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    sym_id groups = arg_sym(c, 1);
    if (!x.meta)
        return false;
    struct geometry g = geometry_of(x);
    REQUIRE(c, g.n > 2, "RuntimeError",
            "channel_shuffle expects input with > 2 dims, but got input with sizes %s",
            sizes_text(c, g.size, g.n));
    CHECK(c, py_gt(c, groups, SYM_ID_ZERO), "RuntimeError",
          "Number of groups to divide channels in must be positive. Value of groups:%s",
          sym_text(c, groups));
    CHECK(c, py_eq(c, mod(c, g.size[1], groups), SYM_ID_ZERO), "RuntimeError",
          "Number of channels must be divisible by groups. Got %s channels and %s groups.",
          sym_text(c, g.size[1]), sym_text(c, groups));
    if (c->failed)
        return false;
    if (eager(c))
        return ret_tensor(c, new_tensor_format(c, x.meta->dtype, x.meta->device, g.size, g.n,
                                               suggest_format_c10(c, x)));
    if (guard_bool(c, py_eq(c, numel(c, x), SYM_ID_ZERO)))
        return ret_tensor(c, call_view(c, x, g.size, g.n));
    sym_id apart[TENSOR_MAX_DIM + 1] = { g.size[0], groups, floordiv(c, g.size[1], groups) };
    memcpy(apart + 3, g.size + 2, (g.n - 2) * sizeof(*apart));
    struct tensor y = call_reshape(c, x, apart, g.n + 1);
    y = call_reshape(c, call_transpose(c, y, 1, 2), g.size, g.n);
    return ret_tensor(c, call_contiguous(c, y));
}

/* --- im2col and col2im --- */

struct window {
    sym_id kernel[2], dilation[2], padding[2], stride[2];
};

static bool arg_pair(struct call *c, uint32_t at, const char *name, const char *operation,
                     sym_id *ret, bool positive)
{
    const sym_id *items;
    uint32_t n = arg_syms(c, at, &items);
    REQUIRE(c, n == 2, "RuntimeError", "%s(): only 2D %s supported", operation, name);
    for (uint32_t i = 0; i < 2; i++) {
        ret[i] = items[i];
        CHECK(c, positive ? py_gt(c, items[i], SYM_ID_ZERO) : py_ge(c, items[i], SYM_ID_ZERO),
              "RuntimeError", "%s should be greater than zero, but got %s", name,
              sizes_text(c, items, n));
    }
    return !c->failed;
}

static bool arg_window(struct call *c, uint32_t at, const char *operation, struct window *w)
{
    return arg_pair(c, at, "kernel_size", operation, w->kernel, true) &&
           arg_pair(c, at + 1, "dilation", operation, w->dilation, true) &&
           arg_pair(c, at + 2, "padding", operation, w->padding, false) &&
           arg_pair(c, at + 3, "stride", operation, w->stride, true);
}

/* 1 + (size + 2 * padding - dilation * (kernel - 1) - 1) // stride */
static sym_id window_places(struct call *c, const struct window *w, sym_id size, uint32_t i)
{
    sym_id reach = mul(c, w->dilation[i], sub(c, w->kernel[i], SYM_ID_ONE));
    sym_id wide = add(c, size, mul(c, SYM_ID_TWO, w->padding[i]));
    wide = sub(c, sub(c, wide, reach), SYM_ID_ONE);
    return add(c, SYM_ID_ONE, floordiv(c, wide, w->stride[i]));
}

static struct tensor arange_step(struct call *c, sym_id end, sym_id step, struct device device)
{
    struct value args[] = { value_int(SYM_ID_ZERO), value_int(end), value_int(step) };
    struct keyword keywords[] = { { STR("dtype"), dtype_value(DTYPE_I64) },
                                  { STR("device"), device_value(device) } };
    struct value ret = call_op_keywords(c, "aten.arange.start_step", args, 3, keywords, 2);
    return ret.kind == VALUE_TENSOR ? ret.u.tensor : (struct tensor){ .meta = NULL };
}

/* _im2col_col2im_indices_along_dim */
static struct tensor window_indices(struct call *c, const struct window *w, sym_id size, uint32_t i,
                                    struct device device)
{
    sym_id reach = mul(c, w->dilation[i], sub(c, w->kernel[i], SYM_ID_ONE));
    sym_id end = sub(c, add(c, size, mul(c, w->padding[i], SYM_ID_TWO)), reach);
    struct tensor blocks = call_unsqueeze(c, arange_step(c, end, w->stride[i], device), 0);
    struct tensor grid = call_unsqueeze(
        c, arange_step(c, mul(c, w->kernel[i], w->dilation[i]), w->dilation[i], device), -1);
    struct value args[] = { value_tensor(blocks), value_tensor(grid) };
    return call_tensor(c, "aten.add.Tensor", args, 2);
}

static sym_id all_nonzero(struct call *c, const sym_id *size, uint32_t n)
{
    for (uint32_t i = 0; i < n && !c->failed; i++)
        if (!guard_bool(c, py_ne(c, size[i], SYM_ID_ZERO)))
            return SYM_ID_FALSE;
    return SYM_ID_TRUE;
}

static struct tensor pad_sides(struct call *c, struct tensor x, const struct window *w, bool cuts)
{
    sym_id pad[4];
    for (uint32_t i = 0; i < 4; i++) {
        sym_id side = w->padding[i < 2 ? 1 : 0];
        pad[i] = cuts ? sub(c, SYM_ID_ZERO, side) : side;
    }
    struct value args[] = { value_tensor(x), sizes_value(c, pad, 4),
                            value_sym(VALUE_FLOAT, sym_float(c->pool, 0.0)) };
    return call_tensor(c, "aten.constant_pad_nd.default", args, 3);
}

static const int64_t window_order[] = { 0, 1, 2, 4, 3, 5 };

/* im2col of torch/_decomp/decompositions.py, for an input with a batch */
static struct tensor im2col_batched(struct call *c, struct tensor x, const struct window *w)
{
    const struct tensor_meta *m = x.meta;
    struct tensor rows = window_indices(c, w, m->size[2], 0, m->device);
    struct tensor columns = window_indices(c, w, m->size[3], 1, m->device);
    struct tensor padded = pad_sides(c, x, w, false);
    rows = call_unsqueeze(c, call_unsqueeze(c, rows, -1), -1);
    struct value *index = values(c, 4);
    if (c->failed || !index)
        return (struct tensor){ .meta = NULL };
    index[0] = index[1] = value_none();
    index[2] = value_tensor(rows);
    index[3] = value_tensor(columns);
    struct value args[] = { value_tensor(padded), value_items(VALUE_LIST, index, 4) };
    struct tensor y = call_tensor(c, "aten.index.Tensor", args, 2);
    y = call_permute(c, y, window_order, 6);
    if (c->failed)
        return y;
    const sym_id size[] = { m->size[0], mul(c, mul(c, m->size[1], w->kernel[0]), w->kernel[1]),
                            mul(c, rows.meta->size[1], columns.meta->size[1]) };
    return call_reshape(c, y, size, 3);
}

bool rule_im2col(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    struct window w;
    if (!x.meta || !arg_window(c, 1, "im2col", &w))
        return false;
    struct geometry g = geometry_of(x);
    bool ranked = g.n == 3 || g.n == 4;
    if (!ranked || all_nonzero(c, g.size + (g.n - 3), 3) == SYM_ID_FALSE)
        return refuse(c, "RuntimeError",
                      "Expected 3D or 4D (batch mode) tensor for input with possible 0 batch size "
                      "and non-zero dimensions, but got: %s",
                      !eager(c) ? py_tuple_text(c, g.size, g.n) : sizes_text(c, g.size, g.n));
    sym_id *last = g.size + (g.n - 2);
    sym_id places[] = { window_places(c, &w, last[0], 0), window_places(c, &w, last[1], 1) };
    for (uint32_t i = 0; i < 2 && !c->failed; i++)
        if (guard_bool(c, py_gt(c, places[i], SYM_ID_ZERO)))
            continue;
        else if (eager(c))
            return refuse(c, "RuntimeError",
                          "Given input with spatial size %s, kernel_size=%s, dilation=%s, "
                          "padding=%s, calculated shape of the array of sliding blocks as %s, but "
                          "its components must be at least one.",
                          py_tuple_text(c, last, 2), py_tuple_text(c, w.kernel, 2),
                          py_tuple_text(c, w.dilation, 2), py_tuple_text(c, w.padding, 2),
                          py_tuple_text(c, places, 2));
        else
            return refuse(c, "RuntimeError",
                          "Given an input with spatial size %s, kernel_size=%s, dilation=%s, "
                          "padding=%s, stride=%s, the calculated shape of the array of sliding "
                          "blocks is %s, but its components must be at least one.",
                          py_tuple_text(c, last, 2), sizes_text(c, w.kernel, 2),
                          sizes_text(c, w.dilation, 2), sizes_text(c, w.padding, 2),
                          sizes_text(c, w.stride, 2), py_tuple_text(c, places, 2));
    if (c->failed)
        return false;
    if (eager(c)) {
        uint32_t at = g.n - 3;
        g.size[at] = mul(c, g.size[at], mul(c, w.kernel[0], w.kernel[1]));
        g.size[at + 1] = mul(c, places[0], places[1]);
        return ret_tensor(c, new_tensor(c, x.meta->dtype, x.meta->device, g.size, g.n - 1));
    }
    bool batched = g.n == 4;
    if (!batched)
        x = call_unsqueeze(c, x, 0);
    x = c->failed ? x : im2col_batched(c, x, &w);
    return ret_tensor(c, batched ? x : call_squeeze(c, x, 0));
}

/* col2im of torch/_decomp/decompositions.py */
static struct tensor col2im_symbolic(struct call *c, struct tensor x, const sym_id *out,
                                     const struct window *w)
{
    const struct tensor none = { .meta = NULL };
    bool batched = x.meta->ndim == 3;
    if (!batched)
        x = call_unsqueeze(c, x, 0);
    if (c->failed)
        return none;
    const sym_id *size = x.meta->size;
    sym_id area = mul(c, w->kernel[0], w->kernel[1]);
    const sym_id apart[] = {
        size[0],      floordiv(c, size[1], area),     w->kernel[0],
        w->kernel[1], window_places(c, w, out[0], 0), window_places(c, w, out[1], 1)
    };
    struct tensor parts = call_permute(c, call_reshape(c, x, apart, 6), window_order, 6);
    struct tensor rows = window_indices(c, w, out[0], 0, x.meta->device);
    rows = call_unsqueeze(c, call_unsqueeze(c, rows, -1), -1);
    struct tensor columns = window_indices(c, w, out[1], 1, x.meta->device);
    const sym_id whole[] = { size[0], floordiv(c, size[1], area),
                             add(c, out[0], mul(c, SYM_ID_TWO, w->padding[0])),
                             add(c, out[1], mul(c, SYM_ID_TWO, w->padding[1])) };
    struct value fresh[] = { value_tensor(x), sizes_value(c, whole, 4) };
    struct tensor y = call_tensor(c, "aten.new_zeros.default", fresh, 2);
    struct value *index = values(c, 4);
    if (c->failed || !index)
        return none;
    index[0] = index[1] = value_none();
    index[2] = value_tensor(rows);
    index[3] = value_tensor(columns);
    struct value put[] = { value_tensor(y), value_items(VALUE_LIST, index, 4), value_tensor(parts),
                           bool_value(true) };
    y = call_tensor(c, "aten._unsafe_index_put.default", put, 4);
    y = c->failed ? y : pad_sides(c, y, w, true);
    return batched ? y : call_squeeze(c, y, 0);
}

/* (self, output_size, kernel_size, dilation, padding, stride) */
bool rule_col2im(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    struct window w;
    sym_id out[2];
    if (!x.meta || !arg_pair(c, 1, "output_size", "col2im", out, true) ||
        !arg_window(c, 2, "col2im", &w))
        return false;
    struct geometry g = geometry_of(x);
    bool ranked = g.n == 2 || g.n == 3;
    if (!ranked || all_nonzero(c, g.size + (g.n - 2), 2) == SYM_ID_FALSE)
        return refuse(c, "RuntimeError",
                      "Expected 2D or 3D (batch mode) tensor for input with possible 0 batch size "
                      "and non-zero dimensions, but got: %s",
                      !eager(c) ? py_tuple_text(c, g.size, g.n) : sizes_text(c, g.size, g.n));
    sym_id *last = g.size + (g.n - 2), area = mul(c, w.kernel[0], w.kernel[1]);
    CHECK(c, py_eq(c, mod(c, last[0], area), SYM_ID_ZERO), "RuntimeError",
          "Expected size of input's first non-batch dimension to be divisible by the product of "
          "kernel_size, but got input.shape[-2] = %s and kernel_size=%s",
          sym_text(c, last[0]), sizes_text(c, w.kernel, 2));
    sym_id blocks = mul(c, window_places(c, &w, out[0], 0), window_places(c, &w, out[1], 1));
    CHECK(c, py_eq(c, last[1], blocks), "RuntimeError",
          "Given output_size=%s, kernel_size=%s, dilation=%s, padding=%s, stride=%s, expected "
          "input.size(-1) to be %s but got %s.",
          sizes_text(c, out, 2), sizes_text(c, w.kernel, 2), sizes_text(c, w.dilation, 2),
          sizes_text(c, w.padding, 2), sizes_text(c, w.stride, 2), sym_text(c, blocks),
          sym_text(c, last[1]));
    if (c->failed)
        return false;
    if (!eager(c))
        return ret_tensor(c, col2im_symbolic(c, x, out, &w));
    last[0] = floordiv(c, last[0], area);
    last[1] = out[0];
    return geometry_insert(c, &g, g.n, out[1], SYM_ID_ONE) &&
           ret_tensor(c, new_tensor(c, x.meta->dtype, x.meta->device, g.size, g.n));
}

/* --- diag --- */

/* diag_embed(self, offset, dim1, dim2) of ATen/native/TensorShape.cpp */
bool rule_diag_embed(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    if (!x.meta)
        return false;
    int64_t offset = arg_int(c, 1), raw1 = arg_int(c, 2), raw2 = arg_int(c, 3);
    uint32_t n = x.meta->ndim + 1;
    uint32_t dim1 = wrap_dim(c, raw1, n), dim2 = wrap_dim(c, raw2, n);
    if (c->failed || !check_ndim(c, n))
        return false;
    REQUIRE(c, dim1 != dim2, "RuntimeError", "diagonal dimensions cannot be identical %lld, %lld",
            (long long)raw1, (long long)raw2);
    REQUIRE(c, n >= 2, "RuntimeError", "Dimension specified as -1 but tensor has no dimensions");
    sym_id size[TENSOR_MAX_DIM];
    sym_id length =
        add(c, x.meta->size[n - 2], num(c, offset < 0 ? (int64_t)(0 - (uint64_t)offset) : offset));
    for (uint32_t i = 0, k = 0; i < n; i++)
        size[i] = i == dim1 || i == dim2 ? length : x.meta->size[k++];
    struct tensor_kind kind = { x.meta->dtype, x.meta->device };
    return ret_tensor(c, empty(c, kind, size, n));
}

bool rule_diag(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    if (!x.meta)
        return false;
    REQUIRE(c, x.meta->ndim == 1 || x.meta->ndim == 2, "RuntimeError",
            "diag(): Supports 1D or 2D tensors. Got %uD", x.meta->ndim);
    return decompose(c, NULL);
}
