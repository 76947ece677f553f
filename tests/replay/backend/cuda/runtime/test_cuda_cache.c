#include "replay/backend/cuda/runtime/cubin_cache.h"

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
    assert_true(cubin_cache_is_empty(folder));
    assert_true(cubin_cache_write(folder, key, 13, 0, STR("code")));
    expect(folder, 13, 0, "code");
    assert_false(cubin_cache_is_empty(folder));
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

/* The content of one, under the name of the other: the hash is right, the name is not. */
static void test_another_version(void **state)
{
    (void)state;
    char from[900], to[900];
    const char *folder = temp_path("versions");
    assert_true(cubin_cache_write(folder, key, 12, 9, STR("code of 12.9")));
    file_of(folder, "12.9", from, sizeof from);
    file_of(folder, "13.0", to, sizeof to);
    assert_int_equal(rename(from, to), 0);
    expect(folder, 13, 0, NULL);
    expect(folder, -1, 0, NULL);
}

static void test_private(void **state)
{
    (void)state;
    struct stat info;
    char path[900];
    const char *folder = temp_path("private/cubin");
    mode_t before = umask(0);
    assert_true(cubin_cache_write(folder, key, 13, 0, STR("code")));
    umask(before);
    assert_int_equal(stat(folder, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0700);
    assert_int_equal(stat(temp_path("private"), &info), 0);
    assert_int_equal(info.st_mode & 07777, 0700);
    file_of(folder, "13.0", path, sizeof path);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0600);
}

static void expect_refused(const char *folder, const char *why)
{
    struct err err = ERR_INIT;
    expect(folder, 13, 0, NULL);
    expect(folder, -1, 0, NULL);
    assert_false(cubin_cache_write(folder, key, 13, 1, STR("new")));
    assert_true(cubin_cache_open(folder, true, &err) < 0);
    assert_err(&err, ERR_USAGE, why);
}

/* Folders that others could have put something into. */
static void test_refused_folders(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    const char *home = temp_path("refused"), *folder = temp_path("refused/symtape/cubin");
    const char *moved = temp_path("refused/moved");
    setenv("XDG_CACHE_HOME", home, 1);
    assert_false(cubin_cache_refused(&err)); /* it is not there yet */
    assert_true(cubin_cache_write(folder, key, 13, 0, STR("code")));
    assert_false(cubin_cache_refused(&err));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(chmod(folder, i ? 0702 : 0720), 0);
        expect_refused(folder,
                       "refused/symtape/cubin can be written to by others: compiled kernels");
        assert_true(cubin_cache_refused(&err));
        assert_err(&err, ERR_USAGE, "can be written to by others");
    }
    assert_int_equal(chmod(folder, 0755), 0); /* as it was made once */
    expect(folder, 13, 0, "code");
    if (geteuid() == 0) {
        assert_int_equal(chown(folder, 12345, 12345), 0);
        expect_refused(folder, "belongs to another user");
        assert_int_equal(chown(folder, 0, 0), 0);
    }
    assert_int_equal(rename(folder, moved) | symlink(moved, folder), 0);
    expect_refused(folder, "is a symbolic link");
    assert_int_equal(unlink(folder) | rename(moved, folder), 0);
    expect(folder, 13, 0, "code");
}

/* Files that others could have put there, with a hash that is right. */
static void test_refused_files(void **state)
{
    (void)state;
    char path[900], moved[900];
    const char *folder = temp_path("planted");
    assert_true(cubin_cache_write(folder, key, 13, 0, STR("code")));
    file_of(folder, "13.0", path, sizeof path);
    assert_int_equal(chmod(path, 0620), 0);
    expect(folder, 13, 0, NULL);
    assert_int_equal(chmod(path, 0644), 0);
    expect(folder, 13, 0, "code");
    if (geteuid() == 0) {
        assert_int_equal(chown(path, 12345, 12345), 0);
        expect(folder, 13, 0, NULL);
        assert_int_equal(chown(path, 0, 0), 0);
    }
    snprintf(moved, sizeof moved, "%s/moved", folder);
    assert_int_equal(rename(path, moved) | symlink("moved", path), 0);
    expect(folder, 13, 0, NULL);
    /* What is kept replaces the link, not what it leads to. */
    assert_true(cubin_cache_write(folder, key, 13, 0, STR("new")));
    expect(folder, 13, 0, "new");
    assert_int_equal(unlink(path) | mkfifo(path, 0600), 0);
    expect(folder, 13, 0, NULL);
    assert_int_equal(unlink(path) | rename(moved, path), 0);
    expect(folder, 13, 0, "code");
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
    struct err err = ERR_INIT;
    char inside[900];
    write_bytes(temp_path("file"), STR("x"));
    snprintf(inside, sizeof inside, "%s/cubin", temp_path("file"));
    assert_false(cubin_cache_write(inside, key, 13, 0, STR("code")));
    expect(inside, 13, 0, NULL);
    expect(inside, -1, 0, NULL);
    assert_true(cubin_cache_open(inside, true, &err) < 0);
    assert_err(&err, ERR_ENV, "file/cubin");
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
    bool ok =
        cubin_cache_write(arg, key, 13, 0, STR("code")) && cubin_cache_read(arg, key, 13, 0, &got);
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
        cmocka_unit_test(test_round_trip),      cmocka_unit_test(test_other_keys),
        cmocka_unit_test(test_damage),          cmocka_unit_test(test_unwritable),
        cmocka_unit_test(test_memory),          cmocka_unit_test(test_folder),
        cmocka_unit_test(test_private),         cmocka_unit_test(test_another_version),
        cmocka_unit_test(test_refused_folders), cmocka_unit_test(test_refused_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
