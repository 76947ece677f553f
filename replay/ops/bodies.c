#include "replay/ops/bodies.h"

#include "replay/ops/context.h"
#include "replay/ops/custom_tree.h"

static const char *const texts[] = {
#define BODY(id, schema, text) text,
#include "replay/ops/bodies.def"
#undef BODY
};

void bodies_release(struct bodies *bodies)
{
    custom_rules_free(bodies->rules);
    bodies->rules = NULL;
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

static bool read_body(struct call *c, struct bodies *bodies, uint32_t body)
{
    struct err err = { 0 };
    struct buf text = BUF_INIT;
    if (!bodies->rules)
        bodies->rules = custom_rules_new(&err);
    write_rule(&text, c->op->schema.text, str_of(texts[body]));
    bool ok = bodies->rules && !text.failed &&
              custom_rules_add(bodies->rules, buf_str(&text), STR("body"), &err);
    buf_release(&text);
    if (ok) {
        bodies->by_body[body] = (uint32_t)custom_rules_count(bodies->rules);
        return true;
    }
    if (err.kind == ERR_INPUT)
        return unsupported(c, "%s", err.text);
    ops_no_memory(c->ops);
    c->failed = true;
    return false;
}

bool rule_body(struct call *c)
{
    struct bodies *bodies = &c->ops->bodies;
    uint32_t body = (uint32_t)c->param;
    if (!bodies->by_body[body] && !read_body(c, bodies, body))
        return false;
    return custom_run(c, bodies->rules, bodies->by_body[body] - 1);
}
