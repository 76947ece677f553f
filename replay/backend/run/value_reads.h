/* Values that rules read, where results' sizes depend on data. */
#ifndef SYMTAPE_REPLAY_BACKEND_RUN_VALUE_READS_H
#define SYMTAPE_REPLAY_BACKEND_RUN_VALUE_READS_H

#include "replay/backend/run/exec.h"

/* Gives the arguments that the operator's rule reads values of their `data`, in place, in memory
 * that lasts until the next call from outside. With may_count, what the backend can count stays
 * where it is, and `data` is the count; for calls that a rule makes the whole call was counted
 * before. On a backend that computes nothing the data are invented so that the size is exec->guess.
 */
bool add_read_values(struct exec *exec, const struct op *op, const struct schema *schema,
                     bool may_count, struct value *bound, struct err *err);

/* Do rules of operators of that name read values? For struct op_properties. */
bool rule_reads_values(struct str base);

#endif
