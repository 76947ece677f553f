/* pad and the operators of its modes. */
#include "replay/ops/rules/compose.h"
#include "replay/ops/rules/factory/factories.h"

#include <string.h>

/* --- constant_pad_nd --- */

static bool only_cuts(const struct call *c, const sym_id *pad, uint32_t n)
{
    int64_t value;
    for (uint32_t i = 0; i < n; i++)
        if (!sym_to_i64(c->pool, pad[i], &value) || value > 0)
            return false;
    return true;
}

static bool cut(struct call *c, struct tensor x, const sym_id *pad, uint32_t n_pad)
{
    uint32_t n = x.meta->ndim;
    for (uint32_t d = n - n_pad; d < n && !c->failed; d++) {
        const sym_id *side = pad + 2 * (n - 1 - d);
        if (guard_bool(c, lt(c, side[0], SYM_ID_ZERO)))
            x = call_narrow(c, x, d, sub(c, SYM_ID_ZERO, side[0]),
                            add(c, x.meta->size[d], side[0]));
        if (!c->failed && guard_bool(c, lt(c, side[1], SYM_ID_ZERO)))
            x = call_narrow(c, x, d, SYM_ID_ZERO, add(c, x.meta->size[d], side[1]));
    }
    return ret_tensor(c, call_clone(c, x));
}

bool rule_constant_pad(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    const sym_id *pad;
    uint32_t n = arg_syms(c, 1, &pad);
    if (!x.meta)
        return false;
    struct geometry g = geometry_of(x);
    REQUIRE(c, n % 2 == 0, "RuntimeError", "Length of pad must be even but instead it equals %u",
            n);
    REQUIRE(c, n / 2 <= g.n, "RuntimeError",
            "Length of pad should be no more than twice the number of dimensions of the input. Pad "
            "length is %u%swhile the input has %u%sdimensions.",
            n, eager(c) ? "" : " ", g.n, eager(c) ? "" : " ");
    if (only_cuts(c, pad, n))
        return cut(c, x, pad, n / 2);
    for (uint32_t i = 0; i < n / 2 && !c->failed; i++) {
        uint32_t d = g.n - n / 2 + i;
        const sym_id *side = pad + (n - 2 * (i + 1));
        sym_id size = add(c, add(c, g.size[d], side[0]), side[1]);
        for (uint32_t k = 0; k < 2 && eager(c); k++)
            if (guard_bool(c, lt(c, side[k], SYM_ID_ZERO)) &&
                !guard_bool(c, ge(c, add(c, g.size[d], side[k]), SYM_ID_ZERO)))
                return refuse(c, "RuntimeError", "narrow(): length must be non-negative.");
        CHECK(c, py_ge(c, size, SYM_ID_ZERO), "RuntimeError",
              "The input size %s, plus negative padding %s and %s resulted in a negative output "
              "size, which is invalid. Check dimension %u of your input.",
              sym_text(c, g.size[d]), sym_text(c, side[0]), sym_text(c, side[1]), d);
        g.size[d] = size;
    }
    if (c->failed)
        return false;
    enum memory_format format = !eager(c) ? suggest_format(c, x) : suggest_format_c10(c, x);
    return !c->failed &&
           ret_tensor(c, new_tensor_format(c, x.meta->dtype, x.meta->device, g.size, g.n, format));
}

/* --- reflection_pad and replication_pad --- */

static const char *padded_size_text(struct call *c, const struct geometry *g)
{
    return !eager(c) ? py_size_text(c, g->size, g->n) : sizes_text(c, g->size, g->n);
}

/* Checks that the padding of each side is smaller than the dimension that it mirrors. */
static void check_reflection(struct call *c, const struct geometry *g, uint32_t dim,
                             const sym_id *side, uint32_t number)
{
    sym_id fits = py_lt(c, side[0], g->size[dim]);
    if (behaves(c->env, BEHAVIOR_REFLECTION_JOINS_SIDES))
        fits = sym_and(c->pool, fits, py_lt(c, side[1], g->size[dim]));
    else if (guard_bool(c, fits)) /* Python's `and` evaluates its second operand only if the first
                                     is true. */
        fits = py_lt(c, side[1], g->size[dim]);
    CHECK(c, fits, "RuntimeError",
          "Argument #%u: Padding size should be less than the corresponding input dimension, but "
          "got: padding (%s, %s) at dimension %u of input %s",
          number, sym_text(c, side[0]), sym_text(c, side[1]), dim, padded_size_text(c, g));
}

/* The messages of kernels and of their Python counterparts differ in commas. */
static const char *too_small(struct call *c, const sym_id *own, const sym_id *wanted, uint32_t n)
{
    static const char *const names[] = { "D", "H", "W" };
    struct buf text = BUF_INIT;
    bool plain = eager(c);
    buf_puts(&text, "input (");
    for (uint32_t i = 0; i < n; i++)
        buf_printf(&text, "%s%s: %s",
                   i == 0                ? ""
                   : plain && i + 1 == n ? ", "
                                         : " ",
                   names[3 - n + i], sym_text(c, own[i]));
    buf_puts(&text, plain && n == 2 && !(c->param & 4) ? " " : "");
    buf_puts(&text, ") is too small. Calculated output");
    for (uint32_t i = 0; i < n; i++)
        buf_printf(&text, " %s: %s", names[3 - n + i], sym_text(c, wanted[i]));
    char *ret = text.failed ? NULL : scratch(c, text.n + 1);
    if (ret) {
        memcpy(ret, text.p, text.n);
        ret[text.n] = '\0';
    }
    buf_release(&text);
    return ret ? ret : "";
}

/* Checks that every dimension of the result is at least 1. */
static void check_all_remain(struct call *c, const sym_id *own, const sym_id *wanted, uint32_t n)
{
    sym_id all = SYM_ID_TRUE;
    for (uint32_t i = n; i-- > 0;)
        all = sym_and(c->pool, all, py_ge(c, wanted[i], SYM_ID_ONE));
    if (n == 1)
        CHECK(c, all, "RuntimeError", "%s", too_small(c, own, wanted, n));
    else if (n == 2)
        CHECK(c, all, "RuntimeError",
              "Calculated output H: %s W: %s must be >= 1 in every dimension (input H: %s, W: %s)",
              sym_text(c, wanted[0]), sym_text(c, wanted[1]), sym_text(c, own[0]),
              sym_text(c, own[1]));
    else
        CHECK(c, all, "RuntimeError",
              "Calculated output D: %s H: %s W: %s must be >= 1 in every dimension (input D: %s, "
              "H: %s, W: %s)",
              sym_text(c, wanted[0]), sym_text(c, wanted[1]), sym_text(c, wanted[2]),
              sym_text(c, own[0]), sym_text(c, own[1]), sym_text(c, own[2]));
}

/* Checks that the result has a dimension of at least 1, as torch before 2.14 does. With two
 * dimensions the second is only compared if the first is smaller. */
static void check_remains(struct call *c, const sym_id *own, const sym_id *wanted, uint32_t n)
{
    if (behaves(c->env, BEHAVIOR_PADDING_KEEPS_EVERY_SIDE) && !eager(c)) {
        check_all_remain(c, own, wanted, n);
        return;
    }
    sym_id any = SYM_ID_FALSE;
    for (uint32_t i = n; i-- > 0 && !c->failed;) {
        sym_id positive = py_ge(c, wanted[i], SYM_ID_ONE);
        if (n == 2 && i == 1 && guard_bool(c, positive))
            return;
        any = n == 2 ? positive : sym_or(c->pool, any, positive);
    }
    CHECK(c, any, "RuntimeError", "%s", too_small(c, own, wanted, n));
}

static bool check_input(struct call *c, const struct geometry *g, uint32_t n, uint32_t n_pad)
{
    if (n_pad != 2 * n && eager(c) && !(c->param & 4))
        return refuse(c, "RuntimeError", "padding size is expected to be %u", 2 * n);
    REQUIRE(c, n_pad == 2 * n, "RuntimeError", "padding size is expected to be %u, but got: %u",
            2 * n, n_pad);
    REQUIRE(c, g->n == n + 1 || g->n == n + 2, "RuntimeError",
            "Expected %uD or %uD (batch mode) tensor with possibly 0 batch size and other non-zero "
            "dimensions for input, but got: %s",
            n + 1, n + 2, padded_size_text(c, g));
    return true;
}

/* param is the number of dimensions that are padded, plus 4 for reflection. */
bool rule_edge_pad(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    const sym_id *pad;
    uint32_t n_pad = arg_syms(c, 1, &pad), n = (uint32_t)c->param & 3;
    bool reflects = c->param & 4;
    if (!x.meta)
        return false;
    struct geometry g = geometry_of(x);
    if (!check_input(c, &g, n, n_pad))
        return false;
    sym_id wanted[3];
    for (uint32_t i = 0; i < n; i++) {
        const sym_id *side = pad + 2 * (n - 1 - i);
        uint32_t dim = g.n - n + i;
        wanted[i] = add(c, add(c, g.size[dim], side[0]), side[1]);
    }
    for (uint32_t i = n; reflects && i-- > 0 && !c->failed;)
        check_reflection(c, &g, g.n - n + i, pad + 2 * (n - 1 - i), 4 + 2 * (n - 1 - i));
    check_remains(c, g.size + (g.n - n), wanted, n);
    if (c->failed)
        return false;
    memcpy(g.size + (g.n - n), wanted, n * sizeof(*wanted));
    struct tensor_kind kind = { x.meta->dtype, x.meta->device };
    bool formats = n == 2 && g.n == 4 && kind.device.type != DEVICE_CUDA;
    if (formats && suggest_format(c, x) == FORMAT_CHANNELS_LAST)
        return check_sizes(c, g.size, g.n) &&
               ret_tensor(c, new_tensor_format(c, kind.dtype, kind.device, g.size, g.n,
                                               FORMAT_CHANNELS_LAST));
    return ret_tensor(c, empty(c, kind, g.size, g.n));
}

/* (grad_output, self, padding) */
bool rule_edge_pad_backward(struct call *c)
{
    static const char *const names[] = { "width", "height", "depth" };
    struct tensor grad = arg_tensor(c, 0), x = arg_tensor(c, 1);
    const sym_id *pad;
    uint32_t n_pad = arg_syms(c, 2, &pad), n = (uint32_t)c->param & 3;
    if (!x.meta || !grad.meta)
        return false;
    struct geometry g = geometry_of(x);
    const char *gradient = eager(c) && (c->param < 4 || n == 2) ? "gradOutput" : "grad_output";
    REQUIRE(c, n_pad == 2 * n, "RuntimeError", "padding size is expected to be %u", 2 * n);
    REQUIRE(c, g.n >= n && grad.meta->ndim == g.n, "RuntimeError",
            "grad_output has %u dimensions, input has %u", grad.meta->ndim, g.n);
    for (uint32_t i = 0; i < n && !c->failed; i++) {
        uint32_t dim = g.n - 1 - i;
        const sym_id *side = pad + 2 * i;
        sym_id wanted = add(c, add(c, g.size[dim], side[0]), side[1]);
        if (n == 1 && c->param & 4)
            check_reflection(c, &g, dim, side, 4);
        CHECK(c, py_eq(c, wanted, grad.meta->size[dim]), "RuntimeError",
              "%s %s unexpected. Expected: %s%s Got: %s", gradient, names[i], sym_text(c, wanted),
              eager(c) && c->param == 1 ? "" : ",", sym_text(c, grad.meta->size[dim]));
    }
    struct tensor_kind kind = { x.meta->dtype, x.meta->device };
    return ret_tensor(c, empty(c, kind, g.size, g.n));
}

/* --- pad --- */

static const char *pad_operator(struct str mode, uint32_t n)
{
    static const char *const reflect[] = { "aten.reflection_pad1d.default",
                                           "aten.reflection_pad2d.default",
                                           "aten.reflection_pad3d.default" };
    static const char *const replicate[] = { "aten.replication_pad1d.default",
                                             "aten.replication_pad2d.default",
                                             "aten.replication_pad3d.default" };
    if (n < 1 || n > 3)
        return NULL;
    return str_eq(mode, STR("reflect"))     ? reflect[n - 1]
           : str_eq(mode, STR("replicate")) ? replicate[n - 1]
                                            : NULL;
}

/* --- pad with mode circular --- */

static sym_id at_least_zero(struct call *c, sym_id n)
{
    return guard_bool(c, lt(c, n, SYM_ID_ZERO)) ? SYM_ID_ZERO : n;
}

static struct tensor part_of(struct call *c, struct tensor x, uint32_t dim, sym_id from, sym_id to)
{
    return CALL(c, "aten.slice.Tensor", T(x), I(c, dim), N(from), N(to));
}

/* Copies the input to the middle of the new tensor. */
static void copy_middle(struct call *c, struct tensor x, struct tensor out, const sym_id *pad,
                        uint32_t n)
{
    struct tensor to = out, from = x;
    for (uint32_t i = 0; i < n / 2 && !c->failed; i++) {
        uint32_t dim = x.meta->ndim - 1 - i;
        sym_id left = pad[2 * i], right = pad[2 * i + 1];
        to = part_of(c, to, dim, at_least_zero(c, left),
                     sub(c, out.meta->size[dim], at_least_zero(c, right)));
        from = part_of(c, from, dim, at_least_zero(c, sub(c, SYM_ID_ZERO, left)),
                       sub(c, x.meta->size[dim], at_least_zero(c, sub(c, SYM_ID_ZERO, right))));
    }
    CALL(c, "aten.copy_.default", T(to), T(from));
}

/* Copies to both sides of a dimension of the new tensor what is at its other end. */
static void copy_sides(struct call *c, struct tensor out, uint32_t dim, sym_id left, sym_id right)
{
    sym_id size = out.meta->size[dim];
    if (guard_bool(c, gt(c, left, SYM_ID_ZERO))) {
        sym_id end = sub(c, size, at_least_zero(c, right));
        struct tensor to = part_of(c, out, dim, SYM_ID_ZERO, left);
        CALL(c, "aten.copy_.default", T(to), T(part_of(c, out, dim, sub(c, end, left), end)));
    }
    if (guard_bool(c, gt(c, right, SYM_ID_ZERO))) {
        sym_id start = at_least_zero(c, left);
        struct tensor to = part_of(c, out, dim, sub(c, size, right), size);
        CALL(c, "aten.copy_.default", T(to), T(part_of(c, out, dim, start, add(c, start, right))));
    }
}

/* Calls what _pad_circular calls, which writes a new tensor of these sizes part by part. */
static struct tensor circular_by_calls(struct call *c, struct tensor x, const struct geometry *g,
                                       const sym_id *pad, uint32_t n)
{
    struct tensor out = CALL(c, "aten.new_empty.default", T(x), ints(c, g->size, g->n));
    if (!c->failed)
        copy_middle(c, x, out, pad, n);
    for (uint32_t i = 0; i < n / 2 && !c->failed; i++)
        copy_sides(c, out, g->n - 1 - i, pad[2 * i], pad[2 * i + 1]);
    return out;
}

/* _pad_circular: the input has a channel, and a batch or none. */
static bool pad_circular(struct call *c, struct tensor x, const sym_id *pad, uint32_t n)
{
    struct geometry g = geometry_of(x);
    REQUIRE(c, n % 2 == 0 && (n / 2 + 2 == g.n || n / 2 + 1 == g.n), "RuntimeError",
            "Invalid padding size, expected %u but got %u", g.n > 2 ? 2 * (g.n - 2) : 0, n);
    for (uint32_t i = 0; i < n / 2 && !c->failed; i++) {
        uint32_t dim = g.n - 1 - i;
        sym_id size = g.size[dim];
        for (uint32_t k = 0; k < 2; k++)
            CHECK(c, le(c, pad[2 * i + k], size), "RuntimeError",
                  "Padding value causes wrapping around more than once.");
        g.size[dim] = add(c, add(c, pad[2 * i], pad[2 * i + 1]), size);
        CHECK(c, ge(c, g.size[dim], SYM_ID_ZERO), "RuntimeError",
              "Negative padding value is resulting in an empty dimension");
    }
    if (c->failed)
        return false;
    struct tensor_kind kind = { x.meta->dtype, x.meta->device };
    bool by_calls = c->symbolic && !eager(c);
    struct tensor out =
        by_calls ? circular_by_calls(c, x, &g, pad, n) : empty(c, kind, g.size, g.n);
    return !c->failed && ret_tensor(c, out);
}

/* pad_symint of ATen/native/PadNd.cpp: (self, pad, mode, value) */
bool rule_pad(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    const sym_id *pad;
    uint32_t n = arg_syms(c, 1, &pad);
    struct str mode = arg_string(c, 2);
    if (!x.meta)
        return false;
    if (str_eq(mode, STR("constant"))) {
        struct value args[] = { arg(c, 0), arg(c, 1), arg(c, 3) };
        return ret_tensor(
            c, call_tensor(c, "aten.constant_pad_nd.default", args, arg_given(c, 3) ? 3 : 2));
    }
    REQUIRE(c, !arg_given(c, 3) || arg_double(c, 3) == 0.0, "RuntimeError",
            "Padding mode \"%.*s\" doesn't take in value argument", STR_ARG(mode));
    if (str_eq(mode, STR("circular")))
        return pad_circular(c, x, pad, n);
    const char *name = n % 2 == 0 && (x.meta->ndim == n / 2 + 1 || x.meta->ndim == n / 2 + 2)
                           ? pad_operator(mode, n / 2)
                           : NULL;
    if (!name)
        return refuse(
            c, "NotImplementedError",
            "Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now");
    struct value args[] = { arg(c, 0), arg(c, 1) };
    return ret_tensor(c, call_tensor(c, name, args, 2));
}
