/* Memory that lives and dies together.
 *
 * An arena hands out zeroed memory that is freed as a whole by arena_release(). A NULL result means
 * that memory ran out; the arena stays usable. Under AddressSanitizer every object is a malloc of
 * its own, so that overruns between neighbors are seen. Not for use by two threads at once. */
#ifndef SYMTAPE_TRACE_BASE_ARENA_H
#define SYMTAPE_TRACE_BASE_ARENA_H

#include <stdalign.h>
#include <stddef.h>

#include "trace/base/str.h"

struct arena_block;

struct arena {
    struct arena_block *blocks; /* newest first */
    char *next, *end;           /* what is left of the newest */
    size_t bytes;               /* handed out in total */
};

#define ARENA_INIT ((struct arena){ 0 })

void *arena_alloc(struct arena *arena, size_t size, size_t align);
/* Returns memory that is not zeroed, for texts that will be written to it. */
char *arena_bytes(struct arena *arena, size_t size);
void arena_release(struct arena *arena);
/* Everything handed out is gone, and the memory stays for the next: filled as before, an arena that
 * was reset twice allocates no more. */
void arena_reset(struct arena *arena);

/* A terminated copy; .p is NULL when memory ran out. */
struct str arena_copy(struct arena *arena, struct str text);

/* NULL also when count * sizeof(type) overflows. */
void *arena_alloc_array(struct arena *arena, size_t count, size_t size, size_t align);

#define arena_new(arena, type) ((type *)arena_alloc((arena), sizeof(type), alignof(type)))
#define arena_array(arena, type, count) \
    ((type *)arena_alloc_array((arena), (count), sizeof(type), alignof(type)))

#endif
