/* Signals while a search runs: SIGINT and SIGTERM end it with what it has, SIGUSR1 asks how it is.
 * A second SIGINT or SIGTERM kills as usual. One at a time in a process. */
#ifndef SYMTAPE_CMD_CLI_SEARCH_SIGNALS_H
#define SYMTAPE_CMD_CLI_SEARCH_SIGNALS_H

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>

struct search_signals {
    struct sigaction before_int, before_term, before_usr1;
};

const atomic_bool *search_signals_begin(struct search_signals *saved);
uint64_t search_status_requests(void); /* how often */
void search_signals_end(const struct search_signals *saved);

#endif
