/* _foreach_* and fused optimisers: operators over lists of tensors. Their kernels are loops over
 * single tensors (aten/src/ATen/native/ForeachOpsKernels.cpp), and so are these rules. */
#include "replay/ops/dispatch/context.h"
#include "replay/ops/rules/pointwise/pointwise.h"

#include <math.h>
#include <stdio.h>

/* The overload of the operator on single tensors for a second argument that is a list, a scalar
 * or a tensor; NULL stands for .default. `op` is the operator's name where it differs. */
static const struct item_op {
    const char *name, *op;
    const char *with_list, *with_scalar, *with_tensor;
} item_ops[] = {
    { "add", NULL, "Tensor", "Scalar", "Tensor" },
    { "addcdiv", NULL, NULL, NULL, NULL },
    { "addcmul", NULL, NULL, NULL, NULL },
    { "clamp_max", NULL, "Tensor", NULL, NULL },
    { "clamp_min", NULL, "Tensor", NULL, NULL },
    { "copy", "copy", NULL, NULL, NULL },
    { "div", NULL, "Tensor", "Scalar", "Tensor" },
    { "lerp", NULL, "Tensor", "Scalar", NULL },
    { "maximum", "clamp_min", "Tensor", NULL, NULL },
    { "minimum", "clamp_max", "Tensor", NULL, NULL },
    { "mul", NULL, "Tensor", "Scalar", "Tensor" },
    { "norm", "linalg_vector_norm", NULL, NULL, NULL },
    { "pow", NULL, "Tensor_Tensor", "Tensor_Scalar", NULL },
    { "pow_", "pow", "Tensor", "Scalar", NULL },
    { "sub", NULL, "Tensor", "Scalar", "Tensor" },
    { "zero", "clone", NULL, NULL, NULL },
    { "zero_", "zero", NULL, NULL, NULL },
};

static const char *item_overload(const struct item_op *item_op, struct str overload)
{
    const char *ret = NULL;
    if (!item_op)
        return "default";
    if (str_starts(overload, STR("List")))
        ret = item_op->with_list;
    else if (str_is(overload, "ScalarAndTensor"))
        ret = "Scalar";
    else if (str_starts(overload, STR("Scalar")))
        ret = item_op->with_scalar;
    else if (str_starts(overload, STR("Tensor")))
        ret = item_op->with_tensor;
    return ret ? ret : "default";
}

static const struct item_op *find_item_op(struct str name)
{
    for (size_t i = 0; i < sizeof item_ops / sizeof item_ops[0]; i++)
        if (str_is(name, item_ops[i].name))
            return &item_ops[i];
    return NULL;
}

/* "aten::_foreach_add_.List" -> "aten.add_.Tensor" */
static bool item_op_name(struct call *c, char *ret, size_t size)
{
    struct str base = str_from(c->op->schema.base, 9); /* after "_foreach_" */
    bool in_place = base.n && base.p[base.n - 1] == '_';
    const struct item_op *item_op = find_item_op(base);
    base.n -= in_place;
    if (!item_op)
        item_op = find_item_op(base);
    if (item_op && item_op->op)
        base = str_of(item_op->op);
    int n = snprintf(ret, size, "aten.%.*s%s.%s", STR_ARG(base), in_place ? "_" : "",
                     item_overload(item_op, c->op->schema.overload));
    return n > 0 && (size_t)n < size;
}

static bool is_list(struct value x)
{
    return x.kind == VALUE_LIST || x.kind == VALUE_TUPLE;
}

/* check_foreach_api_restrictions of aten/src/ATen/native/ForeachUtils.h. *n becomes the length
 * of the lists. */
static bool check_list_lengths(struct call *c, uint32_t *n)
{
    const struct schema *schema = &c->op->schema;
    const struct value *first = NULL;
    for (uint32_t i = 0; i < c->n_args; i++) {
        if (!is_list(c->args[i]) || schema->args[i].keyword_only)
            continue;
        if (!first && schema->args[i].type == SCHEMA_TENSOR)
            first = &c->args[i];
        if (!first || c->args[i].n == first->n)
            continue;
        if (schema->args[i].type == SCHEMA_TENSOR)
            return refuse(c, "RuntimeError",
                          "Tensor lists must have the same number of tensors, got %u and %u",
                          first->n, c->args[i].n);
        return refuse(c, "RuntimeError",
                      "Tensor list must have same number of elements as scalar list.");
    }
    if (!first || !first->n)
        return refuse(c, "RuntimeError", "Tensor list must have at least one tensor.");
    *n = first->n;
    return true;
}

static bool is_tensor_scalars(const struct call *c, uint32_t i)
{
    return str_is(c->op->schema.args[i].name, "scalars") &&
           c->op->schema.args[i].type == SCHEMA_TENSOR && !c->op->schema.args[i].list;
}

/* Calls the operator on the k-th items of the lists. Arguments that are keyword-only there are
 * passed by keyword. */
static struct value call_item_op(struct call *c, const char *name, uint32_t k)
{
    struct value args[8];
    struct keyword keywords[2];
    uint32_t n = 0, n_keywords = 0;
    for (uint32_t i = 0; i < c->n_args && n < 8; i++) {
        const struct schema_slot *slot = &c->op->schema.args[i];
        struct value x = is_list(c->args[i]) ? c->args[i].u.items[k] : c->args[i];
        bool value = str_is(slot->name, "value") || (str_is(slot->name, "scalars") && i == 3);
        if (slot->written && slot->keyword_only)
            continue;
        if (is_tensor_scalars(c, i)) /* The values of its elements change no meta. */
            continue;
        if (slot->keyword_only || value) {
            struct str key = value ? STR("value") : slot->name;
            if (n_keywords < 2 && x.kind != VALUE_NONE)
                keywords[n_keywords++] = (struct keyword){ key, x };
        } else {
            args[n++] = x;
        }
    }
    return call_op_keywords(c, name, args, n, keywords, n_keywords);
}

bool rule_foreach(struct call *c)
{
    char name[64];
    uint32_t n;
    if (!check_list_lengths(c, &n))
        return false;
    if (!item_op_name(c, name, sizeof name))
        return unsupported(c, "%.*s", STR_ARG(op_name(c->op)));
    struct value *results = values(c, n);
    c->in_kernel = true;
    for (uint32_t k = 0; results && k < n && !c->failed; k++)
        results[k] = call_item_op(c, name, k);
    if (!results || c->failed)
        return false;
    return c->op->writes ? ret_none(c) : ret_value(c, value_items(VALUE_LIST, results, n));
}

/* The kernel calls linalg_vector_norm(self, ord, dim=None, keepdim=False, dtype). */
static struct value norm_by_kernel(struct call *c, struct value x)
{
    struct value args[] = { x, arg(c, 1) };
    struct keyword dtype = { STR("dtype"), arg(c, 2) };
    return call_op_keywords(c, "aten.linalg_vector_norm.default", args, 2, &dtype, arg_given(c, 2));
}

/* float(ord): a symbolic one becomes its hint. */
static double specialized_number(struct call *c, struct value number)
{
    sym_id value = number.u.sym;
    if (!is_number(c, value))
        value = env_evaluate(c->env, value, SYM_NONE, false, SYM_NONE);
    if (value == SYM_NONE)
        call_raised(c);
    return c->failed ? 0 : sym_to_double(c->pool, value);
}

/* meta_foreach_norm of torch/_meta_registrations.py */
static struct value norm_of_meta(struct call *c, struct value x, bool infinite)
{
    struct tensor t = x.u.tensor;
    if (infinite && !check(c, gt(c, numel(c, t), SYM_ID_ZERO), "RuntimeError",
                           "_foreach_norm cannot compute infinity norm on empty tensor"))
        return value_none();
    enum dtype dtype = arg_dtype(c, 2, t.meta->dtype);
    return value_tensor(new_tensor(c, dtype_real(dtype), t.meta->device, NULL, 0));
}

bool rule_foreach_norm(struct call *c)
{
    uint32_t n;
    if (!check_list_lengths(c, &n))
        return false;
    struct value *results = values(c, n);
    bool infinite = !eager(c) && isinf(specialized_number(c, arg(c, 1)));
    c->in_kernel = true;
    for (uint32_t k = 0; results && k < n && !c->failed; k++) {
        struct value x = c->args[0].u.items[k];
        results[k] = eager(c) ? norm_by_kernel(c, x) : norm_of_meta(c, x, infinite);
    }
    if (!results || c->failed)
        return false;
    return c->op->writes ? ret_none(c) : ret_value(c, value_items(VALUE_LIST, results, n));
}

/* --- Optimisers in one kernel --- */

static struct value new_value_like(struct call *c, struct value x)
{
    if (x.kind == VALUE_TENSOR)
        return value_tensor(new_like(c, x.u.tensor));
    if (!is_list(x))
        return x;
    struct value *items = values(c, x.n);
    for (uint32_t i = 0; items && i < x.n && !c->failed; i++)
        items[i] = new_value_like(c, x.u.items[i]);
    return c->failed ? value_none() : value_items(VALUE_LIST, items, x.n);
}

/* The in-place form returns nothing or the first argument. Result i of the functional form is a
 * new tensor or list like argument i. */
bool rule_fused(struct call *c)
{
    const struct schema *schema = &c->op->schema;
    if (!schema->n_results)
        return ret_none(c);
    if (schema->results[0].written)
        return ret_value(c, arg(c, 0));
    struct value *results = values(c, schema->n_results);
    for (uint32_t i = 0; results && i < schema->n_results && !c->failed; i++)
        results[i] = new_value_like(c, arg(c, i));
    if (!results || c->failed)
        return false;
    return ret_value(c, schema->n_results == 1
                            ? results[0]
                            : value_items(VALUE_TUPLE, results, schema->n_results));
}
