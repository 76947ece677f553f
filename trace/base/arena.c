#include "trace/base/arena.h"

#include <stdint.h>
#include <stdlib.h>

enum { FIRST_BLOCK = 1 << 10, LARGEST_BLOCK = 1 << 20 };

struct arena_block {
    struct arena_block *next;
    size_t size;
    max_align_t data[];
};

#if defined(__SANITIZE_ADDRESS__)
#define ONE_OBJECT_A_BLOCK 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ONE_OBJECT_A_BLOCK 1
#endif
#endif
#ifndef ONE_OBJECT_A_BLOCK
#define ONE_OBJECT_A_BLOCK 0
#endif

static struct arena_block *add_block(struct arena *arena, size_t size)
{
    struct arena_block *block =
        size > SIZE_MAX - sizeof *block ? NULL : malloc(sizeof *block + size);
    if (!block)
        return NULL;
    block->size = size;
    block->next = arena->blocks;
    arena->blocks = block;
    return block;
}

/* Blocks are a quarter of the memory handed out so far, up to LARGEST_BLOCK, so that little of
 * it is never used; a larger request gets its own block after the current one, whose remainder
 * stays in use. */
static void *alloc_slow(struct arena *arena, size_t size)
{
    if (ONE_OBJECT_A_BLOCK || size >= LARGEST_BLOCK / 4) {
        struct arena_block *block = add_block(arena, size);
        return block ? block->data : NULL;
    }
    size_t want = arena->bytes / 4 < FIRST_BLOCK ? FIRST_BLOCK : arena->bytes / 4;
    want = want > LARGEST_BLOCK ? LARGEST_BLOCK : want;
    want = want < size ? size : want;
    struct arena_block *block = add_block(arena, want);
    if (!block)
        return NULL;
    arena->next = (char *)block->data + size;
    arena->end = (char *)block->data + want;
    return block->data;
}

static void *take_from_block(struct arena *arena, size_t size, size_t align)
{
    size_t pad = (size_t)(-(uintptr_t)arena->next & (align - 1));
    size_t left = (size_t)(arena->end - arena->next);
    void *p;
    if (!ONE_OBJECT_A_BLOCK && pad <= left && size <= left - pad && arena->next) {
        p = arena->next + pad;
        arena->next += pad + size;
    } else {
        p = alloc_slow(arena, size);
    }
    if (p)
        arena->bytes += size;
    return p;
}

void *arena_alloc(struct arena *arena, size_t size, size_t align)
{
    void *p = take_from_block(arena, size, align);
    return p ? memset(p, 0, size) : NULL;
}

char *arena_bytes(struct arena *arena, size_t size)
{
    return take_from_block(arena, size, 1);
}

void *arena_alloc_array(struct arena *arena, size_t count, size_t size, size_t align)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    return arena_alloc(arena, bytes, align);
}

struct str arena_copy(struct arena *arena, struct str text)
{
    char *p = text.n < SIZE_MAX ? arena_bytes(arena, text.n + 1) : NULL;
    if (p && text.n)
        memcpy(p, text.p, text.n);
    if (p)
        p[text.n] = '\0';
    return (struct str){ p, p ? text.n : 0 };
}

void arena_reset(struct arena *arena)
{
    struct arena_block *only = arena->blocks;
    size_t total = 0;
    if (!only)
        return;
    for (struct arena_block *block = only; block; block = block->next)
        total += block->size;
    if (only->next || ONE_OBJECT_A_BLOCK) {
        arena_release(arena);
        only = ONE_OBJECT_A_BLOCK ? NULL : add_block(arena, total);
    }
    arena->bytes = 0;
    arena->next = only ? (char *)only->data : NULL;
    arena->end = only ? arena->next + only->size : NULL;
}

void arena_release(struct arena *arena)
{
    struct arena_block *next;
    for (struct arena_block *block = arena->blocks; block; block = next) {
        next = block->next;
        free(block);
    }
    *arena = ARENA_INIT;
}
