/* Remembers what trials gave, so that a forecast (minify/search/forecast.h), which repeats trials,
 * need not apply their edits again. Private to the room. */
#ifndef SYMTAPE_MINIFY_SEARCH_TRIAL_MEMORY_H
#define SYMTAPE_MINIFY_SEARCH_TRIAL_MEMORY_H

#include "minify/edit/edit.h"
#include "trace/base/hash_index.h"
#include "trace/base/vec.h"

/* What a trial gives: no candidate if it is not valid. */
struct trial_result {
    bool valid;
    struct cand_hash hash;
    struct cand_size size;
};

struct trial_record {
    uint64_t key;
    struct trial_result result;
    struct candidate *candidate; /* held, of the last few; NULL */
};

enum { TRIAL_CANDIDATES = 64 };

struct trial_memory {
    vec_of(struct trial_record)
    records;
    struct hash_index index;
    uint32_t held[TRIAL_CANDIDATES]; /* numbers of records, in a ring */
    uint32_t n_held;                 /* ever */
};

/* Returns a hash of the base and the edits. */
uint64_t trial_key(struct cand_hash base, const struct edit *edits, size_t n);
/* Returns what is known about a trial, or NULL. It is valid until the next trial_memory_add(). */
const struct trial_record *trial_memory_find(const struct trial_memory *memory, uint64_t key);
/* Stores a result, and takes a reference to the candidate. When memory runs out, or there are very
 * many results, trials are applied again. */
void trial_memory_add(struct trial_memory *memory, uint64_t key, const struct trial_result *result,
                      struct candidate *candidate);
void trial_memory_release(struct trial_memory *memory);

#endif
