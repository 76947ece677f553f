#include "minify/process/command_line.h"

#include "trace/base/buf.h"

struct splitter {
    struct str text;
    size_t at;
    struct buf word;
    const char *home;
    struct err *err;
};

static bool is_word_separator(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool at_end(const struct splitter *s)
{
    return s->at >= s->text.n;
}

static bool refuse_character(struct splitter *s, char c)
{
    return err_set(s->err, ERR_USAGE,
                   "\"%c\" outside quotes: only one simple command can be run; use sh -c '...' "
                   "for more",
                   c);
}

/* Reads from after the opening quote to after the closing one. */
static bool single_quoted(struct splitter *s)
{
    struct str rest = str_from(s->text, s->at);
    size_t n = str_find_char(rest, '\'');
    if (n == rest.n)
        return err_set(s->err, ERR_USAGE, "a ' is not closed");
    buf_put(&s->word, str_first(rest, n));
    s->at += n + 1;
    return true;
}

static bool double_quoted(struct splitter *s)
{
    while (!at_end(s)) {
        char c = s->text.p[s->at++];
        if (c == '"')
            return true;
        if (c == '\\' && !at_end(s) && strchr("$`\"\\\n", s->text.p[s->at])) {
            c = s->text.p[s->at++];
            if (c == '\n')
                continue;
        }
        buf_putc(&s->word, c);
    }
    return err_set(s->err, ERR_USAGE, "a \" is not closed");
}

static bool escaped(struct splitter *s)
{
    if (at_end(s))
        return err_set(s->err, ERR_USAGE, "nothing follows the \\ at the end");
    char c = s->text.p[s->at++];
    if (c != '\n')
        buf_putc(&s->word, c);
    return true;
}

static bool one_char(struct splitter *s, bool first)
{
    char c = s->text.p[s->at++];
    if (c == '\'')
        return single_quoted(s);
    if (c == '"')
        return double_quoted(s);
    if (c == '\\')
        return escaped(s);
    if (c == '\0' || strchr("|&;<>()`$", c))
        return refuse_character(s, c ? c : '0');
    if (c == '~' && first && s->home && (at_end(s) || s->text.p[s->at] == '/'))
        buf_puts(&s->word, s->home);
    else
        buf_putc(&s->word, c);
    return true;
}

static bool one_word(struct splitter *s, struct command_line *line)
{
    size_t start = s->at;
    buf_clear(&s->word);
    buf_puts(&s->word, ""); /* '' is a word, too */
    while (!at_end(s) && !is_word_separator(s->text.p[s->at]))
        if (!one_char(s, s->at == start))
            return false;
    struct str copy =
        s->word.failed ? (struct str){ 0 } : arena_copy(&line->arena, buf_str(&s->word));
    return (copy.p && vec_push(&line->words, copy.p)) || err_nomem(s->err);
}

bool command_line_split(struct command_line *line, struct str text, const char *home,
                        struct err *err)
{
    struct splitter s = { .text = text, .home = home, .err = err };
    bool good = true;
    *line = (struct command_line){ 0 };
    while (good) {
        while (!at_end(&s) && is_word_separator(s.text.p[s.at]))
            s.at++;
        if (at_end(&s))
            break;
        good = one_word(&s, line);
    }
    buf_release(&s.word);
    if (good && (line->words.n == 0 || !line->words.v[0][0]))
        good = err_set(err, ERR_USAGE, "the command is empty");
    if (good && !vec_push(&line->words, NULL))
        good = err_nomem(err);
    if (good)
        line->words.n--;
    else
        command_line_release(line);
    return good;
}

void command_line_release(struct command_line *line)
{
    vec_release(&line->words);
    arena_release(&line->arena);
}
