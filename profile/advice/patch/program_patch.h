/* The patch of a user's program that makes the changes of advice, as a unified diff. Nothing is
 * written: the program stays as it is.
 *
 * A change is made where its place is certain. A setting replaces the only statement of the program
 * that sets it, or follows `import torch`. Marks of sizes stand before the calls of the compiled
 * functions (call_site.h), or become the setting dynamic_sources. torch._check() stands before the
 * `if` that needs it. A Dim replaces the only one of its name. mark_dynamic() becomes
 * maybe_mark_dynamic() where the program marks that dimension once. The program has to be what was
 * recorded: each line of it that the tape has must be the same. */
#ifndef SYMTAPE_PROFILE_ADVICE_PATCH_PROGRAM_PATCH_H
#define SYMTAPE_PROFILE_ADVICE_PATCH_PROGRAM_PATCH_H

#include "profile/advice/advice.h"

struct program_patch {
    struct buf diff; /* "" if no change has a certain place */
    bool *applied;   /* by step of advice->together */
    uint32_t n_applied;
};

/* `path` is the name of the program in the diff, `text` what it consists of. Returns false with err
 * set when memory ran out, or (ERR_INPUT) when the program is not the one that was recorded. */
bool program_patch_make(const struct advice *advice, struct str path, struct str text,
                        struct program_patch *ret, struct err *err);
/* Appends the setting that makes all marks of advice->together. Returns false, and appends nothing,
 * if there are none or the recorded release has no such setting. */
bool program_patch_marks(const struct advice *advice, struct buf *out);
void program_patch_release(struct program_patch *patch);

#endif
