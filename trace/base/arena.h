/* Memory that is freed as a whole.
 *
 * An arena hands out zeroed memory, which arena_release() frees. A NULL result means that memory
 * ran out; the arena stays usable. Under AddressSanitizer every object is a malloc of its own,
 * so that overruns between neighbors are seen. Not for use by two threads at once. */
#ifndef SYMTAPE_TRACE_BASE_ARENA_H
#define SYMTAPE_TRACE_BASE_ARENA_H

#include <stdalign.h>
#include <stddef.h>

#include "trace/base/str.h"

struct arena_block;

struct arena {
    struct arena_block *blocks; /* newest first */
    char *next, *end;           /* the rest of the newest block */
    size_t bytes;               /* number of bytes handed out */
};

#define ARENA_INIT ((struct arena){ 0 })

void *arena_alloc(struct arena *arena, size_t size, size_t align);
/* Returns memory that is not zeroed, for texts that will be written to it. */
char *arena_bytes(struct arena *arena, size_t size);
void arena_release(struct arena *arena);
/* Frees all objects but keeps the memory for the next ones: an arena that was reset twice and is
 * filled as before allocates no more. */
void arena_reset(struct arena *arena);

/* Returns a NUL-terminated copy; .p is NULL when memory ran out. */
struct str arena_copy(struct arena *arena, struct str text);

/* Returns an array. It is NULL also when count * sizeof(type) overflows. */
void *arena_alloc_array(struct arena *arena, size_t count, size_t size, size_t align);

#define arena_new(arena, type) ((type *)arena_alloc((arena), sizeof(type), alignof(type)))
#define arena_array(arena, type, count) \
    ((type *)arena_alloc_array((arena), (count), sizeof(type), alignof(type)))

#endif
