/* Values of what has no kernel: of the calls that its rule makes.
 *
 * A composite operator's rule calls what PyTorch's C++ calls, and a Python function's what Python
 * calls; each of these is run on the backend as it is called. Nothing is taken for granted: where a
 * rule makes a tensor by no call that was run, there are no values, and that is an error. */
#ifndef SYMTAPE_REPLAY_BACKEND_RUN_NESTED_CALLS_H
#define SYMTAPE_REPLAY_BACKEND_RUN_NESTED_CALLS_H

#include "replay/backend/run/exec.h"

/* Does the backend compute calls of that operator by itself? */
bool nested_calls_has_kernel(struct exec *exec, const struct op *op);

/* Around a call of a rule: what it calls is run. */
struct nested_calls {
    struct exec *exec;
    struct nested_observer told;
    const struct nested_observer *before;
    bool within;
};
void nested_calls_begin(struct nested_calls *parts, struct exec *exec);
void nested_calls_end(struct nested_calls *parts);

/* Is each tensor in it one that a call has computed, or without elements? */
bool nested_calls_computed(struct exec *exec, const struct value *v);
/* False, ERR_USAGE: some tensor of the result is nobody's; backend->lacks_kernel. Empty ones get
 * their memory. */
bool nested_calls_finish(struct exec *exec, struct str name, struct value result, struct err *err);

#endif
