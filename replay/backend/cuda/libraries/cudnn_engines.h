/* What cuDNN's heuristics offer for a graph of operations: engines, of which some suit, as plans.
 */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_CUDNN_ENGINES_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_CUDNN_ENGINES_H

#include <stdbool.h>

#include "replay/backend/cuda/libraries/cudnn_abi.h"

enum { CUDNN_MOST_PLANS = 8 };

/* What an engine must hold to. None may give other bits each time, or round sums or factors to
 * less than their dtype (torch's filterEngineConfigs in aten/src/ATen/native/cudnn/Conv_v8.cpp lets
 * TF32 through as engines of tensor cores, and those that convert down not even then). */
struct cudnn_rule {
    bool exact;   /* no tensor cores, whose f32 is TF32; no Winograd of large tiles, which loses
                     digits */
    int64_t most; /* bytes of workspace */
};

/* For whom plans are made: a handle's device, or one that a descriptor tells of
 * (CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR), which needs not be here. */
struct cudnn_target {
    void *handle, *device;
};

struct cudnn_plan {
    void *plan;
    int64_t workspace;
    uint64_t id;    /* the same for the same configuration in another process; never 0 */
    int32_t engine; /* its number */
    uint32_t notes; /* bits of cudnnBackendNumericalNote_t */
};

/* Plans of the first `most` that suit: those of the best heuristic, of the slower one, of the one
 * to fall back on, and, if more than one is wanted, of whatever engines there are besides (on an
 * H200 the heuristics offer f32 little but TF32). only: of that id alone; 0: of any. 0 plans:
 * *status is the last answer. The caller drops them. */
uint32_t cudnn_plans(const struct cudnn_table *t, const struct cudnn_target *target, void *graph,
                     const struct cudnn_rule *rule, uint64_t only, struct cudnn_plan *ret,
                     uint32_t most, int *status);

#endif
