/* The sentence about PyTorch's times that are estimated. */
#ifndef SYMTAPE_PROFILE_REPORT_REPLAY_REPLAY_ESTIMATE_H
#define SYMTAPE_PROFILE_REPORT_REPLAY_REPLAY_ESTIMATE_H

#include "trace/base/buf.h"

/* Says what the times of dispatches are on a tape that is no deep recording: those of a release of
 * PyTorch (cost_model.h), with their error. */
void replay_estimate_text(int release, struct buf *out);

#endif
