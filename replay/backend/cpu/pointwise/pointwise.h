/* Runs a row of replay/backend/pointwise/pointwise.def on the CPU, for kernels that use one. */
#ifndef SYMTAPE_REPLAY_BACKEND_CPU_POINTWISE_POINTWISE_H
#define SYMTAPE_REPLAY_BACKEND_CPU_POINTWISE_POINTWISE_H

#include "replay/backend/cpu/kernel.h"
#include "replay/backend/pointwise/pointwise_ops.h"

/* Runs the call as if its row were that one, and its result `to`. */
void run_point(struct kernel *k, int number, struct kernel_tensor to);

#endif
