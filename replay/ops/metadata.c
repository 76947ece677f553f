/* extract_tensor_metadata of torch/_subclasses/fake_tensor.py: before PyTorch's cache of operators
 * knows a call, it asks each tensor for the memory format that its strides suggest, which guards
 * where sizes leave that open. */
#include "replay/ops/context.h"
#include "replay/ops/layout.h"

static void ask(struct call *c, const struct value *value, unsigned nesting)
{
    if (value->kind == VALUE_TENSOR && value->u.tensor.meta->ndim >= 4)
        suggest_format(c, value->u.tensor);
    if ((value->kind == VALUE_LIST || value->kind == VALUE_TUPLE) && nesting < 16)
        for (uint32_t i = 0; i < value->n && !c->failed; i++)
            ask(c, &value->u.items[i], nesting + 1);
}

void ask_metadata(struct call *c, const struct value *result)
{
    if (!c->symbolic || c->op->composite)
        return;
    if (result)
        ask(c, result, 0);
    for (uint32_t i = 0; i < c->n_args && !result && !c->failed; i++)
        ask(c, &c->args[i], 0);
}
