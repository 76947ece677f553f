/* The search asks the oracle about the proposals of passes, stores the best candidate, and never
 * asks twice.
 *
 * A pass (minify/passes/pass.h) proposes edits of search_best() and gets back which were accepted.
 * A proposal is accepted only if the candidate is valid, smaller (cand_size_compare) and
 * interesting; then it is the best and is written to disk, at once or, if the oracle is cheap, at
 * most half a second later. Answers come from the cache if it has them. `jobs` workers ask
 * questions in parallel and speculatively; in whatever order their answers arrive, the first
 * success in the order of the schedule is accepted, so any number of jobs gives the same bytes and
 * only the number of questions differs.
 *
 * Every function returns false if the search must stop (deadline, --max-calls, a signal, a broken
 * oracle, out of memory); the pass then returns at once. */
#ifndef SYMTAPE_MINIFY_SEARCH_SEARCH_H
#define SYMTAPE_MINIFY_SEARCH_SEARCH_H

#include "minify/edit/edit.h"
#include "minify/oracle/oracle.h"

struct search;

const struct candidate *search_best(const struct search *search);
/* Returns the node of search_best() at which the failure was, or NODE_NONE if the oracle does not
 * report it. */
node_id search_location(const struct search *search);
/* Returns the oracle's answer for the original graph; it contains symbols and operators. */
struct str search_failure(const struct search *search);
bool search_cheap(const struct search *search);

/* Finds out whether edits of the best one give a candidate that is valid and smaller; then *calls,
 * unless it is NULL, is the number of its calls. */
bool search_fits(struct search *search, const struct edit *edits, uint32_t n, bool *fits,
                 uint64_t *calls);
/* Says with which probability the next proposal is accepted, if a pass knows, apart from how often
 * its proposals were accepted lately and from what answers say about operators: that decides what
 * is asked in advance, and nothing else. */
void search_expect(struct search *search, double chance);

/* Tries one proposal of n edits that are made together. */
bool search_try(struct search *search, const struct edit *edits, uint32_t n, bool *accepted);

/* A proposal is a run of edits. search_try_each() tries proposals in order of preference; the first
 * success is accepted, and *which is its number, or UINT32_MAX. */
struct proposal {
    const struct edit *edits;
    uint32_t n;
};
bool search_try_each(struct search *search, const struct proposal *proposals, uint32_t n,
                     uint32_t *which);

/* Finds the least x in [from, to) whose proposal make(user, x) is interesting, assuming that
 * make(user, to) is and that the answers are monotone. weight[x] for each x in [from, to],
 * including to, is not negative and proportional to the probability that x is the answer; each
 * question then has an even chance. NULL means equal weights. The best becomes that of *least. If
 * the answers are not monotone, the result is a local minimum that is still interesting. */
typedef bool search_maker(void *user, uint32_t x, struct edit *edit);
bool search_least(struct search *search, uint32_t from, uint32_t to, const float *weight,
                  search_maker *make, void *user, uint32_t *least);

/* What answers imply about calls of other candidates: without this call, the failure disappeared.
 * That is no proof for other candidates, so passes skip such calls and leave them to the
 * certificate, which asks once, at the end. Calls are stored by name, since names stay when edits
 * are made. When memory runs out, a call is not noted and is asked about more often. */
enum needed {
    NEEDED_CALL = 1,  /* the call itself */
    NEEDED_PLACE = 2, /* the failure disappears when it is cut */
};
void search_note_needed(struct search *search, struct str name, enum needed needed);
bool search_is_needed(const struct search *search, struct str name, enum needed needed);

/* Makes as many of n independent edits as possible: all at once, then by delta debugging with a
 * probability for each (CDD), where likely[i] is the initial probability that edit i is needed;
 * NULL for none. The edits refer to parts of the current best; the search maps them to later
 * candidates. Related edits should be neighbours. `made` (n elements, or NULL) receives which were
 * made. */
bool search_sweep(struct search *search, const struct edit *edits, uint32_t n, const float *likely,
                  bool *made);

/* Finds the least value of one edit by galloping: the value of `edit` from `from` down to
 * `least`. */
bool search_descend(struct search *search, struct edit edit, int64_t from, int64_t least,
                    bool *accepted);

#endif
