/* The Python whose PyTorch is asked, and the version of that.
 *
 * It comes from the command line, the environment or a program that the user ran, and never from a
 * file that is read: a file may be a stranger's. */
#ifndef SYMTAPE_MINIFY_PROCESS_TORCH_PYTHON_H
#define SYMTAPE_MINIFY_PROCESS_TORCH_PYTHON_H

#include <stdatomic.h>

#include "trace/base/err.h"
#include "trace/base/str.h"

struct torch_python {
    char *path;        /* as it was named, or that of $PATH */
    char version[64];  /* of its PyTorch: "2.13.0+cpu"; "": it is not known */
    const char *lacks; /* why it is not known: "no PyTorch", "cannot be started" ... */
    const char *from;  /* who names it: "--python" */
};

/* Chooses `named` if it is not empty, else $SYMTAPE_PYTHON, else `program`, the Python of a program
 * that the user ran, if it is not empty, else the first python3 of the absolute folders of
 * $PATH that has PyTorch, or the first one if none has. Each that is considered is asked for the
 * version of its PyTorch, which is read from a file and not imported. Returns false with err set
 * when memory ran out, or with ERR_INTERRUPTED. */
bool torch_python_choose(struct str named, struct str program, const atomic_bool *cancel,
                         struct torch_python *ret, struct err *err);
void torch_python_release(struct torch_python *python);

#endif
