#include "trace/log/redact/redact_parts.h"

/* Rewrites code that sets environment variables, as torch/_dynamo/debug_utils.py and
 * torch/_inductor write it into fx_graph_runnable, and as tracebacks and dumps show it. */

static size_t after_space(struct str in, size_t at)
{
    while (at < in.n && strchr(" \t\r\n", in.p[at]) && in.p[at])
        at++;
    return at;
}

size_t redact_mark(struct str in, size_t at, char c)
{
    at = after_space(in, at);
    return char_at(in, at) == c ? after_space(in, at + 1) : 0;
}

size_t redact_literal(struct str in, size_t at, struct str *inside)
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
        struct buf file = BUF_INIT; /* a file in that folder */
        buf_put(&file, one);
        buf_puts(&file, str_ends(one, STR("/")) ? "x" : "/x");
        struct text_edit edit = edit_of(buf_str(&file), &redact->discarded);
        buf_clear(&redact->discarded);
        if (char_at(one, 0) == '/')
            redact_path(redact, &edit, 0);
        redact->failed |= file.failed;
        buf_release(&file);
        value = str_from(value, one.n + 1);
    }
}

/* Learns the user of a home folder such as /data/people/ann. */
static void learn_home(struct redact *redact, struct str folder)
{
    struct str user = str_basename(folder);
    if (user.n > 1 && user.n < folder.n && !redact_is_common(redact, user))
        redact_user(redact, user);
}

void redact_learn_variable(struct redact *redact, struct str name, struct str value)
{
    static const char *const users[] = { "USER", "LOGNAME", "USERNAME", "SUDO_USER" };
    static const char *const hosts[] = { "HOSTNAME", "HOST" };
    if (value.n == 0 || str_is(value, REDACT_VALUE))
        return;
    if (STR_IS_ANY(name, users))
        redact_user(redact, value);
    else if (STR_IS_ANY(name, hosts))
        redact_host(redact, value);
    else if (char_at(value, 0) == '/' && !memchr(value.p, ' ', value.n))
        learn_paths(redact, value);
    else
        redact_value(redact, name, value);
    if (str_is(name, "HOME"))
        learn_home(redact, value);
}

void redact_replace_value(struct redact *redact, struct text_edit *edit, struct str name,
                          struct str value)
{
    size_t at = (size_t)(value.p - edit->in.p);
    redact_learn_variable(redact, name, value);
    buf_puts(edit_replace(edit, at, at + value.n), REDACT_VALUE);
}

/* Rewrites the VALUE of 'NAME' between 'VALUE'; `between` is one or two marks. */
static size_t name_and_value(struct redact *redact, struct text_edit *edit, size_t at,
                             const char *between)
{
    struct str name, value;
    at = redact_literal(edit->in, after_space(edit->in, at), &name);
    for (; at > 0 && *between; between++)
        at = redact_mark(edit->in, at, *between);
    if (at > 0)
        at = redact_literal(edit->in, at, &value);
    if (at > 0)
        redact_replace_value(redact, edit, name, value);
    return at;
}

/* Rewrites NAME='VALUE', ... of a call. */
static size_t keywords(struct redact *redact, struct text_edit *edit, size_t at)
{
    size_t end = 0;
    while (at > 0) {
        struct str value;
        size_t name = after_space(edit->in, at), from = name;
        while (is_word_char(char_at(edit->in, from)))
            from++;
        at = from > name ? redact_mark(edit->in, from, '=') : 0;
        if (at == 0 || (at = redact_literal(edit->in, at, &value)) == 0)
            break;
        redact_replace_value(redact, edit, str_between(edit->in, name, from), value);
        end = at;
        at = redact_mark(edit->in, at, ',');
    }
    return end;
}

/* Rewrites {'NAME': 'VALUE', ...} after the brace. It returns where the last readable pair ends,
 * or 0. */
static size_t map(struct redact *redact, struct text_edit *edit, size_t at)
{
    size_t end = 0;
    while (at > 0 && (at = name_and_value(redact, edit, at, ":"))) {
        end = at;
        at = redact_mark(edit->in, at, ',');
    }
    return end;
}

/* Rewrites |= {'X': 'Y'} and = {'X': 'Y'}. */
static size_t after_assignment(struct redact *redact, struct text_edit *edit, size_t at)
{
    at = after_space(edit->in, at);
    at += char_at(edit->in, at) == '|';
    size_t brace = redact_mark(edit->in, at, '=');
    brace = brace ? redact_mark(edit->in, brace, '{') : 0;
    return brace ? map(redact, edit, brace) : 0;
}

/* Rewrites ['X'] = 'Y', .setdefault('X', 'Y'), .update({'X': 'Y'}), ({'X': 'Y'}) and
 * .update(X='Y'). */
static size_t after_environ(struct redact *redact, struct text_edit *edit, size_t at)
{
    if (char_at(edit->in, at) == '[')
        return name_and_value(redact, edit, at + 1, "]=");
    if (char_at(edit->in, at) != '.' && char_at(edit->in, at) != '(')
        return after_assignment(redact, edit, at);
    if (char_at(edit->in, at) == '.')
        for (at++; is_word_char(char_at(edit->in, at));)
            at++;
    size_t inside = redact_mark(edit->in, at, '(');
    size_t brace = inside ? redact_mark(edit->in, inside, '{') : 0;
    if (brace > 0)
        return map(redact, edit, brace);
    size_t end = inside ? name_and_value(redact, edit, inside, ",") : 0;
    return end || !inside ? end : keywords(redact, edit, inside);
}

/* Returns whether a command may begin here: at the begin of a line, after a prompt or another
 * command. */
static bool begins_command(struct str in, size_t at)
{
    while (at > 0 && (in.p[at - 1] == ' ' || in.p[at - 1] == '\t'))
        at--;
    return at == 0 || strchr("\n;&|'\"$>(", in.p[at - 1]);
}

/* Reads a value as a shell would and returns where it ends. */
static size_t shell_value(struct str in, size_t from, struct str *value)
{
    size_t to = redact_literal(in, from, value);
    if (to > 0)
        return to;
    for (to = from; to < in.n && in.p[to] && !strchr(" \t\r\n;&|\"'\\", in.p[to]);)
        to++;
    *value = str_between(in, from, to);
    return to;
}

/* Rewrites export NAME=VALUE and set NAME=VALUE of shells. Messages that advise to set a
 * variable are not changed. */
static size_t after_export(struct redact *redact, struct text_edit *edit, size_t at)
{
    struct str in = edit->in, value;
    size_t name = after_space(in, at), end = name;
    while (is_word_char(char_at(in, end)))
        end++;
    if (name == at || end == name || char_at(in, end) != '=')
        return 0;
    size_t to = shell_value(in, end + 1, &value);
    if (value.n > 0)
        redact_replace_value(redact, edit, str_between(in, name, end), value);
    return to;
}

/* Rewrites $env:NAME = 'VALUE' of PowerShell, after "env". */
static size_t after_dollar_env(struct redact *redact, struct text_edit *edit, size_t at)
{
    struct str in = edit->in, value;
    size_t name = at + 1, end = name;
    while (is_word_char(char_at(in, end)))
        end++;
    size_t from = char_at(in, at) == ':' && end > name ? redact_mark(in, end, '=') : 0;
    size_t to = from ? shell_value(in, from, &value) : 0;
    if (to > 0 && value.n > 0)
        redact_replace_value(redact, edit, str_between(in, name, end), value);
    return to;
}

static bool is_variable_name(struct str name)
{
    bool letters = false;
    for (size_t i = 0; i < name.n; i++) {
        if (name.p[i] >= 'a' && name.p[i] <= 'z')
            return false;
        letters |= is_letter(name.p[i]);
    }
    return letters;
}

/* Rewrites NAME=VALUE COMMAND, in which a word follows the value. */
static size_t before_command(struct redact *redact, struct text_edit *edit, size_t at, size_t end)
{
    static const char *const python[] = { "if", "else", "for", "in", "and", "or", "is", "not" };
    struct str in = edit->in, value;
    if (at > 0 && !strchr(" \t\n\"'`$>", in.p[at - 1]))
        return 0;
    size_t to = shell_value(in, end + 1, &value), next = to + 1, word = next;
    while (is_word_char(char_at(in, word)))
        word++;
    bool command =
        is_letter(char_at(in, next)) || char_at(in, next) == '.' || char_at(in, next) == '/';
    bool digits = true, plain = true;
    for (size_t i = 0; i < value.n; i++) {
        digits &= is_digit(value.p[i]);
        plain &= !strchr("=(),[]{}", value.p[i]);
    }
    if (digits || !plain || char_at(in, to) != ' ' || !command ||
        STR_IS_ANY(str_between(in, next, word), python))
        return 0;
    redact_replace_value(redact, edit, str_between(in, at, end), value);
    return to;
}

/* Rewrites 'hostname': 'X' and hostname="X". */
static size_t after_hostname(struct redact *redact, struct text_edit *edit, size_t at)
{
    struct str in = edit->in, value;
    char quote = char_at(in, at);
    if (quote == '\'' || quote == '"')
        at++;
    size_t next = redact_mark(in, at, ':');
    if (next == 0)
        next = redact_mark(in, at, '=');
    if (next == 0 || !(next = redact_literal(in, next, &value)) || value.n == 0 ||
        redact_is_common(redact, value))
        return 0;
    size_t from = (size_t)(value.p - in.p);
    struct str host = redact_host(redact, value);
    buf_put(edit_replace(edit, from, from + value.n), host);
    return next;
}

size_t redact_variables(struct redact *redact, struct text_edit *edit, size_t at, size_t end)
{
    static const char *const setters[] = { "putenv", "setenv" };
    static const char *const hosts[] = { "hostname", "host_name" };
    struct str word = str_between(edit->in, at, end);
    if (char_at(edit->in, end) == '=' && is_variable_name(word))
        return before_command(redact, edit, at, end);
    if (word.n == 3 && str_is(word, "env") && at > 0 && edit->in.p[at - 1] == '$')
        return after_dollar_env(redact, edit, end);
    if (word.n == 3 && str_is(word, "set") && begins_command(edit->in, at))
        return after_export(redact, edit, end);
    if (word.n < 6 || word.n > 9)
        return 0;
    if (str_is(word, "environ"))
        return after_environ(redact, edit, end);
    if (str_is(word, "export") && begins_command(edit->in, at))
        return after_export(redact, edit, end);
    if (STR_IS_ANY(word, setters) && char_at(edit->in, end) == '(')
        return name_and_value(redact, edit, end + 1, ",");
    return STR_IS_ANY(word, hosts) ? after_hostname(redact, edit, end) : 0;
}
