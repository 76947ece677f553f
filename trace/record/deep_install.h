/* Makes a program's Python processes record deeply: puts the recorder's Python part into the folder
 * of the run, and finds its C part. */
#ifndef SYMTAPE_TRACE_RECORD_DEEP_INSTALL_H
#define SYMTAPE_TRACE_RECORD_DEEP_INSTALL_H

#include <stdbool.h>

#include "trace/base/file/scratch.h"

/* Levels, in the order of what they record. */
extern const char *const deep_levels[]; /* "counts", "graphs", "all", NULL */
bool deep_level_is(const char *level);

/* The recorder's Python files, made part of the program when it is built; ends with a NULL name. */
struct deep_python_file {
    const char *name;         /* below the folder on PYTHONPATH */
    const char *const *lines; /* ends with NULL */
};
extern const struct deep_python_file deep_python_files[];

/* Writes them to FOLDER/python. */
bool deep_install(const struct scratch *folder, struct err *err);

/* Path of the module symtape_deep.so: beside the program, in ../lib/symtape from there, or where it
 * was to be installed. The caller frees. NULL and ERR_ENV when it is in none of them. */
char *deep_library(struct err *err);

#endif
