/* Where a program calls a compiled function, with plain names as arguments: there a mark of a
 * tensor can stand in the line before.
 *
 * A place is certain if the whole line is one call, `NAME = CALLEE(NAME, ..., NAME=NAME)`, in the
 * file that is patched, outside of compiled functions and of brackets that are open before it, and
 * if the function's own `def` is in that file, so that its parameters have names there. No other
 * compiled function takes one of the arguments: a mark is the tensor's. */
#ifndef SYMTAPE_PROFILE_ADVICE_PATCH_CALL_SITE_H
#define SYMTAPE_PROFILE_ADVICE_PATCH_CALL_SITE_H

#include "profile/advice/patch/program_lines.h"
#include "profile/model/profile.h"

struct call_site {
    size_t line;      /* in the program's lines, from 0 */
    struct str space; /* that the line begins with */
    struct str arguments;
    struct str parameters; /* of the function, without self */
};

/* Where a function of that name begins, with its decorators, and is called; lines from 1. */
struct call_place {
    struct str function;
    uint32_t first_line, call_line;
};
/* Reads the call, and the `def` of the called function, which stands at its first line or below its
 * decorators. Returns false if the place is not certain. */
bool call_site_read(const struct program_lines *lines, struct call_place place,
                    struct call_site *ret);
/* Finds where the function of a compile was called first. `file` is the program's as recorded.
 * Returns false if the place is not certain. */
bool call_site_find(const struct profile *profile, uint32_t compile, struct str file,
                    const struct program_lines *lines, struct call_site *ret);
/* Appends what the program passes as a source, "batch.ids" for "L['x'].ids". Returns false, and
 * appends nothing, if that is no argument with a plain name. */
bool call_site_put(const struct call_site *site, struct str source, struct buf *out);

#endif
