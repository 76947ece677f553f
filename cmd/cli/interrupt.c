#include "cmd/cli/interrupt.h"

/* A signal handler has no argument for user data, so this variable must be static. */
static volatile sig_atomic_t stop;

static void on_signal(int signal_number)
{
    (void)signal_number;
    stop = 1;
}

const volatile sig_atomic_t *interrupt_begin(struct interrupt *saved)
{
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND };
    sigemptyset(&action.sa_mask);
    stop = 0;
    sigaction(SIGINT, &action, &saved->before_int);
    sigaction(SIGTERM, &action, &saved->before_term);
    return &stop;
}

void interrupt_end(const struct interrupt *saved)
{
    sigaction(SIGINT, &saved->before_int, NULL);
    sigaction(SIGTERM, &saved->before_term, NULL);
}
