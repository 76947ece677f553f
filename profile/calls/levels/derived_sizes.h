/* Sizes and numbers of later levels that are expressions of what earlier levels made symbols, or
 * that a value of a tensor decides: where a look-up is not the first of its group, those that
 * change between calls which the same entry answers on the first level.
 *
 * An argument that is passed on as it was counts only if the guards of the first level have it as a
 * symbol; attributes and globals do not count. */
#ifndef SYMTAPE_PROFILE_CALLS_LEVELS_DERIVED_SIZES_H
#define SYMTAPE_PROFILE_CALLS_LEVELS_DERIVED_SIZES_H

#include "profile/calls/dynamic/code_calls.h"
#include "profile/calls/levels/call_levels.h"

struct derived_slot {
    uint32_t first; /* the entry that answers on the first level, in cache_run.entries */
    uint32_t slot;  /* of the code object */
};

struct derived_sizes {
    struct calls_table *table;
    const struct call_levels *levels;
    const uint32_t *table_codes; /* by code of cache_run: in table->codes, or NO_ENTRY */
    vec_of(struct derived_slot)
    slots;          /* of one code object, ascending by `first` */
    uint8_t *marks; /* by slot: those of the last derived_sizes_marks() */
    uint32_t n_slots;
};

/* Finds those of a code object, in place of those of another. Returns false when memory ran out. */
bool derived_sizes_find(struct derived_sizes *derived, const struct code_calls *code);
/* Returns, by slot, which are derived for the compile that a look-up starts:
 * policy_options.marks_of. */
const uint8_t *derived_sizes_marks(void *derived, uint32_t lookup);
void derived_sizes_release(struct derived_sizes *derived);

#endif
