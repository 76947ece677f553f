#include "profile/calls/warm/key_difference.h"

enum { CONTEXT_BYTES = 40 }; /* before the first byte that differs */

static size_t first_difference(struct str a, struct str b)
{
    size_t n = a.n < b.n ? a.n : b.n, at = 0;
    while (at < n && a.p[at] == b.p[at])
        at++;
    return at;
}

static int bracket(char c)
{
    return c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
}

/* Returns where the line begins that position `at` is in; of the longer text, if `other` ends
 * there with its line, the next one. */
static size_t line_start(struct str text, struct str other, size_t at)
{
    struct str longer = text.n > other.n ? text : other;
    if (at == (text.n < other.n ? text.n : other.n) && at < longer.n && longer.p[at] == '\n')
        return at + 1;
    while (at > 0 && text.p[at - 1] != '\n')
        at--;
    return at;
}

/* Returns where the field begins that position `at` is in: behind the bracket that is open first,
 * or behind a comma inside of that one alone. */
static size_t field_start(struct str text, size_t at)
{
    size_t start = 0;
    int depth = 0;
    for (size_t i = 0; i < at; i++) {
        depth += bracket(text.p[i]);
        if (depth == 1 && (text.p[i] == ',' || bracket(text.p[i]) == 1))
            start = i + 1;
    }
    return start;
}

static size_t field_size(struct str text)
{
    int depth = 0;
    for (size_t i = 0; i < text.n; i++) {
        depth += bracket(text.p[i]);
        if (depth < 0 || (depth == 0 && text.p[i] == ','))
            return i;
    }
    return text.n;
}

static bool inside_character(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Cuts a part that is too long around the place of the difference, between characters. */
static struct str cut(struct str text, size_t at)
{
    size_t from = 0;
    if (text.n > DIFFERENCE_BYTES && at > CONTEXT_BYTES)
        from = at - CONTEXT_BYTES;
    while (from > 0 && from < text.n && inside_character(text.p[from]))
        from--;
    text = str_from(text, from);
    size_t n = text.n < DIFFERENCE_BYTES ? text.n : DIFFERENCE_BYTES;
    while (n > 0 && n < text.n && inside_character(text.p[n]))
        n--;
    return str_first(text, n);
}

/* Returns the field that begins at `start`; "" if the text ends there or its bracket closes. */
static struct str field_at(struct str text, size_t start)
{
    struct str rest = str_from(text, start);
    return str_first(rest, field_size(rest));
}

static struct str next_field(struct str text, size_t end)
{
    return end < text.n && text.p[end] == ',' ? field_at(text, end + 1) : str_first(text, 0);
}

void key_difference_narrow(struct str *before, struct str *after)
{
    struct str a = *before, b = *after;
    size_t at = first_difference(a, b), start;
    if (str_find_char(a, '\n') < a.n || str_find_char(b, '\n') < b.n) {
        start = line_start(a, b, at);
        a = str_from(a, start);
        b = str_from(b, start);
        a = str_first(a, str_find_char(a, '\n'));
        b = str_first(b, str_find_char(b, '\n'));
    } else {
        start = field_start(a, at);
        struct str first = field_at(a, start), second = field_at(b, start);
        bool same = str_eq(first, second); /* one of them is the last of its bracket */
        a = same ? next_field(a, start + first.n) : first;
        b = same ? next_field(b, start + first.n) : second;
    }
    if (!a.n && !b.n) { /* brackets that do not match */
        a = *before;
        b = *after;
    }
    at = first_difference(a, b);
    *before = str_trim(cut(a, at));
    *after = str_trim(cut(b, at));
}
