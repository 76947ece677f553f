#include "trace/events/result_name.h"

/* Returns whether code after "=" is a call or an indexing alone, whose result is what was made:
 * "lengths.max().item()", "x.nonzero()", "x[mask]". */
static bool is_made_by(struct str code, struct str maker)
{
    size_t open = str_find_char(code, '[');
    bool indexes = str_is(maker, "indexing with a mask");
    for (size_t i = 0; indexes && i < open; i++)
        if (!is_word_char(code.p[i]) && code.p[i] != '.')
            return false;
    if (indexes)
        return open > 0 && str_find_char(code, ']') + 1 == code.n;
    return str_ends(code, maker);
}

bool result_put_name(struct str code, struct str maker, struct buf *out)
{
    size_t n = 0;
    while (n < code.n && is_word_char(code.p[n]))
        n++;
    struct str rest = str_trim(str_from(code, n));
    if (n == 0 || !str_starts(rest, STR("= ")) || !is_made_by(str_from(rest, 2), maker))
        return false;
    buf_put(out, str_first(code, n));
    if (!str_is(maker, ".item()"))
        buf_puts(out, ".shape[0]");
    return true;
}
