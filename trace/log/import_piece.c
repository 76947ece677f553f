#include "trace/log/importing.h"

#include <sys/stat.h>

void import_strip_tabs(struct str lines, struct buf *out)
{
    buf_clear(out);
    while (lines.n) {
        size_t n = str_find_char(lines, '\n');
        n += n < lines.n;
        struct str line = str_first(lines, n);
        buf_put(out, str_from(line, line.p[0] == '\t'));
        lines = str_from(lines, n);
    }
}

void import_put_tabs(struct str text, struct buf *out)
{
    for (;;) {
        size_t n = str_find_char(text, '\n');
        buf_putc(out, '\t');
        buf_put(out, str_first(text, n));
        if (n == text.n)
            return;
        buf_putc(out, '\n');
        text = str_from(text, n + 1);
    }
}

bool import_digest(struct importer *in, struct str text, char hex[MD5_HEX], struct err *err)
{
    unsigned char digest[MD5_BYTES];
    md5_update(&in->md5, text);
    if (!md5_final(&in->md5, digest, err))
        return false;
    md5_hex(digest, hex);
    return true;
}

/* Returns the JSON of a header, which is a prefix and JSON. The JSON is rewritten string by
 * string. */
static struct str json_of(struct str header)
{
    struct glog ignored;
    return str_from(header, glog_parse(header, &ignored));
}

static bool learn_piece(struct importer *in, const struct log_piece *piece, struct err *err)
{
    import_strip_tabs(piece->payload, &in->payload);
    return redact_learn(&in->redact, json_of(piece->header), err) &&
           redact_learn(&in->redact, buf_str(&in->payload), err);
}

bool import_learn_log(struct importer *in, struct source *source, struct err *err)
{
    struct log_split split = { .source = source };
    struct log_piece piece;
    struct err damage = { 0 }; /* the damage is reported when the log is imported */
    bool ok = true;
    while (ok && !importing_stopped(in) && log_split_next(&split, &piece, &damage) && piece.whole.n)
        ok = learn_piece(in, &piece, err);
    log_split_release(&split);
    return ok;
}

bool import_learn(struct importer *in, const char *path, struct err *err)
{
    struct stat info;
    bool again = strcmp(path, "-") != 0 && (stat(path, &info) != 0 || S_ISREG(info.st_mode));
    struct source *source = again ? source_open(path, err) : NULL;
    if (!source)
        return !err_is_set(err);
    source_set_window_meter(source, in->options->meter);
    bool ok = true;
    if (source->kind == SOURCE_TAPE)
        ok = import_learn_tape(in, path, err);
    else if (source->kind != SOURCE_ZIP)
        ok = import_learn_log(in, source, err);
    source_close(source);
    return ok;
}

/* Rewrites the payload's lines and corrects the checksum in `storage`, which has the header. */
static bool redact_payload(struct importer *in, struct str payload, struct buf *storage,
                           struct err *err)
{
    char before[MD5_HEX], after[MD5_HEX];
    struct buf *text = &in->scratch;
    size_t header = storage->n;
    import_strip_tabs(payload, &in->payload);
    buf_clear(text);
    redact_text(&in->redact, buf_str(&in->payload), text);
    import_put_tabs(buf_str(text), storage);
    if (in->payload.failed || text->failed || storage->failed)
        return err_nomem(err);
    if (!import_digest(in, buf_str(&in->payload), before, err) ||
        !import_digest(in, buf_str(text), after, err))
        return false;
    size_t at = str_find((struct str){ storage->p, header }, (struct str){ before, MD5_HEX });
    if (at < header)
        memcpy(storage->p + at, after, MD5_HEX);
    return true;
}

bool import_redact(struct importer *in, struct log_piece *piece, struct buf *storage,
                   struct err *err)
{
    bool line_end = piece->has_payload || !piece->unterminated;
    struct str json = json_of(piece->header);
    size_t header, payload;
    buf_clear(storage);
    redact_text(&in->redact, str_first(piece->header, piece->header.n - json.n), storage);
    redact_text(&in->redact, json, storage);
    header = storage->n;
    if (piece->header.n && line_end)
        buf_puts(storage, piece->crlf ? "\r\n" : "\n");
    payload = storage->n;
    if (piece->has_payload && !redact_payload(in, piece->payload, storage, err))
        return false;
    size_t end = storage->n;
    if (piece->has_payload && !piece->unterminated)
        buf_putc(storage, '\n');
    if (storage->failed)
        return err_nomem(err);
    piece->whole = buf_str(storage);
    piece->header = str_first(piece->whole, header);
    piece->payload = (struct str){ storage->p + payload, end - payload };
    piece->blank_inside = false;
    return true;
}
