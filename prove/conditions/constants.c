#include "prove/conditions/constants.h"

#include "trace/events/guard_tree.h"

/* Reads "L['n'] == 2". The right side is what follows the last "==": a source may contain one. */
static bool read_constant(struct str code, struct str *source, int64_t *value)
{
    static const char EQUAL[] = " == ";
    size_t at = code.n;
    for (size_t i = 0; i < code.n; i++)
        if (str_starts(str_from(code, i), STR(" == ")))
            at = i;
    if (at == 0 || at == code.n)
        return false;
    *source = str_first(code, at);
    return str_to_i64(str_from(code, at + sizeof EQUAL - 1), value);
}

static bool add_constants(struct constants *ret, struct str tree)
{
    struct tree_guard guard;
    struct str source;
    int64_t value;
    while (guard_tree_next(&tree, &guard)) {
        if (!str_is(guard.kind, "EQUALS_MATCH") || !read_constant(guard.code, &source, &value))
            continue;
        uint32_t id = intern(&ret->sources, source);
        if (id == INTERN_NONE || (id == ret->values.n && !vec_push(&ret->values, value)))
            return false;
    }
    return true;
}

bool constants_read(struct constants *ret, struct trace *trace, uint32_t attempt, struct err *err)
{
    struct arena arena = ARENA_INIT;
    struct str tree;
    *ret = (struct constants){ 0 };
    bool ok = guard_tree_read(trace, attempt, &arena, &tree, err) &&
              (add_constants(ret, tree) || err_nomem(err));
    arena_release(&arena);
    return ok;
}

void constants_release(struct constants *constants)
{
    intern_release(&constants->sources);
    vec_release(&constants->values);
}
