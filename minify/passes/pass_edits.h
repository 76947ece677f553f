/* Functions that passes share: lists of edits of the current best candidate. Private to the
 * room. */
#ifndef SYMTAPE_MINIFY_PASSES_PASS_EDITS_H
#define SYMTAPE_MINIFY_PASSES_PASS_EDITS_H

#include "minify/candidate/candidate_data.h"
#include "minify/search/search.h"
#include "trace/base/vec.h"

#define PASS(id, name, description, once, kind) bool pass_##id(struct search *search);
#include "minify/passes/passes.def"
#undef PASS

/* A growing list of edits; a failed allocation is reported when it is used. */
struct edits {
    vec_of(struct edit)
    list;
    vec_of(uint32_t)
    first; /* by proposal: its beginning in the list */
    bool failed;
};
void edits_add(struct edits *edits, enum edit_kind kind, uint32_t a, uint32_t b, int64_t value);
/* Begins a new proposal. */
void edits_propose(struct edits *edits);
void edits_release(struct edits *edits);

/* Each tries the proposals and releases the list. They return false if the search must stop.
 * `accepted` may be NULL. */
bool edits_try(struct search *search, struct edits *edits, bool *accepted); /* as one proposal */
bool edits_try_each(struct search *search, struct edits *edits, uint32_t *which);
bool edits_sweep(struct search *search, struct edits *edits);
/* With the probability of each edit that it removes what is needed, or NULL; tells which were made.
 */
bool edits_sweep_made(struct search *search, struct edits *edits, const float *likely, bool *made);

/* Returns whether a node is a call, except a getitem of a tuple. */
static inline bool is_whole_call(const struct graph *graph, node_id id)
{
    return node_is_call(&graph->nodes[id]) && !node_is_getitem(graph, &graph->nodes[id]);
}
/* Returns the number of uses of each node, including uses by the output, indexed by node; NULL when
 * memory ran out. */
uint32_t *count_node_uses(const struct graph *graph);
node_id find_node_named(const struct graph *graph, struct str name); /* NODE_NONE */
uint32_t graph_n_outputs(const struct graph *graph);
/* Finds the first and the last call; NODE_NONE: there is none. */
void find_ends(const struct graph *graph, node_id *first, node_id *last);

/* Proposals of passes that the certificate repeats, each of one edit. */
void propose_dead(const struct candidate *best, struct edits *edits);
void propose_cuts(const struct candidate *best, struct edits *edits);
void propose_bypasses(const struct candidate *best, struct edits *edits);
void propose_substitutes(const struct candidate *best, struct edits *edits);
void propose_outputs(const struct candidate *best, struct edits *edits);
void propose_guards(const struct candidate *best, struct edits *edits);
void propose_statics(const struct candidate *best, struct edits *edits);
void propose_merges(const struct candidate *best, struct edits *edits);
void propose_fresh(const struct candidate *best, struct edits *edits);
void propose_ranges(const struct candidate *best, struct edits *edits);
void propose_hints(const struct candidate *best, struct edits *edits);
void propose_constants(const struct candidate *best, struct edits *edits);
void propose_ranks(const struct candidate *best, struct edits *edits);
void propose_dtypes(const struct candidate *best, struct edits *edits);
void propose_gradients(const struct candidate *best, struct edits *edits);
void propose_strides(const struct candidate *best, struct edits *edits);
void propose_device(const struct candidate *best, struct edits *edits);
void propose_arguments(const struct candidate *best, struct edits *edits);
void propose_inlining(const struct candidate *best, struct edits *edits);

#endif
