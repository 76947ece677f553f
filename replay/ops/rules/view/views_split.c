/* The rules that return several views (split, chunk, unbind and others), and those that expand
 * several tensors to one shape. */
#include "replay/ops/rules/view/views.h"

enum { MAX_PIECES = 1 << 20 };

static bool ret_pieces(struct call *c, struct tensor *x, uint32_t n)
{
    for (uint32_t i = 0; i < n && c->param == AS_COPY && !c->failed; i++)
        x[i] = new_tensor(c, x[i].meta->dtype, x[i].meta->device, x[i].meta->size, x[i].meta->ndim);
    return !c->failed && ret_list(c, x, n);
}

static struct tensor *pieces(struct call *c, int64_t n)
{
    if (n < 0 || n > MAX_PIECES) {
        unsupported(c, "%lld pieces of a tensor", (long long)n);
        return NULL;
    }
    return scratch(c, (size_t)n * sizeof(struct tensor));
}

static sym_id sum_of_sizes(struct call *c, const sym_id *items, uint32_t n)
{
    sym_id sum = SYM_ID_ZERO;
    for (uint32_t i = 0; i < n; i++)
        sum = add(c, sum, items[i]);
    return sum;
}

bool split_by_sizes(struct call *c, struct tensor x, const sym_id *sizes, uint32_t n, int64_t dim,
                    struct tensor *ret)
{
    struct geometry g = geometry_of(x);
    REQUIRE(c, g.n > 0, "RuntimeError", "split expects at least a 1-dimensional tensor");
    uint32_t at = wrap_dim(c, dim, g.n);
    if (c->failed)
        return false;
    bool python = !eager(c);
    for (uint32_t i = 0; i < n && !c->failed; i++)
        CHECK(c, py_ge(c, sizes[i], SYM_ID_ZERO), "RuntimeError",
              "split_with_sizes expects split_sizes have only non-negative entries%s%s",
              python ? "" : ", but got split_sizes=", python ? "" : sizes_text(c, sizes, n));
    sym_id sum = sum_of_sizes(c, sizes, n);
    if (python)
        CHECK(c, py_eq(c, sum, g.size[at]), "ValueError",
              "Split sizes add up to %s but got the tensor's size of %s", sym_text(c, sum),
              sym_text(c, g.size[at]));
    else
        CHECK(c, eq(c, sum, g.size[at]), "RuntimeError",
              "split_with_sizes expects split_sizes to sum exactly to %s (input tensor's size at "
              "dimension %u), but got split_sizes=%s",
              sym_text(c, g.size[at]), at, sizes_text(c, sizes, n));
    for (uint32_t i = 0; i < n && !c->failed; i++) {
        g.size[at] = sizes[i];
        ret[i] = geometry_view(c, x, &g);
        g.offset = add(c, g.offset, mul(c, g.stride[at], sizes[i]));
    }
    if (python && c->symbolic)
        count_dispatches(c, n);
    return !c->failed;
}

bool rule_split_with_sizes(struct call *c)
{
    const sym_id *sizes;
    uint32_t n = arg_syms(c, 1, &sizes);
    struct tensor *ret = pieces(c, n);
    return ret && split_by_sizes(c, arg_tensor(c, 0), sizes, n, arg_int(c, 2), ret) &&
           ret_pieces(c, ret, n);
}

/* split() of aten/src/ATen/native/TensorShape.cpp, or of torch/_decomp/decompositions.py: checks
 * its arguments before any size is computed. Sets *whole where the result is a single piece. */
static bool check_split(struct call *c, sym_id size, sym_id step, bool *whole)
{
    if (eager(c) || behaves(c->env, BEHAVIOR_SPLIT_CHECKS_SIZE)) {
        CHECK(c, py_ge(c, step, SYM_ID_ZERO), "RuntimeError",
              "split expects split_size be non-negative, but got split_size=%s", sym_text(c, step));
        *whole = guard_bool(c, py_eq(c, size, SYM_ID_ZERO));
        if (!*whole)
            CHECK(c, py_gt(c, step, SYM_ID_ZERO), "RuntimeError",
                  "split_size can only be 0 if dimension size is 0, but got dimension size of %s",
                  sym_text(c, size));
        return !c->failed;
    }
    *whole = guard_bool(c, py_eq(c, step, SYM_ID_ZERO));
    if (*whole)
        REQUIRE(c, guard_bool(c, py_eq(c, size, SYM_ID_ZERO)), "AssertionError",
                "split_size is 0 but dim_size is %s, expected 0", sym_text(c, size));
    return !c->failed;
}

bool rule_split(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    struct geometry g = geometry_of(x);
    sym_id step = arg_sym(c, 1);
    REQUIRE(c, g.n > 0, "RuntimeError", "split expects at least a 1-dimensional tensor");
    uint32_t at = wrap_dim(c, arg_int(c, 2), g.n);
    if (c->failed)
        return false;
    sym_id size = g.size[at];
    bool whole;
    if (!check_split(c, size, step, &whole))
        return false;
    if (whole)
        return ret_pieces(c, &x, 1);
    int64_t n = guard_int(c, floordiv(c, sub(c, add(c, size, step), SYM_ID_ONE), step));
    REQUIRE(c, n > 0, "IndexError", "list assignment index out of range");
    struct tensor *ret = pieces(c, n);
    sym_id *sizes = ret ? syms(c, (uint32_t)n) : NULL;
    if (!sizes)
        return false;
    for (int64_t i = 0; i < n; i++)
        sizes[i] = step;
    sizes[n - 1] = sub(c, step, sub(c, mul(c, step, num(c, n)), size));
    if (!eager(c))
        count_dispatches(c, 1);
    return split_by_sizes(c, x, sizes, (uint32_t)n, at, ret) && ret_pieces(c, ret, (uint32_t)n);
}

/* chunk of ATen/native/TensorShape.cpp */
bool rule_chunk(struct call *c)
{
    struct geometry g = geometry_of(arg_tensor(c, 0));
    int64_t chunks = arg_int(c, 1), dim = arg_int(c, 2);
    REQUIRE(c, g.n > 0, "RuntimeError", "chunk expects at least a 1-dimensional tensor");
    REQUIRE(c, chunks > 0, "RuntimeError", "chunk expects `chunks` to be greater than 0, got: %lld",
            (long long)chunks);
    uint32_t at = wrap_dim(c, dim, g.n);
    if (c->failed)
        return false;
    sym_id step =
        floordiv(c, sub(c, add(c, g.size[at], num(c, chunks)), SYM_ID_ONE), num(c, chunks));
    struct value args[] = { arg(c, 0), value_int(step), int_value(c, dim) };
    bool empty =
        guard_bool(c, eq(c, step, SYM_ID_ZERO)) && guard_bool(c, eq(c, g.size[at], SYM_ID_ZERO));
    if (!empty)
        return ret_value(
            c, call_op(c, c->param ? "aten.unsafe_split.Tensor" : "aten.split.Tensor", args, 3));
    if (chunks > MAX_PIECES)
        return unsupported(c, "%lld chunks", (long long)chunks);
    struct value *zeros = values(c, (uint32_t)chunks);
    for (int64_t i = 0; zeros && i < chunks; i++)
        zeros[i] = value_int(SYM_ID_ZERO);
    args[1] = value_items(VALUE_LIST, zeros, zeros ? (uint32_t)chunks : 0);
    return ret_value(c, call_op(c,
                                c->param ? "aten.unsafe_split_with_sizes.default"
                                         : "aten.split_with_sizes.default",
                                args, 3));
}

/* unbind of torch/_refs squeezes the results of tensor_split. */
static bool unbind_reference(struct call *c, struct tensor x, uint32_t at, sym_id size)
{
    struct value args[] = { value_tensor(x), value_int(size), int_value(c, at) };
    struct value parts = call_op(c, "aten.tensor_split.sections", args, 3);
    struct tensor *ret = c->failed ? NULL : pieces(c, parts.n);
    for (uint32_t i = 0; ret && i < parts.n && !c->failed; i++) {
        struct value part[] = { parts.u.items[i], int_value(c, at) };
        ret[i] = call_tensor(c, "aten.squeeze.dim", part, 2);
    }
    return ret && !c->failed && ret_pieces(c, ret, parts.n);
}

bool rule_unbind(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    struct geometry g = geometry_of(x);
    uint32_t at = wrap_dim(c, arg_int(c, 1), g.n);
    if (c->failed)
        return false;
    REQUIRE(c, g.n > 0, "IndexError", "Dimension specified as 0 but tensor has no dimensions");
    sym_id size = g.size[at];
    if (!eager(c) && guard_bool(c, py_eq(c, size, SYM_ID_ZERO)))
        return ret_list(c, NULL, 0);
    if (!eager(c) && c->symbolic)
        return unbind_reference(c, x, at, size);
    int64_t n = guard_int(c, size);
    struct tensor *ret = pieces(c, n);
    sym_id stride = g.stride[at];
    geometry_remove(&g, at);
    for (int64_t i = 0; ret && i < n && !c->failed; i++) {
        ret[i] = geometry_view(c, x, &g);
        g.offset = add(c, g.offset, stride);
    }
    return ret && ret_pieces(c, ret, (uint32_t)n);
}

/* --- tensor_split --- */

static struct tensor part(struct call *c, int64_t dim, sym_id start, sym_id end)
{
    struct value args[] = { arg(c, 0), int_value(c, dim), value_int(start), value_int(end) };
    return call_tensor(c, "aten.slice.Tensor", args, 4);
}

static bool tensor_split(struct call *c, int64_t dim, struct value how)
{
    struct geometry g = geometry_of(arg_tensor(c, 0));
    REQUIRE(c, g.n > 0, "RuntimeError",
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with %u dims",
            g.n);
    uint32_t at = wrap_dim(c, dim, g.n);
    if (c->failed)
        return false;
    if (how.kind == VALUE_LIST || how.kind == VALUE_TUPLE) {
        struct tensor *ret = pieces(c, (int64_t)how.n + 1);
        sym_id start = SYM_ID_ZERO;
        for (uint32_t i = 0; ret && i < how.n && !c->failed; i++) {
            sym_id end = how.u.items[i].u.sym;
            ret[i] = part(c, at, start, end);
            start = end;
        }
        if (ret && !c->failed)
            ret[how.n] = part(c, at, start, g.size[at]);
        return ret && !c->failed && ret_list(c, ret, how.n + 1);
    }
    int64_t n = guard_int(c, how.u.sym);
    if (c->failed)
        return false;
    REQUIRE(c, n > 0, "RuntimeError", "number of sections must be larger than 0, got %lld",
            (long long)n);
    sym_id sections = num(c, n), least = floordiv(c, g.size[at], sections);
    sym_id longer = mod(c, g.size[at], sections), start = SYM_ID_ZERO;
    struct tensor *ret = pieces(c, n);
    for (int64_t i = 0; ret && i < n && !c->failed; i++) {
        bool one_more = guard_bool(c, gt(c, longer, num(c, i)));
        sym_id end = add(c, start, one_more ? add(c, least, SYM_ID_ONE) : least);
        ret[i] = part(c, at, start, end);
        start = end;
    }
    return ret && !c->failed && ret_list(c, ret, (uint32_t)n);
}

bool rule_tensor_split(struct call *c)
{
    if (arg(c, 1).kind == VALUE_TENSOR)
        return unsupported(c, "tensor_split by a tensor");
    return tensor_split(c, arg_int(c, 2), arg(c, 1));
}

/* hsplit, vsplit, dsplit: param is the minimum number of dimensions. */
bool rule_hsplit(struct call *c)
{
    static const char *const names[] = { "", "hsplit", "vsplit", "dsplit" };
    struct tensor x = arg_tensor(c, 0);
    uint32_t n = x.meta ? x.meta->ndim : 0, least = (uint32_t)c->param;
    REQUIRE(c, n >= least, "RuntimeError",
            "torch.%s requires a tensor with at least %u dimension, but got a tensor with %u "
            "dimensions!",
            names[least], least, n);
    int64_t dim = least == 1 ? (n == 1 ? 0 : 1) : least == 2 ? 0 : 2;
    struct value how = arg(c, 1);
    if (value_is_number(how)) {
        int64_t sections = guard_int(c, how.u.sym);
        if (c->failed)
            return false;
        bool divides =
            sections != 0 &&
            guard_bool(c, eq(c, mod(c, x.meta->size[dim], num(c, sections)), SYM_ID_ZERO));
        if (!divides)
            return refuse(c, "RuntimeError",
                          "torch.%s attempted to split along dimension %lld, but the size of the "
                          "dimension %s is not divisible by the split_size %lld!",
                          names[least], (long long)dim, sym_text(c, x.meta->size[dim]),
                          (long long)sections);
    }
    return tensor_split(c, dim, how);
}
