/* Inside the trace room: the symbols of an exported program, for trace_symbols(). */
#ifndef SYMTAPE_TRACE_EVENTS_SYMBOLS_EXPORTED_H
#define SYMTAPE_TRACE_EVENTS_SYMBOLS_EXPORTED_H

#include "trace/events/symbols.h"
#include "trace/graph/graph.h"

/* How many symbols a program can have at most. */
size_t exported_symbols_bound(const struct graph *program);
/* Fills ret[0..*n) with them, in the order of their first sight; then those that have nothing but a
 * range. Texts belong to the program or to `arena`. False only when memory ran out. */
bool exported_symbols(const struct graph *program, uint32_t record, struct arena *arena,
                      struct symbol *ret, uint32_t *n, struct err *err);

#endif
