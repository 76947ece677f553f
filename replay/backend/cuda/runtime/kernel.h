/* What the CUDA backend's kernels are written with, besides replay/backend/call/kernel.h.
 *
 *     void cuda_softmax(struct kernel *k) replay/backend/cuda/kernels/reduce/softmax.c
 *     {
 *         struct softmax_args args = { .to = cuda_address(k, result(k, 0)), ... };
 *         struct cuda_function *f = cuda_function(k, "softmax", "softmax_block",
 *                                                 "#define T f32\n#define ACC f32\n");
 *         cuda_traffic(k, bytes, flops);
 *         cuda_launch(k, f, (struct cuda_grid){ rows, 1, 1, 256, 0 }, &args, sizeof args);
 *     }
 *
 * A family has two sides. NAME.c picks what facts of the real sizes ask for (index width, vector
 * width, strategy) and launches. device/NAME.cu is the text that NVRTC compiles at first use, in
 * the common subset of C and CUDA C with the words of replay/backend/cuda/device/prologue.h, so
 * that tests run the same text on the host; device/NAME.h is the struct of its arguments, which
 * both sides include. One text for all sizes: sizes and strides are arguments; dtypes are defines
 * (T, and ACC to compute in).
 *
 * Kernels are launched one after the other on one stream; nothing here waits. Failure is sticky:
 * what is asked for after it does nothing. A row that the table
 * (replay/backend/cuda/cuda_kernels.def) does not have, or whose function calls cuda_decline(), is
 * computed by the CPU backend on copies, and the log says so. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_RUNTIME_KERNEL_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_RUNTIME_KERNEL_H

#include "replay/backend/call/kernel.h"

struct cuda;          /* the open backend (replay/backend/cuda/runtime/cuda.h) */
struct cuda_function; /* a compiled kernel */

struct cuda *cuda_of(const struct kernel *k);

/* --- Memory --- */

/* Address of the tensor's first element (storage and offset); 0: it has no elements. */
uint64_t cuda_address(struct kernel *k, struct kernel_tensor x);
/* Until the call ends; aligned to 256 bytes; not zeroed. 0: failed. */
uint64_t cuda_workspace(struct kernel *k, size_t bytes);
/* Copies between the host and that memory; reading waits for the stream. */
bool cuda_upload(struct kernel *k, uint64_t to, const void *from, size_t bytes);
bool cuda_download(struct kernel *k, void *to, uint64_t from, size_t bytes);

/* --- Tensors as kernels see them --- */

enum { CUDA_MAX_DIM = 8 };

/* Sizes and strides in elements, dimensions of size 1 dropped and neighbours merged where they lie
 * one behind the other in each of the tensors. Tensors of more dimensions after that decline. */
struct cuda_layout {
    uint32_t ndim;
    int64_t size[CUDA_MAX_DIM];
    int64_t stride[4][CUDA_MAX_DIM]; /* of each tensor; 0 where it is broadcast */
    int64_t n;                       /* elements */
    bool wide;                       /* an offset in bytes is beyond 31 bits: 64-bit indices */
    uint32_t vector;                 /* 16, 8, 4 ... bytes that all can be read and written by */
};
/* Of up to 4 tensors, broadcast to the first one's sizes. */
bool cuda_layout_of(struct kernel *k, const struct kernel_tensor *x, uint32_t n,
                    struct cuda_layout *ret);
/* The tensor itself where its elements lie in order without gaps, otherwise a copy that does. */
uint64_t cuda_contiguous(struct kernel *k, struct kernel_tensor x);
/* Names of the text's types: "f32", "bf16" ...; what sums are kept in: "f32", "f64", "i64". NULL:
 * kernels do not take that dtype. */
const char *cuda_type(enum dtype dtype);
const char *cuda_sum_type(enum dtype dtype);

/* --- Text --- */

/* The kernel `name` of device/FILE.cu with `defines` in front; compiled at its first use in any
 * run, then from the cubin cache. NULL: failed. */
struct cuda_function *cuda_function(struct kernel *k, const char *file, const char *name,
                                    const char *defines);
/* Of generated text, behind the prologue. */
struct cuda_function *cuda_function_of_text(struct kernel *k, const char *name, struct str text);

/* --- Launches --- */

struct cuda_grid {
    uint32_t x, y, z; /* blocks */
    uint32_t threads; /* of a block */
    uint32_t shared;  /* bytes of dynamic shared memory */
};
/* args: copied. A grid without blocks launches nothing. */
void cuda_launch(struct kernel *k, struct cuda_function *f, struct cuda_grid grid, const void *args,
                 size_t bytes);
/* For the log: what the next launch reads, writes and computes. */
void cuda_traffic(struct kernel *k, uint64_t bytes, uint64_t flops);
/* For the log: the nodes that the next launch stands for, if not the call's own. Until it is
 * launched the array stays. */
void cuda_stands_for(struct kernel *k, const uint32_t *nodes, uint32_t n);
uint32_t cuda_multiprocessors(const struct kernel *k);
/* Indices of 64 bits are wanted whatever the sizes: $SYMTAPE_CUDA_WIDE. */
bool cuda_always_wide(const struct kernel *k);
/* Blocks for n pieces of work, `each` a block: at most what keeps the device busy; at least 1. */
uint32_t cuda_blocks(const struct kernel *k, int64_t n, int64_t each);

/* Where a kernel tells of an index out of range (REPORT() of the prologue): the call's node and the
 * index; found at the next wait or read. */
uint64_t cuda_error_word(struct kernel *k);

/* Not this case: the CPU computes it. Before anything was launched or written. */
void cuda_decline(struct kernel *k);

/* What libraries' routines are launched by: between the two, work goes onto *stream (a CUstream).
 */
void cuda_library_begin(struct kernel *k, const char *what, void **stream);
void cuda_library_end(struct kernel *k);

/* A pointwise operator as one of replay/backend/pointwise/pointwise_ops.h's rows, `to` being its
 * result: it joins those that wait, and is computed when anything else is launched, read or asked
 * for its address. */
void cuda_point_row(struct kernel *k, int row, struct kernel_tensor to);

/* All families. */
kernel_fn cuda_point; /* of the rows of pointwise.def */
#define CUDA_KERNEL(base, run, param) kernel_fn cuda_##run;
#include "replay/backend/cuda/cuda_kernels.def"
#undef CUDA_KERNEL

#endif
