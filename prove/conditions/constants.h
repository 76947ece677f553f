/* Integers that a compile takes for constants: its guards say that they are equal to a number. */
#ifndef SYMTAPE_PROVE_CONDITIONS_CONSTANTS_H
#define SYMTAPE_PROVE_CONDITIONS_CONSTANTS_H

#include "trace/base/intern.h"
#include "trace/base/vec.h"
#include "trace/open.h"

struct constants {
    struct intern sources; /* "L['n']" */
    vec_of(int64_t)
    values; /* by source */
};

/* Reads those of an attempt's guard tree; a failed attempt has none. Fails when memory ran out or
 * the trace cannot be read; constants_release() is required then, too. */
bool constants_read(struct constants *ret, struct trace *trace, uint32_t attempt, struct err *err);
void constants_release(struct constants *constants);

#endif
