/* Passes: one file each (pass_NAME.c), ordered by passes.def.
 *
 *     PASS(id, "name", "what it does, as --list-passes prints it", once, usual)
 *
 * A pass looks at search_best(), proposes edits and returns when it has nothing more to propose.
 * `once` means that the pass is not repeated until none finds anything. `usual` names the passes
 * with which it shares the share of trials that are accepted. A pass keeps no state
 * between runs, and asks the oracle only through the search. It returns false if the search must
 * stop. */
#ifndef SYMTAPE_MINIFY_PASSES_PASS_H
#define SYMTAPE_MINIFY_PASSES_PASS_H

#include "minify/search/search.h"

/* Passes of one kind: what one finds says how much the next will find. */
enum pass_usual {
    USUAL_CALLS,
    USUAL_ENDS,
    USUAL_DEAD,
    USUAL_BYPASS,
    USUAL_SUBSTITUTE,
    USUAL_CUT,
    USUAL_SIZES,
    USUAL_CERTIFICATE,
    USUALS
};

struct pass {
    const char *name, *description;
    bool once;
    bool (*run)(struct search *search);
    enum pass_usual usual;
};

extern const struct pass passes[];
extern const size_t n_passes;

#endif
