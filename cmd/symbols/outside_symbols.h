/* Symbols that belong to no compile. torch.export makes them unless strict=True: PyTorch records
 * its symbols and guards, no compile and no graph (torch/export/_trace.py). */
#ifndef SYMTAPE_CMD_SYMBOLS_OUTSIDE_SYMBOLS_H
#define SYMTAPE_CMD_SYMBOLS_OUTSIDE_SYMBOLS_H

#include "trace/open.h"

/* Appends "; 3 symbols belong to no compile ...", which says where such an export can be examined;
 * nothing if there are none. Returns false with err set when memory ran out. */
bool outside_symbols_put(struct trace *trace, struct buf *out, struct err *err);

#endif
