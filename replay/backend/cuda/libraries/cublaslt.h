/* Matmuls by cuBLASLt.
 *
 * It supports f64, f32, f16 and bf16, with sums in f64 or f32, i8 with results of 32 bits, and
 * floats of eight bits with scales, one or one for each row; f32 uses TF32 inputs only if
 * backend->tf32 is set, which is off by default, as in PyTorch
 * (torch.backends.cuda.matmul.allow_tf32). Descriptors are stored: operations by dtype, transposes
 * and epilogue, layouts and algorithms by sizes, strides and alignment of pointers. plan_choice.h
 * describes the choice among the heuristic's algorithms. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_CUBLASLT_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_CUBLASLT_H

#include "replay/backend/cuda/libraries/product_problem.h"

struct cublaslt;

/* NULL: ERR_ENV, the library is not found, too old, switched off, or does not start. */
struct cublaslt *cublaslt_open(struct err *err);
void cublaslt_close(struct cublaslt *lt); /* NULL is fine */

/* Opens the library at the first call; false: it cannot be used. */
bool cublaslt_is_found(struct kernel *k);
/* Returns whether it is known that the library does not support this problem, or the call failed.
 * Makes the plan. */
bool cublaslt_refuses(struct kernel *k, const struct cuda_product *p);
/* False: it does not support this problem, or there is no memory for its workspace; nothing was
 * computed. */
bool cublaslt_multiply(struct kernel *k, const struct cuda_product *p);

#endif
