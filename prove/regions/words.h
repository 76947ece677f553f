/* Sets of sizes in words, for the files of prove/regions only. */
#ifndef SYMTAPE_PROVE_REGIONS_WORDS_H
#define SYMTAPE_PROVE_REGIONS_WORDS_H

#include "prove/conditions/conditions.h"
#include "prove/decide/decide.h"
#include "prove/regions/regions.h"

enum { WORDS_NAMED = REGION_SIZES }; /* symbols at most */

/* Where the words on a symbol are: "in {8, 16, 24, ...}", ">= 2". */
struct words_place {
    uint32_t symbol; /* its index in the conditions */
    uint32_t start, end;
};

struct words_places {
    struct words_place list[WORDS_NAMED];
    size_t n;
};

/* Appends "s27 in {8, 16, 24, ...}, s77 >= 2": for each symbol what the facts that contain it alone
 * leave, and how many facts have several symbols. What could not be proved for all sizes was
 * computed for the first 256 sizes, and says so. The first WORDS_NAMED symbols that facts contain
 * are named; `places` has an item for each. The decider has the ranges of the symbols, and its
 * facts are forgotten. Returns false when out of memory. */
bool words_put(struct decider *decider, const struct conditions *conditions, const sym_id *facts,
               size_t n, struct words_places *places, struct buf *out);

#endif
