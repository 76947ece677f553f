/* How an entry that is scattered is combined with the element at its index. The texts of kernels
 * use these numbers, too (replay/backend/cuda/device/index/combine.cu). */
#ifndef SYMTAPE_REPLAY_BACKEND_CALL_COMBINE_H
#define SYMTAPE_REPLAY_BACKEND_CALL_COMBINE_H

#include "trace/base/str.h"

enum combine { COMBINE_SET, COMBINE_ADD, COMBINE_MULTIPLY, COMBINE_MAX, COMBINE_MIN, COMBINE_MEAN };

/* Returns the value for the `reduce` argument of scatter and scatter_reduce; "" is COMBINE_SET. */
static inline enum combine combine_named(struct str name)
{
    return str_is(name, "add") || str_is(name, "sum")         ? COMBINE_ADD
           : str_is(name, "multiply") || str_is(name, "prod") ? COMBINE_MULTIPLY
           : str_is(name, "amax")                             ? COMBINE_MAX
           : str_is(name, "amin")                             ? COMBINE_MIN
           : str_is(name, "mean")                             ? COMBINE_MEAN
                                                              : COMBINE_SET;
}

#endif
