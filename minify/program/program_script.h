/* The Python scripts that symtape passes to an interpreter (-c). They check every program that was
 * written from a file before it runs (minify/program/program_check.py).
 *
 * Each first removes the current folder from the module search path, so that a torch.py or json.py
 * beside a tape is never imported. */
#ifndef SYMTAPE_MINIFY_PROGRAM_PROGRAM_SCRIPT_H
#define SYMTAPE_MINIFY_PROGRAM_PROGRAM_SCRIPT_H

#include "minify/program/program_setup.h"

enum program_script {
    PROGRAM_CHECK, /* defines refusal() and NAMES, and does nothing: for tests */
    PROGRAM_RUN,   /* python -c SCRIPT PATH */
    PROGRAM_WORKER /* python -c SCRIPT SOCKET (minify/process/torch_worker.h) */
};

/* Returns a script, which the caller frees, or NULL when memory ran out. */
char *program_script(enum program_script script, const struct program_setup *setup);

#endif
