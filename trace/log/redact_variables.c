#include "trace/log/redact_parts.h"

/* Code that sets environment variables, as torch/_dynamo/debug_utils.py and torch/_inductor write
 * it into fx_graph_runnable, and as tracebacks and dumps show it. */

static size_t skip_space(struct str in, size_t at)
{
    while (at < in.n && strchr(" \t\r\n", in.p[at]) && in.p[at])
        at++;
    return at;
}

/* `c` with white space on both sides: where to go on, or 0. */
static size_t skip_mark(struct str in, size_t at, char c)
{
    at = skip_space(in, at);
    return char_at(in, at) == c ? skip_space(in, at + 1) : 0;
}

/* A Python string literal on one line: where it ends, or 0; its inside, not decoded. */
static size_t skip_literal(struct str in, size_t at, struct str *inside)
{
    for (int prefix = 0; prefix < 2 && at < in.n && is_letter(in.p[at]); prefix++)
        at++;
    char quote = char_at(in, at);
    if (quote != '\'' && quote != '"')
        return 0;
    for (size_t i = at + 1; i < in.n && in.p[i] != '\n'; i++) {
        if (in.p[i] == '\\') {
            i++;
        } else if (in.p[i] == quote) {
            *inside = str_between(in, at + 1, i);
            return i + 1;
        }
    }
    return 0;
}

static void learn_paths(struct redact *redact, struct str value)
{
    while (value.n > 0) {
        struct str one = str_first(value, str_find_char(value, ':'));
        struct edit edit = edit_of(one, &redact->discarded);
        buf_clear(&redact->discarded);
        if (char_at(one, 0) == '/')
            redact_path(redact, &edit, 0);
        value = str_from(value, one.n + 1);
    }
}

void redact_learn_variable(struct redact *redact, struct str name, struct str value)
{
    static const char *const users[] = { "USER", "LOGNAME", "USERNAME", "SUDO_USER" };
    static const char *const hosts[] = { "HOSTNAME", "HOST" };
    if (value.n == 0 || str_is(value, REDACT_VALUE))
        return;
    if (IS_ANY(name, users))
        redact_user(redact, value);
    else if (IS_ANY(name, hosts))
        redact_host(redact, value);
    else
        learn_paths(redact, value);
}

static void replace_value(struct redact *redact, struct edit *edit, struct str name,
                          struct str value)
{
    size_t at = (size_t)(value.p - edit->in.p);
    redact_learn_variable(redact, name, value);
    buf_puts(edit_replace(edit, at, at + value.n), REDACT_VALUE);
}

/* 'NAME' between 'VALUE'; `between` is one or two marks. */
static size_t name_and_value(struct redact *redact, struct edit *edit, size_t at,
                             const char *between)
{
    struct str name, value;
    at = skip_literal(edit->in, skip_space(edit->in, at), &name);
    for (; at > 0 && *between; between++)
        at = skip_mark(edit->in, at, *between);
    if (at > 0)
        at = skip_literal(edit->in, at, &value);
    if (at > 0)
        replace_value(redact, edit, name, value);
    return at;
}

/* {'NAME': 'VALUE', ...} after the brace: where the last pair that could be read ends, or 0. */
static size_t map(struct redact *redact, struct edit *edit, size_t at)
{
    size_t end = 0;
    while (at > 0 && (at = name_and_value(redact, edit, at, ":"))) {
        end = at;
        at = skip_mark(edit->in, at, ',');
    }
    return end;
}

/* ['X'] = 'Y'   .setdefault('X', 'Y')   .update({'X': 'Y'})   ({'X': 'Y'}) */
static size_t after_environ(struct redact *redact, struct edit *edit, size_t at)
{
    if (char_at(edit->in, at) == '[')
        return name_and_value(redact, edit, at + 1, "]=");
    if (char_at(edit->in, at) == '.')
        for (at++; is_word_char(char_at(edit->in, at));)
            at++;
    size_t inside = skip_mark(edit->in, at, '(');
    size_t brace = inside ? skip_mark(edit->in, inside, '{') : 0;
    if (brace > 0)
        return map(redact, edit, brace);
    return inside ? name_and_value(redact, edit, inside, ",") : 0;
}

static bool is_first_on_line(struct str in, size_t at)
{
    while (at > 0 && (in.p[at - 1] == ' ' || in.p[at - 1] == '\t'))
        at--;
    return at == 0 || in.p[at - 1] == '\n';
}

/* export NAME=VALUE of a shell; messages that advise to set a variable stay. */
static size_t after_export(struct redact *redact, struct edit *edit, size_t at)
{
    struct str in = edit->in, value;
    size_t name = skip_space(in, at), end = name;
    while (is_word_char(char_at(in, end)))
        end++;
    if (name == at || end == name || char_at(in, end) != '=')
        return 0;
    size_t from = end + 1, to = skip_literal(in, from, &value);
    if (to == 0) {
        for (to = from; to < in.n && !strchr(" \t\r\n;&|\"'\\", in.p[to]);)
            to++;
        value = str_between(in, from, to);
    }
    if (value.n > 0)
        replace_value(redact, edit, str_between(in, name, end), value);
    return to;
}

/* 'hostname': 'X', hostname="X" */
static size_t after_hostname(struct redact *redact, struct edit *edit, size_t at)
{
    struct str in = edit->in, value;
    char quote = char_at(in, at);
    if (quote == '\'' || quote == '"')
        at++;
    size_t next = skip_mark(in, at, ':');
    if (next == 0)
        next = skip_mark(in, at, '=');
    if (next == 0 || !(next = skip_literal(in, next, &value)) || value.n == 0 ||
        redact_is_common(redact, value))
        return 0;
    size_t from = (size_t)(value.p - in.p);
    struct str host = redact_host(redact, value);
    buf_put(edit_replace(edit, from, from + value.n), host);
    return next;
}

size_t redact_variables(struct redact *redact, struct edit *edit, size_t at, size_t end)
{
    static const char *const setters[] = { "putenv", "setenv" };
    static const char *const hosts[] = { "hostname", "host_name" };
    struct str word = str_between(edit->in, at, end);
    if (word.n < 6 || word.n > 9)
        return 0;
    if (str_is(word, "environ"))
        return after_environ(redact, edit, end);
    if (str_is(word, "export") && is_first_on_line(edit->in, at))
        return after_export(redact, edit, end);
    if (IS_ANY(word, setters) && char_at(edit->in, end) == '(')
        return name_and_value(redact, edit, end + 1, ",");
    return IS_ANY(word, hosts) ? after_hostname(redact, edit, end) : 0;
}
