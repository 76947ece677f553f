/* Finds the symbols of an exported program, for trace_symbols(). Private to the trace room. */
#ifndef SYMTAPE_TRACE_EVENTS_SYMBOLS_EXPORTED_H
#define SYMTAPE_TRACE_EVENTS_SYMBOLS_EXPORTED_H

#include "trace/events/symbols.h"
#include "trace/graph/graph.h"

/* Returns an upper bound on the number of symbols of a program. */
size_t exported_symbols_bound(const struct graph *program);
/* Fills ret[0..*n) with the symbols, in the order of their first use, and then those that have
 * only a range. Texts belong to the program or to `arena`. It returns false only when memory ran
 * out. */
bool exported_symbols(const struct graph *program, uint32_t record, struct arena *arena,
                      struct symbol *ret, uint32_t *n, struct err *err);

#endif
