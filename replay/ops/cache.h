/* Answers to calls that were seen: by operator and arguments, tensors by interned meta and by which
 * of them share a storage (torch/_subclasses/fake_tensor.py, FakeTensorMode._cached_dispatch_impl).
 * An entry is a template of the result: fresh storages, aliases of arguments, numbers. */
#ifndef SYMTAPE_REPLAY_OPS_CACHE_H
#define SYMTAPE_REPLAY_OPS_CACHE_H

#include "replay/ops/context.h"

struct op_cache *op_cache_new(void);
void op_cache_free(struct op_cache *cache);
void op_cache_clear(struct op_cache *cache);

#endif
