/* Declarations for bisecting over versions: commits of a repository, or releases. */
#ifndef SYMTAPE_CMD_BISECT_VERSIONS_H
#define SYMTAPE_CMD_BISECT_VERSIONS_H

#include "cmd/bisect/bisect.h"
#include "trace/base/arena.h"

/* A version: state i of the bisection is version i. */
struct version {
    struct str name;   /* the commit's hash, or the release */
    struct str title;  /* the commit's subject; "" */
    struct str python; /* of a release; "" */
    bool merge;        /* a commit of several parents */
};
struct version_list {
    bool commits;
    vec_of(struct version)
    list;
    struct arena arena;
};
void version_list_release(struct version_list *versions);

/* version_list.c. The first version is the one before all others. */

/* A..B: A, and the commits that came to B, each with the first of its parents. */
bool versions_of_range(const char *range, struct version_list *ret, struct err *err);
/* What the merge brought in from one of its other parents (2 ..): where that branched off, and its
 * commits. Nothing, if there is no such parent. */
bool versions_of_merge(struct str merge, unsigned parent, struct version_list *ret,
                       struct err *err);
/* NAME=PYTHON, each */
bool versions_of_pythons(const struct opt_list *pythons, struct version_list *ret, struct err *err);

/* version_log.c: the answers, on disk as soon as they are there. Of commits it is a log that
 * `git bisect replay` takes. Several threads may use it. */
struct version_log;
/* Opens or begins a log of a suite with this id. Returns NULL with ERR_USAGE if it is of another
 * suite, or in use. */
struct version_log *version_log_open(const char *path, struct str id, bool overwrite, bool commits,
                                     struct err *err);
/* Returns whether an answer is known. `again`: that of a check of the result. */
bool version_log_find(struct version_log *log, struct str name, bool again,
                      enum bisect_answer *ret);
bool version_log_add(struct version_log *log, struct str name, bool again,
                     enum bisect_answer answer, struct err *err);
void version_log_close(struct version_log *log); /* NULL is fine */

#endif
