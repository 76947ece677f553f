/* The Python scripts that symtape passes to an interpreter (-c). They check every program that was
 * written from a file before it runs (minify/program/program_check.py).
 *
 * Each first removes the current folder from the module search path, so that a torch.py or json.py
 * beside a tape is never imported. */
#ifndef SYMTAPE_MINIFY_PROGRAM_PROGRAM_SCRIPT_H
#define SYMTAPE_MINIFY_PROGRAM_PROGRAM_SCRIPT_H

#include "trace/base/str.h"

enum program_script {
    PROGRAM_CHECK, /* defines refusal() and NAMES, and does nothing: for tests */
    PROGRAM_RUN,   /* python -c SCRIPT PATH */
    PROGRAM_WORKER /* python -c SCRIPT SOCKET (minify/process/torch_worker.h) */
};

/* Returns a script, which the caller frees, or NULL when memory ran out. `allow` lists namespaces
 * of operators that the user named, or is "". */
char *program_script(enum program_script script, struct str allow);

#endif
