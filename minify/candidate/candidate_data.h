/* The data that candidates own and share. Private to the rooms of minify.
 *
 * Names, metas and subgraphs belong to a tree of texts, which candidates share: most edits only
 * choose among nodes. An edit that changes metas makes new texts, which borrow names from the old
 * ones. */
#ifndef SYMTAPE_MINIFY_CANDIDATE_CANDIDATE_DATA_H
#define SYMTAPE_MINIFY_CANDIDATE_CANDIDATE_DATA_H

#include <stdatomic.h>

#include "minify/candidate/candidate.h"
#include "trace/base/intern.h"
#include "trace/base/vec.h"

/* The symbols of a meta in the order in which it prints them, with repetitions. */
struct meta_info {
    uint64_t hash;     /* of the meta without the symbols' names */
    uint32_t first, n; /* in texts->occurrences: symbol numbers */
};

struct engines;
struct cand_texts {
    atomic_uint refs;
    struct engines *engines; /* shared with base */
    struct cand_texts *base; /* the owner of borrowed names; NULL */
    struct graph *graph;     /* owns the pool, subgraphs and copied texts */
    struct arena arena;
    struct intern symbols;   /* the numbers of symbols' names */
    struct meta_info *infos; /* by meta */
    uint32_t *occurrences;
    uint32_t *sym_metas;     /* by symbol number: the meta "Sym(s77)" */
    struct str *input_names; /* by symbol number: of an input that binds it */
};

struct cand_data {
    struct candidate candidate; /* first: a candidate has the address of its data */
    struct cand_texts *texts;
    struct arena arena;
    struct graph graph;
    uint32_t *storages;   /* by node: equal ones share memory; UINT32_MAX is none */
    bool *gradients;      /* by node: it requires a gradient, or would as an input; NULL: none */
    uint32_t *symbol_ids; /* by symbol: its number in texts->symbols */
    bool writes;          /* a call writes to one of its arguments */
    atomic_uint refs;
};

/* --- candidate_texts.c --- */

/* Options for copying a graph into texts of its own. */
struct texts_options {
    const struct str *metas;   /* by node of the tree; .p NULL: unchanged; "": none */
    bool from_trace;           /* copies texts; resolves aliases, flattens outputs */
    bool keep_args;            /* copies texts of arguments */
    struct cand_texts *base;   /* the owner of the graph's texts if they are not copied */
    const struct str *symbols; /* names that need a meta "Sym(NAME)" */
    uint32_t n_symbols;
    node_id *map; /* output: by node of the root its number in the copy, or NODE_NONE; or NULL */
};
/* Copies a graph into new texts. A graph without a return statement gets one that returns nothing.
 * Returns NULL on failure. */
struct cand_texts *texts_new(const struct graph *from, const struct texts_options *options,
                             struct err *err);
struct cand_texts *texts_hold(struct cand_texts *texts);
void texts_release(struct cand_texts *texts);
/* Returns the number of a symbol, or UINT32_MAX if no meta contains it. */
uint32_t texts_symbol(const struct cand_texts *texts, struct str name);

/* Returns whether a name is that of an unbacked symbol. */
static inline bool is_unbacked_name(struct str name)
{
    return str_starts(name, STR("u")) || str_starts(name, STR("zuf"));
}

static inline const struct meta_info *meta_info(const struct cand_texts *texts, uint32_t meta)
{
    return &texts->infos[meta];
}

/* --- candidate.c --- */

static inline struct cand_data *data_of(const struct candidate *candidate)
{
    return candidate->data;
}

/* Returns empty data that takes a reference to the texts, or NULL when memory ran out. */
struct cand_data *data_new(struct cand_texts *texts);
/* Returns a candidate with the graph of the data and the kind, version and seed of `like`; names of
 * symbols and guards are copied. */
struct candidate *data_finish(struct cand_data *data, const struct candidate *like,
                              const struct cand_symbol *symbols, uint32_t n_symbols,
                              const struct cand_guard *guards, uint32_t n_guards, struct err *err);

/* Returns whether an input is contiguous under the hints, and true if they do not determine it. */
bool input_is_contiguous(const struct candidate *candidate, node_id id);

/* Calls fn for each symbol number in the text of a guard; names that no meta has are UINT32_MAX. */
void guard_expr_symbols(const struct cand_texts *texts, struct str expr,
                        void (*fn)(void *user, uint32_t symbol), void *user);

/* Gives the data flags for the nodes of its graph, unless `like` is NULL. Returns false when
 * memory ran out. */
bool data_begin_gradients(struct cand_data *data, uint32_t n_nodes, const bool *like);
/* Returns whether the dtype of a value has gradients; what is no tensor may hold some that have. */
bool data_may_have_gradient(const struct meta *meta);
/* Flags each call that is computed from what requires a gradient, unless its result has none. */
void data_spread_gradients(struct cand_data *data);

/* --- candidate_fx.c --- */

/* Appends a bound of a symbol's range: "2", "int_oo". */
void candidate_put_bound(struct buf *out, int64_t bound);

/* --- candidate_nodes.c --- */

/* Calls fn for each node that the node's arguments refer to, including nested ones. */
void node_references(const struct graph *graph, const struct node *node,
                     void (*fn)(void *user, node_id id), void *user);
/* Returns whether the call writes to its first argument (add_, setitem, out=). */
bool node_writes(const struct graph *graph, const struct node *node);
bool graph_writes(const struct graph *graph);
/* Returns whether a node is a getitem of a tuple or list by number. */
bool node_is_getitem(const struct graph *graph, const struct node *node);
static inline const struct meta *node_meta(const struct graph *graph, const struct node *node)
{
    return node->meta == META_NONE ? NULL : &graph->pool->metas[node->meta];
}
/* Returns whether a node may be an input or an output: a tensor, or a number over symbols. */
bool node_is_value(const struct graph *graph, const struct node *node);

#endif
