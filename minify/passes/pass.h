/* Passes: one file each (pass_NAME.c), ordered by passes.def.
 *
 *     PASS(id, "name", "what it does, as --list-passes prints it", once, kind)
 *
 * A pass looks at search_best(), proposes edits and returns when it has nothing more to propose.
 * `once` means that the pass is not repeated until none finds anything. Passes of one `kind` have
 * about the same share of trials accepted, which is learnt for all of them together
 * (minify/search/schedule.c). A pass keeps no state between runs, and asks the oracle only through
 * the search. It returns false if the search must stop. */
#ifndef SYMTAPE_MINIFY_PASSES_PASS_H
#define SYMTAPE_MINIFY_PASSES_PASS_H

#include "minify/search/search.h"

enum pass_kind {
    PASS_KIND_CALLS,
    PASS_KIND_ENDS,
    PASS_KIND_DEAD,
    PASS_KIND_BYPASS,
    PASS_KIND_SUBSTITUTE,
    PASS_KIND_CUT,
    PASS_KIND_SIZES,
    PASS_KIND_CERTIFICATE,
    PASS_KINDS
};

struct pass {
    const char *name, *description;
    bool once;
    bool (*run)(struct search *search);
    enum pass_kind kind;
};

extern const struct pass passes[];
extern const size_t n_passes;

#endif
