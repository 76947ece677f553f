/* The names of PyTorch's counts to which rules and rows contribute: counters of the fast path of
 * binary operators, and the reasons for which FakeTensorMode's operator cache bypasses a call. */
#ifndef SYMTAPE_REPLAY_OPS_DISPATCH_COUNTERS_H
#define SYMTAPE_REPLAY_OPS_DISPATCH_COUNTERS_H

enum op_counter {
#define OP_COUNTER(id, name) OP_COUNTER_##id,
#include "replay/ops/dispatch/op_counters.def"
#undef OP_COUNTER
    OP_COUNTERS
};

/* _validate_cache_key and _validate_cache_entry of torch/_subclasses/fake_tensor.py. */
enum op_bypass {
#define OP_BYPASS(id, reason) OP_BYPASS_##id,
#include "replay/ops/dispatch/op_bypass.def"
#undef OP_BYPASS
    OP_BYPASSES
};

#endif
