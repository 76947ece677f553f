#include "replay/ops/aliases.h"

static const char *const SCHEMAS[] = {
#define OP(schema, rule, param) schema,
#define COMPOSITE(schema, rule, param) schema,
#include "replay/ops/all_ops.def"
#undef COMPOSITE
#undef OP
};

/* "aten::transpose.int(..." of "aten.transpose.int"; the overload "default" is not written. */
static bool is_schema_of(struct str schema, struct str op)
{
    size_t dot = str_find_char(op, '.');
    struct str space = str_first(op, dot), name = str_from(op, dot + 1);
    if (str_ends(name, STR(".default")))
        name.n -= strlen(".default");
    size_t before = space.n + strlen("::");
    return schema.n > before + name.n && str_starts(schema, space) &&
           schema.p[space.n] == ':' && str_starts(str_from(schema, before), name) &&
           schema.p[before + name.n] == '(';
}

bool op_returns_alias(struct str op)
{
    for (size_t i = 0; i < sizeof SCHEMAS / sizeof *SCHEMAS; i++) {
        struct str schema = str_of(SCHEMAS[i]);
        if (!is_schema_of(schema, op))
            continue;
        struct str results = str_from(schema, str_find(schema, STR(") -> ")));
        return str_find(results, STR("Tensor(")) < results.n;
    }
    return false;
}
