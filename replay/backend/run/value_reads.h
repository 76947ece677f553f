/* Reads the values that rules need if the sizes of results depend on data. */
#ifndef SYMTAPE_REPLAY_BACKEND_RUN_VALUE_READS_H
#define SYMTAPE_REPLAY_BACKEND_RUN_VALUE_READS_H

#include "replay/backend/run/exec.h"

/* Sets `data` of the arguments whose values the operator's rule reads, in memory that lasts until
 * the next call from outside. With may_count, `data` is the count if the backend can count, and
 * values are not copied; for calls that a rule makes the count was taken from the outer call. For a
 * backend that computes nothing, data are invented so that the size is exec->guess. */
bool add_read_values(struct exec *exec, const struct op *op, const struct schema *schema,
                     bool may_count, struct value *bound, struct err *err);

/* Returns whether rules of operators of that name read values. For struct op_properties. */
bool rule_reads_values(struct str base);

#endif
