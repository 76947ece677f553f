/* What a profile comes down to, in sentences: the report's first lines, for somebody who has never
 * seen one. The most telling first; each stands for itself. */
#ifndef SYMTAPE_PROFILE_HEADLINES_H
#define SYMTAPE_PROFILE_HEADLINES_H

#include "profile/profile.h"

/* Calls `each` with every headline; its text lasts for the call. False when memory ran out. */
bool headlines(const struct profile *profile, void (*each)(void *user, struct str text),
               void *user);

#endif
