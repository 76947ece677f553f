/* The container written and read: tape_write and tape_read together. What a tape may claim that no
 * writer wrote is in test_tape_rows.c. */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "tests/harness.h"
#include "tests/trace/tape/log_make.h"
#include "trace/open.h"
#include "trace/tape/tape_frame.h"
#include "trace/tape/tape_read.h"
#include "trace/tape/tape_write.h"

#define STACK "[{\"line\": 7, \"name\": \"f\", \"filename\": 2, \"loc\": \"return x\"}]"

static bool keep(void *user, struct str bytes, struct err *err)
{
    buf_put(user, bytes);
    return !((struct buf *)user)->failed || err_nomem(err);
}

static struct tape_writer *begin(struct buf *out)
{
    struct err err = ERR_INIT;
    struct tape_writer *tape = tape_create((struct tape_sink){ keep, out }, &err);
    struct tape_recording recording = { .name = STR("r"), .source = STR("r.log") };
    assert_non_null(tape);
    assert_true(tape_add_recording(tape, &recording, &err));
    assert_int_equal(recording.index, 0);
    return tape;
}

static void end(struct tape_writer *tape)
{
    struct err err = ERR_INIT;
    assert_true(tape_finish(tape, &err));
    tape_free(tape);
}

static void add(struct tape_writer *tape, const char *meta, struct str payload, enum tape_lane lane)
{
    struct err err = ERR_INIT;
    struct tape_record row = { .glog = { 'V', 1120, 5000, 673, STR("a/b.py"), 12 },
                               .event = STR("artifact"),
                               .context = STR("}"),
                               .lines = 1,
                               .bytes = 9 };
    row.meta = str_of(meta);
    row.payload = payload;
    row.flags = payload.n ? TAPE_RECORD_PAYLOAD : 0;
    assert_true(tape_add_record(tape, &row, lane, &err));
}

static struct tape *reading(struct str bytes)
{
    struct err err = ERR_INIT;
    struct tape *tape = tape_read(bytes, UINT64_MAX, &err);
    if (!tape)
        fail_msg("%s", err.text);
    return tape;
}

static struct buf small_tape(void)
{
    struct buf out = BUF_INIT, log = BUF_INIT;
    struct import_result result;
    log_line(&log, "\"str\": [\"/u/a.py\", 2]");
    log_line(&log, "\"dynamo_start\": {\"stack\": " STACK "}, " COMPILE);
    log_payload(&log, "\"artifact\": {\"name\": \"x\", \"encoding\": \"string\"}, " COMPILE,
                STR("one\ntwo"));
    log_line(&log, "\"compilation_metrics\": {\"fail_type\": null}, " COMPILE);
    out = import_text(buf_str(&log), &result);
    import_result_release(&result);
    buf_release(&log);
    return out;
}

static void test_rows(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    struct err err = ERR_INIT;
    struct str text;
    struct tape_writer *writer = begin(&out);
    add(writer, "{\"n\": 1}", STR("payload"), TAPE_LANE_OTHER);
    add(writer, "{\"n\": 2}", STR(""), TAPE_LANE_OTHER);
    struct tape_record raw = { .flags = TAPE_RECORD_RAW | TAPE_RECORD_NO_NEWLINE };
    raw.meta = STR("\0garbage\x01");
    raw.bytes = 9;
    assert_true(tape_add_record(writer, &raw, TAPE_LANE_OTHER, &err));
    struct tape_recording done = { .index = 0,
                                   .complete = true,
                                   .name = STR("rank0"),
                                   .source = STR("s"),
                                   .bytes = 27,
                                   .input_bytes = 5,
                                   .damage = STR("cut") };
    assert_true(tape_update_recording(writer, &done, &err));
    end(writer);

    struct tape *tape = reading(buf_str(&out));
    assert_int_equal(tape->damage.n, 0);
    assert_int_equal(tape->recordings.n, 1);
    assert_str_is(tape->recordings.v[0].name, "rank0");
    assert_str_is(tape->recordings.v[0].damage, "cut");
    assert_true(tape->recordings.v[0].complete);
    assert_int_equal(tape->recordings.v[0].bytes, 27);
    assert_int_equal(tape->recordings.v[0].input_bytes, 5);
    assert_int_equal(tape->records.n, 3);
    const struct tape_record *row = &tape->records.v[1];
    assert_str_is(row->meta, "{\"n\": 2}");
    assert_int_equal(row->glog.level, 'V');
    assert_int_equal(row->glog.month_day, 1120);
    assert_int_equal(row->glog.time_us, 5000);
    assert_int_equal(row->glog.pid, 673);
    assert_int_equal(row->glog.path_line, 12);
    assert_str_is(tape_string(tape, row->path_id), "a/b.py");
    assert_str_is(tape_string(tape, row->event_id), "artifact");
    assert_str_is(tape->contexts.v[row->context_id], "}");
    assert_int_equal(row->payload_id, TAPE_NONE);
    assert_true(tape_payload(tape, tape->records.v[0].payload_id, &text, &err));
    assert_str_is(text, "payload");
    assert_int_equal(tape->records.v[2].flags, TAPE_RECORD_RAW | TAPE_RECORD_NO_NEWLINE);
    assert_str_eq(tape->records.v[2].meta, STR("\0garbage\x01"));
    assert_int_equal(tape_string(tape, 99).n, 0);
    assert_false(tape_payload(tape, 99, &text, &err));
    assert_err(&err, ERR_INPUT, "missing");
    tape_close(tape);
    buf_release(&out);
}

/* The seek table as facebook/zstd contrib/seekable_format/zstd_seekable_compression_format.md has
 * it, and the frames that it lists. */
static void test_zstd_reads_it(void **state)
{
    (void)state;
    struct buf tape = small_tape(), all = BUF_INIT;
    ZSTD_DStream *stream = ZSTD_createDStream();
    ZSTD_inBuffer in = { tape.p, tape.n, 0 };
    size_t left = 1;
    while (in.pos < in.size) {
        assert_true(buf_reserve(&all, 4096));
        ZSTD_outBuffer to = { all.p + all.n, 4096, 0 };
        left = ZSTD_decompressStream(stream, &to, &in);
        assert_false(ZSTD_isError(left));
        all.n += to.pos;
    }
    assert_int_equal(left, 0);
    ZSTD_freeDStream(stream);

    struct bytes foot = bytes_of(str_from(buf_str(&tape), tape.n - 9));
    uint32_t n = bytes_le32(&foot);
    assert_int_equal(bytes_u8(&foot), 0);
    assert_int_equal(bytes_le32(&foot), 0x8F92EAB1);
    size_t table = 8 + (size_t)n * 8 + 9, at = 0, content = 0;
    assert_true(table < tape.n);
    struct bytes rows = bytes_of(str_from(buf_str(&tape), tape.n - table));
    assert_int_equal(bytes_le32(&rows), 0x184D2A5E);
    assert_int_equal(bytes_le32(&rows), table - 8);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t stored = bytes_le32(&rows), size = bytes_le32(&rows);
        struct frame_place place;
        assert_true(frame_next(str_from(buf_str(&tape), at), &place));
        assert_int_equal(place.size, stored);
        assert_int_equal(place.magic == 0, size > 0);
        if (place.magic == 0)
            assert_int_equal(ZSTD_getFrameContentSize(tape.p + at, stored), size);
        at += stored;
        content += size;
    }
    assert_int_equal(at, tape.n - table);
    assert_int_equal(content, all.n);
    buf_release(&all);
    buf_release(&tape);
}

static void put_le16(struct buf *tape, size_t at, unsigned v)
{
    tape->p[at] = (char)v;
    tape->p[at + 1] = (char)(v >> 8);
}

static void check_not_read(struct str bytes, const char *why)
{
    struct err err = ERR_INIT;
    assert_null(tape_read(bytes, UINT64_MAX, &err));
    assert_err(&err, ERR_INPUT, why);
}

static void test_header(void **state)
{
    (void)state;
    struct buf tape = small_tape();
    struct str bytes = buf_str(&tape);
    assert_true(tape_recognise(str_first(bytes, 32)));
    assert_memory_equal(tape.p + 8, "symtape", 8);
    check_not_read(STR(""), "not a tape");
    check_not_read(STR("V1120 a log"), "not a tape");
    for (size_t n = 0; n < 36; n++)
        check_not_read(str_first(bytes, n), "not a tape");
    put_le16(&tape, 16, TAPE_VERSION + 1);
    check_not_read(bytes, "a tape of version 2; this program reads up to 1");
    put_le16(&tape, 16, 0);
    check_not_read(bytes, "version 0");
    put_le16(&tape, 16, TAPE_VERSION);
    tape.p[21] = 1;
    check_not_read(bytes, "features 0x100");
    tape.p[21] = 0;
    tape.p[24] ^= 1;
    check_not_read(bytes, "header is damaged");
    tape.p[24] ^= 1;
    tape.p[35] ^= 1;
    check_not_read(bytes, "header is damaged");
    tape.p[35] ^= 1;
    tape_close(reading(bytes));
    buf_release(&tape);
}

/* A payload larger than a block, and one that goes over a block's end. */
static void test_large_payloads(void **state)
{
    (void)state;
    struct buf out = BUF_INIT, large = BUF_INIT;
    struct err err = ERR_INIT;
    struct str first, second, third;
    for (uint32_t i = 0; large.n < (9u << 20); i++)
        buf_printf(&large, "%u,", i * 2654435761u);
    struct tape_writer *writer = begin(&out);
    struct str text = buf_str(&large);
    add(writer, "0", str_first(text, 3 << 20), TAPE_LANE_OTHER);
    add(writer, "1", str_from(text, 5 << 20), TAPE_LANE_OTHER);
    add(writer, "2", text, TAPE_LANE_OTHER);
    add(writer, "3", STR("small"), TAPE_LANE_OTHER);
    end(writer);
    struct tape *tape = reading(buf_str(&out));
    assert_int_equal(tape->payloads.n, 4);
    assert_int_equal(tape_payload_size(tape, 2), large.n);
    assert_int_equal(tape_payload_size(tape, 4), 0);
    for (size_t i = 0; i < tape->streams[TAPE_LANE_OTHER].n; i++)
        assert_true(tape->streams[TAPE_LANE_OTHER].v[i].count <= TAPE_BLOCK_SIZE);
    assert_true(tape_payload(tape, 1, &first, &err));
    assert_true(tape_payload(tape, 2, &second, &err));
    check_bytes(first, str_from(text, 5 << 20),
                "held over one call"); /* valid until the next but one */
    check_bytes(second, text, "larger than two blocks");
    assert_true(tape_payload(tape, 3, &third, &err));
    check_bytes(second, text, "held over one call");
    assert_str_is(third, "small");
    assert_true(tape_payload(tape, 0, &first, &err));
    check_bytes(first, str_first(text, 3 << 20), "in one block");
    tape_close(tape);
    buf_release(&large);
    buf_release(&out);
}

static void test_payloads_stored_once(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    struct err err = ERR_INIT;
    struct tape_writer *writer = begin(&out);
    for (int i = 0; i < 1000; i++) {
        char text[32];
        snprintf(text, sizeof text, "payload %d", i % 10);
        add(writer, "{}", str_of(text), i % 2 ? TAPE_LANE_OTHER : TAPE_LANE_EVENTS);
    }
    end(writer);
    struct tape *tape = reading(buf_str(&out));
    assert_int_equal(tape->payloads.n, 10);
    assert_int_equal(tape->records.n, 1000);
    for (uint32_t i = 0; i < 1000; i++) {
        struct str text;
        char expected[32];
        snprintf(expected, sizeof expected, "payload %u", i % 10);
        assert_true(tape_payload(tape, tape->records.v[i].payload_id, &text, &err));
        assert_str_is(text, expected);
    }
    assert_int_equal(tape->parts[TAPE_LANE_OTHER].content + tape->parts[TAPE_LANE_EVENTS].content,
                     10 * 9 + 2 * 3);
    tape_close(tape);
    buf_release(&out);
}

/* Tables of more than one block; payloads in more blocks than are held. */
static void test_many_blocks(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    struct err err = ERR_INIT;
    struct str text;
    char line[20000];
    struct tape_writer *writer = begin(&out);
    memset(line, ' ', sizeof line);
    for (uint32_t i = 0; i < 2500; i++) {
        char meta[64];
        snprintf(meta, sizeof meta, "{\"n\": %u}", i);
        snprintf(line, 16, "%u", i);
        add(writer, meta, (struct str){ line, sizeof line }, (enum tape_lane)(i % 4));
        if (i % 100 == 0)
            assert_true(tape_flush(writer, &err));
    }
    assert_true(tape_written(writer) > 0 && tape_written(writer) == out.n);
    end(writer);
    struct tape *tape = reading(buf_str(&out));
    assert_int_equal(tape->records.n, 2500);
    assert_true(tape->parts[TAPE_LANE_RECORDS].blocks > 20);
    for (uint32_t i = 0; i < 2500; i++) {
        uint32_t k = i * 997 % 2500;
        assert_true(tape_payload(tape, tape->records.v[k].payload_id, &text, &err));
        assert_int_equal(text.n, sizeof line);
        assert_int_equal(strtoul(text.p, NULL, 10), k);
        assert_int_equal(tape->records.v[k].glog.time_us, 5000);
    }
    tape_close(tape);
    buf_release(&out);
}

/* Rows count as what they take in memory; with an index before any is read, without one on the way.
 */
static void test_many_rows(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    struct err err = ERR_INIT, scanned = ERR_INIT;
    struct tape_writer *writer = begin(&out);
    for (uint32_t i = 0; i < 20000; i++)
        add(writer, "{}", STR(""), TAPE_LANE_OTHER);
    end(writer);
    uint64_t least = 20000 * (sizeof(struct tape_record) + sizeof(struct record));
    struct str whole = buf_str(&out), cut = str_first(whole, whole.n - 1);
    assert_null(tape_read(whole, least, &err));
    assert_err(&err, ERR_INPUT, "--big lifts");
    assert_null(tape_read(cut, least, &scanned));
    assert_err(&scanned, ERR_INPUT, "--big lifts");
    struct tape *tape = tape_read(whole, 2 * least, &(struct err){ 0 });
    assert_int_equal(tape->records.n, 20000);
    assert_true(tape->taken > least && tape->damage.n == 0);
    tape_close(tape);
    buf_release(&out);
}

/* A tape that was killed while it was written: all up to its last whole frame. */
static void test_truncated(void **state)
{
    (void)state;
    struct buf bytes = small_tape();
    struct tape *whole = reading(buf_str(&bytes));
    size_t records = whole->records.n, last = 0;
    tape_close(whole);
    for (size_t n = 36; n < bytes.n; n++) {
        struct tape *tape = reading(str_first(buf_str(&bytes), n));
        assert_true(tape->damage.n > 0);
        assert_str_is(tape->damage.v[0].what, "the tape was not finished: no index at its end");
        assert_true(tape->records.n >= last && tape->records.n <= records);
        last = tape->records.n;
        tape_close(tape);
    }
    assert_int_equal(last, records);
    buf_release(&bytes);
}

/* What a tape says, damage and all. */
static void describe(struct tape *tape, struct buf *out)
{
    struct str text;
    for (size_t i = 0; i < tape->records.n; i++) {
        const struct tape_record *row = &tape->records.v[i];
        struct err ignored = ERR_INIT;
        buf_printf(out, "%u %.*s ", row->flags, STR_ARG(tape_string(tape, row->event_id)));
        buf_put(out, row->meta);
        if (tape_payload(tape, row->payload_id, &text, &ignored))
            buf_put(out, text);
    }
    for (size_t i = 0; i < tape->strings.texts.n; i++)
        buf_put(out, tape->strings.texts.v[i]);
    for (uint32_t i = 1; i < tape->stacks.nodes.n; i++)
        stacks_print(&tape->stacks, i, SIZE_MAX, out);
}

/* Every byte flipped, in turn: read, refused or noted, and never read as something else unnoticed.
 */
static void test_flipped(void **state)
{
    (void)state;
    struct buf bytes = small_tape(), right = BUF_INIT;
    struct tape *whole = reading(buf_str(&bytes));
    describe(whole, &right);
    tape_close(whole);
    for (size_t at = 0; at < bytes.n; at++) {
        struct err err = ERR_INIT;
        struct buf found = BUF_INIT;
        bytes.p[at] ^= (char)(1 << at % 8);
        struct tape *tape = tape_read(buf_str(&bytes), UINT64_MAX, &err);
        bytes.p[at] ^= (char)(1 << at % 8);
        assert_true(tape || err.kind == ERR_INPUT);
        assert_true(tape || at < 36);
        if (tape)
            describe(tape, &found);
        if (tape && tape->damage.n == 0 && !str_eq(buf_str(&found), buf_str(&right)))
            fail_msg("byte %zu: read otherwise without a word", at);
        buf_release(&found);
        tape_close(tape);
    }
    buf_release(&right);
    buf_release(&bytes);
}

static bool failing_sink(void *user, struct str bytes, struct err *err)
{
    size_t *left = user;
    if (bytes.n > *left)
        return err_set(err, ERR_ENV, "disk full");
    *left -= bytes.n;
    return true;
}

/* The writer stays failed and says so. */
static void test_sink_fails(void **state)
{
    (void)state;
    for (size_t room = 0; room < 400; room += 7) {
        struct err err = ERR_INIT;
        size_t left = room;
        struct tape_writer *tape = tape_create((struct tape_sink){ failing_sink, &left }, &err);
        struct tape_recording recording = { .name = STR("r"), .source = STR("r.log") };
        struct tape_record raw = { .flags = TAPE_RECORD_RAW, .meta = STR("x"), .bytes = 1 };
        bool ok = tape && tape_add_recording(tape, &recording, &err) &&
                  tape_add_record(tape, &raw, TAPE_LANE_OTHER, &err) && tape_flush(tape, &err) &&
                  tape_finish(tape, &err);
        if (!ok)
            assert_err(&err, ERR_ENV, "disk full");
        if (tape && !ok) {
            assert_false(tape_add_record(tape, &raw, TAPE_LANE_OTHER, &err));
            assert_int_equal(err.kind, ERR_ENV);
        }
        tape_free(tape);
    }
}

static bool write_attempt(void *arg)
{
    struct err err = ERR_INIT;
    struct buf out = BUF_INIT;
    struct tape_writer *tape = tape_create((struct tape_sink){ keep, &out }, &err);
    struct tape_recording recording = { .name = STR("r"), .source = STR("r.log") };
    struct tape_record row = { .event = STR("e"),
                               .context = STR("}"),
                               .meta = STR("{}"),
                               .payload = STR("p"),
                               .flags = TAPE_RECORD_PAYLOAD };
    bool ok = tape && tape_add_recording(tape, &recording, &err) &&
              tape_add_record(tape, &row, TAPE_LANE_OTHER, &err) && tape_finish(tape, &err);
    assert_true(ok != err_is_set(&err) && (ok || err.kind == ERR_ENV));
    if (ok && arg)
        assert_true(str_eq(buf_str(&out), *(const struct str *)arg));
    tape_free(tape);
    buf_release(&out);
    return ok;
}

static bool read_attempt(void *arg)
{
    struct err err = ERR_INIT;
    struct str text = STR("");
    struct tape *tape = tape_read(*(const struct str *)arg, UINT64_MAX, &err);
    bool ok = tape && tape_payload(tape, 0, &text, &err);
    assert_true(ok != err_is_set(&err) && (ok || err.kind == ERR_ENV));
    ok = ok && tape->records.n == 4 && str_is(text, "one\ntwo");
    tape_close(tape);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    struct buf tape = small_tape();
    struct str whole = buf_str(&tape), unfinished = str_first(whole, whole.n - 9);
    check_alloc_failures(write_attempt, NULL);
    check_alloc_failures(read_attempt, &whole);
    check_alloc_failures(read_attempt, &unfinished);
    buf_release(&tape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_zstd_reads_it),
        cmocka_unit_test(test_header),
        cmocka_unit_test(test_large_payloads),
        cmocka_unit_test(test_payloads_stored_once),
        cmocka_unit_test(test_many_blocks),
        cmocka_unit_test(test_many_rows),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_flipped),
        cmocka_unit_test(test_sink_fails),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
