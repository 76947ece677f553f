/* What losses share. */
#ifndef SYMTAPE_REPLAY_OPS_RULES_LOSS_LOSSES_H
#define SYMTAPE_REPLAY_OPS_RULES_LOSS_LOSSES_H

#include "replay/ops/rules/compose.h"

enum { LOSS_NONE, LOSS_MEAN, LOSS_SUM }; /* at::Reduction */

struct tensor loss_reduced(struct call *c, struct tensor loss, int64_t reduction);
/* torch.where(condition, x, number) */
struct tensor where_number(struct call *c, struct tensor condition, struct tensor x, double other);

#endif
