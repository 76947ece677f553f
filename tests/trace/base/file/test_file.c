#include "trace/base/file/file.h"

#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness.h"

static const char *make(const char *name, const char *text)
{
    const char *path = temp_path(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return path;
}

static void test_parts_are_read(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct file file;
    struct buf part = BUF_INIT;
    char two[2];
    assert_true(file_open(&file, make("parts", "0123456789"), &err));
    assert_int_equal(file.size, 10);
    assert_true(file_read(&file, 8, two, 2, &err));
    assert_memory_equal(two, "89", 2);
    assert_true(file_read_buf(&file, 3, 4, &part, &err));
    assert_str_is(buf_str(&part), "3456");
    assert_true(file_read_buf(&file, 10, 0, &part, &err));
    assert_int_equal(part.n, 0);
    assert_no_err(&err);
    buf_release(&part);
    file_close(&file);
    file_close(&file);
    assert_int_equal(file.fd, -1);
}

/* Mapped, this would be a SIGBUS. */
static void test_cut_short_is_an_error(void **state)
{
    (void)state;
    enum { SIZE = 1 << 16 };
    struct err err = ERR_INIT;
    struct file file;
    struct buf whole = BUF_INIT;
    const char *path = make("cut", "");
    assert_int_equal(truncate(path, SIZE), 0);
    assert_true(file_open(&file, path, &err));
    assert_true(file_read_buf(&file, 0, SIZE, &whole, &err));
    assert_int_equal(truncate(path, SIZE / 2), 0);
    assert_true(file_read_buf(&file, 0, SIZE / 2, &whole, &err));
    assert_false(file_read_buf(&file, 0, SIZE, &whole, &err));
    assert_int_equal(err.kind, ERR_ENV);
    assert_string_equal(err.text,
                        "offset 32768: the file ends here; it was truncated while it was read");
    assert_int_equal(whole.n, 0);
    buf_release(&whole);
    file_close(&file);
}

static void check_refused(const char *path, const char *why)
{
    struct err err = ERR_INIT;
    struct file file;
    assert_false(file_open(&file, path, &err));
    assert_int_equal(err.kind, ERR_ENV);
    assert_true(str_ends(str_of(err.text), str_of(why)));
    assert_true(str_starts(str_of(err.text), str_of(path)));
}

static void test_what_is_no_file_is_refused(void **state)
{
    (void)state;
    check_refused(temp_path("absent"), "No such file or directory");
    check_refused(make("empty", ""), "the file is empty");
    check_refused("/", "not a regular file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_are_read),
        cmocka_unit_test(test_cut_short_is_an_error),
        cmocka_unit_test(test_what_is_no_file_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
