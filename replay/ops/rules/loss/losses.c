/* Losses (torch/_decomp/decompositions.py, aten/src/ATen/native/Loss.cpp). */
#include "replay/ops/rules/loss/losses.h"
#include "replay/ops/rules/pointwise/pointwise.h"

#include <string.h>

/* The arguments are self, target, weight, reduction. The kernel computes each loss. */
bool rule_binary_cross_entropy(struct call *c)
{
    if (!eager(c) || arg_int(c, 3) != LOSS_NONE)
        return decompose(c, NULL);
    struct tensor x = arg_tensor(c, 0), y = arg_tensor(c, 1), w = arg_tensor(c, 2);
    enum dtype result = cast_for_opmath(c, (struct tensor *[]){ &x, &y, &w }, 3);
    return ret_tensor(c, new_like_dtype(c, x, result));
}

/* --- Margins --- */

/* Returns whether x is [C] or [N, C], where N may be 0. */
static bool nonempty_rows(struct call *c, struct tensor x)
{
    uint32_t n = ndim_of(x);
    bool good = n <= 2 && (n == 0 || guard_bool(c, ne(c, size_of(c, x, -1), SYM_ID_ZERO)));
    return require(c, good, "RuntimeError",
                   "Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
                   "%s%s%s",
                   eager(c) ? "" : "torch.Size(", shape_text(c, x), eager(c) ? "" : ")");
}

/* The arguments are self, target, p, margin, weight, reduction. */
bool rule_multi_margin_loss(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), y = arg_tensor(c, 1), w = arg_tensor(c, 4);
    int64_t reduction = arg_int(c, 5);
    if (!nonempty_rows(c, x))
        return false;
    sym_id frames = ndim_of(x) == 2 ? size_of(c, x, 0) : SYM_ID_ONE;
    sym_id dim = ndim_of(x) ? size_of(c, x, -1) : SYM_ID_ONE;
    int64_t p = arg(c, 2).kind == VALUE_INT ? arg_int(c, 2) : (int64_t)arg_double(c, 2);
    require(c, p == 1 || p == 2, "RuntimeError", "only p == 1 and p == 2 supported");
    bool fits = ndim_of(y) <= 1 && guard_bool(c, py_eq(c, numel(c, y), frames));
    require(c, fits, "RuntimeError", "inconsistent target size, expected %s but got %s",
            sym_text(c, frames), shape_text(c, y));
    if (some(w))
        require(c, ndim_of(w) <= 1 && guard_bool(c, py_eq(c, numel(c, w), dim)), "RuntimeError",
                "inconsistent weight size, expected %s but got %s", sym_text(c, dim),
                shape_text(c, w));
    require(c, dtype_of(y) == DTYPE_I64, "RuntimeError", "expected scalar type Long but found %s",
            dtype_scalar_name(dtype_of(y)));
    bool each = reduction == LOSS_NONE && ndim_of(y) > 0;
    return ret_tensor(c, new_tensor(c, dtype_of(x), device_of(x), &frames, each ? 1 : 0));
}

/* The arguments are self, target, reduction. */
bool rule_multilabel_margin_loss_forward(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), y = arg_tensor(c, 1), out[2];
    int64_t reduction = arg_int(c, 2);
    if (!nonempty_rows(c, x))
        return false;
    bool fits = ndim_of(x) == ndim_of(y);
    for (uint32_t i = 0; i < ndim_of(x) && fits && !c->failed; i++)
        fits = guard_bool(c, py_eq(c, size_of(c, y, i), size_of(c, x, i)));
    require(c, fits, "RuntimeError", "inconsistent target size: %s for input of size: %s",
            shape_text(c, y), shape_text(c, x));
    sym_id frames = ndim_of(x) == 2 ? size_of(c, x, 0) : SYM_ID_ONE;
    bool each = reduction == LOSS_NONE && ndim_of(x) == 2;
    out[0] = new_tensor(c, dtype_of(x), device_of(x), &frames, each ? 1 : 0);
    out[1] = new_tensor(c, dtype_of(x), device_of(x), sizes_of(y), ndim_of(y));
    return ret_tensors(c, out, 2);
}

/* The arguments are grad, self, ... The kernels without a decomposition return a tensor like
 * self. */
bool rule_loss_backward_like(struct call *c)
{
    struct tensor x = arg_tensor(c, 1);
    return ret_tensor(c, new_tensor(c, dtype_of(x), device_of(x), sizes_of(x), ndim_of(x)));
}

/* --- glu --- */

/* glu of torch/_refs/nn/functional, or the kernel if nothing is symbolic. */
bool rule_glu(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    uint32_t dim = wrap_dim(c, arg_int(c, 1), ndim_of(x));
    require(c, ndim_of(x) > 0, "RuntimeError", "glu does not support 0-dimensional tensors");
    if (c->failed)
        return false;
    sym_id size = size_of(c, x, dim);
    check(c, eq_int(c, mod(c, size, num(c, 2)), 0), "RuntimeError",
          "Halving dimension must be even, but dimension %u is size %s", dim, sym_text(c, size));
    c->in_kernel = !c->symbolic;
    if (!eager(c))
        return !c->failed && decompose(c, NULL);
    sym_id half = floordiv(c, size, num(c, 2));
    struct value part = CALL_VALUE(c, "aten.narrow.default", T(x), I(c, dim), I(c, 0), N(half));
    return !c->failed && ret_tensor(c, iterator_result(c, &part, 1, dtype_of(x)));
}

/* The arguments are grad, self, dim. */
static bool check_glu_backward(struct call *c)
{
    struct tensor x = arg_tensor(c, 1);
    uint32_t dim = wrap_dim(c, arg_int(c, 2), ndim_of(x));
    if (c->failed)
        return false;
    sym_id size = size_of(c, x, dim);
    return require(c, guard_bool(c, eq_int(c, mod(c, size, num(c, 2)), 0)), "AssertionError",
                   "Halving dimension must be even, but dimension %u is size %s", dim,
                   sym_text(c, size));
}

bool rule_glu_backward(struct call *c)
{
    return decompose(c, check_glu_backward);
}

/* Returns the largest of the lengths in a tensor, whose elements must be known. */
static int64_t longest_length(struct call *c, struct tensor lengths)
{
    int64_t n = 0, longest = 0, length;
    if (!lengths.data || dtype_of(lengths) != DTYPE_I64 || ndim_of(lengths) != 1 ||
        !sym_to_i64(c->pool, size_of(c, lengths, 0), &n)) {
        unsupported(c, "_ctc_loss of lengths that are not known");
        return 0;
    }
    for (int64_t i = 0; i < n; i++) {
        memcpy(&length, lengths.data + 8 * i, sizeof length);
        longest = length > longest ? length : longest;
    }
    return longest;
}

/* _ctc_loss has no meta kernel that reads the data, so FakeTensorMode refuses symbolic sizes. */
bool rule_ctc_loss_kernel(struct call *c)
{
    struct str name = op_name(c->op);
    if (!eager(c))
        return refuse(c, "DynamicOutputShapeException", "%.*s", (int)name.n, name.p);
    struct tensor x = arg_tensor(c, 0), out[2];
    const int64_t *lengths;
    uint32_t n = ndim_of(x), count_ = 0;
    int64_t longest = 0;
    if (arg(c, 3).kind == VALUE_TENSOR) {
        longest = longest_length(c, arg_tensor(c, 3));
    } else {
        count_ = arg_ints(c, 3, &lengths);
        for (uint32_t i = 0; i < count_; i++)
            longest = lengths[i] > longest ? lengths[i] : longest;
    }
    if (!require(c, n == 3, "RuntimeError", "log_probs must have 3 dimensions"))
        return false;
    sym_id sizes[] = { size_of(c, x, 1), size_of(c, x, 0), num(c, 2 * longest + 1) };
    out[0] = new_tensor(c, dtype_of(x), device_of(x), sizes, 1);
    out[1] = new_tensor(c, dtype_of(x), device_of(x), sizes, 3);
    return ret_tensors(c, out, 2);
}
