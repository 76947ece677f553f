#include "cmd/cli/out.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/cli/memory_limit.h"
#include "cmd/cmd.h"
#include "profile/model/format.h"
#include "profile/report/fold.h"
#include "trace/base/clock.h"
#include "trace/base/file/output.h"
#include "trace/base/text/printable.h"

static bool is_environment_set(const char *value)
{
    return value && *value;
}

static bool wants_color(enum color_when color, bool tty)
{
    const char *force = getenv("CLICOLOR_FORCE"), *cli = getenv("CLICOLOR"), *term = getenv("TERM");
    if (color != COLOR_AUTO)
        return color == COLOR_ALWAYS;
    if (is_environment_set(getenv("NO_COLOR")))
        return false;
    if (is_environment_set(force) && strcmp(force, "0") != 0)
        return true;
    if (cli && strcmp(cli, "0") == 0)
        return false;
    if (!is_environment_set(term) || strcmp(term, "dumb") == 0)
        return false;
    return tty;
}

static unsigned terminal_width(int fd)
{
    struct winsize size;
    uint64_t columns;
    const char *variable = getenv("COLUMNS");
    if (variable && str_to_u64(str_of(variable), &columns) && columns > 0 && columns < 10000)
        return (unsigned)columns;
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}

static bool is_terminal(FILE *stream)
{
    int fd = fileno(stream);
    return fd >= 0 && isatty(fd);
}

void out_init(struct out *out, FILE *data, FILE *notes, enum color_when color)
{
    *out = (struct out){ .data = data, .notes = notes };
    out->data_tty = is_terminal(data);
    out->notes_tty = is_terminal(notes);
    out->data_color = wants_color(color, out->data_tty);
    out->notes_color = wants_color(color, out->notes_tty);
    out->width = out->data_tty ? terminal_width(fileno(data)) : 0;
    out->notes_width = out->notes_tty ? terminal_width(fileno(notes)) : 0;
}

static const char *const STYLES[] = {
    [STYLE_NONE] = "\033[0m",  [STYLE_BOLD] = "\033[1m",   [STYLE_DIM] = "\033[2m",
    [STYLE_RED] = "\033[31m",  [STYLE_GREEN] = "\033[32m", [STYLE_YELLOW] = "\033[33m",
    [STYLE_CYAN] = "\033[36m",
};

struct styles *out_styles(struct out *out)
{
    return out->data_color ? &out->styles : NULL;
}

static void remember_failure(struct out *out)
{
    if (ferror(out->data) && out->write_errno == 0)
        out->write_errno = errno ? errno : EIO;
}

/* Everything that is printed for people is written by this function. */
static void put_printable(FILE *stream, struct str text)
{
    char escape[PRINTABLE_ESCAPE];
    while (text.n > 0) {
        size_t run = printable_run(text);
        if (run > 0)
            fwrite(text.p, 1, run, stream);
        text = str_from(text, run);
        if (text.n == 0)
            return;
        text = str_from(text, printable_next(text, escape));
        fputs(escape, stream);
    }
}

void out_exact(struct out *out, struct str bytes)
{
    if (out->data_tty)
        put_printable(out->data, bytes);
    else if (bytes.n)
        fwrite(bytes.p, 1, bytes.n, out->data);
    remember_failure(out);
}

void out_printf(struct out *out, const char *fmt, ...)
{
    struct buf text = BUF_INIT;
    va_list args;
    va_start(args, fmt);
    buf_vprintf(&text, fmt, args);
    va_end(args);
    out_buf(out, &text);
    buf_release(&text);
}

/* Removes the marks of other texts than the one that is printed. */
static void keep_marks_of(struct styles *styles, const struct buf *text)
{
    size_t n = 0;
    for (size_t i = 0; i < styles->marks.n; i++)
        if (styles->marks.v[i].text == text && styles->marks.v[i].at <= text->n)
            styles->marks.v[n++] = styles->marks.v[i];
    styles->marks.n = n;
}

/* Prints a text with the styles that are marked in it. */
static void put_styled(struct out *out, struct str text)
{
    size_t done = 0;
    for (size_t i = 0; i < out->styles.marks.n; i++) {
        const struct style_mark *mark = &out->styles.marks.v[i];
        if (mark->at < done)
            continue;
        put_printable(out->data, str_first(str_from(text, done), mark->at - done));
        fputs(STYLES[mark->style], out->data);
        done = mark->at;
    }
    put_printable(out->data, str_from(text, done));
    out->styles.marks.n = 0;
    remember_failure(out);
}

/* Prints a text whose styles are those in out->styles, folded to the width of a terminal. */
static void put_data(struct out *out, struct str text)
{
    struct buf folded = BUF_INIT;
    if (out->width > 0 && !out->exact)
        fold_text(&folded, text, out->width, &out->styles);
    put_styled(out, folded.n && !folded.failed ? buf_str(&folded) : text);
    buf_release(&folded);
}

void out_text(struct out *out, struct str text)
{
    out->styles.marks.n = 0;
    put_data(out, text);
}

int out_buf(struct out *out, const struct buf *buf)
{
    struct err err = { 0 };
    if (buf->failed) {
        out->styles.marks.n = 0;
        err_nomem(&err);
        return out->unprinted = out_error(out, &err);
    }
    keep_marks_of(&out->styles, buf);
    put_data(out, buf_str(buf));
    return EXIT_DONE;
}

static bool write_report(const char *path, bool overwrite, struct str text, struct err *err)
{
    struct output *output = output_open(path, overwrite ? OUTPUT_REPLACE : OUTPUT_NEW, err);
    if (output && output_write(output, text, err))
        return output_commit(output, err);
    output_abort(output);
    return false;
}

int out_report(struct out *out, const char *path, bool overwrite, const struct buf *buf)
{
    struct err err = { 0 };
    struct buf shown = BUF_INIT;
    struct str text = buf_str(buf);
    if (!path || strcmp(path, "-") == 0 || buf->failed)
        return out_buf(out, buf);
    if (printable_run(text) < text.n) {
        printable_put(&shown, text);
        text = buf_str(&shown);
    }
    bool good = shown.failed ? err_nomem(&err) : write_report(path, overwrite, text, &err);
    buf_release(&shown);
    return good ? EXIT_DONE : out_error(out, &err);
}

int out_table(struct out *out, const struct table *table)
{
    const struct table_layout layout = { .width = out->width, .styles = out_styles(out) };
    struct buf text = BUF_INIT;
    table_print(table, &layout, &text);
    int code = out_buf(out, &text);
    buf_release(&text);
    return code;
}

/* Appends a text as one line: a text of a file that a message quotes must not start another one. */
static void one_line(struct buf *ret, struct str text)
{
    while (text.n > 0) {
        struct str line = str_first(text, str_find_char(text, '\n'));
        printable_put(ret, line);
        if (line.n < text.n)
            buf_puts(ret, "\\n");
        text = str_from(text, line.n + 1);
    }
}

/* Prints a message without memory of its own, in one line. */
static void put_note_line(FILE *stream, struct str text)
{
    while (text.n > 0) {
        struct str line = str_first(text, str_find_char(text, '\n'));
        put_printable(stream, line);
        if (line.n < text.n)
            fputs("\\n", stream);
        text = str_from(text, line.n + 1);
    }
}

/* Prints a message, which is folded to the width of a terminal. */
static void put_message(struct out *out, enum style style, const char *text)
{
    const struct str name = STR("symtape:");
    struct buf line = BUF_INIT, folded = BUF_INIT;
    struct styles none = { 0 };
    if (out->notes_width > 0) {
        buf_put(&line, name);
        buf_putc(&line, ' ');
        one_line(&line, str_of(text));
        fold_text(&folded, buf_str(&line), out->notes_width, &none);
    }
    if (out->notes_color)
        fprintf(out->notes, "%s%s%s", STYLES[style], name.p, STYLES[STYLE_NONE]);
    else
        fputs(name.p, out->notes);
    if (folded.n > name.n && !line.failed && !folded.failed) {
        put_printable(out->notes, str_from(buf_str(&folded), name.n));
    } else {
        fputc(' ', out->notes);
        put_note_line(out->notes, str_of(text));
    }
    fputc('\n', out->notes);
    buf_release(&line);
    buf_release(&folded);
}

static void put_formatted(struct out *out, enum style style, const char *fmt, va_list args)
{
    char text[sizeof((struct err *)0)->text];
    vsnprintf(text, sizeof text, fmt, args);
    put_message(out, style, text);
}

void out_note(struct out *out, const char *fmt, ...)
{
    va_list args;
    if (out->quiet)
        return;
    va_start(args, fmt);
    put_formatted(out, STYLE_YELLOW, fmt, args);
    va_end(args);
}

void out_note_text(struct out *out, struct str text)
{
    if (out->quiet)
        return;
    out_progress_end(out);
    struct buf folded = BUF_INIT;
    struct styles none = { 0 };
    if (out->notes_width > 0)
        fold_text(&folded, text, out->notes_width, &none);
    put_printable(out->notes, folded.n && !folded.failed ? buf_str(&folded) : text);
    buf_release(&folded);
}

int out_error(struct out *out, const struct err *err)
{
    struct err told = *err;
    memory_limit_explain(out->limit, &told);
    put_message(out, STYLE_RED, told.text);
    return exit_code_of(told.kind);
}

int out_usage(struct out *out, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    put_formatted(out, STYLE_RED, fmt, args);
    va_end(args);
    return EXIT_USAGE;
}

/* Prints as much of a line as the terminal has columns: what wraps would not be overwritten. */
static void put_progress(struct out *out, const char *text)
{
    struct buf line = BUF_INIT;
    buf_puts(&line, "symtape: ");
    one_line(&line, str_of(text));
    size_t most = out->notes_width > 1 ? out->notes_width - 1 : SIZE_MAX;
    put_printable(out->notes, str_first(buf_str(&line), format_first(buf_str(&line), most)));
    buf_release(&line);
}

void out_progress(struct out *out, const char *fmt, ...)
{
    va_list args;
    uint64_t now = clock_ns() / 1000000 + 1;
    if (out->quiet || !out->notes_tty || now < out->progress_ms + 100)
        return;
    char text[sizeof((struct err *)0)->text];
    out->progress_ms = now;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    fputs("\r\033[K", out->notes);
    put_progress(out, text);
    fflush(out->notes);
}

void out_progress_end(struct out *out)
{
    if (out->progress_ms)
        fputs("\r\033[K", out->notes);
    out->progress_ms = 0;
}

void out_flush(struct out *out)
{
    errno = 0;
    fflush(out->data);
    remember_failure(out);
}

int out_finish(struct out *out, int code)
{
    out_flush(out);
    vec_release(&out->styles.marks);
    if (out->write_errno == 0)
        return code == EXIT_DONE ? out->unprinted : code;
    if (out->write_errno == EPIPE)
        return EXIT_BROKEN_PIPE;
    char text[200];
    snprintf(text, sizeof text, "standard output: %s; what was printed is incomplete",
             strerror(out->write_errno));
    put_message(out, STYLE_RED, text);
    return EXIT_ENV;
}

int exit_code_of(enum err_kind kind)
{
    switch (kind) {
    case ERR_NONE: return EXIT_DONE;
    case ERR_USAGE: return EXIT_USAGE;
    case ERR_INPUT: return EXIT_INPUT;
    case ERR_ENV: return EXIT_ENV;
    case ERR_INTERRUPTED: return EXIT_INTERRUPTED;
    }
    return EXIT_ENV;
}

int exit_code_for_bisect(int code)
{
    switch (code) {
    case EXIT_DONE:
    case EXIT_DIFFERS:
    case EXIT_INTERRUPTED:
    case EXIT_BROKEN_PIPE: return code;
    case EXIT_USAGE: return 129;
    default: return EXIT_CANNOT_TELL;
    }
}
