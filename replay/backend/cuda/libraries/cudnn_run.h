/* What cuDNN computes here: graphs of operations, whose plans are kept by their problems. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_CUDNN_RUN_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_CUDNN_RUN_H

#include "replay/backend/cuda/libraries/cudnn_graph.h"
#include "replay/backend/cuda/runtime/kernel.h"

/* Of which the problems are: of each one struct, compared by its bytes. */
enum cudnn_kind { CUDNN_CONVOLUTIONS, CUDNN_ATTENTIONS, CUDNN_KINDS };

enum { CUDNN_POINTERS_MOST = 16 };

struct cudnn_job {
    const char *name; /* for the log */
    enum cudnn_kind kind;
    const void *key;
    void (*describe)(struct cudnn_graph *g, const void *key);
    bool exact; /* f32 is f32 */
    int64_t n, ids[CUDNN_POINTERS_MOST];
    void *pointers[CUDNN_POINTERS_MOST]; /* of the device, or of numbers that go by value */
};

/* False: it does not take this one, and nothing was done. */
bool cudnn_run(struct kernel *k, const struct cudnn_job *job);
/* The same question, without doing it. */
bool cudnn_takes(struct kernel *k, const struct cudnn_job *job);

bool cudnn_type(enum dtype dtype, int32_t *ret);
int64_t cudnn_alignment(uint64_t address); /* bytes, as far as cuDNN cares */

#endif
