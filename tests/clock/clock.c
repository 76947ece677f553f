/* Takes from the clocks of a program the time that its thread was ready to run and waited for a
 * processor, so that other work on the machine is in no time that the program measures. Loaded with
 * LD_PRELOAD; needs /proc/thread-self/schedstat (Linux with CONFIG_SCHED_INFO). */
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const long long SECOND = 1000000000;

/* Returns how long this thread has waited for a processor, in ns; 0 if it is not known. */
static long long waited_ns(void)
{
    static _Thread_local int fd = -1;
    static _Thread_local pid_t owner;
    char text[96] = "";
    if (owner != (pid_t)syscall(SYS_gettid)) { /* also in the child of a fork */
        owner = (pid_t)syscall(SYS_gettid);
        fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    }
    if (fd < 0 || pread(fd, text, sizeof text - 1, 0) <= 0)
        return 0;
    const char *second = strchr(text, ' ');
    return second ? strtoll(second, NULL, 10) : 0;
}

int clock_gettime(clockid_t id, struct timespec *t)
{
    bool taken = id == CLOCK_REALTIME || id == CLOCK_MONOTONIC;
    long long waited, after = taken ? waited_ns() : 0;
    int ret;
    do { /* a wait between the two readings would set the clock back */
        waited = after;
        ret = (int)syscall(SYS_clock_gettime, id, t);
        after = taken ? waited_ns() : 0;
    } while (after != waited);
    if (ret || !taken)
        return ret;
    long long ns = t->tv_sec * SECOND + t->tv_nsec - waited;
    t->tv_sec = ns / SECOND;
    t->tv_nsec = ns % SECOND;
    return 0;
}
