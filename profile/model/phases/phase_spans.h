/* Pairs the begins and ends that PyTorch logged into phases. Private to the profile room. */
#ifndef SYMTAPE_PROFILE_MODEL_PHASES_PHASE_SPANS_H
#define SYMTAPE_PROFILE_MODEL_PHASES_PHASE_SPANS_H

#include "profile/model/build.h"

/* Appends the phases of all inputs to b->spans, in the order that profile/model/profile.h promises,
 * and counts what could not be paired in b->profile.phases.
 *
 * An end belongs to the latest open begin of its name on its thread; if threads share a number (an
 * older PyTorch wrote 0 for all of them), the compile id separates them. Begins and ends that the
 * log has in the wrong order are paired by their times afterwards. A phase that still has no end
 * gets that of its parent, or of the log. */
bool phase_spans_read(struct profile_build *b, struct err *err);

#endif
