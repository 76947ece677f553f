/* The same inputs under other hints: sizes and strides follow from the symbols that they are made
 * of. */
#ifndef SYMTAPE_REPLAY_ATTEMPT_HINTS_H
#define SYMTAPE_REPLAY_ATTEMPT_HINTS_H

#include "replay/attempt/change.h"
#include "replay/attempt/replay_state.h"

/* *found counts the symbols that the attempt has. */
bool inputs_set_hints(struct inputs *inputs, const struct input_set *sets, size_t n, size_t *found,
                      struct err *err);

#endif
