#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness.h"
#include "trace/record/log_folder.h"

static char *make(void)
{
    struct err err = ERR_INIT;
    char *folder = log_folder_make(&err);
    if (!folder)
        fail_msg("%s", err.text);
    return folder;
}

static void remove_and_free(char *folder)
{
    struct err err = ERR_INIT;
    assert_true(log_folder_remove(folder, &err));
    assert_int_equal(access(folder, F_OK), -1);
    free(folder);
}

static void put(const char *folder, const char *name, const char *text)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void test_private(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    mode_t umask_before = umask(0);
    char *one = make(), *two = make();
    umask(umask_before);
    struct stat st;
    assert_int_equal(stat(one, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(one[0], '/');
    assert_string_not_equal(one, two);
    remove_and_free(one);
    remove_and_free(two);
    assert_false(log_folder_remove("/no/such/folder", &err));
    assert_err(&err, ERR_ENV, "/no/such/folder: cannot remove the logs");
}

static void test_below_tmpdir(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    const char *parent = temp_path("tmp");
    assert_int_equal(mkdir(parent, 0700), 0);
    assert_int_equal(chdir(parent), 0);
    setenv("TMPDIR", ".", 1);
    char *folder = make();
    assert_true(str_starts(str_of(folder), str_of(parent))); /* absolute, although TMPDIR is not */
    assert_int_equal(chdir("/"), 0);
    remove_and_free(folder);
    setenv("TMPDIR", "/no/such/folder", 1);
    assert_null(log_folder_make(&err));
    assert_err(&err, ERR_ENV, "/no/such/folder: no folder for logs (TMPDIR)");
    setenv("TMPDIR", "/proc", 1); /* nobody can make a folder there */
    assert_null(log_folder_make(&err));
    assert_err(&err, ERR_ENV, "/proc: cannot make a folder for logs");
    unsetenv("TMPDIR");
}

static void test_list(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct log_list list;
    char *folder = make(), other[4096];
    assert_true(log_folder_list(folder, &list, &err));
    assert_int_equal(list.n, 0);
    log_list_release(&list);
    put(folder, "dedicated_log_torch_trace_rank_10_aaaaaaaa.log", "ten");
    put(folder, "dedicated_log_torch_trace_rank_9_zzzzzzzz.log", "nine");
    put(folder, "dedicated_log_torch_trace_rank_2_empty.log", "");
    put(folder, "something.else", "not a log");
    snprintf(other, sizeof other, "%s/folder.log", folder);
    assert_int_equal(mkdir(other, 0700), 0);
    put(other, "inside.log", "removed with the rest");
    assert_true(log_folder_list(folder, &list, &err));
    assert_int_equal(list.n, 2);
    assert_int_equal(list.bytes, 7);
    assert_true(str_starts(str_of(list.paths[0]), str_of(folder)));
    assert_true(str_ends(str_of(list.paths[0]), STR("rank_9_zzzzzzzz.log")));
    assert_true(str_ends(str_of(list.paths[1]), STR("rank_10_aaaaaaaa.log")));
    log_list_release(&list);
    remove_and_free(folder);
    assert_false(log_folder_list("/no/such/folder", &list, &err));
    assert_err(&err, ERR_ENV, "/no/such/folder");
}

/* A child holds a file of the folder open until its standard input ends. */
static void test_writers(void **state)
{
    (void)state;
    if (access("/proc/self/fd", R_OK) != 0)
        skip();
    char *folder = make(), path[4096];
    put(folder, "a.log", "x");
    snprintf(path, sizeof path, "%s/a.log", folder);
    int own = open(path, O_WRONLY | O_CLOEXEC); /* ours does not count */
    assert_int_equal(log_folder_writers(folder), 0);
    int hold[2], ready[2];
    assert_int_equal(pipe(hold) | pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        char byte = 0;
        close(hold[1]);
        if (write(ready[1], &byte, 1) != 1 || read(hold[0], &byte, 1) != 0)
            _exit(1);
        _exit(0);
    }
    char byte;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(log_folder_writers(folder), 1);
    path[strlen(folder) - 1] = '\0'; /* a name that this one begins with is another folder */
    assert_int_equal(log_folder_writers(path), 0);
    close(hold[1]);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(log_folder_writers(folder), 0);
    close(own);
    close(hold[0]);
    close(ready[0]);
    close(ready[1]);
    remove_and_free(folder);
}

static bool list_it(void *folder)
{
    struct err err = ERR_INIT;
    struct log_list list;
    if (!log_folder_list(folder, &list, &err))
        return false;
    bool all = list.n == 3;
    log_list_release(&list);
    return all;
}

static void test_memory_runs_out(void **state)
{
    (void)state;
    char *folder = make();
    put(folder, "a.log", "a");
    put(folder, "b.log", "b");
    put(folder, "c.log", "c");
    check_alloc_failures(list_it, folder);
    remove_and_free(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_private),
        cmocka_unit_test(test_below_tmpdir),
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_writers),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
