/* Puts a call's arguments into the order of its schema: positional ones, then keywords, then
 * defaults, converted as torch.ops does (torch/csrc/jit/python/pybind_utils.cpp, toIValue;
 * aten/src/ATen/core/function_schema_inl.h, checkAndNormalizeInputs). */
#include "replay/ops/dispatch/bind.h"
#include "replay/ops/layout/layout.h"

/* Gets the number from a 0-dim tensor whose data is known. */
static bool tensor_number(struct ops *ops, struct tensor x, struct value *ret);

static bool fits_scalar(const struct schema_slot *slot, struct value value)
{
    bool tensor = value.kind == VALUE_TENSOR && value.u.tensor.meta->ndim == 0;
    switch (slot->type) {
    case SCHEMA_TENSOR:
        return value.kind == VALUE_TENSOR || value_is_number(value) || value.kind == VALUE_COMPLEX;
    case SCHEMA_SCALAR:
    case SCHEMA_COMPLEX: return value_is_number(value) || value.kind == VALUE_COMPLEX || tensor;
    case SCHEMA_INT:
    case SCHEMA_SYMINT: return value.kind == VALUE_INT || value.kind == VALUE_BOOL || tensor;
    case SCHEMA_FLOAT: return value_is_number(value) || tensor;
    case SCHEMA_BOOL: return value.kind == VALUE_BOOL || value.kind == VALUE_INT || tensor;
    case SCHEMA_STRING: return value.kind == VALUE_STRING;
    case SCHEMA_DTYPE: return value.kind == VALUE_DTYPE || value.kind == VALUE_INT;
    case SCHEMA_LAYOUT: return value.kind == VALUE_LAYOUT || value.kind == VALUE_INT;
    case SCHEMA_DEVICE: return value.kind == VALUE_DEVICE || value.kind == VALUE_STRING;
    case SCHEMA_MEMORY_FORMAT: return value.kind == VALUE_MEMORY_FORMAT || value.kind == VALUE_INT;
    case SCHEMA_ANY: return true;
    }
    return false;
}

/* Returns whether a value fits as an item of a list, where a number is no tensor, because its dtype
 * would be unknown. */
static bool fits_item(const struct schema_slot *slot, struct value item)
{
    if (item.kind == VALUE_NONE)
        return slot->optional_items || slot->type == SCHEMA_ANY;
    if (slot->type == SCHEMA_TENSOR)
        return item.kind == VALUE_TENSOR;
    return fits_scalar(slot, item);
}

static bool fits_slot(const struct schema_slot *slot, struct value value)
{
    if (value.kind == VALUE_NONE)
        return slot->optional || slot->type == SCHEMA_ANY ||
               (slot->has_default && slot->default_value.kind == VALUE_NONE);
    if (!slot->list)
        return fits_scalar(slot, value);
    if (!value_is_sequence(value))
        return slot->length && slot->type != SCHEMA_TENSOR && fits_scalar(slot, value);
    for (uint32_t i = 0; i < value.n; i++)
        if (!fits_item(slot, value.u.items[i]))
            return false;
    return true;
}

/* --- Conversions --- */

static bool read_element(struct sym_pool *pool, enum dtype dtype, const unsigned char *p,
                         struct value *ret)
{
    int64_t i = 0;
    float f;
    double d;
    switch (dtype) {
    case DTYPE_B8: *ret = value_sym(VALUE_BOOL, sym_boolean(*p != 0)); return true;
    case DTYPE_U8: i = *p; break;
    case DTYPE_I8: i = (int8_t)*p; break;
    case DTYPE_I16: i = (int16_t)(p[0] | p[1] << 8); break;
    case DTYPE_I32: {
        int32_t narrow;
        memcpy(&narrow, p, 4);
        i = narrow;
        break;
    }
    case DTYPE_I64: memcpy(&i, p, 8); break;
    case DTYPE_F32:
        memcpy(&f, p, 4);
        *ret = value_sym(VALUE_FLOAT, sym_float(pool, (double)f));
        return true;
    case DTYPE_F64:
        memcpy(&d, p, 8);
        *ret = value_sym(VALUE_FLOAT, sym_float(pool, d));
        return true;
    default: return false;
    }
    *ret = value_int(sym_integer(pool, i));
    return true;
}

static bool tensor_number(struct ops *ops, struct tensor x, struct value *ret)
{
    return x.data && !x.counted && read_element(ops->pool, x.meta->dtype, x.data, ret);
}

/* A number where a tensor is expected becomes a CPU tensor without dimensions
 * (c10::scalar_to_tensor; Python's default dtypes). Rules see the number, arg_tensor() this
 * tensor. */
static bool wrap_number(struct ops *ops, enum value_kind kind)
{
    static const sym_id none[1] = { 0 };
    static const enum dtype dtypes[] = { [VALUE_INT] = DTYPE_I64,
                                         [VALUE_FLOAT] = DTYPE_F32,
                                         [VALUE_BOOL] = DTYPE_B8,
                                         [VALUE_COMPLEX] = DTYPE_C64 };
    if (ops->wrapped[kind])
        return true;
    const struct tensor_meta meta = { .dtype = dtypes[kind],
                                      .device = { DEVICE_CPU, -1 },
                                      .offset = SYM_ID_ZERO,
                                      .size = none,
                                      .stride = none };
    ops->wrapped[kind] = ops_intern(ops, &meta);
    return ops->wrapped[kind] || ops_no_memory(ops) == OP_DONE;
}

static bool parse_device_value(struct value value, struct value *ret)
{
    struct device device;
    if (!device_parse(value.u.text, &device))
        return false;
    *ret = (struct value){ .kind = VALUE_DEVICE, .u.device = device };
    return true;
}

/* Converts a SymInt or SymFloat for an int or a float of the schema, which adds a guard (toIValue
 * of torch/csrc/jit/python/pybind_utils.cpp). False: refused. */
static bool specialize_number(struct ops *ops, struct value *number)
{
    struct call c = { .ops = ops, .env = ops->env, .pool = ops->pool };
    sym_id constant = env_evaluate(ops->env, number->u.sym, SYM_NONE, false, SYM_NONE);
    number->u.sym = constant;
    return constant != SYM_NONE || call_raised(&c);
}

static bool is_specialized(const struct ops *ops, const struct schema_slot *slot,
                           struct value value)
{
    return (slot->type == SCHEMA_FLOAT || slot->type == SCHEMA_INT) && value_is_number(value) &&
           value.u.sym > SYM_ID_TRUE && !sym_is_number(ops->pool, value.u.sym);
}

/* Returns a number as a float, if it is a constant; else as it is. */
static sym_id float_of(struct sym_pool *pool, struct value number)
{
    int64_t n;
    if (number.kind == VALUE_BOOL && number.u.sym <= SYM_ID_TRUE)
        return sym_float(pool, number.u.sym == SYM_ID_TRUE);
    bool whole = number.kind != VALUE_BOOL && sym_to_i64(pool, number.u.sym, &n);
    return whole ? sym_float(pool, (double)n) : number.u.sym;
}

/* Converts a value that fits into the form that rules expect. False: refused. */
static bool convert_value(struct ops *ops, const struct schema_slot *slot, struct value value,
                          struct value *ret)
{
    int64_t n;
    *ret = value;
    if (slot->type == SCHEMA_TENSOR && (value_is_number(value) || value.kind == VALUE_COMPLEX))
        return wrap_number(ops, value.kind);
    if (slot->type == SCHEMA_TENSOR || slot->type == SCHEMA_ANY || value.kind == VALUE_NONE)
        return true;
    if (value.kind == VALUE_TENSOR && !tensor_number(ops, value.u.tensor, ret)) {
        struct op *item = op_table_find(&ops->table, STR("aten._local_scalar_dense"));
        return item ? ops_dispatch(ops, item, &(struct arguments){ &value, 1, NULL, 0 }, ret) ==
                          OP_DONE
                    : ops_unsupported(ops, "a number in a tensor") == OP_DONE;
    }
    if (is_specialized(ops, slot, *ret) && !specialize_number(ops, ret))
        return false;
    if (slot->type == SCHEMA_FLOAT && ret->kind != VALUE_FLOAT) {
        *ret = value_sym(VALUE_FLOAT, float_of(ops->pool, *ret));
    } else if ((slot->type == SCHEMA_INT || slot->type == SCHEMA_SYMINT) &&
               ret->kind == VALUE_BOOL && ret->u.sym <= SYM_ID_TRUE) {
        *ret = value_int(sym_integer(ops->pool, ret->u.sym == SYM_ID_TRUE));
    } else if (slot->type == SCHEMA_BOOL && ret->kind == VALUE_INT) {
        if (sym_to_i64(ops->pool, ret->u.sym, &n))
            *ret = value_sym(VALUE_BOOL, sym_boolean(n != 0));
    } else if (slot->type == SCHEMA_DEVICE && value.kind == VALUE_STRING) {
        if (!parse_device_value(value, ret))
            return ops_refuse(ops, STR("RuntimeError"), "Invalid device string: '%.*s'",
                              STR_ARG(value.u.text)) == OP_DONE;
    } else if (slot->type == SCHEMA_DTYPE && value.kind == VALUE_INT) {
        if (sym_to_i64(ops->pool, value.u.sym, &n))
            *ret = (struct value){ .kind = VALUE_DTYPE, .u.dtype = dtype_of_c10(n) };
    } else if (slot->type == SCHEMA_LAYOUT && value.kind == VALUE_INT) {
        *ret = (struct value){ .kind = VALUE_LAYOUT, .u.layout = LAYOUT_STRIDED };
    } else if (slot->type == SCHEMA_MEMORY_FORMAT && value.kind == VALUE_INT) {
        if (sym_to_i64(ops->pool, value.u.sym, &n))
            *ret = (struct value){ .kind = VALUE_MEMORY_FORMAT,
                                   .u.memory_format = (enum memory_format)(n & 3) };
    }
    return true;
}

static bool is_same_value(const struct value *a, const struct value *b)
{
    return a->kind == b->kind && a->n == b->n && a->u.items == b->u.items &&
           a->u.text.n == b->u.text.n;
}

/* Converts a list; without changed items it remains the caller's array. */
static bool convert_list(struct ops *ops, const struct schema_slot *slot, struct value value,
                         struct value *ret)
{
    bool one = !value_is_sequence(value);
    uint32_t n = one ? slot->length : value.n;
    const struct value *from = one ? NULL : value.u.items;
    struct value *copy = NULL;
    static const struct value none[1];
    *ret = value;
    ret->kind = VALUE_LIST;
    if (!one && n == 0)
        ret->u.items = none; /* instead of NULL, which memcpy() does not accept */
    if (slot->type == SCHEMA_TENSOR || slot->type == SCHEMA_ANY)
        return true;
    for (uint32_t i = 0; i < n; i++) {
        struct value item = { 0 };
        if (!convert_value(ops, slot, one ? value : from[i], &item))
            return false;
        if (!copy && !one && is_same_value(&item, &from[i]))
            continue;
        if (!copy) {
            copy = ops_values(ops, n);
            if (!copy)
                return ops_no_memory(ops) == OP_DONE;
            if (!one)
                memcpy(copy, from, i * sizeof *copy);
        }
        copy[i] = item;
    }
    if (copy)
        *ret = value_items(VALUE_LIST, copy, n);
    return true;
}

/* --- Assigning arguments to slots --- */

static uint32_t slot_by_name(const struct schema *schema, struct str name)
{
    for (uint32_t i = 0; i < schema->n_args; i++)
        if (str_eq(schema->args[i].name, name))
            return i;
    return UINT32_MAX;
}

/* Sets given[i] to the value for slot i, or NULL. */
static enum op_outcome assign_slots(struct ops *ops, const struct op *op,
                                    const struct arguments *arguments, const struct value **given)
{
    const struct schema *s = &op->schema;
    if ((arguments->n + arguments->n_keywords > s->n_args || arguments->n > s->n_positional) &&
        !s->any_arity)
        return bind_too_many(ops, op, arguments->n, arguments->n_keywords);
    memset(given, 0, s->n_args * sizeof *given);
    for (uint32_t i = 0; i < arguments->n && i < s->n_args; i++)
        given[i] = &arguments->values[i];
    for (uint32_t k = 0; k < arguments->n_keywords; k++) {
        uint32_t i = slot_by_name(s, arguments->keywords[k].name);
        if (i == UINT32_MAX)
            return bind_unknown_keyword(ops, op, arguments->keywords[k].name);
        if (given[i])
            return bind_given_twice(ops, op, arguments->keywords[k].name);
        given[i] = &arguments->keywords[k].value;
    }
    return OP_DONE;
}

/* Returns whether a list is longer than TENSOR_MAX_DIM, the length of rules' arrays. PyTorch's
 * reductions refuse more, too (aten/src/ATen/WrapDimUtilsMulti.h, dim_list_to_bitset). */
static bool is_too_deep(const struct value *value, unsigned nesting)
{
    if (value->kind == VALUE_TENSOR)
        return value->u.tensor.meta->ndim > TENSOR_MAX_DIM;
    if (!value_is_sequence(*value) || nesting > 4)
        return false;
    for (uint32_t i = 0; i < value->n; i++)
        if (is_too_deep(&value->u.items[i], nesting + 1))
            return true;
    return false;
}

static enum op_outcome check_depth(struct ops *ops, const struct op *op, const struct value *bound)
{
    for (uint32_t i = 0; i < op->schema.n_args; i++) {
        if (!is_too_deep(&bound[i], 0))
            continue;
        if (slot_by_name(&op->schema, STR("dim")) != UINT32_MAX)
            return ops_refuse(ops, STR("RuntimeError"),
                              "only tensors with up to 64 dims are supported");
        return ops_unsupported(ops, "%.*s: a tensor of more than %d dimensions", STR_ARG(op->name),
                               TENSOR_MAX_DIM);
    }
    return OP_DONE;
}

enum op_outcome ops_bind(struct ops *ops, const struct op *op, const struct arguments *arguments,
                         struct value *bound)
{
    const struct value *given[OPS_MAX_ARGS];
    const struct schema *s = &op->schema;
    enum op_outcome outcome = assign_slots(ops, op, arguments, given);
    for (uint32_t i = 0; i < s->n_args && outcome == OP_DONE; i++) {
        const struct schema_slot *slot = &s->args[i];
        struct value value = given[i] ? *given[i] : slot->default_value;
        if (!given[i] && !slot->has_default)
            outcome = bind_missing(ops, op, slot->name);
        else if (given[i] && !fits_slot(slot, value))
            outcome = bind_bad_value(ops, op, slot, value);
        else if (value.kind == VALUE_NONE)
            bound[i] = value;
        else if (!(slot->list ? convert_list : convert_value)(ops, slot, value, &bound[i]))
            outcome = ops->outcome;
    }
    return outcome == OP_DONE && ops->metas.max_ndim > TENSOR_MAX_DIM ? check_depth(ops, op, bound)
                                                                      : outcome;
}
