/* Runs graphs of cuDNN operations, whose plans are stored by their problems. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_CUDNN_RUN_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_CUDNN_RUN_H

#include "replay/backend/cuda/libraries/cudnn_convolution.h"
#include "replay/backend/cuda/runtime/kernel.h"

/* The kinds of problems; each has one struct, compared by its bytes. */
enum cudnn_kind { CUDNN_CONVOLUTIONS, CUDNN_ATTENTIONS, CUDNN_KINDS };

enum { CUDNN_POINTERS_MOST = 16 };

struct cudnn_job {
    const char *name; /* for the log */
    enum cudnn_kind kind;
    const void *key;
    /* The key with ranges for sizes (plan_choice.h): its own, and those that are near; NULL: none
     */
    const void *class, *near[2];
    void (*describe)(struct cudnn_graph *g, const void *key);
    bool exact; /* f32 does not use TF32 inputs */
    int64_t n, ids[CUDNN_POINTERS_MOST];
    void *pointers[CUDNN_POINTERS_MOST]; /* to device memory, or to numbers that are passed by value
                                          */
};

/* A convolution as a job without pointers, whose keys it contains. */
struct cudnn_convolution_job {
    struct cudnn_convolution key, class, less, more;
    struct cudnn_job job;
};
void cudnn_convolution_job(const struct cudnn_convolution *key, struct cudnn_convolution_job *ret);
struct cudnn_attention;
/* The job of an attention, which points to its key, without name and pointers. */
struct cudnn_job cudnn_attention_job(const struct cudnn_attention *key);

/* False: it does not support this problem, and nothing was done. */
bool cudnn_run(struct kernel *k, const struct cudnn_job *job);
/* Returns whether cudnn_run() would support it. Attention is not supported until refine() where
 * backend->puts_off is set, since the library compiles its plans at each size, 40 ms on an H200. */
bool cudnn_takes(struct kernel *k, const struct cudnn_job *job);

bool cudnn_type(enum dtype dtype, int32_t *ret);
int64_t cudnn_alignment(uint64_t address); /* in bytes, up to the largest that cuDNN uses */

#endif
