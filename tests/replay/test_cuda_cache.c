#include "replay/backend/cuda/cubin_cache.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness.h"

static const struct cubin_key key = { UINT64_C(0x123456789abcdef0), 42 };

static void expect(const char *folder, int major, int minor, const char *text)
{
    struct buf got = BUF_INIT;
    bool found = cubin_cache_read(folder, key, major, minor, &got);
    assert_int_equal(found, text != NULL);
    if (text)
        assert_str_is(buf_str(&got), text);
    buf_release(&got);
}

static void file_of(const char *folder, const char *version, char *ret, size_t n)
{
    snprintf(ret, n, "%s/123456789abcdef0000000000000002a-%s", folder, version);
}

static void test_round_trip(void **state)
{
    (void)state;
    const char *folder = temp_path("a/b/c"); /* made when something is kept */
    expect(folder, 13, 0, NULL);
    assert_true(cubin_cache_write(folder, key, 13, 0, STR("code")));
    expect(folder, 13, 0, "code");
    expect(folder, 13, 1, NULL);
    expect(folder, 12, 9, NULL);
    assert_true(cubin_cache_write(folder, key, 12, 9, STR("older")));
    expect(folder, 12, 9, "older");
    assert_true(cubin_cache_write(folder, key, 13, 0, STR("again")));
    expect(folder, 13, 0, "again");
    /* Without a compiler any version will do: the newest. */
    expect(folder, -1, 0, "again");
}

static void test_other_keys(void **state)
{
    (void)state;
    struct buf got = BUF_INIT;
    const char *folder = temp_path("keys");
    assert_true(cubin_cache_write(folder, key, 13, 0, STR("code")));
    assert_false(cubin_cache_read(folder, (struct cubin_key){ key.high, 43 }, 13, 0, &got));
    assert_false(cubin_cache_read(folder, (struct cubin_key){ 1, key.low }, -1, 0, &got));
    /* A file under another's name is not it. */
    char from[900], to[900];
    file_of(folder, "13.0", from, sizeof from);
    snprintf(to, sizeof to, "%s/123456789abcdef0000000000000002b-13.0", folder);
    assert_int_equal(rename(from, to), 0);
    assert_false(cubin_cache_read(folder, (struct cubin_key){ key.high, 43 }, 13, 0, &got));
    buf_release(&got);
}

static void write_bytes(const char *path, struct str bytes)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes.p, 1, bytes.n, f), bytes.n);
    assert_int_equal(fclose(f), 0);
}

/* Cut anywhere or with any byte changed, it is as good as none; and it is replaced. */
static void test_damage(void **state)
{
    (void)state;
    char path[900];
    const char *folder = temp_path("damage");
    assert_true(cubin_cache_write(folder, key, 13, 0, STR("some code")));
    file_of(folder, "13.0", path, sizeof path);
    struct buf whole = read_file(path);
    for (size_t n = 0; n < whole.n; n++) {
        write_bytes(path, str_first(buf_str(&whole), n));
        expect(folder, 13, 0, NULL);
    }
    for (size_t i = 0; i < whole.n; i++) {
        whole.p[i] ^= 0x10;
        write_bytes(path, buf_str(&whole));
        expect(folder, 13, 0, NULL);
        expect(folder, -1, 0, NULL);
        whole.p[i] ^= 0x10;
    }
    buf_putc(&whole, 'x');
    write_bytes(path, buf_str(&whole));
    expect(folder, 13, 0, NULL);
    assert_true(cubin_cache_write(folder, key, 13, 0, STR("some code")));
    expect(folder, 13, 0, "some code");
    buf_release(&whole);
}

static size_t count_files(const char *folder)
{
    DIR *dir = opendir(folder);
    size_t n = 0;
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir));)
        n += e->d_name[0] != '.';
    closedir(dir);
    return n;
}

static void test_unwritable(void **state)
{
    (void)state;
    char inside[900];
    write_bytes(temp_path("file"), STR("x"));
    snprintf(inside, sizeof inside, "%s/cubin", temp_path("file"));
    assert_false(cubin_cache_write(inside, key, 13, 0, STR("code")));
    expect(inside, 13, 0, NULL);
    expect(inside, -1, 0, NULL);
    assert_false(cubin_cache_make_folder(inside));
    /* Nothing half-written stays beside what is kept. */
    const char *folder = temp_path("whole");
    assert_true(cubin_cache_write(folder, key, 13, 0, STR("code")));
    assert_int_equal(count_files(folder), 1);
}

static void test_folder(void **state)
{
    (void)state;
    char folder[100];
    setenv("XDG_CACHE_HOME", "/somewhere", 1);
    assert_true(cubin_cache_folder(folder, sizeof folder));
    assert_string_equal(folder, "/somewhere/symtape/cubin");
    setenv("XDG_CACHE_HOME", "relative", 1); /* is to be ignored, says the standard */
    setenv("HOME", "/home/me", 1);
    assert_true(cubin_cache_folder(folder, sizeof folder));
    assert_string_equal(folder, "/home/me/.cache/symtape/cubin");
    assert_false(cubin_cache_folder(folder, 10));
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    assert_false(cubin_cache_folder(folder, sizeof folder));
}

static bool keep(void *arg)
{
    struct buf got = BUF_INIT;
    bool ok = cubin_cache_write(arg, key, 13, 0, STR("code")) &&
              cubin_cache_read(arg, key, 13, 0, &got);
    buf_release(&got);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    check_alloc_failures(keep, (void *)(uintptr_t)temp_path("memory"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_other_keys),
        cmocka_unit_test(test_damage),     cmocka_unit_test(test_unwritable),
        cmocka_unit_test(test_memory),     cmocka_unit_test(test_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
