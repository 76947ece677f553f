/* Finds symbols by name, for views that print the symbols of expressions. */
#ifndef SYMTAPE_CMD_SHOW_SHOW_SYMBOLS_H
#define SYMTAPE_CMD_SHOW_SHOW_SYMBOLS_H

#include "trace/base/intern.h"
#include "trace/events/symbols.h"

/* Names are unique within an attempt. */
struct symbol_index {
    const struct symbol_table *table;
    struct intern keys; /* "ATTEMPT NAME" */
    vec_of(uint32_t)
    symbols; /* by key: index into table->symbols */
};

bool symbol_index_init(struct symbol_index *index, struct trace *trace, struct err *err);
void symbol_index_release(struct symbol_index *index);
/* Returns NULL when the attempt has no symbol of that name. */
const struct symbol *symbol_index_find(const struct symbol_index *index, uint32_t attempt,
                                       struct str name);

/* Returns "= 16" for a symbol that became a number, or "" for one that stayed symbolic. */
struct str symbol_status(const struct symbol_table *table, const struct symbol *symbol);

#endif
