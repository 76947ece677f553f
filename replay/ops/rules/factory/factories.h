/* Functions that factories share. */
#ifndef SYMTAPE_REPLAY_OPS_RULES_FACTORY_FACTORIES_H
#define SYMTAPE_REPLAY_OPS_RULES_FACTORY_FACTORIES_H

#include "replay/ops/rules/view/views.h"

struct tensor_kind {
    enum dtype dtype;
    struct device device;
};

/* Returns the arguments dtype, layout and device, which begin at `at`. */
struct tensor_kind arg_kind(struct call *c, uint32_t at, enum dtype dtype, struct device device);
bool check_sizes(struct call *c, const sym_id *sizes,
                 uint32_t n); /* checks that none is negative */
struct tensor empty(struct call *c, struct tensor_kind kind, const sym_id *sizes, uint32_t n);
struct tensor empty_like(struct call *c, struct tensor x, struct tensor_kind kind,
                         enum memory_format format, bool reference);

#endif
