/* Handles Ctrl-C by setting a flag, which work that can end early checks.
 *
 *     struct interrupt saved;
 *     options.stop = interrupt_begin(&saved);
 *     ... the library ends early once *options.stop is set ...
 *     interrupt_end(&saved);
 *
 * A second signal kills as usual. Only one can be in use in a process. */
#ifndef SYMTAPE_CMD_CLI_INTERRUPT_H
#define SYMTAPE_CMD_CLI_INTERRUPT_H

#include <signal.h>

struct interrupt {
    struct sigaction before_int, before_term;
};

const volatile sig_atomic_t *interrupt_begin(struct interrupt *saved);
void interrupt_end(const struct interrupt *saved);

#endif
