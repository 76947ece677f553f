/* Operators whose decomposition is a text in the language of custom rules (custom.h): composite
 * ones (bodies.def) and pointwise ones (pointwise_bodies.def). A text is read when its operator is
 * first called. */
#ifndef SYMTAPE_REPLAY_OPS_DECOMP_BODIES_H
#define SYMTAPE_REPLAY_OPS_DECOMP_BODIES_H

#include <stdatomic.h>

#include "replay/ops/dispatch/rule.h"

enum body {
#define BODY(id, schema, text)        BODY_##id,
#define DECOMPOSITION(id, cast, text) BODY_##id,
#include "replay/ops/decomp/all_bodies.def"
    BODIES
};

struct custom_rules;

/* The texts that were read, for all contexts of a catalog, also in several threads. Each text has a
 * set of its own, so that it does not move while another is parsed. */
struct bodies {
    _Atomic(struct custom_rules *) read[BODIES]; /* NULL: not called yet */
};

void bodies_release(struct bodies *bodies);

/* Computes what the text returns for these arguments, of which there are as many as the schema
 * has. Returns false after a failure. */
bool body_run(struct call *c, enum body body, const struct value *args, struct value *ret);

op_rule rule_body; /* runs a composite operator; call.param is its text */

#endif
