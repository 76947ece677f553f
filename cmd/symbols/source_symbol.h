/* Sources in the places of symbols, as options take them: "x.size(0)=31" for "s77=31". */
#ifndef SYMTAPE_CMD_SYMBOLS_SOURCE_SYMBOL_H
#define SYMTAPE_CMD_SYMBOLS_SOURCE_SYMBOL_H

#include "trace/open.h"
#include "trace/selector.h"

/* Sets *name to the symbol that the source has in the selected attempts and programs, in any of the
 * spellings of profile/why/why_name.h. A symbol, and a name that is no source there, stays as it
 * is. Fails with ERR_USAGE if compiles have different symbols for the source, or when memory ran
 * out. */
bool source_symbol_find(struct trace *trace, const struct selector *selector, struct str *name,
                        struct err *err);

#endif
