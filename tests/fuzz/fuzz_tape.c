/* The tape's reader. An input that starts as a tape is taken as it is. Any other is the content of
 * a tape's blocks: one byte (odd: the tape gets an index), then for each block its size in two
 * bytes, low first, and its bytes; that way mutations get past zstd and its checksums. */
#include "tests/fuzz/shared/walk.h"

#include "trace/base/hash.h"
#include "trace/tape/tape_frame.h"
#include "trace/tape/tape_read.h"

static void put_header(struct buf *out)
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
    buf_release(&content);
}

/* The block's frame, and its row in the index. */
static void put_block(struct frame_codec *codec, struct str content, struct buf *out,
                      struct buf *rows)
{
    struct err err = { .kind = ERR_NONE };
    size_t offset = out->n;
    struct bytes head = bytes_of(content);
    FUZZ_CHECK(frame_compress(codec, content, out, &err));
    buf_putc(rows, (char)bytes_u8(&head));
    buf_varint(rows, offset);
    buf_varint(rows, out->n - offset);
    buf_varint(rows, content.n);
    buf_varint(rows, bytes_varint(&head));
    buf_varint(rows, bytes_varint(&head));
}

static void put_index(uint64_t n, struct str rows, struct buf *out)
{
    struct buf index = BUF_INIT, table = BUF_INIT;
    buf_varint(&index, n);
    buf_put(&index, rows);
    buf_le64(&index, hash_str(buf_str(&index)));
    frame_skippable(TAPE_INDEX_MAGIC, buf_str(&index), out);
    buf_le32(&table, (uint32_t)index.n + 8);
    buf_le32(&table, 0);
    buf_le32(&table, 1);
    buf_putc(&table, 0);
    buf_le32(&table, UINT32_C(0x8F92EAB1));
    frame_skippable(TAPE_SEEK_TABLE_MAGIC, buf_str(&table), out);
    buf_release(&index);
    buf_release(&table);
}

static void make_tape(struct str blocks, struct buf *out)
{
    struct err err = { .kind = ERR_NONE };
    struct frame_codec *codec = frame_codec_new(&err);
    struct bytes in = bytes_of(blocks);
    struct buf rows = BUF_INIT;
    FUZZ_CHECK(codec);
    bool with_index = bytes_u8(&in) & 1;
    uint64_t n = 0;
    put_header(out);
    for (; bytes_left(&in) > 2; n++) {
        uint64_t size = bytes_u8(&in);
        size |= (uint64_t)bytes_u8(&in) << 8;
        size = size < bytes_left(&in) ? size : bytes_left(&in);
        put_block(codec, bytes_take(&in, size), out, &rows);
    }
    if (with_index)
        put_index(n, buf_str(&rows), out);
    buf_release(&rows);
    frame_codec_free(codec);
}

static void use_tape(struct str tape)
{
    struct err err = { .kind = ERR_NONE };
    char path[32];
    int fd = walk_file(tape, path);
    struct trace *trace = trace_open(path, NULL, &err);
    FUZZ_CHECK((trace != NULL) != err_is_set(&err));
    for (uint32_t i = 0; trace && i < trace->n_recordings; i++) {
        struct buf out = BUF_INIT;
        struct err damage = { .kind = ERR_NONE };
        bool whole = export_log(trace, i, (struct export_sink){ walk_keep, &out }, &damage);
        FUZZ_CHECK(whole != err_is_set(&damage));
        FUZZ_CHECK(!whole || out.n == trace->recordings[i].bytes);
        buf_release(&out);
        if (damage.kind == ERR_ENV)
            break;
    }
    if (trace)
        walk_trace(trace);
    trace_close(trace);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct str input = { (const char *)data, n };
    if (tape_recognise(input)) {
        use_tape(input);
    } else {
        struct buf tape = BUF_INIT;
        make_tape(input, &tape);
        use_tape(buf_str(&tape));
        buf_release(&tape);
    }
    return 0;
}
