/* Passes: one file each (pass_NAME.c), ordered by passes.def.
 *
 *     PASS(id, "name", "what it does, as --list-passes prints it", once)
 *
 * A pass looks at search_best(), proposes edits and returns when it has nothing more to propose.
 * `once` means that the pass is not repeated until none finds anything. A pass keeps no state
 * between runs, and asks the oracle only through the search. It returns false if the search must
 * stop. */
#ifndef SYMTAPE_MINIFY_PASSES_PASS_H
#define SYMTAPE_MINIFY_PASSES_PASS_H

#include "minify/search/search.h"

struct pass {
    const char *name, *description;
    bool once;
    bool (*run)(struct search *search);
};

extern const struct pass passes[];
extern const size_t n_passes;

#endif
