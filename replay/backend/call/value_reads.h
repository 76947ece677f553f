/* Values that rules are shown, where results' sizes depend on data. Private to replay/backend. */
#ifndef SYMTAPE_REPLAY_BACKEND_CALL_VALUE_READS_H
#define SYMTAPE_REPLAY_BACKEND_CALL_VALUE_READS_H

#include "replay/backend/call/exec.h"

/* The arguments as the operator's rule is to see them: tensors whose values it reads get `data`, in
 * memory that lasts until the next call from outside. `shown` has room for n. On a backend that
 * computes nothing the data are invented so that the size is exec->guess. */
bool shown_args(struct exec *exec, const struct op *op, const struct value *args, uint32_t n,
                struct value *shown, struct err *err);
/* The same; what the backend can count stays where it is, and `data` is the count. */
bool counted_args(struct exec *exec, const struct op *op, const struct value *args, uint32_t n,
                  const struct keyword *keywords, uint32_t n_keywords, struct value *shown,
                  struct err *err);

/* Do rules of operators of that name read values? For struct op_facts. */
bool shown_reads(struct str base);

#endif
