#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness.h"
#include "trace/base/file/folder.h"
#include "trace/base/file/scratch.h"

static char tmp[400];

static struct scratch make(enum scratch_kind kind)
{
    struct err err = ERR_INIT;
    struct scratch ret;
    if (!scratch_make(&ret, kind, &err))
        fail_msg("%s", err.text);
    return ret;
}

static bool exists(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

/* A folder as a run leaves it that was killed. The caller frees. */
static char *left_by_a_killed_run(void)
{
    struct scratch scratch = make(SCRATCH_QUESTIONS);
    char *path = strdup(scratch.path);
    int inside = folder_make(scratch.fd, "1.0.0");
    assert_true(folder_write(inside, "candidate.fx", STR("x")));
    close(inside);
    scratch_leave(&scratch);
    return path;
}

static void sweep(void)
{
    struct scratch scratch = make(SCRATCH_QUESTIONS);
    assert_true(scratch_remove(&scratch));
}

static void test_private(void **state)
{
    (void)state;
    struct stat info;
    mode_t before = umask(0);
    struct scratch one = make(SCRATCH_LOGS), two = make(SCRATCH_LOGS);
    umask(before);
    assert_int_equal(stat(one.path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0700);
    assert_string_not_equal(one.path, two.path);
    char *path = strdup(one.path);
    assert_true(scratch_remove(&one));
    assert_true(scratch_remove(&one)); /* once is enough, twice is harmless */
    assert_false(exists(path));
    assert_true(scratch_remove(&two));
    free(path);
}

static void test_tmpdir(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct scratch scratch;
    assert_int_equal(chdir(tmp), 0);
    setenv("TMPDIR", ".", 1);
    scratch = make(SCRATCH_LOGS);
    assert_true(
        str_starts(str_of(scratch.path), str_of(tmp))); /* absolute, although TMPDIR is not */
    assert_int_equal(chdir("/"), 0);
    assert_true(scratch_remove(&scratch));
    setenv("TMPDIR", "/no/such/folder", 1);
    assert_false(scratch_make(&scratch, SCRATCH_LOGS, &err));
    assert_err(&err, ERR_ENV, "/no/such/folder: this folder cannot be used for logs (TMPDIR)");
    setenv("TMPDIR", "/proc", 1); /* nobody can make a folder there */
    assert_false(scratch_make(&scratch, SCRATCH_QUESTIONS, &err));
    assert_err(&err, ERR_ENV, "/proc: cannot make a folder for questions (TMPDIR)");
    assert_null(scratch.path);
    setenv("TMPDIR", tmp, 1);
}

static void test_left_by_a_killed_run(void **state)
{
    (void)state;
    char *path = left_by_a_killed_run();
    struct scratch logs = make(SCRATCH_LOGS); /* a recording removes none */
    assert_true(exists(path));
    sweep();
    assert_false(exists(path));
    assert_true(exists(logs.path)); /* nor is one removed, which may be all that is left of it */
    assert_true(scratch_remove(&logs));
    free(path);
}

static void test_in_use_stays(void **state)
{
    (void)state;
    struct scratch used = make(SCRATCH_QUESTIONS);
    sweep();
    assert_true(exists(used.path));
    assert_true(scratch_remove(&used));
}

/* By another process, which is then killed. */
static void test_in_use_elsewhere(void **state)
{
    (void)state;
    int ready[2];
    char path[400] = "";
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        struct scratch used = make(SCRATCH_QUESTIONS);
        if (write(ready[1], used.path, strlen(used.path)) > 0)
            pause();
        _exit(1);
    }
    assert_true(read(ready[0], path, sizeof path - 1) > 0);
    sweep();
    assert_true(exists(path));
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    sweep();
    assert_false(exists(path));
    close(ready[0]);
    close(ready[1]);
}

/* Each change makes one that a sweep cannot know to be ours. */
static void without_lock(const char *path, const char *lock)
{
    (void)path;
    assert_int_equal(unlink(lock), 0);
}

static void empty_lock(const char *path, const char *lock)
{
    (void)path;
    assert_int_equal(truncate(lock, 0), 0);
}

static void linked_lock(const char *path, const char *lock)
{
    char elsewhere[500];
    (void)path;
    snprintf(elsewhere, sizeof elsewhere, "%s/lock-elsewhere", tmp);
    assert_int_equal(rename(lock, elsewhere), 0);
    assert_int_equal(symlink(elsewhere, lock), 0);
}

static void lock_is_a_pipe(const char *path, const char *lock)
{
    (void)path;
    assert_int_equal(unlink(lock), 0);
    assert_int_equal(mkfifo(lock, 0600), 0);
}

static void others_may_enter(const char *path, const char *lock)
{
    (void)lock;
    assert_int_equal(chmod(path, 0755), 0);
}

static void lock_of_another(const char *path, const char *lock)
{
    (void)path;
    FILE *file = fopen(lock, "w");
    assert_non_null(file);
    fprintf(file, "symtape made 1:2\n");
    fclose(file);
}

static void of_another_user(const char *path, const char *lock)
{
    (void)lock;
    assert_int_equal(chown(path, 12345, 12345), 0);
}

static void lock_of_another_user(const char *path, const char *lock)
{
    (void)path;
    assert_int_equal(chown(lock, 12345, 12345), 0);
}

static void expect_to_stay(void (*change)(const char *path, const char *lock))
{
    char *path = left_by_a_killed_run(), file[500], lock[500];
    snprintf(file, sizeof file, "%s/1.0.0/candidate.fx", path);
    snprintf(lock, sizeof lock, "%s/lock", path);
    change(path, lock);
    sweep();
    assert_true(exists(file));
    int parent = open(tmp, O_RDONLY | O_DIRECTORY);
    (void)!chown(path, geteuid(), getegid());
    (void)!lchown(lock, geteuid(), getegid());
    assert_true(folder_remove(parent, strrchr(path, '/') + 1));
    close(parent);
    free(path);
}

static void test_unproven_stays(void **state)
{
    (void)state;
    expect_to_stay(without_lock);
    expect_to_stay(empty_lock);
    expect_to_stay(linked_lock);
    expect_to_stay(lock_is_a_pipe);
    expect_to_stay(others_may_enter);
    expect_to_stay(lock_of_another);
    if (geteuid() == 0) {
        expect_to_stay(of_another_user);
        expect_to_stay(lock_of_another_user);
    }
}

/* The name of what is left leads to a folder of ours that a sweep must not touch. */
static void test_link_where_one_was_left(void **state)
{
    (void)state;
    char *path = left_by_a_killed_run(), real[500], file[600];
    snprintf(real, sizeof real, "%s/precious", tmp);
    snprintf(file, sizeof file, "%s/1.0.0/candidate.fx", real);
    assert_int_equal(rename(path, real), 0); /* with its lock, which is free and fits */
    assert_int_equal(symlink("precious", path), 0);
    sweep();
    assert_true(exists(file));
    assert_true(exists(path));
    assert_int_equal(unlink(path) | rename(real, path), 0);
    sweep();
    assert_false(exists(path));
    free(path);
}

/* While it is in use its name is given to something else: what is there stays. */
static void test_replaced_while_in_use(void **state)
{
    (void)state;
    struct scratch used = make(SCRATCH_QUESTIONS);
    char moved[500], victim[500], file[600], *path = strdup(used.path);
    assert_true(folder_write(used.fd, "x", STR("x")));
    snprintf(moved, sizeof moved, "%s/moved", tmp);
    snprintf(victim, sizeof victim, "%s/victim", tmp);
    snprintf(file, sizeof file, "%s/x", victim);
    assert_int_equal(mkdir(victim, 0700), 0);
    fclose(fopen(file, "w"));
    assert_int_equal(rename(path, moved) | symlink("victim", path), 0);
    assert_true(folder_write(used.fd, "y", STR("y"))); /* goes to ours, wherever it is */
    assert_false(scratch_remove(&used));
    assert_true(exists(file));
    assert_true(exists(path));
    assert_int_equal(rmdir(moved), 0); /* what was ours in it is gone */
    assert_int_equal(unlink(path) | unlink(file) | rmdir(victim), 0);
    free(path);
}

static void test_made_again(void **state)
{
    (void)state;
    struct buf text = BUF_INIT;
    struct scratch logs = make(SCRATCH_LOGS);
    scratch_reopen(&logs); /* it is there */
    assert_int_equal(rmdir(logs.path), 0);
    scratch_reopen(&logs);
    assert_false(folder_write(logs.fd, "x", STR("x")));
    assert_int_equal(symlink(".", logs.path), 0);
    scratch_reopen(&logs);
    assert_false(folder_write(logs.fd, "x", STR("x")));
    assert_int_equal(unlink(logs.path) | mkdir(logs.path, 0755), 0);
    scratch_reopen(&logs);
    assert_true(folder_write(logs.fd, "x", STR("again")));
    assert_true(folder_read(logs.fd, "x", 10, &text));
    assert_true(scratch_remove(&logs));
    buf_release(&text);
}

static void test_file_without_a_name(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct stat info;
    int fd = scratch_file(tmp, &err);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &info), 0);
    assert_int_equal(info.st_nlink, 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    close(fd);
    assert_true(scratch_file("/no/such/folder", &err) < 0);
    assert_err(&err, ERR_ENV, "/no/such/folder: No such file");
    fd = scratch_file("/dev/mqueue", &err); /* here or not, it must not end */
    if (fd >= 0)
        close(fd);
}

static bool make_and_remove(void *arg)
{
    struct err err = ERR_INIT;
    struct scratch scratch;
    (void)arg;
    return scratch_make(&scratch, SCRATCH_QUESTIONS, &err) && scratch_remove(&scratch);
}

static void test_memory(void **state)
{
    (void)state;
    check_alloc_failures(make_and_remove, NULL);
    sweep();
}

static int set_up(void **state)
{
    (void)state;
    snprintf(tmp, sizeof tmp, "%s", temp_path("tmp"));
    return mkdir(tmp, 0700) | setenv("TMPDIR", tmp, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_private),
        cmocka_unit_test(test_tmpdir),
        cmocka_unit_test(test_left_by_a_killed_run),
        cmocka_unit_test(test_in_use_stays),
        cmocka_unit_test(test_in_use_elsewhere),
        cmocka_unit_test(test_unproven_stays),
        cmocka_unit_test(test_link_where_one_was_left),
        cmocka_unit_test(test_replaced_while_in_use),
        cmocka_unit_test(test_made_again),
        cmocka_unit_test(test_file_without_a_name),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
