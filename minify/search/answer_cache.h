/* A cache of the oracle's answers by candidate, from this run and from earlier runs.
 *
 * Nothing is inferred: an answer belongs to exactly one candidate. */
#ifndef SYMTAPE_MINIFY_SEARCH_ANSWER_CACHE_H
#define SYMTAPE_MINIFY_SEARCH_ANSWER_CACHE_H

#include "minify/oracle/oracle.h"
#include "trace/base/arena.h"
#include "trace/base/hash_index.h"
#include "trace/base/vec.h"

/* The answer to one candidate. */
struct cached_answer {
    struct cand_hash hash;
    enum verdict verdict;
    uint32_t attempts;          /* the number of questions for the answer */
    uint32_t confirmed;         /* asked again later, it was interesting this often ... */
    uint32_t doubted;           /* ... and was not this often */
    double seconds;             /* of the first attempt */
    struct str node;            /* the node in the failure; "" */
    struct signature signature; /* of a failure */
    struct str text;
    bool needed;  /* the schedule asked for it, so it counts */
    bool resumed; /* from an earlier run */
};

struct cache {
    vec_of(struct cached_answer)
    entries;                 /* in the order of insertion */
    struct hash_index index; /* of entries */
    struct arena texts;
};
#define CACHE_INIT ((struct cache){ 0 })

/* Returns the answer to a candidate, valid until the next cache_add(), or NULL. */
struct cached_answer *cache_find(const struct cache *cache, struct cand_hash hash);
/* Adds an answer and copies its texts. It replaces one with the same hash, which stays needed.
 * Returns false when memory ran out. */
bool cache_add(struct cache *cache, const struct cached_answer *known);
void cache_release(struct cache *cache);

static inline bool cand_hash_eq(struct cand_hash a, struct cand_hash b)
{
    return a.low == b.low && a.high == b.high;
}

#endif
