/* Finds secrets that their form or the word before them shows. */
#include <strings.h>

#include "trace/log/redact/redact_parts.h"

enum {
    MIXED_WITHIN = 40,   /* number of characters in which a token has a digit or a capital */
    MOST_PASSWORD = 1000 /* characters of one without quotes */
};

/* --- tokens --- */

static bool is_token_char(char c)
{
    return is_word_char(c) || c == '-';
}

/* Returns where a token ends that begins like a service's tokens: AKIA..., ghp_..., eyJ...
 * .eyJ... .... ; otherwise 0. */
static size_t token_end(struct str in, size_t at)
{
    static const struct {
        struct str prefix;
        size_t least; /* number of characters after the prefix */
    } tokens[] = {
#define TOKEN(prefix, least) { { prefix, sizeof prefix - 1 }, least },
#include "trace/log/redact/redact_tokens.def"
#undef TOKEN
    };
    struct str rest = str_from(in, at);
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        struct str prefix = tokens[i].prefix;
        if (rest.p[0] != prefix.p[0] || !str_starts(rest, prefix))
            continue;
        /* Names of functions can be as long, but lack digits and capitals. */
        bool mixed = false, dotted = str_is(prefix, "eyJ");
        size_t n = prefix.n;
        for (size_t k = n; k < n + MIXED_WITHIN && is_token_char(char_at(rest, k)); k++)
            mixed |= is_digit(rest.p[k]) || (rest.p[k] >= 'A' && rest.p[k] <= 'Z');
        if (!mixed)
            continue;
        while (is_token_char(char_at(rest, n)) || (dotted && char_at(rest, n) == '.'))
            n++;
        if (n - prefix.n >= tokens[i].least)
            return at + n;
    }
    return 0;
}

/* Rewrites the token after "Bearer". */
static size_t after_bearer(struct redact *redact, struct text_edit *edit, size_t end)
{
    struct str in = edit->in;
    size_t from = end + 1, to = from;
    bool odd = false;
    while (is_token_char(char_at(in, to)) || (char_at(in, to) && strchr(".~+/=", in.p[to])))
        odd |= !is_letter(in.p[to++]);
    if (char_at(in, end) != ' ' || to - from < 8 || !(odd || to - from >= 16))
        return 0;
    redact_replace_value(redact, edit, STR(""), str_between(in, from, to));
    return to;
}

/* --- addresses --- */

static bool is_address_char(char c)
{
    return c && !strchr(" \t\r\n\"'<>|\\^`{}()[],;", c);
}

/* Returns whether an address is public, such as docs.python.org, which PyTorch's own messages
 * name. */
static bool is_public(struct str address)
{
    static const char *const urls[] = {
#define URL(text) text,
#include "trace/log/redact/redact_urls.def"
#undef URL
    };
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        struct str url = str_of(urls[i]), rest = str_from(address, url.n);
        if (str_starts(address, url) &&
            (rest.n == 0 || url.p[url.n - 1] == '/' || strchr("/.,:#?", rest.p[0])))
            return true;
    }
    return false;
}

static bool is_host_char(char c)
{
    return is_letter(c) || is_digit(c) || c == '-' || c == '.';
}

static size_t host_end(struct str in, size_t at)
{
    while (is_host_char(char_at(in, at)))
        at++;
    return at > 0 && in.p[at - 1] == '.' ? at - 1 : at;
}

/* Prints the replacement of a host. A name without a dot is a bucket's, or a word: it is
 * replaced here only. */
static void put_host(struct redact *redact, struct str host, struct buf *out)
{
    bool known =
        redact_is_common(redact, host) || redact_is_replacement(host) || str_is(host, REDACT_VALUE);
    if (known)
        buf_put(out, host);
    else if (str_find_char(host, '.') < host.n)
        buf_put(out, redact_address(redact, host));
    else
        buf_puts(out, REDACT_VALUE);
}

/* Rewrites what follows SCHEME in SCHEME://[USER[:PASSWORD]@]HOST[:PORT][/PATH]. A file's URL is
 * a path. */
static size_t after_scheme(struct redact *redact, struct text_edit *edit, size_t at, size_t end)
{
    struct str in = edit->in;
    size_t from = end + 3, to = from;
    if (str_is(str_between(in, at, end), "file") || !is_letter(in.p[at]))
        return 0;
    while (is_address_char(char_at(in, to)))
        to++;
    struct str address = str_between(in, from, to);
    while (address.n > 0 && strchr(".:?!", address.p[address.n - 1]))
        address.n--; /* the end of a sentence */
    struct str authority = str_first(address, str_find_char(address, '/'));
    size_t sign = str_find_char(authority, '@');
    struct str host = sign < authority.n ? str_from(authority, sign + 1) : authority;
    struct str name = str_first(host, host_end(host, 0));
    if (address.n == 0 || (name.n == 0 && sign == authority.n) || is_public(address))
        return to;
    struct str user = str_first(authority, sign < authority.n ? sign : 0);
    size_t colon = str_find_char(user, ':');
    if (colon < user.n)
        redact_value(redact, STR(""), str_from(user, colon + 1));
    struct buf *out = edit_replace(edit, from, from + address.n);
    if (user.n > 0)
        buf_puts(out, REDACT_VALUE "@");
    put_host(redact, name, out);
    struct str rest = str_from(address, authority.n);
    if (rest.n > 1)
        buf_puts(out, "/" REDACT_VALUE);
    return from + address.n;
}

static size_t dots(struct str s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += s.p[i] == '.';
    return n;
}

static bool is_domain(struct str host)
{
    size_t n = 0;
    while (n < host.n && host.p[host.n - 1 - n] >= 'a' && host.p[host.n - 1 - n] <= 'z')
        n++;
    return n >= 2 && n < host.n && host.p[host.n - 1 - n] == '.' && dots(host) >= 1 &&
           is_word_char(host.p[0]);
}

/* Rewrites USER:PASSWORD@HOST and USER@HOST:PATH, as git, ssh and scp use them, but not the
 * matmul of two tensors. */
static size_t before_host(struct redact *redact, struct text_edit *edit, size_t at, size_t end)
{
    struct str in = edit->in;
    size_t sign = end;
    if (at > 0 && !strchr(" \t\n\"'=<`", in.p[at - 1]))
        return 0;
    if (char_at(in, end) == ':')
        for (sign = end + 1; is_token_char(char_at(in, sign)) ||
                             (char_at(in, sign) && strchr("!$%&*+.~^?", in.p[sign]));)
            sign++;
    size_t stop = char_at(in, sign) == '@' ? host_end(in, sign + 1) : 0;
    struct str host = str_between(in, sign + 1, stop);
    bool password = sign > end + 1,
         path = char_at(in, stop) == ':' && stop + 1 < in.n &&
                (is_letter(in.p[stop + 1]) || strchr("/~", in.p[stop + 1]));
    if (stop == 0 || !is_domain(host) || !(password || path) || char_at(in, stop) == '(')
        return 0;
    if (password)
        redact_value(redact, STR(""), str_between(in, end + 1, sign));
    else
        while (is_address_char(char_at(in, stop)))
            stop++;
    struct buf *out = edit_replace(edit, at, stop);
    buf_puts(out, REDACT_VALUE "@");
    put_host(redact, host, out);
    buf_puts(out, password ? "" : ":" REDACT_VALUE);
    return stop;
}

/* --- passwords --- */

/* Returns whether a name ends in letters that names of secrets end in, which few words do. */
static bool may_end_secret_name(struct str name)
{
    return name.n >= 6 && memchr("dDtTsSyYnNeElL", name.p[name.n - 1], 14);
}

bool redact_is_secret_name(struct str name)
{
    static const struct str words[] = {
#define WORD(text) { text, sizeof text - 1 },
        WORD("password") WORD("passwd") WORD("passphrase") WORD("secret") WORD("credential")
            WORD("credentials") WORD("api_key") WORD("apikey") WORD("api-key") WORD("access_key")
                WORD("secret_key") WORD("private_key") WORD("auth_token") WORD("auth-token")
                    WORD("api_token") WORD("access_token") WORD("refresh_token")
#undef WORD
    };
    if (!may_end_secret_name(name))
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (name.n >= words[i].n &&
            strncasecmp(name.p + name.n - words[i].n, words[i].p, words[i].n) == 0)
            return true;
    return false;
}

/* Rewrites PASSWORD = 'VALUE', 'PASSWORD': 'VALUE', --password VALUE, password=VALUE. */
static size_t after_password(struct redact *redact, struct text_edit *edit, size_t at, size_t end)
{
    struct str in = edit->in, name = str_between(in, at, end), value;
    size_t next = end + (char_at(in, end) == '\'' || char_at(in, end) == '"');
    size_t from = redact_mark(in, next, ':');
    from = from ? from : redact_mark(in, next, '=');
    size_t to = from ? redact_literal(in, from, &value) : 0;
    bool option = at > 1 && in.p[at - 1] == '-' && char_at(in, end) == ' ';
    if (to == 0 && (option || char_at(in, end) == '=')) {
        for (from = to = end + 1; to - from < MOST_PASSWORD && is_address_char(char_at(in, to));)
            to++;
        value = str_between(in, from, to);
        if (char_at(value, 0) == '=' || char_at(in, to) == '(' || char_at(in, to) == '[')
            return 0;
    }
    if (to == 0 || value.n == 0)
        return 0;
    redact_replace_value(redact, edit, name, value);
    return to;
}

size_t redact_shapes(struct redact *redact, struct text_edit *edit, size_t at, size_t end)
{
    struct str in = edit->in, word = str_between(in, at, end);
    size_t to = 0;
    char next = char_at(in, end);
    if (next == ':' && char_at(in, end + 1) == '/' && char_at(in, end + 2) == '/')
        return after_scheme(redact, edit, at, end);
    if ((next == ':' || next == '@') && (to = before_host(redact, edit, at, end)))
        return to;
    if ((word.n >= 16 || next == '-' || next == '.') && (to = token_end(in, at))) {
        redact_replace_value(redact, edit, STR(""), str_between(in, at, to));
        return to;
    }
    if (word.n == 6 && strncasecmp(word.p, "bearer", 6) == 0)
        return after_bearer(redact, edit, end);
    if (next && memchr("=:'\" ", next, 5) && redact_is_secret_name(word))
        return after_password(redact, edit, at, end);
    return 0;
}
