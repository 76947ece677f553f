/* Which look-ups of a call follow from which others of it: that of a frame that goes on after a
 * graph break from that of the frame that broke, that of a function that is called from that of the
 * called function. One that ran eagerly since a limit was reached has no frames that go on, and
 * what it calls may hit and not compile (FrameExecStrategy in torch/_dynamo/convert_frame.py). */
#ifndef SYMTAPE_PROFILE_CALLS_DYNAMIC_FRAME_NESTING_H
#define SYMTAPE_PROFILE_CALLS_DYNAMIC_FRAME_NESTING_H

#include "profile/calls/cache/cache_run.h"

struct frame_nesting {
    uint32_t *outer; /* by look-up: the one that it follows from; CALL_NONE: it is the call's own */
    bool *goes_on;   /* by look-up: of a frame that goes on after a graph break */
};

/* Returns false when memory ran out. */
bool frame_nesting_make(struct frame_nesting *nesting, const struct cache_run *run,
                        const struct call_log *log);
void frame_nesting_release(struct frame_nesting *nesting);

#endif
