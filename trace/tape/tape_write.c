#include "trace/tape/tape_write.h"

#include <stdlib.h>

#include "trace/base/hash.h"
#include "trace/tape/tape_frame.h"

/* Blocks of tables are written together once they have this many bytes. */
enum { COMMIT_SIZE = 4 << 20 };

struct lane_buffer {
    struct buf items;
    uint64_t first, count; /* of the block that is being filled */
};

/* A payload that is already on the tape, by content. */
struct stored_payload {
    uint64_t hash[2];
    uint64_t size;
};

struct frame_entry {
    uint64_t offset, stored, content;
    uint8_t lane;
    uint64_t first, count;
};

struct tape_writer {
    struct tape_sink sink;
    struct frame_codec *codec;
    struct intern strings, contexts;
    struct stack_table stacks;
    uint32_t strings_out, frames_out, stacks_out,
        contexts_out; /* number of rows already in the lanes */
    uint32_t n_recordings;
    vec_of(struct stored_payload)
    payloads;
    struct hash_index payload_index;
    struct lane_buffer lanes[TAPE_LANES];
    struct tape_record last; /* rows store differences to it */
    vec_of(struct frame_entry)
    frames;
    struct buf block, out;
    uint64_t written;
    bool failed;
};

static bool fail_tape(struct tape_writer *tape)
{
    tape->failed = true;
    return false;
}

static bool send_bytes(struct tape_writer *tape, struct err *err)
{
    if (tape->out.failed)
        return err_nomem(err);
    if (!tape->sink.write(tape->sink.user, buf_str(&tape->out), err))
        return fail_tape(tape);
    tape->written += tape->out.n;
    buf_clear(&tape->out);
    return true;
}

static void put_tape_header(struct buf *out)
{
    struct buf content = BUF_INIT;
    uint64_t bits;
    double check = TAPE_CHECK_FLOAT;
    memcpy(&bits, &check, sizeof bits);
    buf_put(&content, (struct str){ TAPE_MAGIC, sizeof TAPE_MAGIC });
    buf_le32(&content, TAPE_VERSION);
    buf_le32(&content, 0);
    buf_le32(&content, TAPE_CHECK_INT);
    buf_le64(&content, bits);
    frame_skippable(TAPE_HEADER_MAGIC, buf_str(&content), out);
    out->failed |= content.failed;
    buf_release(&content);
}

struct tape_writer *tape_create(struct tape_sink sink, struct err *err)
{
    struct tape_writer *tape = calloc(1, sizeof *tape);
    if (!tape) {
        err_nomem(err);
        return NULL;
    }
    tape->sink = sink;
    tape->codec = frame_codec_new(err);
    if (tape->codec && (stacks_init(&tape->stacks, &tape->strings) || err_nomem(err))) {
        put_tape_header(&tape->out);
        if (send_bytes(tape, err))
            return tape;
    }
    tape_free(tape);
    return NULL;
}

void tape_free(struct tape_writer *tape)
{
    if (!tape)
        return;
    frame_codec_free(tape->codec);
    intern_release(&tape->strings);
    intern_release(&tape->contexts);
    stacks_release(&tape->stacks);
    vec_release(&tape->payloads);
    hash_index_release(&tape->payload_index);
    for (size_t i = 0; i < TAPE_LANES; i++)
        buf_release(&tape->lanes[i].items);
    vec_release(&tape->frames);
    buf_release(&tape->block);
    buf_release(&tape->out);
    free(tape);
}

struct stack_table *tape_writer_stacks(struct tape_writer *tape)
{
    return &tape->stacks;
}

uint64_t tape_written(const struct tape_writer *tape)
{
    return tape->written;
}

/* Writes the lane's rows as one frame. */
static bool flush_lane(struct tape_writer *tape, enum tape_lane id, struct err *err)
{
    struct lane_buffer *lane = &tape->lanes[id];
    struct buf *block = &tape->block;
    if (tape->failed || lane->items.failed)
        return err_is_set(err) ? false : err_nomem(err);
    if (lane->count == 0)
        return true;
    buf_clear(block);
    buf_putc(block, tape_lane_letter(id));
    buf_varint(block, lane->first);
    buf_varint(block, lane->count);
    buf_put(block, buf_str(&lane->items));
    struct frame_entry entry = {
        .offset = tape->written,
        .content = block->n,
        .lane = (uint8_t)tape_lane_letter(id),
        .first = lane->first,
        .count = lane->count,
    };
    if (block->failed || !vec_reserve(&tape->frames, 1))
        return err_nomem(err) || fail_tape(tape);
    if (!frame_compress(tape->codec, buf_str(block), &tape->out, err) || !send_bytes(tape, err))
        return fail_tape(tape);
    entry.stored = tape->written - entry.offset;
    tape->frames.v[tape->frames.n++] = entry;
    lane->first += lane->count;
    lane->count = 0;
    buf_clear(&lane->items);
    return true;
}

bool tape_flush(struct tape_writer *tape, struct err *err)
{
    for (int id = 0; id < TAPE_LANES; id++)
        if (!flush_lane(tape, (enum tape_lane)id, err))
            return false;
    tape->last = (struct tape_record){ 0 };
    return true;
}

/* Returns the lane's buffer after adding one to the number of its rows. */
static struct buf *begin_lane_row(struct tape_writer *tape, enum tape_lane id)
{
    tape->lanes[id].count++;
    return &tape->lanes[id].items;
}

static size_t buffered_bytes(const struct tape_writer *tape)
{
    size_t n = 0;
    for (int id = TAPE_LANE_STRINGS; id < TAPE_LANES; id++)
        n += tape->lanes[id].items.n;
    return n;
}

static bool flush_when_full(struct tape_writer *tape, struct err *err)
{
    return buffered_bytes(tape) < COMMIT_SIZE || tape_flush(tape, err);
}

static void put_frame_row(struct buf *out, const struct stack_frame_row *row)
{
    buf_varint(out, row->line);
    buf_varint(out, row->name);
    buf_zigzag(out, row->file);
    buf_varint(out, (uint32_t)(row->loc + 2)); /* LOC_ABSENT is 0, LOC_NULL 1 */
}

/* Writes new rows of the tables to the tape, a row of a later lane only after what it refers to.
 * Tables grow in memory as records are read, and one record may add any number of rows. */
static bool write_new_rows(struct tape_writer *tape, struct err *err)
{
    const struct stack_table *stacks = &tape->stacks;
    bool ok = true;
    while (ok && tape->strings_out < tape->strings.texts.n) {
        buf_counted(begin_lane_row(tape, TAPE_LANE_STRINGS),
                    intern_text(&tape->strings, tape->strings_out++));
        ok = flush_when_full(tape, err);
    }
    while (ok && tape->frames_out < stacks->frames.n) {
        put_frame_row(begin_lane_row(tape, TAPE_LANE_FRAMES),
                      &stacks->frames.v[tape->frames_out++]);
        ok = flush_when_full(tape, err);
    }
    while (ok && tape->stacks_out + 1 < stacks->nodes.n) { /* node 0 exists in every table */
        uint32_t id = ++tape->stacks_out;
        struct buf *row = begin_lane_row(tape, TAPE_LANE_STACKS);
        buf_varint(row, id - stacks->nodes.v[id].parent);
        buf_varint(row, stacks->nodes.v[id].frame);
        ok = flush_when_full(tape, err);
    }
    while (ok && tape->contexts_out < tape->contexts.texts.n) {
        buf_counted(begin_lane_row(tape, TAPE_LANE_CONTEXTS),
                    intern_text(&tape->contexts, tape->contexts_out++));
        ok = flush_when_full(tape, err);
    }
    return ok;
}

/* Appends bytes to a stream and ends a block at TAPE_BLOCK_SIZE. */
static bool append_stream(struct tape_writer *tape, enum tape_lane id, struct str bytes,
                          struct err *err)
{
    struct lane_buffer *lane = &tape->lanes[id];
    while (bytes.n) {
        struct str part = str_first(bytes, TAPE_BLOCK_SIZE - lane->items.n);
        buf_put(&lane->items, part);
        lane->count += part.n;
        bytes = str_from(bytes, part.n);
        if (lane->items.n == TAPE_BLOCK_SIZE && !flush_lane(tape, id, err))
            return false;
    }
    return !lane->items.failed || err_nomem(err);
}

/* Returns the number of the payload with this content, which is stored now unless it is there
 * already. */
static bool store_payload(struct tape_writer *tape, enum tape_lane id, struct str bytes,
                          uint32_t *ret, struct err *err)
{
    XXH128_hash_t hash = XXH3_128bits(bytes.p ? bytes.p : "", bytes.n);
    const struct stored_payload what = { { hash.low64, hash.high64 }, bytes.n };
    struct hash_index *index = &tape->payload_index;
    uint32_t low = (uint32_t)hash.low64;
    for (size_t at = hash_index_start(index, low); hash_index_next(index, low, &at, ret);) {
        const struct stored_payload *known = &tape->payloads.v[*ret];
        if (known->hash[0] == what.hash[0] && known->hash[1] == what.hash[1] &&
            known->size == what.size)
            return true;
    }
    if (tape->payloads.n == TAPE_NONE - 1 || !hash_index_reserve(index, 1) ||
        !vec_reserve(&tape->payloads, 1))
        return err_nomem(err);
    const struct lane_buffer *lane = &tape->lanes[id];
    uint64_t offset = lane->first + lane->count;
    if (!append_stream(tape, id, bytes, err))
        return false;
    struct buf *out = begin_lane_row(tape, TAPE_LANE_PAYLOADS);
    buf_varint(out, id);
    buf_varint(out, offset);
    buf_varint(out, bytes.n);
    *ret = (uint32_t)tape->payloads.n;
    tape->payloads.v[tape->payloads.n++] = what;
    hash_index_add(index, low, *ret);
    return true;
}

static bool put_recording(struct tape_writer *tape, const struct tape_recording *row,
                          struct err *err)
{
    struct buf *out = begin_lane_row(tape, TAPE_LANE_RECORDINGS);
    buf_varint(out, row->index);
    buf_varint(out, row->kind);
    buf_varint(out, row->complete);
    buf_counted(out, row->name);
    buf_counted(out, row->source);
    buf_varint(out, row->bytes);
    buf_varint(out, row->input_bytes);
    buf_counted(out, row->damage);
    return !out->failed || err_nomem(err);
}

bool tape_add_recording(struct tape_writer *tape, struct tape_recording *row, struct err *err)
{
    row->index = tape->n_recordings++;
    return put_recording(tape, row, err);
}

bool tape_update_recording(struct tape_writer *tape, const struct tape_recording *row,
                           struct err *err)
{
    return put_recording(tape, row, err);
}

static bool intern_names(struct tape_writer *tape, struct tape_record *row, struct err *err)
{
    row->path_id = intern(&tape->strings, row->glog.path);
    row->event_id = intern(&tape->strings, row->event);
    row->context_id = intern(&tape->contexts, row->context);
    return (row->path_id != INTERN_NONE && row->event_id != INTERN_NONE &&
            row->context_id != INTERN_NONE) ||
           err_nomem(err);
}

static bool store_texts(struct tape_writer *tape, struct tape_record *row, enum tape_lane lane,
                        struct err *err)
{
    if (row->meta.n > TAPE_INLINE_LIMIT)
        row->flags |= TAPE_RECORD_META_STORED;
    return (!(row->flags & TAPE_RECORD_META_STORED) ||
            store_payload(tape, TAPE_LANE_HEADERS, row->meta, &row->meta_id, err)) &&
           (!(row->flags & TAPE_RECORD_PAYLOAD) ||
            store_payload(tape, lane, row->payload, &row->payload_id, err)) &&
           (!(row->flags & TAPE_RECORD_ODD_HEADER) ||
            store_payload(tape, TAPE_LANE_HEADERS, row->header, &row->header_id, err));
}

static void put_record_row(struct buf *out, const struct tape_record *row,
                           const struct tape_record *last)
{
    buf_varint(out, row->flags);
    buf_varint(out, row->recording);
    if (!(row->flags & TAPE_RECORD_RAW)) {
        buf_putc(out, row->glog.level);
        buf_zigzag(out, (int64_t)row->glog.month_day - last->glog.month_day);
        buf_zigzag(out, (int64_t)(row->glog.time_us - last->glog.time_us));
        buf_zigzag(out, (int64_t)(row->glog.pid - last->glog.pid));
        buf_varint(out, row->path_id);
        buf_varint(out, row->glog.path_line);
        buf_varint(out, row->event_id);
        buf_varint(out, row->context_id);
    }
    if (row->flags & TAPE_RECORD_META_STORED)
        buf_varint(out, row->meta_id);
    else
        buf_counted(out, row->meta);
    if (row->flags & TAPE_RECORD_PAYLOAD)
        buf_varint(out, row->payload_id);
    if (row->flags & TAPE_RECORD_ODD_HEADER)
        buf_varint(out, row->header_id);
    buf_varint(out, row->lines);
    buf_varint(out, row->bytes);
}

bool tape_add_record(struct tape_writer *tape, const struct tape_record *record,
                     enum tape_lane lane, struct err *err)
{
    struct tape_record row = *record;
    if (tape->failed)
        return err_is_set(err) ? false : err_set(err, ERR_ENV, "the tape could not be written");
    if (!(row.flags & TAPE_RECORD_RAW) && !intern_names(tape, &row, err))
        return false;
    if (!store_texts(tape, &row, lane, err) || !write_new_rows(tape, err))
        return false;
    put_record_row(begin_lane_row(tape, TAPE_LANE_RECORDS), &row, &tape->last);
    if (!(row.flags & TAPE_RECORD_RAW))
        tape->last = row;
    return flush_when_full(tape, err);
}

static void put_tape_index(const struct tape_writer *tape, struct buf *out)
{
    struct buf content = BUF_INIT;
    buf_varint(&content, tape->frames.n);
    for (size_t i = 0; i < tape->frames.n; i++) {
        const struct frame_entry *entry = &tape->frames.v[i];
        buf_putc(&content, (char)entry->lane);
        buf_varint(&content, entry->offset);
        buf_varint(&content, entry->stored);
        buf_varint(&content, entry->content);
        buf_varint(&content, entry->first);
        buf_varint(&content, entry->count);
    }
    buf_le64(&content, hash_str(buf_str(&content)));
    frame_skippable(TAPE_INDEX_MAGIC, buf_str(&content), out);
    out->failed |= content.failed;
    buf_release(&content);
}

/* Writes the seek table of zstd's seekable format: each frame of the file, skippable ones with
 * no content. */
static void put_seek_table(const struct tape_writer *tape, uint64_t index_size, struct buf *out)
{
    struct buf content = BUF_INIT;
    uint64_t header_size = tape->frames.n ? tape->frames.v[0].offset : tape->written;
    buf_le32(&content, (uint32_t)header_size);
    buf_le32(&content, 0);
    for (size_t i = 0; i < tape->frames.n; i++) {
        buf_le32(&content, (uint32_t)tape->frames.v[i].stored);
        buf_le32(&content, (uint32_t)tape->frames.v[i].content);
    }
    buf_le32(&content, (uint32_t)index_size);
    buf_le32(&content, 0);
    buf_le32(&content, (uint32_t)tape->frames.n + 2);
    buf_putc(&content, 0); /* no checksums here, since every frame has its own */
    buf_le32(&content, UINT32_C(0x8F92EAB1));
    frame_skippable(TAPE_SEEK_TABLE_MAGIC, buf_str(&content), out);
    out->failed |= content.failed;
    buf_release(&content);
}

bool tape_finish(struct tape_writer *tape, struct err *err)
{
    if (!tape_flush(tape, err))
        return false;
    put_tape_index(tape, &tape->out);
    put_seek_table(tape, tape->out.n, &tape->out);
    return send_bytes(tape, err);
}
