/* Higher-order operators that call an operator or a kernel instead of a subgraph. */
#include "replay/ops/python/higher_order.h"

#include <stdio.h>

/* clone_preserve_strides. */
static struct value cloned(struct call *c, struct value value)
{
    if (value.kind != VALUE_TENSOR)
        return value;
    struct tensor x = value.u.tensor;
    struct tensor y = new_tensor_strided(c, x.meta->dtype, x.meta->device, x.meta->size,
                                         x.meta->stride, x.meta->ndim);
    return value_tensor(y);
}

/* kwargs, tensors_to_clone: the tensors that the kernel writes are cloned, by name. */
bool python_triton_functional(struct call *c)
{
    struct value kwargs = arg(c, 0), names = arg(c, 1);
    struct value *items = ops_values(c->ops, kwargs.n);
    uint32_t n = 0;
    if (!items)
        return python_no_memory(c);
    for (uint32_t i = 0; kwargs.kind == VALUE_DICT && i + 1 < kwargs.n; i += 2)
        for (uint32_t j = 0; value_is_sequence(names) && j < names.n; j++) {
            if (names.u.items[j].kind != VALUE_STRING ||
                !str_eq(names.u.items[j].u.text, kwargs.u.items[i].u.text))
                continue;
            items[n++] = kwargs.u.items[i];
            items[n++] = cloned(c, kwargs.u.items[i + 1]);
            break;
        }
    return ret_call(c, value_items(VALUE_DICT, items, n));
}

/* --- An operator as an argument --- */

static struct op *operator_argument(struct call *c, struct value value)
{
    struct str name =
        value.kind == VALUE_FUNCTION || value.kind == VALUE_STRING || value.kind == VALUE_OPAQUE
            ? value.u.text
            : STR("");
    if (str_starts(name, STR("torch.ops.")))
        name = str_from(name, 10);
    struct op *op = op_table_find(&c->ops->table, name);
    if (!op)
        unsupported(c, "%.*s", STR_ARG(name));
    else if (!op_prepare(c->ops, op))
        python_no_memory(c);
    return c->failed ? NULL : op;
}

/* Calls op with a dict of arguments by name. */
static struct value call_with_dict(struct call *c, struct op *op, struct value dict)
{
    struct keyword keywords[SCHEMA_MAX_SLOTS];
    struct value ret = value_none();
    uint32_t n = 0;
    for (uint32_t i = 0; i + 1 < dict.n && n < SCHEMA_MAX_SLOTS; i += 2)
        keywords[n++] = (struct keyword){ dict.u.items[i].u.text, dict.u.items[i + 1] };
    python_result(c, ops_dispatch(c->ops, op, &(struct arguments){ NULL, 0, keywords, n }, &ret));
    return ret;
}

/* Returns (*results, *written); a single result, also None, counts as one. */
static bool ret_with(struct call *c, struct value result, const struct value *written, uint32_t n)
{
    bool several = result.kind == VALUE_TUPLE;
    uint32_t first = several ? result.n : 1;
    struct value *items = ops_values(c->ops, (size_t)first + n);
    if (!items)
        return python_no_memory(c);
    if (several && first)
        memcpy(items, result.u.items, first * sizeof *items);
    else if (!several)
        items[0] = result;
    if (n)
        memcpy(items + first, written, n * sizeof *items);
    return ret_call(c, value_items(VALUE_TUPLE, items, first + n));
}

static struct value clone_all(struct call *c, struct value value)
{
    if (!value_is_sequence(value))
        return cloned(c, value);
    struct value *items = ops_values(c->ops, value.n);
    if (!items) {
        python_no_memory(c);
        return value_none();
    }
    for (uint32_t i = 0; i < value.n; i++)
        items[i] = cloned(c, value.u.items[i]);
    return value_items(value.kind, items, value.n);
}

/* op, **kwargs: calls op on clones of what it writes, and returns those, too. */
bool python_auto_functionalized(struct call *c)
{
    struct op *op = operator_argument(c, arg(c, 0));
    struct value given = arg(c, 1), written[SCHEMA_MAX_SLOTS];
    struct value *items = op ? ops_values(c->ops, given.n) : NULL;
    uint32_t n = 0;
    if (!items)
        return false;
    memcpy(items, given.u.items, given.n * sizeof *items);
    for (uint32_t i = 0; i < op->schema.n_args; i++) {
        if (!op->schema.args[i].written)
            continue;
        for (uint32_t j = 0; j + 1 < given.n; j += 2)
            if (str_eq(items[j].u.text, op->schema.args[i].name)) {
                items[j + 1] = clone_all(c, items[j + 1]);
                written[n++] = items[j + 1];
            }
    }
    struct value result = call_with_dict(c, op, value_items(VALUE_DICT, items, given.n));
    return !c->failed && ret_with(c, result, written, n);
}

static struct value named_part(struct value given, struct str arg_name, const char *suffix)
{
    char name[160];
    snprintf(name, sizeof name, "_%.*s_%s", STR_ARG(arg_name), suffix);
    return hop_keyword(given, name);
}

/* Rebuilds a base from its number, or a view of it; `name` is the argument's, "x" or "x_0". */
static struct value rebuilt(struct call *c, struct value given, struct str name, struct value bases)
{
    struct value index = named_part(given, name, "base_index");
    int64_t i = -1;
    if (index.kind != VALUE_INT || !sym_to_i64(c->pool, index.u.sym, &i) || i < 0 || i >= bases.n)
        return value_none();
    struct value base = bases.u.items[i];
    struct value size = named_part(given, name, "size");
    struct value stride = named_part(given, name, "stride");
    struct value offset = named_part(given, name, "storage_offset");
    struct value dim = named_part(given, name, "slice_dim");
    if (dim.kind == VALUE_INT)
        return py_op(c, "aten.slice.Tensor",
                     (struct value[]){ base, dim, named_part(given, name, "slice_start"),
                                       named_part(given, name, "slice_end") },
                     4);
    if (!value_is_sequence(size) || !value_is_sequence(stride))
        return base;
    return py_op(c, "aten.as_strided", (struct value[]){ base, size, stride, offset },
                 offset.kind == VALUE_NONE ? 3 : 4);
}

/* Rebuilds a Tensor[](a!), each item from its own number. */
static struct value rebuilt_list(struct call *c, struct value given, struct str name,
                                 struct value bases)
{
    struct value length = named_part(given, name, "length");
    int64_t n = 0;
    if (length.kind != VALUE_INT || !sym_to_i64(c->pool, length.u.sym, &n) || n < 0 || n > 4096)
        return value_none();
    struct value *items = ops_values(c->ops, (size_t)n);
    if (!items) {
        python_no_memory(c);
        return value_none();
    }
    for (int64_t i = 0; i < n && !c->failed; i++) {
        char one[160];
        snprintf(one, sizeof one, "%.*s_%d", STR_ARG(name), (int)i);
        items[i] = rebuilt(c, given, str_of(one), bases);
    }
    return value_items(VALUE_LIST, items, (uint32_t)n);
}

static struct value rebuilt_argument(struct call *c, struct value given,
                                     const struct schema_slot *slot, struct value bases)
{
    if (!slot->written)
        return value_none();
    return slot->list ? rebuilt_list(c, given, slot->name, bases)
                      : rebuilt(c, given, slot->name, bases);
}

/* op, _all_bases=[...], _x_base_index=0, ...: returns the results and the bases, cloned. */
bool python_auto_functionalized_v2(struct call *c)
{
    struct op *op = operator_argument(c, arg(c, 0));
    struct value given = arg(c, 1), bases = hop_keyword(given, "_all_bases"), result = value_none();
    if (!op)
        return false;
    bases = value_is_sequence(bases) ? clone_all(c, bases) : value_items(VALUE_LIST, NULL, 0);
    struct keyword keywords[SCHEMA_MAX_SLOTS];
    uint32_t n = 0;
    for (uint32_t i = 0; i < op->schema.n_args && !c->failed; i++) {
        const struct schema_slot *slot = &op->schema.args[i];
        struct value value = rebuilt_argument(c, given, slot, bases);
        for (uint32_t j = 0; value.kind == VALUE_NONE && j + 1 < given.n; j += 2)
            if (str_eq(given.u.items[j].u.text, slot->name))
                value = given.u.items[j + 1];
        if (value.kind != VALUE_NONE)
            keywords[n++] = (struct keyword){ slot->name, value };
    }
    if (c->failed)
        return false;
    python_result(c,
                  ops_dispatch(c->ops, op, &(struct arguments){ NULL, 0, keywords, n }, &result));
    return !c->failed && ret_with(c, result, bases.u.items, bases.n);
}

/* Calls the operator that `function` names with a list of arguments and a dict of others. */
static struct value call_operator(struct call *c, struct value function, struct value args,
                                  struct value given)
{
    struct op *op = operator_argument(c, function);
    struct value result = value_none();
    struct keyword keywords[SCHEMA_MAX_SLOTS];
    uint32_t n = 0;
    if (!op)
        return result;
    for (uint32_t i = 0; i + 1 < given.n && n < SCHEMA_MAX_SLOTS; i += 2)
        keywords[n++] = (struct keyword){ given.u.items[i].u.text, given.u.items[i + 1] };
    python_result(c,
                  ops_dispatch(c->ops, op, &(struct arguments){ args.u.items, args.n, keywords, n },
                               &result));
    return result;
}

/* token, op, *args, **kwargs: returns a token and the results. */
bool python_with_effects(struct call *c)
{
    struct value result = call_operator(c, arg(c, 1), arg(c, 2), arg(c, 3));
    if (c->failed)
        return false;
    sym_id zero = SYM_ID_ZERO;
    struct tensor token = new_tensor(c, DTYPE_F32, (struct device){ DEVICE_CPU, -1 }, &zero, 1);
    if (c->failed)
        return false;
    uint32_t count = result.kind == VALUE_TUPLE ? result.n : 1;
    struct value *items = ops_values(c->ops, (size_t)count + 1);
    if (!items)
        return python_no_memory(c);
    items[0] = value_tensor(token);
    if (result.kind == VALUE_TUPLE)
        memcpy(items + 1, result.u.items, count * sizeof *items);
    else
        items[1] = result;
    return ret_call(c, value_items(VALUE_TUPLE, items, count + 1));
}

/* --- States of random numbers (torch/_prims/rng_prims.py) --- */

/* Bytes of torch.get_rng_state() (CPUGeneratorImpl) and of torch.cuda.get_rng_state(). */
enum { CPU_STATE = 5056, CUDA_STATE = 16 };

/* Returns the length of a state. torch.get_rng_state() is a real tensor, of which FakeTensorMode
 * makes a fake one: its size is a symbol where sizes are dynamic. */
static sym_id state_length(struct call *c, int64_t bytes)
{
    static const char source[] = "__meta_utils_unknown_tensor";
    sym_id length = num(c, bytes);
    for (uint32_t i = 0; i < env_n_symbols(c->env); i++) {
        sym_id symbol = env_symbol_at(c->env, i);
        if (env_hint(c->env, symbol) == length &&
            str_starts(env_source(c->env, symbol), STR(source)))
            return symbol;
    }
    return length;
}

static bool is_on_cuda(struct value args)
{
    for (uint32_t i = 0; value_is_sequence(args) && i < args.n; i++)
        if (args.u.items[i].kind == VALUE_TENSOR)
            return args.u.items[i].u.tensor.meta->device.type == DEVICE_CUDA;
    return false;
}

/* op, *args, **kwargs: returns the state before the call, and the result. */
bool python_save_rng_state(struct call *c)
{
    sym_id length = state_length(c, is_on_cuda(arg(c, 1)) ? CUDA_STATE : CPU_STATE);
    struct value both[2];
    both[0] = value_tensor(new_tensor(c, DTYPE_U8, (struct device){ DEVICE_CPU, -1 }, &length, 1));
    both[1] = call_operator(c, arg(c, 0), arg(c, 1), arg(c, 2));
    struct value ret = py_list(c, both, 2);
    ret.kind = VALUE_TUPLE;
    return !c->failed && ret_call(c, ret);
}

/* rng_state, op, *args, **kwargs */
bool python_with_rng_state(struct call *c)
{
    return ret_call(c, call_operator(c, arg(c, 1), arg(c, 2), arg(c, 3)));
}

/* *inputs, ..., dtype: _elementwise_output_like
 * (torch/_higher_order_ops/inline_asm_elementwise.py). */
bool python_inline_asm(struct call *c)
{
    struct value inputs = arg(c, 0);
    struct value all = py_call(c, "broadcast_tensors", &inputs, 1);
    if (c->failed || !value_is_sequence(all) || !all.n)
        return c->failed ? false : unsupported(c, "no inputs");
    struct tensor *x = scratch(c, all.n * sizeof *x);
    sym_id stride[TENSOR_MAX_DIM];
    for (uint32_t i = 0; x && i < all.n; i++)
        x[i] = value_as_tensor(c, all.u.items[i]);
    if (!x || c->failed)
        return false;
    const struct tensor_meta *first = x[0].meta;
    elementwise_strides(c, x, all.n, stride);
    return ret_tensor(c, new_tensor_permuted(c, arg_dtype(c, 3, first->dtype), first->device,
                                             first->size, stride, first->ndim));
}

/* op, output_dtype, *args: calls op, then casts. */
bool python_out_dtype(struct call *c)
{
    struct op *op = operator_argument(c, arg(c, 0));
    struct value args = arg(c, 2), result = value_none();
    if (!op)
        return false;
    python_result(
        c, ops_dispatch(c->ops, op, &(struct arguments){ args.u.items, args.n, NULL, 0 }, &result));
    struct keyword keyword = { STR("dtype"), arg(c, 1) };
    return ret_call(c, py_op_keywords(c, "aten._to_copy", &result, 1, &keyword, 1));
}

/* --- flex_attention --- */

/* _construct_strides over the dimensions in the order of another tensor's strides, with the last
 * one innermost. */
static void attention_strides(struct call *c, struct tensor query, const sym_id *size,
                              sym_id *stride)
{
    uint32_t order[TENSOR_MAX_DIM], n = query.meta->ndim;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = i;
        for (; at > 0; at--) {
            if (!guard_size_oblivious(
                    c, lt(c, query.meta->stride[i], query.meta->stride[order[at - 1]])))
                break;
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
    for (uint32_t i = 1; i < n && order[0] != n - 1; i++)
        if (order[i] == n - 1) {
            memmove(order + 1, order, i * sizeof *order);
            order[0] = n - 1;
        }
    sym_id next = SYM_ID_ONE;
    for (uint32_t i = 0; i < n; i++) {
        stride[order[i]] = next;
        next = mul(c, next, size[order[i]]);
    }
}

/* query, key, value, ...: returns out, logsumexp, max_scores. */
bool python_flex_attention(struct call *c)
{
    struct tensor q = value_as_tensor(c, arg(c, 0)), v = value_as_tensor(c, arg(c, 2));
    if (c->failed || q.meta->ndim != 4 || v.meta->ndim != 4)
        return false;
    sym_id size[4], stride[4];
    memcpy(size, q.meta->size, sizeof size);
    size[3] = v.meta->size[3];
    attention_strides(c, q, size, stride);
    struct tensor out[] = {
        new_tensor_strided(c, q.meta->dtype, q.meta->device, size, stride, 4),
        new_tensor(c, DTYPE_F32, q.meta->device, size, 3),
        new_tensor(c, DTYPE_F32, q.meta->device, size, 3),
    };
    return ret_tensors(c, out, 3);
}

/* query, key, value, ...: returns gradients like them. */
bool python_flex_backward(struct call *c)
{
    struct value items[4], list;
    for (uint32_t i = 0; i < 3; i++) {
        struct tensor x = value_as_tensor(c, arg(c, i));
        if (c->failed)
            return false;
        items[i] = value_tensor(new_like(c, x));
    }
    items[3] = value_items(VALUE_TUPLE, NULL, 0);
    list = py_list(c, items, 4);
    list.kind = VALUE_TUPLE;
    return ret_call(c, list);
}
