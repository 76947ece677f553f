/* Functions of torch that are written in Python, and builtin functions of Python. */
#include "replay/ops/python/python_internal.h"

/* --- Checks: torch._check and its family (torch/__init__.py) --- */

/* cond, message=None */
bool python_check(struct call *c)
{
    struct value cond = arg(c, 0);
    if (cond.kind == VALUE_TENSOR)
        cond = py_op(c, "aten.item", &cond, 1);
    if (cond.kind != VALUE_BOOL)
        return refuse(c, "TypeError", "cond must be a bool");
    check(c, cond.u.sym, "RuntimeError",
          "Expected cond to be True, but got False. (Could this "
          "error message be improved? If so, please report an "
          "enhancement request to PyTorch.)");
    return !c->failed && ret_none(c);
}

/* error_type, cond, message=None */
bool python_check_with(struct call *c)
{
    c->args++;
    c->n_args--;
    return python_check(c);
}

/* i, message=None, max=None: torch._check_is_size */
bool python_check_is_size(struct call *c)
{
    sym_id i = arg_sym(c, 0), max = arg(c, 2).kind == VALUE_INT ? arg_sym(c, 2) : SYM_NONE;
    if (i == SYM_NONE)
        return refuse(c, "TypeError", "a size is expected");
    check(c, ge(c, i, SYM_ID_ZERO), "RuntimeError", "Expected cond to be True, but got False.");
    if (c->failed)
        return false;
    sym_id e = env_replace(c->env, i);
    if (sym_kind_of(c->pool, e) == SYM_SYMBOL && env_is_unbacked(c->env, e) &&
        !env_constrain_range_for_size(c->env, e, SYM_NONE, SYM_NONE))
        return call_raised(c);
    if (max != SYM_NONE)
        check(c, le(c, i, max), "RuntimeError", "Expected cond to be True, but got False.");
    return !c->failed && ret_none(c);
}

/* symint, min=None, max=None: torch._constrain_as_size */
bool python_check_size_range(struct call *c)
{
    struct value args[] = { arg(c, 0), value_none(), arg(c, 2) };
    if (arg_given(c, 1))
        check(c, ge(c, arg_sym(c, 0), arg_sym(c, 1)), "RuntimeError", "Invalid value range");
    c->args = args;
    return !c->failed && python_check_is_size(c);
}

/* symint, min=None, max=None: torch._constrain_as_value */
bool python_constrain_range(struct call *c)
{
    struct value x = arg(c, 0);
    if (x.kind != VALUE_INT)
        return refuse(c, "TypeError", "a size is expected");
    if (arg_given(c, 1))
        check(c, ge(c, x.u.sym, arg_sym(c, 1)), "RuntimeError", "Invalid value range");
    if (arg_given(c, 2))
        check(c, le(c, x.u.sym, arg_sym(c, 2)), "RuntimeError", "Invalid value range");
    return !c->failed && ret_none(c);
}

/* --- Numbers and sequences --- */

/* *args: one list, or the numbers */
bool python_sym_sum(struct call *c)
{
    struct value list = arg(c, 0);
    bool found, integers = true;
    for (uint32_t i = 0; i < list.n; i++)
        integers = integers && list.u.items[i].kind == VALUE_INT;
    if (integers && list.n && list.n < SYM_MAX_TERMS) {
        sym_id *terms = syms(c, list.n);
        for (uint32_t i = 0; terms && i < list.n; i++)
            terms[i] = env_replace(c->env, list.u.items[i].u.sym);
        sym_id sum = terms ? sym_make(c->pool, SYM_ADD, terms, list.n) : SYM_NONE;
        return sum == SYM_NONE ? python_no_memory(c) : ret_call(c, value_int(sum));
    }
    struct value sum = py_int(c, 0);
    for (uint32_t i = 0; i < list.n && !c->failed; i++)
        sum =
            list.u.items[i].kind == VALUE_TENSOR
                ? py_call(c, "add", (struct value[]){ list.u.items[i], sum }, 2)
                : python_number(c, STR("add"), (struct value[]){ sum, list.u.items[i] }, 2, &found);
    return ret_call(c, sum);
}

bool python_prod(struct call *c)
{
    struct value list = arg(c, 0), product = arg_given(c, 1) ? arg(c, 1) : py_int(c, 1);
    bool found;
    if (!value_is_sequence(list))
        return refuse(c, "TypeError", "'int' object is not iterable");
    for (uint32_t i = 0; i < list.n && !c->failed; i++) {
        struct value pair[] = { product, list.u.items[i] }, next = value_none();
        python_operator(c, STR("mul"), pair, 2, &next, &found);
        product = next;
    }
    return ret_call(c, product);
}

bool python_tuple(struct call *c)
{
    struct value list = arg(c, 0);
    if (!value_is_sequence(list))
        return refuse(c, "TypeError", "'int' object is not iterable");
    list.kind = row_base(c) ? VALUE_LIST : VALUE_TUPLE;
    return ret_call(c, list);
}

/* *args of max() and min(): branches as Python does, which adds guards. */
bool python_extreme(struct call *c)
{
    struct value list = arg(c, 0);
    struct str less = row_base(c)[1] == 'a' ? STR("gt") : STR("lt");
    bool found;
    if (!value_is_sequence(list) || !list.n)
        return refuse(c, "ValueError", "an empty sequence");
    struct value best = list.u.items[0];
    for (uint32_t i = 1; i < list.n && !c->failed; i++) {
        struct value test =
            python_number(c, less, (struct value[]){ list.u.items[i], best }, 2, &found);
        if (!c->failed && py_truth(c, test))
            best = list.u.items[i];
    }
    return ret_call(c, best);
}

bool python_bool(struct call *c)
{
    return ret_call(c, py_bool(py_truth(c, arg(c, 0))));
}

bool python_item_of(struct call *c)
{
    struct value ret = value_none();
    return python_item(c, arg(c, 0), arg(c, 1), &ret) && ret_call(c, ret);
}

/* --- torch.functional --- */

/* tensor, split_size_or_sections, dim */
bool python_split(struct call *c)
{
    struct value args[] = { arg(c, 0), arg(c, 1), arg(c, 2) };
    const char *name = value_is_sequence(args[1]) ? "aten.split_with_sizes" : "aten.split.Tensor";
    return ret_call(c, py_op(c, name, args, 3));
}

/* *tensors, indexing=None */
bool python_meshgrid(struct call *c)
{
    struct value tensors = arg(c, 0);
    struct keyword keyword = { STR("indexing"), arg(c, 1) };
    if (!arg_given(c, 1))
        return ret_call(c, py_call(c, "meshgrid", &tensors, 1));
    return ret_call(c, py_call_keywords(c, "meshgrid", &tensors, 1, &keyword, 1));
}

/* equation, *operands */
bool python_einsum(struct call *c)
{
    struct value args[] = { arg(c, 0), arg(c, 1) };
    if (args[0].kind != VALUE_STRING)
        return unsupported(c, "torch.einsum in its sublist form");
    return ret_call(c, py_op(c, "aten.einsum", args, 2));
}

/* *tensors: base of one list */
bool python_of_list(struct call *c)
{
    struct value list = arg(c, 0);
    return ret_call(c, py_call(c, row_base(c), &list, 1));
}

/* *tensors: atleast_1d and the like, of one tensor or of several */
bool python_of_some(struct call *c)
{
    struct value list = arg(c, 0);
    bool one = list.n == 1 && list.u.items[0].kind == VALUE_TENSOR;
    return ret_call(c, py_call(c, row_base(c), one ? list.u.items : &list, 1));
}

/* One size in _broadcast_shapes of torch/_refs, `common` being the result so far. */
static bool broadcast_size(struct call *c, sym_id size, struct value *common)
{
    if (guard_or_false(c, py_eq(c, size, common->u.sym)))
        return true;
    if (guard_or_false(c, py_eq(c, common->u.sym, SYM_ID_ONE))) {
        if (guard_bool(c, py_lt(c, size, SYM_ID_ZERO)))
            return refuse(c, "ValueError",
                          "Attempting to broadcast a dimension with negative length!");
        *common = value_int(size);
    }
    return guard_or_false(c, py_eq(c, size, SYM_ID_ONE)) ||
           check(c, py_eq(c, common->u.sym, size), "RuntimeError",
                 "Shape mismatch: objects cannot be broadcast to a single shape");
}

/* *shapes */
bool python_broadcast_shapes(struct call *c)
{
    struct value shapes = arg(c, 0);
    struct value ret = value_items(VALUE_TUPLE, NULL, 0);
    struct value *items = ops_values(c->ops, TENSOR_MAX_DIM);
    uint32_t ndim = 0;
    if (!items)
        return python_no_memory(c);
    for (uint32_t i = 0; i < shapes.n; i++)
        if (value_is_sequence(shapes.u.items[i]) && shapes.u.items[i].n > ndim)
            ndim = shapes.u.items[i].n;
    if (ndim > TENSOR_MAX_DIM)
        return refuse(c, "RuntimeError", "too many dimensions");
    for (uint32_t i = 0; i < ndim; i++)
        items[i] = py_int(c, 1);
    for (uint32_t s = 0; s < shapes.n; s++) {
        struct value shape = shapes.u.items[s];
        uint32_t n = value_is_sequence(shape) ? shape.n : 0;
        for (uint32_t i = n; i-- > 0 && !c->failed;)
            if (!broadcast_size(c, shape.u.items[i].u.sym, &items[ndim - n + i]))
                return false;
    }
    ret.u.items = items;
    ret.n = ndim;
    return ret_call(c, ret);
}

static struct value range_of(struct call *c, int64_t from, int64_t to)
{
    struct value items[TENSOR_MAX_DIM];
    uint32_t n = 0;
    for (int64_t i = from; i < to && n < TENSOR_MAX_DIM; i++)
        items[n++] = py_int(c, i);
    return py_list(c, items, n);
}

/* input, p, dim, keepdim, out, dtype */
bool python_norm(struct call *c)
{
    struct value p = arg(c, 1), dim = arg(c, 2), args[] = { arg(c, 0), p, dim, arg(c, 3) };
    struct keyword keyword = { STR("dtype"), arg(c, 5) };
    uint32_t n = arg_given(c, 5);
    bool two = !value_is_sequence(dim) || dim.n <= 2;
    if (p.kind == VALUE_NONE || (py_is(p, "fro") && two))
        args[1] = py_int(c, 2);
    else if (p.kind == VALUE_STRING) {
        if (dim.kind == VALUE_NONE && args[0].kind == VALUE_TENSOR)
            args[2] = range_of(c, 0, args[0].u.tensor.meta->ndim);
        return ret_call(c, py_call_keywords(c, "linalg_matrix_norm", args, 4, &keyword, n));
    }
    return ret_call(c, py_op_keywords(c, "aten.linalg_vector_norm", args, 4, &keyword, n));
}

/* tensordot of torch/functional.py with one number: the last dims of a and the first of b. */
static int64_t contracted_dims(struct call *c, sym_id dims)
{
    struct value a = arg(c, 0), b = arg(c, 1);
    if (a.kind != VALUE_TENSOR || b.kind != VALUE_TENSOR)
        return unsupported(c, "tensordot of what is no tensor");
    uint32_t n_a = a.u.tensor.meta->ndim, n_b = b.u.tensor.meta->ndim;
    if (guard_bool(c, py_lt(c, dims, SYM_ID_ZERO)))
        return refuse(c, "RuntimeError", "tensordot expects dims >= 0, but got dims=%s",
                      sym_text(c, dims));
    if (!c->failed && guard_bool(c, py_gt(c, dims, num(c, n_a < n_b ? n_a : n_b))))
        return refuse(c, "RuntimeError",
                      "tensordot expects dims < ndim_a or ndim_b, but got dims=%s",
                      sym_text(c, dims));
    return c->failed ? 0 : -guard_int(c, mul(c, SYM_ID_MINUS_ONE, dims));
}

/* a, b, dims */
bool python_tensordot(struct call *c)
{
    struct value dims = arg(c, 2), a, b;
    if (value_is_sequence(dims) && dims.n == 2) {
        a = dims.u.items[0];
        b = dims.u.items[1];
    } else if (dims.kind == VALUE_INT) {
        int64_t n = contracted_dims(c, dims.u.sym);
        if (c->failed)
            return false;
        a = range_of(c, -n, 0);
        b = range_of(c, 0, n);
    } else {
        return unsupported(c, "tensordot with dims in a tensor");
    }
    return ret_call(c,
                    py_op(c, "aten.tensordot", (struct value[]){ arg(c, 0), arg(c, 1), a, b }, 4));
}

/* Returns those of (output, inverse, counts) that were requested. */
static bool return_requested(struct call *c, struct value all, bool inverse, bool counts)
{
    if (c->failed || all.n < 3)
        return false;
    struct value some[3] = { all.u.items[0] };
    uint32_t n = 1;
    if (inverse)
        some[n++] = all.u.items[1];
    if (counts)
        some[n++] = all.u.items[2];
    struct value ret = py_list(c, some, n);
    ret.kind = VALUE_TUPLE;
    return ret_call(c, n == 1 ? some[0] : ret);
}

/* input, sorted, return_inverse, return_counts, dim */
bool python_unique(struct call *c)
{
    bool inverse = py_truth(c, arg(c, 2)), counts = py_truth(c, arg(c, 3));
    struct value flags[] = { arg(c, 0), arg(c, 1), py_bool(inverse), py_bool(counts) };
    struct value by_dim[] = { arg(c, 0), arg(c, 4), flags[1], flags[2], flags[3] };
    struct value all = arg_given(c, 4) ? py_op(c, "aten.unique_dim", by_dim, 5)
                                       : py_op(c, "aten._unique2", flags, 4);
    return return_requested(c, all, inverse, counts);
}

/* input, return_inverse, return_counts, dim */
bool python_unique_consecutive(struct call *c)
{
    bool inverse = py_truth(c, arg(c, 1)), counts = py_truth(c, arg(c, 2));
    struct value args[] = { arg(c, 0), py_bool(inverse), py_bool(counts), arg(c, 3) };
    return return_requested(c, py_op(c, "aten.unique_consecutive", args, 4), inverse, counts);
}

/* indices, shape: one coordinate for each dimension. */
/* Returns views of one tensor, whose last dimension has the coordinates. */
bool python_unravel_index(struct call *c)
{
    struct value indices = arg(c, 0), shape = arg(c, 1), *out;
    if (shape.kind == VALUE_INT)
        shape = py_list(c, &shape, 1);
    out = ops_values(c->ops, shape.n);
    if (!out)
        return python_no_memory(c);
    sym_id stride = SYM_ID_ONE;
    for (uint32_t i = shape.n; i-- > 0 && !c->failed;) {
        struct keyword keyword = { STR("rounding_mode"),
                                   { .kind = VALUE_STRING, .u.text = STR("floor") } };
        struct value part = py_call_keywords(
            c, "div", (struct value[]){ indices, value_int(stride) }, 2, &keyword, 1);
        out[i] = py_call(c, "remainder", (struct value[]){ part, shape.u.items[i] }, 2);
        stride = mul(c, stride, shape.u.items[i].u.sym);
    }
    if (!shape.n)
        return ret_call(c, value_items(VALUE_TUPLE, out, 0));
    struct value list = value_items(VALUE_LIST, out, shape.n), last = py_int(c, -1);
    struct value all = py_call(c, "stack", (struct value[]){ list, last }, 2);
    return ret_call(c, py_call(c, "unbind", (struct value[]){ all, last }, 2));
}

/* input, as_tuple: a tensor for each dimension, or one of all coordinates. */
bool python_nonzero(struct call *c)
{
    struct value x = arg(c, 0);
    if (!py_truth(c, arg(c, 1)))
        return ret_call(c, py_op(c, "aten.nonzero", &x, 1));
    struct value list = py_op(c, "aten.nonzero_numpy", &x, 1);
    list.kind = list.kind == VALUE_LIST ? VALUE_TUPLE : list.kind;
    return ret_call(c, list);
}

/* x, ndigits=None: x is a number or a tensor. */
bool python_round(struct call *c)
{
    bool found, digits = arg_given(c, 1);
    struct keyword keyword = { STR("decimals"), arg(c, 1) };
    if (arg(c, 0).kind == VALUE_TENSOR)
        return ret_call(c, py_call_keywords(c, "round", c->args, 1, &keyword, digits));
    return ret_call(c, python_number(c, STR("round"), c->args, digits ? 2 : 1, &found));
}

bool python_is_tensor(struct call *c)
{
    return ret_call(c, py_bool(arg(c, 0).kind == VALUE_TENSOR));
}

/* Makes one item() for each element. */
bool python_tolist(struct call *c)
{
    struct tensor x = value_as_tensor(c, arg(c, 0));
    struct value self = arg(c, 0);
    int64_t n = 0;
    if (c->failed)
        return false;
    if (!x.meta->ndim)
        return ret_call(c, py_op(c, "aten.item", &self, 1));
    if (x.meta->ndim > 1 || !sym_to_i64(c->pool, x.meta->size[0], &n) || n > 4096)
        return unsupported(c, "tolist() of more than one dimension");
    struct value *items = ops_values(c->ops, (size_t)n);
    if (!items)
        return python_no_memory(c);
    for (int64_t i = 0; i < n && !c->failed; i++) {
        struct value one =
            py_op(c, "aten.select.int", (struct value[]){ self, py_int(c, 0), py_int(c, i) }, 3);
        items[i] = py_op(c, "aten.item", &one, 1);
    }
    return ret_call(c, value_items(VALUE_LIST, items, (uint32_t)n));
}

/* input, n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided,
 * return_complex, align_to_window */
bool python_stft(struct call *c)
{
    struct tensor x = value_as_tensor(c, arg(c, 0));
    struct value input = arg(c, 0), half;
    bool found;
    if (c->failed)
        return false;
    if (py_truth(c, arg(c, 5)) && x.meta->ndim <= 3) {
        struct value sizes[3], pads[2];
        uint32_t extra = 3 - x.meta->ndim;
        for (uint32_t i = 0; i < 3; i++)
            sizes[i] = i < extra ? py_int(c, 1) : value_int(x.meta->size[i - extra]);
        half = python_number(c, STR("floordiv"), (struct value[]){ arg(c, 1), py_int(c, 2) }, 2,
                             &found);
        if (half.kind == VALUE_INT) /* int(n_fft // 2) */
            half = py_int(c, guard_int(c, half.u.sym));
        pads[0] = pads[1] = half;
        input = py_op(c, "aten.view", (struct value[]){ input, py_list(c, sizes, 3) }, 2);
        input = py_call(c, "pad", (struct value[]){ input, py_list(c, pads, 2), arg(c, 6) }, 3);
        struct tensor wide = value_as_tensor(c, input);
        if (c->failed)
            return false;
        struct value size = python_sizes(c, wide.meta->size + extra, x.meta->ndim);
        input = py_op(c, "aten.view", (struct value[]){ input, size }, 2);
    }
    struct value numbers[3]; /* ints of the schema: they become constants */
    for (uint32_t i = 0; i < 3; i++) {
        numbers[i] = arg(c, i + 1);
        if (numbers[i].kind == VALUE_INT)
            numbers[i] = py_int(c, guard_int(c, numbers[i].u.sym));
    }
    struct value args[] = { input,     numbers[0], numbers[1], numbers[2], arg(c, 4),
                            arg(c, 7), arg(c, 8),  arg(c, 9),  arg(c, 10) };
    return ret_call(c, py_op(c, "aten.stft", args, 9));
}

/* --- Dtypes --- */

bool python_result_type(struct call *c)
{
    enum dtype dtype = DTYPE_NONE;
    elementwise_dtypes(c, c->args, c->n_args, PROMOTE_NONE, NULL, &dtype);
    return ret_call(c, (struct value){ .kind = VALUE_DTYPE, .u.dtype = dtype });
}

bool python_promote_types(struct call *c)
{
    enum dtype dtype = promote(arg_dtype(c, 0, DTYPE_F32), arg_dtype(c, 1, DTYPE_F32));
    return ret_call(c, (struct value){ .kind = VALUE_DTYPE, .u.dtype = dtype });
}

bool python_default_dtype(struct call *c)
{
    return ret_call(c, (struct value){ .kind = VALUE_DTYPE, .u.dtype = DTYPE_F32 });
}

/* A, pivot, get_infos: lu of torch/functional.py */
bool python_lu(struct call *c)
{
    struct value args[] = { arg(c, 0), arg(c, 1) };
    struct value ret = py_call(c, "_lu_with_info", args, 2);
    if (c->failed || !value_is_sequence(ret) || ret.n != 3)
        return false;
    return ret_call(c, py_truth(c, arg(c, 2)) ? ret : value_items(VALUE_TUPLE, ret.u.items, 2));
}
