/* Does an operator return memory of its arguments? Told by its schema alone, without a context:
 * "-> Tensor(a)" of views, "-> Tensor(a!)" of in-place forms. */
#ifndef SYMTAPE_REPLAY_OPS_ALIASES_H
#define SYMTAPE_REPLAY_OPS_ALIASES_H

#include "trace/base/str.h"

/* `op` as node_op_name() spells it: "aten.view.default". False for operators that are not known. */
bool op_returns_alias(struct str op);

#endif
