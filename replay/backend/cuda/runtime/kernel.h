/* The functions that kernels of the CUDA backend use, besides replay/backend/call/kernel.h.
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
 * A family has two parts. kernels/FAMILY/NAME.c chooses a kernel and its defines by the sizes of
 * the call (width of indices, width of loads, one block or many for a row) and launches it.
 * device/FAMILY/NAME.cu is the text that NVRTC compiles at first use. It is written in the common
 * subset of C and CUDA C with the macros of replay/backend/cuda/device/prologue.h, so that tests
 * run the same text on the host; device/FAMILY/NAME.h declares the struct of its arguments, which
 * both parts include. Sizes and strides are arguments, so that one text serves all sizes; dtypes
 * are defines (T, and ACC for the type of sums).
 *
 * Kernels are launched one after the other on one stream, and nothing here waits for them. Failure
 * is sticky: functions called after it do nothing. An operator without a row in the table
 * (replay/backend/cuda/cuda_kernels.def), or whose function calls cuda_decline(), is computed by
 * the CPU backend on copies, and the log contains that. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_RUNTIME_KERNEL_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_RUNTIME_KERNEL_H

#include "replay/backend/call/kernel.h"

struct cuda;          /* the open backend (replay/backend/cuda/runtime/cuda.h) */
struct cuda_function; /* a compiled kernel */

struct cuda *cuda_of(const struct kernel *k);

/* --- Memory --- */

/* Returns the address of the tensor's first element (storage and offset); 0: it has no elements. */
uint64_t cuda_address(struct kernel *k, struct kernel_tensor x);
/* Allocates device memory until the call ends, aligned to 256 bytes, not zeroed. 0: failed. */
uint64_t cuda_workspace(struct kernel *k, size_t bytes);
/* The same for a workspace that the call can do without. 0: there is no memory for it, which fails
 * the call only if the device is lost. */
uint64_t cuda_workspace_optional(struct kernel *k, size_t bytes);
/* Returns the number of workspaces that are taken; gives back all but the first n. What was
 * launched may still use them. */
size_t cuda_workspaces(const struct kernel *k);
void cuda_workspaces_give_back(struct kernel *k, size_t n);
/* Copy between the host and a workspace; reading waits for the stream. */
bool cuda_upload(struct kernel *k, uint64_t to, const void *from, size_t bytes);
bool cuda_download(struct kernel *k, void *to, uint64_t from, size_t bytes);

/* --- Layouts of tensors --- */

enum { CUDA_MAX_DIM = 8 };

/* Sizes and strides in elements. Dimensions of size 1 are dropped, and neighbours are merged if
 * they are contiguous in each tensor. Tensors with more dimensions after that decline. */
struct cuda_layout {
    uint32_t ndim;
    int64_t size[CUDA_MAX_DIM];
    int64_t stride[4][CUDA_MAX_DIM]; /* of each tensor; 0 if it is broadcast */
    int64_t n;                       /* elements */
    bool wide;       /* an offset in bytes needs more than 31 bits: 64-bit indices */
    uint32_t vector; /* 16, 8, 4 ... bytes that all tensors can be read and written by */
};
/* Computes the layout of up to 4 tensors, broadcast to the sizes of the first one. */
bool cuda_layout_of(struct kernel *k, const struct kernel_tensor *x, uint32_t n,
                    struct cuda_layout *ret);
/* Returns whether the elements are contiguous; false as well if it failed or declined. */
bool cuda_is_contiguous(struct kernel *k, struct kernel_tensor x);
/* Returns the address of the tensor if it is contiguous, or else of a contiguous copy. */
uint64_t cuda_contiguous(struct kernel *k, struct kernel_tensor x);
/* Return the names of types in texts: "f32", "bf16" ..., and of the type of sums: "f32", "f64",
 * "i64". NULL: kernels do not support the dtype. */
const char *cuda_type(enum dtype dtype);
const char *cuda_sum_type(enum dtype dtype);

/* --- Functions --- */

/* Returns the kernel `name` of device/FILE.cu with `defines` before it. It is compiled at its first
 * use in any run and then read from the cubin cache. Where calls do not wait for that (struct
 * backend's `repeats`), it may be one that cannot be launched. NULL: failed. */
struct cuda_function *cuda_function(struct kernel *k, const char *file, const char *name,
                                    const char *defines);
/* Returns whether this was not asked before, for what is done once for each function. */
bool cuda_function_first_use(struct cuda_function *f);
/* Does the same as cuda_function() for a generated text, which follows the prologue. */
struct cuda_function *cuda_function_of_text(struct kernel *k, const char *name, struct str text);
/* Later calls, of other sizes, may need this kernel, too: it is compiled between runs
 * (backend_kind's `refine`). */
void cuda_function_later(struct kernel *k, const char *file, const char *name, const char *defines);

/* --- Launches --- */

struct cuda_grid {
    uint32_t x, y, z; /* blocks */
    uint32_t threads; /* per block */
    uint32_t shared;  /* bytes of dynamic shared memory */
};
/* Launches the kernel; args are copied. A grid without blocks launches nothing. */
void cuda_launch(struct kernel *k, struct cuda_function *f, struct cuda_grid grid, const void *args,
                 size_t bytes);
/* A size that the device knows (struct kernel_extent), as a limit of a kernel's loop. */
struct cuda_live {
    uint64_t at; /* i64; 0: the size is a number */
    int64_t times;
};
/* Returns the limit of a loop over the tensor's elements, `each` for an element of the dimension
 * with such a size; without one, or if other dimensions are outside of it, there is no limit. */
struct cuda_live cuda_live_of(struct kernel *k, struct kernel_tensor x, int64_t each);
/* Returns whether the dimension with such a size is the first one, in order and in memory. */
bool cuda_extent_leads(struct kernel_tensor x);
/* Does cuda_function() and cuda_launch(); `field`, such as n, of the struct of arguments is at most
 * the limit, if there is one. */
void cuda_launch_live(struct kernel *k, const char *file, const char *name, const char *defines,
                      struct cuda_grid grid, const void *args, size_t bytes, const char *field,
                      struct cuda_live live);
/* Sets the bytes and operations of the next launch, for the log. */
void cuda_traffic(struct kernel *k, uint64_t bytes, uint64_t flops);
/* Sets the nodes that the next launch computes, if they are not the call's own, for the log. The
 * array must stay until the launch. */
void cuda_stands_for(struct kernel *k, const uint32_t *nodes, uint32_t n);
uint32_t cuda_multiprocessors(const struct kernel *k);
/* Returns whether indices of 64 bits are requested for all sizes: $SYMTAPE_CUDA_WIDE. */
bool cuda_always_wide(const struct kernel *k);
/* Returns the number of blocks for n pieces of work, `each` per block: at least 1, and at most as
 * many as keep the device busy. */
uint32_t cuda_blocks(const struct kernel *k, int64_t n, int64_t each);

/* Returns the address at which a kernel reports an index out of range (REPORT() of the prologue).
 * The next wait or read fails with the call's node and the index. */
uint64_t cuda_error_word(struct kernel *k);

/* Lets the CPU compute this call. It must be called before anything is launched or written. */
void cuda_decline(struct kernel *k);

/* Enclose routines of libraries, which launch work on *stream (a CUstream). False: nothing may be
 * launched. */
bool cuda_library_begin(struct kernel *k, const char *what, void **stream);
void cuda_library_end(struct kernel *k);
/* In place of cuda_library_end(): the library does not support the problem, and launched nothing.
 * The launch is not in the log. */
void cuda_library_refused(struct kernel *k);

/* Runs a row of replay/backend/pointwise/pointwise_ops.h, whose result is `to`. It joins the
 * pending pointwise calls and is computed when anything else is launched or read, or when its
 * address is requested. */
void cuda_point_row(struct kernel *k, int row, struct kernel_tensor to);
/* Does the same with `values`, views for example, in place of the arguments that the row names. */
void cuda_point_values(struct kernel *k, int row, struct kernel_tensor to,
                       const struct kernel_value *values);

/* All kernels. */
kernel_fn cuda_point; /* for the rows of pointwise.def */
#define CUDA_KERNEL(base, run, param) kernel_fn cuda_##run;
#include "replay/backend/cuda/cuda_kernels.def"
#undef CUDA_KERNEL

#endif
