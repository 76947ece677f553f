/* Where a replay says that PyTorch raises an error, for the files of prove/regions only.
 *
 * What a program does after a call that raises is not known, so that conditions which are asked
 * there do not count. Dynamo prints the sizes that a call specialized as numbers, in the arguments
 * of calls, too. If other sizes are replayed, such a number may be wrong: a refusal is certain only
 * if no number of the graph leads to it. */
#ifndef SYMTAPE_PROVE_REGIONS_REFUSAL_H
#define SYMTAPE_PROVE_REGIONS_REFUSAL_H

#include "replay/replay.h"
#include "trace/base/intern.h"
#include "trace/open.h"

struct refusal {
    const struct replay_difference *call; /* NULL: no call is refused */
    struct intern names;                  /* of the nodes of the call's graph, in their order */
    bool is_certain;                      /* for sizes that the graph has as numbers */
};

/* Finds the first call that the replay of an attempt refuses, of Dynamo's graph, or of others if it
 * has none. Fails when memory ran out; refusal_release() is required then, too. */
bool refusal_find(struct refusal *ret, struct trace *trace, const struct replay *replay,
                  uint32_t attempt, struct err *err);
/* Returns whether a guard is known to be asked after the refused call. */
bool refusal_is_after(const struct refusal *refusal, const struct replay_guard *guard);
void refusal_release(struct refusal *refusal);

#endif
