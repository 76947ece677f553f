#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness.h"
#include "trace/base/file/output.h"

static const char *fresh_folder(const char *name)
{
    const char *folder = temp_path(name);
    assert_int_equal(mkdir(folder, 0755), 0);
    return folder;
}

static const char *in_folder(char *path, const char *folder, const char *name)
{
    snprintf(path, 4096, "%s/%s", folder, name);
    return path;
}

static size_t count_files(const char *folder)
{
    size_t n = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n - 2;
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void check_content(const char *path, const char *expected)
{
    struct buf content = read_file(path);
    assert_str_is(buf_str(&content), expected);
    buf_release(&content);
}

static void write_file(const char *path, enum output_mode mode, const char *text)
{
    struct err err = ERR_INIT;
    struct output *out = output_open(path, mode, &err);
    assert_non_null(out);
    assert_true(output_write(out, str_of(text), &err));
    assert_true(output_commit(out, &err));
    assert_no_err(&err);
}

static void test_appears_whole(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    char path[4096];
    const char *folder = fresh_folder("whole");
    struct output *out = output_open(in_folder(path, folder, "t"), OUTPUT_NEW, &err);
    assert_non_null(out);
    assert_true(output_write(out, STR("half"), &err));
    assert_true(output_flush(out, &err));
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(count_files(folder), 1);
    assert_true(output_write(out, STR(" and half"), &err));
    assert_int_equal(output_offset(out), 13);
    assert_true(output_commit(out, &err));
    check_content(path, "half and half");
    assert_int_equal(count_files(folder), 1);
}

static void test_abort_leaves_what_was(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    char path[4096];
    const char *folder = fresh_folder("abort");
    put(in_folder(path, folder, "t"), "before");
    struct output *out = output_open(path, OUTPUT_REPLACE, &err);
    assert_non_null(out);
    assert_true(output_write(out, STR("after"), &err));
    output_abort(out);
    output_abort(NULL);
    check_content(path, "before");
    assert_int_equal(count_files(folder), 1);
}

static void test_replaces_only_when_told(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    char path[4096];
    struct stat info;
    const char *folder = fresh_folder("replace");
    put(in_folder(path, folder, "t"), "before");
    assert_int_equal(chmod(path, 0640), 0);
    assert_null(output_open(path, OUTPUT_NEW, &err));
    assert_err(&err, ERR_USAGE, "t exists already; --overwrite replaces it");
    check_content(path, "before");
    write_file(path, OUTPUT_REPLACE, "after");
    check_content(path, "after");
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0640);
}

/* Somebody else made it while we wrote. */
static void test_refuses_at_commit_too(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    char path[4096];
    const char *folder = fresh_folder("race");
    struct output *out = output_open(in_folder(path, folder, "t"), OUTPUT_NEW, &err);
    assert_non_null(out);
    put(path, "theirs");
    assert_false(output_commit(out, &err));
    assert_err(&err, ERR_USAGE, "exists already");
    check_content(path, "theirs");
    assert_int_equal(count_files(folder), 1);
}

static void test_symbolic_link_stays(void **state)
{
    (void)state;
    char path[4096], link_path[4096];
    struct stat info;
    const char *folder = fresh_folder("link");
    put(in_folder(path, folder, "t"), "before");
    assert_int_equal(symlink("t", in_folder(link_path, folder, "l")), 0);
    write_file(link_path, OUTPUT_REPLACE, "after");
    assert_int_equal(lstat(link_path, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    check_content(path, "after");
}

static bool exists(const char *folder, const char *name)
{
    char path[4096];
    struct stat info;
    return lstat(in_folder(path, folder, name), &info) == 0;
}

/* A child that writes half of it and waits to be killed. */
static pid_t start_writer(const char *path, int *ready)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        struct err err = ERR_INIT;
        struct output *out = output_open(path, OUTPUT_REPLACE, &err);
        if (out && output_write(out, STR("half"), &err) && output_flush(out, &err) &&
            write(ends[1], "x", 1) == 1)
            pause();
        _exit(1);
    }
    close(ends[1]);
    *ready = ends[0];
    char byte;
    assert_int_equal(read(ends[0], &byte, 1), 1);
    return child;
}

static void test_leftovers_of_a_killed_run(void **state)
{
    (void)state;
    char path[4096];
    int ready;
    const char *folder = fresh_folder("leftover");
    pid_t child = start_writer(in_folder(path, folder, "t"), &ready);
    write_file(path, OUTPUT_REPLACE, "whole");
    assert_int_equal(count_files(folder), 2); /* one that is being written stays */
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(count_files(folder), 2);
    write_file(path, OUTPUT_REPLACE, "again");
    check_content(path, "again");
    assert_int_equal(count_files(folder), 1);
    close(ready);
}

/* Two outputs of one target at a time, in one process. */
static void test_does_not_sweep_its_own(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    char path[4096];
    const char *folder = fresh_folder("own");
    struct output *one = output_open(in_folder(path, folder, "t"), OUTPUT_REPLACE, &err);
    struct output *two = output_open(path, OUTPUT_REPLACE, &err);
    assert_true(output_write(one, STR("one"), &err) && output_write(two, STR("two"), &err));
    assert_true(output_commit(one, &err));
    check_content(path, "one");
    assert_true(output_commit(two, &err));
    check_content(path, "two");
    assert_int_equal(count_files(folder), 1);
}

/* Names that are no temporaries of this target, and those that we cannot know to be ours. */
static void test_sweeps_nothing_else(void **state)
{
    (void)state;
    static const char *const others[] = { "t.tmp-",   "t.tmp-12x", "t.tmp-12.",   "t.tmp-1.2.3",
                                          "tt.tmp-1", "t.tmp1",    "other.tmp-1", "t.tmp-1~" };
    char path[4096], other[4096];
    const char *folder = fresh_folder("others");
    in_folder(path, folder, "t");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        put(in_folder(other, folder, others[i]), "kept");
    put(in_folder(other, folder, "t.tmp-1"), "left");
    put(in_folder(other, folder, "t.tmp-1.2"), "left");
    put(in_folder(other, folder, "linked"), "kept");
    assert_int_equal(symlink("linked", in_folder(other, folder, "t.tmp-2")), 0);
    assert_int_equal(mkfifo(in_folder(other, folder, "t.tmp-3"), 0600), 0);
    assert_int_equal(mkdir(in_folder(other, folder, "t.tmp-4"), 0700), 0);
    put(in_folder(other, folder, "t.tmp-5"), "has two names");
    char second[4096];
    assert_int_equal(link(other, in_folder(second, folder, "second")), 0);
    put(in_folder(other, folder, "t.tmp-6"), "of another user");
    assert_int_equal(geteuid() == 0 ? chown(other, 12345, 12345) : unlink(other), 0);
    put(in_folder(other, folder, "t.tmp-7"), "locked");
    int locked = open(other, O_RDONLY);
    assert_int_equal(flock(locked, LOCK_EX | LOCK_NB), 0);
    write_file(path, OUTPUT_NEW, "whole");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_true(exists(folder, others[i]));
    assert_false(exists(folder, "t.tmp-1") || exists(folder, "t.tmp-1.2"));
    check_content(in_folder(other, folder, "linked"), "kept");
    for (int i = 2; i <= 7; i++) {
        char name[20];
        snprintf(name, sizeof name, "t.tmp-%d", i);
        assert_int_equal(exists(folder, name), i != 6 || geteuid() == 0);
    }
    close(locked);
}

/* The name of its own temporary is taken, by what may not be removed. */
static void test_name_is_taken(void **state)
{
    (void)state;
    char path[4096], taken[4200];
    const char *folder = fresh_folder("taken");
    in_folder(path, folder, "t");
    snprintf(taken, sizeof taken, "%s.tmp-%ld", path, (long)getpid());
    assert_int_equal(symlink("nowhere", taken), 0);
    write_file(path, OUTPUT_NEW, "whole");
    check_content(path, "whole");
    assert_false(exists(folder, "nowhere"));
    assert_int_equal(count_files(folder), 2);
}

/* While it is written, its folder gets another name, and another folder its name. */
static void test_folder_is_swapped(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    char path[4096], moved[400];
    const char *folder = fresh_folder("swapped");
    struct output *out = output_open(in_folder(path, folder, "t"), OUTPUT_REPLACE, &err);
    assert_true(output_write(out, STR("whole"), &err));
    snprintf(moved, sizeof moved, "%s-before", folder);
    assert_int_equal(rename(folder, moved) | mkdir(folder, 0700), 0);
    put(path, "theirs");
    assert_true(output_commit(out, &err));
    check_content(path, "theirs");
    check_content(in_folder(path, moved, "t"), "whole");
    assert_int_equal(count_files(folder) + count_files(moved), 2);
}

static void test_in_a_folder(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    char path[4096];
    struct stat info;
    const char *name = fresh_folder("inside");
    int folder = open(name, O_RDONLY | O_DIRECTORY);
    put(in_folder(path, name, "victim"), "kept");
    assert_int_equal(symlink("victim", in_folder(path, name, "t")), 0);
    struct output *out = output_open_in(folder, "t", &err);
    assert_true(output_write(out, STR("ours"), &err) && output_commit(out, &err));
    assert_int_equal(lstat(path, &info), 0);
    assert_true(S_ISREG(info.st_mode));
    assert_int_equal(info.st_mode & 07777, 0600);
    check_content(path, "ours");
    check_content(in_folder(path, name, "victim"), "kept");
    close(folder);
    assert_null(output_open_in(folder, "t", &err));
    assert_err(&err, ERR_ENV, "t: Bad file descriptor");
}

/* Opens two outputs beside each other, the second one as "b", and writes "new" to both. */
static void open_two(struct output *two[2], const char *folder, enum output_mode mode)
{
    struct err err = ERR_INIT;
    char path[4096];
    for (int i = 0; i < 2; i++) {
        two[i] = output_open(in_folder(path, folder, i ? "b" : "a"), mode, &err);
        assert_non_null(two[i]);
        assert_true(output_write(two[i], STR("new"), &err));
    }
}

static void test_all_appear(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    const char *folder = fresh_folder("all");
    struct output *two[2];
    char path[4096];
    put(in_folder(path, folder, "a"), "old");
    open_two(two, folder, OUTPUT_REPLACE);
    check_content(path, "old");
    assert_true(output_commit_all(two, 2, &err));
    check_content(in_folder(path, folder, "a"), "new");
    check_content(in_folder(path, folder, "b"), "new");
    assert_int_equal(count_files(folder), 2);
}

/* The second one cannot have its name: the first has its old file again, or none. */
static void test_none_appears(void **state)
{
    (void)state;
    const char *folder = fresh_folder("none");
    struct output *two[2];
    char path[4096], name[4096];
    in_folder(path, folder, "a");
    in_folder(name, folder, "b");
    for (int there = 0; there < 2; there++) {
        struct err err = ERR_INIT;
        if (there)
            put(path, "old");
        open_two(two, folder, OUTPUT_REPLACE);
        assert_int_equal(mkdir(name, 0755), 0);
        assert_false(output_commit_all(two, 2, &err));
        assert_int_equal(err.kind, ERR_ENV);
        assert_int_equal(rmdir(name), 0);
        assert_int_equal(count_files(folder), there);
    }
    check_content(path, "old");
    struct err err = ERR_INIT;
    assert_int_equal(unlink(path), 0);
    open_two(two, folder, OUTPUT_NEW);
    put(name, "another's");
    assert_false(output_commit_all(two, 2, &err));
    assert_int_equal(err.kind, ERR_USAGE);
    check_content(name, "another's");
    assert_int_equal(count_files(folder), 1);
}

static void test_full_device(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct stat info;
    if (stat("/dev/full", &info) != 0)
        skip();
    struct output *out = output_open("/dev/full", OUTPUT_REPLACE, &err);
    assert_non_null(out);
    assert_true(output_write(out, STR("kept in the buffer"), &err));
    assert_false(output_flush(out, &err));
    assert_err(&err, ERR_ENV, "/dev/full: No space left on device");
    assert_false(output_write(out, STR("more"), &err));
    assert_err(&err, ERR_ENV, "No space left on device");
    assert_false(output_commit(out, &err));
    assert_err(&err, ERR_ENV, "No space left on device");
    assert_int_equal(stat("/dev/full", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
}

/* A limit on the file's size stands for a full disk: the write comes back short, then fails. */
static void test_short_write(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    char path[4096];
    static char large[1 << 20];
    struct rlimit before, limit;
    const char *folder = fresh_folder("short");
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = (struct rlimit){ 300000, before.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    struct output *out = output_open(in_folder(path, folder, "t"), OUTPUT_NEW, &err);
    bool wrote = out && output_write(out, (struct str){ large, sizeof large }, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_false(wrote);
    assert_err(&err, ERR_ENV, "t: File too large");
    assert_false(output_commit(out, &err));
    assert_err(&err, ERR_ENV, "t: File too large");
    assert_int_equal(count_files(folder), 0);
}

static void test_large_and_small_writes_keep_their_order(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    char path[4096];
    struct buf all = BUF_INIT;
    const char *folder = fresh_folder("order");
    struct output *out = output_open(in_folder(path, folder, "t"), OUTPUT_NEW, &err);
    assert_non_null(out);
    for (uint64_t i = 0; i < 40; i++) {
        size_t from = all.n, n = i % 5 == 4 ? 300000 : 7000 * i;
        for (size_t k = 0; k < n; k += 8)
            buf_le64(&all, i << 32 | k);
        assert_true(output_write(out, str_from(buf_str(&all), from), &err));
        assert_int_equal(output_offset(out), all.n);
    }
    assert_true(output_commit(out, &err));
    struct buf content = read_file(path);
    assert_true(str_eq(buf_str(&content), buf_str(&all)));
    buf_release(&content);
    buf_release(&all);
}

static void test_cannot_open(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    char path[4096];
    const char *folder = fresh_folder("cannot");
    assert_null(output_open(in_folder(path, folder, "no/such/t"), OUTPUT_REPLACE, &err));
    assert_err(&err, ERR_ENV, "no/such/t: No such file or directory");
    assert_null(output_open(folder, OUTPUT_REPLACE, &err));
    assert_err(&err, ERR_ENV, "Is a directory");
}

static void test_standard_output(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    const char *path = temp_path("stdout");
    int kept = dup(STDOUT_FILENO);
    int fd = open(path, O_WRONLY | O_CREAT, 0644);
    fflush(stdout);
    dup2(fd, STDOUT_FILENO);
    struct output *out = output_open("-", OUTPUT_NEW, &err);
    bool good = out && output_write(out, STR("to a pipe"), &err) && output_commit(out, &err);
    bool open_still = fcntl(STDOUT_FILENO, F_GETFD) != -1;
    dup2(kept, STDOUT_FILENO);
    close(kept);
    close(fd);
    assert_true(good);
    assert_true(open_still);
    check_content(path, "to a pipe");
}

static bool attempt(void *arg)
{
    struct err err = ERR_INIT;
    struct output *out = output_open(arg, OUTPUT_REPLACE, &err);
    bool good = out && output_write(out, STR("x"), &err);
    if (good)
        return output_commit(out, &err);
    output_abort(out);
    return false;
}

static void test_memory(void **state)
{
    (void)state;
    char path[4096];
    check_alloc_failures(attempt, (void *)in_folder(path, fresh_folder("memory"), "t"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_appears_whole),
        cmocka_unit_test(test_abort_leaves_what_was),
        cmocka_unit_test(test_replaces_only_when_told),
        cmocka_unit_test(test_refuses_at_commit_too),
        cmocka_unit_test(test_symbolic_link_stays),
        cmocka_unit_test(test_leftovers_of_a_killed_run),
        cmocka_unit_test(test_does_not_sweep_its_own),
        cmocka_unit_test(test_sweeps_nothing_else),
        cmocka_unit_test(test_name_is_taken),
        cmocka_unit_test(test_folder_is_swapped),
        cmocka_unit_test(test_in_a_folder),
        cmocka_unit_test(test_all_appear),
        cmocka_unit_test(test_none_appears),
        cmocka_unit_test(test_full_device),
        cmocka_unit_test(test_short_write),
        cmocka_unit_test(test_large_and_small_writes_keep_their_order),
        cmocka_unit_test(test_cannot_open),
        cmocka_unit_test(test_standard_output),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
