/* Writers of the times of a run on a backend (replay/backend/measure/timing.h). */
#ifndef SYMTAPE_PROFILE_REPORT_REPLAY_TIMING_REPORT_H
#define SYMTAPE_PROFILE_REPORT_REPLAY_TIMING_REPORT_H

#include "profile/report/report.h"
#include "replay/backend/measure/timing.h"
#include "trace/base/text/json_write.h"

/* Writes text: the wall time and how much of it the launches explain, then tables of operators and
 * of the nodes that own the memory at its peak. */
void timing_text(const struct timing *t, const char *backend, const struct report_options *how,
                 struct buf *out);
/* Writes text for a run that was not timed: calls, and the memory at its peak. */
void peak_text(const struct graph *graph, const struct peak *peak, const struct report_options *how,
               struct buf *out);

/* Writes the members "sizes", "wall_us" ... "operators" of the graph's object, which is open; see
 * symtape-replay(1). */
void timing_json(const struct timing *t, struct json_writer *w);
void sizes_json(const struct run_size *sizes, size_t n, struct json_writer *w);
void peak_json(const struct graph *graph, const struct peak *peak, struct json_writer *w);

#endif
