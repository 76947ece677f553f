#include "trace/log/export.h"

#include <stdlib.h>

#include "trace/base/md5.h"
#include "trace/log/envelope.h"
#include "trace/log/import_piece.h"
#include "trace/tables.h"

enum { CHUNK = 1 << 20 };

struct log_exporter {
    struct trace *trace;
    struct md5 md5;
    struct buf out;
    struct export_sink sink;
    const struct recording *recording;
    uint32_t next;     /* index of the next record */
    uint64_t bytes;    /* length in the log of the records so far */
    struct err damage; /* the first damage */
};

static bool send_output(struct log_exporter *ex, struct err *err)
{
    if (ex->out.failed)
        return err_nomem(err);
    bool ok = ex->out.n == 0 || ex->sink.write(ex->sink.user, buf_str(&ex->out), err);
    buf_clear(&ex->out);
    return ok;
}

static struct tape *exported_tape(const struct log_exporter *ex)
{
    return ex->trace->tables->tape;
}

static bool put_stored(struct log_exporter *ex, uint32_t id, struct err *err)
{
    struct str text;
    if (!tape_payload(exported_tape(ex), id, &text, err))
        return false;
    buf_put(&ex->out, text);
    return true;
}

static bool put_raw(struct log_exporter *ex, const struct tape_record *row, struct err *err)
{
    if (row->flags & TAPE_RECORD_META_STORED)
        return put_stored(ex, row->meta_id, err);
    buf_put(&ex->out, row->meta);
    return true;
}

/* Fails when a record became longer than its row says. Such a record is not written, because a
 * few bytes can refer to any number of stacks. */
static bool too_long(const struct tape_record *row, struct err *err)
{
    return err_set(err, ERR_INPUT,
                   "the record would become longer than the %llu bytes that it "
                   "had",
                   (unsigned long long)row->bytes);
}

/* Prints the header from its parts. */
static bool put_header_parts(struct log_exporter *ex, const struct tape_record *row,
                             const char *md5_hex, struct err *err)
{
    size_t most = row->bytes < SIZE_MAX - ex->out.n ? ex->out.n + (size_t)row->bytes : SIZE_MAX;
    struct tape *tape = exported_tape(ex);
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
    return (envelope_expand(&tape->stacks, meta, hex, most, &ex->out) &&
            envelope_expand(&tape->stacks, tape->contexts.v[row->context_id], hex, most,
                            &ex->out)) ||
           too_long(row, err);
}

static bool put_record_header(struct log_exporter *ex, const struct tape_record *row,
                              struct str payload, struct err *err)
{
    unsigned char digest[MD5_BYTES];
    char hex[MD5_HEX];
    if (row->flags & TAPE_RECORD_ODD_HEADER)
        return put_stored(ex, row->header_id, err);
    /* Most checksums are not stored, because they are those of the payload. */
    md5_update(&ex->md5, payload);
    if (!md5_final(&ex->md5, digest, err))
        return false;
    md5_hex(digest, hex);
    return put_header_parts(ex, row, hex, err);
}

static bool put_record(struct log_exporter *ex, const struct tape_record *row, struct err *err)
{
    bool has_payload = row->flags & TAPE_RECORD_PAYLOAD, odd = row->flags & TAPE_RECORD_ODD_PAYLOAD;
    bool ended = !(row->flags & TAPE_RECORD_NO_NEWLINE);
    struct str payload = STR("");
    if (row->flags & TAPE_RECORD_RAW)
        return put_raw(ex, row, err);
    if (has_payload && tape_payload_size(exported_tape(ex), row->payload_id) > row->bytes)
        return too_long(row, err);
    if (has_payload && !tape_payload(exported_tape(ex), row->payload_id, &payload, err))
        return false;
    struct buf plain = BUF_INIT;
    if (odd)
        import_strip_tabs(payload, &plain);
    bool ok = put_record_header(ex, row, odd ? buf_str(&plain) : payload, err);
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

/* Prints the whole record. It fails when the length differs from the row's, because then the
 * record refers to something that is lost. */
static bool put_whole_record(struct log_exporter *ex, const struct tape_record *row,
                             struct err *err)
{
    size_t before = ex->out.n;
    if (put_record(ex, row, err) && !ex->out.failed && ex->out.n - before != row->bytes)
        err_set(err, ERR_INPUT, "parts of the record are lost on the tape");
    if (err_is_set(err))
        ex->out.n = before;
    return !err_is_set(err);
}

/* Fails when records are missing altogether, so that the log is shorter than the recording says. */
static bool check_log_size(const struct recording *recording, uint64_t bytes, struct err *err)
{
    if (bytes == recording->bytes)
        return true;
    return err_set(err, ERR_INPUT, "%.*s: the tape holds %llu bytes of the log, which had %llu",
                   STR_ARG(recording->source), (unsigned long long)bytes,
                   (unsigned long long)recording->bytes);
}

/* Prints the next record, if there is one. It continues after a record that is damaged on the
 * tape, and stores the first such damage. */
static bool put_next(struct log_exporter *ex, struct err *err)
{
    const struct recording *recording = ex->recording;
    struct err failure = { 0 };
    uint32_t record = recording->first_record + ex->next++;
    ex->bytes += exported_tape(ex)->records.v[record].bytes;
    if (put_whole_record(ex, &exported_tape(ex)->records.v[record], &failure))
        return true;
    err_at(&failure, "%.*s:%llu", STR_ARG(recording->source),
           (unsigned long long)ex->trace->records[record].line);
    if (failure.kind != ERR_INPUT) {
        *err = failure;
        return false;
    }
    if (!err_is_set(&ex->damage))
        ex->damage = failure;
    return true;
}

static void check_tape_end(struct log_exporter *ex)
{
    if (!err_is_set(&ex->damage))
        check_log_size(ex->recording, ex->bytes, &ex->damage);
}

static bool put_records(struct log_exporter *ex, struct err *err)
{
    while (ex->next < ex->recording->n_records)
        if (!put_next(ex, err) || (ex->out.n >= CHUNK && !send_output(ex, err)))
            return false;
    if (!send_output(ex, err))
        return false;
    check_tape_end(ex);
    if (err_is_set(&ex->damage))
        *err = ex->damage;
    return !err_is_set(&ex->damage);
}

static bool begin_export(struct log_exporter *ex, struct trace *trace, uint32_t recording,
                         struct err *err)
{
    const struct recording *what = &trace->recordings[recording];
    ex->trace = trace;
    ex->recording = what;
    if (what->kind != RECORDING_LOG)
        return err_set(err, ERR_USAGE, "%.*s is a .pt2 archive, not a log", STR_ARG(what->name));
    return md5_init(&ex->md5, err);
}

bool export_log(struct trace *trace, uint32_t recording, struct export_sink sink, struct err *err)
{
    struct log_exporter ex = { .sink = sink };
    if (!begin_export(&ex, trace, recording, err))
        return false;
    bool ok = put_records(&ex, err);
    md5_release(&ex.md5);
    buf_release(&ex.out);
    return ok;
}

struct export_reader {
    struct log_exporter ex;
    size_t taken; /* number of bytes already handed out from ex.out */
};

struct export_reader *export_open(struct trace *trace, uint32_t recording, struct err *err)
{
    struct export_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        err_nomem(err);
    if (reader && begin_export(&reader->ex, trace, recording, err))
        return reader;
    free(reader);
    return NULL;
}

bool export_read(void *user, void *buffer, size_t size, size_t *ret_n, struct err *err)
{
    struct export_reader *reader = user;
    struct log_exporter *ex = &reader->ex;
    *ret_n = 0;
    while (reader->taken == ex->out.n && ex->next < ex->recording->n_records) {
        buf_clear(&ex->out);
        reader->taken = 0;
        if (!put_next(ex, err))
            return false;
        if (ex->out.failed)
            return err_nomem(err);
    }
    struct str left = str_first(str_from(buf_str(&ex->out), reader->taken), size);
    if (left.n == 0)
        return check_tape_end(ex), true;
    memcpy(buffer, left.p, left.n);
    reader->taken += left.n;
    *ret_n = left.n;
    return true;
}

const struct err *export_damage(const struct export_reader *reader)
{
    return err_is_set(&reader->ex.damage) ? &reader->ex.damage : NULL;
}

void export_close(struct export_reader *reader)
{
    if (!reader)
        return;
    md5_release(&reader->ex.md5);
    buf_release(&reader->ex.out);
    free(reader);
}
