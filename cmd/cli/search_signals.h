/* Signals while a search runs: SIGINT and SIGTERM end the search with its result so far, and
 * SIGUSR1 prints the progress. A second SIGINT or SIGTERM kills the process as usual. Only one
 * search of a process can use this at a time. */
#ifndef SYMTAPE_CMD_CLI_SEARCH_SIGNALS_H
#define SYMTAPE_CMD_CLI_SEARCH_SIGNALS_H

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>

struct search_signals {
    struct sigaction before_int, before_term, before_usr1;
};

const atomic_bool *search_signals_begin(struct search_signals *saved);
uint64_t search_status_requests(void); /* returns the number of SIGUSR1 so far */
void search_signals_end(const struct search_signals *saved);

#endif
