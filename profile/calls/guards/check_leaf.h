/* The leaves that are not conditions. Private to this room. Each returns whether the leaf passes,
 * and otherwise appends PyTorch's reason if it is given a buffer. */
#ifndef SYMTAPE_PROFILE_CALLS_GUARDS_CHECK_LEAF_H
#define SYMTAPE_PROFILE_CALLS_GUARDS_CHECK_LEAF_H

#include "profile/calls/guards/entry_guards.h"

/* Why a leaf fails, beside the verdict. */
struct leaf_failure {
    struct buf *reason;      /* NULL: only the verdict is asked for */
    struct dim_mismatch dim; /* of a TENSOR_MATCH that fails by a size or stride */
    bool no_memory;          /* the verdict does not count */
};

bool check_mode(const struct call_mode *then, const struct call_mode *now, struct buf *reason);
/* TORCH_FUNCTION_MODE_STACK, or DEFAULT_DEVICE, which is that of a mode. */
bool check_function_modes(const struct call_mode *then, const struct call_mode *now, bool device);
/* TENSOR_MATCH, check_verbose() of struct TensorCheck. `value` is known. */
bool check_tensor(const struct entry_guards *guards, const struct guard_leaf *leaf,
                  const struct py_value *value, const struct call_mode *mode,
                  struct leaf_failure *why);

#endif
