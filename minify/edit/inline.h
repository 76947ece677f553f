/* EDIT_INLINE: what a subgraph holds in the place of its call. Private to the room. */
#ifndef SYMTAPE_MINIFY_EDIT_INLINE_H
#define SYMTAPE_MINIFY_EDIT_INLINE_H

#include "minify/candidate/candidate_data.h"

/* The whole with the call's body in its place; of cond() the branch that is taken when it holds.
 * NULL: ERR_USAGE where the call has no body, or other operands than it. */
struct candidate *inline_call(const struct candidate *whole, node_id call, struct err *why);

#endif
