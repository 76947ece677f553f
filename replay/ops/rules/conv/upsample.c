/* Resizing images (torch/_decomp/decompositions.py, _meta_registrations.py). */
#include "replay/ops/rules/compose.h"

#include <math.h>

enum { MAX_SPATIAL = 3 };

/* --- Numbers that may be symbolic --- */

static struct value number_arithmetic(struct call *c, enum node_method method, struct value a,
                                      struct value b)
{
    bool concrete = is_number(c, a.u.sym) && is_number(c, b.u.sym);
    double x = concrete ? sym_to_double(c->pool, a.u.sym) : 0;
    double y = concrete ? sym_to_double(c->pool, b.u.sym) : 0;
    if (concrete && method == NODE_METHOD_MUL)
        return F(c, x * y);
    if (concrete && method == NODE_METHOD_SUB)
        return F(c, x - y);
    sym_id args[] = { a.u.sym, b.u.sym };
    enum number_type types[] = { a.kind == VALUE_FLOAT ? NUMBER_FLOAT : NUMBER_INT,
                                 b.kind == VALUE_FLOAT ? NUMBER_FLOAT : NUMBER_INT };
    enum number_type type = NUMBER_FLOAT;
    sym_id e = c->failed ? SYM_NONE : node_method(c->env, method, args, types, 2, &type);
    if (e == SYM_NONE)
        guard_bool(c, SYM_NONE);
    return value_sym(VALUE_FLOAT, e);
}

/* Returns int(x) of a float that may be symbolic. */
static sym_id whole_number(struct call *c, struct value x)
{
    if (is_number(c, x.u.sym))
        return num(c, (int64_t)sym_to_double(c->pool, x.u.sym));
    enum number_type from = NUMBER_FLOAT, type = NUMBER_INT;
    sym_id e =
        c->failed ? SYM_NONE : node_method(c->env, NODE_METHOD_SYM_INT, &x.u.sym, &from, 1, &type);
    if (e == SYM_NONE)
        guard_bool(c, SYM_NONE);
    return e;
}

static bool is_positive(struct call *c, struct value scale)
{
    if (!value_is_number(scale))
        return false;
    if (is_number(c, scale.u.sym))
        return sym_to_double(c->pool, scale.u.sym) > 0;
    return guard_bool(c, sym_gt(c->pool, scale.u.sym, SYM_ID_ZERO));
}

struct resize {
    struct tensor x;
    uint32_t n;
    sym_id out[MAX_SPATIAL];
    struct value scale[MAX_SPATIAL]; /* None where it follows from the sizes */
    bool align;
    bool by_float; /* a whole factor multiplies a size as a float, too */
};

/* --- Sizes --- */

/* upsample_compute_output_size: computes the sizes from the sizes or the factors, whichever is
 * given. */
static bool read_vec(struct call *c, struct resize *r, uint32_t sizes_arg, uint32_t factors_arg)
{
    struct value factors = arg(c, factors_arg);
    const sym_id *sizes;
    uint32_t n = arg_syms(c, sizes_arg, &sizes);
    r->n = ndim_of(r->x) > 2 ? ndim_of(r->x) - 2 : 0;
    bool by_factor = factors.kind == VALUE_LIST || factors.kind == VALUE_TUPLE;
    if (!require(c, arg_given(c, sizes_arg) != by_factor, "RuntimeError",
                 "Must specify exactly one of output_size and scale_factors"))
        return false;
    if (!require(c, r->n <= MAX_SPATIAL && r->n == (by_factor ? factors.n : n), "RuntimeError",
                 "%s", ""))
        return false;
    for (uint32_t i = 0; i < r->n && !c->failed; i++) {
        r->scale[i] = by_factor ? factors.u.items[i] : value_none();
        if (!by_factor) {
            r->out[i] = sizes[i];
            continue;
        }
        sym_id in = size_of(c, r->x, i + 2);
        double s =
            is_number(c, r->scale[i].u.sym) ? sym_to_double(c->pool, r->scale[i].u.sym) : NAN;
        if (s == trunc(s) && !r->by_float)
            r->out[i] = mul(c, in, num(c, (int64_t)s));
        else
            r->out[i] =
                whole_number(c, number_arithmetic(c, NODE_METHOD_MUL, value_int(in), r->scale[i]));
    }
    return !c->failed;
}

/* upsample_common_check, and the sizes of the result */
static bool full_size(struct call *c, const sym_id *in, uint32_t n_in, const sym_id *out,
                      uint32_t n_out, uint32_t n, sym_id *ret)
{
    require(c, n_out == n, "RuntimeError",
            "It is expected output_size equals to %u, but got size %u", n, n_out);
    require(c, n_in == n + 2, "RuntimeError",
            "It is expected input_size equals to %u, but got size %u", n + 2, n_in);
    bool good = true;
    for (uint32_t i = 0; i < n && good && !c->failed; i++)
        good = guard_bool(c, gt(c, in[i + 2], SYM_ID_ZERO));
    for (uint32_t i = 0; i < n && good && !c->failed; i++)
        good = guard_bool(c, gt(c, out[i], SYM_ID_ZERO));
    require(c, good, "RuntimeError",
            "Input and output sizes should be greater than 0, but got input size %s and output "
            "size %s",
            sizes_text(c, in, n_in), sizes_text(c, out, n_out));
    for (uint32_t i = 0; i < n + 2 && !c->failed; i++)
        ret[i] = i < 2 ? in[i] : out[i - 2];
    return !c->failed;
}

static bool check_nonempty(struct call *c, struct tensor x)
{
    uint32_t n = ndim_of(x);
    bool good = guard_bool(c, ne(c, numel(c, x), SYM_ID_ZERO)) ||
                (n && guard_bool(c, ne(c, product(c, sizes_of(x) + 1, n - 1), SYM_ID_ZERO)));
    return require(c, good, "RuntimeError",
                   "Non-empty %uD data tensor expected but got a tensor with sizes %s", n,
                   sizes_text(c, sizes_of(x), n));
}

/* Returns the format of the result. CUDA keeps channels last only for many channels. */
static enum memory_format result_format(struct call *c, struct tensor x, int64_t channels)
{
    enum memory_format format = suggest_format(c, x);
    if (!c->failed && on_cuda(x) && ndim_of(x) == 4 &&
        guard_bool(c, lt(c, size_of(c, x, 1), num(c, channels))))
        format = FORMAT_CONTIGUOUS;
    return format;
}

static struct tensor contiguous_as(struct call *c, struct tensor x, enum memory_format format)
{
    if (c->failed || !some(x) || is_contiguous(c, x, format))
        return x;
    return clone_format(c, x, format);
}

/* Whether a tensor has the strides that empty() gives it. Then C++ knows that it is contiguous
 * (TensorImpl::generic_set_sizes_contiguous()), and contiguous() evaluates no condition. */
static bool is_fresh(struct call *c, struct tensor x)
{
    return some(x) &&
           new_tensor(c, x.meta->dtype, x.meta->device, x.meta->size, x.meta->ndim).meta == x.meta;
}

enum { RESULT_CONVERTED = 32 }; /* the meta kernel makes its format by to() */

/* upsample_nearest1d ... 3d and the antialiased operators. The arguments are input, output_size,
 * ...; param is the number of dimensions, plus RESULT_CONVERTED. */
bool rule_upsample(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    const sym_id *out;
    uint32_t n = arg_syms(c, 1, &out), dims = (uint32_t)c->param & ~(uint32_t)RESULT_CONVERTED;
    sym_id sizes[TENSOR_MAX_DIM];
    if (!check_nonempty(c, x) || !full_size(c, sizes_of(x), ndim_of(x), out, n, dims, sizes))
        return false;
    enum memory_format format = dims == 2 ? result_format(c, x, 4) : suggest_format(c, x);
    if (c->param & RESULT_CONVERTED)
        return ret_tensor(c, empty_to_format(c, x, sizes, dims + 2, format));
    return ret_tensor(c, new_tensor_format(c, dtype_of(x), device_of(x), sizes, dims + 2, format));
}

/* The arguments are grad_output, output_size, input_size, ...; param is the number of
 * dimensions, plus RESULT_CONTIGUOUS if the kernel keeps no memory format
 * (aten/src/ATen/native/UpSampleBicubic2d.cpp). */
enum { RESULT_CONTIGUOUS = 16 };

bool rule_upsample_backward(struct call *c)
{
    struct tensor grad = arg_tensor(c, 0);
    const sym_id *out, *in;
    uint32_t n = (uint32_t)c->param & ~(uint32_t)RESULT_CONTIGUOUS;
    uint32_t n_out = arg_syms(c, 1, &out), n_in = arg_syms(c, 2, &in);
    sym_id sizes[TENSOR_MAX_DIM];
    if (!full_size(c, in, n_in, out, n_out, n, sizes))
        return false;
    if (!require(c, ndim_of(grad) == n + 2, "RuntimeError",
                 "Expected grad_output to be a tensor of dimension %u but got: dimension %u", n + 2,
                 ndim_of(grad)))
        return false;
    for (uint32_t i = 0; i < n + 2 && !c->failed; i++)
        check(c, py_eq(c, size_of(c, grad, i), sizes[i]), "RuntimeError",
              "Expected grad_output to have the same shape as output; output.size(%u) = %s but got "
              "grad_output.size(%u) = %s",
              i, sym_text(c, sizes[i]), i, sym_text(c, size_of(c, grad, i)));
    if (c->failed)
        return false;
    enum memory_format format =
        c->param & RESULT_CONTIGUOUS ? FORMAT_CONTIGUOUS : suggest_format(c, grad);
    return ret_tensor(c, new_tensor_format(c, dtype_of(grad), device_of(grad), in, n_in, format));
}

/* --- Nearest --- */

static struct tensor arange(struct call *c, struct tensor like, sym_id end, enum dtype dtype)
{
    struct value arg_end = value_int(end);
    count_devices(c, 1);
    struct keyword keywords[] = {
        { STR("device"), { .kind = VALUE_DEVICE, .u.device = device_of(like) } },
        { STR("dtype"), dtype_value(dtype) },
    };
    struct value out = call_op_keywords(c, "aten.arange.default", &arg_end, 1, keywords,
                                        dtype == DTYPE_NONE ? 1 : 2);
    return out.kind == VALUE_TENSOR ? out.u.tensor : no_tensor();
}

static struct tensor index_spatial(struct call *c, struct tensor x, const struct tensor *index,
                                   uint32_t n)
{
    struct value *items = values(c, n + 2);
    if (!items)
        return no_tensor();
    items[0] = items[1] = value_none();
    for (uint32_t i = 0; i < n; i++)
        items[i + 2] = T(index[i]);
    return CALL(c, "aten._unsafe_index.Tensor", T(x), value_items(VALUE_LIST, items, n + 2));
}

/* _upsample_nearest */
static struct tensor nearest(struct call *c, struct resize *r, bool exact)
{
    struct tensor x = r->x, index[MAX_SPATIAL] = { { .meta = NULL } };
    enum dtype result = cast_for_opmath(c, (struct tensor *[]){ &x }, 1);
    for (uint32_t d = 0; d < r->n && !c->failed; d++) {
        struct value in = value_int(size_of(c, x, d + 2)), bottom = value_int(r->out[d]);
        if (is_positive(c, r->scale[d]))
            bottom = number_arithmetic(c, NODE_METHOD_MUL, in, r->scale[d]);
        struct value scale = true_divide(c, in, bottom);
        struct tensor at = arange(c, x, r->out[d], DTYPE_F32);
        at = times(c, T(plus(c, T(at), F(c, exact ? 0.5 : 0))), scale);
        at = to_dtype(c, at, DTYPE_I64);
        for (uint32_t i = d + 1; i < r->n; i++)
            at = unsqueeze(c, at, -1);
        index[d] = at;
    }
    if (c->failed)
        return no_tensor();
    struct tensor out = index_spatial(c, x, index, r->n);
    if (r->n >= 2) {
        enum memory_format format = result_format(c, x, 4);
        if (format != FORMAT_CONTIGUOUS || !is_fresh(c, out))
            out = contiguous_as(c, out, format);
    }
    return to_dtype(c, out, result);
}

/* The arguments are input, output_size, scale_factors; param is 1 for nearest-exact. */
bool rule_upsample_nearest_vec(struct call *c)
{
    struct resize r = { .x = arg_tensor(c, 0) };
    return read_vec(c, &r, 1, 2) && ret_tensor(c, nearest(c, &r, c->param == 1));
}

/* --- Linear --- */

struct axis {
    struct tensor at, low, high;
};

static struct value scale_along(struct call *c, const struct resize *r, uint32_t d)
{
    struct value in = value_int(size_of(c, r->x, d + 2)), out = value_int(r->out[d]);
    if (r->align) {
        if (!guard_bool(c, gt(c, r->out[d], SYM_ID_ONE)))
            return I(c, 0);
        return true_divide(c, number_arithmetic(c, NODE_METHOD_SUB, in, F(c, 1)),
                           number_arithmetic(c, NODE_METHOD_SUB, out, F(c, 1)));
    }
    if (is_positive(c, r->scale[d]))
        return true_divide(c, F(c, 1), r->scale[d]);
    return true_divide(c, in, out);
}

static struct tensor clamp(struct call *c, struct tensor x, struct value low, struct value high)
{
    return CALL(c, "aten.clamp.default", T(x), low, high);
}

static struct axis read_axis(struct call *c, const struct resize *r, uint32_t d, enum dtype dtype)
{
    struct axis a;
    struct value scale = scale_along(c, r, d);
    struct tensor i = to_dtype(c, arange(c, r->x, r->out[d], DTYPE_NONE), dtype);
    if (r->align) {
        i = times(c, T(i), scale);
    } else {
        i = times(c, T(plus(c, T(i), F(c, 0.5))), scale);
        i = minus(c, T(i), F(c, 0.5));
    }
    i = clamp(c, i, F(c, 0), value_none());
    sym_id shape[MAX_SPATIAL] = { c->failed ? SYM_ID_ONE : size_of(c, i, 0), SYM_ID_ONE,
                                  SYM_ID_ONE };
    a.at = reshape(c, i, shape, r->n - d);
    a.low = to_dtype(c, a.at, DTYPE_I64);
    sym_id last = sub(c, size_of(c, r->x, d + 2), SYM_ID_ONE);
    a.high = clamp(c, plus(c, T(a.low), I(c, 1)), value_none(), N(last));
    return a;
}

/* _upsample_linear */
static struct tensor linear(struct call *c, struct resize *r)
{
    enum dtype dtype, given = dtype_of(r->x);
    enum dtype result = cast_for_opmath(c, (struct tensor *[]){ &r->x }, 1);
    struct value all = T(r->x);
    elementwise_dtypes(c, &all, 1, PROMOTE_INT_TO_FLOAT, NULL, &dtype);
    struct axis axes[MAX_SPATIAL];
    struct tensor corner[1 << MAX_SPATIAL];
    uint32_t n = 1u << r->n;
    for (uint32_t d = 0; d < r->n; d++)
        axes[d] = read_axis(c, r, d, dtype);
    for (uint32_t k = 0; k < n && !c->failed; k++) {
        struct tensor index[MAX_SPATIAL] = { { .meta = NULL } };
        for (uint32_t d = 0; d < r->n; d++)
            index[d] = k >> (r->n - 1 - d) & 1 ? axes[d].high : axes[d].low;
        corner[k] = convert(c, index_spatial(c, r->x, index, r->n), dtype);
    }
    for (uint32_t d = r->n; d-- > 0 && !c->failed;) {
        struct tensor share = minus(c, T(axes[d].at), T(axes[d].low));
        share = to_dtype(c, clamp(c, share, F(c, 0), F(c, 1)), dtype);
        n /= 2;
        for (uint32_t k = 0; k < n; k++) {
            struct tensor step = minus(c, T(corner[2 * k + 1]), T(corner[2 * k]));
            corner[k] = plus(c, T(corner[2 * k]), T(times(c, T(step), T(share))));
        }
    }
    if (c->failed)
        return no_tensor();
    struct tensor out = contiguous_as(c, corner[0], result_format(c, r->x, 16));
    if (!dtype_is_float(dtype_of(r->x)))
        out = CALL(c, "aten.round.default", T(out));
    (void)given;
    return to_dtype(c, out, result);
}

/* The arguments are input, output_size, align_corners, scales, ...; param is the number of
 * dimensions. */
bool rule_upsample_linear(struct call *c)
{
    struct resize r = { .x = arg_tensor(c, 0), .n = (uint32_t)c->param };
    const sym_id *out;
    uint32_t n = arg_syms(c, 1, &out);
    if (!require(c, n == r.n && ndim_of(r.x) == r.n + 2, "RuntimeError",
                 "It is expected input_size equals to %u, but got size %u", r.n + 2, ndim_of(r.x)))
        return false;
    r.align = arg_bool(c, 2);
    for (uint32_t i = 0; i < n; i++) {
        r.out[i] = out[i];
        r.scale[i] = arg(c, 3 + i);
    }
    return ret_tensor(c, linear(c, &r));
}

/* The arguments are input, output_size, align_corners, scale_factors. */
bool rule_upsample_linear_vec(struct call *c)
{
    struct resize r = { .x = arg_tensor(c, 0) };
    r.align = arg_bool(c, 2);
    return read_vec(c, &r, 1, 3) && ret_tensor(c, linear(c, &r));
}

static struct tensor new_resized(struct call *c, const struct resize *r)
{
    sym_id sizes[TENSOR_MAX_DIM] = { size_of(c, r->x, 0), size_of(c, r->x, 1) };
    for (uint32_t i = 0; i < r->n; i++)
        sizes[i + 2] = r->out[i];
    return new_tensor_format(c, dtype_of(r->x), device_of(r->x), sizes, r->n + 2,
                             suggest_format(c, r->x));
}

/* --- Bicubic: upsample_bicubic2d_default of torch/_decomp/decompositions.py --- */

enum { TAPS = 4 };

struct cubic_axis {
    struct tensor index[TAPS], weight[TAPS];
};

/* _upsample_cubic_convolution1 */
static struct tensor inner_weight(struct call *c, struct tensor x)
{
    struct tensor y = minus(c, T(times(c, T(x), F(c, -0.75 + 2))), F(c, -0.75 + 3));
    return plus(c, T(times(c, T(times(c, T(y), T(x))), T(x))), I(c, 1));
}

/* _upsample_cubic_convolution2 */
static struct tensor outer_weight(struct call *c, struct tensor x)
{
    struct tensor y = minus(c, T(times(c, T(x), F(c, -0.75))), F(c, 5 * -0.75));
    y = plus(c, T(times(c, T(y), T(x))), F(c, 8 * -0.75));
    return minus(c, T(times(c, T(y), T(x))), F(c, 4 * -0.75));
}

static struct tensor subtract_from(struct call *c, double from, struct tensor x)
{
    return CALL(c, "aten.rsub.Scalar", T(x), F(c, from));
}

static struct tensor stack_two(struct call *c, struct tensor a, struct tensor b)
{
    struct value *both = values(c, 2);
    if (!both)
        return no_tensor();
    both[0] = T(a);
    both[1] = T(b);
    return CALL(c, "aten.stack.default", value_items(VALUE_LIST, both, 2), I(c, 0));
}

static bool unbind_two(struct call *c, struct tensor x, struct tensor *a, struct tensor *b)
{
    struct value two = CALL_VALUE(c, "aten.unbind.int", T(x), I(c, 0));
    if (c->failed || two.kind != VALUE_LIST || two.n != 2)
        return false;
    *a = two.u.items[0].u.tensor;
    *b = two.u.items[1].u.tensor;
    return true;
}

/* _upsample_get_cubic_coefficients */
static bool cubic_weights(struct call *c, struct tensor t, struct tensor *weight)
{
    if (device_of(t).type != DEVICE_CPU) {
        weight[0] = outer_weight(c, plus(c, T(t), F(c, 1)));
        weight[1] = inner_weight(c, t);
        weight[2] = inner_weight(c, subtract_from(c, 1, t));
        weight[3] = outer_weight(c, subtract_from(c, 2, t));
        return !c->failed;
    }
    struct tensor inner = stack_two(c, t, subtract_from(c, 1, t));
    struct tensor after = plus(c, T(t), F(c, 1));
    struct tensor outer = stack_two(c, after, subtract_from(c, 2, t));
    outer = outer_weight(c, outer);
    inner = inner_weight(c, inner);
    return unbind_two(c, outer, &weight[0], &weight[3]) &&
           unbind_two(c, inner, &weight[1], &weight[2]);
}

/* _compute_source_index */
static struct tensor source_index(struct call *c, const struct resize *r, struct tensor i,
                                  struct value scale)
{
    if (r->align)
        return times(c, T(i), scale);
    return minus(c, T(times(c, T(plus(c, T(i), F(c, 0.5))), scale)), F(c, 0.5));
}

static struct tensor fraction(struct call *c, struct tensor at, struct tensor whole)
{
    return clamp(c, minus(c, T(at), T(whole)), F(c, 0), F(c, 1));
}

static void read_taps(struct call *c, struct tensor at, struct tensor *index)
{
    index[0] = minus(c, T(at), I(c, 1));
    index[1] = at;
    index[2] = plus(c, T(at), I(c, 1));
    index[3] = plus(c, T(at), I(c, 2));
}

/* Computes the indices and the weights of rows and columns, in the order of the decomposition. */
static bool cubic_axes(struct call *c, const struct resize *r, enum dtype dtype,
                       struct cubic_axis *rows, struct cubic_axis *columns)
{
    struct value row_scale = scale_along(c, r, 0), column_scale = scale_along(c, r, 1);
    struct tensor i = to_dtype(c, arange(c, r->x, r->out[0], DTYPE_NONE), dtype);
    struct tensor j = to_dtype(c, arange(c, r->x, r->out[1], DTYPE_NONE), dtype);
    struct tensor column = source_index(c, r, j, column_scale);
    struct tensor row = unsqueeze(c, source_index(c, r, i, row_scale), -1);
    struct tensor left = CALL(c, "aten.floor.default", T(column));
    struct tensor top = CALL(c, "aten.floor.default", T(row));
    struct tensor row_fraction = fraction(c, row, top);
    struct tensor column_fraction = fraction(c, column, left);
    left = to_dtype(c, left, DTYPE_I64);
    top = to_dtype(c, top, DTYPE_I64);
    read_taps(c, top, rows->index);
    read_taps(c, left, columns->index);
    return !c->failed && cubic_weights(c, column_fraction, columns->weight) &&
           cubic_weights(c, row_fraction, rows->weight);
}

static struct tensor weighted_sum(struct call *c, const struct tensor *x,
                                  const struct tensor *weight)
{
    struct tensor sum = times(c, T(x[0]), T(weight[0]));
    for (int i = 1; i < TAPS && !c->failed; i++)
        sum = plus(c, T(sum), T(times(c, T(x[i]), T(weight[i]))));
    return sum;
}

static struct tensor load_bounded(struct call *c, struct tensor x, struct tensor row,
                                  struct tensor column)
{
    struct tensor index[] = {
        clamp(c, row, I(c, 0), N(sub(c, size_of(c, x, 2), SYM_ID_ONE))),
        clamp(c, column, I(c, 0), N(sub(c, size_of(c, x, 3), SYM_ID_ONE))),
    };
    return c->failed ? no_tensor() : index_spatial(c, x, index, 2);
}

static struct tensor bicubic(struct call *c, struct resize *r)
{
    enum dtype dtype, result = cast_for_opmath(c, (struct tensor *[]){ &r->x }, 1);
    struct value all = T(r->x);
    struct cubic_axis rows, columns;
    elementwise_dtypes(c, &all, 1, PROMOTE_INT_TO_FLOAT, NULL, &dtype);
    if (c->failed || !cubic_axes(c, r, dtype, &rows, &columns))
        return no_tensor();
    struct tensor along[TAPS], at[TAPS];
    for (int y = 0; y < TAPS && !c->failed; y++) {
        for (int x = 0; x < TAPS && !c->failed; x++)
            at[x] = load_bounded(c, r->x, rows.index[y], columns.index[x]);
        along[y] = c->failed ? no_tensor() : weighted_sum(c, at, columns.weight);
    }
    if (c->failed)
        return no_tensor();
    struct tensor out = weighted_sum(c, along, rows.weight);
    return to_dtype(c, contiguous_as(c, out, suggest_format(c, r->x)), result);
}

/* Images of bytes are computed with integer weights, of which only the result is known here. */
static bool ret_bicubic(struct call *c, struct resize *r)
{
    if (eager(c) || dtype_of(r->x) == DTYPE_U8) {
        for (uint32_t d = 0; d < r->n && !c->failed && !eager(c); d++)
            scale_along(c, r, d);
        return !c->failed && ret_tensor(c, new_resized(c, r));
    }
    return ret_tensor(c, bicubic(c, r));
}

bool rule_upsample_bicubic(struct call *c)
{
    struct resize r = { .x = arg_tensor(c, 0), .n = 2 };
    const sym_id *out;
    uint32_t n = arg_syms(c, 1, &out);
    if (!require(c, n == 2 && ndim_of(r.x) == 4, "RuntimeError",
                 "It is expected input_size equals to 4, but got size %u", ndim_of(r.x)))
        return false;
    r.align = arg_bool(c, 2);
    for (uint32_t i = 0; i < n; i++) {
        r.out[i] = out[i];
        r.scale[i] = arg(c, 3 + i);
    }
    return ret_bicubic(c, &r);
}

/* upsample_bicubic2d_vec of torch/_decomp/decompositions.py has its own sizes. */
bool rule_upsample_bicubic_vec(struct call *c)
{
    struct resize r = { .x = arg_tensor(c, 0), .by_float = true };
    r.align = arg_bool(c, 2);
    return read_vec(c, &r, 1, 3) && ret_bicubic(c, &r);
}

/* _upsample_bilinear2d_aa.vec and similar overloads call the default overload. */
bool rule_upsample_aa_vec(struct call *c)
{
    struct resize r = { .x = arg_tensor(c, 0) };
    static const char *const names[] = { "aten._upsample_bilinear2d_aa.default",
                                         "aten._upsample_bicubic2d_aa.default" };
    if (!read_vec(c, &r, 1, 3))
        return false;
    return ret_tensor(c, CALL(c, names[c->param & 1], T(r.x), ints(c, r.out, r.n), arg(c, 2),
                              r.scale[0], r.scale[1]));
}
