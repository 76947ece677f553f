#include "minify/search/trial_memory.h"

#include "trace/base/hash.h"

enum { RECORDS_MAX = 1 << 16 };

uint64_t trial_key(struct cand_hash base, const struct edit *edits, size_t n)
{
    uint64_t key = hash_mix(hash_mix(base.low, base.high), n);
    for (size_t i = 0; i < n; i++)
        key = hash_mix(hash_mix(key, (uint64_t)edits[i].kind << 32 | edits[i].a),
                       hash_mix(edits[i].b, (uint64_t)edits[i].value));
    return key;
}

static struct trial_record *find_record(const struct trial_memory *memory, uint64_t key)
{
    uint32_t entry;
    for (size_t at = hash_index_start(&memory->index, (uint32_t)key);
         hash_index_next(&memory->index, (uint32_t)key, &at, &entry);)
        if (memory->records.v[entry].key == key)
            return &memory->records.v[entry];
    return NULL;
}

const struct trial_record *trial_memory_find(const struct trial_memory *memory, uint64_t key)
{
    return find_record(memory, key);
}

static struct trial_record *add_record(struct trial_memory *memory, uint64_t key,
                                       const struct trial_result *result)
{
    if (memory->records.n >= RECORDS_MAX)
        trial_memory_release(memory);
    if (!hash_index_reserve(&memory->index, 1) ||
        !vec_push(&memory->records, ((struct trial_record){ key, *result, NULL })))
        return NULL;
    hash_index_add(&memory->index, (uint32_t)key, (uint32_t)memory->records.n - 1);
    return &memory->records.v[memory->records.n - 1];
}

/* Holds the candidate of a record instead of the one that has been held longest. */
static void hold_candidate(struct trial_memory *memory, struct trial_record *record,
                           struct candidate *candidate)
{
    uint32_t *place = &memory->held[memory->n_held % TRIAL_CANDIDATES];
    if (memory->n_held >= TRIAL_CANDIDATES) {
        candidate_free(memory->records.v[*place].candidate);
        memory->records.v[*place].candidate = NULL;
    }
    *place = (uint32_t)(record - memory->records.v);
    memory->n_held++;
    record->candidate = candidate_hold(candidate);
}

void trial_memory_add(struct trial_memory *memory, uint64_t key, const struct trial_result *result,
                      struct candidate *candidate)
{
    struct trial_record *record = find_record(memory, key);
    if (!record)
        record = add_record(memory, key, result);
    if (record && candidate && !record->candidate)
        hold_candidate(memory, record, candidate);
}

void trial_memory_release(struct trial_memory *memory)
{
    for (size_t i = 0; i < memory->records.n; i++)
        candidate_free(memory->records.v[i].candidate);
    vec_release(&memory->records);
    hash_index_release(&memory->index);
    *memory = (struct trial_memory){ 0 };
}
