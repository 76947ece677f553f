/* Z3's library, opened at run time. */
#ifndef SYMTAPE_PROVE_Z3_LIBRARY_H
#define SYMTAPE_PROVE_Z3_LIBRARY_H

#include <stdint.h>

#include "trace/base/str.h"

/* The functions that are used; their types are those of Z3's own header, whose objects are
 * pointers.
 */
struct z3_library {
    void *handle;
    void *context; /* made once; each process of a question has a copy */
    void *(*mk_config)(void);
    void *(*mk_context)(void *config);
    void (*set_error_handler)(void *context, void (*handler)(void *context, int code));
    void (*global_param_set)(const char *name, const char *value);
    const char *(*eval_smtlib2_string)(void *context, const char *text);
};

/* Searches the library as the dynamic linker does, and makes a context. Returns false with the
 * linker's message. */
bool z3_library_open(struct z3_library *ret, char *why, size_t size);

/* Evaluates a script, then `values` if it answers "sat", and writes what they print to `out`. For a
 * process that ends afterwards. */
void z3_library_solve(const struct z3_library *library, struct str text, struct str values,
                      int out);

#endif
