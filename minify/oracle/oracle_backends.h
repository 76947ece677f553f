/* The numeric oracle (--backend-mismatch): runs a candidate on two backends with the same random
 * inputs and decides whether they differ beyond the tolerance, first at the same operator as for
 * the whole.
 *
 * Each question runs the reference and then the tested backend
 * (replay/backend/compare/comparison.h) and examines the nodes that differ although their inputs
 * agree. If these have other operators only, the answer is VERDICT_OTHER; a candidate that cannot
 * be run is UNRESOLVED. The tolerance is computed for each candidate, so that it does not drift.
 * The backends are opened once, and questions run one after the other. After a failure of
 * a backend both are opened again before the next question; if that fails, its answer is BROKEN. */
#ifndef SYMTAPE_MINIFY_ORACLE_ORACLE_BACKENDS_H
#define SYMTAPE_MINIFY_ORACLE_ORACLE_BACKENDS_H

#include "minify/oracle/oracle.h"

struct backends_options {
    struct str tested, reference; /* names of backends */
    bool tf32;                    /* the tested backend may use TF32 inputs (struct backend) */
    struct str inject; /* "aten.tanh=1e-2": on the tested side each element x of these calls'
                          results becomes x + EPS * (1 + |x|), for tests and demonstrations; "" */
};

/* Returns the oracle, or NULL with ERR_USAGE (an unknown backend, one that computes nothing, an
 * invalid `inject`) or ERR_ENV. Texts are copied. */
struct oracle *oracle_backends(const struct backends_options *options,
                               const struct candidate *whole, struct err *err);

#endif
