/* Composite operators whose C++ bodies are a few calls of others: bodies.def has them as texts in
 * the language of custom rules (custom.h), read when they are first called. */
#ifndef SYMTAPE_REPLAY_OPS_BODIES_H
#define SYMTAPE_REPLAY_OPS_BODIES_H

#include "replay/ops/rule.h"

enum body {
#define BODY(id, schema, text) BODY_##id,
#include "replay/ops/bodies.def"
#undef BODY
    BODIES
};

struct custom_rules;

struct bodies {
    struct custom_rules *rules; /* NULL: none was called yet */
    uint32_t by_body[BODIES];   /* its number among the rules, from 1 */
};

void bodies_release(struct bodies *bodies);
op_rule rule_body;

#endif
