/* How an entry that is scattered joins what is there; the numbers are known to kernel texts
 * (replay/backend/cuda/device/index/combine.cu). */
#ifndef SYMTAPE_REPLAY_BACKEND_CALL_COMBINE_H
#define SYMTAPE_REPLAY_BACKEND_CALL_COMBINE_H

#include "trace/base/str.h"

enum combine { COMBINE_SET, COMBINE_ADD, COMBINE_MULTIPLY, COMBINE_MAX, COMBINE_MIN, COMBINE_MEAN };

/* By the names of scatter's and scatter_reduce's `reduce`; "" sets. */
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
