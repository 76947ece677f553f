/* Makes a candidate from a recording or a text. Private to the room. */
#ifndef SYMTAPE_MINIFY_CANDIDATE_CANDIDATE_SOURCE_H
#define SYMTAPE_MINIFY_CANDIDATE_CANDIDATE_SOURCE_H

#include "minify/candidate/candidate.h"

/* The parts of a candidate. They are borrowed: the candidate copies them. */
struct cand_source {
    const struct candidate *like; /* kind, torch_version, seed */
    const struct graph *graph;
    const struct str *metas;  /* by node of the tree: annotations that replace the graph's, .p NULL
                                 for none; or NULL */
    const uint32_t *storages; /* by node of the root; NULL: computed by walking the graph */
    const bool *gradients; /* by node of the root: an input that requires a gradient; NULL: none */
    const struct cand_symbol *symbols; /* those that the graph does not use are left out */
    uint32_t n_symbols;
    const struct cand_guard *guards; /* .node is one of `graph`; n_nodes: after all of them */
    uint32_t n_guards;
};
struct candidate *candidate_make(const struct cand_source *source,
                                 const struct candidate_options *options, struct err *err);

/* Returns the symbol for a name that the input does not describe. */
struct cand_symbol default_symbol(struct str name);

#endif
