#include "replay/ops/decomp/bodies.h"

#include "replay/ops/decomp/custom_tree.h"
#include "replay/ops/dispatch/context.h"

static const char *const texts[] = {
#define BODY(id, schema, text)        text,
#define DECOMPOSITION(id, cast, text) text,
#include "replay/ops/decomp/all_bodies.def"
};

void bodies_release(struct bodies *bodies)
{
    for (int i = 0; i < BODIES; i++) {
        custom_rules_free(bodies->read[i]);
        bodies->read[i] = NULL;
    }
}

static bool read_body(struct call *c, enum body body)
{
    struct err err = { 0 };
    struct custom_rules *rules = custom_rules_new(&err);
    if (rules && custom_rules_add_body(rules, &c->op->schema, str_of(texts[body]), &err)) {
        c->ops->bodies->read[body] = rules;
        return true;
    }
    custom_rules_free(rules);
    if (err.kind == ERR_INPUT)
        return unsupported(c, "%.*s: %s", STR_ARG(c->op->name), err.text);
    ops_no_memory(c->ops);
    c->failed = true;
    return false;
}

bool body_run(struct call *c, enum body body, const struct value *args, struct value *ret)
{
    return (c->ops->bodies->read[body] || read_body(c, body)) &&
           custom_eval(c, c->ops->bodies->read[body], 0, args, ret);
}

bool rule_body(struct call *c)
{
    struct value ret;
    return body_run(c, (enum body)c->param, c->args, &ret) && ret_custom(c, ret);
}
