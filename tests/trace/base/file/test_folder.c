#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness.h"
#include "trace/base/file/folder.h"

static int open_fresh(const char *name)
{
    const char *path = temp_path(name);
    assert_int_equal(mkdir(path, 0700), 0);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static bool is_there(int folder, const char *name)
{
    struct stat info;
    return fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0;
}

static void expect_errno(bool failed, int code)
{
    assert_true(failed);
    assert_int_equal(errno, code);
}

static void test_write_and_read(void **state)
{
    (void)state;
    int folder = open_fresh("files");
    struct buf text = BUF_INIT;
    struct stat info;
    assert_true(folder_write(folder, "a", STR("text")));
    assert_int_equal(fstatat(folder, "a", &info, 0), 0);
    assert_int_equal(info.st_mode & 07777, 0600);
    expect_errno(!folder_write(folder, "a", STR("other")), EEXIST);
    assert_true(folder_read(folder, "a", 4, &text));
    assert_str_is(buf_str(&text), "text");
    buf_clear(&text);
    expect_errno(!folder_read(folder, "a", 3, &text), EFBIG);
    expect_errno(!folder_read(folder, "b", 3, &text), ENOENT);
    buf_release(&text);
    close(folder);
}

/* What is planted under a name that we read or write. */
static void test_planted_files(void **state)
{
    (void)state;
    int folder = open_fresh("planted"), other = open_fresh("elsewhere");
    struct buf text = BUF_INIT;
    assert_true(folder_write(other, "theirs", STR("kept")));
    assert_int_equal(symlinkat("../elsewhere/theirs", folder, "link"), 0);
    assert_int_equal(symlinkat("../elsewhere/new", folder, "dangling"), 0);
    expect_errno(!folder_read(folder, "link", 100, &text), ELOOP);
    expect_errno(!folder_write(folder, "link", STR("x")), EEXIST);
    expect_errno(!folder_write(folder, "dangling", STR("x")), EEXIST);
    assert_false(is_there(other, "new"));
    /* A pipe would keep a reader waiting for ever. */
    assert_int_equal(mkfifoat(folder, "pipe", 0600), 0);
    expect_errno(!folder_read(folder, "pipe", 100, &text), EPERM);
    assert_true(folder_write(folder, "open", STR("x")));
    assert_int_equal(fchmodat(folder, "open", 0620, 0), 0);
    expect_errno(!folder_read(folder, "open", 100, &text), EPERM);
    assert_int_equal(text.n, 0);
    assert_int_equal(symlinkat("../elsewhere", folder, "folder"), 0);
    expect_errno(folder_open(folder, "folder") < 0, ENOTDIR);
    expect_errno(folder_make(folder, "folder") < 0, EEXIST);
    buf_release(&text);
    close(folder);
    close(other);
}

static void test_removal_follows_no_link(void **state)
{
    (void)state;
    int folder = open_fresh("links"), other = open_fresh("safe");
    assert_true(folder_write(other, "theirs", STR("kept")));
    int inside = folder_make(folder, "inside");
    assert_true(inside >= 0);
    assert_int_equal(symlinkat("../../safe", inside, "up"), 0);
    assert_int_equal(symlinkat("../safe/theirs", folder, "file"), 0);
    assert_int_equal(symlinkat("../safe", folder, "folder"), 0);
    expect_errno(!folder_remove(folder, "folder"), ENOTDIR);
    assert_true(folder_empty(folder, NULL));
    assert_true(is_there(other, "theirs"));
    close(inside);
    close(folder);
    close(other);
}

/* Deeper than a path can be, closed against its owner, and with the names that folders move up to.
 */
static void test_removes_whatever_is_ours(void **state)
{
    (void)state;
    enum { DEPTH = 300 };
    int folder = open_fresh("deep"), at = folder_make(folder, "top");
    for (int i = 0; i < DEPTH; i++) {
        int next = folder_make(at, "a folder with a rather long name");
        assert_true(next >= 0);
        assert_true(folder_write(at, "file", STR("x")));
        if (i % 2)
            assert_int_equal(fchmod(at, 0), 0);
        close(at);
        at = next;
    }
    close(at);
    for (int i = 0; i < 20; i++) {
        char name[20];
        snprintf(name, sizeof name, ".up-%d", 2 * i);
        assert_true(folder_write(folder, name, STR("")));
    }
    assert_true(folder_write(folder, "keep", STR("")));
    assert_true(folder_empty(folder, "keep"));
    assert_true(is_there(folder, "keep"));
    assert_true(folder_empty(folder, NULL));
    assert_false(is_there(folder, "keep"));
    close(folder);
}

/* Another folder, or file, under the name: it is not the one that was meant. */
static void test_removes_only_what_was_meant(void **state)
{
    (void)state;
    struct stat info;
    int folder = open_fresh("meant"), one = folder_make(folder, "one");
    assert_int_equal(renameat(folder, "one", folder, "moved"), 0);
    int two = folder_make(folder, "one");
    assert_false(folder_remove_empty(folder, "one", one));
    assert_true(folder_remove_empty(folder, "one", two));
    assert_true(folder_remove_empty(folder, "moved", one));
    assert_true(folder_write(folder, "file", STR("ours")));
    assert_int_equal(fstatat(folder, "file", &info, 0), 0);
    assert_int_equal(renameat(folder, "file", folder, "was"), 0);
    assert_int_equal(symlinkat("was", folder, "file"), 0);
    assert_false(folder_unlink(folder, "file", &info));
    assert_true(is_there(folder, "file"));
    assert_true(folder_unlink(folder, "was", &info));
    close(one);
    close(two);
    close(folder);
}

/* Only root can give files away. */
static void test_what_others_own_stays(void **state)
{
    (void)state;
    struct buf text = BUF_INIT;
    if (geteuid() != 0)
        skip();
    int folder = open_fresh("owners"), theirs = folder_make(folder, "theirs");
    assert_true(folder_write(folder, "file", STR("x")) && folder_write(theirs, "x", STR("x")));
    assert_int_equal(fchownat(folder, "file", 12345, 12345, 0), 0);
    assert_int_equal(fchown(theirs, 12345, 12345), 0);
    assert_true(folder_write(folder, "ours", STR("x")));
    expect_errno(!folder_read(folder, "file", 10, &text), EPERM);
    expect_errno(folder_open(folder, "theirs") < 0, EPERM);
    expect_errno(!folder_remove(folder, "theirs"), EPERM);
    expect_errno(!folder_empty(folder, NULL), ENOTEMPTY);
    assert_true(is_there(folder, "file") && is_there(theirs, "x"));
    assert_false(is_there(folder, "ours"));
    assert_int_equal(fchown(theirs, 0, 0) | fchownat(folder, "file", 0, 0, 0), 0);
    assert_true(folder_empty(folder, NULL));
    close(theirs);
    close(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_write_and_read),
        cmocka_unit_test(test_planted_files),
        cmocka_unit_test(test_removal_follows_no_link),
        cmocka_unit_test(test_removes_whatever_is_ours),
        cmocka_unit_test(test_removes_only_what_was_meant),
        cmocka_unit_test(test_what_others_own_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
