#include "trace/record/supervise.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "trace/base/clock.h"
#include "trace/base/process.h"

enum {
    POLL_MS = 1000,      /* the end is noticed this much later if another thread gets the SIGCHLD */
    STOP_SETTLE_MS = 50, /* Ctrl-Z and `fg` reach the two processes one after the other */
    NO_RESOURCES = 4,    /* the exit code of symtape(1) for the environment */
    CANNOT_EXECUTE = 126, /* this and the next are POSIX shells' exit codes */
    NO_SUCH_PROGRAM = 127,
};

/* Signals that are passed on to the program. Those that a terminal sends are passed on only if a
 * process sent them. */
static const struct {
    int number;
    bool of_terminal, ends;
} passed_on[] = {
    { .number = SIGINT, .of_terminal = true, .ends = true },
    { .number = SIGQUIT, .of_terminal = true, .ends = true },
    { .number = SIGTERM, .ends = true },
    { .number = SIGHUP, .ends = true },
    { .number = SIGUSR1 },
    { .number = SIGUSR2 },
    { .number = SIGCONT },
    { .number = SIGWINCH, .of_terminal = true },
};
enum { N_PASSED_ON = sizeof passed_on / sizeof *passed_on };

struct running_program {
    pid_t pid;
    const struct held_signals *held;
    unsigned terminations; /* number of SIGTERM so far */
};

static struct timespec timespec_of_ms(unsigned milliseconds)
{
    return (struct timespec){ milliseconds / 1000, (long)(milliseconds % 1000) * 1000000 };
}

static sigset_t ending_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < N_PASSED_ON; i++)
        if (passed_on[i].ends)
            sigaddset(&set, passed_on[i].number);
    return set;
}

void signals_hold(struct held_signals *held)
{
    sigemptyset(&held->set);
    for (int i = 0; i < N_PASSED_ON; i++)
        sigaddset(&held->set, passed_on[i].number);
    sigaddset(&held->set, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &held->set, &held->mask_before);
    struct sigaction children = { .sa_handler = SIG_DFL };
    sigaction(SIGCHLD, &children, &held->children_before);
}

void signals_release(const struct held_signals *held)
{
    sigset_t ending = ending_signals();
    while (sigtimedwait(&ending, NULL, &(struct timespec){ 0 }) > 0)
        ;
    sigaction(SIGCHLD, &held->children_before, NULL);
    pthread_sigmask(SIG_SETMASK, &held->mask_before, NULL);
}

bool signals_pause(const struct held_signals *held, unsigned milliseconds)
{
    (void)held; /* they must be blocked for this to work */
    sigset_t ending = ending_signals();
    struct timespec time = timespec_of_ms(milliseconds);
    return sigtimedwait(&ending, NULL, &time) > 0;
}

/* ------------------------------------------------------------------------------------------------
 * Starting it. */

static bool not_started(int code, const char *name, struct supervise_end *end, struct err *err)
{
    errno = code;
    if (code == ENOMEM || code == EAGAIN) {
        end->status = NO_RESOURCES;
        return err_errno(err, "cannot start %s", name);
    }
    end->status = code == ENOENT ? NO_SUCH_PROGRAM : CANNOT_EXECUTE;
    if (code == ENOEXEC)
        return err_set(err, ERR_USAGE, "cannot run %s: neither a program nor a script with #!",
                       name);
    return err_set(err, ERR_USAGE, "cannot run %s: %s", name, strerror(code));
}

static bool start_program(struct running_program *program, const char *const *argv,
                          char *const *environment, struct supervise_end *end, struct err *err)
{
    int code = process_start(&(struct process_start){ .argv = argv,
                                                      .environment = environment,
                                                      .mask = &program->held->mask_before },
                             &program->pid);
    return code == 0 || not_started(code, argv[0], end, err);
}

/* ------------------------------------------------------------------------------------------------
 * Waiting for it. */

/* Stops the caller as the program was stopped. The kernel drops SIGTSTP where nobody could
 * continue the process (an orphaned process group). The SIGCONT that continues the caller is
 * passed on to the program. */
static void stop_with_program(const struct running_program *program)
{
    struct timespec settle = timespec_of_ms(STOP_SETTLE_MS);
    nanosleep(&settle, NULL);
    if (process_take_stop(program->pid))
        kill(getpid(), SIGTSTP);
}

static void pass_on(struct running_program *program, const siginfo_t *info)
{
    if (info->si_signo == SIGTERM)
        program->terminations++;
    for (int i = 0; i < N_PASSED_ON; i++)
        if (passed_on[i].number == info->si_signo &&
            !(passed_on[i].of_terminal && info->si_code == SI_KERNEL))
            kill(program->pid, info->si_signo);
}

/* Waits until the program ended, or the caller got SIGTERM twice. */
static enum process_state attend_program(struct running_program *program)
{
    const struct timespec poll = timespec_of_ms(POLL_MS);
    for (;;) {
        enum process_state state = process_state(program->pid);
        if (state == PROCESS_ENDED || state == PROCESS_LOST || program->terminations >= 2)
            return state;
        if (state == PROCESS_STOPPED)
            stop_with_program(program);
        siginfo_t info;
        int number = sigtimedwait(&program->held->set, &info, &poll);
        if (number > 0 && number != SIGCHLD)
            pass_on(program, &info);
    }
}

static bool collect_end(const struct running_program *program, struct supervise_end *end,
                        struct err *err)
{
    struct process_end how;
    if (!process_reap(program->pid, &how))
        return err_errno(err, "cannot wait for process %ld", (long)program->pid);
    end->signal = how.signal;
    end->status = how.status;
    end->cpu_ns = how.cpu_ns;
    return true;
}

bool supervise(const char *const *argv, char *const *environment, const struct held_signals *held,
               struct supervise_end *end, struct err *err)
{
    *end = (struct supervise_end){ 0 };
    struct running_program program = { .held = held };
    uint64_t began = clock_ns();
    if (!start_program(&program, argv, environment, end, err))
        return false;
    enum process_state state = attend_program(&program);
    end->wall_ns = clock_ns() - began;
    if (state == PROCESS_ENDED || state == PROCESS_LOST)
        return collect_end(&program, end, err);
    end->abandoned = true;
    end->status = 128 + SIGTERM;
    return true;
}
