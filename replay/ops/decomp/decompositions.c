/* Pointwise operators whose references are texts, with what the references do around a text
 * (conversion, broadcasting, numbers as tensors), and the rules that choose between texts. */
#include "replay/ops/decomp/bodies.h"
#include "replay/ops/dispatch/context.h"
#include "replay/ops/python/python_internal.h"
#include "replay/ops/rules/compose.h"
#include "replay/ops/rules/pointwise/pointwise.h"

#include <math.h>
#include <string.h>

enum cast { CAST_NONE, CAST_CONVERT, CAST_BINARY, CAST_WRAP, CAST_BINARY_WRAP, CAST_TO, CAST_ARGS };

static const uint8_t casts[BODIES] = {
#define BODY(id, schema, text)
#define DECOMPOSITION(id, cast, text) [BODY_##id] = CAST_##cast,
#include "replay/ops/decomp/all_bodies.def"
};

static bool is_tensor(struct value x)
{
    return x.kind == VALUE_TENSOR;
}

static struct value convert_tensor(struct call *c, struct value x, enum dtype dtype)
{
    if (c->failed || !is_tensor(x))
        return x;
    count_to(c, x.u.tensor);
    if (x.u.tensor.meta->dtype == dtype)
        return x;
    struct keyword keyword = { STR("dtype"), { .kind = VALUE_DTYPE, .u.dtype = dtype } };
    return call_op_keywords(c, "aten._to_copy.default", &x, 1, &keyword, 1);
}

/* Returns the converted arguments. For CAST_TO all tensors take part; for others the row says
 * which. */
static struct value *cast_args(struct call *c, enum cast cast, enum dtype *result)
{
    uint32_t n = pointwise_operands(c), kept = 0;
    struct value *args = values(c, c->n_args + 1), *part = values(c, c->n_args + 1);
    enum dtype compute;
    if (!args || !part)
        return NULL;
    memcpy(args, c->args, c->n_args * sizeof(*args));
    bool only_tensors = cast == CAST_TO; /* except the out= ones */
    uint32_t end = only_tensors ? c->n_args : n;
    for (uint32_t i = 0; i < end; i++)
        if (!c->op->schema.args[i].keyword_only && (!only_tensors || is_tensor(args[i])))
            part[kept++] = args[i];
    elementwise_dtypes(c, part, kept, pointwise_kind(c), &compute, result);
    for (uint32_t i = 0; i < end && cast != CAST_NONE; i++)
        if (!only_tensors)
            args[i] = maybe_convert(c, args[i], compute);
        else if (!c->op->schema.args[i].keyword_only)
            args[i] = convert_tensor(c, args[i], compute);
    return args;
}

/* Replaces a number among two operands by scalar_tensor(number, dtype=..., device=...) of the
 * other. */
static void wrap_numbers(struct call *c, struct value *args)
{
    for (uint32_t i = 0; i < 2 && !c->failed; i++) {
        if (is_tensor(args[i]) || !is_tensor(args[1 - i]))
            continue;
        const struct tensor_meta *like = args[1 - i].u.tensor.meta;
        struct keyword keywords[] = {
            { STR("dtype"), { .kind = VALUE_DTYPE, .u.dtype = like->dtype } },
            { STR("device"), { .kind = VALUE_DEVICE, .u.device = like->device } },
        };
        args[i] = call_op_keywords(c, "aten.scalar_tensor.default", &args[i], 1, keywords, 2);
    }
}

static bool prepare_operands(struct call *c, enum cast cast, struct value *args)
{
    if (!args || c->failed)
        return false;
    if ((cast == CAST_BINARY || cast == CAST_BINARY_WRAP) && !maybe_broadcast(c, args, 2))
        return false;
    if (cast == CAST_WRAP || cast == CAST_BINARY_WRAP)
        wrap_numbers(c, args);
    return !c->failed;
}

/* Evaluates the text with the call's arguments, which are cast as its row says. */
static struct value run_cast(struct call *c, enum body body)
{
    enum cast cast = casts[body];
    enum dtype result = DTYPE_NONE;
    struct value ret = value_none();
    c->in_kernel = !c->symbolic && cast != CAST_TO;
    struct value *args = cast_args(c, cast, &result);
    if (!prepare_operands(c, cast, args) || !body_run(c, body, args, &ret) || !is_tensor(ret) ||
        cast == CAST_NONE)
        return ret;
    return cast == CAST_TO ? convert_tensor(c, ret, result) : maybe_convert(c, ret, result);
}

static bool ret_body(struct call *c, enum body body)
{
    struct tensor out[2];
    if (c->op->schema.n_results == 1)
        return eager(c) ? ret_tensor(c, plain_body(c)) : ret_pointwise(c, run_cast(c, body));
    struct value both = eager(c) ? value_none() : run_cast(c, body);
    for (uint32_t i = 0; i < 2 && !c->failed; i++)
        out[i] = eager(c) ? plain_body(c) : item_tensor(c, both, i);
    return !c->failed && ret_tensors(c, out, 2);
}

/* The row names the text. */
bool rule_pointwise_body(struct call *c)
{
    return ret_body(c, (enum body)(c->param >> POINTWISE_BODY_SHIFT));
}

/* Converts a result, or each of several, to the dtype of the arguments that were cast. */
static struct value convert_results(struct call *c, struct value ret, enum dtype dtype)
{
    if (!value_is_sequence(ret))
        return convert_tensor(c, ret, dtype);
    struct value *items = values(c, ret.n);
    for (uint32_t i = 0; items && i < ret.n; i++)
        items[i] = convert_tensor(c, ret.u.items[i], dtype);
    return value_items(ret.kind, items, items ? ret.n : 0);
}

/* Returns the arguments of a composite operator, with floats as the numbers that C++ takes. */
static const struct value *float_args(struct call *c)
{
    struct value *args = values(c, c->n_args + 1);
    if (!args)
        return NULL;
    memcpy(args, c->args, c->n_args * sizeof *args);
    return python_unpack(c, c->op, args, c->n_args) ? args : NULL;
}

/* Returns whether the arguments pass the check in the form that the text receives. */
static bool passes_check(struct call *c, const struct value *args, bool (*fits)(struct call *c))
{
    const struct value *given = c->args;
    c->args = args;
    bool good = !fits || fits(c);
    c->args = given;
    return good && !c->failed;
}

bool decompose(struct call *c, bool (*fits)(struct call *c))
{
    enum body body = (enum body)(c->param >> POINTWISE_BODY_SHIFT);
    enum cast cast = casts[body];
    enum dtype result = DTYPE_NONE;
    c->nests = true;
    const struct value *args = cast != CAST_NONE  ? cast_args(c, CAST_TO, &result)
                               : c->op->composite ? float_args(c)
                                                  : c->args;
    struct value ret;
    if (!args || c->failed || !passes_check(c, args, fits) || !body_run(c, body, args, &ret))
        return false;
    if (cast == CAST_TO)
        ret = convert_results(c, ret, result);
    if (c->op->schema.n_results == 1 && c->op->schema.results[0].list)
        ret.kind = VALUE_LIST;
    return ret_value(c, ret);
}

/* Runs an operator that is not pointwise by the text that its row names. */
bool rule_decomposition(struct call *c)
{
    return decompose(c, NULL);
}

/* --- Rules that choose --- */

/* The row names the text for "none". The one for "tanh" follows it. */
bool rule_gelu(struct call *c)
{
    struct str how = arg_string(c, c->op->schema.n_positional);
    enum body body = (enum body)(c->param >> POINTWISE_BODY_SHIFT);
    if (!str_is(how, "none") && !str_is(how, "tanh"))
        return refuse(c, "RuntimeError", "approximate argument must be either none or tanh.");
    return ret_body(c, str_is(how, "tanh") ? body + 1 : body);
}

/* round.decimals with 0 decimals is round itself. */
bool rule_round_decimals(struct call *c)
{
    if (eager(c) || arg_int(c, 1) != 0)
        return rule_pointwise_body(c);
    return ret_tensor(c, reference_step(c, "prims.round.default", c->args, 1, PROMOTE_DEFAULT));
}

static double largest_float(enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_F16: return 65504.0;
    case DTYPE_BF16: return 3.3895313892515355e38;
    case DTYPE_F64: return 1.7976931348623157e308;
    default: return 3.4028234663852886e38;
    }
}

bool rule_softshrink(struct call *c)
{
    enum dtype dtype = arg_tensor(c, 0).meta->dtype;
    double lambda = arg_double(c, 1);
    if (isnan(lambda) && value_is_number(arg(c, 1)) && !is_number(c, arg(c, 1).u.sym)) {
        /* 0 <= lambda <= largest */
        struct value least = F(c, 0), most = F(c, largest_float(dtype));
        if (!guard_bool(c, promoted_method(c, NODE_METHOD_GE, arg(c, 1), least).u.sym) ||
            !guard_bool(c, promoted_method(c, NODE_METHOD_LE, arg(c, 1), most).u.sym))
            return refuse(c, "RuntimeError", "lambda must be in range [0, %g] for input dtype %s",
                          largest_float(dtype), dtype_python_name(dtype));
    }
    if (lambda < 0 || lambda > largest_float(dtype))
        return refuse(c, "RuntimeError",
                      "lambda must be in range [0, %g] for input dtype %s, but found %g",
                      largest_float(dtype),
                      !eager(c) ? dtype_python_name(dtype) : dtype_scalar_name(dtype), lambda);
    return rule_pointwise_body(c);
}

/* --- Rounded division --- */

static struct tensor ret_round(struct call *c)
{
    return iterator_promoted(c, c->args, 2, 2, PROMOTE_DEFAULT);
}

/* refs.floor_divide wraps a number in a 0-dim tensor of the other operand's dtype. */
static bool floor_divide(struct call *c)
{
    enum dtype compute;
    elementwise_dtypes(c, c->args, 2, PROMOTE_DEFAULT, &compute, NULL);
    if (dtype_is_float(compute))
        return ret_pointwise(c, run_cast(c, BODY_FLOOR_DIVIDE_FLOAT));
    bool is_unsigned =
        compute == DTYPE_U8 || compute == DTYPE_U16 || compute == DTYPE_U32 || compute == DTYPE_U64;
    if (dtype_is_integer(compute))
        return ret_pointwise(
            c, run_cast(c, is_unsigned ? BODY_FLOOR_DIVIDE_UNSIGNED : BODY_FLOOR_DIVIDE_INTEGER));
    return refuse(c, "RuntimeError", "%s not supported for floor_divide",
                  dtype_python_name(compute));
}

/* div.Tensor_mode, div.Scalar_mode and their variants. */
bool rule_div_mode(struct call *c)
{
    if (!arg_given(c, 2)) {
        struct value args[] = { arg(c, 0), arg(c, 1) };
        if (eager(c))
            return ret_tensor(c, iterator_promoted(c, args, 2, 2, PROMOTE_INT_TO_FLOAT));
        return ret_tensor(c, reference_step(c, "prims.div.default", args, 2, PROMOTE_INT_TO_FLOAT));
    }
    struct str mode = arg_string(c, 2);
    bool floor = str_is(mode, "floor");
    if (!floor && !str_is(mode, "trunc"))
        return refuse(c, "RuntimeError",
                      "div expected rounding_mode to be one of None, 'trunc', or 'floor' but "
                      "found '%.*s'",
                      STR_ARG(mode));
    if (eager(c))
        return ret_tensor(c, ret_round(c));
    return floor ? floor_divide(c) : ret_pointwise(c, run_cast(c, BODY_TRUNC_DIVIDE));
}

bool rule_floor_divide(struct call *c)
{
    return !eager(c) ? floor_divide(c) : ret_tensor(c, ret_round(c));
}
