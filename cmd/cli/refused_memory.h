/* What the limit of memory refused.
 *
 * An error for want of memory does not say why memory was not to be had, nor how much was wanted:
 * the limit may have been in the way, or the machine may have no more. So each failed allocation of
 * this program is looked at where it fails: the linker directs malloc(), calloc() and realloc() of
 * our own objects here (--wrap, cmd/meson.build), which call the real ones. What libraries allocate
 * for themselves is not seen. */
#ifndef SYMTAPE_CMD_CLI_REFUSED_MEMORY_H
#define SYMTAPE_CMD_CLI_REFUSED_MEMORY_H

#include <stdatomic.h>
#include <stdint.h>

struct refused_memory {
    /* Bytes of data that the process would have had with the largest allocation that the limit on
     * data (RLIMIT_DATA) refused; 0: it refused none. */
    _Atomic uint64_t needed;
};

/* Of this process. There is one, since malloc() has no argument of ours. */
struct refused_memory *refused_memory(void);

#endif
