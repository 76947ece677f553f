/* Candidates: a graph that fails, with everything that it needs to fail in another program.
 *
 *     struct candidate *whole = candidate_load(trace, &selector, &options, &err);
 *     struct candidate *less = candidate_apply(whole, &edit, 1, &why);   minify/edit/edit.h
 *     candidate_print_fx(less, &text);
 *     candidate_free(less);
 *
 * A candidate is an immutable value, so threads can share it. It is closed: each free symbol is
 * bound by an input's size that is that symbol alone, by a SymInt input or (unbacked) by the call
 * that creates it; each name is bound by an earlier node. Its sizes were recorded, or were computed
 * after an edit that changed shapes, by propagating integers and then expressions. So no oracle is
 * asked about a graph that contradicts itself. */
#ifndef SYMTAPE_MINIFY_CANDIDATE_CANDIDATE_H
#define SYMTAPE_MINIFY_CANDIDATE_CANDIDATE_H

#include "trace/base/arena.h"
#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/vec.h"
#include "trace/graph/graph.h"
#include "trace/open.h"
#include "trace/selector.h"

/* A symbol that the graph uses. INT64_MIN and INT64_MAX mean no bound. */
struct cand_symbol {
    struct str name;   /* as recorded: "s27", "u0", "zf3" */
    struct str source; /* "L['x'].size()[0]"; "" */
    bool backed;
    bool is_float;
    bool has_hint;
    int64_t hint;
    double float_hint;
    int64_t min, max;
    bool marked; /* by mark_dynamic: specializing it is an error */
};

/* A guard or deferred assert that the shape environment starts with: one that no node of the graph
 * causes (of the classes dynamo, torch function, backend, user). */
struct cand_guard {
    struct str expr; /* sympy's str(), over the symbols' names */
    bool deferred;   /* a runtime assert */
    uint32_t node;   /* it is added before this node's call; 0: at the start */
};

struct candidate {
    const struct graph *graph; /* subgraphs are its children */
    enum graph_kind kind;      /* the recorded graph's kind: dynamo, forward, ... */
    const struct cand_symbol *symbols;
    uint32_t n_symbols;
    const struct cand_guard *guards;
    uint32_t n_guards;
    struct str torch_version; /* "2.11.0"; "" where unknown */
    uint64_t seed;            /* of random inputs */
    struct cand_data *data;   /* owns all of it; shared between candidates by a reference count */
};

/* A hint that replaces the recorded one (--sizes s77=31). */
struct cand_hint {
    struct str symbol;
    int64_t hint;
};
struct candidate_options {
    const struct cand_hint *hints;
    uint32_t n_hints;
    bool gradients; /* inputs require gradients where they did; false: none does */
};

/* Loads the graph that the selector names from a tape, a log or a .pt2. A compile that failed has a
 * partial graph only if it was recorded with `record --deep`; otherwise this fails with
 * ERR_USAGE. */
struct candidate *candidate_load(struct trace *trace, const struct selector *selector,
                                 const struct candidate_options *options, struct err *err);
/* Reads FX text (graph_parse): symbols come from its annotations, hints and ranges from a comment
 * that candidate_print_fx() writes, and without it hints are small primes. */
struct candidate *candidate_read_fx(struct str text, const struct candidate_options *options,
                                    struct err *err);
void candidate_free(struct candidate *candidate); /* NULL is fine */
/* Returns the same candidate with one more reference, which candidate_free() releases. */
struct candidate *candidate_hold(struct candidate *candidate);

/* Whether an input requires a gradient (requires_grad): programs then compute the gradients of the
 * outputs by it. */
bool candidate_requires_grad(const struct candidate *candidate, node_id input);
uint32_t candidate_n_gradients(const struct candidate *candidate); /* such inputs */

/* The parts of a size, which are compared lexicographically. A reduction must make the size
 * smaller. */
enum size_part {
    SIZE_CALLS, /* a getitem of a tuple counts with its call */
    SIZE_GUARDS,
    SIZE_SYMBOLS,
    SIZE_SUBGRAPHS,
    SIZE_PORTS,  /* inputs and outputs */
    SIZE_RANKS,  /* sum over inputs */
    SIZE_DTYPES, /* distinct dtypes, and those other than float32 and int64; layouts that are not
                    contiguous, ranges that are not the default, inputs that require gradients */
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

/* Prints FX text that graph_parse() reads, with the symbols' hints and ranges and the guards in a
 * comment before it; candidate_read_fx() returns an equal candidate. Returns false when memory ran
 * out (out->failed). */
bool candidate_print_fx(const struct candidate *candidate, struct buf *out);
/* Prints a log in the form of TORCH_TRACE (create_symbol, guards, the graph), which `symtape
 * import` packs and `replay` walks; guards become guards of the user. A graph of no compile stage
 * is logged as Dynamo's. */
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

/* Returns a copy in which names, user lines, paths and strings are x0, f0.py ... (--anonymize).
 * Operators, functions of Python and PyTorch, sizes and words that operators take ("mean") stay.
 * The replacements are added to `aliases` unless it is NULL, also on failure. */
struct candidate *candidate_anonymize(const struct candidate *candidate,
                                      struct cand_aliases *aliases, struct err *err);
/* Appends a text of the user (for example, a regular expression) with the same replacements. */
void cand_aliases_apply(const struct cand_aliases *aliases, struct str text, struct buf *out);
void cand_aliases_release(struct cand_aliases *aliases);

#endif
