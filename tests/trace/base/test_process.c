#include "trace/base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "tests/harness.h"

static int start_shell(const char *script, bool own_group, int output, pid_t *pid)
{
    const char *argv[] = { "sh", "-c", script, NULL };
    const struct process_file files[] = { { 0, "/dev/null", O_RDONLY, -1 },
                                          { 1, NULL, 0, output } };
    return process_start(&(struct process_start){ .argv = argv,
                                                  .environment = environ,
                                                  .files = files,
                                                  .n_files = 2,
                                                  .own_group = own_group,
                                                  .default_signals = true },
                         pid);
}

static void test_exit_codes(void **state)
{
    (void)state;
    struct process_end end;
    pid_t pid;
    int ends[2];
    char text[8] = "";
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(start_shell("echo hi; exit 7", false, ends[1], &pid), 0);
    close(ends[1]);
    assert_true(process_reap(pid, &end));
    assert_int_equal(end.status, 7);
    assert_int_equal(end.signal, 0);
    assert_int_equal(read(ends[0], text, sizeof text), 3);
    close(ends[0]);
    assert_int_equal(process_state(pid), PROCESS_LOST);
    assert_false(process_reap(pid, &end));
    assert_int_equal(errno, ECHILD);
}

static void test_groups_are_killed(void **state)
{
    (void)state;
    struct process_end end;
    pid_t pid;
    int ends[2];
    char byte;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(start_shell("sleep 100 & kill -STOP $$; wait", true, ends[1], &pid), 0);
    close(ends[1]);
    while (process_state(pid) != PROCESS_STOPPED)
        usleep(1000);
    assert_true(process_take_stop(pid));
    assert_false(process_take_stop(pid));
    assert_int_equal(process_state(pid), PROCESS_RUNNING);
    process_kill_group(pid);
    while (process_state(pid) != PROCESS_ENDED)
        usleep(1000);
    assert_int_equal(process_state(pid), PROCESS_ENDED);
    assert_true(process_reap(pid, &end));
    assert_int_equal(end.status, 128 + SIGKILL);
    assert_int_equal(end.signal, SIGKILL);
    assert_int_equal(read(ends[0], &byte, 1), 0); /* the sleep has ended, too */
    close(ends[0]);
}

static void test_missing_programs(void **state)
{
    (void)state;
    pid_t pid = -1;
    const char *argv[] = { "/nonexistent/program", NULL };
    struct process_start start = { .argv = argv, .environment = environ };
    assert_int_equal(process_start(&start, &pid), ENOENT);
    start.program = "/";
    assert_int_equal(process_start(&start, &pid), EACCES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exit_codes),
        cmocka_unit_test(test_groups_are_killed),
        cmocka_unit_test(test_missing_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
