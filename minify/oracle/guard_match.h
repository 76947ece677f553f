/* Decides whether a guard is the one that is looked for, up to its canonical form and up to the
 * names of symbols, since edits rename symbols. Private to the room. */
#ifndef SYMTAPE_MINIFY_ORACLE_GUARD_MATCH_H
#define SYMTAPE_MINIFY_ORACLE_GUARD_MATCH_H

#include "replay/attempt/graph_replay.h"

struct guard_match {
    struct str what;
    struct sym_pool *pool; /* of the walk; NULL: not read yet */
    sym_id expr, canonical;
    uint64_t shape, canonical_shape; /* hashes that leave names out */
};

/* ERR_USAGE: no expression. */
bool guard_match_check(struct str what, struct err *err);
/* For one walk; the text is read when the first guard is looked at. */
void guard_match_begin(struct guard_match *match, struct str what);
void guard_match_pool(struct guard_match *match, struct sym_pool *pool);
bool guard_matches(struct guard_match *match, sym_id guard);
void guard_match_end(struct guard_match *match);

#endif
