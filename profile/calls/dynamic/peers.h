/* Code objects of the same file, line and name, as two ways to go on after one graph break: what
 * automatic dynamic shapes remember is kept by these (CodeId in torch/_dynamo/pgo.py), so that each
 * of them adds to what the others find. */
#ifndef SYMTAPE_PROFILE_CALLS_DYNAMIC_PEERS_H
#define SYMTAPE_PROFILE_CALLS_DYNAMIC_PEERS_H

#include "profile/calls/dynamic/code_calls.h"

enum { MOST_PEERS = 16 }; /* they are run together: of more, each 16 share what is remembered */

/* Sets code_calls.peer: peers form a ring, and one that has none is its own. Returns false when
 * memory ran out. */
bool peers_find(struct calls_table *table);
/* Returns whether a code object is the first of its peers. */
bool is_first_peer(const struct calls_table *table, const struct code_calls *code);

/* The calls of a code object and of its peers, in the order of their look-ups. */
struct peer_calls {
    uint32_t n;
    struct code_calls *codes[MOST_PEERS]; /* the given one is the first */
    size_t next[MOST_PEERS];
};
/* With `alone`, the peers are left out. */
struct peer_calls peer_calls_begin(struct calls_table *table, struct code_calls *code, bool alone);
/* Returns the next call, and sets *member to that of codes which it is of; NULL at the end. */
const struct code_call *peer_calls_next(struct peer_calls *calls, uint32_t *member);

#endif
