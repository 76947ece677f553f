/* The reference of index_fill, which calls other operators. */
#ifndef SYMTAPE_REPLAY_OPS_RULES_INDEX_INDEX_FILL_H
#define SYMTAPE_REPLAY_OPS_RULES_INDEX_INDEX_FILL_H

#include "replay/ops/dispatch/rule.h"

/* Computes the result of _index_fill (torch/_refs/__init__.py) by its calls. `value` is unused
 * where argument 3 is a number. Returns false where one of the calls failed. */
bool index_fill_reference(struct call *c, struct tensor x, uint32_t dim, struct tensor index,
                          struct tensor value);

#endif
