/* The oracle that is a command (--check CMD; symtape-minify(1) tells its contract).
 *
 * Each question is a run of the command in a process group of its own (minify/process/child.h),
 * with a folder of its own that holds the candidate as FX text, Python and tape and is TMPDIR too;
 * it is removed afterwards. The exit code answers:
 *
 *     0 interesting, 1 to 124 not (the other way round with `invert`); also_interesting: fails
 *     otherwise; 125 cannot tell; 126, 127 cannot run: BROKEN at once before it ever ran, later
 *     asked once more; killed by a signal, 128 and up: asked once more, then UNRESOLVED, or what
 *     `crash` says; out of time: UNRESOLVED. */
#ifndef SYMTAPE_MINIFY_ORACLE_ORACLE_CHECK_H
#define SYMTAPE_MINIFY_ORACLE_ORACLE_CHECK_H

#include "minify/oracle/oracle.h"

enum crash_is { CRASH_UNRESOLVED, CRASH_INTERESTING, CRASH_BORING, CRASH_ABORT };

struct check_options {
    struct str command; /* split as a shell would: minify/process/command_line.h */
    bool invert;
    enum crash_is crash;
    int also_interesting; /* exit code; 0: none */
    struct str best;      /* path of the best so far, handed on; "" */
    struct str signature; /* of the first failure, handed on; "" */
    /* The candidate as a program; NULL: none is written. */
    bool (*print_py)(void *user, const struct candidate *candidate, struct buf *out);
    void *user;
};

/* NULL with ERR_USAGE (cannot be split) or ERR_ENV. Its id covers the command, the options, and the
 * content of files that the command's words name, so that another version of a script is another
 * oracle. Texts are copied. */
struct oracle *oracle_check(const struct check_options *options, struct err *err);

#endif
