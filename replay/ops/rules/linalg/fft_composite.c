/* torch.fft's functions, composed of the three transforms
 * (aten/src/ATen/native/SpectralOps.cpp). They slice or pad the input to its size and choose the
 * scale by the name of the norm. */
#include "replay/ops/rules/compose.h"
#include "replay/ops/rules/linalg/linalg.h"

/* Returns the divisor of the kernels: 0 for none, 1 for the root of the number of elements, 2
 * for the number. */
static int64_t norm_divisor(struct call *c, bool forward)
{
    struct str norm = arg_given(c, 3) ? arg_string(c, 3) : STR("backward");
    if (str_is(norm, "ortho"))
        return 1;
    bool divides = str_is(norm, "forward") == forward;
    require(c, str_is(norm, "forward") || str_is(norm, "backward"), "RuntimeError",
            "Invalid normalization mode: \"%.*s\"", STR_ARG(norm));
    return divides ? 2 : 0;
}

static struct tensor promote_input(struct call *c, struct tensor x, bool to_complex)
{
    enum dtype dtype = dtype_of(x);
    if (!dtype_is_float(dtype) && !dtype_is_complex(dtype))
        dtype = DTYPE_F32;
    if (to_complex && !dtype_is_complex(dtype))
        dtype = dtype == DTYPE_F64 ? DTYPE_C128 : dtype == DTYPE_F16 ? DTYPE_C32 : DTYPE_C64;
    return dtype == dtype_of(x) ? x : to_dtype(c, x, dtype);
}

struct transform {
    int64_t dims[TENSOR_MAX_DIM];
    sym_id sizes[TENSOR_MAX_DIM]; /* of the input after resizing; of the dims in this order */
    uint32_t n;
    bool resizes;
    sym_id whole; /* the last dimension of a real result */
};

static bool check_size(struct call *c, sym_id size)
{
    return check(c, c->param & FFT_SEVERAL ? gt(c, size, SYM_ID_ZERO) : ge(c, size, SYM_ID_ONE),
                 "RuntimeError", "Invalid number of data points (%s) specified", sym_text(c, size));
}

/* The size and the dimension of the functions that transform one dimension. */
static bool read_one(struct call *c, struct tensor x, struct transform *t)
{
    t->n = 1;
    t->dims[0] = wrap_dim(c, arg_int(c, 2), ndim_of(x));
    if (c->failed)
        return false;
    sym_id size = size_of(c, x, (uint32_t)t->dims[0]);
    t->resizes = arg_given(c, 1);
    if (c->param & FFT_REAL_OUT)
        size = mul(c, SYM_ID_TWO, sub(c, size, SYM_ID_ONE));
    t->sizes[0] = t->resizes ? arg_sym(c, 1) : size;
    t->whole = t->sizes[0];
    return check_size(c, t->sizes[0]);
}

/* canonicalize_fft_shape_and_dim_args */
static bool read_several(struct call *c, struct tensor x, struct transform *t)
{
    const int64_t *dims = NULL;
    const sym_id *sizes = NULL;
    uint32_t n_dims = 0, n_sizes = 0, ndim = ndim_of(x);
    if (arg_given(c, 2))
        n_dims = arg_ints(c, 2, &dims);
    if (arg_given(c, 1))
        n_sizes = arg_syms(c, 1, &sizes);
    t->n = arg_given(c, 2) ? n_dims : arg_given(c, 1) ? n_sizes : ndim;
    t->resizes = true;
    if (!require(c, t->n <= ndim && t->n <= TENSOR_MAX_DIM, "RuntimeError",
                 "Got shape with %u values but input tensor only has %u dimensions.", t->n, ndim) ||
        !require(c, !sizes || !dims || n_sizes == n_dims, "RuntimeError",
                 "When given, dim and shape arguments must have the same length"))
        return false;
    bool keeps_last = !sizes;
    for (uint32_t i = 0; i < t->n && !c->failed; i++) {
        t->dims[i] = dims ? wrap_dim(c, dims[i], ndim) : ndim - t->n + i;
        bool keeps = c->failed || !sizes || guard_bool(c, eq_int(c, sizes[i], -1));
        t->sizes[i] = !keeps      ? sizes[i]
                      : c->failed ? SYM_ID_ONE
                                  : size_of(c, x, (uint32_t)t->dims[i]);
        keeps_last |= keeps && i + 1 == t->n;
    }
    for (uint32_t i = 0; i < t->n && !c->failed; i++)
        check_size(c, t->sizes[i]);
    if (c->failed || !t->n)
        return !c->failed;
    t->whole = t->sizes[t->n - 1];
    if (keeps_last && c->param & FFT_REAL_OUT)
        t->whole = mul(c, SYM_ID_TWO, sub(c, t->whole, SYM_ID_ONE));
    return !(c->param & FFT_REAL_OUT) || check_size(c, t->whole);
}

static bool read_transform(struct call *c, struct tensor x, struct transform *t)
{
    *t = (struct transform){ 0 };
    if (!(c->param & FFT_SEVERAL ? read_several(c, x, t) : read_one(c, x, t)) ||
        !require(c, t->n > 0, "RuntimeError", "FFT requires at least one dimension"))
        return false;
    if (c->param & FFT_REAL_OUT)
        t->sizes[t->n - 1] = add(c, floordiv(c, t->whole, SYM_ID_TWO), SYM_ID_ONE);
    return !c->failed;
}

/* resize_fft_input */
static struct tensor resize_input(struct call *c, struct tensor x, const struct transform *t)
{
    uint32_t n_pad = 2 * ndim_of(x);
    sym_id pad[2 * TENSOR_MAX_DIM];
    bool pads = false;
    for (uint32_t i = 0; i < n_pad; i++)
        pad[i] = SYM_ID_ZERO;
    for (uint32_t i = 0; i < t->n && t->resizes && !c->failed; i++) {
        uint32_t d = (uint32_t)t->dims[i];
        sym_id size = size_of(c, x, d);
        if (guard_bool(c, lt(c, size, t->sizes[i]))) {
            pads = true;
            pad[n_pad - 2 * d - 1] = sub(c, t->sizes[i], size);
        }
        if (!c->failed && guard_bool(c, gt(c, size, t->sizes[i])))
            x = CALL(c, "aten.slice.Tensor", T(x), I(c, d), I(c, 0), N(t->sizes[i]));
    }
    return pads ? CALL(c, "aten.constant_pad_nd.default", T(x), ints(c, pad, n_pad)) : x;
}

static struct tensor conjugate(struct call *c, struct tensor x)
{
    return CALL(c, "aten._conj.default", T(x));
}

/* The conjugate as a kernel that does not know of conjugates gets it: the conjugate fallback
 * (aten/src/ATen/native/MathBitsFallback.h) clones it. */
static struct tensor resolved_conjugate(struct call *c, struct tensor x)
{
    return CALL(c, "aten.clone.default", T(conjugate(c, x)));
}

/* fft_hfftn_impl, fft_ihfftn_impl */
static bool hermitian(struct call *c, struct tensor x, const struct transform *t, int64_t norm)
{
    struct value others = dims(c, t->dims, t->n - 1), last = dims(c, t->dims + t->n - 1, 1);
    if (c->param & FFT_REAL_OUT) {
        if (t->n > 1)
            x = CALL(c, "aten._fft_c2c.default", T(x), others, I(c, norm), B(true));
        return ret_tensor(c, CALL(c, "aten._fft_c2r.default", T(resolved_conjugate(c, x)), last,
                                  I(c, norm), N(t->whole)));
    }
    x = CALL(c, "aten._fft_r2c.default", T(x), last, I(c, norm), B(true));
    return ret_tensor(c, t->n == 1 ? conjugate(c, x)
                                   : CALL(c, "aten._fft_c2c.default", T(resolved_conjugate(c, x)),
                                          others, I(c, norm), B(false)));
}

/* Reads the sizes and dims of a transform and converts its input, which is checked first to be
 * real where it has to be. The functions of several dims convert after they read and check the
 * sizes (canonicalize_fft_shape_and_dim_args). */
static struct tensor read_and_promote(struct call *c, struct transform *t)
{
    bool real_in = (c->param & FFT_REAL_IN) != 0, several = (c->param & FFT_SEVERAL) != 0;
    bool to_complex = c->param & FFT_REAL_OUT || (several && !real_in);
    struct tensor x = arg_tensor(c, 0);
    require(c, !real_in || !dtype_is_complex(dtype_of(x)), "RuntimeError",
            "rfft expects a real input tensor, but got %s", dtype_scalar_name(dtype_of(x)));
    if (several && !c->failed)
        read_transform(c, x, t);
    if (!c->failed)
        x = promote_input(c, x, to_complex);
    if (!several && !c->failed)
        read_transform(c, x, t);
    return x;
}

bool rule_fft(struct call *c)
{
    bool forward = (c->param & FFT_FORWARD) != 0, real_in = (c->param & FFT_REAL_IN) != 0;
    bool real_out = (c->param & FFT_REAL_OUT) != 0, several = (c->param & FFT_SEVERAL) != 0;
    struct transform t = { 0 };
    int64_t norm = norm_divisor(c, forward);
    struct tensor x = read_and_promote(c, &t);
    if (c->failed)
        return false;
    x = resize_input(c, x, &t);
    struct value where = dims(c, t.dims, t.n);
    if (several && (real_out ? forward : real_in && !forward))
        return hermitian(c, x, &t, norm);
    if (real_out)
        return ret_tensor(c, CALL(c, "aten._fft_c2r.default",
                                  T(forward ? resolved_conjugate(c, x) : x), where, I(c, norm),
                                  N(t.whole)));
    if (dtype_is_complex(dtype_of(x)))
        return ret_tensor(c, CALL(c, "aten._fft_c2c.default", T(x), where, I(c, norm), B(forward)));
    x = CALL(c, "aten._fft_r2c.default", T(x), where, I(c, norm), B(real_in));
    return ret_tensor(c, forward ? x : conjugate(c, x));
}
