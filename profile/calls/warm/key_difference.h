/* What differs between two values of a component of a cache key: the line of a graph, the field of
 * a tensor's meta, or the whole value. */
#ifndef SYMTAPE_PROFILE_CALLS_WARM_KEY_DIFFERENCE_H
#define SYMTAPE_PROFILE_CALLS_WARM_KEY_DIFFERENCE_H

#include "trace/base/str.h"

enum { DIFFERENCE_BYTES = 120 }; /* of a part, at most */

/* Sets the two texts, which differ, to the first part of each that differs: parts of the texts
 * themselves. Either is "" if the other one goes on. */
void key_difference_narrow(struct str *before, struct str *after);

#endif
