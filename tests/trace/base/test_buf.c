#include "trace/base/buf.h"

#include "tests/harness.h"

static void test_text(void **state)
{
    (void)state;
    struct buf buf = BUF_INIT;
    buf_puts(&buf, "f32");
    buf_putc(&buf, '[');
    buf_put(&buf, str_first(STR("s77, 64"), 3));
    buf_printf(&buf, ", %d]", 64);
    buf_put(&buf, (struct str){ NULL, 0 });
    assert_str_is(buf_str(&buf), "f32[s77, 64]");
    buf_clear(&buf);
    buf_printf(&buf, "%0500d", 7);
    assert_int_equal(buf.n, 500);
    buf_release(&buf);
    assert_null(buf.p);
}

static void test_decimal(void **state)
{
    (void)state;
    struct buf buf = BUF_INIT;
    buf_u64(&buf, 0);
    buf_putc(&buf, ' ');
    buf_u64(&buf, 1042);
    buf_putc(&buf, ' ');
    buf_u64(&buf, UINT64_MAX);
    assert_str_is(buf_str(&buf), "0 1042 18446744073709551615");
    buf_clear(&buf);
    buf_i64(&buf, -7);
    buf_putc(&buf, ' ');
    buf_i64(&buf, INT64_MIN);
    buf_putc(&buf, ' ');
    buf_i64(&buf, INT64_MAX);
    assert_str_is(buf_str(&buf), "-7 -9223372036854775808 9223372036854775807");
    buf_release(&buf);
}

static const uint64_t numbers[] = {
    0,
    1,
    0x7F,
    0x80,
    0x3FFF,
    0x4000,
    0xFFFFFFFF,
    UINT64_C(1) << 32,
    (UINT64_C(1) << 63) - 1,
    UINT64_C(1) << 63,
    UINT64_MAX,
};
enum { N_NUMBERS = sizeof numbers / sizeof *numbers };

static void test_binary_reads_back(void **state)
{
    (void)state;
    struct buf buf = BUF_INIT;
    for (size_t i = 0; i < N_NUMBERS; i++) {
        buf_varint(&buf, numbers[i]);
        buf_zigzag(&buf, (int64_t)numbers[i]);
        buf_le32(&buf, (uint32_t)numbers[i]);
        buf_le64(&buf, numbers[i]);
    }
    buf_puts(&buf, "end");
    struct bytes in = bytes_of(buf_str(&buf));
    for (size_t i = 0; i < N_NUMBERS; i++) {
        assert_true(bytes_varint(&in) == numbers[i]);
        assert_true(bytes_zigzag(&in) == (int64_t)numbers[i]);
        assert_true(bytes_le32(&in) == (uint32_t)numbers[i]);
        assert_true(bytes_le64(&in) == numbers[i]);
    }
    assert_str_is(bytes_take(&in, 3), "end");
    assert_false(in.failed);
    assert_int_equal(bytes_left(&in), 0);
    buf_release(&buf);
}

static void test_encodings(void **state)
{
    (void)state;
    struct buf buf = BUF_INIT;
    buf_le32(&buf, 0x01020304);
    buf_varint(&buf, 300);
    buf_zigzag(&buf, -1);
    assert_str_eq(buf_str(&buf), STR("\x04\x03\x02\x01\xAC\x02\x01"));
    buf_release(&buf);
}

/* Wherever the bytes end, what was whole is read and the rest is 0 and `failed`. */
static void test_every_truncation_fails(void **state)
{
    (void)state;
    struct buf buf = BUF_INIT;
    buf_varint(&buf, UINT64_MAX);
    buf_le32(&buf, 7);
    buf_le64(&buf, 8);
    buf_putc(&buf, 9);
    for (size_t n = 0; n < buf.n; n++) {
        struct bytes in = bytes_of(str_first(buf_str(&buf), n));
        uint64_t varint = bytes_varint(&in);
        assert_true(varint == (n >= 10 ? UINT64_MAX : 0));
        assert_int_equal(bytes_le32(&in), n >= 14 ? 7 : 0);
        assert_int_equal(bytes_le64(&in), n >= 22 ? 8 : 0);
        assert_int_equal(bytes_u8(&in), 0);
        assert_true(in.failed);
    }
    buf_release(&buf);
}

static void test_bad_numbers_fail(void **state)
{
    (void)state;
    static const struct str bad[] = {
        { "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02", 10 },     /* bit 64 */
        { "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x81\x00", 11 }, /* more than ten bytes */
        { "\x80", 1 },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct bytes in = bytes_of(bad[i]);
        assert_int_equal(bytes_varint(&in), 0);
        assert_true(in.failed);
        assert_int_equal(bytes_u8(&in), 0);
    }
    struct bytes in = bytes_of(STR("\x05\x05"));
    assert_int_equal(bytes_varint_max(&in, 5), 5);
    assert_int_equal(bytes_varint_max(&in, 4), 0);
    assert_true(in.failed);
}

static void test_take_checks_what_is_left(void **state)
{
    (void)state;
    struct bytes in = bytes_of(STR("abc"));
    assert_str_is(bytes_take(&in, 2), "ab");
    assert_str_is(bytes_take(&in, UINT64_MAX), "");
    assert_true(in.failed);
    assert_str_is(bytes_take(&in, 1), "");
}

static bool write_much(void *arg)
{
    (void)arg;
    struct buf buf = BUF_INIT;
    for (int i = 0; i < 200; i++) {
        buf_puts(&buf, "0123456789");
        buf_printf(&buf, "%d", i);
        buf_varint(&buf, 1);
    }
    assert_true(buf.failed || buf.n == 200 * 11 + 490);
    bool done = !buf.failed;
    buf_release(&buf);
    return done;
}

static void test_failure_sticks(void **state)
{
    (void)state;
    check_alloc_failures(write_much, NULL);
    struct buf buf = BUF_INIT;
    buf_puts(&buf, "kept");
    assert_false(buf_reserve(&buf, SIZE_MAX));
    buf_puts(&buf, "dropped");
    assert_true(buf.failed);
    assert_str_is(buf_str(&buf), "kept");
    buf_release(&buf);
    assert_false(buf.failed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_decimal),
        cmocka_unit_test(test_binary_reads_back),
        cmocka_unit_test(test_encodings),
        cmocka_unit_test(test_every_truncation_fails),
        cmocka_unit_test(test_bad_numbers_fail),
        cmocka_unit_test(test_take_checks_what_is_left),
        cmocka_unit_test(test_failure_sticks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
