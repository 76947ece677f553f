#include "profile/calls/values/py_value.h"

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
