/* Changes the hints of the inputs' symbols: sizes and strides that contain them follow. */
#ifndef SYMTAPE_REPLAY_ATTEMPT_CHANGES_HINTS_H
#define SYMTAPE_REPLAY_ATTEMPT_CHANGES_HINTS_H

#include "replay/attempt/changes/change.h"
#include "replay/attempt/replay_state.h"

/* *found counts the sets whose symbols the attempt has. */
bool inputs_set_hints(struct inputs *inputs, const struct input_set *sets, size_t n, size_t *found,
                      struct err *err);

#endif
