/* Negative log likelihood and cross entropy (torch/_decomp/decompositions.py, LossNLL.cpp). */
#include "replay/ops/rules/loss/losses.h"

/* The arguments are self, target, weight, reduction, ignore_index. self has one or two
 * dimensions. */
bool rule_nll_loss_forward(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), target = arg_tensor(c, 1), weight = arg_tensor(c, 2);
    uint32_t n = ndim_of(x), m = ndim_of(target);
    if (!require(c, n == 1 || n == 2, "AssertionError", "input tensor should be 1D or 2D, got %uD",
                 n) ||
        !require(c, m <= 1, "AssertionError",
                 "0D or 1D target tensor expected, multi-target not supported, got %uD", m))
        return false;
    if (m == 1)
        check(c, py_eq(c, size_of(c, x, 0), size_of(c, target, 0)), "RuntimeError",
              "size mismatch (got input: torch.Size(%s), target: torch.Size(%s))",
              sizes_text(c, sizes_of(x), n), sizes_text(c, sizes_of(target), m));
    if (some(weight)) {
        sym_id classes = size_of(c, x, -1);
        bool fits = ndim_of(weight) == 1 && guard_bool(c, py_eq(c, numel(c, weight), classes));
        require(c, fits, "AssertionError",
                "weight tensor should be defined either for all %s classes or no classes but got "
                "weight tensor of shape: torch.Size(%s)",
                sym_text(c, classes), sizes_text(c, sizes_of(weight), ndim_of(weight)));
    }
    return !c->failed && decompose(c, NULL);
}

/* --- Composites --- */

/* nll_loss_nd reshapes inputs that are neither rows nor images to images. */
static struct tensor nll_nd(struct call *c, struct tensor x, struct tensor target)
{
    uint32_t n = ndim_of(x), m = ndim_of(target);
    if (!require(c, n > 0, "ValueError", "Expected 1 or more dimensions (got 0)"))
        return no_tensor();
    if (n != 1 && m > 0) {
        bool fits = guard_bool(c, eq(c, size_of(c, x, 0), size_of(c, target, 0)));
        require(c, fits, "ValueError",
                "Expected input batch_size (%s) to match target batch_size (%s).",
                sym_text(c, size_of(c, x, 0)), sym_text(c, size_of(c, target, 0)));
    }
    struct value rest[] = { arg(c, 2), arg(c, 3), arg(c, 4) };
    if (n <= 2)
        return CALL(c, "aten.nll_loss.default", T(x), T(target), rest[0], rest[1], rest[2]);
    if (n == 4)
        return CALL(c, "aten.nll_loss2d.default", T(x), T(target), rest[0], rest[1], rest[2]);
    sym_id batch = size_of(c, x, 0), inner = SYM_ID_ONE, shape[TENSOR_MAX_DIM];
    shape[0] = batch;
    for (uint32_t i = 2; i < n; i++) {
        shape[i - 1] = size_of(c, x, i);
        inner = mul(c, inner, shape[i - 1]);
    }
    bool same = m == n - 1;
    for (uint32_t i = 1; i < m && same; i++)
        same = guard_bool(c, eq(c, size_of(c, target, i), shape[i]));
    require(c, same, "RuntimeError", "Expected target size %s, got %s", sizes_text(c, shape, n - 1),
            sizes_text(c, sizes_of(target), m));
    sym_id image[] = { batch, size_of(c, x, 1), SYM_ID_ONE, inner };
    sym_id labels[] = { batch, SYM_ID_ONE, inner };
    x = reshape(c, contiguous(c, x), image, 4);
    target = reshape(c, contiguous(c, target), labels, 3);
    struct tensor out =
        CALL(c, "aten.nll_loss2d.default", T(x), T(target), rest[0], rest[1], rest[2]);
    return arg_int(c, 3) == LOSS_NONE ? view(c, out, shape, n - 1) : out;
}

bool rule_nll_loss_nd(struct call *c)
{
    return ret_tensor(c, nll_nd(c, arg_tensor(c, 0), arg_tensor(c, 1)));
}

/* Label smoothing: a second term beside the likelihood spreads labels over all classes. */
static struct tensor smooth_labels(struct call *c, struct tensor logs, struct tensor target,
                                   double smoothing)
{
    struct tensor nll = nll_nd(c, logs, target);
    int64_t dim[] = { ndim_of(logs) == 1 ? 0 : 1 }, reduction = arg_int(c, 3);
    struct tensor w = arg_tensor(c, 2), weighted = logs;
    if (some(w)) {
        sym_id shape[TENSOR_MAX_DIM];
        for (uint32_t i = 0; i < ndim_of(logs); i++)
            shape[i] = i == dim[0] ? size_of(c, w, 0) : SYM_ID_ONE;
        weighted = times(c, T(logs), T(view(c, w, shape, ndim_of(logs))));
    }
    struct tensor smooth = CALL(c, "aten.neg.default", T(sum_dims(c, weighted, dim, 1, false)));
    struct tensor ignore = CALL(c, "aten.eq.Scalar", T(target), arg(c, 4));
    smooth = CALL(c, "aten.masked_fill.Scalar", T(smooth), T(ignore), F(c, 0));
    if (reduction == LOSS_SUM)
        smooth = CALL(c, "aten.sum.default", T(smooth));
    if (reduction == LOSS_MEAN) {
        struct tensor total = CALL(c, "aten.sum.default", T(smooth));
        struct tensor valid = CALL(c, "aten.bitwise_not.default", T(ignore));
        smooth = over(c, T(total), T(CALL(c, "aten.sum.default", T(valid))));
    }
    struct tensor a = times(c, T(nll), F(c, 1 - smoothing));
    sym_id classes = size_of(c, logs, dim[0]);
    return plus(c, T(a), T(times(c, T(smooth), true_divide(c, F(c, smoothing), N(classes)))));
}

/* cross_entropy_loss: the arguments are self, target, weight, reduction, ignore_index,
 * label_smoothing. */
bool rule_cross_entropy_loss(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), target = arg_tensor(c, 1), w = arg_tensor(c, 2);
    int64_t dim = ndim_of(x) == 1 ? 0 : 1, reduction = arg_int(c, 3);
    struct value smoothing = arg_fixed(c, 5);
    bool same = ndim_of(x) == ndim_of(target);
    for (uint32_t i = 0; i < ndim_of(x) && same && !c->failed; i++)
        same = guard_bool(c, eq(c, size_of(c, x, i), size_of(c, target, i)));
    struct tensor logs = CALL(c, "aten.log_softmax.int", T(x), I(c, dim));
    double smooth = sym_to_double(c->pool, smoothing.u.sym);
    if (!same)
        return ret_tensor(c, smooth > 0 ? smooth_labels(c, logs, target, smooth)
                                        : nll_nd(c, logs, target));
    /* The target has probabilities. */
    require(c, dtype_is_float(dtype_of(target)), "RuntimeError",
            "Expected floating point type for target with class probabilities, got %s",
            dtype_scalar_name(dtype_of(target)));
    sym_id classes = ndim_of(x) ? size_of(c, x, dim) : SYM_ID_ONE;
    if (smooth > 0)
        target = plus(c, T(times(c, T(target), F(c, 1 - smooth))),
                      true_divide(c, F(c, smooth), N(classes)));
    struct tensor product_ = times(c, T(logs), T(target));
    if (some(w)) {
        sym_id shape[TENSOR_MAX_DIM];
        for (uint32_t i = 0; i < ndim_of(x); i++)
            shape[i] = i == (uint32_t)dim ? size_of(c, w, 0) : SYM_ID_ONE;
        product_ = times(c, T(product_), T(view(c, w, shape, ndim_of(x))));
    }
    struct tensor sum = reduction == LOSS_NONE ? sum_dims(c, product_, &dim, 1, false)
                                               : CALL(c, "aten.sum.default", T(product_));
    struct tensor out = CALL(c, "aten.neg.default", T(sum));
    if (reduction == LOSS_MEAN) {
        sym_id rows = SYM_ID_ONE;
        for (uint32_t i = 0; i < ndim_of(x); i++)
            if (i != (uint32_t)dim)
                rows = mul(c, rows, size_of(c, x, i));
        out = over(c, T(out), N(rows));
    }
    return ret_tensor(c, out);
}
