/* Products of matrices by cuBLASLt.
 *
 * f64, f32, f16 and bf16, summed in f64 or f32; f32 is not rounded to TF32 unless the backend is
 * told to (backend->tf32), which is PyTorch's default, too (torch.backends.cuda.matmul.allow_tf32).
 * What it is asked for again and again is kept: an operation by its dtype, transposes and epilogue,
 * layouts and the algorithm by sizes, strides and how pointers are aligned; among those that the
 * heuristic offers, plan_choice.h tells how one is taken. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_CUBLASLT_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_CUBLASLT_H

#include "replay/backend/cuda/libraries/product_problem.h"

struct cublaslt;

/* NULL: ERR_ENV, it is not there, too old, switched off, or does not start. */
struct cublaslt *cublaslt_open(struct err *err);
void cublaslt_close(struct cublaslt *lt); /* NULL is fine */

/* False: it does not take this one, and nothing was computed. */
bool cublaslt_multiply(struct kernel *k, const struct cuda_product *p);

#endif
