/* The replayed result beside the recorded one. */
#ifndef SYMTAPE_REPLAY_PROGRAM_COMPARE_H
#define SYMTAPE_REPLAY_PROGRAM_COMPARE_H

#include "replay/program/program.h"

enum likeness {
    LIKE_SAME,
    LIKE_LATER, /* not the same yet: sizes of equal hints may become equal by a later guard */
    LIKE_OTHER
};

/* As things stand now; sizes are read through the environment's replacements on both sides. */
enum likeness compare_value(struct ops *ops, const struct expected *expected, struct value got);

/* Unbacked symbols that a rule made and that no record named yet. */
struct unbound {
    vec_of(sym_id)
    symbols;
    uint32_t seen; /* of env_n_symbols() */
};
void unbound_release(struct unbound *unbound);
/* Takes in what was made since; false: out of memory. */
bool unbound_gather(struct unbound *unbound, struct shape_env *env);
/* Gives those symbols of `got` the names that the record shows in their places: a retrace makes new
 * symbols, which PyTorch renames to the first ones (rebind_unbacked). */
void bind_unbacked(struct unbound *unbound, struct ops *ops, const struct expected *expected,
                   struct value got);

/* Makes the unbacked symbols that a record names known to the environment: of an input, which no
 * call makes, or of a call that could not be replayed. */
void know_unbacked(struct unbound *unbound, struct ops *ops, const struct expected *expected);

/* The value as it would be printed now. */
void print_value_now(struct ops *ops, struct value value, struct buf *out);
/* The value as it was made: only what became of unbacked symbols is read. */
void print_value_then(struct ops *ops, struct value value, struct buf *out);

#endif
