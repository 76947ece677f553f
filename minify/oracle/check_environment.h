/* Makes the environment of a --check command: the files of its candidate, and variables
 * (symtape-minify(1)). */
#ifndef SYMTAPE_MINIFY_ORACLE_CHECK_ENVIRONMENT_H
#define SYMTAPE_MINIFY_ORACLE_CHECK_ENVIRONMENT_H

#include "minify/oracle/oracle.h"

/* Paths in one folder, which does not exist yet. */
struct check_paths {
    char *folder, *fx, *py, *tape, *tmp;
};
bool check_paths(struct check_paths *paths, const char *run_folder,
                 const struct oracle_question *asking, struct err *err);
void check_paths_release(struct check_paths *paths);

struct check_inputs {
    const struct check_paths *paths;
    const struct oracle_question *asking;
    uint64_t seed;
    struct str signature, best;
};
/* Returns the environment of the caller with our variables before it, to be freed by
 * check_environment_free(), or NULL with err set. */
char **check_environment(const struct check_inputs *inputs, struct err *err);
void check_environment_free(char **environment);

#endif
