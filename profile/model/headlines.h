/* What a profile comes down to, in sentences: the report's first lines, for somebody who has never
 * seen one. The most telling first; each stands for itself. */
#ifndef SYMTAPE_PROFILE_MODEL_HEADLINES_H
#define SYMTAPE_PROFILE_MODEL_HEADLINES_H

#include "profile/model/profile.h"

/* Calls `each` with every headline; its text lasts for the call. False when memory ran out. */
bool headlines(const struct profile *profile, void (*each)(void *user, struct str text),
               void *user);

/* Those of costs, for headlines(): appended, nothing where there is nothing to tell. */
void headline_dispatches(const struct profile *profile, struct buf *out);
void headline_spots(const struct profile *profile, struct buf *out);

#endif
