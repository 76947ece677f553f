#include "trace/log/importing.h"

#include "trace/graph/graph.h"
#include "trace/open.h"

/* Longer event names and contexts do not come from PyTorch. */
enum { EVENT_LIMIT = 1000, CONTEXT_LIMIT = TAPE_INLINE_LIMIT };

/* Computes the checksum of a payload whose lines got \r\n ends after it was logged; the last
 * line's \n is not part of the text. */
static bool digest_without_cr(struct importer *in, struct str text, char hex[MD5_HEX],
                              struct err *err)
{
    unsigned char digest[MD5_BYTES];
    text.n -= text.n && text.p[text.n - 1] == '\r';
    for (;;) {
        size_t n = str_find(text, STR("\r\n"));
        md5_update(&in->md5, str_first(text, n));
        if (n == text.n)
            break;
        text = str_from(text, n + 1);
    }
    if (!md5_final(&in->md5, digest, err))
        return false;
    md5_hex(digest, hex);
    return true;
}

static enum tape_lane lane_of(struct str event, struct str payload)
{
    if (str_is(event, "chromium_event"))
        return TAPE_LANE_EVENTS;
    if (str_is(event, "dynamo_cpp_guards_str"))
        return TAPE_LANE_GUARDS;
    return graph_looks_like(payload) ? TAPE_LANE_GRAPHS : TAPE_LANE_OTHER;
}

static const char *damage_of(uint32_t flags)
{
    return flags & TAPE_RECORD_BAD_CHECKSUM  ? "the payload does not match its checksum"
           : flags & TAPE_RECORD_NO_PAYLOAD  ? "the payload is missing"
           : flags & TAPE_RECORD_UNANNOUNCED ? "a payload that its header does not announce"
                                             : NULL;
}

/* Fills in payload and context, and the flags that say whether the checksum matches. */
static bool check_payload(struct importer *in, const struct log_piece *piece,
                          const struct envelope *envelope, struct tape_record *row, struct err *err)
{
    row->context = envelope->context;
    if (!piece->has_payload) {
        row->flags |= envelope->checksum.n ? TAPE_RECORD_NO_PAYLOAD : 0;
        return true;
    }
    char hex[MD5_HEX];
    import_strip_tabs(piece->payload, &in->payload);
    if (in->payload.failed)
        return err_nomem(err);
    struct str text = buf_str(&in->payload);
    row->payload = piece->blank_inside ? piece->payload : text;
    row->flags |= TAPE_RECORD_PAYLOAD | (piece->blank_inside ? TAPE_RECORD_ODD_PAYLOAD : 0);
    if (envelope->checksum.n == 0) {
        row->flags |= TAPE_RECORD_UNANNOUNCED;
        return true;
    }
    if (!import_digest(in, text, hex, err))
        return false;
    if (str_eq((struct str){ hex, MD5_HEX }, envelope->checksum)) {
        buf_clear(&in->context);
        envelope_mark_checksum(envelope, &in->context);
        row->context = buf_str(&in->context);
        return !in->context.failed || err_nomem(err);
    }
    if (text.n && memchr(text.p, '\r', text.n) && !digest_without_cr(in, text, hex, err))
        return false;
    if (!str_eq((struct str){ hex, MD5_HEX }, envelope->checksum))
        row->flags |= TAPE_RECORD_BAD_CHECKSUM;
    return true;
}

/* Reads the rank that follows `key` in a text, unless the rank is already known. */
static void note_rank(struct importer *in, struct str text, struct str key)
{
    struct str value = str_from(text, str_find(text, key) + key.n);
    int64_t rank;
    if (in->rank < 0 && str_to_i64(str_first(value, str_digits(value)), &rank))
        in->rank = rank;
}

static bool add_raw(struct importer *in, struct str bytes, uint64_t lines, struct err *err)
{
    struct tape_record row = { .flags = TAPE_RECORD_RAW, .recording = in->recording.index };
    row.meta = bytes;
    row.lines = lines;
    row.bytes = bytes.n;
    return tape_add_record(in->tape, &row, TAPE_LANE_OTHER, err);
}

/* Stores the line itself beside its parts when printing the parts would not give the line. */
static bool keep_odd_header(struct importer *in, struct str header, size_t prefix,
                            const struct envelope *envelope, struct tape_record *row,
                            struct err *err)
{
    buf_clear(&in->header);
    glog_print(&row->glog, &in->header);
    if (in->header.failed)
        return err_nomem(err);
    bool odd = envelope->odd || envelope->context.n > CONTEXT_LIMIT ||
               !str_eq(buf_str(&in->header), str_first(header, prefix));
    if (!odd)
        return true;
    row->flags |= TAPE_RECORD_ODD_HEADER;
    row->header = header;
    if (row->context.n > CONTEXT_LIMIT)
        row->context = STR("}");
    return true;
}

/* Reads the envelope. Its stacks belong to the space of the process that logged them. */
static bool read_envelope(struct importer *in, const struct glog *glog, struct str json,
                          struct envelope *ret, struct err *err)
{
    struct stack_table *stacks = tape_writer_stacks(in->tape);
    in->envelope.root = stacks_root(stacks, spaces_of(&in->spaces, glog->pid));
    return in->envelope.root == UINT32_MAX ? err_nomem(err)
                                           : envelope_read(&in->envelope, stacks, json, ret, err);
}

enum outcome { IS_RECORD, IS_NONE, FAILED };

/* A parsed header line. */
struct log_header {
    struct tape_record row;
    struct envelope envelope;
    size_t prefix; /* number of bytes before the JSON */
};

/* Parses the header without writing anything. It returns IS_NONE, and sets `why`, when the line
 * is not a header. */
static enum outcome read_log_header(struct importer *in, struct str line, struct log_header *ret,
                                    struct err *why, struct err *err)
{
    ret->row = (struct tape_record){ .recording = in->recording.index };
    if (line.n >= LOG_LINE_LIMIT)
        return err_set(why, ERR_INPUT, "a line of more than %llu MiB: not a record",
                       (unsigned long long)LOG_LINE_LIMIT >> 20),
               IS_NONE;
    ret->prefix = glog_parse(line, &ret->row.glog);
    if (ret->prefix == 0)
        return err_set(why, ERR_INPUT, "not a record"), IS_NONE;
    if (!read_envelope(in, &ret->row.glog, str_from(line, ret->prefix), &ret->envelope, why))
        return why->kind == ERR_INPUT ? IS_NONE : (*err = *why, FAILED);
    if (ret->envelope.event.n > EVENT_LIMIT)
        return err_set(why, ERR_INPUT, "an event name of %zu bytes", ret->envelope.event.n),
               IS_NONE;
    ret->row.event = ret->envelope.event;
    ret->row.meta = ret->envelope.meta;
    return IS_RECORD;
}

static bool add_log_record(struct importer *in, const struct log_piece *piece,
                           struct log_header *header, struct err *err)
{
    struct tape_record *row = &header->row;
    row->lines = piece->lines;
    row->bytes = piece->whole.n;
    row->flags |= piece->crlf ? TAPE_RECORD_CRLF : 0;
    row->flags |= piece->unterminated ? TAPE_RECORD_NO_NEWLINE : 0;
    if (!check_payload(in, piece, &header->envelope, row, err) ||
        !keep_odd_header(in, piece->header, header->prefix, &header->envelope, row, err))
        return false;
    note_rank(in, row->context, STR("\"rank\": "));
    if (str_is(row->event, "str") && !spaces_add(&in->spaces, row->glog.pid))
        return err_nomem(err);
    in->result->records++;
    in->result->payloads += piece->has_payload;
    const char *damage = damage_of(row->flags);
    if (damage && !importing_damage(in, piece->line, piece->offset, damage, err))
        return false;
    return tape_add_record(in->tape, row, lane_of(row->event, row->payload), err);
}

/* Stores bytes that are no record. Blank lines are no damage; see record_damage() too. */
static bool add_unreadable(struct importer *in, const struct log_piece *piece, struct str bytes,
                           uint64_t lines, const struct err *why, struct err *err)
{
    bool headless = bytes.n && bytes.p[0] == '\t';
    if ((headless || str_trim(bytes).n) &&
        !importing_damage(in, piece->line, piece->offset,
                          headless ? "a payload without a header" : why->text, err))
        return false;
    return add_raw(in, bytes, lines, err);
}

/* Finds a record inside of a line that was cut and runs into the next one, which happens when
 * processes share a file. `from` is where in the piece a record may start. The JSON is checked
 * in place first, which stops at the first error, so that a line with many beginnings is not
 * copied for each of them. */
static enum outcome add_later_record(struct importer *in, const struct log_piece *piece,
                                     size_t from, const struct err *why, struct err *err)
{
    struct log_piece tail = *piece;
    struct err not_this = { 0 };
    struct log_header header;
    tail.header = str_from(piece->header, from);
    tail.whole = str_from(piece->whole, from);
    tail.offset += from;
    struct str json = str_from(tail.header, glog_parse(tail.header, &header.row.glog));
    if (!json_parse(&in->envelope.doc, json, &not_this))
        return not_this.kind == ERR_INPUT ? IS_NONE : (*err = not_this, FAILED);
    enum outcome outcome = read_log_header(in, tail.header, &header, &not_this, err);
    if (outcome != IS_RECORD)
        return outcome;
    return add_unreadable(in, piece, str_first(piece->whole, from), 0, why, err) &&
                   add_log_record(in, &tail, &header, err)
               ? IS_RECORD
               : FAILED;
}

/* Handles a line that is no header: a header may stand further on in it. */
static bool add_cut_line(struct importer *in, const struct log_piece *piece, const struct err *why,
                         struct err *err)
{
    size_t searched = piece->header.n < LOG_LINE_LIMIT ? piece->header.n : 0;
    for (size_t at = 1; at < searched; at++) {
        at = glog_find(piece->header, at);
        if (at == piece->header.n)
            break;
        enum outcome outcome = add_later_record(in, piece, at, why, err);
        if (outcome != IS_NONE)
            return outcome == IS_RECORD;
    }
    return add_unreadable(in, piece, piece->whole, piece->lines, why, err);
}

static bool note_pid(struct importer *in, uint64_t pid)
{
    for (size_t i = in->pids.n; i-- > 0;)
        if (in->pids.v[i] == pid)
            return true;
    return vec_push(&in->pids, pid);
}

static bool add_piece(struct importer *in, struct log_piece *piece, struct buf *redacted,
                      struct err *err)
{
    struct err why = { 0 };
    struct log_header header;
    in->lines += piece->lines;
    in->unterminated = piece->unterminated;
    if (in->options->redact && !import_redact(in, piece, redacted, err))
        return false;
    in->recording.bytes += piece->whole.n;
    enum outcome outcome = read_log_header(in, piece->header, &header, &why, err);
    if (outcome == IS_NONE)
        return add_cut_line(in, piece, &why, err);
    if (outcome == IS_RECORD && !note_pid(in, header.row.glog.pid))
        return err_nomem(err);
    return outcome == IS_RECORD && add_log_record(in, piece, &header, err);
}

/* Returns the line at the front of `text` with the TAB lines that follow it. */
static struct log_piece piece_of(struct importer *in, struct str text)
{
    size_t header = str_find_char(text, '\n'), end = header + 1;
    struct log_piece piece = { .line = in->lines + 1, .offset = in->recording.bytes, .lines = 1 };
    while (end < text.n && text.p[end] == '\t') {
        end += str_find_char(str_from(text, end), '\n') + 1;
        piece.lines++;
    }
    piece.whole = str_first(text, end);
    piece.header = str_first(text, header);
    piece.has_payload = piece.lines > 1;
    if (piece.has_payload)
        piece.payload = (struct str){ text.p + header + 1, piece.whole.n - header - 2 };
    return piece;
}

bool import_text(struct importer *in, struct str text, struct err *err)
{
    struct buf redacted = BUF_INIT;
    bool ok = true;
    if (in->unterminated && text.n) /* the log was cut; our records begin on a line of their own */
        ok = add_piece(in, &(struct log_piece){ .whole = STR("\n"), .lines = 1 }, &redacted, err);
    while (ok && text.n > 0 && !importing_stopped(in)) {
        struct log_piece piece = piece_of(in, text);
        text = str_from(text, piece.whole.n);
        ok = add_piece(in, &piece, &redacted, err);
    }
    buf_release(&redacted);
    return ok;
}

/* Ends the log when the compressed file itself is damaged: what came before the damage is kept,
 * the rest is lost. */
static bool end_damaged(struct importer *in, const struct log_split *split, struct err *why,
                        struct err *err)
{
    const struct source *source = split->source;
    if (why->kind == ERR_INTERRUPTED && importing_stopped(in))
        return true;
    if (!source->damage) {
        *err = *why;
        return false;
    }
    in->recording.damage = arena_copy(&in->arena, str_of(source->damage));
    return (in->recording.damage.p || err_nomem(err)) &&
           importing_damage(in, split->line + 1, split->offset, source->damage, err);
}

static bool read_pieces(struct importer *in, struct log_split *split, struct err *err)
{
    struct buf redacted = BUF_INIT;
    uint64_t told = 0;
    bool ok = true;
    in->recording.complete = true;
    /* What a pipe gave cannot be read again: it is read until the source ends. */
    while (ok && (split->source->once || !importing_stopped(in))) {
        struct log_piece piece;
        struct err why = { 0 };
        if (!log_split_next(split, &piece, &why)) {
            in->recording.complete = false;
            ok = end_damaged(in, split, &why, err);
            break;
        }
        if (piece.whole.n == 0)
            break;
        ok = add_piece(in, &piece, &redacted, err);
        if (in->options->progress && in->recording.bytes - told > (8 << 20)) {
            told = in->recording.bytes;
            in->options->progress(in->options->user, in->result->log_bytes + told);
        }
    }
    if (importing_stopped(in))
        in->recording.complete = false;
    buf_release(&redacted);
    return ok;
}

/* Returns the recording's name: "rank3" where the records or the file's name
 * (dedicated_log_torch_trace_rank_3_x8k2j1fq.log) give the rank; otherwise the file's name
 * without its endings, and without PyTorch's prefix when something is left. */
static struct str log_name(struct importer *in)
{
    static const char *const endings[] = { ".zst", ".gz", ".log" };
    struct str name = str_basename(in->recording.source);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (str_ends(name, str_of(endings[i])) && name.n > strlen(endings[i]))
            name.n -= strlen(endings[i]);
    struct str prefix = STR("dedicated_log_torch_trace_");
    struct str rest = str_starts(name, prefix) ? str_from(name, prefix.n) : name;
    if (rest.p != name.p)
        note_rank(in, rest, STR("rank_"));
    buf_clear(&in->payload);
    if (in->rank >= 0)
        buf_printf(&in->payload, "rank%lld", (long long)in->rank);
    else
        buf_put(&in->payload, rest);
    return buf_str(&in->payload);
}

bool import_log_begin(struct importer *in, struct source *source, struct err *err)
{
    struct log_split split = { .source = source };
    bool ok = importing_begin(in, RECORDING_LOG, source->path, err) &&
              read_pieces(in, &split, err) && import_sides_of_log(in, err);
    in->recording.input_bytes += source->file_bytes;
    log_split_release(&split);
    return ok;
}

bool import_log_end(struct importer *in, struct err *err)
{
    return importing_end(in, log_name(in), err);
}

bool import_log(struct importer *in, struct source *source, struct err *err)
{
    return import_log_begin(in, source, err) && import_log_end(in, err);
}
