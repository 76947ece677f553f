/* The engines that cuDNN's heuristics propose for a graph of operations, and plans of those that
 * are acceptable. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_CUDNN_ENGINES_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_CUDNN_ENGINES_H

#include <stdbool.h>

#include "replay/backend/cuda/libraries/cudnn_abi.h"

enum { CUDNN_MOST_PLANS = 8 };

/* The requirements on an engine. It must be deterministic and must not round sums or factors to
 * less than their dtype (torch's filterEngineConfigs in aten/src/ATen/native/cudnn/Conv_v8.cpp
 * accepts TF32 as engines with tensor cores, but none that convert down). */
struct cudnn_rule {
    bool exact;   /* no tensor cores, whose f32 is TF32; no Winograd with large tiles, which loses
                     digits */
    int64_t most; /* bytes of workspace */
    uint64_t not_offered; /* bits: engines that are left out of what the heuristics propose */
};

/* The device of the plans: that of a handle, or one described by
 * CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, which need not be present. */
struct cudnn_target {
    void *handle, *device;
};

enum { CUDNN_MOST_KNOBS = 24 };

/* An engine and its settings, of which a plan can be made without a heuristic, also for a graph
 * with other sizes. */
struct cudnn_recipe {
    int64_t engine, n; /* the engine's number; n -1: its settings cannot be repeated */
    struct {
        int64_t type, value;
    } knobs[CUDNN_MOST_KNOBS];
};

struct cudnn_plan {
    void *plan;
    int64_t workspace;
    double make_us;
    uint32_t notes; /* bits of cudnnBackendNumericalNote_t */
    struct cudnn_recipe recipe;
};

/* Makes plans of the first `most` acceptable engines: those of the best heuristic, of the slower
 * one, of the fallback, and, if more than one is wanted, of all other engines (on an H200 the
 * heuristics propose little but TF32 for f32). If it returns 0, *status is the last status. The
 * caller drops the plans. */
uint32_t cudnn_plans(const struct cudnn_table *t, const struct cudnn_target *target, void *graph,
                     const struct cudnn_rule *rule, struct cudnn_plan *ret, uint32_t most,
                     int *status);

/* Makes the plan of a recipe. False: this graph has none, or it is not acceptable. */
bool cudnn_plan_again(const struct cudnn_table *t, const struct cudnn_target *target, void *graph,
                      const struct cudnn_rule *rule, const struct cudnn_recipe *recipe,
                      struct cudnn_plan *ret);

#endif
