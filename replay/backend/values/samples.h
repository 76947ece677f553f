/* A part of an array that is too much to be kept: each step-th element, and a hash of the whole. In
 * a file it is three arrays, NAME#samples, NAME#layout (the step, then the sizes) and NAME#hash. */
#ifndef SYMTAPE_REPLAY_BACKEND_VALUES_SAMPLES_H
#define SYMTAPE_REPLAY_BACKEND_VALUES_SAMPLES_H

#include "replay/backend/values/value_file.h"
#include "trace/base/arena.h"

/* At most `most` elements, in contiguous order from the first; in memory of the arena. */
bool samples_take(const struct array *whole, int64_t step, struct arena *arena, struct array *ret,
                  struct err *err);
int64_t samples_step(const struct array *whole, uint64_t most); /* 1: all of it is no more */

/* The whole where it has at most `most` elements (0: always), else the three. */
bool samples_add(struct value_file *file, struct str name, const struct array *whole, uint64_t most,
                 struct arena *arena, struct err *err);
/* Is `layout` of an array of that shape? Its step; 0: it is not. */
int64_t samples_layout_step(const struct array *layout, const struct array *whole);
uint64_t samples_hash(const struct array *whole);

#endif
