/* What the guards that are checked at each call say about sizes. */
#include "profile/why/why_build.h"

/* Reads "{0, 2}" and returns whether it has the number. */
static bool set_has(struct str text, uint32_t dim)
{
    text = str_first(text, str_find_char(text, '}'));
    while (text.n) {
        size_t comma = str_find_char(text, ',');
        uint64_t number;
        if (str_to_u64(str_trim(str_first(text, comma)), &number) && number == dim)
            return true;
        text = str_from(text, comma + 1);
    }
    return false;
}

bool why_tree_marks(struct str tree, struct str source, const char *mark, uint32_t dim)
{
    static const struct str SUBSET = { "issubset({", 10 };
    struct tree_guard guard;
    while (guard_tree_next(&tree, &guard)) {
        size_t at = str_find(guard.code, STR("getattr("));
        struct str rest = str_from(guard.code, at + STR("getattr(").n);
        if (!str_is(guard.kind, "DIMENSION_DYNAMIC_MARKING_GUARD") || !str_starts(rest, source))
            continue;
        rest = str_from(rest, source.n);
        if (!str_starts(rest, STR(", '")) || !str_starts(str_from(rest, 3), str_of(mark)))
            continue;
        at = str_find(rest, SUBSET);
        if (set_has(str_from(rest, at + SUBSET.n), dim))
            return true;
    }
    return false;
}

bool why_tree_equals(struct str tree, const char *kind, struct str source, struct tree_guard *ret,
                     struct str *value)
{
    while (guard_tree_next(&tree, ret)) {
        struct str rest = str_from(ret->code, source.n);
        if (str_is(ret->kind, kind) && str_starts(ret->code, source) &&
            str_starts(rest, STR(" == "))) {
            *value = str_from(rest, 4);
            return true;
        }
    }
    return false;
}

bool why_tree_equal_to(struct str tree, struct str source, struct str *ret)
{
    struct tree_guard guard;
    while (guard_tree_next(&tree, &guard)) {
        size_t at = str_find(guard.code, STR(" == "));
        if (str_is(guard.kind, "LAMBDA_GUARD") && at < guard.code.n &&
            str_eq(str_from(guard.code, at + 4), source)) {
            *ret = str_first(guard.code, at);
            return true;
        }
    }
    return false;
}

bool why_is_duck_guard(const struct tree_guard *guard)
{
    return str_starts(guard->comment, STR("duck sizing added this equality"));
}

bool why_tree_number(struct why_build *b, struct str tree, struct str plain, struct str *source,
                     struct tree_guard *ret, struct str *value)
{
    while (guard_tree_next(&tree, ret)) {
        size_t at = str_find(ret->code, STR(" == "));
        if (!str_is(ret->kind, "EQUALS_MATCH") || at == ret->code.n)
            continue;
        *source = str_first(ret->code, at);
        if (str_eq(why_name_plain(*source, &b->arena), plain)) {
            *value = str_from(ret->code, at + 4);
            return true;
        }
    }
    return false;
}
