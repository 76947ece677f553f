/* The values of a tensor outside of any backend, contiguous and little endian, as files and reports
 * use them. */
#ifndef SYMTAPE_REPLAY_BACKEND_VALUES_ARRAY_H
#define SYMTAPE_REPLAY_BACKEND_VALUES_ARRAY_H

#include "trace/graph/dtype.h"

struct array {
    enum dtype dtype;
    uint32_t ndim;
    int64_t size[TENSOR_MAX_DIM];
    const void *p; /* NULL: none; borrowed */
    size_t bytes;
};

#endif
