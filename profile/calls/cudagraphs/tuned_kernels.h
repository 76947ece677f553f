/* Private to this room: which Triton kernels PyTorch tuned when they ran first, and the buffer that
 * it takes for that, which flushes the L2 cache (CachingAutotuner.benchmark_all_configs() in
 * torch/_inductor/runtime/triton_heuristics.py, which logs it; InductorBenchmarker.benchmark_gpu()
 * in torch/_inductor/runtime/benchmarking.py). A kernel with one configuration is not tuned. */
#ifndef SYMTAPE_PROFILE_CALLS_CUDAGRAPHS_TUNED_KERNELS_H
#define SYMTAPE_PROFILE_CALLS_CUDAGRAPHS_TUNED_KERNELS_H

#include "trace/base/buf.h"
#include "trace/base/intern.h"
#include "trace/events/chromium.h"

struct tuned_kernels {
    struct intern keys; /* compile, direction, kernel */
    vec_of(uint32_t)
    left;                   /* by key: how often it was tuned, less those that are taken */
    struct intern launched; /* keys of kernels that ran, with their graphs */
    struct buf key;
    uint64_t flush_bytes; /* the size of the L2 cache; 0: not known */
};

/* Takes an event that PyTorch logged. Returns false when memory ran out. */
bool tuned_kernels_add(struct tuned_kernels *tuned, const struct chromium_event *event);
/* Looks for the GPU's name among the records of an attempt. Returns false with err set when the
 * tape could not be read. */
bool tuned_kernels_read_device(struct tuned_kernels *tuned, struct trace *trace, uint32_t attempt,
                               struct err *err);
/* Sets *ret to whether a kernel is tuned as it runs: it was, and ran in this graph not before.
 * Returns false when memory ran out. */
bool tuned_kernels_take(struct tuned_kernels *tuned, struct str compile, bool backward,
                        uint32_t graph, struct str kernel, bool *ret);
void tuned_kernels_release(struct tuned_kernels *tuned);

#endif
