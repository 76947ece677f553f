/* Samples of an array that is too large to be saved: every step-th element, and a hash of the
 * whole. A file contains them as three arrays, NAME#samples, NAME#layout (the step, then the sizes)
 * and NAME#hash. */
#ifndef SYMTAPE_REPLAY_BACKEND_VALUES_SAMPLES_H
#define SYMTAPE_REPLAY_BACKEND_VALUES_SAMPLES_H

#include "replay/backend/values/value_file.h"
#include "trace/base/arena.h"

/* Copies every step-th element, in contiguous order from the first, to memory of the arena. */
bool samples_take(const struct array *whole, int64_t step, struct arena *arena, struct array *ret,
                  struct err *err);
int64_t samples_step(const struct array *whole,
                     uint64_t most); /* 1: the whole array has at most `most` elements */

/* Adds the whole array if it has at most `most` elements (0: always), otherwise the three
 * arrays. */
bool samples_add(struct value_file *file, struct str name, const struct array *whole, uint64_t most,
                 struct arena *arena, struct err *err);
/* Returns the step of `layout` if it belongs to an array of that shape, otherwise 0. */
int64_t samples_layout_step(const struct array *layout, const struct array *whole);
uint64_t samples_hash(const struct array *whole);

#endif
