/* Computes the sizes of a graph whose inputs, arguments or symbols were changed. A first walk with
 * integers decides whether the graph is valid; a second one with expressions gives the metas to
 * print. Private to the room.
 *
 * The symbolic walk may contain the bug that is being reduced, so it does not decide: if it refuses
 * or differs from the integers, the integers count. */
#ifndef SYMTAPE_MINIFY_CANDIDATE_PROPAGATE_H
#define SYMTAPE_MINIFY_CANDIDATE_PROPAGATE_H

#include "minify/candidate/candidate_data.h"

/* The result of a reshaping edit: a graph whose inputs have the right metas. */
struct reshaped {
    const struct candidate *whole; /* kind, seed, torch_version, texts to borrow from */
    const struct graph *graph;     /* nodes of the whole; metas of calls are ignored */
    /* By node of the root: its result is new and has no recorded meta; the others' metas stay,
     * unless they no longer hold. NULL: no call's meta stays. */
    const bool *made;
    /* By node of the root: its meta is computed anew; other calls' metas stay. NULL: all are. */
    const bool *affected;
    /* By node of the root: the result of a call, for edits after which all sizes are the same
     * numbers. A call that the engine does not support has that result; empty: it refuses the edit.
     * NULL: sizes may change, and each such call refuses the edit. */
    const struct str *results;
    const struct str *inputs; /* by node of the root: an input's annotation; .p NULL: unchanged */
    const struct cand_symbol *symbols; /* after the edit */
    uint32_t n_symbols;
    const struct cand_guard *guards;
    uint32_t n_guards;
};
/* Returns NULL with ERR_USAGE if the walk with integers fails. */
struct candidate *propagate(const struct reshaped *reshaped, struct err *why);

#endif
