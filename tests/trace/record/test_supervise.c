/* Programs run in our place: exit codes, signals both ways, the terminal, job control. Shell
 * one-liners stand for them; what concerns process groups runs in a session of its own. */
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness.h"
#include "trace/record/supervise.h"

/* Runs argv with signals held; they are released again. */
static bool run(const char *const *argv, struct supervise_end *end, struct err *err)
{
    struct held_signals held;
    signals_hold(&held);
    bool ok = supervise(argv, environ, &held, end, err);
    signals_release(&held);
    return ok;
}

/* Runs a shell script and returns its end. */
static struct supervise_end run_shell(const char *script)
{
    const char *argv[] = { "sh", "-c", script, NULL };
    struct supervise_end end;
    struct err err = ERR_INIT;
    if (!run(argv, &end, &err))
        fail_msg("%s", err.text);
    return end;
}

static void test_exit_status(void **state)
{
    (void)state;
    assert_int_equal(run_shell("exit 0").status, 0);
    assert_int_equal(run_shell("exit 3").status, 3);
    assert_int_equal(run_shell("exit 255").status, 255);
    assert_int_equal(run_shell("exit 3").signal, 0);
}

static void test_killed(void **state)
{
    (void)state;
    struct supervise_end end = run_shell("kill -KILL $$");
    assert_int_equal(end.signal, SIGKILL);
    assert_int_equal(end.status, 128 + SIGKILL);
    assert_int_equal(run_shell("kill -SEGV $$").status, 128 + SIGSEGV);
}

static void expect_no_start(const char *program, int status, const char *why)
{
    const char *argv[] = { program, NULL };
    struct supervise_end end;
    struct err err = ERR_INIT;
    assert_false(run(argv, &end, &err));
    assert_int_equal(end.status, status);
    assert_err(&err, ERR_USAGE, why);
}

static const char *make_file(const char *name, mode_t mode)
{
    const char *path = temp_path(name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("neither a program nor a script\n", file);
    fclose(file);
    chmod(path, mode);
    return path;
}

static void test_not_started(void **state)
{
    (void)state;
    expect_no_start("no-such-program-anywhere", 127, "No such file or directory");
    expect_no_start("/no/such/program", 127, "cannot run /no/such/program");
    expect_no_start("", 127, "No such file or directory");
    expect_no_start("/", 126, "Permission denied");
    expect_no_start(make_file("plain", 0600), 126, "Permission denied");
    expect_no_start(make_file("nonsense", 0700), 126, "neither a program nor a script");
}

static void test_times(void **state)
{
    (void)state;
    struct supervise_end end = run_shell("sleep 0.1");
    assert_true(end.wall_ns >= 100000000u && end.wall_ns < 60000000000u);
    assert_true(end.cpu_ns < end.wall_ns);
    end = run_shell("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done");
    assert_true(end.cpu_ns > 0);
}

/* The program sees the signals as we did before we held them. */
static void test_program_has_our_signals(void **state)
{
    (void)state;
    assert_int_equal(run_shell("grep -q '^SigBlk:[[:space:]]*0*$' /proc/self/status").status, 0);
    signal(SIGHUP, SIG_IGN); /* nohup */
    struct supervise_end end = run_shell("kill -HUP $$; exit 6");
    signal(SIGHUP, SIG_DFL);
    assert_int_equal(end.status, 6);
}

static void test_signals_are_restored(void **state)
{
    (void)state;
    sigset_t before, after;
    signal(SIGCHLD, SIG_IGN); /* would make the program's end impossible to wait for */
    sigprocmask(SIG_SETMASK, NULL, &before);
    assert_int_equal(run_shell("exit 4").status, 4);
    sigprocmask(SIG_SETMASK, NULL, &after);
    assert_int_equal(sigismember(&before, SIGINT), sigismember(&after, SIGINT));
    assert_int_equal(sigismember(&before, SIGCHLD), sigismember(&after, SIGCHLD));
    assert_ptr_equal(signal(SIGCHLD, SIG_DFL), SIG_IGN);
}

/* The program has its parent, us, sent each signal, and gets it back. */
static void test_signals_are_passed_on(void **state)
{
    (void)state;
    static const char *const names[] = { "INT", "QUIT", "TERM", "HUP", "USR1", "USR2", "WINCH" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char script[200];
        snprintf(script, sizeof script,
                 "trap 'exit 9' %s; kill -%s $PPID; i=0; "
                 "while [ $i -lt 200 ]; do sleep 0.02; i=$((i+1)); done",
                 names[i], names[i]);
        struct supervise_end end = run_shell(script);
        if (end.status != 9)
            fail_msg("SIG%s: status %d", names[i], end.status);
    }
}

static void test_signal_that_kills(void **state)
{
    (void)state;
    struct supervise_end end = run_shell("kill -TERM $PPID; exec sleep 20");
    assert_int_equal(end.signal, SIGTERM);
    assert_int_equal(end.status, 128 + SIGTERM);
    assert_false(end.abandoned);
}

static void test_second_sigterm_ends_waiting(void **state)
{
    (void)state;
    char script[1000];
    const char *pid_file = temp_path("abandoned.pid");
    snprintf(script, sizeof script,
             "trap '' TERM; echo $$ > '%s'; i=0; "
             "while [ $i -lt 20 ]; do kill -TERM $PPID; sleep 0.1; i=$((i+1)); done; exec sleep 20",
             pid_file);
    signal(SIGTERM, SIG_IGN); /* the program goes on sending it */
    struct supervise_end end = run_shell(script);
    assert_true(end.abandoned);
    assert_int_equal(end.status, 128 + SIGTERM);
    struct buf text = read_file(pid_file);
    buf_putc(&text, '\0');
    pid_t pid = (pid_t)atol(text.p);
    buf_release(&text);
    assert_int_equal(kill(pid, SIGKILL), 0); /* it was still there */
    waitpid(pid, NULL, 0);
    signal(SIGTERM, SIG_DFL);
}

static void test_pause(void **state)
{
    (void)state;
    struct held_signals held;
    signals_hold(&held);
    assert_false(signals_pause(&held, 10));
    kill(getpid(), SIGUSR1);
    assert_false(signals_pause(&held, 10));
    kill(getpid(), SIGINT);
    assert_true(signals_pause(&held, 10000));
    kill(getpid(), SIGINT); /* during the work that signals are held for: dropped */
    struct timespec none = { 0 };
    assert_int_equal(sigtimedwait(&held.set, NULL, &none), SIGINT);
    while (sigtimedwait(&held.set, NULL, &none) > 0)
        ;
    kill(getpid(), SIGINT);
    signals_release(&held); /* or we would be dead */
}

/* ------------------------------------------------------------------------------------------------
 * Streams. */

static void test_streams_pass_through(void **state)
{
    (void)state;
    int in[2], out[2];
    assert_int_equal(pipe(in) | pipe(out), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        close(in[1]);
        _exit(run_shell("read line; echo \"<$line>\"; exit 12").status);
    }
    close(in[0]);
    close(out[1]);
    assert_int_equal(write(in[1], "to the program\n", 15), 15);
    char text[100];
    ssize_t n = read(out[0], text, sizeof text);
    assert_str_is(((struct str){ text, n > 0 ? (size_t)n : 0 }), "<to the program>\n");
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), 12);
    close(in[1]);
    close(out[0]);
}

/* ------------------------------------------------------------------------------------------------
 * Terminals. */

/* Reads from a terminal until `text` was shown; false at the end. */
static bool read_until(int terminal, const char *text)
{
    char seen[4096];
    size_t n = 0;
    while (n < sizeof seen) {
        ssize_t got = read(terminal, seen + n, sizeof seen - n);
        if (got <= 0)
            return false;
        n += (size_t)got;
        if (memmem(seen, n, text, strlen(text)))
            return true;
    }
    return false;
}

/* Ctrl-C reaches the program from the terminal, once, and does not end us. */
static void test_interrupt_from_terminal(void **state)
{
    (void)state;
    int terminal;
    pid_t pid = forkpty(&terminal, NULL, NULL, NULL);
    assert_true(pid >= 0);
    if (pid == 0) {
        struct supervise_end end =
            run_shell("n=0; trap 'n=$((n+1))' INT; echo ready; i=0; "
                      "while [ $n -lt 1 ] && [ $i -lt 500 ]; do sleep 0.02; i=$((i+1)); done; "
                      "sleep 0.1; sleep 0.1; echo \"n=$n.\"; exit $((40+n))");
        _exit(end.status);
    }
    assert_true(read_until(terminal, "ready"));
    assert_int_equal(write(terminal, "\x03", 1), 1);
    assert_true(read_until(terminal, "n=1."));
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 41);
    close(terminal);
}

/* What a job-control shell does: a job in a group of its own, waited for, continued, waited for. */
static int shell_with_job(const char *script)
{
    setsid();
    pid_t job = fork();
    if (job == 0) {
        setpgid(0, 0);
        _exit(run_shell(script).status);
    }
    int status;
    if (waitpid(job, &status, WUNTRACED) != job || !WIFSTOPPED(status))
        return 100; /* the job was not seen to stop */
    kill(-job, SIGCONT);
    if (waitpid(job, &status, 0) != job || !WIFEXITED(status))
        return 101;
    return WEXITSTATUS(status);
}

static int exit_status_of_fork(int (*body)(const char *), const char *argument)
{
    pid_t pid = fork();
    if (pid == 0) {
        alarm(20);
        _exit(body(argument));
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_stopped_with_the_program(void **state)
{
    (void)state;
    assert_int_equal(exit_status_of_fork(shell_with_job, "kill -STOP $$; exit 5"), 5);
    assert_int_equal(exit_status_of_fork(shell_with_job, "kill -TSTP 0; exit 8"), 8);
}

/* Nobody is there to continue us: the program's stop is its own affair. */
static int without_shell(const char *script)
{
    setsid();
    return run_shell(script).status;
}

static void test_not_stopped_without_a_shell(void **state)
{
    (void)state;
    /* Continued again and again: the first may come before the stop on a busy machine. */
    const char *script = "(while sleep 0.2; do kill -CONT $$ || break; done) >/dev/null 2>&1 & "
                         "kill -STOP $$; exit 6";
    assert_int_equal(exit_status_of_fork(without_shell, script), 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exit_status),
        cmocka_unit_test(test_killed),
        cmocka_unit_test(test_not_started),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_program_has_our_signals),
        cmocka_unit_test(test_signals_are_restored),
        cmocka_unit_test(test_signals_are_passed_on),
        cmocka_unit_test(test_signal_that_kills),
        cmocka_unit_test(test_second_sigterm_ends_waiting),
        cmocka_unit_test(test_pause),
        cmocka_unit_test(test_streams_pass_through),
        cmocka_unit_test(test_interrupt_from_terminal),
        cmocka_unit_test(test_stopped_with_the_program),
        cmocka_unit_test(test_not_stopped_without_a_shell),
    };
    /* What a shell starts in the background ignores these, and so would the programs here. */
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
