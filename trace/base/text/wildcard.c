#include "trace/base/text/wildcard.h"

bool wildcard_find(struct str text, struct str pattern, struct str *parts, size_t n)
{
    size_t at = 0;
    bool first = true;
    for (size_t i = 0; i < n; i++)
        parts[i] = STR("");
    while (true) {
        size_t star = str_find_char(pattern, '*');
        struct str literal = str_first(pattern, star);
        size_t start = literal.n > 0 || first ? str_find(text, literal) : str_find_char(text, '\n');
        if (start == text.n && literal.n > 0)
            return false;
        if (!first && at < n)
            parts[at++] = str_first(text, start);
        if (star == pattern.n)
            return true;
        first = false;
        text = str_from(text, start + literal.n);
        pattern = str_from(pattern, star + 1);
    }
}
