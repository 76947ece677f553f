#include "profile/calls/values/py_value.h"

bool tensor_is_contiguous(const struct tensor_value *tensor)
{
    int64_t expected = 1;
    bool overflow = false;
    for (uint32_t i = 0; i < tensor->n_dims; i++)
        if (tensor->sizes[i] == 0)
            return true;
    for (uint32_t i = tensor->n_dims; i-- > 0;) {
        if (tensor->sizes[i] != 1 && (overflow || tensor->strides[i] != expected))
            return false;
        overflow |= __builtin_mul_overflow(expected, tensor->sizes[i], &expected);
    }
    return true;
}

bool py_is_set_type(struct str type)
{
    return str_is(type, "set") || str_is(type, "frozenset");
}

bool py_equal(const struct py_value *a, const struct py_value *b)
{
    if (a->kind != b->kind || !str_eq(a->type, b->type))
        return false;
    switch (a->kind) {
    case PY_BOOL:
    case PY_INT: return a->integer == b->integer;
    case PY_FLOAT: return a->real == b->real;
    case PY_STR: return str_eq(a->text, b->text);
    case PY_TENSOR:
    case PY_OBJECT: return a->object == b->object && str_eq(a->text, b->text);
    default: return a->n == b->n;
    }
}
