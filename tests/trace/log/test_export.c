#include <string.h>

#include "tests/harness.h"
#include "tests/trace/tape/log_make.h"
#include "trace/log/source.h"
#include "trace/tables.h"
#include "trace/tape/tape_write.h"

#define FRAME "{\"line\": 7, \"name\": \"f\", \"filename\": 2, \"loc\": \"return x\"}"
#define MD5   "d41d8cd98f00b204e9800998ecf8427e"

/* Each behind a sound record, and in front of one. */
/* clang-format off */
static const struct {
    const char *name;
    struct str log;
} oddities[] = {
#define LOG(name, text) { name, { text, sizeof text - 1 } }
    LOG("nothing", ""),
    LOG("blank lines", "\n\r\n \t \n"),
    LOG("garbage", "garbage \0\x01\x02\x7F\x80\xFF\n"),
    LOG("marks", "\x01" "1\x02\n" PREFIX "{\"a\": \x01" "1}\n" PREFIX "{\"a\": \"\x02\"}\n"),
    LOG("a digit after a stack", PREFIX "{\"a\": [" FRAME "]5}\n"),
    LOG("CRLF", PREFIX "{\"a\": 1}\r\n\tp\r\n\tq\r\n"),
    LOG("CR without LF", PREFIX "{\"a\": 1}\r\r\n\tp\rq\n\r\tr\n"),
    LOG("blank lines in a payload",
        PREFIX "{\"a\": 1, \"has_payload\": \"" MD5 "\"}\n\tp\n\n\r\n\tq\n"),
    LOG("blank lines behind a payload", PREFIX "{\"a\": 1}\n\tp\n\n\n"),
    LOG("an empty payload", PREFIX "{\"a\": 1, \"has_payload\": \"" MD5 "\"}\n\t\n"),
    LOG("no payload", PREFIX "{\"a\": 1, \"has_payload\": \"" MD5 "\"}\n"),
    LOG("another payload", PREFIX "{\"a\": 1, \"has_payload\": \"" MD5 "\"}\n\tp\n\t\tq\n"),
    LOG("a payload not announced", PREFIX "{\"a\": 1}\n\tp\n"),
    LOG("a payload without a header", "\tp\n\tq\n\n\tr\n"),
    LOG("marks in a payload", PREFIX "{\"a\": 1}\n\t\x01" "1\x02\0\xFF\n"),
    LOG("a cut line", PREFIX "{\"a\": {\"x\": [" FRAME ", " PREFIX "{\"b\": [" FRAME "]}\n\tp\n"),
    LOG("two cut lines", PREFIX "{\"a\": 1" PREFIX "{\"b" PREFIX "{\"c\": 1}\n"),
    LOG("NaN and huge integers",
        PREFIX "{\"a\": [NaN, -Infinity, 123456789012345678901234567890]}\n"),
    LOG("lone surrogates", PREFIX "{\"a\": \"\\ud800\\udc00\\udfff\"}\n"),
    LOG("invalid UTF-8", PREFIX "{\"a\": \"\xFF\xC3\"}\n"),
    LOG("odd spacing", PREFIX "{ \"a\" :1 ,\"frame_id\":0, \"stack\": [" FRAME "] }\n"),
    LOG("context first", PREFIX "{\"rank\": 0, \"a\": {\"stack\": [" FRAME "]}, \"attempt\": 1}\n"),
    LOG("context twice", PREFIX "{\"a\": 1, \"rank\": 0, \"rank\": 1, \"a\": 2}\n"),
    LOG("checksum first", PREFIX "{\"has_payload\": \"" MD5 "\", \"a\": 1}\n\t\n"),
    LOG("checksum inside", PREFIX "{\"a\": 1, \"rank\": {\"has_payload\": \"x\"}, "
                                  "\"has_payload\": \"" MD5 "\"}\n\t\n"),
    LOG("checksums of both kinds", PREFIX "{\"a\": \"" MD5 "\", \"rank\": \"" MD5 "\", "
                                          "\"has_payload\": \"" MD5 "\"}\n\t\n"),
    LOG("upper-case checksum", PREFIX "{\"a\": 1, \"has_payload\": "
                                      "\"D41D8CD98F00B204E9800998ECF8427E\"}\n\t\n"),
    LOG("escaped names", PREFIX "{\"e\\\"\\u00e9\": {\"k\\n\": 1}}\n" PREFIX "{\"\": 1}\n"),
    LOG("stacks of other kinds",
        PREFIX "{\"a\": [{\"name\": \"f\", \"line\": 7, \"filename\": 2}]}\n" PREFIX
               "{\"a\": [{\"line\": 7, \"name\": \"f\", \"filename\": -1}]}\n" PREFIX
               "{\"a\": [{\"line\": 7, \"name\": \"f\", \"filename\": 2, \"loc\": null}]}\n" PREFIX
        "{\"a\": [{\"line\": 7, \"name\": \"\\\"\\\\\", \"filename\": 2, \"loc\": \"\\t\"}]}\n"),
    LOG("a stack in a list", PREFIX "{\"a\": [[" FRAME "], [" FRAME ", " FRAME "]]}\n"),
    LOG("odd headers", "V9999 99:99:99.999999 007 a:01] {\"a\": 1}\n"
                       "W0101 00:00:00.000000 0 \x01\x02 \xFF:0] {\"a\": 1}\n"),
    LOG("other processes", "V1120 07:34:58.618000 999 a.py:1] {\"str\": [\"/x.py\", 0]}\n"
                           "V1120 07:34:58.618000 999 a.py:1] {\"a\": [" FRAME "]}\n"),
    LOG("time and pid back and forth",
        "V0101 00:00:00.000000 18446744073709551615 a:1] {\"a\": 1}\n"
        "V1231 23:59:59.999999 0 a:4294967295] {\"a\": 1}\n"),
#undef LOG
};
/* clang-format on */

static void test_oddities(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof oddities / sizeof *oddities; i++) {
        struct buf log = BUF_INIT;
        log_line(&log, "\"a\": [" FRAME "], " COMPILE);
        buf_put(&log, oddities[i].log);
        log_payload(&log, "\"b\": {}, " COMPILE, STR("p\nq"));
        check_round_trip(buf_str(&log), oddities[i].name);
        buf_release(&log);
    }
}

/* Every one of them cut at every byte: no final newline, half a header, half a payload. */
static void test_cut(void **state)
{
    (void)state;
    struct buf log = BUF_INIT;
    log_payload(&log, "\"b\": {\"stack\": [" FRAME "]}, " COMPILE, STR("p\n\nq"));
    size_t first = log.n;
    for (size_t i = 0; i < sizeof oddities / sizeof *oddities; i++)
        if (i % 5 == 0)
            buf_put(&log, oddities[i].log);
    for (size_t n = first; n <= log.n; n += n < first + 200 ? 1 : 11)
        check_round_trip(str_first(buf_str(&log), n), "a cut log");
    buf_release(&log);
}

/* Longer than what a tape keeps in a row, a block or a context. */
static void test_long(void **state)
{
    (void)state;
    struct buf log = BUF_INIT, text = BUF_INIT;
    for (uint32_t i = 0; text.n < 6u << 20; i++)
        buf_printf(&text, "%u\n", i * 2654435761u);
    log_line(&log, "\"a\": 1");
    log_payload(&log, "\"artifact\": {\"name\": \"x\"}", buf_str(&text));
    log_payload(&log, "\"artifact\": {\"name\": \"y\"}", str_from(buf_str(&text), 1000));
    for (int where = 0; where < 6; where++) {
        static const char *const before[] = { "{\"a\": \"",
                                              "{\"a\": 1, \"x\": \"",
                                              "{\"",
                                              "{\"a\": [{\"line\": 1, \"name\": \"",
                                              "{\"a\": 1, \"stack\": [" FRAME "], \"x\": \"",
                                              "" };
        static const char *const behind[] = {
            "\"}\n", "\"}\n", "\": 1}\n", "\", \"filename\": 1}]}\n", "\", \"frame_id\": 0}\n\tp\n",
            "\n"
        };
        for (size_t n = 65500; n < 65600; n += 33) {
            buf_puts(&log, PREFIX);
            buf_puts(&log, before[where]);
            for (size_t i = 0; i < n; i++)
                buf_putc(&log, 'x');
            buf_puts(&log, behind[where]);
        }
    }
    check_round_trip(buf_str(&log), "long texts");
    buf_release(&log);
    buf_release(&text);
}

/* So many rows that tables leave in several blocks. */
static void test_many(void **state)
{
    (void)state;
    struct buf log = BUF_INIT;
    for (uint32_t i = 0; i < 30000; i++) {
        char json[400];
        snprintf(json, sizeof json,
                 "\"a%u\": {\"stack\": [{\"line\": %u, \"name\": \"f%u\", \"filename\": %u, "
                 "\"loc\": \"x = %u\"}, " FRAME "]}, \"frame_id\": %u, \"frame_compile_id\": %u",
                 i % 7, i, i, i % 50, i, i / 100, i % 100);
        if (i % 10 == 0)
            log_payload(&log, json, str_of(json));
        else
            log_line(&log, json);
    }
    check_round_trip(buf_str(&log), "many records");
    buf_release(&log);
}

static void test_recordings(void **state)
{
    (void)state;
    static const char *const names[] = { "mlp", "graph_break", "train", "data_dependent" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct err err = ERR_INIT;
        char below[100];
        snprintf(below, sizeof below, "tests/recordings/%s.log.zst", names[i]);
        struct source *source = source_open(source_path(below), &err);
        struct buf log = BUF_INIT;
        size_t n = 0;
        assert_non_null(source);
        do {
            log.n += n;
            assert_true(buf_reserve(&log, SOURCE_READ_SIZE));
            assert_true(source_read(source, log.p + log.n, SOURCE_READ_SIZE, &n, &err));
        } while (n);
        source_close(source);
        check_round_trip(buf_str(&log), below);
        buf_release(&log);
    }
}

static bool keep(void *user, struct str bytes, struct err *err)
{
    buf_put(user, bytes);
    return !((struct buf *)user)->failed || err_nomem(err);
}

static void test_not_a_log(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct buf tape = BUF_INIT;
    struct tape_writer *writer = tape_create((struct tape_sink){ keep, &tape }, &err);
    struct tape_recording row = { .kind = RECORDING_PT2, .name = STR("m"), .source = STR("m.pt2") };
    assert_true(tape_add_recording(writer, &row, &err) && tape_finish(writer, &err));
    tape_free(writer);
    struct trace *trace = open_bytes(buf_str(&tape));
    struct buf out = exported(trace, 0, &err);
    assert_err(&err, ERR_USAGE, "m is a .pt2 archive, not a log");
    buf_release(&out);
    trace_close(trace);
    buf_release(&tape);
}

static struct buf sound_log(void)
{
    struct buf log = BUF_INIT;
    for (int i = 0; i < 40; i++) {
        char json[200];
        snprintf(json, sizeof json, "\"a%d\": {\"n\": %d, \"stack\": [" FRAME "]}, " COMPILE, i % 4,
                 i);
        log_payload(&log, json, str_of(json));
    }
    return log;
}

/* Whatever a damaged tape lacks: what is written is right, and that something is missing is told.
 */
static void test_lost(void **state)
{
    (void)state;
    struct buf log = sound_log();
    struct import_result result;
    struct buf tape = import_text(buf_str(&log), &result);
    for (size_t at = 36; at < tape.n; at++) {
        struct err err = ERR_INIT, ignored = ERR_INIT;
        tape.p[at] ^= 0x55;
        const char *path = temp_path("lost.tape");
        put_file(path, buf_str(&tape));
        tape.p[at] ^= 0x55;
        struct trace *trace = trace_open(path, NULL, &ignored);
        if (!trace) { /* the frame of the recordings is gone */
            assert_err(&ignored, ERR_INPUT, "no recording");
            continue;
        }
        struct buf out = exported(trace, 0, &err);
        if (!err_is_set(&err))
            check_bytes(buf_str(&out), buf_str(&log), "exported without an error");
        else
            assert_int_equal(err.kind, ERR_INPUT);
        assert_true(out.n <= log.n);
        buf_release(&out);
        trace_close(trace);
    }
    import_result_release(&result);
    buf_release(&tape);
    buf_release(&log);
}

/* The tables of a trace changed under it, one after the other. */
static void test_names_what_is_lost(void **state)
{
    (void)state;
    struct buf log = sound_log();
    for (int lie = 0; lie < 7; lie++) {
        struct err err = ERR_INIT;
        struct trace *trace = open_text(buf_str(&log));
        struct tape *tape = trace->tables->tape;
        const char *what = "parts of the record are lost on the tape";
        if (lie == 0)
            tape->contexts.v[0].n = 0, what = "the record's context is lost";
        else if (lie == 1)
            tape->payloads.n = 10, what = "the payload is missing on the tape";
        else if (lie == 2)
            tape->strings.texts.n = 1;
        else if (lie == 3)
            tape->stacks.frames.n = 0;
        else if (lie == 5)
            tape->stacks.frames.v[0].loc = tape->stacks.frames.v[0].name = 0,
            tape->strings.texts.v[0] = buf_str(&log), what = "become longer than the";
        else if (lie == 6)
            tape->records.v[7].bytes = 10,
            what = "made.log:15: the record would become longer than the 10";
        else
            tape->records.v[7].bytes++, what = "made.log:15: parts of the record are lost";
        struct buf out = exported(trace, 0, &err);
        assert_err(&err, ERR_INPUT, what);
        buf_release(&out);
        trace_close(trace);
    }
    buf_release(&log);
}

static bool refuse(void *user, struct str bytes, struct err *err)
{
    (void)user, (void)bytes;
    return err_set(err, ERR_ENV, "disk full");
}

static void test_sink_fails(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct buf log = sound_log();
    struct trace *trace = open_text(buf_str(&log));
    assert_false(export_log(trace, 0, (struct export_sink){ refuse, NULL }, &err));
    assert_err(&err, ERR_ENV, "disk full");
    trace_close(trace);
    buf_release(&log);
}

static bool attempt(void *arg)
{
    struct err err = ERR_INIT;
    struct buf out = BUF_INIT;
    bool ok = export_log(arg, 0, (struct export_sink){ keep, &out }, &err);
    assert_true(ok != err_is_set(&err) && (ok || err.kind == ERR_ENV));
    ok = ok && out.n == ((struct trace *)arg)->recordings[0].bytes;
    buf_release(&out);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    struct buf log = sound_log();
    buf_puts(&log, PREFIX "{\"a\" : 1}\n\tp\n\n\tq\ngarbage\n");
    struct trace *trace = open_text(buf_str(&log));
    check_alloc_failures(attempt, trace);
    trace_close(trace);
    buf_release(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oddities),   cmocka_unit_test(test_cut),
        cmocka_unit_test(test_long),       cmocka_unit_test(test_many),
        cmocka_unit_test(test_recordings), cmocka_unit_test(test_not_a_log),
        cmocka_unit_test(test_lost),       cmocka_unit_test(test_names_what_is_lost),
        cmocka_unit_test(test_sink_fails), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
