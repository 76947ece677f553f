/* Values of operators and functions without a kernel: those of the calls that their rules make.
 *
 * A composite operator's rule calls what PyTorch's C++ calls, and a Python function's what Python
 * calls; each of these calls is run on the backend when it is made. A tensor that a rule makes by
 * other means has no values, which is an error. */
#ifndef SYMTAPE_REPLAY_BACKEND_RUN_NESTED_CALLS_H
#define SYMTAPE_REPLAY_BACKEND_RUN_NESTED_CALLS_H

#include "replay/backend/run/exec.h"

/* Returns whether the backend itself computes calls of that operator. */
bool nested_calls_has_kernel(struct exec *exec, const struct op *op);

/* Calls that a rule makes between begin and end are run. */
struct nested_calls {
    struct exec *exec;
    struct nested_observer observer;
    const struct nested_observer *before;
    bool within;
};
void nested_calls_begin(struct nested_calls *nested, struct exec *exec);
void nested_calls_end(struct nested_calls *nested);

/* Returns whether each tensor in the value was computed by a call or has no elements. */
bool nested_calls_computed(struct exec *exec, const struct value *v);
/* Allocates memory for empty tensors of the result. False, ERR_USAGE: no call computed a tensor of
 * the result, or it is memory that no call wrote, as the rule of a custom operator returns it; sets
 * backend->lacks_kernel. */
bool nested_calls_finish(struct exec *exec, struct str name, struct value result, struct err *err);

#endif
