/* Whether a graph computes the same at padded sizes: at larger ones, of whose results the first
 * rows are used.
 *
 * A tensor at the padded sizes is right if those of its elements that exist without padding have
 * the values that they have without padding. Inputs are right, as their rows are only followed by
 * more. A call whose arguments are right has right results if its operator keeps rows apart
 * (pad_rules.def). pad_check() makes the calls of the graph at both sizes on the null backend,
 * which computes nothing, and checks each pair of calls by their sizes and numbers. */
#ifndef SYMTAPE_REPLAY_BACKEND_PAD_PADDING_H
#define SYMTAPE_REPLAY_BACKEND_PAD_PADDING_H

#include "replay/backend/run/run.h"

struct pad_verdict {
    bool allowed;
    bool mixes;        /* a call mixes rows; otherwise a condition of the graph forbids the sizes */
    node_id node;      /* of the first call that mixes rows; NODE_NONE: the graph as a whole */
    struct str reason; /* in the arena; "" if it is allowed */
};

/* options->sizes are the sizes without padding, and `padded` those with it, of the same n symbols.
 * A guard that does not hold at the padded sizes does not allow them. False: ERR_ENV, or the graph
 * does not run at the sizes without padding. */
bool pad_check(const struct graph *graph, const struct run_options *options,
               const struct run_size *padded, struct arena *arena, struct pad_verdict *ret,
               struct err *err);

#endif
