/* The recorder with shell scripts for programs: a script that writes to "$TORCH_TRACE" stands for
 * PyTorch. tests/record_torch.py does it with the real one. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness.h"
#include "trace/record/record.h"

#define LOG "\"$TORCH_TRACE\"/dedicated_log_torch_trace_"

static struct record_run record_shell(const char *script, const struct record_options *options)
{
    const char *argv[] = { "sh", "-c", script, NULL };
    struct record_run run;
    struct err err = ERR_INIT;
    if (!record_run(argv, options, &run, &err))
        fail_msg("%s", err.text);
    return run;
}

static void finish(struct record_run *run)
{
    struct err err = ERR_INIT;
    if (!record_finish(run, &err))
        fail_msg("%s", err.text);
}

static void assert_log(const struct record_run *run, size_t i, const char *text)
{
    assert_true(i < run->n_logs);
    struct buf log = read_file(run->logs[i]);
    assert_str_is(buf_str(&log), text);
    buf_release(&log);
}

/* The script's status when all its tests held is 0. */
static void assert_holds(const char *script)
{
    struct record_run run = record_shell(script, NULL);
    finish(&run);
    if (run.end.status != 0)
        fail_msg("status %d: %s", run.end.status, script);
}

static void test_environment(void **state)
{
    (void)state;
    setenv("TORCH_TRACES", "similar", 1);
    unsetenv("TORCH_TRACE");
    unsetenv("TORCH_DTRACE");
    assert_holds("test -d \"$TORCH_TRACE\" && test -z \"${TORCH_DTRACE+set}\"");
    assert_holds("test $(stat -c %a \"$TORCH_TRACE\") = 700");
    assert_holds("cd / && test -d \"$TORCH_TRACE\" && test -n \"$PATH\"");
    assert_holds("test \"$TORCH_TRACES\" = similar");
    struct record_run run = record_shell("exit 0", NULL);
    assert_false(run.replaced);
    assert_false(run.expensive);
    finish(&run);
}

/* TORCH_DTRACE names a folder that PyTorch prefers to TORCH_TRACE's. */
static void test_environment_was_set(void **state)
{
    (void)state;
    setenv("TORCH_TRACE", "/no/such/folder", 1);
    struct record_run run = record_shell("test -d \"$TORCH_TRACE\"", NULL);
    assert_int_equal(run.end.status, 0);
    assert_true(run.replaced);
    assert_false(run.expensive);
    finish(&run);
    setenv("TORCH_DTRACE", "/no/such/folder", 1);
    run = record_shell("test -d \"$TORCH_TRACE\" && test \"$TORCH_DTRACE\" = \"$TORCH_TRACE\" && "
                       "test $(env | grep -c '^TORCH_D*TRACE=') = 2",
                       NULL);
    assert_int_equal(run.end.status, 0);
    assert_true(run.replaced);
    assert_true(run.expensive);
    finish(&run);
    unsetenv("TORCH_TRACE");
    unsetenv("TORCH_DTRACE");
    const struct record_options options = { .expensive = true };
    run = record_shell("test \"$TORCH_DTRACE\" = \"$TORCH_TRACE\"", &options);
    assert_int_equal(run.end.status, 0);
    assert_true(run.expensive);
    assert_false(run.replaced);
    finish(&run);
}

static void test_gathers_every_log(void **state)
{
    (void)state;
    struct record_run run = record_shell("for r in 0 1 2; do (printf 'rank %d' $r > " LOG
                                         "rank_${r}_x.log) & done; wait; "
                                         "printf worker > " LOG "y.log; exit 3",
                                         NULL);
    assert_int_equal(run.end.status, 3);
    assert_int_equal(run.n_logs, 4);
    assert_int_equal(run.log_bytes, 3 * 6 + 6);
    for (size_t r = 0; r < 3; r++) {
        char text[20];
        snprintf(text, sizeof text, "rank %zu", r);
        assert_log(&run, r, text);
    }
    assert_log(&run, 3, "worker");
    finish(&run);
    assert_int_equal(run.end.status, 3); /* stays */
}

static void test_no_log(void **state)
{
    (void)state;
    struct record_run run = record_shell("exit 0", NULL);
    assert_int_equal(run.n_logs, 0);
    assert_int_equal(run.log_bytes, 0);
    finish(&run);
}

/* A log that was opened, and that nothing was written to. */
static void test_empty_log(void **state)
{
    (void)state;
    struct record_run run = record_shell(": > " LOG "x.log", NULL);
    assert_int_equal(run.n_logs, 0);
    finish(&run);
}

static void test_killed_program_leaves_half_a_log(void **state)
{
    (void)state;
    struct record_run run = record_shell("printf 'V1120 half' > " LOG "x.log; kill -KILL $$", NULL);
    assert_int_equal(run.end.status, 137);
    assert_int_equal(run.end.signal, 9);
    assert_log(&run, 0, "V1120 half");
    finish(&run);
}

static void test_interrupt_keeps_what_there_is(void **state)
{
    (void)state;
    struct record_run run =
        record_shell("printf before > " LOG "x.log; kill -INT $PPID; exec sleep 20", NULL);
    assert_int_equal(run.end.status, 128 + SIGINT);
    assert_log(&run, 0, "before");
    kill(getpid(), SIGINT); /* the impatient user's second Ctrl-C */
    assert_log(&run, 0, "before");
    finish(&run);
}

/* ------------------------------------------------------------------------------------------------
 * The folder. */

static void test_folder_is_removed(void **state)
{
    (void)state;
    struct record_run run =
        record_shell("echo x > " LOG "x.log; mkdir \"$TORCH_TRACE/more\"", NULL);
    char *folder = strdup(run.folder.path);
    assert_int_equal(access(folder, F_OK), 0);
    finish(&run);
    assert_int_equal(access(folder, F_OK), -1);
    finish(&run); /* once is enough, twice is harmless */
    free(folder);
}

static void test_folder_is_kept(void **state)
{
    (void)state;
    const struct record_options options = { .keep_logs = true };
    struct record_run run = record_shell("echo x > " LOG "x.log", &options);
    char *log = strdup(run.logs[0]), *folder = strdup(run.folder.path);
    finish(&run);
    assert_int_equal(unlink(log), 0);
    assert_int_equal(rmdir(folder), 0);
    free(log);
    free(folder);
}

static void test_folder_is_gone(void **state)
{
    (void)state;
    const char *argv[] = { "sh", "-c", "rmdir \"$TORCH_TRACE\"; exit 3", NULL };
    struct record_run run;
    struct err err = ERR_INIT;
    assert_false(record_run(argv, NULL, &run, &err));
    assert_int_equal(run.end.status, 3);
    assert_err(&err, ERR_ENV, run.folder.path);
    assert_true(run.keep_logs);
    assert_true(record_finish(&run, &err));
}

static void test_no_folder(void **state)
{
    (void)state;
    const char *argv[] = { "touch", temp_path("was-run"), NULL };
    struct record_run run;
    struct err err = ERR_INIT;
    setenv("TMPDIR", "/no/such/folder", 1);
    assert_false(record_run(argv, NULL, &run, &err));
    unsetenv("TMPDIR");
    assert_err(&err, ERR_ENV, "TMPDIR");
    assert_int_equal(access(temp_path("was-run"), F_OK), -1);
    assert_true(record_finish(&run, &err));
}

static void test_not_started(void **state)
{
    (void)state;
    const char *argv[] = { "no-such-program-anywhere", NULL };
    struct record_run run;
    struct err err = ERR_INIT;
    assert_false(record_run(argv, NULL, &run, &err));
    assert_int_equal(run.end.status, 127);
    assert_err(&err, ERR_USAGE, "no-such-program-anywhere");
    char *folder = strdup(run.folder.path);
    assert_true(record_finish(&run, &err));
    assert_int_equal(access(folder, F_OK), -1);
    free(folder);
}

/* ------------------------------------------------------------------------------------------------
 * Processes that outlive the program. Their streams are closed, or whoever runs this test waits. */

#define OUTLIVES(seconds)                                                                       \
    "(exec 3>" LOG "x.log; printf begin >&3; sleep " seconds "; printf ' end' >&3) >/dev/null " \
    "2>&1 & while ! [ -s " LOG "x.log ]; do sleep 0.02; done; exit 4"

static void test_waits_for_writers(void **state)
{
    (void)state;
    if (access("/proc/self/fd", R_OK) != 0)
        skip();
    const struct record_options options = { .grace_ms = 30000 };
    struct record_run run = record_shell(OUTLIVES("0.5"), &options);
    assert_int_equal(run.end.status, 4);
    assert_int_equal(run.writers, 0);
    assert_log(&run, 0, "begin end");
    finish(&run);
}

static void test_waits_no_longer_than_asked(void **state)
{
    (void)state;
    if (access("/proc/self/fd", R_OK) != 0)
        skip();
    const struct record_options options = { .grace_ms = 60 };
    struct record_run run = record_shell(OUTLIVES("3"), &options);
    assert_true(run.writers >= 1); /* the subshell, and the sleep that inherited its file */
    assert_log(&run, 0, "begin");
    finish(&run);
}

static void test_interrupt_ends_the_grace(void **state)
{
    (void)state;
    if (access("/proc/self/fd", R_OK) != 0)
        skip();
    const struct record_options options = { .grace_ms = 60000 };
    struct record_run run =
        record_shell("(while ! [ -s " LOG "x.log ]; do sleep 0.02; done; "
                     "sleep 1; kill -INT $PPID) >/dev/null 2>&1 & " OUTLIVES("10"),
                     &options);
    assert_true(run.writers >= 1);
    assert_log(&run, 0, "begin");
    finish(&run);
}

/* A process that runs already: what it logged is listed when it was killed, also while a child of
 * it holds the other end of the file. */
static void wait_for_process(bool is_killed)
{
    int ends[2];
    struct record_run run;
    struct err err = ERR_INIT;
    const struct record_options options = { 0 };
    assert_int_equal(pipe(ends), 0);
    assert_true(record_begin(&options, &run, &err));
    assert_null(run.library);
    pid_t pid = fork();
    if (pid == 0) {
        char path[4096];
        snprintf(path, sizeof path, "%s/dedicated_log_torch_trace_x.log", run.folder.path);
        FILE *log = fopen(path, "w");
        fputs("half a line", log);
        fclose(log);
        if (is_killed)
            kill(getpid(), SIGKILL);
        close(ends[1]); /* the parent closed it as well: the file is at its end */
        pause();
    }
    if (!is_killed)
        close(ends[1]);
    assert_true(record_wait(pid, ends[0], &options, &run, &err));
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_log(&run, 0, "half a line");
    assert_int_equal(run.end.status, 0);
    finish(&run);
    close(ends[0]);
    if (is_killed)
        close(ends[1]);
}

static void test_process_is_killed(void **state)
{
    (void)state;
    wait_for_process(true);
}

static void test_process_ends_its_recording(void **state)
{
    (void)state;
    wait_for_process(false);
}

/* A process that has ended before. */
static void test_process_is_gone(void **state)
{
    (void)state;
    int ends[2];
    struct record_run run;
    struct err err = ERR_INIT;
    const struct record_options options = { .deep = "all" };
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    waitpid(pid, NULL, 0);
    bool can_be_deep = record_begin(&options, &run, &err);
    if (can_be_deep) { /* the module may not have been built */
        assert_true(record_wait(pid, ends[0], &options, &run, &err));
        assert_int_equal(run.n_logs, 0);
        assert_non_null(run.library);
    }
    finish(&run);
    close(ends[0]);
    close(ends[1]);
}

static bool record_true(void *arg)
{
    (void)arg;
    const char *argv[] = { "true", NULL };
    struct record_run run;
    struct err err = ERR_INIT;
    bool ok = record_run(argv, NULL, &run, &err);
    return record_finish(&run, &err) && ok;
}

static void test_memory_runs_out(void **state)
{
    (void)state;
    check_alloc_failures(record_true, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_environment_was_set),
        cmocka_unit_test(test_gathers_every_log),
        cmocka_unit_test(test_no_log),
        cmocka_unit_test(test_empty_log),
        cmocka_unit_test(test_killed_program_leaves_half_a_log),
        cmocka_unit_test(test_interrupt_keeps_what_there_is),
        cmocka_unit_test(test_folder_is_removed),
        cmocka_unit_test(test_folder_is_kept),
        cmocka_unit_test(test_folder_is_gone),
        cmocka_unit_test(test_no_folder),
        cmocka_unit_test(test_not_started),
        cmocka_unit_test(test_waits_for_writers),
        cmocka_unit_test(test_waits_no_longer_than_asked),
        cmocka_unit_test(test_interrupt_ends_the_grace),
        cmocka_unit_test(test_process_is_killed),
        cmocka_unit_test(test_process_ends_its_recording),
        cmocka_unit_test(test_process_is_gone),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
