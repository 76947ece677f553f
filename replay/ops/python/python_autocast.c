/* Autocast: graphs that dynamo captured enter and exit it by calls, between which operators that
 * Python calls cast their tensors. */
#include "replay/ops/python/higher_order.h"
#include "replay/ops/python/python_internal.h"

enum policy { NONE, LOWER, FLOAT, OPTION, WIDEST };

static const struct {
    const char *base;
    enum policy cuda, cpu;
} policies[] = {
#define AUTOCAST(base, cuda, cpu) { base, cuda, cpu },
#include "replay/ops/python/python_autocast.def"
#undef AUTOCAST
};

static enum policy policy_of(const struct autocast *autocast, struct str base)
{
    size_t low = 0, high = sizeof policies / sizeof *policies;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = str_cmp(str_of(policies[middle].base), base);
        if (order == 0)
            return autocast->device == DEVICE_CPU ? policies[middle].cpu : policies[middle].cuda;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NONE;
}

bool python_is_lowered(struct str base, enum device_type device)
{
    return policy_of(&(struct autocast){ .device = device }, base) == LOWER;
}

/* is_eligible: returns whether it is a floating-point tensor of that device, except float64. */
static bool eligible(const struct autocast *autocast, struct value value)
{
    if (value.kind != VALUE_TENSOR)
        return false;
    const struct tensor_meta *meta = value.u.tensor.meta;
    return meta->device.type == autocast->device && dtype_is_float(meta->dtype) &&
           meta->dtype != DTYPE_F64;
}

static struct value cast(struct call *c, struct value value, enum dtype dtype)
{
    const struct autocast *autocast = &c->ops->autocast;
    if (value_is_sequence(value)) {
        struct value *items = ops_values(c->ops, value.n);
        if (!items) {
            python_no_memory(c);
            return value;
        }
        for (uint32_t i = 0; i < value.n; i++)
            items[i] = value_is_sequence(value.u.items[i]) ? value.u.items[i]
                                                           : cast(c, value.u.items[i], dtype);
        return value_items(value.kind, items, value.n);
    }
    if (!eligible(autocast, value) || value.u.tensor.meta->dtype == dtype)
        return value;
    struct keyword keyword = { STR("dtype"), { .kind = VALUE_DTYPE, .u.dtype = dtype } };
    struct op *op = op_table_find(&c->ops->table, STR("aten._to_copy.default"));
    struct value ret = value;
    if (op)
        python_result(
            c, ops_dispatch(c->ops, op, &(struct arguments){ &value, 1, &keyword, 1 }, &ret));
    return ret;
}

/* promote_type: returns float32 if any tensor has it. */
static enum dtype promoted_dtype(const struct autocast *autocast, const struct value *args,
                                 uint32_t n)
{
    enum dtype dtype = autocast->dtype;
    for (uint32_t i = 0; i < n; i++) {
        if (value_is_sequence(args[i]) &&
            promoted_dtype(autocast, args[i].u.items, args[i].n) == DTYPE_F32)
            dtype = DTYPE_F32;
        if (eligible(autocast, args[i]) && args[i].u.tensor.meta->dtype == DTYPE_F32)
            dtype = DTYPE_F32;
    }
    return dtype;
}

bool python_autocast(struct call *c, const struct op *op, struct value *args, uint32_t n,
                     uint64_t *given)
{
    const struct autocast autocast = c->ops->autocast;
    if (!autocast.enabled || !str_is(op->schema.space, "aten"))
        return !c->failed;
    enum policy policy = policy_of(&autocast, op->schema.base);
    enum dtype dtype = policy == LOWER ? autocast.dtype : DTYPE_F32;
    if (policy == NONE)
        return true;
    if (policy == WIDEST)
        dtype = promoted_dtype(&autocast, args, n);
    for (uint32_t i = 0; i < n && !c->failed; i++) {
        bool sets = policy == OPTION && given && i < op->schema.n_args &&
                    str_is(op->schema.args[i].name, "dtype") && args[i].kind == VALUE_NONE &&
                    eligible(&autocast, args[0]);
        if (sets) {
            args[i] = (struct value){ .kind = VALUE_DTYPE, .u.dtype = DTYPE_F32 };
            *given |= UINT64_C(1) << i;
        } else if (policy != OPTION) {
            args[i] = cast(c, args[i], dtype);
        }
    }
    return !c->failed;
}

/* device_type, dtype=None, enabled=True, cache_enabled=None: returns the previous state, for
 * exit. */
bool python_enter_autocast(struct call *c)
{
    struct autocast *now = &c->ops->autocast;
    struct value before[] = { py_int(c, now->device), py_int(c, now->dtype),
                              py_bool(now->enabled) };
    struct value ret = py_list(c, before, 3);
    bool cpu = py_is(arg(c, 0), "cpu");
    ret.kind = VALUE_TUPLE;
    now->device = cpu ? DEVICE_CPU : DEVICE_CUDA;
    now->dtype = arg_dtype(c, 1, cpu ? DTYPE_BF16 : DTYPE_F16);
    now->enabled = py_truth(c, arg(c, 2));
    return ret_call(c, ret);
}

bool python_exit_autocast(struct call *c)
{
    struct autocast *now = &c->ops->autocast;
    struct value before = arg(c, 0);
    int64_t device, dtype;
    *now = (struct autocast){ 0 };
    if (before.kind == VALUE_TUPLE && before.n == 3 &&
        sym_to_i64(c->pool, before.u.items[0].u.sym, &device) &&
        sym_to_i64(c->pool, before.u.items[1].u.sym, &dtype))
        *now = (struct autocast){ (enum device_type)device, (enum dtype)dtype,
                                  before.u.items[2].u.sym == SYM_ID_TRUE };
    return ret_none(c);
}

/* device_type, dtype, enabled, cache_enabled, wrapped_func, *args: calls a subgraph under
 * autocast. */
bool python_wrapped_autocast(struct call *c)
{
    struct autocast before = c->ops->autocast;
    bool cpu = py_is(arg(c, 0), "cpu");
    c->ops->autocast =
        (struct autocast){ cpu ? DEVICE_CPU : DEVICE_CUDA,
                           arg_dtype(c, 1, cpu ? DTYPE_BF16 : DTYPE_F16), py_truth(c, arg(c, 2)) };
    struct value args = arg(c, 5), ret = hop_run(c, arg(c, 4), &args, 1);
    c->ops->autocast = before;
    return ret_call(c, ret);
}
