#include "trace/log/log_split.h"

void log_split_release(struct log_split *split)
{
    buf_release(&split->data);
}

/* Reads more bytes after `end`; sets at_end when there are no more. */
static bool fill(struct log_split *split, struct err *err)
{
    struct buf *data = &split->data;
    size_t n;
    if (split->start > 0 && split->start >= data->cap / 2) {
        memmove(data->p, data->p + split->start, split->end - split->start);
        split->end -= split->start;
        split->start = 0;
    }
    data->n = split->end;
    if (!buf_reserve(data, SOURCE_READ_SIZE))
        return err_nomem(err);
    if (!source_read(split->source, data->p + split->end, data->cap - split->end, &n, err))
        return false;
    split->end += n;
    split->at_end = n == 0;
    return true;
}

/* A position in the buffer. It is relative to `start`, because the bytes move when more are
 * read. */
struct piece_cursor {
    struct log_split *split;
    size_t at;
    struct err *err;
};

/* Returns the byte at the cursor, -1 at the end of the log, -2 on failure. */
static int peek_byte(struct piece_cursor *c)
{
    while (c->split->start + c->at >= c->split->end) {
        if (c->split->at_end)
            return -1;
        if (!fill(c->split, c->err))
            return -2;
    }
    return (unsigned char)c->split->data.p[c->split->start + c->at];
}

/* Moves past the line's end, to the end of the log, or to where the piece has `most` bytes. */
static bool skip_line(struct piece_cursor *c, uint64_t most)
{
    struct log_split *split = c->split;
    for (;;) {
        const char *from = split->data.p + split->start + c->at;
        size_t left = split->end - split->start - c->at;
        const char *hit = left ? memchr(from, '\n', left) : NULL;
        c->at += hit ? (size_t)(hit - from) + 1 : left;
        if (hit || split->at_end || c->at >= most)
            return true;
        if (!fill(split, c->err))
            return false;
    }
}

/* Skips blank lines if a TAB line follows; otherwise the cursor does not move. */
static bool skip_blank_lines(struct piece_cursor *c, uint64_t *lines)
{
    struct piece_cursor ahead = *c;
    uint64_t n = 0;
    for (;;) {
        struct piece_cursor line = ahead;
        line.at += peek_byte(&line) == '\r';
        if (peek_byte(&line) != '\n')
            break;
        line.at++;
        ahead = line;
        n++;
    }
    if (n == 0 || peek_byte(&ahead) != '\t')
        return false;
    *c = ahead;
    *lines += n;
    return true;
}

static bool skip_payload(struct piece_cursor *c, struct log_piece *ret)
{
    while (c->at < LOG_PIECE_LIMIT) {
        int byte = peek_byte(c);
        if (byte == -2)
            return false;
        if (byte == '\t') {
            ret->has_payload = true;
            ret->lines++;
            if (!skip_line(c, LOG_PIECE_LIMIT))
                return false;
        } else if (ret->has_payload && skip_blank_lines(c, &ret->lines)) {
            ret->blank_inside = true;
        } else {
            return !err_is_set(c->err);
        }
    }
    return true;
}

static struct str without_newline(struct str line)
{
    line.n -= line.n && line.p[line.n - 1] == '\n';
    return line;
}

bool log_split_next(struct log_split *split, struct log_piece *ret, struct err *err)
{
    struct piece_cursor c = { split, 0, err };
    *ret = (struct log_piece){ .line = split->line + 1, .offset = split->offset };
    struct err damage = { 0 };
    int first = peek_byte(&c);
    if (first == -1)
        return true;
    if (first == -2)
        return false;
    /* A source fails only after it has handed out all its bytes: the piece so far is the last
     * one, and the next call returns the failure again. */
    c.err = &damage;
    bool headless = first == '\t' && !split->inside;
    bool ok = headless || skip_line(&c, LOG_LINE_LIMIT);
    size_t header = headless ? 0 : c.at;
    bool part = ok && header >= LOG_LINE_LIMIT && split->data.p[split->start + header - 1] != '\n';
    ret->lines = header > 0 && !part;
    split->inside = part;
    if (ok && !part)
        ok = skip_payload(&c, ret);
    if (!ok && damage.kind != ERR_INPUT && damage.kind != ERR_INTERRUPTED) {
        *err = damage;
        return false;
    }
    if (!ok)
        c.at = split->end - split->start;
    if (!ok && header == 0 && !headless)
        header = c.at;
    ret->whole = (struct str){ split->data.p + split->start, c.at };
    ret->unterminated = ret->whole.n && ret->whole.p[ret->whole.n - 1] != '\n';
    ret->header = without_newline(str_first(ret->whole, header));
    ret->crlf = ret->header.n && ret->header.p[ret->header.n - 1] == '\r';
    ret->header.n -= ret->crlf;
    ret->payload = without_newline(str_from(ret->whole, header));
    split->start += c.at;
    split->offset += c.at;
    split->line += ret->lines;
    return true;
}
