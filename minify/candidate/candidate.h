/* Candidates: a graph that fails, with all that it needs to fail elsewhere.
 *
 *     struct candidate *whole = candidate_load(trace, &selector, &options, &err);
 *     struct candidate *less = candidate_apply(whole, &edit, 1, &why);   minify/edit/edit.h
 *     candidate_print_fx(less, &text);
 *     candidate_free(less);
 *
 * A candidate is a value: nothing changes it once it is made, so that threads share one. It is
 * closed: each free symbol is bound by an input's size that is that symbol alone, by a SymInt input
 * or (unbacked) by the call that makes it; each name by an earlier node. Its sizes are those that
 * were recorded, or that propagating plain integers and then expressions gave after an edit that
 * changed shapes; no oracle is asked about a graph that contradicts itself. */
#ifndef SYMTAPE_MINIFY_CANDIDATE_CANDIDATE_H
#define SYMTAPE_MINIFY_CANDIDATE_CANDIDATE_H

#include "trace/base/arena.h"
#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/vec.h"
#include "trace/graph/graph.h"
#include "trace/open.h"
#include "trace/selector.h"

/* A symbol that the graph uses. Bounds that are none are INT64_MIN and INT64_MAX. */
struct cand_symbol {
    struct str name;   /* as recorded: "s27", "u0", "zf3" */
    struct str source; /* "L['x'].size()[0]"; "" */
    bool backed;
    bool is_float;
    bool has_hint;
    int64_t hint;
    double float_hint;
    int64_t min, max;
    bool marked; /* mark_dynamic: becoming a number would be an error */
};

/* A guard or deferred assert that the environment starts with: one that no node of the graph asks
 * for (of the classes dynamo, torch function, backend, user). */
struct cand_guard {
    struct str expr; /* sympy's str(), over the symbols' names */
    bool deferred;   /* a runtime assert */
    uint32_t node;   /* it comes before this node's call; 0: from the start */
};

struct candidate {
    const struct graph *graph; /* subgraphs are its children */
    enum graph_kind kind;      /* what it was: dynamo, forward, ... */
    const struct cand_symbol *symbols;
    uint32_t n_symbols;
    const struct cand_guard *guards;
    uint32_t n_guards;
    struct str torch_version; /* "2.11.0"; "" where unknown */
    uint64_t seed;            /* of random inputs */
    struct cand_data *data;   /* what owns all of it; shared between candidates, counted */
};

/* --sizes s77=31 and the like, before anything is tried. */
struct cand_hint {
    struct str symbol;
    int64_t hint;
};
struct candidate_options {
    const struct cand_hint *hints;
    uint32_t n_hints;
};

/* Loads the graph that the selector names: of a tape, a log or a .pt2. A compile that failed has a
 * partial graph only if it was recorded with `record --deep`; without one this is ERR_USAGE with a
 * message that says so. */
struct candidate *candidate_load(struct trace *trace, const struct selector *selector,
                                 const struct candidate_options *options, struct err *err);
/* Reads FX text (graph_parse): symbols come from its annotations, hints and ranges from a comment
 * that candidate_print_fx() writes, or else hints are small primes. */
struct candidate *candidate_read_fx(struct str text, const struct candidate_options *options,
                                    struct err *err);
void candidate_free(struct candidate *candidate); /* NULL is fine */

/* Compared lexicographically; a reduction must make it fall (reference: "Candidate and size"). */
enum size_part {
    SIZE_CALLS, /* getitem of a tuple counted with its call's outputs */
    SIZE_GUARDS,
    SIZE_SYMBOLS,
    SIZE_SUBGRAPHS,
    SIZE_PORTS,  /* inputs and outputs */
    SIZE_RANKS,  /* sum over inputs */
    SIZE_DTYPES, /* distinct, and other than float32 and int64; layouts that are not contiguous,
                    ranges that are not the usual ones */
    SIZE_ARGUMENTS,
    SIZE_HINT_BITS,
    SIZE_BYTES, /* of names, targets and metas */
    SIZE_PARTS
};
struct cand_size {
    uint64_t part[SIZE_PARTS];
};
struct cand_size candidate_size(const struct candidate *candidate);
int cand_size_compare(const struct cand_size *a, const struct cand_size *b);

/* A hash of the candidate with its nodes and symbols renamed by their order: equal for equal
 * candidates, in all runs and on all machines. */
struct cand_hash {
    uint64_t low, high;
};
struct cand_hash candidate_hash(const struct candidate *candidate);

/* Readable FX text that graph_parse() takes, symbols' hints and ranges and the facts in a comment
 * in front; candidate_read_fx() gives an equal candidate. False: out of memory (out->failed). */
bool candidate_print_fx(const struct candidate *candidate, struct buf *out);
/* The same as a log in the form of TORCH_TRACE (create_symbol, guards, the graph), which `symtape
 * import` packs and `replay` walks; facts are guards of the user's. A graph of no compile stage is
 * logged as Dynamo's. */
bool candidate_print_log(const struct candidate *candidate, struct buf *out);

/* The replacement of a name: "x3" for "hidden_states". */
struct cand_alias {
    struct str name, alias;
};
struct cand_aliases {
    vec_of(struct cand_alias)
    list;
    struct arena arena;
};

/* Names, user lines, paths and strings become x0, f0.py ... (--anonymize). Operators, functions of
 * Python's and PyTorch's, sizes and the words that operators know ("mean") stay. `aliases` may be
 * NULL; else what was replaced is added, also on failure. */
struct candidate *candidate_anonymize(const struct candidate *candidate,
                                      struct cand_aliases *aliases, struct err *err);
/* Appends a text of the user's (for example, a regular expression) with the same words replaced. */
void cand_aliases_apply(const struct cand_aliases *aliases, struct str text, struct buf *out);
void cand_aliases_release(struct cand_aliases *aliases);

#endif
