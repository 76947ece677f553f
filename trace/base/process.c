#include "trace/base/process.h"

#include <errno.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

static int set_files(posix_spawn_file_actions_t *actions, const struct process_start *start)
{
    int code = 0;
    for (size_t i = 0; i < start->n_files && code == 0; i++) {
        const struct process_file *file = &start->files[i];
        code = file->path ? posix_spawn_file_actions_addopen(actions, file->number, file->path,
                                                             file->flags, 0)
                          : posix_spawn_file_actions_adddup2(actions, file->copied, file->number);
    }
    return code;
}

static int set_attributes(posix_spawnattr_t *attributes, const struct process_start *start)
{
    sigset_t all;
    sigfillset(&all);
    int flags = (start->own_group ? POSIX_SPAWN_SETPGROUP : 0) |
                (start->default_signals ? POSIX_SPAWN_SETSIGDEF : 0) |
                (start->mask ? POSIX_SPAWN_SETSIGMASK : 0);
    int code = posix_spawnattr_setflags(attributes, (short)flags);
    if (code == 0)
        code = posix_spawnattr_setpgroup(attributes, 0);
    if (code == 0)
        code = posix_spawnattr_setsigdefault(attributes, &all);
    if (code == 0 && start->mask)
        code = posix_spawnattr_setsigmask(attributes, start->mask);
    return code;
}

int process_start(const struct process_start *start, pid_t *ret)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0)
        return code;
    code = posix_spawnattr_init(&attributes);
    if (code == 0) {
        code = set_files(&actions, start);
        if (code == 0)
            code = set_attributes(&attributes, start);
        /* posix_spawnp() has the type of execve(), which does not change argv. */
        if (code == 0)
            code = posix_spawnp(ret, start->program ? start->program : start->argv[0], &actions,
                                &attributes, (char *const *)(uintptr_t)start->argv,
                                start->environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

static enum process_state query_state(pid_t pid, int flags)
{
    siginfo_t info = { .si_pid = 0 };
    if (waitid(P_PID, (id_t)pid, &info, WNOHANG | WSTOPPED | flags) != 0)
        return errno == EINTR ? PROCESS_RUNNING : PROCESS_LOST;
    if (info.si_pid == 0)
        return PROCESS_RUNNING;
    return info.si_code == CLD_STOPPED ? PROCESS_STOPPED : PROCESS_ENDED;
}

enum process_state process_state(pid_t pid)
{
    return query_state(pid, WEXITED | WNOWAIT);
}

bool process_take_stop(pid_t pid)
{
    return query_state(pid, 0) == PROCESS_STOPPED;
}

static uint64_t timeval_ns(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

bool process_reap(pid_t pid, struct process_end *ret)
{
    int status;
    struct rusage usage;
    pid_t got;
    do {
        got = wait4(pid, &status, 0, &usage);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        return false;
    ret->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    ret->status = ret->signal ? 128 + ret->signal : WEXITSTATUS(status);
    ret->cpu_ns = timeval_ns(usage.ru_utime) + timeval_ns(usage.ru_stime);
    return true;
}

void process_kill_group(pid_t pid)
{
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
}
