/* Comparison of a replayed result with the recorded one. */
#ifndef SYMTAPE_REPLAY_PROGRAM_COMPARE_RESULTS_H
#define SYMTAPE_REPLAY_PROGRAM_COMPARE_RESULTS_H

#include "replay/program/program.h"

enum likeness {
    LIKE_SAME,
    LIKE_LATER, /* not yet equal: sizes with equal hints may become equal by a later guard */
    LIKE_OTHER
};

/* Compares in the environment's present state, after replacements on both sides. */
enum likeness compare_value(struct ops *ops, const struct expected *expected, struct value got);

/* Unbacked symbols that a rule created and that no recorded meta has named yet. */
struct unbound {
    vec_of(sym_id)
    symbols;
    uint32_t seen; /* how many of env_n_symbols() were examined */
};
void unbound_release(struct unbound *unbound);
/* Adds the unbacked symbols that were created since the last call. False: out of memory. */
bool unbound_gather(struct unbound *unbound, struct shape_env *env);
/* Renames those symbols in `got` to the recorded ones at the same positions: a retrace creates new
 * symbols, which PyTorch renames to the first ones (rebind_unbacked). */
void bind_unbacked_symbols(struct unbound *unbound, struct ops *ops,
                           const struct expected *expected, struct value got);

/* Adds the unbacked symbols of a recorded meta to the environment: those of an input, which no call
 * creates, and those of a call that could not be replayed. */
void know_unbacked(struct unbound *unbound, struct ops *ops, const struct expected *expected);

/* Prints the value in the environment's present state. */
void print_value_now(struct ops *ops, struct value value, struct buf *out);
/* Prints the value as it was created; only replacements of unbacked symbols are applied. */
void print_value_then(struct ops *ops, struct value value, struct buf *out);

#endif
