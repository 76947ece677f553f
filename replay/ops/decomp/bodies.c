#include "replay/ops/decomp/bodies.h"

#include "replay/ops/decomp/custom_tree.h"
#include "replay/ops/dispatch/context.h"

static const char *const texts[] = {
#define BODY(id, schema, text) text,
#include "replay/ops/decomp/bodies.def"
#undef BODY
};

void bodies_release(struct bodies *bodies)
{
    for (int i = 0; i < BODIES; i++) {
        custom_rules_free(bodies->read[i]);
        bodies->read[i] = NULL;
    }
}

/* A rule as a file would have it: the schema, then the statements, indented. */
static void write_rule(struct buf *out, struct str schema, struct str text)
{
    buf_put(out, schema);
    while (text.n) {
        size_t end = str_find_char(text, '\n');
        buf_puts(out, "\n  ");
        buf_put(out, str_first(text, end));
        text = str_from(text, end + 1);
    }
}

static bool read_body(struct call *c, struct custom_rules **rules, uint32_t body)
{
    struct err err = { 0 };
    struct buf text = BUF_INIT;
    *rules = custom_rules_new(&err);
    write_rule(&text, c->op->schema.text, str_of(texts[body]));
    bool ok = *rules && !text.failed && custom_rules_add(*rules, buf_str(&text), STR("body"), &err);
    buf_release(&text);
    if (ok)
        return true;
    custom_rules_free(*rules);
    *rules = NULL;
    if (err.kind == ERR_INPUT)
        return unsupported(c, "%s", err.text);
    ops_no_memory(c->ops);
    c->failed = true;
    return false;
}

bool rule_body(struct call *c)
{
    struct custom_rules **rules = &c->ops->bodies->read[c->param];
    return (*rules || read_body(c, rules, (uint32_t)c->param)) && custom_run(c, *rules, 0);
}
