/* Matmuls of two dimensions and of batches, with what is added to them. */
#include "replay/ops/rules/compose.h"

static bool check_matmul_ndim(struct call *c, struct tensor x, uint32_t ndim, const char *text)
{
    return require(c, ndim_of(x) == ndim, "RuntimeError", "%s", text);
}

/* Checks mm's reduction dimension (meta_mm, torch/_meta_registrations.py). */
static bool check_mm(struct call *c, struct tensor a, struct tensor b)
{
    if (!check_matmul_ndim(c, a, 2, "a must be 2D") || !check_matmul_ndim(c, b, 2, "b must be 2D"))
        return false;
    sym_id n = size_of(c, a, 0), m1 = size_of(c, a, 1);
    sym_id m2 = size_of(c, b, 0), p = size_of(c, b, 1);
    return check(c, py_eq(c, m1, m2), "RuntimeError",
                 "a and b must have same reduction dim, but got [%s, %s] X [%s, %s].",
                 sym_text(c, n), sym_text(c, m1), sym_text(c, m2), sym_text(c, p));
}

/* param is the argument of the result's dtype, or 0 for none. */
bool rule_mm(struct call *c)
{
    struct tensor a = arg_tensor(c, 0), b = arg_tensor(c, 1);
    common_device(c, (struct tensor[]){ a, b }, 2);
    if (!check_mm(c, a, b))
        return false;
    enum dtype dtype = dtype_of(a);
    if (c->param)
        dtype = arg_dtype(c, (uint32_t)c->param, dtype);
    bool widened = dtype == DTYPE_F32 && computation_dtype(dtype_of(a)) == DTYPE_F32;
    require(c, dtype == dtype_of(a) || widened, "RuntimeError",
            "out_dtype must be the same as input dtype or fp32 for fp16/bf16 inputs");
    sym_id sizes[] = { size_of(c, a, 0), size_of(c, b, 1) };
    return ret_tensor(c, new_tensor(c, dtype, device_of(a), sizes, 2));
}

/* common_meta_baddbmm_bmm */
bool rule_bmm(struct call *c)
{
    struct tensor a = arg_tensor(c, 0), b = arg_tensor(c, 1);
    struct device device = common_device(c, (struct tensor[]){ a, b }, 2);
    if (!check_matmul_ndim(c, a, 3, "batch1 must be a 3D tensor") ||
        !check_matmul_ndim(c, b, 3, "batch2 must be a 3D tensor"))
        return false;
    require(
        c, dtype_of(a) == dtype_of(b) || !eager(c), "RuntimeError",
        "expected scalar type %s but found %s", dtype_python_name(dtype_of(a)),
        dtype_python_name(dtype_of(b))); /* the meta function of torch 2.11 does not check this */
    const sym_id *x = sizes_of(a), *y = sizes_of(b);
    check(c, both(c, py_eq(c, y[0], x[0]), py_eq(c, y[1], x[2])), "RuntimeError",
          "Expected size for first two dimensions of batch2 tensor to be: [%s, %s] but got: "
          "[%s, %s].",
          sym_text(c, x[0]), sym_text(c, x[2]), sym_text(c, y[0]), sym_text(c, y[1]));
    enum dtype dtype = dtype_of(b);
    if (c->param)
        dtype = arg_dtype(c, (uint32_t)c->param, dtype);
    sym_id sizes[] = { x[0], x[1], y[2] };
    return ret_tensor(c, new_tensor(c, dtype, device, sizes, 3));
}

/* Returns whether the kernel computes self + a @ b as it is: floats of one type, and a bias for
 * each column. */
static bool is_plain_addmm(struct call *c, struct tensor self, struct tensor a, struct tensor b)
{
    const enum dtype dtype = dtype_of(self);
    return eager(c) && !ops_has_nested_observer(c->ops) && dtype_is_float(dtype) &&
           dtype_of(a) == dtype && dtype_of(b) == dtype && ndim_of(self) == 1 && ndim_of(a) == 2 &&
           ndim_of(b) == 2 && sizes_of(self)[0] == sizes_of(b)[1] &&
           sizes_of(a)[1] == sizes_of(b)[0];
}

/* addmm of torch/_decomp/decompositions.py; the kernel allocates a contiguous result (the meta
 * function of addmm, aten/src/ATen/native/LinearAlgebra.cpp). */
bool rule_addmm(struct call *c)
{
    struct tensor self = arg_tensor(c, 0), a = arg_tensor(c, 1), b = arg_tensor(c, 2);
    if (!is_plain_addmm(c, self, a, b))
        return decompose(c, NULL);
    struct device device = common_device(c, (struct tensor[]){ self, a, b }, 3);
    sym_id sizes[] = { sizes_of(a)[0], sizes_of(b)[1] };
    return !c->failed && ret_tensor(c, new_tensor(c, dtype_of(self), device, sizes, 2));
}

static bool is_zero(struct call *c, struct value v)
{
    if (!value_is_number(v))
        return false;
    if (is_number(c, v.u.sym))
        return sym_to_double(c->pool, v.u.sym) == 0;
    struct value zero = v.kind == VALUE_FLOAT ? F(c, 0) : value_int(SYM_ID_ZERO);
    return guard_bool(c, promoted_method(c, NODE_METHOD_EQ, v, zero).u.sym);
}

/* meta_baddbmm */
bool rule_baddbmm(struct call *c)
{
    struct tensor self = arg_tensor(c, 0), a = arg_tensor(c, 1), b = arg_tensor(c, 2);
    struct device device = common_device(c, (struct tensor[]){ self, a, b }, 3);
    sym_id wanted[] = { size_of(c, a, 0), size_of(c, a, 1), size_of(c, b, 2) };
    c->in_kernel = true;
    sym_id same = shapes_equal(c, sizes_of(self), ndim_of(self), wanted, 3);
    if (guard_or_true(c, sym_not(c->pool, same)))
        self = expand(c, self, wanted, 3);
    if (!check_matmul_ndim(c, a, 3, "batch1 must be a 3D tensor") ||
        !check_matmul_ndim(c, b, 3, "batch2 must be a 3D tensor"))
        return false;
    require(c, dtype_of(self) == dtype_of(a) && dtype_of(a) == dtype_of(b), "RuntimeError",
            "Input dtypes must be the same, got: input: %s, batch1: %s, batch2: %s",
            dtype_python_name(dtype_of(self)), dtype_python_name(dtype_of(a)),
            dtype_python_name(dtype_of(b)));
    const sym_id *x = sizes_of(a), *y = sizes_of(b);
    bool fits = guard_bool(c, py_eq(c, y[0], x[0])) && guard_bool(c, py_eq(c, y[1], x[2]));
    require(c, fits, "RuntimeError",
            "Expected size for first two dimensions of batch2 tensor to be: [%s, %s] but got: "
            "[%s, %s].",
            sym_text(c, x[0]), sym_text(c, x[2]), sym_text(c, y[0]), sym_text(c, y[1]));
    if (!some(self))
        return false;
    enum dtype dtype = dtype_of(self);
    if (c->param)
        dtype = arg_dtype(c, (uint32_t)c->param, dtype);
    return ret_tensor(c, new_tensor(c, dtype, device, sizes_of(self), ndim_of(self)));
}

/* meta_addbmm */
bool rule_addbmm(struct call *c)
{
    struct tensor self = arg_tensor(c, 0), a = arg_tensor(c, 1), b = arg_tensor(c, 2);
    struct device device = common_device(c, (struct tensor[]){ self, a, b }, 3);
    sym_id wanted[] = { size_of(c, a, 1), size_of(c, b, 2) };
    c->in_kernel = true;
    self = expand(c, self, wanted, 2);
    if (!check_matmul_ndim(c, a, 3, "batch1 must be a 3D tensor") ||
        !check_matmul_ndim(c, b, 3, "batch2 must be a 3D tensor"))
        return false;
    const sym_id *x = sizes_of(a), *y = sizes_of(b);
    check(c, py_eq(c, x[0], y[0]), "RuntimeError",
          "batch1 and batch2 must have same number of batches, got %s and %s", sym_text(c, x[0]),
          sym_text(c, y[0]));
    check(c, py_eq(c, x[2], y[1]), "RuntimeError",
          "Incompatible matrix sizes for bmm (%sx%s and %sx%s)", sym_text(c, x[1]),
          sym_text(c, x[2]), sym_text(c, y[1]), sym_text(c, y[2]));
    if (!some(self) || ndim_of(self) != 2)
        return require(c, false, "RuntimeError", "self tensor does not match matmul output shape");
    bool fits = guard_bool(c, py_eq(c, size_of(c, self, 0), x[1])) &&
                guard_bool(c, py_eq(c, size_of(c, self, 1), y[2]));
    require(c, fits, "RuntimeError", "self tensor does not match matmul output shape");
    return ret_tensor(c, new_tensor(c, dtype_of(self), device, sizes_of(self), 2));
}

/* --- With vectors --- */

static bool check_mv(struct call *c)
{
    struct tensor a = arg_tensor(c, 0), v = arg_tensor(c, 1);
    return require(c, ndim_of(a) == 2 && ndim_of(v) == 1, "RuntimeError",
                   "matrix @ vector expected, got %u, %u", ndim_of(a), ndim_of(v)) &&
           check(c, py_eq(c, size_of(c, a, 1), size_of(c, v, 0)), "RuntimeError",
                 "size mismatch, got input (%sx%s), vec (%s)", sym_text(c, size_of(c, a, 0)),
                 sym_text(c, size_of(c, a, 1)), sym_text(c, size_of(c, v, 0)));
}

/* mv of torch/_decomp/decompositions.py */
bool rule_mv(struct call *c)
{
    return decompose(c, check_mv);
}

bool rule_addmv(struct call *c)
{
    enum dtype self = dtype_of(arg_tensor(c, 0)), a = dtype_of(arg_tensor(c, 1));
    enum dtype v = dtype_of(arg_tensor(c, 2));
    return require(c, self == a && a == v, "RuntimeError",
                   "addmv input tensors must have the same dtype, but got %s, %s, and %s",
                   dtype_python_name(self), dtype_python_name(a), dtype_python_name(v)) &&
           decompose(c, NULL);
}

static bool check_dot(struct call *c, struct tensor a, struct tensor b)
{
    if (!require(c, ndim_of(a) == 1 && ndim_of(b) == 1, "RuntimeError",
                 "1D tensors expected, but got %uD and %uD tensors", ndim_of(a), ndim_of(b)))
        return false;
    const char *x = dtype_python_name(dtype_of(a)), *y = dtype_python_name(dtype_of(b));
    if (eager(c)) { /* the kernel names types as C++ does */
        x = dtype_scalar_name(dtype_of(a));
        y = dtype_scalar_name(dtype_of(b));
    }
    require(c, dtype_of(a) == dtype_of(b), "RuntimeError",
            "dot : expected both vectors to have same dtype, but found %s and %s", x, y);
    const char *n = sym_text(c, numel(c, a)), *m = sym_text(c, numel(c, b));
    return check(c, py_eq(c, numel(c, a), numel(c, b)), "RuntimeError",
                 "inconsistent tensor size, expected tensor [%s] and src [%s] to have the%s"
                 "same number of elements, but got %s and %s elements respectively",
                 n, m, eager(c) ? " " : "", n, m);
}

/* dot and vdot of torch/_refs, or the kernel if nothing is symbolic. */
bool rule_dot(struct call *c)
{
    struct tensor a = arg_tensor(c, 0), b = arg_tensor(c, 1);
    if (!check_dot(c, a, b))
        return false;
    c->in_kernel = !c->symbolic;
    if (eager(c)) {
        struct device device = common_device(c, (struct tensor[]){ a, b }, 2);
        return ret_tensor(c, new_tensor(c, dtype_of(a), device, NULL, 0));
    }
    return decompose(c, NULL);
}

/* torch.outer multiplies self as a column by the row. */
static struct tensor outer(struct call *c, struct tensor a, struct tensor b)
{
    sym_id column[] = { size_of(c, a, 0), SYM_ID_ONE };
    return times(c, T(reshape(c, a, column, 2)), T(b));
}

bool rule_outer(struct call *c)
{
    struct tensor a = arg_tensor(c, 0), b = arg_tensor(c, 1);
    const char *text = "outer: Expected 1-D argument %s, but got %u-D";
    if (!require(c, ndim_of(a) == 1, "RuntimeError", text, "self", ndim_of(a)) ||
        !require(c, ndim_of(b) == 1, "RuntimeError", text, "vec2", ndim_of(b)))
        return false;
    return decompose(c, NULL);
}

/* addr of torch/_refs */
bool rule_addr(struct call *c)
{
    struct tensor self = arg_tensor(c, 0), a = arg_tensor(c, 1), b = arg_tensor(c, 2);
    struct value beta = arg(c, 3), alpha = arg(c, 4);
    const char *text = "addr: Expected 1-D argument %s, but got %u-D";
    if (!require(c, ndim_of(a) == 1, "RuntimeError", text, "vec1", ndim_of(a)) ||
        !require(c, ndim_of(b) == 1, "RuntimeError", text, "vec2", ndim_of(b)))
        return false;
    enum dtype computation, result;
    c->in_kernel = !c->symbolic;
    struct value all[] = { T(self), T(a), T(b) };
    elementwise_dtypes(c, all, 3, PROMOTE_DEFAULT, &computation, &result);
    self = to_dtype(c, self, computation);
    a = to_dtype(c, a, computation);
    b = to_dtype(c, b, computation);
    sym_id sizes[] = { size_of(c, a, 0), size_of(c, b, 0) };
    self = expand(c, self, sizes, 2);
    struct tensor out;
    if (dtype_of(self) == DTYPE_B8) {
        out = is_zero(c, alpha) ? CALL(c, "aten.full_like.default", T(self), B(false))
                                : outer(c, a, b);
        if (!is_zero(c, beta))
            out = CALL(c, "aten.logical_or.default", T(self), T(out));
    } else if (is_zero(c, beta)) {
        out = times(c, T(outer(c, a, b)), alpha);
    } else {
        struct tensor scaled = times(c, T(self), beta);
        out = plus(c, T(scaled), T(times(c, T(outer(c, a, b)), alpha)));
    }
    return ret_tensor(c, to_dtype(c, out, result));
}

/* --- Sparse --- */

static bool refuse_without_meta(struct call *c)
{
    struct str name = op_name(c->op);
    return refuse(c, "UnsupportedOperatorException", "%.*s", (int)name.n, name.p);
}

/* The arguments are self (CSR), other, reduce. FakeTensorMode has no kernel. */
bool rule_sparse_mm_reduce(struct call *c)
{
    struct tensor self = arg_tensor(c, 0), other = arg_tensor(c, 1);
    if (!eager(c) || ndim_of(self) != 2 || ndim_of(other) != 2)
        return refuse_without_meta(c);
    sym_id sizes[] = { size_of(c, self, 0), size_of(c, other, 1) }, none = SYM_ID_ZERO;
    struct tensor out[] = { new_tensor(c, dtype_of(other), device_of(other), sizes, 2),
                            new_tensor(c, DTYPE_I64, device_of(other), &none, 1) };
    return ret_tensors(c, out, 2);
}

/* The arguments are self (CSR), mat1, mat2. If nothing is symbolic, the kernel runs on zeros. */
bool rule_sparse_sampled_addmm(struct call *c)
{
    struct tensor self = arg_tensor(c, 0);
    if (c->symbolic || !some(self))
        return refuse_without_meta(c);
    return ret_tensor(
        c, new_view(c, self, sizes_of(self), self.meta->stride, ndim_of(self), self.meta->offset));
}

bool rule_no_meta(struct call *c)
{
    return refuse_without_meta(c);
}

/* _grouped_mm_fallback_fake of transformers: (rows, in), (groups, in, out), ends of groups. */
bool rule_grouped_mm_fallback(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), w = arg_tensor(c, 1), ends = arg_tensor(c, 2);
    if (!require(c, ndim_of(x) == 2 && ndim_of(w) == 3 && ndim_of(ends) == 1, "AssertionError",
                 "grouped_mm_fallback: input must be 2D, weight 3D and offs 1D"))
        return false;
    require(c, guard_bool(c, eq(c, size_of(c, ends, 0), size_of(c, w, 0))), "AssertionError",
            "offs length %s must match number of experts %s", sym_text(c, size_of(c, ends, 0)),
            sym_text(c, size_of(c, w, 0)));
    require(c, guard_bool(c, eq(c, size_of(c, x, 1), size_of(c, w, 1))), "AssertionError",
            "input_dim mismatch: input has %s, weight has %s", sym_text(c, size_of(c, x, 1)),
            sym_text(c, size_of(c, w, 1)));
    sym_id size[] = { size_of(c, x, 0), size_of(c, w, 2) };
    return ret_tensor(c, new_tensor(c, dtype_of(x), device_of(x), size, 2));
}

bool rule_grouped_mm_fallback_backward(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), w = arg_tensor(c, 1);
    return ret_tensors(c, (struct tensor[]){ new_like(c, x), new_like(c, w) }, 2);
}
