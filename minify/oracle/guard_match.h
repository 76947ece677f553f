/* Decides whether a guard equals the wanted one, up to its canonical form and up to the names of
 * symbols, since edits rename symbols. Private to the room. */
#ifndef SYMTAPE_MINIFY_ORACLE_GUARD_MATCH_H
#define SYMTAPE_MINIFY_ORACLE_GUARD_MATCH_H

#include "replay/attempt/graph_replay.h"

struct guard_match {
    struct str what;
    struct sym_pool *pool; /* of the walk; NULL: the text is not parsed yet */
    sym_id expr, canonical;
    uint64_t shape, canonical_shape; /* hashes without names */
};

/* Returns false with ERR_USAGE if the text is no expression. */
bool guard_match_check(struct str what, struct err *err);
/* Prepares for one walk; the text is parsed when the first guard is compared. */
void guard_match_begin(struct guard_match *match, struct str what);
void guard_match_pool(struct guard_match *match, struct sym_pool *pool);
bool guard_matches(struct guard_match *match, sym_id guard);
void guard_match_end(struct guard_match *match);

#endif
