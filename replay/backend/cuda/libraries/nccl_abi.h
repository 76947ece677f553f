/* The part of NCCL that is used, declared here so that the build needs no headers of it. The
 * numbers are those of nccl.h, which its releases 2.4 to 2.28 share (bf16: 2.10). */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_NCCL_ABI_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_NCCL_ABI_H

#include <stddef.h>
#include <stdint.h>

enum { NCCL_OK = 0 };

/* ncclDataType_t */
enum {
    NCCL_I8 = 0,
    NCCL_U8 = 1,
    NCCL_I32 = 2,
    NCCL_I64 = 4,
    NCCL_F16 = 6,
    NCCL_F32 = 7,
    NCCL_F64 = 8,
    NCCL_BF16 = 9
};

/* ncclRedOp_t */
enum { NCCL_SUM = 0, NCCL_PRODUCT = 1, NCCL_MAX = 2, NCCL_MIN = 3, NCCL_AVG = 4 };

/* The functions; all return a ncclResult_t. */
struct nccl_table {
#define SYMBOL(needed, member, symbol, parameters) int(*member) parameters;
#include "replay/backend/cuda/libraries/nccl.def"
#undef SYMBOL
    const char *(*error_text)(int result);
};

#endif
