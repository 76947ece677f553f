/* Ablations: switches of what PyTorch's dispatcher does, for counting what a change to it would
 * save. ablations.def lists them with what each changes. A switch is on for one operator or for
 * all. */
#ifndef SYMTAPE_REPLAY_OPS_DISPATCH_ABLATIONS_H
#define SYMTAPE_REPLAY_OPS_DISPATCH_ABLATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/str.h"

struct ops;
struct op;

enum ablation {
#define ABLATION(id, name, operator_, changes) ABLATION_##id,
#include "replay/ops/dispatch/ablations.def"
#undef ABLATION
    ABLATIONS
};
_Static_assert(ABLATIONS <= 32, "an ablation is a bit of a uint32_t");

enum ablation_operator { NO_OPERATOR, ANY_OPERATOR, ONE_OPERATOR };

struct ablation_row {
    const char *name, *changes;
    enum ablation_operator operator_;
};

const struct ablation_row *ablation_row(enum ablation ablation);
/* False: there is none of that name. */
bool ablation_by_name(struct str name, enum ablation *ret);

/* Switches an ablation, for one operator or (NULL) for all. Off at first. False: out of memory. */
bool ops_ablate(struct ops *ops, enum ablation ablation, const struct op *op, bool on);
/* Returns whether it is on for all operators. */
bool ops_is_ablated(const struct ops *ops, enum ablation ablation);
/* Returns whether it is on for this operator alone. */
bool op_is_ablated(const struct op *op, enum ablation ablation);

#endif
