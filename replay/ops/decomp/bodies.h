/* Composite operators whose C++ bodies are a few calls of others: bodies.def has them as texts in
 * the language of custom rules (custom.h), read when they are first called. */
#ifndef SYMTAPE_REPLAY_OPS_DECOMP_BODIES_H
#define SYMTAPE_REPLAY_OPS_DECOMP_BODIES_H

#include "replay/ops/dispatch/rule.h"

enum body {
#define BODY(id, schema, text) BODY_##id,
#include "replay/ops/decomp/bodies.def"
#undef BODY
    BODIES
};

struct custom_rules;

/* Each is a set of its own, which does not move while another is read. */
struct bodies {
    struct custom_rules *read[BODIES]; /* NULL: not called yet */
};

void bodies_release(struct bodies *bodies);
op_rule rule_body;

#endif
