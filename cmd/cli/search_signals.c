#include "cmd/cli/search_signals.h"

#include <stdbool.h>
#include <stddef.h>

/* Global, because signal handlers take no user data. */
static atomic_bool stop;
static atomic_uint_least64_t status_requests;

static void on_end(int signal_number)
{
    (void)signal_number;
    atomic_store(&stop, true);
}

static void on_status(int signal_number)
{
    (void)signal_number;
    atomic_fetch_add(&status_requests, 1);
}

const atomic_bool *search_signals_begin(struct search_signals *saved)
{
    struct sigaction end = { .sa_handler = on_end, .sa_flags = (int)SA_RESETHAND | SA_RESTART };
    struct sigaction status = { .sa_handler = on_status, .sa_flags = SA_RESTART };
    sigemptyset(&end.sa_mask);
    sigemptyset(&status.sa_mask);
    atomic_store(&stop, false);
    atomic_store(&status_requests, 0);
    sigaction(SIGINT, &end, &saved->before_int);
    sigaction(SIGTERM, &end, &saved->before_term);
    sigaction(SIGUSR1, &status, &saved->before_usr1);
    return &stop;
}

uint64_t search_status_requests(void)
{
    return atomic_load(&status_requests);
}

void search_signals_end(const struct search_signals *saved)
{
    sigaction(SIGINT, &saved->before_int, NULL);
    sigaction(SIGTERM, &saved->before_term, NULL);
    sigaction(SIGUSR1, &saved->before_usr1, NULL);
}
