/* A cache of the oracle's answers by candidate, those of this run and of earlier runs.
 *
 * Nothing is inferred: only a candidate that was asked about itself has an answer. */
#ifndef SYMTAPE_MINIFY_SEARCH_ANSWER_CACHE_H
#define SYMTAPE_MINIFY_SEARCH_ANSWER_CACHE_H

#include "minify/oracle/oracle.h"
#include "trace/base/arena.h"
#include "trace/base/vec.h"

/* The answer to one candidate. */
struct cached_answer {
    struct cand_hash hash;
    enum verdict verdict;
    uint32_t attempts;          /* how often it was asked for that */
    uint32_t confirmed;         /* asked again later, it was interesting as often ... */
    uint32_t doubted;           /* ... and was not as often */
    double seconds;             /* of the first attempt */
    struct str node;            /* that the failure named; "" */
    struct signature signature; /* of a failure, and what was said of it */
    struct str text;
    bool needed;  /* the schedule asked for it: it counts */
    bool resumed; /* an earlier run's */
};

struct cache {
    vec_of(struct cached_answer)
    entries;         /* in the order of coming in */
    uint32_t *slots; /* entry + 1, or 0; open addressing, a power of two */
    size_t n_slots;
    struct arena texts;
};
#define CACHE_INIT ((struct cache){ 0 })

/* NULL when it is not known; the pointer is good until the next cache_add(). */
struct cached_answer *cache_find(const struct cache *cache, struct cand_hash hash);
/* Takes `known` in, its text copied; one of the same hash is replaced, but stays needed. False
 * when memory ran out. */
bool cache_add(struct cache *cache, const struct cached_answer *known);
void cache_release(struct cache *cache);

static inline bool cand_hash_eq(struct cand_hash a, struct cand_hash b)
{
    return a.low == b.low && a.high == b.high;
}

#endif
