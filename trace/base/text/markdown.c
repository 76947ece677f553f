#include "trace/base/text/markdown.h"

#include "trace/base/text/printable.h"

static bool is_alphanumeric(char c)
{
    return is_digit(c) || is_letter(c) || (c & 0x80);
}

/* Returns whether GitHub would link a text after rendering: @name, #1, GH-1, addresses. */
static bool is_linked(struct str text)
{
    static const char *const signs[] = { "@", "#", "://", "www.", "WWW.", "GH-", "gh-" };
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (str_contains(text, str_of(signs[i])))
            return true;
    return false;
}

/* Returns the number of bytes at the start that would begin a list, or underline the line above;
 * 0 if none. */
static size_t list_mark(struct str text)
{
    if (text.n > 1 && strchr("-=", text.p[0]))
        return !is_alphanumeric(text.p[1]);
    if (text.n && text.p[0] == '+')
        return 1;
    size_t digits = str_digits(text);
    bool mark = digits && digits < text.n && strchr(".)", text.p[digits]);
    return mark && (digits + 1 == text.n || text.p[digits + 1] == ' ') ? digits + 1 : 0;
}

static void put_escaped(struct buf *out, struct str line)
{
    size_t mark = list_mark(line);
    for (size_t i = 0; i < line.n; i++) {
        if (i + 1 == mark || memchr("\\`*_[]<>|~&!{}()$", line.p[i], 17))
            buf_putc(out, '\\');
        buf_putc(out, line.p[i]);
    }
}

static size_t longest_run(struct str text, char c)
{
    size_t longest = 0, run = 0;
    for (size_t i = 0; i < text.n; i++) {
        run = text.p[i] == c ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

static void put_times(struct buf *out, char c, size_t n)
{
    while (n-- > 0)
        buf_putc(out, c);
}

/* Prints code. A space separates the text from its backquotes, where it may begin or end with
 * one itself. */
static void put_code_span(struct buf *out, struct str line, bool cell)
{
    size_t marks = longest_run(line, '`') + 1;
    if (line.n == 0)
        return;
    put_times(out, '`', marks);
    buf_puts(out, marks > 1 ? " " : "");
    for (size_t i = 0; i < line.n; i++) {
        if (cell && line.p[i] == '|')
            buf_putc(out, '\\');
        buf_putc(out, line.p[i]);
    }
    buf_puts(out, marks > 1 ? " " : "");
    put_times(out, '`', marks);
}

static void put_markdown_line(struct buf *out, struct str text,
                              void (*put)(struct buf *out, struct str line))
{
    struct buf line = BUF_INIT;
    printable_line(&line, text);
    put(out, buf_str(&line));
    out->failed |= line.failed;
    buf_release(&line);
}

static void put_plain_code(struct buf *out, struct str line)
{
    put_code_span(out, line, false);
}

static void put_cell_code(struct buf *out, struct str line)
{
    put_code_span(out, line, true);
}

static void put_markdown_escaped(struct buf *out, struct str line)
{
    if (is_linked(line))
        put_code_span(out, line, true);
    else
        put_escaped(out, line);
}

void markdown_text(struct buf *out, struct str text)
{
    put_markdown_line(out, text, put_markdown_escaped);
}

void markdown_code(struct buf *out, struct str text)
{
    put_markdown_line(out, text, put_plain_code);
}

void markdown_cell_code(struct buf *out, struct str text)
{
    put_markdown_line(out, text, put_cell_code);
}

void markdown_block(struct buf *out, const char *language, struct str text)
{
    size_t longest = longest_run(text, '`'), marks = longest < 3 ? 3 : longest + 1;
    put_times(out, '`', marks);
    buf_printf(out, "%s\n", language);
    buf_put(out, text);
    if (!str_ends(text, STR("\n")))
        buf_putc(out, '\n');
    put_times(out, '`', marks);
    buf_puts(out, "\n\n");
}

/* Returns whether a line has only words, numbers and punctuation; an underscore only within a
 * word. */
static bool is_plain_line(struct str line)
{
    for (size_t i = 0; i < line.n; i++) {
        char c = line.p[i];
        bool within = i > 0 && i + 1 < line.n && is_alphanumeric(line.p[i - 1]) &&
                      is_alphanumeric(line.p[i + 1]);
        if (c == '_' ? !within : !is_alphanumeric(c) && !strchr(" .,:;'\"()/=+-%?", c))
            return false;
    }
    return !is_linked(line);
}

/* Truncates a line to at most `most` characters, including "...". */
static void truncate_line(struct buf *line, size_t most)
{
    size_t n = 0, keep = 0;
    for (size_t i = 0; i < line->n; i++) {
        if (((unsigned char)line->p[i] & 0xC0) == 0x80)
            continue;
        keep = n + 3 <= most ? i : keep;
        if (++n > most) {
            line->n = keep;
            buf_puts(line, "...");
            return;
        }
    }
}

void markdown_title(struct buf *out, struct str text, size_t most)
{
    struct buf line = BUF_INIT;
    printable_line(&line, text);
    truncate_line(&line, most);
    if (is_plain_line(buf_str(&line)))
        buf_put(out, buf_str(&line));
    else
        put_code_span(out, buf_str(&line), false);
    out->failed |= line.failed;
    buf_release(&line);
}
