/* Element types of tensors, as PyTorch names them (dtypes.def has a row for each). */
#ifndef SYMTAPE_TRACE_GRAPH_DTYPE_H
#define SYMTAPE_TRACE_GRAPH_DTYPE_H

#include "trace/base/str.h"

enum dtype {
    DTYPE_NONE,
#define DTYPE(id, short_name, python_name, size, scalar_type) DTYPE_##id,
#include "trace/graph/dtypes.def"
#undef DTYPE
    DTYPE_COUNT
};

const char *dtype_short_name(enum dtype dtype);  /* "f32" */
const char *dtype_python_name(enum dtype dtype); /* "torch.float32" */
unsigned dtype_size(enum dtype dtype);           /* bytes of one element */
enum dtype dtype_by_short_name(struct str name); /* DTYPE_NONE when unknown */
enum dtype dtype_by_python_name(struct str name);
enum dtype dtype_by_scalar_type(int64_t number);

/* No operator of PyTorch takes a tensor of more dimensions (at::kMaxDim, c10/util). */
enum { TENSOR_MAX_DIM = 64 };

#endif
