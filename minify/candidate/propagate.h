/* Sizes of a graph whose inputs, arguments or symbols were changed: plain integers go through its
 * calls first, which decides whether the graph is valid at all; then expressions, which gives the
 * metas to print. Private to the room.
 *
 * The expressions are what is on trial and do not judge: where the symbolic walk refuses or says
 * something else than the integers do, the integers stand. */
#ifndef SYMTAPE_MINIFY_CANDIDATE_PROPAGATE_H
#define SYMTAPE_MINIFY_CANDIDATE_PROPAGATE_H

#include "minify/candidate/candidate_data.h"

/* The result of a reshaping edit: a graph whose inputs have the right metas. */
struct reshaped {
    const struct candidate *whole;     /* kind, seed, torch_version, texts to borrow from */
    const struct graph *graph;         /* nodes of the whole; metas of calls are not looked at */
    const struct str *inputs;          /* by node of the root: an input's annotation; .p NULL: as it
                                          is */
    const struct cand_symbol *symbols; /* as they are now */
    uint32_t n_symbols;
    const struct cand_guard *guards;
    uint32_t n_guards;
};
/* NULL: ERR_USAGE where the integers do not go through. */
struct candidate *propagate(const struct reshaped *reshaped, struct err *why);

#endif
