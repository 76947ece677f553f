/* The Python scripts that symtape hands to an interpreter (-c): what stands in front of every run
 * of a program that was written from a file, so that none runs unchecked
 * (minify/program/program_check.py).
 *
 * Each begins by taking the current folder out of the places that modules are imported from: a
 * torch.py or json.py that lies beside a tape is not ours to import. */
#ifndef SYMTAPE_MINIFY_PROGRAM_PROGRAM_SCRIPT_H
#define SYMTAPE_MINIFY_PROGRAM_PROGRAM_SCRIPT_H

#include "trace/base/str.h"

enum program_script {
    PROGRAM_CHECK, /* defines refusal() and NAMES, and does nothing: for tests */
    PROGRAM_RUN,   /* python -c SCRIPT PATH */
    PROGRAM_WORKER /* python -c SCRIPT SOCKET (minify/process/torch_worker.h) */
};

/* allow: namespaces of operators that the user named; "". To be freed; NULL: out of memory. */
char *program_script(enum program_script script, struct str allow);

#endif
