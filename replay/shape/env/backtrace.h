/* The native stack of the engine itself, as raw return addresses.
 *
 * Capturing walks frame pointers (replay is built with -fno-omit-frame-pointer) inside this
 * thread's stack, formats nothing and allocates only for a stack that was not seen before: stacks
 * are stored as a trie of addresses from the outermost frame inwards, so that equal ones have the
 * same number. Names are looked up when a stack is printed. */
#ifndef SYMTAPE_REPLAY_SHAPE_ENV_BACKTRACE_H
#define SYMTAPE_REPLAY_SHAPE_ENV_BACKTRACE_H

#include "trace/base/buf.h"
#include "trace/base/hash_index.h"
#include "trace/base/vec.h"

#define BACKTRACE_NONE UINT32_MAX

enum { BACKTRACE_MAX = 64 }; /* frames; the innermost ones are stored */

struct backtrace_frame {
    uintptr_t address;
    uint32_t parent; /* the next outer frame, or BACKTRACE_NONE */
};

struct backtraces {
    vec_of(struct backtrace_frame)
    frames;
    struct hash_index index; /* of frames */
    /* The last stack, with which the next one is compared. */
    uintptr_t last[BACKTRACE_MAX];
    uint32_t last_ids[BACKTRACE_MAX];
    uint32_t last_n;
    uintptr_t stack_low, stack_end; /* the stack of the thread that captured last */
};

/* Returns the caller's stack, or BACKTRACE_NONE without frame pointers or when out of memory. A
 * table belongs to one thread. */
uint32_t backtrace_capture(struct backtraces *table);
void backtraces_release(struct backtraces *table);
/* Prints a line for each frame, the innermost first: "  function+0x12 (library)". */
void backtrace_print(const struct backtraces *table, uint32_t id, struct buf *out);
uint32_t backtrace_depth(const struct backtraces *table, uint32_t id);

#endif
