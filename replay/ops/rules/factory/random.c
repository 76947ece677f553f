/* Random tensors, and tensors that are filled with random numbers. */
#include "replay/ops/rules/compose.h"

#include <stdio.h>

/* Returns the dtype among the keyword arguments, whose positions differ by overload. */
static enum dtype dtype_among(const struct call *c, uint32_t from, enum dtype otherwise)
{
    for (uint32_t i = from; i < c->n_args; i++)
        if (c->args[i].kind == VALUE_DTYPE)
            return c->args[i].u.dtype;
    return otherwise;
}

static struct device device_among(const struct call *c, uint32_t from, struct device otherwise)
{
    for (uint32_t i = from; i < c->n_args; i++)
        if (c->args[i].kind == VALUE_DEVICE)
            return c->args[i].u.device;
    return otherwise;
}

static const struct device cpu = { DEVICE_CPU, -1 };

static bool ret_random(struct call *c, uint32_t size_arg, enum dtype otherwise)
{
    const sym_id *sizes;
    uint32_t n = arg_syms(c, size_arg, &sizes);
    enum dtype dtype = dtype_among(c, size_arg + 1, otherwise);
    return ret_tensor(c, new_tensor(c, dtype, device_among(c, size_arg + 1, cpu), sizes, n));
}

bool rule_rand(struct call *c)
{
    return ret_random(c, 0, DTYPE_F32);
}

/* randn of torch/_refs dispatches prims.normal. */
bool rule_randn(struct call *c)
{
    if (c->symbolic)
        count_dispatches(c, 1);
    return ret_random(c, 0, DTYPE_F32);
}

/* param is the argument of the sizes. high, or low and high, precede it. */
bool rule_randint(struct call *c)
{
    uint32_t at = (uint32_t)c->param;
    sym_id low = at == 2 ? arg_sym(c, 0) : SYM_ID_ZERO, high = arg_sym(c, at - 1);
    check(c, py_gt(c, high, low), "RuntimeError",
          "random_ expects 'from' to be less than 'to', but got from=%s >= to=%s", sym_text(c, low),
          sym_text(c, high));
    return ret_random(c, at, DTYPE_I64);
}

bool rule_randperm(struct call *c)
{
    sym_id n = arg_sym(c, 0);
    check(c, ge(c, n, SYM_ID_ZERO), "RuntimeError", "n must be non-negative, got%s",
          sym_text(c, n));
    return ret_tensor(c,
                      new_tensor(c, dtype_among(c, 1, DTYPE_I64), device_among(c, 1, cpu), &n, 1));
}

/* rand_like (param 1), randn_like, randint_like: empty_like of that dtype. */
bool rule_random_like(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    enum dtype dtype = dtype_among(c, 1, dtype_of(x));
    enum memory_format format = FORMAT_PRESERVE;
    for (uint32_t i = 1; i < c->n_args; i++)
        if (c->args[i].kind == VALUE_MEMORY_FORMAT)
            format = c->args[i].u.memory_format;
    struct tensor out =
        format == FORMAT_PRESERVE
            ? new_like_dtype(c, x, dtype)
            : new_tensor_format(c, dtype, device_of(x), sizes_of(x), ndim_of(x), format);
    struct device device = device_among(c, 1, device_of(x));
    if (some(out) && !device_equal(device, device_of(out)))
        out = new_tensor_strided(c, dtype, device, sizes_of(out), out.meta->stride, ndim_of(out));
    if (c->param && c->symbolic && some(out)) {
        /* uniform_() copies numbers, and copy_() checks the tensor for overlaps */
        sym_id strides[TENSOR_MAX_DIM];
        contiguous_strides(c, sizes_of(out), ndim_of(out), strides);
        new_tensor_strided(c, dtype, device, sizes_of(out), strides, ndim_of(out));
        surely_overlaps(c, out);
    }
    return ret_tensor(c, out);
}

/* --- Distributions on a tensor --- */

enum { UNIFORM, EXPONENTIAL, GEOMETRIC, CAUCHY, LOG_NORMAL, NORMAL, BERNOULLI, RANDOM };

/* Formats a number as the message does: 3 in the kernels, 3.0 in the references. */
static const char *parameter_text(struct call *c, double x)
{
    char *text = scratch(c, 40);
    if (!text)
        return "";
    snprintf(text, 40, !eager(c) && x == (double)saturated(x) ? "%.1f" : "%g", x);
    return text;
}

static void check_parameters(struct call *c, struct tensor x, double a, double b)
{
    static const char *const names[] = { [EXPONENTIAL] = "Exponential", [CAUCHY] = "Cauchy" };
    const char *error = "RuntimeError";
    bool floating = dtype_is_float(dtype_of(x));
    const char *dtype = eager(c) ? dtype_scalar_name(dtype_of(x)) : dtype_python_name(dtype_of(x));
    switch (c->param) {
    case UNIFORM:
        require(c, !eager(c) || !(a > b), error,
                "uniform_ expects to return a [from, to) range, but found from=%s > to=%s",
                parameter_text(c, a), parameter_text(c, b));
        break;
    case EXPONENTIAL:
    case CAUCHY:
        require(c, floating, error,
                "%s distribution is a continuous probability distribution. dtype must be a "
                "floating point but you specified %s",
                names[c->param], dtype);
        if (c->param == EXPONENTIAL)
            require(c, !(a <= 0), error, "exponential_ expects lambda > 0.0, but found lambda=%s",
                    parameter_text(c, a));
        else
            require(c, !(b <= 0), error, "cauchy_ expects sigma > 0.0, but found sigma=%s",
                    parameter_text(c, b));
        break;
    case GEOMETRIC:
        require(c, !(a <= 0 || a >= 1), error, "geometric_ expects p to be in (0, 1), but got p=%s",
                parameter_text(c, a));
        break;
    case LOG_NORMAL:
        require(c, floating, error, "log_normal not implemented for %s", dtype);
        require(c, !(b <= 0), error, "log_normal_ expects std > 0.0, but found std=%s",
                parameter_text(c, b));
        break;
    case NORMAL:
        require(c, !(b < 0), error, "normal expects std >= 0.0, but found std %s",
                parameter_text(c, b));
        break;
    case BERNOULLI:
        require(c, !eager(c) || !(a < 0 || a > 1), error,
                "bernoulli_ expects p to be in [0, 1], but got p=%s", parameter_text(c, a));
        break;
    default: break;
    }
}

static double arg_parameter(struct call *c, uint32_t i)
{
    return value_is_number(arg(c, i)) ? arg_double(c, i) : 0;
}

/* uniform_ and the other distributions return the tensor itself. */
bool rule_fill_random(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    check_parameters(c, x, arg_parameter(c, 1), arg_parameter(c, 2));
    return ret_tensor(c, x);
}

/* The functional forms of the distributions. */
bool rule_random_of(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    check_parameters(c, x, arg_parameter(c, 1), arg_parameter(c, 2));
    return ret_tensor(c, new_like(c, x));
}

/* bernoulli(x) is contiguous. param is 1 for out=, which may not overlap. */
bool rule_bernoulli(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    struct tensor result = new_tensor(c, dtype_of(x), device_of(x), sizes_of(x), ndim_of(x));
    if (c->param && eager(c) && !check_out_overlap(c, 2, 1, result))
        return false;
    return ret_tensor(c, result);
}

/* poisson, binomial, _standard_gamma, rrelu_with_noise: the result is like the first argument. */
bool rule_random_like_first(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    if (eager(c) && c->param == 1) /* the kernel makes it contiguous */
        return ret_tensor(c, new_tensor(c, dtype_of(x), device_of(x), sizes_of(x), ndim_of(x)));
    return ret_tensor(c, new_like(c, arg_tensor(c, 0)));
}

/* --- normal --- */

/* The arguments are two tensors, or a tensor and a number: std * samples + mean. */
bool rule_normal_tensors(struct call *c)
{
    struct value mean = arg(c, 0), std = arg(c, 1);
    struct tensor x[2];
    uint32_t n = 0, ndim;
    sym_id sizes[TENSOR_MAX_DIM];
    if (value_is_number(std))
        check_parameters(c, arg_tensor(c, 0), 0, arg_parameter(c, 1));
    if (mean.kind == VALUE_TENSOR)
        x[n++] = mean.u.tensor;
    if (std.kind == VALUE_TENSOR)
        x[n++] = std.u.tensor;
    if (c->failed || !n || !broadcast_shapes(c, x, n, sizes, &ndim))
        return false;
    struct tensor samples = new_tensor(c, dtype_of(x[0]), device_of(x[0]), sizes, ndim);
    if (eager(c))
        return ret_tensor(c, samples);
    c->in_kernel = !c->symbolic;
    if (c->symbolic)
        count_dispatches(c, 1);
    struct tensor scaled =
        std.kind == VALUE_TENSOR ? times(c, std, T(samples)) : times(c, T(samples), std);
    return ret_tensor(c, plus(c, T(scaled), mean));
}

bool rule_normal_size(struct call *c)
{
    require(c, !(arg_parameter(c, 1) < 0), "RuntimeError",
            "normal expects std >= 0.0, but found std %s", parameter_text(c, arg_parameter(c, 1)));
    return ret_random(c, 2, DTYPE_F32);
}

/* The arguments are self, noise, ... Both are returned. */
bool rule_rrelu_functional(struct call *c)
{
    struct tensor out[] = { new_like(c, arg_tensor(c, 0)), new_like(c, arg_tensor(c, 1)) };
    return ret_tensors(c, out, 2);
}
