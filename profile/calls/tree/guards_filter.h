/* Which guards a guard_filter_fn of torch.compile can remove. */
#ifndef SYMTAPE_PROFILE_CALLS_TREE_GUARDS_FILTER_H
#define SYMTAPE_PROFILE_CALLS_TREE_GUARDS_FILTER_H

#include "profile/calls/tree/guard_trees.h"

/* Decides which owners can be removed, of which the status says which of them told calls apart, and
 * chooses names that stand for all of them: "L['self']._modules" for what is below it, if none of
 * that must stay. Guards on the process, on sizes and on tensors that are no parameters always
 * stay, and so do those on arguments, unless `arguments` is set. Returns false with err set when
 * memory ran out. */
bool guards_filter_choose(struct guard_trees *trees, bool arguments, struct err *err);

/* Returns whether the calls decide which guards can go: they made checks, and the tape has the
 * compile of each of their look-ups. If not, no guard can go. */
bool guards_filter_is_known(const struct guard_trees *trees);
/* Appends why they do not. */
void guards_filter_put_unknown(const struct guard_trees *trees, struct buf *out);
/* Returns whether each look-up of the calls has the answer that it had without those guards. */
bool guards_filter_is_proved(const struct guard_trees *trees);

/* Returns whether the filter removes the guards that have this owner. */
bool guards_filter_removes(const struct guard_trees *trees, struct str owner);

/* Appends the function as Python, to be pasted. */
void guards_filter_python(const struct guard_trees *trees, struct buf *out);

#endif
