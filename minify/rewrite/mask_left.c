/* The rows that the mask leaves out: their values, and the numbers that they become so that calls
 * do not fail on them and their derivatives are finite. */
#include <math.h>
#include <stdlib.h>

#include "minify/rewrite/mask_call.h"

/* ---- The value of rows that the mask leaves out ---- */

struct row_value row_left(const struct row_call *c, const struct arg *arg)
{
    struct row_value ret = { false, 0 };
    if (row_is_arg(c, arg)) {
        const struct meta *meta = mask_tensor(c->m, arg->u.node);
        bool floats = meta && mask_is_floating(meta->dtype);
        if (floats && c->ret.refill.floats)
            return (struct row_value){ true, c->ret.refill.float_value };
        if (!floats && c->ret.refill.ints)
            return (struct row_value){ true, (double)c->ret.refill.int_value };
        return mask_is_written(c->m, arg->u.node) ? ret : c->m->nodes[arg->u.node].left;
    }
    ret.known = mask_number(arg, &ret.value);
    return ret;
}

/* A sum that is small beside what was added may be 0 in a dtype of few bits. */
static struct row_value add_values(double a, double b)
{
    enum { LOST_MOST = 16 };
    double sum = a + b;
    bool known = sum == 0 || LOST_MOST * fabs(sum) >= fmax(fabs(a), fabs(b));
    return (struct row_value){ known, sum };
}

static struct row_value compute_left(const struct row_call *c)
{
    static const char *const same[] = {
        "alias",  "clone",    "contiguous", "detach",  "float",      "double",
        "to",     "_to_copy", "view",       "reshape", "unsqueeze",  "squeeze",
        "abs",    "mean",     "amax",       "amin",    "square",     "slice",
        "select", "flatten",  "transpose",  "permute", "unflatten",  "flip",
        "relu",   "t",        "sqrt",       "rsqrt",   "reciprocal", "expand"
    };
    struct row_value a = row_left(c, mask_arg(c->m, c->id, 0, "self"));
    struct row_value b = row_left(c, mask_arg(c->m, c->id, 1, "other"));
    struct row_value none = { false, 0 };
    if (!a.known || c->ret.counts)
        return none;
    if (str_is(c->base, "sqrt") && a.value > 0)
        return (struct row_value){ true, sqrt(a.value) };
    if (str_is(c->base, "rsqrt") && a.value > 0)
        return (struct row_value){ true, 1 / sqrt(a.value) };
    if (str_is(c->base, "reciprocal") && a.value != 0)
        return (struct row_value){ true, 1 / a.value };
    if (STR_IS_ANY(c->base, same) && a.value == 1)
        return a;
    bool extra = c->node->n_args > 2;
    if (!b.known || extra)
        return none;
    if (str_is(c->base, "add"))
        return add_values(a.value, b.value);
    if (str_is(c->base, "sub"))
        return add_values(a.value, -b.value);
    if (str_is(c->base, "mul"))
        return (struct row_value){ true, a.value * b.value };
    if ((str_is(c->base, "div") || str_is(c->base, "truediv")) && b.value != 0)
        return (struct row_value){ true, a.value / b.value };
    if (str_is(c->base, "pow") && a.value > 0)
        return (struct row_value){ true, pow(a.value, b.value) };
    return none;
}

/* Each dtype has the values that are returned: other ones may become 0 or infinite in it. */
struct row_value row_compute_left(const struct row_call *c)
{
    const double most = 64;
    struct row_value ret = compute_left(c);
    double size = fabs(ret.value);
    ret.known = ret.known && (size == 0 || (size >= 1 / most && size <= most));
    return ret;
}

/* ---- Derivatives and errors of the rows that the mask leaves out ---- */

void row_refill_floats(struct row_call *c, double value)
{
    c->ret.refill.floats = true;
    c->ret.refill.float_value = value;
}

void row_refill_ints(struct row_call *c, int64_t value)
{
    c->ret.refill.ints = true;
    c->ret.refill.int_value = value;
}

void row_refill(struct row_call *c, int64_t value)
{
    row_refill_ints(c, value);
    row_refill_floats(c, (double)value);
}

static bool is_float_arg(const struct row_call *c, const struct arg *arg)
{
    const struct meta *meta = arg && arg->kind == ARG_NODE ? mask_tensor(c->m, arg->u.node) : NULL;
    return meta && mask_is_floating(meta->dtype);
}

/* A division by 0 fails for integers, and has no finite derivative for floats. */
static void check_divisor(struct row_call *c)
{
    const struct arg *divisor = mask_arg(c->m, c->id, 1, "other");
    struct row_value value = row_left(c, divisor);
    if (!row_is_arg(c, divisor) || (value.known && value.value != 0))
        return;
    if (!is_float_arg(c, divisor))
        row_refill_ints(c, 1);
    else if (c->m->options->differentiated)
        row_refill_floats(c, 1);
}

static void check_power(struct row_call *c)
{
    double exponent;
    const struct arg *self = mask_arg(c->m, c->id, 0, "self");
    const struct arg *arg = mask_arg(c->m, c->id, 1, "exponent");
    struct row_value base = row_left(c, self);
    bool plain = mask_number(arg, &exponent) && exponent >= 1 && exponent == floor(exponent);
    if (plain || (base.known && base.value > 0))
        return;
    if (!c->result || !mask_is_floating(c->result->dtype))
        row_refill_ints(c, 1);
    else if (c->m->options->differentiated)
        row_refill(c, 1);
}

bool row_check_derivative(struct row_call *c, enum row_derivative derivative)
{
    struct row_value value = row_left(c, mask_arg(c->m, c->id, 0, "self"));
    bool differentiated = c->m->options->differentiated;
    switch (derivative) {
    case DERIV_NOWHERE: break;
    case DERIV_DIVISOR: check_divisor(c); break;
    case DERIV_POWER: check_power(c); break;
    case DERIV_AT_0:
        if (differentiated && !(value.known && value.value > 0))
            row_refill_floats(c, 1);
        break;
    case DERIV_LARGE:
        if (differentiated && !(value.known && fabs(value.value) <= 1))
            row_refill_floats(c, 1);
        break;
    case DERIV_SAFE_0:
        if (differentiated)
            row_refill_floats(c, 0);
        break;
    case DERIV_SAFE_2:
        if (differentiated)
            row_refill_floats(c, 2);
        break;
    case DERIV_SOMEWHERE:
        return !differentiated ||
               row_refuse(c, "its derivative need not be finite for rows that the mask leaves out");
    }
    return true;
}
