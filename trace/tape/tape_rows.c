#include "trace/tape/tape_rows.h"

/* Rows that damaged blocks had are replaced, so that later numbers keep their meaning; there are
 * never more than this, whatever a block's head claims. */
enum { MOST_LOST_ROWS = 4 << 20 };

bool tape_block_head(struct bytes *in, enum tape_lane *lane, uint64_t *first, uint64_t *count)
{
    char letter = (char)bytes_u8(in);
    *first = bytes_varint(in);
    *count = bytes_varint(in);
    return !in->failed && tape_lane_by_letter(letter, lane);
}

static struct str take_row_text(struct bytes *in)
{
    return bytes_take(in, bytes_varint(in));
}

static bool read_frame_row(struct tape *tape, struct bytes *in)
{
    struct stack_frame_row row;
    row.line = (uint32_t)bytes_varint_max(in, UINT32_MAX);
    row.name = (uint32_t)bytes_varint_max(in, UINT32_MAX);
    int64_t file = bytes_zigzag(in);
    row.file = file < -1 || file > INT32_MAX ? -1 : (int32_t)file;
    row.loc = (uint32_t)bytes_varint_max(in, UINT32_MAX) - 2;
    return stacks_add_frame(&tape->stacks, row);
}

static bool read_stack_row(struct tape *tape, struct bytes *in)
{
    uint64_t id = tape->stacks.nodes.n, back = bytes_varint(in);
    uint32_t frame = (uint32_t)bytes_varint_max(in, UINT32_MAX);
    uint32_t parent = back == 0 || back > id ? 0 : (uint32_t)(id - back);
    if (tape->stacks.nodes.v[parent].depth >= STACK_DEPTH_LIMIT)
        parent = 0;
    return stacks_add_node(&tape->stacks, parent, frame);
}

static bool read_payload_row(struct tape *tape, struct bytes *in)
{
    struct tape_payload row;
    row.lane = (uint8_t)bytes_varint_max(in, TAPE_LANES - 1);
    row.offset = bytes_varint(in);
    row.size = bytes_varint(in);
    return vec_push(&tape->payloads, row);
}

static bool read_recording_row(struct tape *tape, struct bytes *in)
{
    struct tape_recording row = { 0 };
    row.index = (uint32_t)bytes_varint_max(in, tape->recordings.n);
    row.kind = (uint32_t)bytes_varint_max(in, UINT32_MAX);
    row.complete = bytes_varint(in) != 0;
    row.name = take_row_text(in);
    row.source = take_row_text(in);
    row.bytes = bytes_varint(in);
    row.input_bytes = bytes_varint(in);
    row.damage = take_row_text(in);
    if (in->failed)
        return true;
    if (row.index == tape->recordings.n)
        return vec_push(&tape->recordings, row);
    tape->recordings.v[row.index] = row;
    return true;
}

static void read_glog_prefix(struct tape_record *row, const struct tape_record *last,
                             struct bytes *in)
{
    row->glog.level = (char)bytes_u8(in);
    row->glog.month_day = (uint16_t)(last->glog.month_day + (uint64_t)bytes_zigzag(in));
    row->glog.time_us = last->glog.time_us + (uint64_t)bytes_zigzag(in);
    row->glog.pid = last->glog.pid + (uint64_t)bytes_zigzag(in);
    row->path_id = (uint32_t)bytes_varint_max(in, UINT32_MAX);
    row->glog.path_line = (uint32_t)bytes_varint_max(in, UINT32_MAX);
    row->event_id = (uint32_t)bytes_varint_max(in, UINT32_MAX);
    row->context_id = (uint32_t)bytes_varint_max(in, UINT32_MAX);
}

static bool read_record_row(struct tape *tape, struct bytes *in, struct tape_record *last)
{
    struct tape_record row = { .meta_id = TAPE_NONE,
                               .payload_id = TAPE_NONE,
                               .header_id = TAPE_NONE };
    row.path_id = row.event_id = row.context_id = TAPE_NONE;
    row.flags = (uint32_t)bytes_varint_max(in, TAPE_RECORD_FLAGS);
    row.recording = (uint32_t)bytes_varint_max(in, UINT32_MAX);
    if (!(row.flags & TAPE_RECORD_RAW)) {
        read_glog_prefix(&row, last, in);
        *last = row;
    }
    if (row.flags & TAPE_RECORD_META_STORED)
        row.meta_id = (uint32_t)bytes_varint_max(in, UINT32_MAX);
    else
        row.meta = take_row_text(in);
    if (row.flags & TAPE_RECORD_PAYLOAD)
        row.payload_id = (uint32_t)bytes_varint_max(in, UINT32_MAX);
    if (row.flags & TAPE_RECORD_ODD_HEADER)
        row.header_id = (uint32_t)bytes_varint_max(in, UINT32_MAX);
    row.lines = bytes_varint(in);
    row.bytes = bytes_varint(in);
    return in->failed || vec_push(&tape->records, row);
}

/* Returns the number of rows of the lane's table, counted as the tape numbers them. */
static uint64_t lane_row_count(const struct tape *tape, enum tape_lane lane)
{
    switch (lane) {
    case TAPE_LANE_STRINGS: return tape->strings.texts.n;
    case TAPE_LANE_FRAMES: return tape->stacks.frames.n;
    case TAPE_LANE_STACKS: return tape->stacks.nodes.n - 1;
    case TAPE_LANE_PAYLOADS: return tape->payloads.n;
    case TAPE_LANE_CONTEXTS: return tape->contexts.n;
    default: return UINT64_MAX; /* nothing refers to the rows of these by number */
    }
}

static bool read_lane_row(struct tape *tape, enum tape_lane lane, struct bytes *in,
                          struct tape_record *last)
{
    switch (lane) {
    case TAPE_LANE_STRINGS: return vec_push(&tape->strings.texts, take_row_text(in));
    case TAPE_LANE_FRAMES: return read_frame_row(tape, in);
    case TAPE_LANE_STACKS: return read_stack_row(tape, in);
    case TAPE_LANE_PAYLOADS: return read_payload_row(tape, in);
    case TAPE_LANE_CONTEXTS: return vec_push(&tape->contexts, take_row_text(in));
    case TAPE_LANE_RECORDINGS: return read_recording_row(tape, in);
    default: return read_record_row(tape, in, last);
    }
}

/* Returns an empty row that refers to nothing. */
static struct str lost_row(enum tape_lane lane)
{
    switch (lane) {
    case TAPE_LANE_FRAMES:
        return STR("\0" /* no name */ "\xFF\xFF\xFF\xFF\x0F" /* file -1 */ "\1\0");
    case TAPE_LANE_STACKS: return STR("\0" /* STACK_ROOT */ "\x80\x80\xFC\xFF\x0F");
    case TAPE_LANE_PAYLOADS: return STR("\x0B" /* in no stream */ "\0\0");
    default: return STR("\0");
    }
}

static bool fill_lost_rows(struct tape *tape, enum tape_lane lane, uint64_t first, struct err *err)
{
    uint64_t have = lane_row_count(tape, lane);
    if (have == UINT64_MAX)
        return true;
    if (first < have)
        return err_set(err, ERR_INPUT, "rows that an earlier block has already");
    if (first - have > MOST_LOST_ROWS - tape->lost_rows)
        return err_set(err, ERR_INPUT, "too many rows are missing before it");
    tape->lost_rows += first - have;
    for (; have < first; have++) {
        struct bytes nothing = bytes_of(lost_row(lane));
        if (!read_lane_row(tape, lane, &nothing, NULL))
            return err_nomem(err);
    }
    return true;
}

bool tape_read_rows(struct tape *tape, enum tape_lane lane, uint64_t first, uint64_t count,
                    struct bytes *in, struct err *err)
{
    struct tape_record last = { 0 };
    if (!fill_lost_rows(tape, lane, first, err))
        return false;
    /* Memory for the largest table is reserved at once, as far as the block's bytes can have
     * that many rows. */
    if (lane == TAPE_LANE_RECORDS && count <= bytes_left(in) / 5 &&
        !vec_reserve(&tape->records, (size_t)count))
        return err_nomem(err);
    for (uint64_t i = 0; i < count; i++) {
        if (bytes_left(in) == 0)
            return err_set(err, ERR_INPUT, "ends after %llu of %llu rows", (unsigned long long)i,
                           (unsigned long long)count);
        if (!read_lane_row(tape, lane, in, &last))
            return err_nomem(err);
        if (in->failed)
            return err_set(err, ERR_INPUT, "damaged in row %llu of %llu", (unsigned long long)i + 1,
                           (unsigned long long)count);
    }
    return true;
}
