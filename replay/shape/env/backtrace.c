#include "replay/shape/env/backtrace.h"

#include <dlfcn.h>
#include <pthread.h>

#include "trace/base/hash.h"

#if defined(__GNUC__)
#define UNCHECKED __attribute__((no_sanitize("address", "undefined"), noinline))
#else
#define UNCHECKED
#endif

/* Finds the bounds of this thread's stack, once a thread: for the main thread that reads /proc. */
static bool find_stack(struct backtraces *table, uintptr_t here)
{
    if (here >= table->stack_low && here < table->stack_end)
        return true;
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return false;
    void *low = NULL;
    size_t size = 0;
    bool ok = pthread_attr_getstack(&attributes, &low, &size) == 0;
    pthread_attr_destroy(&attributes);
    table->stack_low = (uintptr_t)low;
    table->stack_end = (uintptr_t)low + size;
    return ok && here >= table->stack_low && here < table->stack_end;
}

/* Collects return addresses, innermost first. Frames lie at increasing addresses of this thread's
 * stack; the walk ends at one that does not (a library without frame pointers). */
UNCHECKED static uint32_t walk_frames(struct backtraces *table, uintptr_t *addresses)
{
    const uintptr_t *frame = __builtin_frame_address(0);
    uint32_t n = 0;
    if (!find_stack(table, (uintptr_t)frame))
        return 0;
    while (n < BACKTRACE_MAX) {
        uintptr_t next = frame[0], back = frame[1];
        if (back < 4096)
            break;
        addresses[n++] = back;
        if (next <= (uintptr_t)frame || next > table->stack_end - 2 * sizeof(uintptr_t) ||
            next % sizeof(uintptr_t) != 0)
            break;
        frame = (const uintptr_t *)next;
    }
    return n;
}

static uint32_t frame_id(struct backtraces *table, struct backtrace_frame frame)
{
    uint64_t mixed = hash_mix(frame.address, frame.parent);
    uint32_t hash = (uint32_t)(mixed ^ mixed >> 29), id;
    for (size_t at = hash_index_start(&table->index, hash);
         hash_index_next(&table->index, hash, &at, &id);)
        if (table->frames.v[id].address == frame.address &&
            table->frames.v[id].parent == frame.parent)
            return id;
    id = (uint32_t)table->frames.n;
    if (table->frames.n >= BACKTRACE_NONE - 1 || !hash_index_reserve(&table->index, 1) ||
        !vec_push(&table->frames, frame))
        return BACKTRACE_NONE;
    hash_index_add(&table->index, hash, id);
    return id;
}

uint32_t backtrace_capture(struct backtraces *table)
{
    uintptr_t found[BACKTRACE_MAX];
    uint32_t n = walk_frames(table, found);
    if (!n)
        return BACKTRACE_NONE;
    /* The outer frames that are those of the last stack have numbers already. */
    uint32_t same = 0;
    while (same < n && same < table->last_n && found[n - 1 - same] == table->last[same])
        same++;
    uint32_t parent = same ? table->last_ids[same - 1] : BACKTRACE_NONE;
    table->last_n = same;
    for (uint32_t i = same; i < n; i++) {
        uintptr_t address = found[n - 1 - i];
        parent = frame_id(table, (struct backtrace_frame){ address, parent });
        if (parent == BACKTRACE_NONE)
            return BACKTRACE_NONE;
        table->last[i] = address;
        table->last_ids[i] = parent;
        table->last_n = i + 1;
    }
    return parent;
}

void backtraces_release(struct backtraces *table)
{
    vec_release(&table->frames);
    hash_index_release(&table->index);
    *table = (struct backtraces){ 0 };
}

static void print_native_frame(uintptr_t address, struct buf *out)
{
    Dl_info info;
    /* A return address is one past the call, which may be the last instruction of its function. */
    if (!dladdr((void *)(address - 1), &info)) {
        buf_printf(out, "  0x%zx\n", (size_t)address);
        return;
    }
    if (info.dli_sname)
        buf_printf(out, "  %s+0x%zx", info.dli_sname,
                   (size_t)(address - (uintptr_t)info.dli_saddr));
    else
        buf_printf(out, "  0x%zx", (size_t)(address - (uintptr_t)info.dli_fbase));
    struct str file = str_basename(str_of(info.dli_fname ? info.dli_fname : ""));
    buf_printf(out, " (%.*s)\n", STR_ARG(file));
}

void backtrace_print(const struct backtraces *table, uint32_t id, struct buf *out)
{
    for (uint32_t at = id, n = 0; at < table->frames.n && n < BACKTRACE_MAX; n++) {
        print_native_frame(table->frames.v[at].address, out);
        at = table->frames.v[at].parent;
    }
}

uint32_t backtrace_depth(const struct backtraces *table, uint32_t id)
{
    uint32_t n = 0;
    for (uint32_t at = id; at < table->frames.n && n < BACKTRACE_MAX; n++)
        at = table->frames.v[at].parent;
    return n;
}
