/* Calls in which a size grows until a condition on sizes holds, as padding makes it grow. */
#ifndef SYMTAPE_PROFILE_ADVICE_PADDED_CALLS_H
#define SYMTAPE_PROFILE_ADVICE_PADDED_CALLS_H

#include "profile/advice/held_calls.h"

/* Of the sizes that a condition names, the one grows that needs the least; a call in which no size
 * alone makes it hold stays as it is. Returns false when memory ran out. */
bool padded_calls_make(struct held_calls *held, struct call_log *log, const struct call_hold *hold);
/* Returns whether a text names sizes as padded_calls_make() reads them. */
bool padded_condition_is_read(struct str condition);

#endif
