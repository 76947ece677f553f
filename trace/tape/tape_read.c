#include "trace/tape/tape_read.h"

#include <stdlib.h>

#include "trace/base/hash.h"
#include "trace/open.h"
#include "trace/tape/tape_frame.h"
#include "trace/tape/tape_rows.h"

enum {
    MOST_DAMAGE = 10000, /* places that are stored */
    MOST_RESYNCS = 1000, /* offsets that looked like the beginning of a frame and were not, before
                            the reader gives up */
};

bool tape_recognise(struct str bytes)
{
    struct bytes in = bytes_of(bytes);
    return bytes_le32(&in) == TAPE_HEADER_MAGIC && bytes_le32(&in) >= 24 &&
           str_eq(bytes_take(&in, sizeof TAPE_MAGIC),
                  (struct str){ TAPE_MAGIC, sizeof TAPE_MAGIC });
}

static bool check_header(struct str bytes, struct err *err)
{
    struct frame_place place;
    if (!tape_recognise(bytes) || !frame_next(bytes, &place))
        return err_set(err, ERR_INPUT, "offset 0: not a tape");
    struct bytes in = bytes_of(str_from(place.content, sizeof TAPE_MAGIC));
    uint32_t version = bytes_le32(&in) & 0xFFFF, features = bytes_le32(&in);
    uint32_t check = bytes_le32(&in);
    uint64_t bits = bytes_le64(&in);
    double number;
    memcpy(&number, &bits, sizeof number);
    if (version == 0 || version > TAPE_VERSION)
        return err_set(err, ERR_INPUT, "a tape of version %u; this program reads up to %d", version,
                       TAPE_VERSION);
    if (features != 0)
        return err_set(err, ERR_INPUT, "a tape with features 0x%x that this program does not know",
                       features);
    if (in.failed || check != TAPE_CHECK_INT || !(number == TAPE_CHECK_FLOAT))
        return err_set(err, ERR_INPUT, "offset 0: the tape's header is damaged");
    return true;
}

/* Stores a place that could not be read; returns false when memory ran out. */
static bool note_damaged_place(struct tape *tape, uint64_t offset, const char *what)
{
    if (tape->damage.n >= MOST_DAMAGE)
        return true;
    struct str copy = arena_copy(&tape->arena, str_of(what));
    return copy.p && vec_push(&tape->damage, (struct tape_damage){ offset, copy });
}

/* Turns an input error into a damaged place; other errors remain. */
static bool forgive(struct tape *tape, uint64_t offset, struct err *err)
{
    struct err damage = *err;
    if (damage.kind != ERR_INPUT || tape->refused)
        return false;
    *err = (struct err){ 0 };
    return note_damaged_place(tape, offset, damage.text) || err_nomem(err);
}

static bool add_stream_block(struct tape *tape, enum tape_lane lane, struct stream_block block)
{
    return vec_push(&tape->streams[lane], block);
}

/* The memory for a row of a table, here and in the trace that is built from it, in addition to
 * the row's bytes. */
static const uint16_t row_sizes[TAPE_LANES] = {
    [TAPE_LANE_STRINGS] = sizeof(struct str),
    [TAPE_LANE_FRAMES] = sizeof(struct stack_frame_row) + 2 * sizeof(struct str),
    [TAPE_LANE_STACKS] = sizeof(struct stack_node),
    [TAPE_LANE_PAYLOADS] = sizeof(struct tape_payload),
    [TAPE_LANE_CONTEXTS] = sizeof(struct str) + sizeof(struct context),
    [TAPE_LANE_RECORDINGS] = sizeof(struct tape_recording) + sizeof(struct recording),
    [TAPE_LANE_RECORDS] = sizeof(struct tape_record) + sizeof(struct record),
};

/* Checks whether memory for a table may be allocated: a small file must not declare huge tables.
 * Streams are read block by block and are not counted. */
static bool may_take(struct tape *tape, uint64_t bytes, struct err *err)
{
    bytes = bytes > UINT64_MAX - tape->taken ? UINT64_MAX - tape->taken : bytes;
    tape->taken += bytes;
    if (tape->taken <= tape->most)
        return true;
    tape->refused = true;
    return err_set(
        err, ERR_INPUT,
        "the tape's tables would take at least %llu MiB of memory, for %zu bytes; --big lifts "
        "the limit of %llu MiB",
        (unsigned long long)(tape->taken >> 20), tape->bytes.n,
        (unsigned long long)(tape->most >> 20));
}

/* Returns the memory for rows, each of which has at least one byte. */
static uint64_t rows_take(enum tape_lane lane, uint64_t count, uint64_t content)
{
    return content + (count < content ? count : content) * row_sizes[lane];
}

/* Decodes one frame. Table rows point into its content, which stays in the arena. */
static bool read_block(struct tape *tape, struct str frame, uint64_t offset, struct err *err)
{
    struct str content;
    size_t size;
    if (!frame_content_size(frame, &size, err) || !may_take(tape, size, err))
        return false;
    if (!frame_decompress_to(tape->codec, frame, &tape->arena, &content, err))
        return false;
    struct bytes in = bytes_of(content);
    enum tape_lane lane;
    uint64_t first, count;
    if (!tape_block_head(&in, &lane, &first, &count))
        return !in.failed || err_set(err, ERR_INPUT, "block without a header");
    struct tape_part *part = &tape->parts[lane];
    part->blocks++;
    part->stored += frame.n;
    part->content += content.n;
    if (!tape_lane_is_stream(lane))
        return may_take(tape, rows_take(lane, count, content.n) - content.n, err) &&
               tape_read_rows(tape, lane, first, count, &in, err);
    tape->taken -= content.n;
    if (count != bytes_left(&in))
        return err_set(err, ERR_INPUT, "stream block of the wrong size");
    return add_stream_block(tape, lane, (struct stream_block){ first, count, offset, frame.n }) ||
           err_nomem(err);
}

static bool forgiving_block(struct tape *tape, struct str frame, uint64_t offset, struct err *err)
{
    return read_block(tape, frame, offset, err) || forgive(tape, offset, err);
}

/* Reads a tape whose index is missing or wrong: frame by frame, and skips bytes that are no
 * frame. */
static bool read_by_scanning(struct tape *tape, struct err *err)
{
    struct str bytes = tape->bytes;
    int resyncs = 0;
    for (size_t at = 0; at < bytes.n;) {
        struct frame_place place;
        if (!frame_next(str_from(bytes, at), &place)) {
            if (!note_damaged_place(tape, at, "the frame is not complete"))
                return err_nomem(err);
            at = ++resyncs < MOST_RESYNCS ? frame_resync(bytes, at + 1) : bytes.n;
            continue;
        }
        struct str frame = { bytes.p + at, place.size };
        if (place.magic == 0 && !forgiving_block(tape, frame, at, err))
            return false;
        at += place.size;
    }
    return true;
}

/* Finds the index, which is the frame before the seek table; the file's last bytes give the size
 * of that. */
static bool find_index(struct str bytes, struct str *ret)
{
    if (bytes.n < 17)
        return false;
    struct bytes foot = bytes_of(str_from(bytes, bytes.n - 9));
    uint64_t table = (uint64_t)bytes_le32(&foot) * 8 + 17;
    uint8_t flags = bytes_u8(&foot);
    if (bytes_le32(&foot) != UINT32_C(0x8F92EAB1) || flags != 0 || table > bytes.n)
        return false;
    /* The index frame is the last but one of the seek table's rows. */
    struct bytes row = bytes_of(str_from(bytes, bytes.n - 17));
    uint64_t size = bytes_le32(&row);
    struct frame_place place;
    if (size > bytes.n - table)
        return false;
    struct str frame = { bytes.p + (bytes.n - table - size), (size_t)size };
    if (!frame_next(frame, &place) || place.magic != TAPE_INDEX_MAGIC || place.size != size ||
        place.content.n < 8)
        return false;
    struct bytes hash = bytes_of(str_from(place.content, place.content.n - 8));
    *ret = str_first(place.content, place.content.n - 8);
    return bytes_le64(&hash) == hash_str(*ret);
}

struct index_row {
    enum tape_lane lane;
    bool known;
    uint64_t offset, stored, content, first, count;
};

static struct index_row take_index_row(struct bytes *in)
{
    struct index_row row = { 0 };
    row.known = tape_lane_by_letter((char)bytes_u8(in), &row.lane);
    row.offset = bytes_varint(in);
    row.stored = bytes_varint(in);
    row.content = bytes_varint(in);
    row.first = bytes_varint(in);
    row.count = bytes_varint(in);
    return row;
}

static bool read_indexed_frame(struct tape *tape, const struct index_row *row, struct err *err)
{
    struct str frame = { tape->bytes.p + row->offset, (size_t)row->stored };
    if (!tape_lane_is_stream(row->lane))
        return forgiving_block(tape, frame, row->offset, err);
    struct tape_part *part = &tape->parts[row->lane];
    part->blocks++;
    part->stored += row->stored;
    part->content += row->content;
    struct stream_block block = { row->first, row->count, row->offset, row->stored };
    return add_stream_block(tape, row->lane, block) || err_nomem(err);
}

/* Reads the tables by the index. Frames are listed in the order in which they are in the file,
 * so none can be read twice. */
static bool read_by_index(struct tape *tape, struct str index, struct err *err)
{
    struct bytes in = bytes_of(index);
    uint64_t n = bytes_varint(&in), end = 0;
    for (uint64_t i = 0; i < n && bytes_left(&in); i++) {
        struct index_row row = take_index_row(&in);
        if (in.failed || row.offset < end || row.offset > tape->bytes.n ||
            row.stored > tape->bytes.n - row.offset)
            return note_damaged_place(tape, end, "the index does not fit the tape") ||
                   err_nomem(err);
        end = row.offset + row.stored;
        if (row.known && !read_indexed_frame(tape, &row, err))
            return false;
    }
    return true;
}

/* Checks the size of all tables by the index, so that the sum is known before any is read. */
static bool tables_fit(struct tape *tape, struct str index, struct err *err)
{
    struct bytes in = bytes_of(index);
    uint64_t n = bytes_varint(&in);
    for (uint64_t i = 0; i < n && bytes_left(&in); i++) {
        struct index_row row = take_index_row(&in);
        if (!in.failed && row.known && !tape_lane_is_stream(row.lane))
            tape->taken +=
                rows_take(row.lane, row.count,
                          row.content < TAPE_BLOCK_LIMIT ? row.content : TAPE_BLOCK_LIMIT);
    }
    bool fit = may_take(tape, 0, err);
    tape->taken = 0;
    return fit;
}

struct tape *tape_read(struct str bytes, uint64_t most, struct err *err)
{
    struct str index;
    if (!check_header(bytes, err))
        return NULL;
    struct tape *tape = calloc(1, sizeof *tape);
    if (!tape) {
        err_nomem(err);
        return NULL;
    }
    tape->bytes = bytes;
    tape->most = most;
    tape->codec = frame_codec_new(err);
    bool ok = tape->codec && (stacks_init(&tape->stacks, &tape->strings) || err_nomem(err));
    if (ok && find_index(bytes, &index))
        ok = tables_fit(tape, index, err) && read_by_index(tape, index, err);
    else if (ok)
        ok = (note_damaged_place(tape, bytes.n, "the tape was not finished: no index at its end") ||
              err_nomem(err)) &&
             read_by_scanning(tape, err);
    if (ok)
        return tape;
    tape_close(tape);
    return NULL;
}

void tape_close(struct tape *tape)
{
    if (!tape)
        return;
    arena_release(&tape->arena);
    intern_release(&tape->strings);
    stacks_release(&tape->stacks);
    vec_release(&tape->contexts);
    vec_release(&tape->payloads);
    vec_release(&tape->recordings);
    vec_release(&tape->records);
    for (int lane = 0; lane < TAPE_LANES; lane++)
        vec_release(&tape->streams[lane]);
    vec_release(&tape->damage);
    frame_codec_free(tape->codec);
    for (int i = 0; i < TAPE_CACHED_BLOCKS; i++)
        buf_release(&tape->cache[i].content);
    buf_release(&tape->joined[0]);
    buf_release(&tape->joined[1]);
    free(tape);
}

struct str tape_string(const struct tape *tape, uint32_t id)
{
    return id < tape->strings.texts.n ? tape->strings.texts.v[id] : STR("");
}

void tape_forget_payloads(struct tape *tape)
{
    for (size_t i = 0; i < sizeof tape->joined / sizeof *tape->joined; i++)
        buf_release(&tape->joined[i]);
    for (int i = 0; i < TAPE_CACHED_BLOCKS; i++) {
        buf_release(&tape->cache[i].content);
        tape->cache[i].block = NULL;
    }
}

uint64_t tape_payload_size(const struct tape *tape, uint32_t id)
{
    return id < tape->payloads.n ? tape->payloads.v[id].size : 0;
}

static const struct stream_block *find_stream_block(const struct tape *tape, uint8_t lane,
                                                    uint64_t at)
{
    size_t low = 0, high = tape->streams[lane].n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const struct stream_block *block = &tape->streams[lane].v[mid];
        if (at < block->first)
            high = mid;
        else if (at - block->first >= block->count)
            low = mid + 1;
        else
            return block;
    }
    return NULL;
}

static bool is_noted(const struct tape *tape, uint64_t offset)
{
    for (size_t i = 0; i < tape->damage.n; i++)
        if (tape->damage.v[i].offset == offset)
            return true;
    return false;
}

static bool decode_block(struct tape *tape, uint8_t lane, const struct stream_block *block,
                         struct cached_block *slot, struct err *err)
{
    struct str frame = { tape->bytes.p + block->offset, (size_t)block->stored };
    enum tape_lane found;
    uint64_t first, count;
    slot->block = NULL;
    slot->content.failed = false;
    buf_clear(&slot->content);
    if (!frame_decompress(tape->codec, frame, &slot->content, err))
        return err_at(err, "offset %llu", (unsigned long long)block->offset);
    struct bytes in = bytes_of(buf_str(&slot->content));
    if (!tape_block_head(&in, &found, &first, &count) || found != lane || first != block->first ||
        count != block->count || count != bytes_left(&in))
        return err_set(err, ERR_INPUT, "offset %llu: the index does not fit the frame",
                       (unsigned long long)block->offset);
    slot->block = block;
    slot->skip = slot->content.n - bytes_left(&in);
    return true;
}

/* Reads a block. If it cannot be read, that is damage of the tape, even if the caller can
 * continue without it. */
static bool load_block(struct tape *tape, uint8_t lane, const struct stream_block *block,
                       struct cached_block *slot, struct err *err)
{
    struct err why = { 0 };
    if (decode_block(tape, lane, block, slot, &why))
        return true;
    if (why.kind == ERR_INPUT && !is_noted(tape, block->offset) &&
        !note_damaged_place(tape, block->offset, why.text))
        return err_nomem(err);
    return err_copy(err, &why);
}

/* Returns the slot that has the block, or else the least recently used one, among slots [low,
 * high). */
static struct cached_block *choose_slot(struct tape *tape, int low, int high,
                                        const struct stream_block *block)
{
    struct cached_block *oldest = &tape->cache[low];
    for (int i = low; i < high; i++) {
        struct cached_block *slot = &tape->cache[i];
        if (slot->block == block)
            return slot;
        oldest = slot->used < oldest->used ? slot : oldest;
    }
    return oldest;
}

/* Returns the bytes of the stream from `at` to the end of that block, in slots [low, high). */
static bool stream_at(struct tape *tape, int low, int high, uint8_t lane, uint64_t at,
                      struct str *ret, struct err *err)
{
    const struct stream_block *block = find_stream_block(tape, lane, at);
    if (!block)
        return err_set(err, ERR_INPUT, "the payload's bytes are missing on the tape");
    struct cached_block *slot = choose_slot(tape, low, high, block);
    if (slot->block != block && !load_block(tape, lane, block, slot, err))
        return false;
    slot->used = ++tape->clock;
    *ret = str_from(buf_str(&slot->content), slot->skip + (size_t)(at - block->first));
    return true;
}

/* Assembles a payload that spans several blocks. It uses the last slot only, so that what the
 * previous call returned stays valid. */
static bool join_blocks(struct tape *tape, const struct tape_payload *row, struct str *ret,
                        struct err *err)
{
    struct buf held = tape->joined[0];
    tape->joined[0] = tape->joined[1];
    tape->joined[1] = held;
    struct buf *out = &tape->joined[0];
    buf_clear(out);
    out->failed = false;
    while (out->n < row->size) {
        struct str part = STR("");
        if (!stream_at(tape, TAPE_CACHED_BLOCKS - 1, TAPE_CACHED_BLOCKS, row->lane,
                       row->offset + out->n, &part, err))
            return false;
        buf_put(out, str_first(part, row->size - out->n));
        if (out->failed)
            return err_nomem(err);
    }
    *ret = buf_str(out);
    return true;
}

bool tape_payload(struct tape *tape, uint32_t id, struct str *ret, struct err *err)
{
    if (id >= tape->payloads.n || tape->payloads.v[id].lane >= TAPE_LANES ||
        !tape_lane_is_stream(tape->payloads.v[id].lane))
        return err_set(err, ERR_INPUT, "the payload is missing on the tape");
    const struct tape_payload *row = &tape->payloads.v[id];
    *ret = STR("");
    if (row->size == 0)
        return true;
    if (row->offset > UINT64_MAX - row->size)
        return err_set(err, ERR_INPUT, "the payload's place on the tape is invalid");
    if (!stream_at(tape, 0, TAPE_CACHED_BLOCKS - 1, row->lane, row->offset, ret, err))
        return false;
    if (ret->n < row->size)
        return join_blocks(tape, row, ret, err);
    ret->n = (size_t)row->size;
    return true;
}
