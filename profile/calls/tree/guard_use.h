/* What the guards of a recording did for the calls of a program: which of them told calls apart,
 * what looking them up costs, and which of them can go.
 *
 * The look-ups are those of cache_run_make(). Their checks are made again, in the order that the
 * failures before them led to; the guards behind the first that fails are evaluated, too, for all
 * entries, so that a guard counts as telling calls apart even if another one fails first. Then the
 * checks are made once more without the guards that can go: each look-up must have the answer that
 * it had. A check that passes evaluates all guards; PyTorch may pass over those of a dict whose
 * version did not change. */
#ifndef SYMTAPE_PROFILE_CALLS_TREE_GUARD_USE_H
#define SYMTAPE_PROFILE_CALLS_TREE_GUARD_USE_H

#include "profile/calls/cache/cache_run.h"
#include "profile/calls/tree/guard_trees.h"

struct guard_use_options {
    bool arguments; /* guards on arguments that are no tensors can go, too */
};

/* Sets the counts, costs and removable owners of `trees`, which are those of one process, from the
 * look-ups of `run` over `log`. Returns false with err set when memory ran out. */
bool guard_use_make(struct guard_trees *trees, const struct cache_run *run, struct call_log *log,
                    const struct guard_use_options *options, struct err *err);

#endif
