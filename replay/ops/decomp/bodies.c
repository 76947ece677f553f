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
    for (int i = 0; i < BODIES; i++)
        custom_rules_free(atomic_exchange(&bodies->read[i], NULL));
}

/* Stores what was read, and returns what is stored: another thread may have been first. */
static struct custom_rules *publish(struct bodies *bodies, enum body body,
                                    struct custom_rules *rules)
{
    struct custom_rules *first = NULL;
    if (atomic_compare_exchange_strong(&bodies->read[body], &first, rules))
        return rules;
    custom_rules_free(rules);
    return first;
}

static const struct custom_rules *read_body(struct call *c, enum body body)
{
    struct err err = { 0 };
    struct custom_rules *rules = custom_rules_new(&err);
    if (rules && custom_rules_add_body(rules, &c->op->schema, str_of(texts[body]), &err))
        return publish(c->ops->catalog->bodies, body, rules);
    custom_rules_free(rules);
    if (err.kind == ERR_INPUT) {
        unsupported(c, "%.*s: %s", STR_ARG(c->op->name), err.text);
        return NULL;
    }
    ops_no_memory(c->ops);
    c->failed = true;
    return NULL;
}

bool body_run(struct call *c, enum body body, const struct value *args, struct value *ret)
{
    const struct custom_rules *rules = atomic_load(&c->ops->catalog->bodies->read[body]);
    if (!rules)
        rules = read_body(c, body);
    return rules && custom_eval(c, rules, 0, args, ret);
}

bool rule_body(struct call *c)
{
    struct value ret;
    return body_run(c, (enum body)c->param, c->args, &ret) && ret_custom(c, ret);
}
