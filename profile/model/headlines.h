/* The headlines of a profile: sentences about the whole of it, which stand below its diagnosis
 * (profile/diagnosis/diagnosis.h). Each can be read alone. */
#ifndef SYMTAPE_PROFILE_MODEL_HEADLINES_H
#define SYMTAPE_PROFILE_MODEL_HEADLINES_H

#include "profile/model/profile.h"

/* Calls `each` with every headline, whose text is valid during the call. Returns false when memory
 * ran out. */
bool headlines(const struct profile *profile, void (*each)(void *user, struct str text),
               void *user);

/* Append the headlines of costs for headlines(), or nothing if there is none. */
void headline_dispatches(const struct profile *profile, struct buf *out);
void headline_spots(const struct profile *profile, struct buf *out);

#endif
