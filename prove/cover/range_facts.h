/* A range of sizes as facts of a decider, for the files of prove/cover only. */
#ifndef SYMTAPE_PROVE_COVER_RANGE_FACTS_H
#define SYMTAPE_PROVE_COVER_RANGE_FACTS_H

#include "prove/cover/cover.h"

/* Adds the ranges of the symbols, the recorded values of the other integers, and `assume`. Fails
 * when memory ran out. */
bool range_facts_add(struct decider *decider, const struct conditions *conditions,
                     const struct cover_range *range, struct err *err);
/* Returns what the range says of a symbol, or NULL. */
const struct cover_symbol *cover_range_symbol(const struct cover_range *range, sym_id symbol);

#endif
