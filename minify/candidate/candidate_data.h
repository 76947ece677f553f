/* Inside of candidates: what they own and share. Private to the room.
 *
 * Names, metas and subgraphs belong to a tree of texts, which candidates share: most edits only
 * choose among nodes. An edit that changes metas makes texts of its own, which borrow names from
 * those that they were made of. */
#ifndef SYMTAPE_MINIFY_CANDIDATE_CANDIDATE_DATA_H
#define SYMTAPE_MINIFY_CANDIDATE_CANDIDATE_DATA_H

#include <stdatomic.h>

#include "minify/candidate/candidate.h"
#include "trace/base/intern.h"
#include "trace/base/vec.h"

/* A meta's symbols, in the order in which it prints them, repeats included. */
struct meta_info {
    uint64_t hash;     /* of all but the symbols' names */
    uint32_t first, n; /* in texts->occurrences: symbol numbers */
};

struct engines;
struct cand_texts {
    atomic_uint refs;
    struct engines *engines; /* shared with base */
    struct cand_texts *base; /* what names point into; NULL */
    struct graph *graph;     /* owns pool, subgraphs and what was kept */
    struct arena arena;
    struct intern symbols;   /* numbers of symbols' names */
    struct meta_info *infos; /* by meta */
    uint32_t *occurrences;
    uint32_t *sym_metas;     /* by symbol number: the meta "Sym(s77)" */
    struct str *input_names; /* by symbol number: of an input that binds it */
};

struct cand_data {
    struct candidate candidate; /* first: a candidate's address is its data's */
    struct cand_texts *texts;
    struct arena arena;
    struct graph graph;
    uint32_t *storages;   /* by node: equal ones share memory; UINT32_MAX is none */
    uint32_t *symbol_ids; /* by symbol: its number in texts->symbols */
    bool writes;          /* some call writes to one of its arguments */
};

/* --- candidate_texts.c --- */

/* Options for copying a graph into texts of its own. */
struct texts_options {
    const struct str *metas;   /* by node of the tree; .p NULL: as it is; "" is none */
    bool from_trace;           /* copies texts; resolves aliases, flattens outputs */
    bool keep_args;            /* copies texts of arguments */
    struct cand_texts *base;   /* the owner of the graph's texts if they are not copied */
    const struct str *symbols; /* names that need a meta "Sym(NAME)" */
    uint32_t n_symbols;
    node_id *map; /* (out) by node of the root: its number in the copy, NODE_NONE; may be NULL */
};
/* A graph without a return gets one of nothing. NULL on failure. */
struct cand_texts *texts_new(const struct graph *from, const struct texts_options *options,
                             struct err *err);
struct cand_texts *texts_hold(struct cand_texts *texts);
void texts_release(struct cand_texts *texts);
/* UINT32_MAX: no meta names it. */
uint32_t texts_symbol(const struct cand_texts *texts, struct str name);

static inline const struct meta_info *meta_info(const struct cand_texts *texts, uint32_t meta)
{
    return &texts->infos[meta];
}

/* --- candidate.c --- */

static inline struct cand_data *data_of(const struct candidate *candidate)
{
    return candidate->data;
}

/* Empty, around texts that it takes a reference to. NULL: out of memory. */
struct cand_data *data_new(struct cand_texts *texts);
/* One whose graph is that of the texts, everything else as given; names of symbols and facts are
 * copied. storages may be NULL. */
struct candidate *data_finish(struct cand_data *data, const struct candidate *like,
                              const struct cand_symbol *symbols, uint32_t n_symbols,
                              const struct cand_guard *guards, uint32_t n_guards, struct err *err);

/* Under the hints. True also where they do not tell. */
bool input_is_contiguous(const struct candidate *candidate, node_id id);

/* Calls for each symbol number that the fact's text names; names that no meta has are UINT32_MAX.
 */
void guard_expr_symbols(const struct cand_texts *texts, struct str expr,
                        void (*fn)(void *user, uint32_t symbol), void *user);

/* --- candidate_nodes.c --- */

/* Calls fn for each node that the node's arguments name, nested ones too. */
void node_references(const struct graph *graph, const struct node *node,
                     void (*fn)(void *user, node_id id), void *user);
/* Does the call write to its first argument (add_, setitem, out=)? */
bool node_writes(const struct graph *graph, const struct node *node);
bool graph_writes(const struct graph *graph);
/* A getitem of a tuple or list by number. */
bool node_is_getitem(const struct graph *graph, const struct node *node);
static inline const struct meta *node_meta(const struct graph *graph, const struct node *node)
{
    return node->meta == META_NONE ? NULL : &graph->pool->metas[node->meta];
}
/* Something that may be an input or an output: a tensor, or a number over symbols. */
bool node_is_value(const struct graph *graph, const struct node *node);

#endif
