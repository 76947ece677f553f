/* The oracle that is a command (--check CMD; symtape-minify(1) describes its contract).
 *
 * Each question is a run of the command in a process group of its own (minify/process/child.h),
 * with a folder of its own, which contains the candidate as FX text, Python and tape, is also
 * TMPDIR and is removed afterwards. The exit code is the answer:
 *
 *     0            interesting (with `invert` not)
 *     1 to 124     not interesting (with `invert` interesting); `also_interesting`: fails
 *                  differently
 *     125          unresolved
 *     126, 127     the command cannot run: broken if it never ran, else asked once more
 *     128 and up, or killed by a signal: asked once more, then unresolved, or as `crash` says
 *
 * A command that exceeds its time is unresolved. */
#ifndef SYMTAPE_MINIFY_ORACLE_ORACLE_CHECK_H
#define SYMTAPE_MINIFY_ORACLE_ORACLE_CHECK_H

#include "minify/oracle/oracle.h"
#include "minify/remote/launcher.h"

enum crash_is { CRASH_UNRESOLVED, CRASH_INTERESTING, CRASH_BORING, CRASH_ABORT };

struct check_options {
    struct str command; /* split as a shell would: minify/process/command_line.h */
    bool invert;
    enum crash_is crash;
    int also_interesting;      /* an exit code; 0: none */
    struct str best;           /* the path of the best so far, for the command; "" */
    struct str signature;      /* of the first failure, for the command; "" */
    struct launcher *launcher; /* its workers run the command; NULL: this process does */
    /* Prints the candidate as a program; NULL: none is written. */
    bool (*print_py)(void *user, const struct candidate *candidate, struct buf *out);
    void *user;
};

/* Returns the oracle, or NULL with ERR_USAGE (the command cannot be split) or ERR_ENV. The id
 * covers the command, the options, and the contents of files that the command's words name, so that
 * another version of a script is another oracle. Texts are copied. */
struct oracle *oracle_check(const struct check_options *options, struct err *err);

#endif
