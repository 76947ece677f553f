/* Python-level calls until replay/ops/python.c is there. Weak. */
#include "replay/ops/ops.h"

#define WEAK __attribute__((weak))

WEAK enum op_outcome ops_call_function(struct ops *ops, struct str target, const struct value *args,
                                       uint32_t n, const struct keyword *keywords,
                                       uint32_t n_keywords, struct value *ret)
{
    return ops_call(ops, target, args, n, keywords, n_keywords, ret);
}

WEAK enum op_outcome ops_call_method(struct ops *ops, struct str method, const struct value *args,
                                     uint32_t n, const struct keyword *keywords,
                                     uint32_t n_keywords, struct value *ret)
{
    return ops_call(ops, method, args, n, keywords, n_keywords, ret);
}
