/* Makes a candidate of a recording or a text. Private to the room. */
#ifndef SYMTAPE_MINIFY_CANDIDATE_CANDIDATE_SOURCE_H
#define SYMTAPE_MINIFY_CANDIDATE_CANDIDATE_SOURCE_H

#include "minify/candidate/candidate.h"

/* Borrowed: the candidate copies. */
struct cand_source {
    const struct candidate *like; /* kind, torch_version, seed */
    const struct graph *graph;
    const struct str *metas;  /* by node of the tree: annotations that take the place of the
                                 graph's; .p NULL: none does. NULL: none at all */
    const uint32_t *storages; /* by node of the root; NULL: found by walking the graph */
    const struct cand_symbol *symbols; /* those that the graph does not show are left out */
    uint32_t n_symbols;
    const struct cand_guard *guards; /* node: of `graph`; n_nodes: behind all of them */
    uint32_t n_guards;
};
struct candidate *candidate_make(const struct cand_source *source,
                                 const struct candidate_options *options, struct err *err);

/* Returns the symbol for a name that the input does not describe. */
struct cand_symbol default_symbol(struct str name);

#endif
