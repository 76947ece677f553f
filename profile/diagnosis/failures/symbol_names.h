/* Names for recorded symbols that the user knows: "x.shape[1]" for the symbol of
 * L['x'].size()[1], "longest" for a symbol that `longest = lengths.max().item()` made. */
#ifndef SYMTAPE_PROFILE_DIAGNOSIS_FAILURES_SYMBOL_NAMES_H
#define SYMTAPE_PROFILE_DIAGNOSIS_FAILURES_SYMBOL_NAMES_H

#include "profile/diagnosis/finder.h"

/* Where a symbol is looked for: the last one of its name in an attempt (TRACE_NONE: outside of
 * compiles) that was made before a record. */
struct symbol_scope {
    const struct finder *d;
    uint32_t recording; /* an index into the profile's recordings */
    uint32_t attempt, record;
};
const struct symbol *symbol_find(const struct symbol_scope *scope, struct str name);

/* Splits "L['x'].size()[1]" into "L['x']" and 1; false for other sources. */
bool source_size(struct str source, struct str *tensor, uint64_t *dim);
/* Appends a source as the program has it: "x" for "L['x']", "self.eps", "x.shape[1]". */
void source_put_code(struct str source, struct buf *out);

/* Appends what a symbol is in the program: "x.shape[1]", "longest"; its own name if the tape has no
 * other. */
void symbol_put_code(const struct symbol_scope *scope, struct str name, struct buf *out);
/* Returns the operator of torch/_subclasses/fake_impls.py on a stack, by its function there
 * ("nonzero"), and "mark_unbacked" where Dynamo wraps an input; "" for other stacks. */
struct str fake_operator(const struct symbol_scope *scope, stack_id stack);
/* Returns what made an unbacked symbol: ".item()", "nonzero()", "mark_unbacked". */
struct str symbol_maker(const struct symbol_scope *scope, const struct symbol *symbol);
/* Finds what a symbol was at the recorded call: its hint; for a size that mark_unbacked marked,
 * that of the tensor, if the dimension is known (`code` is the line that asks for it). False for
 * the results of operators. */
bool symbol_recorded_value(const struct symbol_scope *scope, const struct symbol *symbol,
                           struct str code, int64_t *ret);
/* Appends a recorded expression as Python code in the program's names: "longest == 1" for
 * "Eq(u0, 1)". */
void symbols_put_code(const struct symbol_scope *scope, struct str expr, struct buf *out);
/* Adds the description of each symbol of an expression to the evidence. The finding's source, if it
 * has none yet, becomes that of the first symbol that an input is the source of. */
void find_symbol_evidence(struct finder *d, struct finding_build *f,
                          const struct symbol_scope *scope, struct str expr);

#endif
