#include <string.h>
#include <zlib.h>

#include "tests/harness.h"
#include "tests/trace/tape/log_make.h"
#include "trace/log/log_split.h"

/* A piece as one line: header|payload|flags, where the flags are c(rlf), u(nterminated), b(lank
 * inside), then @line:offset. */
static void describe(const struct log_piece *piece, struct buf *out)
{
    buf_put(out, piece->header);
    buf_putc(out, '|');
    if (piece->has_payload)
        buf_put(out, piece->payload);
    buf_printf(out, "|%s%s%s@%llu:%llu\n", piece->crlf ? "c" : "", piece->unterminated ? "u" : "",
               piece->blank_inside ? "b" : "", (unsigned long long)piece->line,
               (unsigned long long)piece->offset);
}

/* Reads all pieces; true and the description when the log came to its end. Whatever they are, put
 * together they are the log. */
static bool split_file(const char *path, struct buf *out, struct buf *whole, struct err *err)
{
    struct source *source = source_open(path, err);
    assert_non_null(source);
    struct log_split split = { .source = source };
    struct log_piece piece;
    uint64_t lines = 0;
    bool ok;
    while ((ok = log_split_next(&split, &piece, err)) && piece.whole.n) {
        assert_int_equal(piece.line, lines + 1);
        assert_int_equal(piece.offset, whole->n);
        lines += piece.lines;
        buf_put(whole, piece.whole);
        describe(&piece, out);
    }
    log_split_release(&split);
    source_close(source);
    return ok;
}

static void check_split(struct str log, const char *expected)
{
    struct err err = ERR_INIT;
    struct buf out = BUF_INIT, whole = BUF_INIT;
    const char *path = temp_path("split.log");
    put_file(path, log);
    assert_true(split_file(path, &out, &whole, &err));
    assert_str_eq(buf_str(&whole), log);
    assert_str_is(buf_str(&out), expected);
    buf_release(&out);
    buf_release(&whole);
}

static void test_pieces(void **state)
{
    (void)state;
    check_split(STR(""), "");
    check_split(STR("a\n"), "a||@1:0\n");
    check_split(STR("a\nb\n"), "a||@1:0\nb||@2:2\n");
    check_split(STR("a\n\tp\nb\n"), "a|\tp|@1:0\nb||@3:5\n");
    check_split(STR("a\n\tp\n\tq\n\t\nb\n"), "a|\tp\n\tq\n\t|@1:0\nb||@5:10\n");
    check_split(STR("\n"), "||@1:0\n");
    check_split(STR("\n\na\n"), "||@1:0\n||@2:1\na||@3:2\n");
}

static void test_unterminated(void **state)
{
    (void)state;
    check_split(STR("a"), "a||u@1:0\n");
    check_split(STR("a\n\tp"), "a|\tp|u@1:0\n");
    check_split(STR("a\n\t"), "a|\t|u@1:0\n");
    check_split(STR("a\r"), "a||cu@1:0\n");
    check_split(STR("\tp"), "|\tp|u@1:0\n");
}

static void test_crlf(void **state)
{
    (void)state;
    check_split(STR("a\r\nb\r\n"), "a||c@1:0\nb||c@2:3\n");
    check_split(STR("a\r\n\tp\r\n\tq\r\nb\n"), "a|\tp\r\n\tq\r|c@1:0\nb||@4:11\n");
    check_split(STR("a\r\r\n"), "a\r||c@1:0\n");
}

static void test_headless(void **state)
{
    (void)state;
    check_split(STR("\tp\n\tq\na\n"), "|\tp\n\tq|@1:0\na||@3:6\n");
    check_split(STR("\n\tp\n"), "|\tp|@1:0\n");
}

/* Blank lines belong to a payload only when it goes on behind them. */
static void test_blank_lines(void **state)
{
    (void)state;
    check_split(STR("a\n\tp\n\n\tq\nb\n"), "a|\tp\n\n\tq|b@1:0\nb||@5:9\n");
    check_split(STR("a\n\tp\r\n\r\n\n\tq\n"), "a|\tp\r\n\r\n\n\tq|b@1:0\n");
    check_split(STR("a\n\tp\n\nb\n"), "a|\tp|@1:0\n||@3:5\nb||@4:6\n");
    check_split(STR("a\n\tp\n\n"), "a|\tp|@1:0\n||@3:5\n");
    check_split(STR("a\n\tp\n\n\r"), "a|\tp|@1:0\n||@3:5\n||cu@4:6\n");
    check_split(STR("a\n\n\tp\n"), "a||@1:0\n|\tp|@2:2\n");
    /* \r without \n is no line end */
    check_split(STR("a\n\tp\n\n\r\tq\n"), "a|\tp|@1:0\n||@3:5\n\r\tq||@4:6\n");
    check_split(STR("a\n\tp\n\r\tq\n"), "a|\tp|@1:0\n\r\tq||@3:5\n");
}

/* Pieces larger than what is read at once, and many of them in one buffer. */
static void test_large(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct buf log = BUF_INIT, out = BUF_INIT, whole = BUF_INIT;
    const char *path = temp_path("large.log");
    for (int i = 0; i < 5000000; i++)
        buf_putc(&log, 'x');
    for (int i = 0; i < 200000; i++)
        buf_puts(&log, "\n\tpayload");
    for (int i = 0; i < 300000; i++)
        buf_puts(&log, "\nheader");
    put_file(path, buf_str(&log));
    assert_true(split_file(path, &out, &whole, &err));
    check_bytes(buf_str(&whole), buf_str(&log), "the pieces");
    buf_release(&log);
    buf_release(&out);
    buf_release(&whole);
}

/* A line that no header is so long as: in parts, and what follows it is whole again. */
static void test_long_line(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct buf log = BUF_INIT;
    struct log_piece piece;
    const char *path = temp_path("line.log");
    buf_puts(&log, "first\n");
    for (uint64_t i = 0; i < 3 * LOG_LINE_LIMIT; i++)
        buf_putc(&log, i % 5 == 0 && i > 0 ? '\t' : 'x');
    buf_puts(&log, "\n\tp\nlast\n");
    put_file(path, buf_str(&log));
    struct source *source = source_open(path, &err);
    struct log_split split = { .source = source };
    uint64_t offset = 0, parts = 0, largest = 0;
    while (log_split_next(&split, &piece, &err) && piece.whole.n) {
        assert_int_equal(piece.offset, offset);
        assert_memory_equal(piece.whole.p, log.p + offset, piece.whole.n);
        offset += piece.whole.n;
        largest = piece.whole.n > largest ? piece.whole.n : largest;
        parts += piece.unterminated;
        assert_true(!piece.unterminated || (!piece.has_payload && piece.line == 2));
    }
    assert_false(err_is_set(&err));
    assert_int_equal(offset, log.n);
    assert_str_eq(piece.header, STR(""));
    assert_int_equal(split.line, 4);
    assert_true(parts >= 1 && largest < 2 * LOG_LINE_LIMIT);
    assert_true(split.data.cap <= 2 * LOG_LINE_LIMIT);
    log_split_release(&split);
    source_close(source);
    buf_release(&log);
}

/* What a damaged file still gave is handed out, the last piece as far as it goes; then the error.
 */
static void test_damaged_source(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct buf out = BUF_INIT, whole = BUF_INIT;
    char path[4096];
    snprintf(path, sizeof path, "%s", temp_path("cut.log.gz"));
    gzFile gz = gzopen(path, "wb");
    assert_non_null(gz);
    uint32_t noise = 1;
    gzputs(gz, "first\n\tp\n");
    for (int i = 0; i < 20000; i++, noise = noise * 1664525 + 1013904223)
        gzprintf(gz, "\t%08x\n", (unsigned)noise);
    gzclose(gz);
    struct buf bytes = read_file(path);
    put_file(path, str_first(buf_str(&bytes), bytes.n / 2));
    buf_release(&bytes);
    assert_false(split_file(path, &out, &whole, &err));
    assert_err(&err, ERR_INPUT, "cut.log.gz: offset");
    assert_true(str_starts(buf_str(&out), STR("first|\tp\n\t")));
    assert_true(whole.n > 50000);
    buf_release(&out);
    buf_release(&whole);
}

static bool attempt(void *arg)
{
    struct err err = ERR_INIT;
    struct source *source = source_open(arg, &err);
    struct log_split split = { .source = source };
    struct log_piece piece;
    size_t n = 0;
    while (source && log_split_next(&split, &piece, &err) && piece.whole.n)
        n++;
    assert_true(!err_is_set(&err) || err.kind == ERR_ENV);
    log_split_release(&split);
    source_close(source);
    return source && !err_is_set(&err) && n == 2;
}

static void test_memory(void **state)
{
    (void)state;
    char path[4096];
    snprintf(path, sizeof path, "%s", temp_path("memory.log"));
    put_file(path, STR("a\n\tp\n\n\tq\nb\n"));
    check_alloc_failures(attempt, path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),      cmocka_unit_test(test_unterminated),
        cmocka_unit_test(test_crlf),        cmocka_unit_test(test_headless),
        cmocka_unit_test(test_blank_lines), cmocka_unit_test(test_large),
        cmocka_unit_test(test_long_line),   cmocka_unit_test(test_damaged_source),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
