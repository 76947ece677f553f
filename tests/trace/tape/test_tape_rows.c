/* Tapes that no writer wrote: blocks made by hand for the reader of rows, frames and indexes. */
#include <string.h>

#include "tests/harness.h"
#include "trace/base/hash.h"
#include "trace/tape/tape_frame.h"
#include "trace/tape/tape_read.h"
#include "trace/tape/tape_write.h"

static struct tape *reading(struct str bytes)
{
    struct err err = ERR_INIT;
    struct tape *tape = tape_read(bytes, UINT64_MAX, &err);
    if (!tape)
        fail_msg("%s", err.text);
    return tape;
}

/* A tape made of blocks by hand. */
struct blocks {
    struct buf tape;
    struct frame_codec *codec;
};

static bool keep(void *user, struct str bytes, struct err *err)
{
    buf_put(user, bytes);
    return !((struct buf *)user)->failed || err_nomem(err);
}

/* A header and nothing behind it. */
static struct blocks by_hand(void)
{
    struct err err = ERR_INIT;
    struct blocks blocks = { .codec = frame_codec_new(&err) };
    struct tape_writer *writer = tape_create((struct tape_sink){ keep, &blocks.tape }, &err);
    assert_non_null(blocks.codec);
    assert_non_null(writer);
    tape_free(writer);
    return blocks;
}

static void put_block(struct blocks *blocks, struct str content)
{
    struct err err = ERR_INIT;
    assert_true(frame_compress(blocks->codec, content, &blocks->tape, &err));
}

static void release_blocks(struct blocks *blocks)
{
    frame_codec_free(blocks->codec);
    buf_release(&blocks->tape);
}

static void test_lost_rows(void **state)
{
    (void)state;
    struct blocks blocks = by_hand();
    struct err err = ERR_INIT;
    struct str text;
    struct buf out = BUF_INIT;
    put_block(&blocks, STR("s\2\1\3abc"));    /* strings 0 and 1 are lost */
    put_block(&blocks, STR("f\1\1\5\2\4\4")); /* frame 0: line 5, name 2, file 2, loc 2 */
    put_block(&blocks, STR("t\1\1\1\1"));     /* node 1 is lost, node 2: above it, frame 1 */
    put_block(&blocks, STR("p\1\1\3\0\0"));   /* payload 0 */
    put_block(&blocks, STR("c\1\1\1}"));      /* context 0 */
    struct tape *tape = reading(buf_str(&blocks.tape));
    assert_int_equal(tape->lost_rows, 6);
    assert_int_equal(tape_string(tape, 0).n, 0);
    assert_str_is(tape_string(tape, 2), "abc");
    assert_int_equal(tape->contexts.v[0].n, 0);
    assert_str_is(tape->contexts.v[1], "}");
    assert_false(tape_payload(tape, 0, &text, &err));
    assert_err(&err, ERR_INPUT, "the payload is missing on the tape");
    assert_true(tape_payload(tape, 1, &text, &err));
    stacks_print(&tape->stacks, 1, SIZE_MAX, &out);
    assert_str_is(buf_str(&out), "[]");
    buf_clear(&out);
    stacks_print(&tape->stacks, 2, SIZE_MAX, &out);
    assert_str_is(buf_str(&out),
                  "[{\"line\": 5, \"name\": \"abc\", \"filename\": 2, \"loc\": \"abc\"}]");
    assert_int_equal(tape->stacks.frames.v[0].file, -1);
    buf_release(&out);
    tape_close(tape);
    release_blocks(&blocks);
}

static void check_noted(struct str content, const char *what)
{
    struct blocks blocks = by_hand();
    put_block(&blocks, STR("s\0\1\1a"));
    put_block(&blocks, content);
    put_block(&blocks, STR("c\0\1\1}"));
    struct tape *tape = reading(buf_str(&blocks.tape));
    assert_int_equal(tape->damage.n, 2); /* no index, and this one */
    if (str_find(tape->damage.v[1].what, str_of(what)) == tape->damage.v[1].what.n)
        fail_msg("\"%.*s\", not \"%s\"", STR_ARG(tape->damage.v[1].what), what);
    assert_int_equal(tape->contexts.n, 1); /* what follows is read */
    tape_close(tape);
    release_blocks(&blocks);
}

static void test_lies(void **state)
{
    (void)state;
    check_noted(STR(""), "block without a head");
    check_noted(STR("s\xFF"), "block without a head");
    check_noted(STR("s\1\5\1b"), "ends after 1 of 5 rows");
    check_noted(STR("s\1\1\5b"), "damaged in row 1 of 1");
    check_noted(STR("s\1\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\1\1b"), "ends after 1 of");
    check_noted(STR("s\0\1\1b"), "rows that an earlier block has already");
    check_noted(STR("s\xFF\xFF\xFF\xFF\x0F\1\1b"), "too many rows are missing");
    check_noted(STR("r\0\1\0\0V\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"), "damaged in row 1 of 1");
    check_noted(STR("r\0\1\xFF\x7F"), "damaged in row 1 of 1");
    check_noted(STR("R\0\1\5\0\0\0\0\0\0\0"), "damaged in row 1 of 1");
    check_noted(STR("o\0\5abc"), "stream block of the wrong size");
}

/* Kinds of block that a later version may have are passed over. */
static void test_unknown_lane(void **state)
{
    (void)state;
    struct blocks blocks = by_hand();
    put_block(&blocks, STR("?\0\1whatever"));
    frame_skippable(0x184D2A53, STR("later"), &blocks.tape);
    put_block(&blocks, STR("s\0\1\1a"));
    struct tape *tape = reading(buf_str(&blocks.tape));
    assert_int_equal(tape->damage.n, 1);
    assert_str_is(tape_string(tape, 0), "a");
    tape_close(tape);
    release_blocks(&blocks);
}

/* Numbers at the ends of their ranges. */
static void test_extreme_row(void **state)
{
    (void)state;
    struct blocks blocks = by_hand();
    put_block(&blocks, STR("r\0\2"
                           "\0\0V\2\0\0\0\0\0\0\0\0\0"
                           "\0\0V\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\1"
                           "\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\1"
                           "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\1"
                           "\xFF\xFF\xFF\xFF\x0F\xFF\xFF\xFF\xFF\x0F\xFF\xFF\xFF\xFF\x0F"
                           "\xFF\xFF\xFF\xFF\x0F"
                           "\0\0\0"));
    struct tape *tape = reading(buf_str(&blocks.tape));
    assert_int_equal(tape->damage.n, 1);
    assert_int_equal(tape->records.n, 2);
    assert_int_equal(tape->records.v[1].event_id, UINT32_MAX);
    tape_close(tape);
    release_blocks(&blocks);
}

/* Garbage between frames is stepped over; very much of it that looks like frames is given up. */
static void test_garbage_between(void **state)
{
    (void)state;
    struct blocks blocks = by_hand();
    put_block(&blocks, STR("s\0\1\1a"));
    buf_puts(&blocks.tape, "garbage \x28\xB5\x2F\xFD garbage");
    put_block(&blocks, STR("c\0\1\1}"));
    struct tape *tape = reading(buf_str(&blocks.tape));
    assert_int_equal(tape->contexts.n, 1);
    assert_int_equal(tape->damage.n, 3);
    tape_close(tape);
    for (int i = 0; i < 5000; i++)
        buf_puts(&blocks.tape, "\x28\xB5\x2F\xFD");
    put_block(&blocks, STR("c\1\1\1}"));
    tape = reading(buf_str(&blocks.tape));
    assert_int_equal(tape->contexts.n, 1);
    assert_true(tape->damage.n < 1100);
    tape_close(tape);
    release_blocks(&blocks);
}

static void put_index(struct buf *tape, struct str rows, unsigned n)
{
    struct buf index = BUF_INIT, table = BUF_INIT;
    buf_varint(&index, n);
    buf_put(&index, rows);
    buf_le64(&index, hash_str(buf_str(&index)));
    frame_skippable(TAPE_INDEX_MAGIC, buf_str(&index), tape);
    buf_le32(&table, (uint32_t)index.n + 8);
    buf_le32(&table, 0);
    buf_le32(&table, 1);
    buf_putc(&table, 0);
    buf_le32(&table, 0x8F92EAB1);
    frame_skippable(TAPE_SEEK_TABLE_MAGIC, buf_str(&table), tape);
    buf_release(&index);
    buf_release(&table);
}

static void put_index_row(struct buf *rows, char lane, uint64_t offset, uint64_t stored,
                          uint64_t first, uint64_t count)
{
    buf_putc(rows, lane);
    buf_varint(rows, offset);
    buf_varint(rows, stored);
    buf_varint(rows, 0);
    buf_varint(rows, first);
    buf_varint(rows, count);
}

/* An index that names a frame twice, one behind the end, and one that holds something else. */
static void test_lying_index(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct str text;
    for (int lie = 0; lie < 4; lie++) {
        struct blocks blocks = by_hand();
        struct buf rows = BUF_INIT;
        size_t at = blocks.tape.n;
        put_block(&blocks, STR("o\0\5hello"));
        size_t next = blocks.tape.n;
        put_block(&blocks, STR("p\0\1\3\0\5"));
        put_index_row(&rows, 'o', at, next - at, lie == 2 ? 1 : 0, lie == 3 ? 6 : 5);
        put_index_row(&rows, 'p',
                      lie == 0   ? at
                      : lie == 1 ? UINT64_MAX - 1
                                 : next,
                      blocks.tape.n - next, 0, 1);
        put_index(&blocks.tape, buf_str(&rows), 2);
        struct tape *tape = reading(buf_str(&blocks.tape));
        assert_int_equal(tape->damage.n, lie < 2);
        if (lie < 2)
            assert_str_is(tape->damage.v[0].what, "the index does not fit the tape");
        assert_false(tape_payload(tape, 0, &text, &err));
        assert_err(&err, ERR_INPUT, "");
        tape_close(tape);
        buf_release(&rows);
        release_blocks(&blocks);
    }
}

/* Blocks of a stream that overlap cannot make a read go on for ever. */
static void test_overlapping_stream(void **state)
{
    (void)state;
    struct blocks blocks = by_hand();
    struct err err = ERR_INIT;
    struct str text;
    put_block(&blocks, STR("o\0\4abcd"));
    put_block(&blocks, STR("o\4\4efgh"));
    put_block(&blocks, STR("o\0\x10"
                           "0123456789ABCDEF"));
    put_block(&blocks, STR("p\0\4"
                           "\3\0\x10"
                           "\3\2\4"
                           "\3\xC\4"
                           "\3\2\xFF\xFF\xFF\xFF\x7F"));
    struct tape *tape = reading(buf_str(&blocks.tape));
    for (int round = 0; round < 3; round++)
        for (uint32_t id = 0; id < 4; id++) {
            err = ERR_INIT;
            bool read = tape_payload(tape, id, &text, &err);
            assert_true(read != err_is_set(&err) &&
                        (!read || text.n == tape_payload_size(tape, id)));
        }
    tape_close(tape);
    release_blocks(&blocks);
}

/* A frame is refused before it is decoded when it says that it is too large. */
static void test_frames(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct frame_codec *codec = frame_codec_new(&err);
    struct buf content = BUF_INIT, frame = BUF_INIT, back = BUF_INIT;
    assert_true(buf_reserve(&content, TAPE_BLOCK_LIMIT + 1));
    memset(content.p, 'x', TAPE_BLOCK_LIMIT + 1);
    content.n = TAPE_BLOCK_LIMIT + 1;
    assert_true(frame_compress(codec, buf_str(&content), &frame, &err));
    assert_false(frame_decompress(codec, buf_str(&frame), &back, &err));
    assert_err(&err, ERR_INPUT, "frame of 5242881 bytes");
    content.n--;
    buf_clear(&frame);
    assert_true(frame_compress(codec, buf_str(&content), &frame, &err));
    assert_true(frame_decompress(codec, buf_str(&frame), &back, &err));
    assert_true(str_eq(buf_str(&back), buf_str(&content)));
    assert_false(frame_decompress(codec, str_first(buf_str(&frame), frame.n - 1), &back, &err));
    assert_err(&err, ERR_INPUT, "zstd: ");
    frame.p[frame.n - 1] ^= 1; /* the checksum */
    assert_false(frame_decompress(codec, buf_str(&frame), &back, &err));
    assert_err(&err, ERR_INPUT, "zstd: ");
    buf_release(&content);
    buf_release(&frame);
    buf_release(&back);
    frame_codec_free(codec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lost_rows),          cmocka_unit_test(test_lies),
        cmocka_unit_test(test_unknown_lane),       cmocka_unit_test(test_extreme_row),
        cmocka_unit_test(test_garbage_between),    cmocka_unit_test(test_lying_index),
        cmocka_unit_test(test_overlapping_stream), cmocka_unit_test(test_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
