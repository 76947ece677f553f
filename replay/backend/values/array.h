/* Values outside of any backend: what files hold and reports compare. Contiguous, little endian. */
#ifndef SYMTAPE_REPLAY_BACKEND_VALUES_ARRAY_H
#define SYMTAPE_REPLAY_BACKEND_VALUES_ARRAY_H

#include "trace/graph/dtype.h"

struct array {
    enum dtype dtype;
    uint32_t ndim;
    int64_t size[TENSOR_MAX_DIM];
    const void *p; /* NULL: none. Borrowed from whoever gave it */
    size_t bytes;
};

#endif
