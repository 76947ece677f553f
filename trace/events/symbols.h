/* Symbols and their specializations, as recorded.
 *
 * They are read once per trace on first use from create_symbol, create_unbacked_symbol and
 * symbolic_shape_specialization records (torch/fx/experimental/symbolic_shapes.py, ShapeEnv), and
 * from the programs of .pt2 archives. The arrays belong to the trace. The result is NULL with err
 * set only when memory ran out.
 *
 * A symbol of a program has a record and no attempt, no stacks and no specialization; its range
 * is that of range_constraints ("" where those do not name it), its source the first user's
 * input, or size of one, that consists of this symbol only. */
#ifndef SYMTAPE_TRACE_EVENTS_SYMBOLS_H
#define SYMTAPE_TRACE_EVENTS_SYMBOLS_H

#include "trace/open.h"

struct symbol {
    uint32_t record, attempt; /* attempt may be TRACE_NONE */
    struct str name;          /* "s77", "u0", "zf1" */
    struct str value;         /* the hint, as printed; "" for an unbacked symbol */
    struct str range;         /* "[2, int_oo]" */
    struct str source;        /* "L['x'].size()[0]"; "" for an unbacked symbol */
    bool unbacked; /* from the record's event; in a program from the symbol's name: u0, zuf0 */
    stack_id user_stack, stack;
    uint32_t specialization; /* index of the first one of this symbol, or TRACE_NONE */
    uint32_t recording;
};

struct specialization {
    uint32_t record, attempt;
    struct str symbol;
    struct str value;
    struct str reason; /* "range_refined_to_singleton", ... */
    struct str source; /* the first of its sources */
    stack_id user_stack, stack;
};

struct symbol_table {
    const struct symbol *symbols;
    uint32_t n_symbols;
    const struct specialization *specializations;
    uint32_t n_specializations;
    uint32_t n_unreadable;   /* number of unreadable programs, whose symbols are missing here */
    const uint32_t *by_name; /* for symbol_table_find() */
};

const struct symbol_table *trace_symbols(struct trace *trace, struct err *err);

/* Returns the last symbol of a name that was made up to a record in an attempt (TRACE_NONE: outside
 * of compiles) of a recording; NULL if there is none. */
const struct symbol *symbol_table_find(const struct symbol_table *table, uint32_t recording,
                                       uint32_t attempt, struct str name, uint32_t record);

#endif
