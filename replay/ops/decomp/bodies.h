/* Operators whose decomposition is a text in the language of custom rules (custom.h): composite
 * ones (bodies.def) and pointwise ones (pointwise_bodies.def). A text is read when its operator is
 * first called. */
#ifndef SYMTAPE_REPLAY_OPS_DECOMP_BODIES_H
#define SYMTAPE_REPLAY_OPS_DECOMP_BODIES_H

#include "replay/ops/dispatch/rule.h"

enum body {
#define BODY(id, schema, text)        BODY_##id,
#define DECOMPOSITION(id, cast, text) BODY_##id,
#include "replay/ops/decomp/all_bodies.def"
    BODIES
};

struct custom_rules;

/* Each is a set of its own, which does not move while another is read. */
struct bodies {
    struct custom_rules *read[BODIES]; /* NULL: not called yet */
};

void bodies_release(struct bodies *bodies);

/* What the text returns for these arguments, as many as the schema has; false after a failure. */
bool body_run(struct call *c, enum body body, const struct value *args, struct value *ret);

op_rule rule_body; /* of a composite operator: call.param is its text */

#endif
