/* (left * right).sum(dims) as a batch product: what einsum, bilinear and _trilinear are made of. */
#ifndef SYMTAPE_REPLAY_OPS_RULES_LINALG_SUMPRODUCT_H
#define SYMTAPE_REPLAY_OPS_RULES_LINALG_SUMPRODUCT_H

#include "replay/ops/rules/compose.h"

/* sumproduct_pair of aten/src/ATen/native/Linear.cpp, keepdim. sum[i]: dimension i is summed. */
struct tensor sumproduct_pair(struct call *c, struct tensor left, struct tensor right,
                              const bool *sum);

#endif
