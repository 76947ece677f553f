/* A borrowed run of bytes: not terminated, never freed; the function that returns it says how
 * long it is valid. Text from logs is arbitrary bytes: nothing here assumes UTF-8. */
#ifndef SYMTAPE_TRACE_BASE_STR_H
#define SYMTAPE_TRACE_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
    const char *p;
    size_t n;
};

#define STR(literal) ((struct str){ (literal), sizeof(literal) - 1 })
/* Arguments for printf's "%.*s". The length is limited to 2^30, because a precision is an int. */
#define STR_ARG(s) (int)((s).n < (1u << 30) ? (s).n : (1u << 30)), (s).p

/* Classes of ASCII characters, whatever the locale is. */
static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool is_hex_digit(char c)
{
    return is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f');
}

static inline bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A letter, a digit or '_'. */
static inline bool is_word_char(char c)
{
    return is_letter(c) || is_digit(c) || c == '_';
}

/* White space, that of isspace() in the C locale. */
static inline bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline struct str str_of(const char *z)
{
    return (struct str){ z, z ? strlen(z) : 0 };
}

static inline bool str_eq(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* The first character decides most comparisons with the rows of a table, without a call. */
static inline bool str_is(struct str a, const char *z)
{
    return a.n ? a.p[0] == z[0] && str_eq(a, str_of(z)) : z[0] == 0;
}

static inline bool str_starts(struct str a, struct str prefix)
{
    return prefix.n == 0 ||
           (a.n >= prefix.n && a.p[0] == prefix.p[0] && memcmp(a.p, prefix.p, prefix.n) == 0);
}

static inline bool str_ends(struct str a, struct str suffix)
{
    return suffix.n == 0 ||
           (a.n >= suffix.n && memcmp(a.p + a.n - suffix.n, suffix.p, suffix.n) == 0);
}

/* Returns the text from byte `from` on, or an empty text if it is shorter. */
static inline struct str str_from(struct str a, size_t from)
{
    if (from < a.n)
        return (struct str){ a.p + from, a.n - from };
    return (struct str){ a.n ? a.p + a.n : a.p, 0 }; /* NULL + 0 is undefined */
}

/* Returns the first `n` bytes, or all. */
static inline struct str str_first(struct str a, size_t n)
{
    return (struct str){ a.p, n < a.n ? n : a.n };
}

/* Returns the position of the first match, or a.n. */
size_t str_find_char(struct str a, char c);
size_t str_find(struct str a, struct str what);
static inline bool str_contains(struct str a, struct str what)
{
    return str_find(a, what) < a.n || what.n == 0;
}

/* Compares as memcmp does; a prefix is less than the longer text. */
int str_cmp(struct str a, struct str b);
/* The same for qsort() of `struct str`. */
int str_compare(const void *a, const void *b);
/* Returns the part after the last '/'. */
struct str str_basename(struct str path);
/* Returns the text without white space at both ends. */
struct str str_trim(struct str a);
/* Returns how many decimal digits the text begins with. */
size_t str_digits(struct str a);
/* Returns how many letters, digits and underscores the text begins with. */
size_t str_word(struct str a);
/* Returns whether the text is a name of ASCII letters, digits and underscores, keywords included.
 */
bool str_is_identifier(struct str a);
/* Returns whether the text is one of `n` strings. */
bool str_is_one_of(struct str a, const char *const *list, size_t n);
/* The same of an array. */
#define STR_IS_ANY(s, array) str_is_one_of((s), (array), sizeof(array) / sizeof *(array))
/* Reads a whole string of decimal digits. Returns false, without a change to *ret, if it has other
 * characters or overflows. */
bool str_to_u64(struct str a, uint64_t *ret);
/* Does the same with an optional leading '-'. */
bool str_to_i64(struct str a, int64_t *ret);

#endif
