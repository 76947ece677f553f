/* The part of cuBLASLt that is used, declared here so that the build needs no headers of it; a test
 * compares it with the headers if there are some. The numbers are those of cublasLt.h, cublas_api.h
 * and library_types.h, which CUDA 12 and 13 share. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_CUBLASLT_ABI_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_CUBLASLT_ABI_H

#include <stddef.h>
#include <stdint.h>

/* cublasStatus_t */
enum {
    CUBLAS_OK = 0,
    CUBLAS_NOT_INITIALIZED = 1,
    CUBLAS_ALLOC_FAILED = 3,
    CUBLAS_INVALID_VALUE = 7,
    CUBLAS_ARCH_MISMATCH = 8,
    CUBLAS_EXECUTION_FAILED = 13,
    CUBLAS_INTERNAL_ERROR = 14,
    CUBLAS_NOT_SUPPORTED = 15
};

/* cudaDataType */
enum {
    CUBLAS_F32 = 0,
    CUBLAS_F64 = 1,
    CUBLAS_F16 = 2,
    CUBLAS_I8 = 3,
    CUBLAS_I32 = 10,
    CUBLAS_BF16 = 14,
    CUBLAS_F8E4M3 = 28,
    CUBLAS_F8E5M2 = 29
};
/* cublasComputeType_t: the first two do not convert f32 to TF32 */
enum {
    CUBLAS_COMPUTE_F32 = 68,
    CUBLAS_COMPUTE_F64 = 70,
    CUBLAS_COMPUTE_I32 = 72,
    CUBLAS_COMPUTE_TF32 = 77
};
/* cublasOperation_t */
enum { CUBLAS_AS_IS = 0, CUBLAS_TURNED = 1 };
/* cublasLtMatrixLayoutAttribute_t */
enum { LAYOUT_BATCH_COUNT = 5, LAYOUT_BATCH_STRIDE = 6 };
/* cublasLtMatmulDescAttributes_t */
enum {
    MATMUL_TURN_A = 3,
    MATMUL_TURN_B = 4,
    MATMUL_EPILOGUE = 7,
    MATMUL_BIAS = 8,
    MATMUL_SCALE_A = 17, /* pointers */
    MATMUL_SCALE_B = 18,
    MATMUL_FAST_SUMS = 25, /* of one byte */
    MATMUL_BIAS_TYPE = 26,
    MATMUL_SCALE_MODE_A = 31, /* from cuBLAS 12.8 on */
    MATMUL_SCALE_MODE_B = 32
};
/* cublasLtMatmulMatrixScale_t: one, or one for each row of the result */
enum { SCALE_ONE = 0, SCALE_EACH = 3 };
/* cublasLtEpilogue_t */
enum { EPILOGUE_NONE = 1, EPILOGUE_BIAS = 4 };
/* cublasLtMatmulPreferenceAttributes_t */
enum { PREFERENCE_WORKSPACE = 1, PREFERENCE_ALIGNMENT_A = 5 /* and those of B, C, D */ };

/* cublasLtMatmulAlgo_t, cublasLtMatmulHeuristicResult_t */
struct cublaslt_algorithm {
    uint64_t data[8];
};
struct cublaslt_choice {
    struct cublaslt_algorithm algorithm;
    size_t workspace;
    int status;
    float waves;
    int reserved[4];
};

struct cublaslt_table {
#define SYMBOL(needed, member, symbol, parameters) int(*member) parameters;
#include "replay/backend/cuda/libraries/cublaslt.def"
#undef SYMBOL
};

#endif
