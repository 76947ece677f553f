/* The profile that a process read or wrote (PGO): what automatic dynamic shapes had remembered, as
 * render_code_state() of torch/_dynamo/pgo.py prints it.
 *
 *     hash(52de9d0f)/home/user/train.py:6:rows:
 *       L['x']: tensor size=[?, 4] stride=[S(1), 1]
 *       L['k']: fully dynamic scalar or tensor
 *       L['n']: scalar 3
 */
#ifndef SYMTAPE_PROFILE_CALLS_DYNAMIC_PGO_PROFILE_H
#define SYMTAPE_PROFILE_CALLS_DYNAMIC_PGO_PROFILE_H

#include "profile/calls/dynamic/code_calls.h"

/* Reads the first profile that the process of a recording read into the `initial` states of the
 * code objects of `table`. Sets *found to whether there is one. Lines in another form are left out.
 * Returns false with err set when memory ran out or the tape could not be read. */
bool pgo_profile_read(struct calls_table *table, uint32_t recording, bool *found, struct err *err);

/* Reads one line of a code object, "L['x']: tensor size=[?, 4] stride=[S(1), 1]". Returns false
 * when memory ran out. */
bool pgo_line_read(struct str line, struct world *world, struct frame_state *state);

#endif
