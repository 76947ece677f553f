#include "trace/base/str.h"

size_t str_find_char(struct str a, char c)
{
    const char *hit = a.n ? memchr(a.p, c, a.n) : NULL;
    return hit ? (size_t)(hit - a.p) : a.n;
}

size_t str_find(struct str a, struct str what)
{
    if (what.n == 0)
        return 0;
    for (size_t i = 0; i + what.n <= a.n; i++) {
        const char *hit = memchr(a.p + i, what.p[0], a.n - what.n + 1 - i);
        if (!hit)
            return a.n;
        i = (size_t)(hit - a.p);
        if (memcmp(hit, what.p, what.n) == 0)
            return i;
    }
    return a.n;
}

int str_cmp(struct str a, struct str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int d = n ? memcmp(a.p, b.p, n) : 0;
    return d ? d : (a.n > b.n) - (a.n < b.n);
}

int str_compare(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

struct str str_basename(struct str path)
{
    for (size_t i = path.n; i > 0; i--)
        if (path.p[i - 1] == '/')
            return str_from(path, i);
    return path;
}

struct str str_trim(struct str a)
{
    while (a.n && is_space(a.p[0]))
        a = str_from(a, 1);
    while (a.n && is_space(a.p[a.n - 1]))
        a.n--;
    return a;
}

size_t str_digits(struct str a)
{
    size_t n = 0;
    while (n < a.n && is_digit(a.p[n]))
        n++;
    return n;
}

size_t str_word(struct str a)
{
    size_t n = 0;
    while (n < a.n && is_word_char(a.p[n]))
        n++;
    return n;
}

bool str_is_identifier(struct str a)
{
    return a.n > 0 && str_word(a) == a.n && !is_digit(a.p[0]);
}

bool str_is_one_of(struct str a, const char *const *list, size_t n)
{
    char first = a.n ? a.p[0] : '\0';
    for (size_t i = 0; i < n; i++)
        if (list[i][0] == first && str_is(a, list[i]))
            return true;
    return false;
}

bool str_to_u64(struct str a, uint64_t *ret)
{
    uint64_t v = 0;
    if (a.n == 0)
        return false;
    for (size_t i = 0; i < a.n; i++) {
        unsigned d = (unsigned char)a.p[i] - '0';
        if (d > 9 || __builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, d, &v))
            return false;
    }
    *ret = v;
    return true;
}

bool str_to_i64(struct str a, int64_t *ret)
{
    bool negative = a.n && a.p[0] == '-';
    uint64_t v;
    if (!str_to_u64(str_from(a, negative), &v) || v > (uint64_t)INT64_MAX + negative)
        return false;
    *ret = negative ? (int64_t)(0 - v) : (int64_t)v;
    return true;
}
