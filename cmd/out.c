#include "cmd/out.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"

static bool is_set(const char *value)
{
    return value && *value;
}

static bool wants_color(enum color_when color, bool tty)
{
    const char *force = getenv("CLICOLOR_FORCE"), *cli = getenv("CLICOLOR"), *term = getenv("TERM");
    if (color != COLOR_AUTO)
        return color == COLOR_ALWAYS;
    if (is_set(getenv("NO_COLOR")))
        return false;
    if (is_set(force) && strcmp(force, "0") != 0)
        return true;
    if (cli && strcmp(cli, "0") == 0)
        return false;
    if (!is_set(term) || strcmp(term, "dumb") == 0)
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
}

static const char *const STYLES[] = {
    [STYLE_NONE] = "\033[0m",   [STYLE_BOLD] = "\033[1m",    [STYLE_DIM] = "\033[2m",
    [STYLE_RED] = "\033[31m",   [STYLE_GREEN] = "\033[32m",  [STYLE_YELLOW] = "\033[33m",
    [STYLE_CYAN] = "\033[36m",
};

const char *out_style(const struct out *out, enum style style)
{
    return out->data_color ? STYLES[style] : "";
}

static void remember_failure(struct out *out)
{
    if (ferror(out->data) && out->write_errno == 0)
        out->write_errno = errno ? errno : EIO;
}

void out_printf(struct out *out, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vfprintf(out->data, fmt, args);
    va_end(args);
    remember_failure(out);
}

void out_raw(struct out *out, struct str bytes)
{
    if (bytes.n && fwrite(bytes.p, 1, bytes.n, out->data) < bytes.n)
        remember_failure(out);
}

/* C0 controls but tab and line feed, DEL, and the C1 controls in UTF-8 (a second byte below 0xA0
 * after 0xC2), which some terminals obey. */
static bool is_control(struct str text, size_t i)
{
    unsigned char c = (unsigned char)text.p[i];
    if (c == 0xC2)
        return i + 1 < text.n && (unsigned char)text.p[i + 1] < 0xA0;
    return (c < 0x20 && c != '\t' && c != '\n') || c == 0x7F;
}

static void put_printable(FILE *stream, struct str text)
{
    size_t from = 0;
    for (size_t i = 0; i < text.n; i++) {
        if (!is_control(text, i))
            continue;
        fwrite(text.p + from, 1, i - from, stream);
        fprintf(stream, "\\x%02x", (unsigned char)text.p[i]);
        from = i + 1;
    }
    if (from < text.n)
        fwrite(text.p + from, 1, text.n - from, stream);
}

void out_text(struct out *out, struct str text)
{
    if (!out->data_tty) {
        out_raw(out, text);
        return;
    }
    put_printable(out->data, text);
    remember_failure(out);
}

int out_buf(struct out *out, const struct buf *buf)
{
    struct err err = { 0 };
    if (buf->failed) {
        err_nomem(&err);
        return out_error(out, &err);
    }
    out_raw(out, buf_str(buf));
    return EXIT_DONE;
}

int out_table(struct out *out, const struct table *table)
{
    const struct table_layout layout = { .width = out->width, .color = out->data_color };
    struct buf text = BUF_INIT;
    table_print(table, &layout, &text);
    int code = out_buf(out, &text);
    buf_release(&text);
    return code;
}

/* One line; what a message quotes from a file must not start another or drive the terminal. */
static void put_message(struct out *out, enum style style, const char *text)
{
    if (out->notes_color)
        fprintf(out->notes, "%ssymtape:%s ", STYLES[style], STYLES[STYLE_NONE]);
    else
        fputs("symtape: ", out->notes);
    for (const char *rest = text; *rest; ) {
        struct str line = str_first(str_of(rest), str_find_char(str_of(rest), '\n'));
        put_printable(out->notes, line);
        rest += line.n;
        if (*rest == '\n') {
            fputs("\\n", out->notes);
            rest++;
        }
    }
    fputc('\n', out->notes);
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

int out_error(struct out *out, const struct err *err)
{
    put_message(out, STYLE_RED, err->text);
    return exit_code_of(err->kind);
}

int out_usage(struct out *out, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    put_formatted(out, STYLE_RED, fmt, args);
    va_end(args);
    return EXIT_USAGE;
}

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000 + 1;
}

void out_progress(struct out *out, const char *fmt, ...)
{
    va_list args;
    uint64_t now = now_ms();
    if (out->quiet || !out->notes_tty || now < out->progress_ms + 100)
        return;
    out->progress_ms = now;
    va_start(args, fmt);
    fputs("\r\033[Ksymtape: ", out->notes);
    vfprintf(out->notes, fmt, args);
    fflush(out->notes);
    va_end(args);
}

void out_progress_end(struct out *out)
{
    if (out->progress_ms)
        fputs("\r\033[K", out->notes);
    out->progress_ms = 0;
}

int out_finish(struct out *out, int code)
{
    errno = 0;
    fflush(out->data);
    remember_failure(out);
    if (out->write_errno == 0)
        return code;
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
