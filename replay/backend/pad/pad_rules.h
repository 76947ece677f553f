/* The check of one call at two sizes, by the rows of pad_rules.def. */
#ifndef SYMTAPE_REPLAY_BACKEND_PAD_PAD_RULES_H
#define SYMTAPE_REPLAY_BACKEND_PAD_PAD_RULES_H

#include "replay/backend/call/kernel.h"
#include "trace/base/buf.h"
#include "trace/base/vec.h"

/* What is known of the values of a graph's tensors: by storage with padding, whether no element is
 * negative. */
struct pad_facts {
    vec_of(bool)
    not_negative;
};

/* A call without padding and with it. */
struct padded_call {
    struct kernel plain, padded;
    const struct pad_facts *facts;
};

/* Returns whether the elements of the results that exist without padding have the same values with
 * it, if those of the arguments have. False: the reason is appended. */
bool padded_call_keeps_rows(struct padded_call *c, struct buf *reason);
/* Adds what the call says of its results' values. False: out of memory. */
bool padded_call_note(struct padded_call *c, struct pad_facts *facts);

#endif
