/* Why PyTorch's operator cache does not cache a call (_validate_cache_key and
 * _validate_cache_entry of torch/_subclasses/fake_tensor.py): because of its operator, its
 * arguments or its result. */
#include "replay/ops/dispatch/context.h"

enum { MAX_NESTING = 16, MAX_ITEMS = 1 << 16 };

/* Returns whether an index is a mask: only then index.Tensor has a dynamic shape. */
static bool has_mask(const struct call *c)
{
    const struct value *indices = &c->args[1];
    for (uint32_t i = 0; indices->kind == VALUE_LIST && i < indices->n; i++) {
        const struct value *index = &indices->u.items[i];
        if (index->kind == VALUE_TENSOR &&
            (index->u.tensor.meta->dtype == DTYPE_B8 || index->u.tensor.meta->dtype == DTYPE_I8))
            return true;
    }
    return false;
}

static enum op_bypass bypass_of_operator(const struct call *c)
{
    enum op_bypass bypass = c->op->bypass;
    bool plain_index =
        bypass == OP_BYPASS_DYNAMIC_SHAPE && str_is(c->op->schema.base, "index") && !has_mask(c);
    return plain_index ? OP_BYPASS_NONE : bypass;
}

/* Finds the first reason among the arguments. False: no key can be made, so that the remaining
 * arguments are not examined. */
static bool find_bypass(const struct call *c, const struct value *value, unsigned nesting,
                        enum op_bypass *ret)
{
    enum op_bypass found = OP_BYPASS_NONE;
    switch (value->kind) {
    case VALUE_TENSOR:
        if (value->u.tensor.data)
            found = OP_BYPASS_CONSTANT;
        else if (value->u.tensor.meta->layout != LAYOUT_STRIDED)
            found = OP_BYPASS_SPARSE;
        break;
    case VALUE_FLOAT:
    case VALUE_BOOL:
        if (value->u.sym > SYM_ID_TRUE && !sym_is_number(c->pool, value->u.sym))
            found = OP_BYPASS_SYMBOLIC_SHAPE;
        break;
    case VALUE_FUNCTION: found = OP_BYPASS_FUNCTION_ARGUMENT; break;
    case VALUE_LIST:
    case VALUE_TUPLE:
    case VALUE_DICT:
    case VALUE_SLICE:
        if (nesting >= MAX_NESTING || value->n >= MAX_ITEMS)
            return false;
        for (uint32_t i = 0; i < value->n && !*ret; i++)
            if (!find_bypass(c, &value->u.items[i], nesting + 1, ret))
                return false;
        return !*ret;
    case VALUE_GRAPH:
    case VALUE_OPAQUE: return false;
    default: break;
    }
    *ret = found;
    return !found;
}

enum op_bypass call_bypass(struct call *c)
{
    if (c->bypass_known)
        return c->bypass;
    c->bypass_known = true;
    c->bypass = bypass_of_operator(c);
    for (uint32_t i = 0; i < c->n_args && !c->bypass; i++)
        if (!find_bypass(c, &c->args[i], 0, &c->bypass))
            break;
    return c->bypass;
}

/* PyTorch caches results that are tensors, groups of tensors, integers or None. */
enum op_bypass bypass_of_result(const struct call *c)
{
    bool group = c->ret.kind == VALUE_LIST || c->ret.kind == VALUE_TUPLE;
    if (c->op->returns_keyword)
        return OP_BYPASS_KEYWORD_ALIASES;
    for (uint32_t i = 0; i < (group ? c->ret.n : 1); i++) {
        const struct value *item = group ? &c->ret.u.items[i] : &c->ret;
        if (item->kind == VALUE_TENSOR && item->u.tensor.meta->layout != LAYOUT_STRIDED)
            return OP_BYPASS_SPARSE;
        if (item->kind != VALUE_TENSOR && item->kind != VALUE_NONE && item->kind != VALUE_INT)
            return OP_BYPASS_NON_TENSOR_OUTPUT;
    }
    return OP_BYPASS_NONE;
}
