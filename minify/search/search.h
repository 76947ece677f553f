/* The search: asks the oracle about what passes propose, keeps the best, never asks twice.
 *
 * A pass (minify/passes/pass.h) proposes edits against search_best() and is told which were
 * accepted. A proposal is accepted only when the candidate is valid, smaller (cand_size_compare)
 * and interesting; then it is the best, written to disk before anything else happens. Answers come
 * from the cache where it has them. Questions are asked by `jobs` workers at once, speculatively;
 * whatever their order of coming in, the lowest-numbered success wins, so that any number of jobs
 * gives the same bytes and only the number of questions differs.
 *
 * Every call returns false when the search is to stop (deadline, --max-calls, a signal, a broken
 * oracle, out of memory): the pass returns at once. */
#ifndef SYMTAPE_MINIFY_SEARCH_SEARCH_H
#define SYMTAPE_MINIFY_SEARCH_SEARCH_H

#include "minify/edit/edit.h"
#include "minify/oracle/oracle.h"

struct search;

const struct candidate *search_best(const struct search *search);
/* Returns the node of search_best() at which the failure was, or NODE_NONE if the oracle does not
 * report it. */
node_id search_location(const struct search *search);
/* The oracle's answer for the original graph; it names symbols and operators. */
struct str search_failure(const struct search *search);
bool search_cheap(const struct search *search);

/* Tries one proposal: n edits that are made together. */
bool search_try(struct search *search, const struct edit *edits, uint32_t n, bool *accepted);

/* Proposals in order of preference: the first that is accepted wins, *which its number, or
 * UINT32_MAX. Each is a run of edits. */
struct proposal {
    const struct edit *edits;
    uint32_t n;
};
bool search_try_each(struct search *search, const struct proposal *proposals, uint32_t n,
                     uint32_t *which);

/* Monotone: the least x in [from, to) whose proposal make(user, x) is interesting, taking that
 * make(user, to) is; (jobs+1)-ary. weight[x] for each x in [from, to], to included, none negative:
 * how likely it is the answer, in any unit; each question has an even chance then. NULL: all are
 * alike. The best becomes that of *least. Not monotone after all: a local answer, still
 * interesting. */
typedef bool search_maker(void *user, uint32_t x, struct edit *edit);
bool search_least(struct search *search, uint32_t from, uint32_t to, const float *weight,
                  search_maker *make, void *user, uint32_t *least);

/* What answers tell of calls beyond the candidate that was asked about: without this call, less
 * than what is wanted was left. It is no proof for other candidates, so that passes pass over such
 * calls and leave them to the certificate, which asks once, at the end. By name: these stay when
 * edits are made. Out of memory: it is not noted, and asked more often. */
enum needed {
    NEEDED_CALL = 1,  /* the call itself */
    NEEDED_PLACE = 2, /* something goes when it is cut */
};
void search_note_needed(struct search *search, struct str name, enum needed needed);
bool search_is_needed(const struct search *search, struct str name, enum needed needed);

/* Makes as many of n independent edits as can be made (they name parts of the best as it is now;
 * the search keeps track of what becomes of those parts): all at once, then by delta debugging with
 * a probability for each (CDD), likely[i] the first guess that edit i is needed, NULL for none.
 * Neighbours are better left neighbours. made (n) tells which; may be NULL. */
bool search_sweep(struct search *search, const struct edit *edits, uint32_t n, const float *likely,
                  bool *made);

/* Least value of one edit by galloping: value of `edit` from `from` down to `least`. */
bool search_descend(struct search *search, struct edit edit, int64_t from, int64_t least,
                    bool *accepted);

#endif
