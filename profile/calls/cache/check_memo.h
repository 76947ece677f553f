/* What checks of entries found, so that calls that pass equal values are checked once.
 *
 * Calls are of one kind if they have the same form (call_log.h) and agree in the objects that some
 * entry's guards compare. What a check finds depends on the kind, on what is known of the module's
 * attributes, and, where it fails, on the order of the entry's managers; entries with that order
 * and those facts as they were answer again without being evaluated.
 *
 * A kind that was met once only has no cells, so that calls of which no two are alike cost no more
 * than they would without. */
#ifndef SYMTAPE_PROFILE_CALLS_CACHE_CHECK_MEMO_H
#define SYMTAPE_PROFILE_CALLS_CACHE_CHECK_MEMO_H

#include "profile/calls/values/call_log.h"

struct memo_cell {
    uint32_t check;   /* CALL_NONE: not known */
    uint32_t version; /* entry_guards.version at the check */
    uint32_t facts;   /* number of facts of the world at the check */
    bool learned;     /* entry_guards_learn() was called since, and found nothing new */
};

struct call_kind {
    uint32_t met;
    uint32_t generation, first_cell, n_cells; /* in check_memo.cells, by ordinal of the entry */
    uint32_t first_check, n_checks;           /* of the last look-up */
    uint32_t unknown_entries;            /* number of entries, plus 1, when no compile was found */
    uint32_t unfit_check, unfit_compile; /* the last look-up that did not fit a compile */
};

struct check_memo {
    vec_of(uint32_t)
    of_form; /* kinds of calls without objects that matter; CALL_NONE: none yet */
    struct intern with_objects;
    vec_of(uint32_t)
    of_objects; /* by with_objects: kinds */
    vec_of(struct call_kind)
    kinds;
    vec_of(struct memo_cell)
    cells;
    uint32_t generation; /* grows when all cells are forgotten */
    vec_of(bool)
    watched; /* by object */
    struct buf key;
};

/* An object that guards compare. Returns false when memory ran out. */
bool check_memo_watch(struct check_memo *memo, uint32_t object);
/* Meets a call and sets *ret to its kind. Returns false when memory ran out. */
bool check_memo_meet(struct check_memo *memo, const struct program_call *call, uint32_t *ret);
/* Returns the cell of an entry, which is number `ordinal` of the n_entries entries of the code
 * object; NULL if the kind has none. It lives until the next call for another kind. */
struct memo_cell *check_memo_cell(struct check_memo *memo, uint32_t kind, uint32_t ordinal,
                                  uint32_t n_entries);
void check_memo_release(struct check_memo *memo);

#endif
