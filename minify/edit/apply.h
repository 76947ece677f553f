/* The steps of candidate_apply(). Private to the room.
 *
 * Edits of structure choose among the nodes of a candidate (apply_plan.c); the chosen nodes are
 * copied and their symbols bound (apply_close.c). Sizes do not change, so the result is valid by
 * construction, except behind a node for which one of another meta stands in (substitute): the
 * metas of what depends on it are propagated afterwards. Edits of shapes keep all nodes and change
 * inputs, arguments and symbols; the result is propagated (shape_edit.c). If a list has both,
 * shapes come first, since they keep the numbers of nodes. */
#ifndef SYMTAPE_MINIFY_EDIT_APPLY_H
#define SYMTAPE_MINIFY_EDIT_APPLY_H

#include "minify/candidate/candidate_data.h"
#include "minify/edit/edit.h"

enum node_status { STATUS_STAY, STATUS_GO, STATUS_INPUT };

/* What an edit does with each node of the whole graph. Arrays have one element for each node. */
struct edit_plan {
    const struct candidate *whole;
    const struct graph *graph;
    uint8_t *status;
    bool *promote;      /* becomes an output when nothing else uses it */
    bool *stays_dead;   /* it was not used before the edits either */
    node_id *stand_in;  /* the node that replaces a bypassed one; NODE_NONE */
    uint32_t *uses;     /* before the edits */
    uint32_t *uses_now; /* after the edits so far */
    node_id *new_id;    /* (apply_close.c) */
    bool *drop_output;  /* by position */
    bool *drop_guard;   /* by number */
    bool *drop_gradient;
    bool *output; /* returned by the result */
    uint32_t n_outputs;
    const struct cand_symbol *symbols; /* those of the whole, or edited ones */
    const struct cand_guard *guards;
    bool promote_all;
    node_id alone; /* the only node that is returned; NODE_NONE */
    bool bypasses;
    bool substitutes;
    bool *affected; /* by old node: it depends on a node that stands in with another meta */
    struct arena arena;
};

bool plan_make(struct edit_plan *plan, const struct candidate *whole, const struct edit *edits,
               uint32_t n, struct err *why);
void plan_release(struct edit_plan *plan);
/* Returns the input of that position, or NODE_NONE. */
node_id input_at(const struct graph *graph, uint32_t position);
/* Returns the node that a reference to `id` refers to after the edits. */
static inline node_id plan_resolve(const struct edit_plan *plan, node_id id)
{
    while (plan->stand_in[id] != NODE_NONE)
        id = plan->stand_in[id];
    return id;
}

/* Returns the candidate that the plan describes. */
struct candidate *plan_close(struct edit_plan *plan, struct err *why);

bool edit_is_structural(enum edit_kind kind);
/* Returns whether the edit chooses among nodes: all structural ones, and substitutions. */
bool edit_chooses_nodes(enum edit_kind kind);
/* Marks the nodes that depend on marked ones. */
void mark_dependents(const struct graph *graph, bool *affected);
/* Returns the candidate with the metas of these nodes computed anew; numbers of nodes stay. */
struct candidate *propagate_affected(const struct candidate *whole, const bool *affected,
                                     struct err *why);
/* Returns the candidate with changed sizes, arguments or symbols; numbers of nodes stay. */
struct candidate *reshape_candidate(const struct candidate *whole, const struct edit *edits,
                                    uint32_t n, struct err *why);

#endif
