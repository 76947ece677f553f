/* The floats of eight bits that kernels multiply: torch.float8_e4m3fn and torch.float8_e5m2. */
#ifndef SYMTAPE_REPLAY_BACKEND_CALL_FLOAT8_H
#define SYMTAPE_REPLAY_BACKEND_CALL_FLOAT8_H

#include <stdbool.h>

#include "trace/graph/dtype.h"

/* Returns the greatest finite value; 0 for other dtypes. */
static inline double float8_max(enum dtype dtype)
{
    return dtype == DTYPE_F8E4M3FN ? 448 : dtype == DTYPE_F8E5M2 ? 57344 : 0;
}

static inline bool is_float8(enum dtype dtype)
{
    return float8_max(dtype) > 0;
}

#endif
