/* Unbacked symbols when a graph is propagated anew: a call that made u1 may make u2 now, and guards
 * about u1 must be about u2 then. Private to the room. */
#ifndef SYMTAPE_MINIFY_CANDIDATE_MADE_SYMBOLS_H
#define SYMTAPE_MINIFY_CANDIDATE_MADE_SYMBOLS_H

#include "minify/candidate/candidate_data.h"
#include "trace/base/arena.h"

struct made_symbol {
    struct str before, now; /* texts of the two graphs */
};

/* Finds the symbols that calls of the root made before and make no more, with what they make in
 * their place: the first one of a call with its first one now, and so on. Nodes have the same
 * numbers in both graphs. The list is in the arena. Returns false when memory ran out. */
bool made_symbols_find(const struct graph *before, const struct cand_texts *texts,
                       const struct cand_texts *now, struct arena *arena, struct made_symbol **ret,
                       uint32_t *n);

#endif
