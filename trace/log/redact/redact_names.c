#include <stdio.h>

#include "trace/log/redact/redact_parts.h"

enum {
    MAX_SEGMENTS = 4,
    MAX_WORD = 64
}; /* parts of a name such as ann-marie.o-neill, and their length */

bool redact_is_common(const struct redact *redact, struct str word)
{
    char lower[MAX_WORD];
    if (word.n > sizeof lower)
        return false;
    for (size_t i = 0; i < word.n; i++)
        lower[i] = (char)(word.p[i] >= 'A' && word.p[i] <= 'Z' ? word.p[i] + 32 : word.p[i]);
    return intern_find(&redact->common, (struct str){ lower, word.n }) != INTERN_NONE;
}

/* Returns whether a word looks like a symbol or dtype: s77, u0, zs3, zuf12; f32, i64, bf16, c64. */
static bool looks_like_symbol(struct str word)
{
    size_t letters = str_starts(word, STR("zuf")) ? 3 : is_letter(char_at(word, 1)) ? 2 : 1;
    size_t i = letters;
    while (i < word.n && is_digit(word.p[i]))
        i++;
    return word.n > letters && i == word.n;
}

static bool is_joint(char c)
{
    return c == '.' || c == '-';
}

/* Returns whether each word that equals the name may be replaced, which must not change what
 * other text means. */
static bool is_distinctive(const struct redact *redact, struct str name)
{
    size_t joints = 0;
    if (name.n < 2 || name.n > MAX_WORD || is_digit(name.p[0]) || looks_like_symbol(name))
        return false;
    for (size_t i = 0; i < name.n; i++) {
        bool joint = is_joint(name.p[i]);
        if (!is_word_char(name.p[i]) && !(joint && is_word_char(char_at(name, i + 1))))
            return false;
        joints += joint;
    }
    return is_word_char(name.p[0]) && joints < MAX_SEGMENTS && !redact_is_common(redact, name);
}

static struct str learn_name(struct redact *redact, struct str name, const char *kind,
                             uint32_t *count)
{
    char text[32];
    uint32_t known = intern_find(&redact->names, name);
    if (known != INTERN_NONE)
        return redact->found.v[known].replacement;
    int n = snprintf(text, sizeof text, "%s%u", kind, *count + 1);
    struct redact_name entry = {
        .replacement = arena_copy(&redact->arena, (struct str){ text, (size_t)n }),
        .everywhere = is_distinctive(redact, name),
    };
    /* The ids of both tables must stay the same, so memory is reserved before the name is added. */
    if (!entry.replacement.p || !vec_reserve(&redact->found, 1) ||
        intern(&redact->names, name) == INTERN_NONE) {
        redact->failed = true;
        return STR(REDACT_VALUE);
    }
    redact->found.v[redact->found.n++] = entry;
    ++*count;
    if (entry.everywhere)
        redact_name_within_words(redact, name, entry.replacement);
    return entry.replacement;
}

bool redact_is_replacement(struct str s)
{
    uint64_t number;
    return (str_starts(s, STR("user")) || str_starts(s, STR("host"))) &&
           str_to_u64(str_from(s, 4), &number);
}

struct str redact_user(struct redact *redact, struct str name)
{
    return learn_name(redact, name, "user", &redact->n_users);
}

struct str redact_address(struct redact *redact, struct str name)
{
    return learn_name(redact, name, "host", &redact->n_hosts);
}

struct str redact_host(struct redact *redact, struct str name)
{
    struct str first = str_first(name, str_find_char(name, '.'));
    struct str replacement = learn_name(redact, name, "host", &redact->n_hosts);
    if (first.n > 0 && first.n < name.n && is_distinctive(redact, first))
        learn_name(redact, first, "host",
                   &redact->n_hosts); /* the short name of gpu7.example.org */
    return replacement;
}

size_t redact_find_name(const struct redact *redact, struct str in, size_t at, struct str *ret)
{
    size_t found = 0, end = at;
    if (redact->names.texts.n == 0)
        return 0;
    for (int segment = 0; segment < MAX_SEGMENTS; segment++) {
        while (is_word_char(char_at(in, end)))
            end++;
        if (end - at > MAX_WORD)
            break;
        uint32_t id = intern_find(&redact->names, str_between(in, at, end));
        if (id != INTERN_NONE && redact->found.v[id].everywhere) {
            *ret = redact->found.v[id].replacement;
            found = end;
        }
        if (!is_joint(char_at(in, end)) || !is_word_char(char_at(in, end + 1)))
            break;
        end++;
    }
    return found;
}

void redact_words(const struct redact *redact, struct str in, struct buf *out)
{
    struct text_edit edit = edit_of(in, out);
    for (size_t i = 0; i < in.n;) {
        struct str replacement;
        size_t end = is_word_char(in.p[i]) ? redact_find_name(redact, in, i, &replacement) : 0;
        if (end > 0)
            buf_put(edit_replace(&edit, i, end), replacement);
        for (i = end > 0 ? end : i + 1; is_word_char(char_at(in, i)) && is_word_char(in.p[i - 1]);)
            i++;
    }
    edit_finish(&edit);
}
