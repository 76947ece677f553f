#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness.h"
#include "trace/record/log_folder.h"

static struct scratch make(void)
{
    struct err err = ERR_INIT;
    struct scratch folder;
    if (!scratch_make(&folder, SCRATCH_LOGS, &err))
        fail_msg("%s", err.text);
    return folder;
}

static void remove_it(struct scratch *folder)
{
    char *path = strdup(folder->path);
    assert_true(scratch_remove(folder));
    assert_int_equal(access(path, F_OK), -1);
    free(path);
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

static void test_list(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct log_list list;
    struct scratch folder = make();
    char other[4096];
    assert_true(log_folder_list(&folder, &list, &err));
    assert_int_equal(list.n, 0);
    log_list_release(&list);
    put(folder.path, "dedicated_log_torch_trace_rank_10_aaaaaaaa.log", "ten");
    put(folder.path, "dedicated_log_torch_trace_rank_9_zzzzzzzz.log", "nine");
    put(folder.path, "dedicated_log_torch_trace_rank_2_empty.log", "");
    put(folder.path, "something.else", "not a log");
    snprintf(other, sizeof other, "%s/folder.log", folder.path);
    assert_int_equal(mkdir(other, 0700), 0);
    put(other, "inside.log", "removed with the rest");
    assert_true(log_folder_list(&folder, &list, &err));
    assert_int_equal(list.n, 2);
    assert_int_equal(list.bytes, 7);
    assert_true(str_starts(str_of(list.paths[0]), str_of(folder.path)));
    assert_true(str_ends(str_of(list.paths[0]), STR("rank_9_zzzzzzzz.log")));
    assert_true(str_ends(str_of(list.paths[1]), STR("rank_10_aaaaaaaa.log")));
    log_list_release(&list);
    remove_it(&folder);
}

static void test_python(void **state)
{
    (void)state;
    struct scratch folder = make();
    char deep[3000] = "/";
    assert_null(log_folder_python(&folder));
    put(folder.path, "python.txt", "");
    assert_null(log_folder_python(&folder));
    put(folder.path, "python.txt", "python3"); /* one of the PATH of another process */
    assert_null(log_folder_python(&folder));
    memset(deep + 1, 'x', sizeof deep - 2);
    put(folder.path, "python.txt", deep);
    char *python = log_folder_python(&folder);
    assert_string_equal(python, deep);
    free(python);
    remove_it(&folder);
}

/* A child holds a file of the folder open until its standard input ends. */
static void test_writers(void **state)
{
    (void)state;
    if (access("/proc/self/fd", R_OK) != 0)
        skip();
    struct scratch folder = make();
    char path[4096];
    put(folder.path, "a.log", "x");
    snprintf(path, sizeof path, "%s/a.log", folder.path);
    int own = open(path, O_WRONLY | O_CLOEXEC); /* ours does not count */
    assert_int_equal(log_folder_writers(folder.path), 0);
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
    assert_int_equal(log_folder_writers(folder.path), 1);
    path[strlen(folder.path) - 1] = '\0'; /* a name that this one begins with is another folder */
    assert_int_equal(log_folder_writers(path), 0);
    close(hold[1]);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(log_folder_writers(folder.path), 0);
    close(own);
    close(hold[0]);
    close(ready[0]);
    close(ready[1]);
    remove_it(&folder);
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
    struct scratch folder = make();
    put(folder.path, "a.log", "a");
    put(folder.path, "b.log", "b");
    put(folder.path, "c.log", "c");
    check_alloc_failures(list_it, &folder);
    remove_it(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_python),
        cmocka_unit_test(test_writers),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
