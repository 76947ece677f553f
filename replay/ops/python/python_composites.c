/* Composite operators that no family has and that a text (replay/ops/decomp/bodies.def) cannot say.
 */
#include "replay/ops/layout/layout.h"

/* expand_outplace: each expanded unless it has that shape. */
bool rule_broadcast_tensors(struct call *c)
{
    const struct tensor *x;
    uint32_t n = arg_tensors(c, 0, &x), ndim = 0;
    sym_id sizes[2][TENSOR_MAX_DIM];
    struct tensor *out = n ? scratch(c, n * sizeof *out) : NULL;
    unsigned now = 0;
    for (uint32_t i = 0; i < n && !c->failed; i++) {
        uint32_t wide = 0;
        if (!broadcast_fast(c, sizes[now], ndim, x[i].meta->size, x[i].meta->ndim, sizes[!now],
                            &wide))
            return false;
        now = !now;
        ndim = wide;
    }
    for (uint32_t i = 0; out && i < n && !c->failed; i++) {
        bool same = x[i].meta->ndim == ndim;
        for (uint32_t d = 0; same && d < ndim; d++)
            same = guard_bool(c, eq(c, x[i].meta->size[d], sizes[now][d]));
        struct value *items = same ? NULL : values(c, ndim);
        for (uint32_t d = 0; items && d < ndim; d++)
            items[d] = value_int(sizes[now][d]);
        out[i] = same ? x[i]
                      : call_tensor(c, "aten.expand.default",
                                    (struct value[]){ value_tensor(x[i]),
                                                      value_items(VALUE_LIST, items, ndim) },
                                    2);
    }
    return ret_list(c, out, out ? n : 0);
}

/* hann_window() and the like: `window_length` elements; range(): as many as there are steps. */
bool rule_window(struct call *c)
{
    sym_id n = num(c, arg_int(c, 0));
    uint32_t dtype = c->n_args - 4;
    if (!require(c, guard_bool(c, ge(c, n, SYM_ID_ZERO)), "RuntimeError",
                 "window requires non-negative window_length, got window_length=%s",
                 sym_text(c, n)))
        return false;
    struct device cpu = { DEVICE_CPU, -1 };
    return ret_tensor(
        c, new_tensor(c, arg_dtype(c, dtype, DTYPE_F32), arg_device(c, dtype + 2, cpu), &n, 1));
}

/* n, d: fft.fftfreq, or fft.rfftfreq (param 1) */
bool rule_fftfreq(struct call *c)
{
    sym_id n = num(c, arg_int(c, 0));
    if (c->param)
        n = add(c, floordiv(c, n, SYM_ID_TWO), SYM_ID_ONE);
    struct device cpu = { DEVICE_CPU, -1 };
    return ret_tensor(c, new_tensor(c, arg_dtype(c, 2, DTYPE_F32), arg_device(c, 4, cpu), &n, 1));
}

/* v, g: the weight, and the norms in float32 for halves; backward (param 1) gradients of both */
bool rule_weight_norm(struct call *c)
{
    struct tensor v = arg_tensor(c, c->param ? 1 : 0), g = arg_tensor(c, c->param ? 2 : 1);
    bool half = g.meta->dtype == DTYPE_F16 || g.meta->dtype == DTYPE_BF16;
    struct tensor out[] = {
        new_like(c, v),
        new_like_dtype(c, g, half && !c->param ? DTYPE_F32 : g.meta->dtype),
    };
    return ret_tensors(c, out, 2);
}

/* length, start, step, dtype, device: _iota_meta of torch/_prims */
bool rule_iota(struct call *c)
{
    sym_id length = arg_sym(c, 0);
    enum dtype dtype = arg_dtype(c, 3, DTYPE_I64);
    require(c, dtype_is_integer(dtype), "RuntimeError", "prims.iota only supports integer dtypes");
    check(c, ne(c, arg_sym(c, 2), SYM_ID_ZERO), "RuntimeError", "step must be nonzero");
    count_dispatches(c, 1);
    struct device cpu = { DEVICE_CPU, -1 };
    return ret_tensor(c, new_tensor(c, dtype, arg_device(c, 4, cpu), &length, 1));
}
