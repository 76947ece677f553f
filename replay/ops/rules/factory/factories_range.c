/* arange, linspace, eye, triangles, windows, frequencies, iota: tensors whose sizes are computed
 * from numbers. */
#include "replay/ops/rules/compose.h"
#include "replay/ops/rules/factory/factories.h"

#include <math.h>

static const struct device cpu = { DEVICE_CPU, -1 };

static bool is_concrete(const struct call *c, struct value value)
{
    return is_number(c, value.u.sym);
}

static sym_id number_method(struct call *c, enum node_method method, struct value a, struct value b,
                            enum number_type *type)
{
    const sym_id args[] = { a.u.sym, b.u.sym };
    const enum number_type types[] = { a.kind == VALUE_FLOAT ? NUMBER_FLOAT : NUMBER_INT,
                                       b.kind == VALUE_FLOAT ? NUMBER_FLOAT : NUMBER_INT };
    return node_method(c->env, method, args, types, 2, type);
}

static struct value number_of_type(sym_id e, enum number_type type)
{
    return value_sym(type == NUMBER_FLOAT ? VALUE_FLOAT : VALUE_INT, e);
}

/* --- arange --- */

struct progression {
    struct value start, end, step;
};

/* a >= b or a <= b as in Python: of two ints as ints, else as floats; a constant on the left has
 * the reversed comparison called. */
static sym_id compare_ends(struct call *c, bool up, struct value a, struct value b)
{
    if (a.kind != VALUE_FLOAT && b.kind != VALUE_FLOAT)
        return up ? py_ge(c, a.u.sym, b.u.sym) : py_le(c, a.u.sym, b.u.sym);
    bool reversed = is_concrete(c, a);
    enum node_method method = up != reversed ? NODE_METHOD_GE : NODE_METHOD_LE;
    return promoted_method(c, method, reversed ? b : a, reversed ? a : b).u.sym;
}

/* Compares doubles if no number is symbolic. Otherwise it adds guards and reports a failure. */
static bool sign_fits(struct call *c, const struct progression *p, bool *fits)
{
    if (is_concrete(c, p->start) && is_concrete(c, p->end) && is_concrete(c, p->step)) {
        double start = sym_to_double(c->pool, p->start.u.sym);
        double end = sym_to_double(c->pool, p->end.u.sym);
        double step = sym_to_double(c->pool, p->step.u.sym);
        *fits = step > 0 ? end >= start : end <= start;
        return true;
    }
    bool up = guard_bool(c, py_gt(c, p->step.u.sym, SYM_ID_ZERO));
    if (!up)
        guard_bool(c, py_lt(c, p->step.u.sym, SYM_ID_ZERO));
    CHECK(c, compare_ends(c, up, p->end, p->start), "RuntimeError",
          "upper bound and lower bound inconsistent with step sign");
    *fits = true;
    return !c->failed;
}

static const char *bound_text(struct call *c, struct value value)
{
    double d = sym_to_double(c->pool, value.u.sym);
    if (isinf(d))
        return d > 0 ? "inf" : "-inf";
    return isnan(d) ? "nan" : sym_text(c, value.u.sym);
}

static bool is_finite(const struct call *c, struct value value)
{
    return !is_concrete(c, value) || isfinite(sym_to_double(c->pool, value.u.sym));
}

/* The meta kernel asks for a symbolic step's sign in conditions that hold for both signs. */
static bool keeps_both_signs(struct call *c, const struct progression *p)
{
    return !eager(c) && !is_concrete(c, p->step) && p->start.kind == VALUE_INT &&
           p->end.kind == VALUE_INT && p->step.kind == VALUE_INT &&
           behaves(c->env, BEHAVIOR_ARANGE_IS_A_META_KERNEL);
}

static bool check_both_signs(struct call *c, const struct progression *p)
{
    struct sym_pool *pool = c->pool;
    sym_id start = p->start.u.sym, end = p->end.u.sym, step = p->step.u.sym;
    sym_id up = py_gt(c, step, SYM_ID_ZERO), down = py_lt(c, step, SYM_ID_ZERO);
    CHECK(c, sym_or(pool, up, down), "RuntimeError", "step must be nonzero");
    CHECK(c,
          sym_or(pool, sym_and(pool, up, py_ge(c, end, start)),
                 sym_and(pool, down, py_le(c, end, start))),
          "RuntimeError", "upper bound and lower bound inconsistent with step sign");
    return !c->failed;
}

/* (step > 0) - (step < 0) */
static sym_id sign_of(struct call *c, sym_id step)
{
    const enum number_type types[] = { NUMBER_BOOL, NUMBER_INT, NUMBER_INT };
    const sym_id conditions[] = { py_gt(c, step, SYM_ID_ZERO), py_lt(c, step, SYM_ID_ZERO) };
    sym_id units[2];
    for (uint32_t i = 0; i < 2; i++) {
        const sym_id args[] = { conditions[i], SYM_ID_ONE, SYM_ID_ZERO };
        enum number_type type;
        units[i] = node_method(c->env, NODE_METHOD_ITE, args, types, 3, &type);
    }
    return sub(c, units[0], units[1]);
}

static bool check_progression(struct call *c, const struct progression *p)
{
    bool fits = true;
    if (keeps_both_signs(c, p))
        return check_both_signs(c, p);
    if (is_concrete(c, p->step) ? sym_to_double(c->pool, p->step.u.sym) == 0.0
                                : !guard_bool(c, py_ne(c, p->step.u.sym, SYM_ID_ZERO)))
        return refuse(c, "RuntimeError", "step must be nonzero");
    REQUIRE(c, is_finite(c, p->start) && is_finite(c, p->end), "RuntimeError",
            "unsupported range: %s -> %s", bound_text(c, p->start), bound_text(c, p->end));
    if (!sign_fits(c, p, &fits))
        return false;
    return require(c, fits, "RuntimeError",
                   "upper bound and lower bound inconsistent with step sign");
}

static struct value as_int(struct call *c, struct value value)
{
    if (value.kind != VALUE_FLOAT)
        return value;
    if (is_concrete(c, value))
        return value_int(num(c, (int64_t)sym_to_double(c->pool, value.u.sym)));
    enum number_type type = NUMBER_FLOAT;
    sym_id e = node_method(c->env, NODE_METHOD_SYM_INT, &value.u.sym, &type, 1, &type);
    return value_int(e);
}

static sym_id int_length(struct call *c, const struct progression *p)
{
    sym_id start = as_int(c, p->start).u.sym, end = as_int(c, p->end).u.sym;
    sym_id step = as_int(c, p->step).u.sym;
    if (is_int(c, step, 0)) {
        refuse(c, "RuntimeError", "step must be nonzero");
        return SYM_NONE;
    }
    sym_id sign = keeps_both_signs(c, p)                       ? sign_of(c, step)
                  : guard_bool(c, py_gt(c, step, SYM_ID_ZERO)) ? SYM_ID_ONE
                                                               : num(c, -1);
    sym_id span = sub(c, add(c, sub(c, end, start), step), sign);
    return floordiv(c, span, step);
}

static sym_id float_length(struct call *c, const struct progression *p)
{
    if (is_concrete(c, p->start) && is_concrete(c, p->end) && is_concrete(c, p->step)) {
        double n =
            ceil((sym_to_double(c->pool, p->end.u.sym) - sym_to_double(c->pool, p->start.u.sym)) /
                 sym_to_double(c->pool, p->step.u.sym));
        if (!(n >= 0 && n < 9e18)) {
            refuse(c, "RuntimeError", "invalid size, possible overflow?");
            return SYM_NONE;
        }
        return num(c, (int64_t)n);
    }
    enum number_type type;
    sym_id span = number_method(c, NODE_METHOD_SUB, p->end, p->start, &type);
    sym_id ratio =
        number_method(c, NODE_METHOD_TRUEDIV, number_of_type(span, type), p->step, &type);
    return node_method(c->env, NODE_METHOD_CEIL, &ratio, &type, 1, &type);
}

/* Returns a range of floats: start + step * index, converted. */
static struct tensor computed_range(struct call *c, const struct progression *p, bool ints,
                                    sym_id length, struct tensor_kind kind)
{
    struct tensor index = new_tensor(c, DTYPE_I64, kind.device, &length, 1);
    count_dispatches(c, 2); /* prims.iota, empty */
    if (!ints) {
        struct value to[] = { value_tensor(index),
                              dtype_value(kind.dtype == DTYPE_F32 && kind.device.type == DEVICE_CPU
                                              ? DTYPE_F64
                                              : computation_dtype(kind.dtype)) };
        index = call_tensor(c, "prims.convert_element_type.default", to, 2);
    }
    struct value scaled[] = { value_tensor(index), p->step };
    index = call_tensor(c, "aten.mul.Tensor", scaled, 2);
    struct value moved[] = { value_tensor(index), p->start };
    index = call_tensor(c, "aten.add.Tensor", moved, 2);
    if (index.meta && index.meta->dtype == kind.dtype)
        return index;
    count_dispatches(c, 1); /* aten.to.dtype */
    struct value from = value_tensor(index);
    struct keyword dtype = { STR("dtype"), dtype_value(kind.dtype) };
    struct value ret = call_op_keywords(c, "aten._to_copy.default", &from, 1, &dtype, 1);
    return ret.kind == VALUE_TENSOR ? ret.u.tensor : (struct tensor){ .meta = NULL };
}

static bool ret_range(struct call *c, struct progression p, struct tensor_kind kind)
{
    bool ints =
        p.start.kind != VALUE_FLOAT && p.end.kind != VALUE_FLOAT && p.step.kind != VALUE_FLOAT;
    if (!check_progression(c, &p))
        return false;
    bool by_ints = ints || kind.dtype == DTYPE_I64;
    sym_id length = by_ints ? int_length(c, &p) : float_length(c, &p);
    if (c->failed)
        return false;
    bool by_kernel = behaves(c->env, BEHAVIOR_ARANGE_IS_A_META_KERNEL);
    if (!eager(c) && !by_kernel && !dtype_is_integer(kind.dtype))
        return ret_tensor(c, computed_range(c, &p, ints, length, kind));
    if (!eager(c) && !by_kernel)
        count_dispatches(c, 2);
    return ret_tensor(c, empty(c, kind, &length, 1));
}

/* Returns a number, where True and False are 1 and 0. */
static struct value arg_count(const struct call *c, uint32_t i)
{
    struct value value = arg(c, i);
    if (value.kind == VALUE_BOOL && value.u.sym <= SYM_ID_TRUE)
        return value_int(value.u.sym == SYM_ID_TRUE ? SYM_ID_ONE : SYM_ID_ZERO);
    return value;
}

/* param is how many of start, end, step are the first arguments. */
static struct progression arg_progression(const struct call *c, uint32_t n)
{
    struct value zero = value_int(SYM_ID_ZERO), one = value_int(SYM_ID_ONE);
    return (struct progression){ n == 1 ? zero : arg_count(c, 0), arg_count(c, n == 1 ? 0 : 1),
                                 n == 3 ? arg_count(c, 2) : one };
}

static enum dtype range_dtype(const struct progression *p)
{
    bool floats =
        p->start.kind == VALUE_FLOAT || p->end.kind == VALUE_FLOAT || p->step.kind == VALUE_FLOAT;
    return floats ? DTYPE_F32 : DTYPE_I64;
}

bool rule_arange(struct call *c)
{
    uint32_t n = (uint32_t)c->param;
    struct progression p = arg_progression(c, n);
    if (!value_is_number(p.start) || !value_is_number(p.end) || !value_is_number(p.step))
        return unsupported(c, "arange of complex numbers");
    if (!eager(c) && n < 3 && !behaves(c->env, BEHAVIOR_ARANGE_IS_A_META_KERNEL))
        count_dispatches(c, 1);
    return ret_range(c, p, arg_kind(c, n, range_dtype(&p), cpu));
}

bool rule_arange_out(struct call *c)
{
    uint32_t n = (uint32_t)c->param;
    struct progression p = arg_progression(c, n);
    struct tensor out = arg_tensor(c, n);
    if (!value_is_number(p.start) || !value_is_number(p.end) || !value_is_number(p.step) ||
        !out.meta)
        return unsupported(c, "arange of complex numbers");
    return ret_range(c, p, (struct tensor_kind){ out.meta->dtype, out.meta->device });
}

/* --- linspace and logspace: param is the argument of dtype --- */

static bool check_ends(struct call *c, const char *name)
{
    struct value start = arg(c, 0), end = arg(c, 1);
    uint32_t n_start = start.kind == VALUE_TENSOR ? start.u.tensor.meta->ndim : 0;
    uint32_t n_end = end.kind == VALUE_TENSOR ? end.u.tensor.meta->ndim : 0;
    if (!n_start && !n_end)
        return true;
    if (!eager(c))
        return refuse(c, "RuntimeError",
                      "linspace only supports 0-dimensional start and end tensors");
    if (start.kind == VALUE_TENSOR && end.kind == VALUE_TENSOR)
        return refuse(c, "RuntimeError",
                      "%s only supports 0-dimensional start and end tensors, but got start with %u "
                      "dimension(s) and end with %u dimension(s).",
                      name, n_start, n_end);
    return refuse(c, "RuntimeError",
                  "%s only supports 0-dimensional start and end tensors, but got %s with %u "
                  "dimension(s).",
                  name, start.kind == VALUE_TENSOR ? "start" : "end", n_start + n_end);
}

static bool is_complex(struct value value)
{
    return value.kind == VALUE_COMPLEX ||
           (value.kind == VALUE_TENSOR && dtype_is_complex(value.u.tensor.meta->dtype));
}

bool rule_linspace(struct call *c)
{
    bool log = c->param == 4, complex = is_complex(arg(c, 0)) || is_complex(arg(c, 1));
    if (!check_ends(c, log ? "logspace" : "linspace"))
        return false;
    sym_id steps = arg_sym(c, 2);
    CHECK(c, py_ge(c, steps, SYM_ID_ZERO), "RuntimeError", "number of steps must be non-negative");
    if (c->failed)
        return false;
    struct tensor_kind kind = arg_kind(c, (uint32_t)c->param, complex ? DTYPE_C64 : DTYPE_F32, cpu);
    REQUIRE(c, !complex || dtype_is_complex(kind.dtype), "RuntimeError",
            "linspace(): inferred dtype ComplexFloat can't be safely cast to passed dtype %s",
            dtype_scalar_name(kind.dtype));
    return ret_tensor(c, empty(c, kind, &steps, 1));
}

bool rule_linspace_out(struct call *c)
{
    struct tensor out = arg_tensor(c, c->n_args - 1);
    sym_id steps = arg_sym(c, 2);
    if (!out.meta || !check_ends(c, c->param ? "logspace" : "linspace"))
        return false;
    CHECK(c, py_ge(c, steps, SYM_ID_ZERO), "RuntimeError", "number of steps must be non-negative");
    struct tensor_kind kind = { out.meta->dtype, out.meta->device };
    return ret_tensor(c, empty(c, kind, &steps, 1));
}

/* --- eye and triangles --- */

static struct tensor mask_of_ranges(struct call *c, sym_id rows, sym_id columns,
                                    struct device device)
{
    struct tensor range_n = call_arange(c, rows, DTYPE_I64, device);
    struct tensor range_m = call_arange(c, columns, DTYPE_I64, device);
    struct value args[] = { value_tensor(call_unsqueeze(c, range_n, -1)), value_tensor(range_m) };
    return call_tensor(c, "aten.eq.Tensor", args, 2);
}

/* The arguments are (n[, m], dtype, ...); param is 2 if m is among them. */
bool rule_eye(struct call *c)
{
    sym_id size[] = { arg_sym(c, 0), arg_sym(c, c->param == 2 ? 1 : 0) };
    for (int i = 0; i < 2 && !c->failed; i++)
        CHECK(c, py_ge(c, size[i], SYM_ID_ZERO), "RuntimeError",
              "%c must be greater or equal to 0, got %s", i ? 'm' : 'n', sym_text(c, size[i]));
    struct tensor_kind kind = arg_kind(c, (uint32_t)c->param, DTYPE_F32, cpu);
    if (c->failed)
        return false;
    if (eager(c))
        return ret_tensor(c, empty(c, kind, size, 2));
    return ret_tensor(c, to_dtype(c, mask_of_ranges(c, size[0], size[1], kind.device), kind.dtype));
}

bool rule_eye_out(struct call *c)
{
    sym_id size[] = { arg_sym(c, 0), arg_sym(c, c->param == 2 ? 1 : 0) };
    struct tensor out = arg_tensor(c, (uint32_t)c->param);
    for (int i = 0; i < 2 && !c->failed; i++)
        CHECK(c, py_ge(c, size[i], SYM_ID_ZERO), "RuntimeError",
              "%c must be greater or equal to 0, got %s", i ? 'm' : 'n', sym_text(c, size[i]));
    if (!out.meta)
        return false;
    struct tensor_kind kind = { out.meta->dtype, out.meta->device };
    return ret_tensor(c, empty(c, kind, size, 2));
}

/* where(arange(w).unsqueeze(-2) - arange(h).unsqueeze(-1) <= diagonal, x, 0).contiguous() */
static bool triangle_by_mask(struct call *c, struct tensor x, bool lower)
{
    const struct tensor_meta *m = x.meta;
    struct tensor w = call_arange(c, m->size[m->ndim - 1], DTYPE_I64, m->device);
    w = call_unsqueeze(c, w, -2);
    struct tensor h = call_arange(c, m->size[m->ndim - 2], DTYPE_I64, m->device);
    h = call_unsqueeze(c, h, -1);
    struct value both[] = { value_tensor(w), value_tensor(h) };
    struct tensor mask = call_tensor(c, "aten.sub.Tensor", both, 2);
    struct value compare[] = { value_tensor(mask), arg(c, 1) };
    mask = call_tensor(c, lower ? "aten.le.Scalar" : "aten.ge.Scalar", compare, 2);
    if (m->dtype == DTYPE_B8) {
        struct value args[] = { value_tensor(mask), value_tensor(x) };
        x = call_tensor(c, "aten.logical_and.default", args, 2);
    } else {
        struct value args[] = { value_tensor(mask), value_tensor(x), value_int(SYM_ID_ZERO) };
        x = call_tensor(c, "aten.where.ScalarOther", args, 3);
    }
    return ret_tensor(c, call_contiguous(c, x));
}

/* param is 1 for tril and 0 for triu. */
bool rule_triangle(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    if (!x.meta)
        return false;
    REQUIRE(c, x.meta->ndim >= 2, "RuntimeError",
            "tri%c: input tensor must have at least 2 dimensions", c->param ? 'l' : 'u');
    if (!eager(c))
        return triangle_by_mask(c, x, c->param != 0);
    return ret_tensor(c, new_tensor(c, x.meta->dtype, x.meta->device, x.meta->size, x.meta->ndim));
}

static int64_t clamp_column(int64_t value, int64_t most)
{
    return value < 0 ? 0 : value > most ? most : value;
}

/* get_tril_size of ATen/native/TensorFactories.cpp */
static int64_t tril_size(int64_t row, int64_t col, int64_t offset)
{
    if (row == 0 || col == 0)
        return 0;
    int64_t first = offset > 0 ? (col < 1 + offset ? col : 1 + offset) : row + offset > 0;
    int64_t last = clamp_column(row + offset, col), all = clamp_column(row + offset, row);
    int64_t slanted = last - first + 1;
    int64_t size = (first + last) * slanted >> 1;
    int64_t rest = all - slanted;
    return rest > 0 ? size + rest * col : size;
}

/* The arguments are (row, col, offset, dtype, ...); param is 1 for tril_indices and 0 for
 * triu_indices. */
bool rule_triangle_indices(struct call *c)
{
    int64_t row = arg_int(c, 0), col = arg_int(c, 1), offset = arg_int(c, 2);
    REQUIRE(c, row >= 0, "RuntimeError", "row must be non-negative, got%s%lld", eager(c) ? "" : " ",
            (long long)row);
    REQUIRE(c, col >= 0, "RuntimeError", "col must be non-negative, got%s%lld", eager(c) ? "" : " ",
            (long long)col);
    const int64_t most = INT64_C(1) << 31;
    if (row > most || col > most || offset > most || offset < -most)
        return unsupported(c, "indices of a triangle of that size");
    int64_t n =
        c->param ? tril_size(row, col, offset) : row * col - tril_size(row, col, offset - 1);
    sym_id size[] = { SYM_ID_TWO, num(c, n) };
    struct tensor out = arg_tensor(c, 3);
    struct tensor_kind kind = out.meta ? (struct tensor_kind){ out.meta->dtype, out.meta->device }
                                       : arg_kind(c, 3, DTYPE_I64, cpu);
    return ret_tensor(c, empty(c, kind, size, 2));
}

/* --- Windows, frequencies, iota --- */

/* hann_window() and similar operators have `window_length` elements. range() has one element a
 * step. */
bool rule_window(struct call *c)
{
    sym_id n = num(c, arg_int(c, 0));
    uint32_t dtype = c->n_args - 4;
    if (!require(c, guard_bool(c, ge(c, n, SYM_ID_ZERO)), "RuntimeError",
                 "window requires non-negative window_length, got window_length=%s",
                 sym_text(c, n)))
        return false;
    return ret_tensor(
        c, new_tensor(c, arg_dtype(c, dtype, DTYPE_F32), arg_device(c, dtype + 2, cpu), &n, 1));
}

/* The arguments are n, d; param is 1 for fft.rfftfreq and 0 for fft.fftfreq. */
bool rule_fftfreq(struct call *c)
{
    sym_id n = num(c, arg_int(c, 0));
    if (c->param)
        n = add(c, floordiv(c, n, SYM_ID_TWO), SYM_ID_ONE);
    return ret_tensor(c, new_tensor(c, arg_dtype(c, 2, DTYPE_F32), arg_device(c, 4, cpu), &n, 1));
}

/* _iota_meta of torch/_prims: the arguments are length, start, step, dtype, device. */
bool rule_iota(struct call *c)
{
    sym_id length = arg_sym(c, 0);
    enum dtype dtype = arg_dtype(c, 3, DTYPE_I64);
    require(c, dtype_is_integer(dtype), "RuntimeError", "prims.iota only supports integer dtypes");
    check(c, ne(c, arg_sym(c, 2), SYM_ID_ZERO), "RuntimeError", "step must be nonzero");
    count_dispatches(c, 1);
    return ret_tensor(c, new_tensor(c, dtype, arg_device(c, 4, cpu), &length, 1));
}
