#include "replay/backend/values/safetensors.h"

#include "tests/harness.h"

/* A file of one tensor "x" with that header entry. */
static struct buf file_of(const char *entry, size_t data)
{
    struct buf header = BUF_INIT, file = BUF_INIT;
    buf_printf(&header, "{\"x\":%s}", entry);
    for (int i = 0; i < 8; i++)
        buf_putc(&file, (char)(header.n >> 8 * i & 0xff));
    buf_put(&file, buf_str(&header));
    for (size_t i = 0; i < data; i++)
        buf_putc(&file, (char)i);
    buf_release(&header);
    return file;
}

static void check_refused(const char *entry, size_t data, const char *why)
{
    struct err err = ERR_INIT;
    struct buf file = file_of(entry, data);
    assert_null(safetensors_parse(buf_str(&file), &err));
    assert_err(&err, ERR_INPUT, why);
    buf_release(&file);
}

static void test_reads(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct buf file = file_of("{\"dtype\":\"I32\",\"shape\":[2,1],\"data_offsets\":[0,8]}", 8);
    struct safetensors *s = safetensors_parse(buf_str(&file), &err);
    struct array x;
    assert_no_err(&err);
    assert_int_equal(safetensors_count(s), 1);
    assert_true(safetensors_find(s, STR("x"), &x));
    assert_int_equal(x.dtype, DTYPE_I32);
    assert_int_equal(x.ndim, 2);
    assert_int_equal(x.size[0], 2);
    assert_int_equal(x.bytes, 8);
    assert_int_equal(((const unsigned char *)x.p)[7], 7);
    assert_false(safetensors_find(s, STR("y"), &x));
    safetensors_close(s);
    buf_release(&file);
}

static void test_refuses(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    check_refused("{\"dtype\":\"F31\",\"shape\":[1],\"data_offsets\":[0,4]}", 4, "unknown dtype");
    check_refused("{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}", 4, "does not match");
    check_refused("{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}", 4, "does not match");
    check_refused("{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}", 4, "does not match");
    assert_null(safetensors_parse(STR("short"), &err));
    assert_err(&err, ERR_INPUT, "not a safetensors file");
    assert_null(safetensors_parse(STR("\xff\xff\xff\xff\xff\xff\xff\x7f{}"), &err));
    assert_err(&err, ERR_INPUT, "its header has");
    assert_null(safetensors_open("/no/such/file", &err));
    assert_err(&err, ERR_ENV, "/no/such/file");
}

static void test_writes(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    static const float values[] = { 1, 2, 3 };
    struct array x = {
        .dtype = DTYPE_F32, .ndim = 1, .size = { 3 }, .p = values, .bytes = sizeof values
    };
    struct str name = STR("a \"b\"");
    struct buf out = BUF_INIT;
    struct array again;
    assert_true(safetensors_print(&name, &x, 1, &out, &err));
    struct safetensors *s = safetensors_parse(buf_str(&out), &err);
    assert_no_err(&err);
    assert_true(safetensors_find(s, name, &again));
    assert_memory_equal(again.p, values, sizeof values);
    safetensors_close(s);
    x.dtype = DTYPE_C32;
    buf_clear(&out);
    assert_false(safetensors_print(&name, &x, 1, &out, &err));
    assert_err(&err, ERR_USAGE, "no dtype");
    buf_release(&out);
}

/* Headers of many lengths, so that memory lacks at any place of one. */
static bool print_many(void *arg)
{
    struct str names[40];
    struct array arrays[40];
    struct buf out = BUF_INIT;
    struct err err = ERR_INIT;
    (void)arg;
    for (size_t i = 0; i < 40; i++) {
        names[i] = str_first(STR("a name that makes a header longer or shorter"), i + 1);
        arrays[i] = (struct array){ .dtype = DTYPE_F32, .ndim = 1, .size = { 0 } };
    }
    bool ok = true;
    for (size_t n = 0; ok && n <= 40; n++)
        ok = safetensors_print(names, arrays, n, &out, &err);
    buf_release(&out);
    return ok;
}

/* A header that cannot grow any more is not padded for ever. */
static void test_memory_is_out(void **state)
{
    (void)state;
    check_alloc_failures(print_many, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_writes),
        cmocka_unit_test(test_memory_is_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
