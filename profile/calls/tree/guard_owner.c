#include "profile/calls/tree/guard_owner.h"

#include "profile/calls/guards/condition.h"
#include "profile/calls/values/python_scan.h"

struct str next_source(struct str *code)
{
    struct python_scan scan = { *code };
    while (python_scan_next(&scan)) {
        bool begins = (scan.c == 'L' || scan.c == 'G') && scan.next < code->n &&
                      code->p[scan.next] == '[' &&
                      (scan.at == 0 || !is_word_char(code->p[scan.at - 1]));
        struct str rest = str_from(*code, scan.at);
        size_t n = begins ? source_length(rest) : 0;
        if (n) {
            *code = str_from(rest, n);
            return str_first(rest, n);
        }
    }
    *code = STR("");
    return STR("");
}

struct str guard_owner(struct str source)
{
    static const struct str ENDS[] = { { ".__dict__", 9 }, { ".__code__", 9 } };
    bool whole = str_is(source, "G") || str_is(source, "L");
    struct str owner = whole ? source : next_source(&source);
    for (size_t before = owner.n + 1; before != owner.n;) {
        before = owner.n;
        for (size_t i = 0; i < sizeof ENDS / sizeof *ENDS; i++)
            if (str_ends(owner, ENDS[i]))
                owner = str_first(owner, owner.n - ENDS[i].n);
    }
    return owner;
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
