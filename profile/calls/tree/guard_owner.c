#include "profile/calls/tree/guard_owner.h"

#include "profile/calls/guards/condition.h"
#include "profile/calls/values/python_scan.h"

/* Removes "type(" and the like in front, with what follows the bracket that it opens. */
static struct str without_call(struct str source, struct str call)
{
    if (!str_starts(source, call))
        return source;
    struct python_scan scan = { source };
    unsigned calls = 0;
    for (size_t i = 0; i < call.n; i++)
        calls += call.p[i] == '(';
    while (python_scan_next(&scan))
        if (scan.closes && scan.depth + 1 == calls)
            return str_from(str_first(source, scan.at), call.n);
    return source;
}

struct str guard_owner(struct str source)
{
    static const struct str ENDS[] = { { ".__dict__", 9 }, { ".__code__", 9 } };
    static const struct str CALLS[] = { { "list(dict.keys(", 15 }, { "type(", 5 } };
    for (size_t before = source.n + 1; before != source.n;) {
        before = source.n;
        for (size_t i = 0; i < sizeof ENDS / sizeof *ENDS; i++)
            if (str_ends(source, ENDS[i]))
                source = str_first(source, source.n - ENDS[i].n);
        for (size_t i = 0; i < sizeof CALLS / sizeof *CALLS; i++)
            source = without_call(source, CALLS[i]);
    }
    return source;
}

struct str next_source(struct str *code)
{
    while (code->n) {
        size_t n = source_length(*code);
        struct str source = str_first(*code, n);
        *code = str_from(*code, n ? n : 1);
        if (n)
            return source;
    }
    return STR("");
}

bool owner_is_parameter(struct str owner)
{
    return str_contains(owner, STR("._parameters[")) || str_contains(owner, STR("._buffers["));
}

bool owner_is_argument(struct str owner)
{
    return str_starts(owner, STR("L[")) && !str_starts(owner, STR("L['self']")) &&
           !str_contains(owner, STR("._modules[")) && !owner_is_parameter(owner);
}

size_t owner_parts(struct str owner, size_t ends[MOST_OWNER_PARTS])
{
    struct python_scan scan = { owner };
    size_t n = 0;
    while (python_scan_next(&scan)) {
        bool starts_part = (scan.depth == 0 && scan.c == '.') ||
                           (scan.depth == 1 && scan.c == '[' && !scan.closes);
        if (!starts_part || scan.at == 0)
            continue;
        if (n < MOST_OWNER_PARTS)
            ends[n] = scan.at;
        n++;
    }
    if (n < MOST_OWNER_PARTS)
        ends[n] = owner.n;
    return n + 1;
}
