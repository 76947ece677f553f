/* (left * right).sum(dims) as a batched matmul, of which einsum, bilinear and _trilinear are
 * composed. */
#ifndef SYMTAPE_REPLAY_OPS_RULES_LINALG_SUMPRODUCT_H
#define SYMTAPE_REPLAY_OPS_RULES_LINALG_SUMPRODUCT_H

#include "replay/ops/rules/compose.h"

/* sumproduct_pair of aten/src/ATen/native/Linear.cpp with keepdim. If sum[i] is set, dimension i
 * is summed. */
struct tensor sumproduct_pair(struct call *c, struct tensor left, struct tensor right,
                              const bool *sum);

#endif
