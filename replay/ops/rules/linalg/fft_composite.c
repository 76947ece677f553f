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

/* resize_fft_input: dimension d gets size n. */
static struct tensor resize_input(struct call *c, struct tensor x, uint32_t d, sym_id n)
{
    sym_id size = size_of(c, x, d), pad[2 * TENSOR_MAX_DIM];
    uint32_t n_pad = 2 * (ndim_of(x) - d);
    if (guard_bool(c, gt(c, size, n)))
        return CALL(c, "aten.narrow.default", T(x), I(c, d), I(c, 0), N(n));
    if (c->failed || guard_bool(c, eq(c, size, n)))
        return x;
    for (uint32_t i = 0; i < n_pad; i++)
        pad[i] = SYM_ID_ZERO;
    pad[n_pad - 1] = sub(c, n, size);
    return CALL(c, "aten.constant_pad_nd.default", T(x), ints(c, pad, n_pad));
}

struct transform {
    int64_t dims[TENSOR_MAX_DIM];
    sym_id sizes[TENSOR_MAX_DIM]; /* sizes of the dims; -1 keeps a size */
    uint32_t n;
};

/* canonicalize_fft_shape_and_dim_args */
static bool read_transform(struct call *c, struct tensor x, struct transform *t)
{
    const int64_t *dims = NULL;
    const sym_id *sizes = NULL;
    uint32_t n_dims = 0, n_sizes = 0, ndim = ndim_of(x);
    *t = (struct transform){ 0 };
    if (!(c->param & FFT_SEVERAL)) {
        t->n = 1;
        t->dims[0] = wrap_dim(c, arg_int(c, 2), ndim);
        t->sizes[0] = arg_given(c, 1) ? arg_sym(c, 1) : SYM_ID_MINUS_ONE;
        return !c->failed;
    }
    if (arg_given(c, 2))
        n_dims = arg_ints(c, 2, &dims);
    if (arg_given(c, 1))
        n_sizes = arg_syms(c, 1, &sizes);
    t->n = arg_given(c, 2) ? n_dims : arg_given(c, 1) ? n_sizes : ndim;
    if (!require(c, t->n <= ndim && t->n <= TENSOR_MAX_DIM, "RuntimeError",
                 "Got shape with %u values but input tensor only has %u dimensions.", t->n, ndim) ||
        !require(c, !sizes || !dims || n_sizes == n_dims, "RuntimeError",
                 "When given, dim and shape arguments must have the same length"))
        return false;
    for (uint32_t i = 0; i < t->n; i++) {
        t->dims[i] = dims ? wrap_dim(c, dims[i], ndim) : ndim - t->n + i;
        t->sizes[i] = sizes ? sizes[i] : SYM_ID_MINUS_ONE;
    }
    return !c->failed;
}

static struct tensor conjugate(struct call *c, struct tensor x)
{
    return CALL(c, "aten._conj.default", T(x));
}

bool rule_fft(struct call *c)
{
    bool forward = (c->param & FFT_FORWARD) != 0, real_in = (c->param & FFT_REAL_IN) != 0;
    bool real_out = (c->param & FFT_REAL_OUT) != 0, several = (c->param & FFT_SEVERAL) != 0;
    struct transform t;
    struct tensor x = promote_input(c, arg_tensor(c, 0), real_out || (several && !real_in));
    int64_t norm = norm_divisor(c, forward);
    if (!require(c, !real_in || !dtype_is_complex(dtype_of(x)), "RuntimeError",
                 "rfft expects a real input tensor, but got %s", dtype_scalar_name(dtype_of(x))) ||
        !read_transform(c, x, &t) ||
        !require(c, t.n > 0, "RuntimeError", "FFT requires at least one dimension"))
        return false;
    sym_id *last = &t.sizes[t.n - 1], whole = *last;
    if (real_out && is_int(c, whole, -1))
        whole = mul(c, num(c, 2), sub(c, size_of(c, x, t.dims[t.n - 1]), SYM_ID_ONE));
    if (real_out && !is_int(c, *last, -1))
        *last = add(c, floordiv(c, whole, num(c, 2)), SYM_ID_ONE);
    for (uint32_t i = 0; i < t.n && !c->failed; i++)
        if (!is_int(c, t.sizes[i], -1))
            x = resize_input(c, x, (uint32_t)t.dims[i], t.sizes[i]);
    struct value where = dims(c, t.dims, t.n);
    if (real_out)
        return ret_tensor(c, CALL(c, "aten._fft_c2r.default", T(forward ? conjugate(c, x) : x),
                                  where, I(c, norm), N(whole)));
    if (dtype_is_complex(dtype_of(x)))
        return ret_tensor(c, CALL(c, "aten._fft_c2c.default", T(x), where, I(c, norm), B(forward)));
    x = CALL(c, "aten._fft_r2c.default", T(x), where, I(c, norm), B(real_in));
    return ret_tensor(c, forward ? x : conjugate(c, x));
}
