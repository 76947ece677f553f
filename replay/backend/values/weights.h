/* The weights of a .pt2 archive, as they lie in its file. */
#ifndef SYMTAPE_REPLAY_BACKEND_VALUES_WEIGHTS_H
#define SYMTAPE_REPLAY_BACKEND_VALUES_WEIGHTS_H

#include "replay/backend/values/array.h"
#include "trace/open.h"

struct weights;

/* Opens the weights of the archive that `recording` was imported from. NULL without an error: the
 * file does not exist or contains no weights; then inputs are random. */
struct weights *weights_open(struct trace *trace, uint32_t recording, struct err *err);
void weights_close(struct weights *weights); /* NULL is fine */
/* Finds a weight by its fully qualified name ("encoder.0.weight"). It is made contiguous if
 * needed. */
bool weights_find(struct weights *weights, struct str fqn, struct array *ret, struct err *err);

#endif
