/* weight_norm, which splits a weight into a direction and norms. */
#include "replay/ops/layout/layout.h"

/* (v, g) -> the weight and the norms, which are float32 for half and bfloat16. The backward form
 * (param 1) returns the gradients of v and g. */
bool rule_weight_norm(struct call *c)
{
    struct tensor v = arg_tensor(c, c->param ? 1 : 0), g = arg_tensor(c, c->param ? 2 : 1);
    bool half = g.meta->dtype == DTYPE_F16 || g.meta->dtype == DTYPE_BF16;
    struct tensor out[] = {
        new_like(c, v),
        new_like_dtype(c, g, half && !c->param ? DTYPE_F32 : g.meta->dtype),
    };
    return ret_tensors(c, out, 2);
}
