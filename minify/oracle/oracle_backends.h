/* The numeric oracle (--backend-mismatch): does a candidate, run for real on two backends with the
 * same random inputs, differ beyond the tolerance, first at the same operator as the whole did?
 *
 * Each question runs the reference and then the tested backend
 * (replay/backend/compare/comparison.h) and looks at the nodes that differ although what they are
 * computed from agrees. A candidate with such nodes of other operators alone is VERDICT_OTHER; one
 * that cannot be run is UNRESOLVED. The tolerance is derived anew for each candidate, so that it
 * does not slip. The backends are opened once; questions wait for each other. A backend that failed
 * is opened again; where that fails, too, it is BROKEN. */
#ifndef SYMTAPE_MINIFY_ORACLE_ORACLE_BACKENDS_H
#define SYMTAPE_MINIFY_ORACLE_ORACLE_BACKENDS_H

#include "minify/oracle/oracle.h"

struct backends_options {
    struct str tested, reference; /* names of backends */
    bool tf32;         /* on the tested side factors of f32 may be rounded to it (struct backend) */
    struct str inject; /* "aten.tanh=1e-2": on the tested side x + EPS * (1 + |x|) for each element
                          x of such calls' results, for tests and demonstrations; "" */
};

/* NULL with ERR_USAGE (no such backend, it computes nothing, inject cannot be read) or ERR_ENV.
 * Texts are copied. */
struct oracle *oracle_backends(const struct backends_options *options,
                               const struct candidate *whole, struct err *err);

#endif
