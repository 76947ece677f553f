/* Records the allocations that the memory limit refused.
 *
 * An error for lack of memory does not say why the allocation failed, nor how large it was: the
 * limit may be the reason, or the machine may have no more memory. So each failed allocation of
 * this program is examined where it fails: the linker directs malloc(), calloc() and realloc()
 * of our own objects here (--wrap, cmd/meson.build), which call the real ones. Allocations of
 * libraries are not seen. */
#ifndef SYMTAPE_CMD_CLI_REFUSED_MEMORY_H
#define SYMTAPE_CMD_CLI_REFUSED_MEMORY_H

#include <stdatomic.h>
#include <stdint.h>

struct refused_memory {
    /* Bytes of data that the process would have had with the largest allocation that the limit
     * on data (RLIMIT_DATA) refused; 0: it refused none. */
    _Atomic uint64_t needed;
};

/* Returns the record of this process. There is one, since malloc() has no argument of ours. */
struct refused_memory *refused_memory(void);

#endif
