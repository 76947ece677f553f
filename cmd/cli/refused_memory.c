#include "cmd/cli/refused_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "cmd/cli/memory_limit.h"

/* The names of the linker's --wrap. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

/* malloc() asks the system for more than its caller asked for: M_TOP_PAD (cmd/main.c), and 1 MiB
 * at least where the heap cannot grow. */
enum { MALLOC_MORE = 5 << 20 };

static struct refused_memory refused;

struct refused_memory *refused_memory(void)
{
    return &refused;
}

/* Records the size if the limit is the reason; returns NULL. */
static void *note_failed(size_t size)
{
    struct rlimit limit;
    int code = errno;
    uint64_t data = process_status_bytes("VmData"), seen = atomic_load(&refused.needed);
    uint64_t needed = size > UINT64_MAX - data ? UINT64_MAX : data + size;
    bool is_limit = getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
                    (needed > limit.rlim_cur || limit.rlim_cur - needed < MALLOC_MORE);
    while (is_limit && seen < needed &&
           !atomic_compare_exchange_weak(&refused.needed, &seen, needed))
        ;
    errno = code;
    return NULL;
}

void *__wrap_malloc(size_t size)
{
    void *ret = __real_malloc(size);
    return ret ? ret : note_failed(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    size_t bytes;
    void *ret = __real_calloc(count, size);
    if (ret)
        return ret;
    return note_failed(__builtin_mul_overflow(count, size, &bytes) ? SIZE_MAX : bytes);
}

void *__wrap_realloc(void *old, size_t size)
{
    void *ret = __real_realloc(old, size);
    return ret || size == 0 ? ret : note_failed(size);
}
