#include "trace/log/export.h"

#include "trace/base/md5.h"
#include "trace/log/envelope.h"
#include "trace/log/import_piece.h"
#include "trace/tables.h"

enum { CHUNK = 1 << 20 };

struct exporting {
    struct trace *trace;
    struct md5 md5;
    struct buf out;
    struct export_sink sink;
};

static bool send(struct exporting *ex, struct err *err)
{
    if (ex->out.failed)
        return err_nomem(err);
    bool ok = ex->out.n == 0 || ex->sink.write(ex->sink.user, buf_str(&ex->out), err);
    buf_clear(&ex->out);
    return ok;
}

static struct tape *tape_of(const struct exporting *ex)
{
    return ex->trace->tables->tape;
}

static bool put_stored(struct exporting *ex, uint32_t id, struct err *err)
{
    struct str text;
    if (!tape_payload(tape_of(ex), id, &text, err))
        return false;
    buf_put(&ex->out, text);
    return true;
}

static bool put_raw(struct exporting *ex, const struct tape_record *row, struct err *err)
{
    if (row->flags & TAPE_RECORD_META_STORED)
        return put_stored(ex, row->meta_id, err);
    buf_put(&ex->out, row->meta);
    return true;
}

/* The header put together from its parts. */
static bool put_parts(struct exporting *ex, const struct tape_record *row, const char *md5_hex,
                      struct err *err)
{
    struct tape *tape = tape_of(ex);
    struct glog glog = row->glog;
    struct str meta = row->meta;
    struct str hex = { md5_hex, MD5_HEX };
    glog.path = tape_string(tape, row->path_id);
    if (row->flags & TAPE_RECORD_META_STORED && !tape_payload(tape, row->meta_id, &meta, err))
        return false;
    if (row->context_id >= tape->contexts.n || tape->contexts.v[row->context_id].n == 0)
        return err_set(err, ERR_INPUT, "the record's context is lost");
    glog_print(&glog, &ex->out);
    buf_puts(&ex->out, "{\"");
    buf_put(&ex->out, tape_string(tape, row->event_id));
    buf_puts(&ex->out, "\": ");
    envelope_expand(&tape->stacks, meta, hex, &ex->out);
    envelope_expand(&tape->stacks, tape->contexts.v[row->context_id], hex, &ex->out);
    return true;
}

static bool put_header(struct exporting *ex, const struct tape_record *row, struct str payload,
                       struct err *err)
{
    unsigned char digest[MD5_BYTES];
    char hex[MD5_HEX];
    if (row->flags & TAPE_RECORD_ODD_HEADER)
        return put_stored(ex, row->header_id, err);
    /* Most checksums are not stored: a right one is the payload's. */
    md5_update(&ex->md5, payload);
    if (!md5_final(&ex->md5, digest, err))
        return false;
    md5_hex(digest, hex);
    return put_parts(ex, row, hex, err);
}

static bool put_record(struct exporting *ex, const struct tape_record *row, struct err *err)
{
    bool has_payload = row->flags & TAPE_RECORD_PAYLOAD, odd = row->flags & TAPE_RECORD_ODD_PAYLOAD;
    bool ended = !(row->flags & TAPE_RECORD_NO_NEWLINE);
    struct str payload = STR("");
    if (row->flags & TAPE_RECORD_RAW)
        return put_raw(ex, row, err);
    if (has_payload && !tape_payload(tape_of(ex), row->payload_id, &payload, err))
        return false;
    struct buf plain = BUF_INIT;
    if (odd)
        import_strip_tabs(payload, &plain);
    bool ok = put_header(ex, row, odd ? buf_str(&plain) : payload, err);
    buf_release(&plain);
    if (!ok)
        return false;
    buf_puts(&ex->out, row->flags & TAPE_RECORD_CRLF ? "\r" : "");
    buf_puts(&ex->out, has_payload || ended ? "\n" : "");
    if (odd)
        buf_put(&ex->out, payload);
    else if (has_payload)
        import_put_tabs(payload, &ex->out);
    buf_puts(&ex->out, has_payload && ended ? "\n" : "");
    return true;
}

/* A row knows how long its record was: what reads otherwise refers to something that is lost. */
static bool put_whole_record(struct exporting *ex, const struct tape_record *row, struct err *err)
{
    size_t before = ex->out.n;
    if (put_record(ex, row, err) && !ex->out.failed && ex->out.n - before != row->bytes)
        err_set(err, ERR_INPUT, "parts of the record are lost on the tape");
    if (err_is_set(err))
        ex->out.n = before;
    return !err_is_set(err);
}

/* Records that are gone altogether. */
static bool check_size(const struct recording *recording, uint64_t bytes, struct err *err)
{
    if (bytes == recording->bytes)
        return true;
    return err_set(err, ERR_INPUT, "%.*s: the tape holds %llu bytes of the log, which had %llu",
                   STR_ARG(recording->source), (unsigned long long)bytes,
                   (unsigned long long)recording->bytes);
}

/* Goes on after a record that is damaged on the tape, and remembers the first. */
static bool put_all(struct exporting *ex, const struct recording *recording, struct err *err)
{
    struct err damage = { 0 };
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < recording->n_records; i++) {
        uint32_t record = recording->first_record + i;
        struct err failure = { 0 };
        bytes += tape_of(ex)->records.v[record].bytes;
        if (!put_whole_record(ex, &tape_of(ex)->records.v[record], &failure)) {
            err_at(&failure, "%.*s:%llu", STR_ARG(recording->source),
                   (unsigned long long)ex->trace->records[record].line);
            if (failure.kind != ERR_INPUT) {
                *err = failure;
                return false;
            }
            if (!err_is_set(&damage))
                damage = failure;
        }
        if (ex->out.n >= CHUNK && !send(ex, err))
            return false;
    }
    if (!send(ex, err))
        return false;
    if (!err_is_set(&damage))
        check_size(recording, bytes, &damage);
    if (err_is_set(&damage))
        *err = damage;
    return !err_is_set(&damage);
}

bool export_log(struct trace *trace, uint32_t recording, struct export_sink sink, struct err *err)
{
    const struct recording *what = &trace->recordings[recording];
    struct exporting ex = { .trace = trace, .sink = sink };
    if (what->kind != RECORDING_LOG)
        return err_set(err, ERR_USAGE, "%.*s is a .pt2 archive, not a log", STR_ARG(what->name));
    if (!md5_init(&ex.md5, err))
        return false;
    bool ok = put_all(&ex, what, err);
    md5_release(&ex.md5);
    buf_release(&ex.out);
    return ok;
}
