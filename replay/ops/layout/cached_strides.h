/* What PyTorch's cache has of empty_permuted(), by which references make their results
 * (_prim_elementwise_meta of torch/_prims). Its key is the dtype, the device, the permutation and
 * the sizes as they were passed, whose symbols may have been replaced since (SymNode._value_eq of
 * torch/fx/experimental/sym_node.py): the strides are those that were computed before. Max(1, s50)
 * is s50, but Max(1, s51*s81) of unspecified numbers is not s51*s81, so that strides of one size
 * may be written in two ways. */
#ifndef SYMTAPE_REPLAY_OPS_LAYOUT_CACHED_STRIDES_H
#define SYMTAPE_REPLAY_OPS_LAYOUT_CACHED_STRIDES_H

#include "replay/ops/dispatch/value.h"
#include "trace/base/hash_index.h"
#include "trace/base/vec.h"

struct cached_strides {
    vec_of(uint32_t)
    words; /* of each call: its key, then its strides */
    vec_of(uint32_t)
    calls; /* where each begins */
    struct hash_index index;
};

struct call;

/* permuted_strides(), or what they were in an earlier call with these arguments. */
void cached_permuted_strides(struct call *c, enum dtype dtype, struct device device,
                             const sym_id *sizes, uint32_t n, const uint32_t *perm,
                             sym_id *strides);

void cached_strides_clear(struct cached_strides *cached);
void cached_strides_release(struct cached_strides *cached);

#endif
