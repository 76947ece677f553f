/* EDIT_INLINE: replaces a call of a subgraph by the body of the subgraph. Private to the room. */
#ifndef SYMTAPE_MINIFY_EDIT_INLINE_H
#define SYMTAPE_MINIFY_EDIT_INLINE_H

#include "minify/candidate/candidate_data.h"

/* Returns the whole graph with the subgraph's body in place of the call; for cond(), the branch
 * that is taken when the condition holds. NULL with ERR_USAGE if the call has no body, or if its
 * operands do not match the body's inputs. */
struct candidate *inline_call(const struct candidate *whole, node_id call, struct err *why);

#endif
