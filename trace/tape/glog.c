#include "trace/tape/glog.h"

/* Reads exactly `n` digits at s.p[*at]; returns false if there are fewer. */
static bool read_digits(struct str s, size_t *at, size_t n, uint64_t *ret)
{
    if (s.n < *at + n || !str_to_u64((struct str){ s.p + *at, n }, ret))
        return false;
    *at += n;
    return true;
}

static bool literal(struct str s, size_t *at, char c)
{
    return *at < s.n && s.p[*at] == c && ++*at;
}

static bool number_until(struct str s, size_t *at, char stop, uint64_t *ret)
{
    size_t n = 0;
    while (*at + n < s.n && n < 20 && is_digit(s.p[*at + n]))
        n++;
    return read_digits(s, at, n, ret) && literal(s, at, stop);
}

static bool parse_time(struct str s, size_t *at, struct glog *ret)
{
    uint64_t date, hour, minute, second, micro;
    if (!read_digits(s, at, 4, &date) || !literal(s, at, ' ') || !read_digits(s, at, 2, &hour) ||
        !literal(s, at, ':') || !read_digits(s, at, 2, &minute) || !literal(s, at, ':') ||
        !read_digits(s, at, 2, &second) || !literal(s, at, '.') || !read_digits(s, at, 6, &micro))
        return false;
    ret->month_day = (uint16_t)date;
    ret->time_us = ((hour * 60 + minute) * 60 + second) * 1000000 + micro;
    return true;
}

size_t glog_parse(struct str line, struct glog *ret)
{
    struct glog glog = { 0 };
    size_t at = 1;
    uint64_t path_line;
    if (line.n == 0 || !memchr("VDIWEC", line.p[0], 6))
        return 0;
    glog.level = line.p[0];
    if (!parse_time(line, &at, &glog) || !literal(line, &at, ' ') ||
        !number_until(line, &at, ' ', &glog.pid))
        return 0;
    size_t path = at;
    at += str_find_char(str_first(str_from(line, at), 4096), ':');
    glog.path = (struct str){ line.p + path, at - path };
    if (glog.path.n == 0 || !literal(line, &at, ':') || !number_until(line, &at, ']', &path_line) ||
        !literal(line, &at, ' ') || path_line > UINT32_MAX)
        return 0;
    glog.path_line = (uint32_t)path_line;
    *ret = glog;
    return at;
}

/* Prints `n` digits, leading zeros included. */
static void put_padded(struct buf *out, uint64_t value, size_t n)
{
    char text[20];
    for (size_t i = n; i > 0; i--, value /= 10)
        text[i - 1] = (char)('0' + value % 10);
    buf_put(out, (struct str){ text, n });
}

/* The digits are printed without printf, which is slow: import prints the prefix of each record
 * to check that it prints as it was read. */
void glog_print(const struct glog *glog, struct buf *out)
{
    uint64_t second = glog->time_us / 1000000;
    buf_putc(out, glog->level);
    put_padded(out, glog->month_day, 4);
    buf_putc(out, ' ');
    put_padded(out, second / 3600, 2);
    buf_putc(out, ':');
    put_padded(out, second / 60 % 60, 2);
    buf_putc(out, ':');
    put_padded(out, second % 60, 2);
    buf_putc(out, '.');
    put_padded(out, glog->time_us % 1000000, 6);
    buf_putc(out, ' ');
    buf_u64(out, glog->pid);
    buf_putc(out, ' ');
    buf_put(out, glog->path);
    buf_putc(out, ':');
    buf_u64(out, glog->path_line);
    buf_puts(out, "] ");
}

size_t glog_find(struct str line, size_t from)
{
    struct glog ignored;
    for (size_t i = from; i + 24 < line.n; i++) {
        /* The search is for the space between date and time, which is rarer than the level
         * letter. */
        const char *blank = memchr(line.p + i + 5, ' ', line.n - i - 5);
        if (!blank)
            return line.n;
        i = (size_t)(blank - line.p) - 5;
        if (glog_parse(str_from(line, i), &ignored))
            return i;
    }
    return line.n;
}
