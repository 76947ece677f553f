#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/harness.h"
#include "tests/trace/tape/log_make.h"
#include "trace/tape/tape_read.h"

#define EMPTY_MD5 "d41d8cd98f00b204e9800998ecf8427e"
#define ARTIFACT  "\"artifact\": {\"name\": \"x\", \"encoding\": \"string\"}"

/* Damage as "line:offset what", one a line. */
static void check_damage(struct str log, uint64_t records, const char *expected)
{
    struct import_result result;
    struct buf tape = import_text(log, &result), places = BUF_INIT;
    for (size_t i = 0; i < result.n_damage; i++)
        buf_printf(&places, "%llu:%llu %s\n", (unsigned long long)result.damage[i].line,
                   (unsigned long long)result.damage[i].offset, result.damage[i].what);
    assert_str_is(buf_str(&places), expected);
    assert_int_equal(result.records, records);
    assert_int_equal(result.recordings, 1);
    assert_int_equal(result.log_bytes, log.n);
    assert_int_equal(result.tape_bytes, tape.n);
    struct trace *trace = open_bytes(buf_str(&tape));
    assert_int_equal(trace_damage(trace, NULL, 0), result.damaged); /* it says the same */
    trace_close(trace);
    import_result_release(&result);
    buf_release(&places);
    buf_release(&tape);
}

static void test_sound(void **state)
{
    (void)state;
    struct buf log = BUF_INIT;
    log_line(&log, "\"a\": {}");
    log_payload(&log, ARTIFACT, STR("one\n\ntwo\n"));
    log_payload(&log, ARTIFACT, STR("a\rb\r"));
    log_payload(&log, ARTIFACT, STR("nothing \0 is left \x01\x02\xFF out"));
    log_line(&log, ARTIFACT ", \"has_payload\": \"" EMPTY_MD5 "\"");
    buf_puts(&log, "\t\n");
    check_damage(buf_str(&log), 5, "");
    buf_release(&log);
}

/* Through an editor or a mail: the checksum is of the text that it was. */
static void test_crlf(void **state)
{
    (void)state;
    struct buf log = BUF_INIT, crlf = BUF_INIT;
    log_payload(&log, ARTIFACT, STR("one\n\ntwo\n"));
    log_payload(&log, ARTIFACT, STR("one"));
    log_line(&log, "\"a\": {}");
    for (size_t i = 0; i < log.n; i++) {
        if (log.p[i] == '\n')
            buf_putc(&crlf, '\r');
        buf_putc(&crlf, log.p[i]);
    }
    check_damage(buf_str(&crlf), 3, "");
    buf_release(&crlf);
    buf_release(&log);
}

/* Blank lines that lost their TAB are part of the text all the same. */
static void test_blank_lines(void **state)
{
    (void)state;
    char hex[MD5_HEX];
    struct buf log = BUF_INIT;
    buf_puts(&log, PREFIX "{" ARTIFACT ", \"has_payload\": \"");
    buf_put(&log, log_md5(STR("one\n\n\ntwo"), hex));
    buf_puts(&log, "\"}\n\tone\n\n\n\ttwo\n\n");
    check_damage(buf_str(&log), 1, "");
    buf_release(&log);
}

static void test_damage(void **state)
{
    (void)state;
    check_damage(STR("garbage\n" PREFIX "{\"a\": 1}\n"), 1, "1:0 not a record\n");
    check_damage(STR("\0\x01\x02\n" PREFIX "{\"a\": 1}\n"), 1, "1:0 not a record\n");
    check_damage(STR(PREFIX "{\"a\": 1}\n\n \t\n"), 1, "");
    check_damage(STR("\tp\n\tq\n" PREFIX "{\"a\": 1}\n"), 1, "1:0 a payload without a header\n");
    check_damage(STR("\t\n" PREFIX "{\"a\": 1}\n"), 1, "1:0 a payload without a header\n");
    check_damage(STR(PREFIX "{\"a\": 1}\n\tp\n"), 1,
                 "1:0 a payload that its header does not announce\n");
    check_damage(STR(PREFIX "{\"a\": 1, \"has_payload\": \"" EMPTY_MD5 "\"}\n"), 1,
                 "1:0 the payload is missing\n");
    check_damage(STR(PREFIX "{\"a\": 1, \"has_payload\": \"" EMPTY_MD5 "\"}\n\tp\n"), 1,
                 "1:0 the payload does not match its checksum\n");
    check_damage(STR(PREFIX "{\"a\": 1, \"has_payload\": null}\n"), 1, "");
    check_damage(STR(PREFIX "{\"a\": 1, \"has_payload\": 5}\n\tp\n"), 1,
                 "1:0 a payload that its header does not announce\n");
    check_damage(STR(PREFIX "{\"a\": 1}\n" PREFIX "{\"rank\": 1}\n"), 1,
                 "2:64 the record has no event\n");
    check_damage(STR(PREFIX "{\"a\": 1}\n" PREFIX "{\"b\": tru}\n"), 1,
                 "2:64 offset 6: expected a value\n");
    check_damage(STR(PREFIX "{\"a\": 1}\n" PREFIX "text, as on stderr\n"), 1,
                 "2:64 offset 0: expected a value\n");
}

/* Which of several beginnings in a line is a record; what stands in front is kept as it is. */
static void test_two_in_a_line(void **state)
{
    (void)state;
    check_damage(STR(PREFIX "{\"a\": {\"x\": \"12" PREFIX "{\"b\": {}}\n"), 1,
                 "1:0 offset 72: expected ',' or '}'\n");
    struct trace *trace =
        open_text(STR(PREFIX "{\"a\": {\"x\": " PREFIX "{\"b\": 1}\n\tp\n" PREFIX "{\"c\": 1}\n"));
    assert_int_equal(trace->n_records, 3);
    assert_int_equal(trace->records[0].event, EVENT_RAW);
    assert_str_is(trace->records[0].meta, PREFIX "{\"a\": {\"x\": ");
    assert_str_is(trace_string(trace, trace->records[1].name), "b");
    assert_int_equal(trace->records[1].payload, 0);
    assert_int_equal(trace->records[1].line, 1);
    assert_int_equal(trace->records[1].offset, trace->records[0].meta.n);
    assert_int_equal(trace->records[2].line, 3);
    assert_int_equal(trace->recordings[0].damaged, 2); /* the cut line, the unannounced payload */
    trace_close(trace);

    trace =
        open_text(STR("x" PREFIX "{\"a\": " PREFIX "{" PREFIX "{\"b\": 1} " PREFIX "{\"c\": 1}\n"));
    assert_int_equal(trace->n_records, 2);
    assert_str_is(trace_string(trace, trace->records[1].name), "c");
    trace_close(trace);

    trace = open_text(STR("  " PREFIX "{\"a\": 1}\n")); /* blanks are no damage */
    assert_int_equal(trace->n_records, 2);
    assert_int_equal(trace->recordings[0].damaged, 0);
    trace_close(trace);
}

/* An event name that is too long is no record, wherever in the line: nothing is written twice. */
static void test_long_event(void **state)
{
    (void)state;
    struct buf log = BUF_INIT;
    log_line(&log, "\"a\": 1");
    for (int cut = 0; cut < 2; cut++) {
        buf_puts(&log, cut ? "cut " PREFIX "{\"" : PREFIX "{\"");
        for (int i = 0; i < 1001; i++)
            buf_putc(&log, 'e');
        buf_puts(&log, "\": 1}\n");
    }
    check_damage(buf_str(&log), 1, "2:64 an event name of 1001 bytes\n3:1128 not a record\n");
    check_round_trip(buf_str(&log), "a long event");
    buf_release(&log);
}

static void test_nothing_in_it(void **state)
{
    (void)state;
    static const char *const logs[] = { "", "garbage\n", "\tpayload\n", "\n" };
    for (size_t i = 0; i < 4; i++) {
        struct err err = ERR_INIT;
        struct import_result result;
        struct buf tape = BUF_INIT;
        const char *path = temp_path("nothing.log");
        put_file(path, str_of(logs[i]));
        assert_false(import_to_memory(path, NULL, NULL, &tape, &result, &err));
        assert_err(&err, ERR_INPUT, "nothing.log: it contains no record of TORCH_TRACE");
        import_result_release(&result);
        buf_release(&tape);
    }
}

static void test_strict(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct import_options options = { .strict = true };
    struct import_result result;
    const char *in = temp_path("strict.log"), *out = temp_path("strict.tape");
    put_file(in, STR(PREFIX "{\"a\": 1}\n\tp\n"));
    assert_false(import_paths(&in, 1, out, &options, &result, &err));
    assert_err(&err, ERR_INPUT,
               "strict.log:1: offset 0: a payload that its header does not announce");
    assert_int_equal(access(out, F_OK), -1);
    import_result_release(&result);
    put_file(in, STR(PREFIX "{\"a\": 1}\n\n"));
    assert_true(import_paths(&in, 1, out, &options, &result, &err));
    import_result_release(&result);
    assert_false(import_paths(&in, 1, out, &options, &result, &err));
    assert_err(&err, ERR_USAGE, "strict.tape");
    options.overwrite = true;
    assert_true(import_paths(&in, 1, out, &options, &result, &err));
    import_result_release(&result);
    assert_false(import_paths(&out, 1, in, &options, &result, &err));
    assert_err(&err, ERR_USAGE, "is a tape already");
    import_result_release(&result);
}

/* Names come from the rank, or else from the file; a name taken is numbered. */
static void test_names(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct import_result result;
    static const struct {
        const char *file, *log, *name;
    } logs[] = {
        { "a.log", PREFIX "{\"a\": 1, \"rank\": 3}\n", "rank3" },
        { "dedicated_log_torch_trace_k2j1f.log", PREFIX "{\"a\": 1}\n", "k2j1f" },
        { "dedicated_log_torch_trace_rank_1_x8.log", PREFIX "{\"a\": 1, \"rank\": 1}\n", "rank1" },
        { "b:c@d.log", PREFIX "{\"a\": 1}\n", "b_c_d" },
        { "e.log", PREFIX "{\"a\": 1}\n" PREFIX "{\"rank\": 3, \"b\": 1}\n", "rank3#2" },
    };
    enum { N = sizeof logs / sizeof *logs };
    char paths[N][4096];
    const char *list[N];
    for (size_t i = 0; i < N; i++) {
        snprintf(paths[i], sizeof paths[i], "%s", temp_path(logs[i].file));
        put_file(paths[i], str_of(logs[i].log));
        list[i] = paths[i];
    }
    const char *out = temp_path("names.tape");
    assert_true(import_paths(list, N, out, NULL, &result, &err));
    assert_int_equal(result.recordings, N);
    assert_int_equal(result.records, N + 1);
    import_result_release(&result);
    struct trace *trace = trace_open(out, NULL, &err);
    assert_non_null(trace);
    assert_int_equal(trace->n_recordings, N);
    for (uint32_t i = 0; i < N; i++) {
        assert_str_is(trace->recordings[i].name, logs[i].name);
        assert_str_is(trace->recordings[i].source, paths[i]);
        assert_true(trace->recordings[i].complete);
        struct buf log = exported(trace, i, &err);
        assert_str_is(buf_str(&log), logs[i].log);
        buf_release(&log);
    }
    assert_int_equal(trace->recordings[0].rank, 3);
    assert_int_equal(trace->recordings[1].rank, -1);
    trace_close(trace);
}

static void count_progress(void *user, uint64_t log_bytes)
{
    uint64_t *last = user;
    assert_true(log_bytes > *last);
    *last = log_bytes;
}

static void test_progress_and_stop(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct import_result result;
    struct buf log = BUF_INIT, tape = BUF_INIT;
    uint64_t last = 0;
    volatile sig_atomic_t stop = 0;
    struct import_options options = { .progress = count_progress, .user = &last, .stop = &stop };
    while (log.n < (20 << 20))
        log_line(&log, "\"a\": {\"text\": \"some words that make the log longer\"}");
    const char *path = temp_path("progress.log");
    put_file(path, buf_str(&log));
    assert_true(import_to_memory(path, NULL, &options, &tape, &result, &err));
    assert_true(last > (10 << 20));
    assert_false(result.interrupted);
    import_result_release(&result);
    buf_clear(&tape);
    stop = 1;
    assert_true(import_to_memory(path, NULL, &options, &tape, &result, &err));
    assert_true(result.interrupted);
    assert_int_equal(result.records, 0);
    import_result_release(&result);
    buf_release(&tape);
    buf_release(&log);
}

/* What came before the damage of a compressed file is kept, and the recording says why it ends. */
static void test_cut_file(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct import_result result;
    char path[4096];
    snprintf(path, sizeof path, "%s", temp_path("cut.log.gz"));
    gzFile gz = gzopen(path, "wb");
    assert_non_null(gz);
    uint32_t noise = 1;
    for (int i = 0; i < 5000; i++, noise = noise * 1664525 + 1013904223)
        gzprintf(gz, PREFIX "{\"a\": %u}\n", (unsigned)noise);
    gzclose(gz);
    struct buf whole = read_file(path), tape = BUF_INIT;
    put_file(path, str_first(buf_str(&whole), whole.n * 2 / 3));
    assert_true(import_to_memory(path, NULL, NULL, &tape, &result, &err));
    assert_true(result.records > 0 && result.damaged > 0);
    struct trace *trace = open_bytes(buf_str(&tape));
    assert_false(trace->recordings[0].complete);
    struct damage damage[8];
    uint64_t n = trace_damage(trace, damage, 8);
    assert_int_equal(n, result.damaged);
    assert_true(str_starts(damage[n - 1].what, STR("gzip: ")));
    struct buf log = exported(trace, 0, &err);
    assert_no_err(&err);
    assert_int_equal(log.n, trace->recordings[0].bytes);
    trace_close(trace);
    import_result_release(&result);
    buf_release(&log);
    buf_release(&tape);
    buf_release(&whole);
}

/* Places beyond the first are counted only. */
static void test_much_damage(void **state)
{
    (void)state;
    struct import_result result;
    struct buf log = BUF_INIT;
    for (int i = 0; i < 1000; i++)
        buf_puts(&log, "garbage\n");
    log_line(&log, "\"a\": 1");
    struct buf tape = import_text(buf_str(&log), &result);
    assert_int_equal(result.damaged, 1000);
    assert_int_equal(result.n_damage, IMPORT_DAMAGE_KEPT);
    assert_true(strstr(result.damage[19].source, "made.log") != NULL);
    assert_int_equal(result.damage[19].line, 20);
    import_result_release(&result);
    buf_release(&tape);
    buf_release(&log);
}

/* A line of very many beginnings takes no more time than another. */
static void test_many_beginnings(void **state)
{
    (void)state;
    struct import_result result;
    struct buf log = BUF_INIT;
    log_line(&log, "\"a\": 1");
    for (int i = 0; i < 100000; i++)
        buf_puts(&log, PREFIX "{\"a\": [");
    buf_putc(&log, '\n');
    struct buf tape = import_text(buf_str(&log), &result);
    assert_int_equal(result.records, 1);
    assert_int_equal(result.damaged, 1);
    import_result_release(&result);
    buf_release(&tape);
    buf_release(&log);
}

static bool attempt(void *arg)
{
    struct err err = ERR_INIT;
    struct import_result result;
    struct buf tape = BUF_INIT;
    bool ok = import_to_memory(arg, NULL, NULL, &tape, &result, &err);
    assert_true(ok != err_is_set(&err) && (ok || err.kind == ERR_ENV));
    ok = ok && result.records == 4 && result.damaged == 3;
    import_result_release(&result);
    buf_release(&tape);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    struct buf log = BUF_INIT;
    char path[4096];
    snprintf(path, sizeof path, "%s", temp_path("memory.log"));
    log_line(&log, "\"str\": [\"/u/a.py\", 2]");
    log_line(&log,
             "\"a\": {\"stack\": [{\"line\": 7, \"name\": \"f\", \"filename\": 2}]}, " COMPILE);
    log_payload(&log, ARTIFACT, STR("one\ntwo"));
    buf_puts(&log, "garbage\n\tp\ncut " PREFIX "{\"rank\": 1, \"b\" : 2}\n\tp\n\n\tq\n");
    put_file(path, buf_str(&log));
    check_alloc_failures(attempt, path);
    buf_release(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sound),           cmocka_unit_test(test_crlf),
        cmocka_unit_test(test_blank_lines),     cmocka_unit_test(test_damage),
        cmocka_unit_test(test_two_in_a_line),   cmocka_unit_test(test_long_event),
        cmocka_unit_test(test_nothing_in_it),   cmocka_unit_test(test_strict),
        cmocka_unit_test(test_names),           cmocka_unit_test(test_progress_and_stop),
        cmocka_unit_test(test_cut_file),        cmocka_unit_test(test_much_damage),
        cmocka_unit_test(test_many_beginnings), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
