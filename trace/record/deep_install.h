/* Prepares a program's Python processes for a deep recording: writes the recorder's Python part
 * to the folder of the run, and finds its C part. */
#ifndef SYMTAPE_TRACE_RECORD_DEEP_INSTALL_H
#define SYMTAPE_TRACE_RECORD_DEEP_INSTALL_H

#include <stdbool.h>

#include "trace/base/file/scratch.h"

/* The levels, each of which records more than the one before. */
extern const char *const deep_levels[]; /* "counts", "graphs", "all", NULL */
bool deep_level_is(const char *level);

/* A Python file of the recorder, which the build makes a part of the program; the list ends with
 * a NULL name. */
struct deep_python_file {
    const char *name;         /* below the folder on PYTHONPATH */
    const char *const *lines; /* ends with NULL */
};
extern const struct deep_python_file deep_python_files[];

/* Writes the files to FOLDER/python. */
bool deep_install(const struct scratch *folder, struct err *err);

/* Returns the path of the module symtape_deep.so: beside the program, where an installation has it
 * relative to the program, or in the folder where it was to be installed. The caller frees it. It
 * returns NULL with ERR_ENV when none of them has it. */
char *deep_library(struct err *err);

#endif
