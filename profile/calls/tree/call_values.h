/* Which calls pass equal values, as far as guards can tell. */
#ifndef SYMTAPE_PROFILE_CALLS_TREE_CALL_VALUES_H
#define SYMTAPE_PROFILE_CALLS_TREE_CALL_VALUES_H

#include "profile/calls/guards/entry_guards.h"

struct object_seen {
    bool known;       /* a guard compares values with this object */
    uint64_t call;    /* the last call that has it */
    uint32_t ordinal; /* among the objects of that call */
};

struct call_hasher {
    vec_of(struct object_seen)
    objects; /* by number */
    uint64_t n_calls;
    struct buf key;
};

/* Notes the objects that the guards of an entry compare values with. Returns false when memory ran
 * out. */
bool call_hasher_note(struct call_hasher *hasher, const struct entry_guards *guards);
/* Hashes the values of a call. Objects that no guard knows count only by which values of the call
 * share them. Returns false when memory ran out. */
bool call_hasher_hash(struct call_hasher *hasher, const struct program_call *call, uint64_t *ret);
void call_hasher_release(struct call_hasher *hasher);

#endif
