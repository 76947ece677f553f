/* The weights of a .pt2 archive, as they lie in its file. */
#ifndef SYMTAPE_REPLAY_BACKEND_VALUES_WEIGHTS_H
#define SYMTAPE_REPLAY_BACKEND_VALUES_WEIGHTS_H

#include "replay/backend/values/array.h"
#include "trace/open.h"

struct weights;

/* Of the archive that `recording` was imported from; NULL and no error where the file is gone or is
 * none that holds weights: inputs are random then. */
struct weights *weights_open(struct trace *trace, uint32_t recording, struct err *err);
void weights_close(struct weights *weights); /* NULL is fine */
/* By fully qualified name ("encoder.0.weight"); contiguous, made so where it has other strides. */
bool weights_find(struct weights *weights, struct str fqn, struct array *ret, struct err *err);

#endif
