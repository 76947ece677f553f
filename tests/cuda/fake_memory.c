#include "tests/cuda/fake.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Multiples of 256 are what the driver gives; the last bytes before the guard page are the block's
 * own as far as 16 allows, the rest is checked when it is freed. */
enum { GUARD_BYTE = 0xa5, ALIGNMENT = 256, QUARANTINE = 1024 };

struct block {
    char *map;
    size_t mapped; /* without the guard page */
    char *address;
    size_t bytes;
};

static struct {
    struct block *blocks;
    size_t n, room;
    size_t bytes;
    struct block freed[QUARANTINE]; /* their addresses are not used again for a while */
    size_t n_freed;
} memory;

static size_t page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static struct block *find(cu_address address)
{
    for (size_t i = memory.n; i-- > 0;) {
        struct block *block = &memory.blocks[i];
        uintptr_t start = (uintptr_t)block->address;
        if (address >= start && address < start + (block->bytes ? block->bytes : 1))
            return block;
    }
    return NULL;
}

void *fake_memory(cu_address address, size_t bytes)
{
    struct block *block = find(address);
    if (!block)
        return NULL;
    size_t offset = (size_t)(address - (uintptr_t)block->address);
    return bytes <= block->bytes - offset ? block->address + offset : NULL;
}

EXPORT int cuMemGetInfo_v2(size_t *free, size_t *total);
EXPORT int cuMemGetInfo_v2(size_t *free, size_t *total)
{
    int error = fake_enter_context(__func__);
    if (error)
        return error;
    *total = (size_t)fake_setting("SYMTAPE_FAKE_MEMORY", (int64_t)8 << 30);
    *free = *total - memory.bytes;
    return CU_OK;
}

static bool map_block(struct block *block, size_t bytes)
{
    size_t whole = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    block->mapped = (whole + page() - 1) / page() * page();
    block->map = mmap(NULL, block->mapped + page(), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block->map == MAP_FAILED)
        return false;
    mprotect(block->map + block->mapped, page(), PROT_NONE);
    block->address = block->map + block->mapped - whole;
    block->bytes = bytes;
    if (fake_idles()) {
        memset(block->map, 0, block->mapped);
        return true;
    }
    memset(block->map, GUARD_BYTE, block->mapped);
    memset(block->address, 0xff, bytes);
    return true;
}

EXPORT int cuMemAlloc_v2(cu_address *ret, size_t bytes);
EXPORT int cuMemAlloc_v2(cu_address *ret, size_t bytes)
{
    int error = fake_enter_context(__func__);
    if (error)
        return error;
    size_t total = (size_t)fake_setting("SYMTAPE_FAKE_MEMORY", (int64_t)8 << 30);
    if (bytes == 0)
        return CU_INVALID_VALUE;
    if (bytes > total || memory.bytes > total - bytes)
        return CU_OUT_OF_MEMORY;
    if (memory.n == memory.room) {
        size_t room = memory.room * 2 + 64;
        struct block *blocks = realloc(memory.blocks, room * sizeof *blocks);
        if (!blocks)
            return CU_OUT_OF_MEMORY;
        memory.blocks = blocks;
        memory.room = room;
    }
    if (!map_block(&memory.blocks[memory.n], bytes))
        return CU_OUT_OF_MEMORY;
    memory.bytes += bytes;
    fake_made(FAKE_MEMORY);
    *ret = (uintptr_t)memory.blocks[memory.n++].address;
    return CU_OK;
}

/* Was something written in front of it or behind its end? */
static bool intact(const struct block *block)
{
    for (const char *p = block->map; p < block->address; p++)
        if (*p != (char)GUARD_BYTE)
            return false;
    for (const char *p = block->address + block->bytes; p < block->map + block->mapped; p++)
        if (*p != (char)GUARD_BYTE)
            return false;
    return true;
}

static void forget(struct block *block)
{
    mprotect(block->map, block->mapped, PROT_NONE);
    madvise(block->map, block->mapped, MADV_DONTNEED);
    struct block *slot = &memory.freed[memory.n_freed++ % QUARANTINE];
    if (slot->map)
        munmap(slot->map, slot->mapped + page());
    *slot = *block;
    memory.bytes -= block->bytes;
    *block = memory.blocks[--memory.n];
}

void fake_forget_memory(void)
{
    while (memory.n)
        forget(&memory.blocks[memory.n - 1]);
    free(memory.blocks);
    memory.blocks = NULL;
    memory.room = 0;
}

EXPORT int cuMemFree_v2(cu_address p);
EXPORT int cuMemFree_v2(cu_address p)
{
    int error = fake_enter_context(__func__);
    if (error)
        return error;
    struct block *block = find(p);
    if (!block || (uintptr_t)block->address != p)
        return CU_INVALID_VALUE;
    bool whole = fake_idles() || intact(block);
    forget(block);
    fake_gone(FAKE_MEMORY);
    if (!whole)
        fake_break(CU_ILLEGAL_ADDRESS);
    return whole ? CU_OK : CU_ILLEGAL_ADDRESS;
}

EXPORT int cuMemAllocHost_v2(void **ret, size_t bytes);
EXPORT int cuMemAllocHost_v2(void **ret, size_t bytes)
{
    int error = fake_enter_context(__func__);
    if (error)
        return error;
    *ret = malloc(bytes ? bytes : 1);
    if (*ret)
        fake_made(FAKE_HOST_MEMORY);
    return *ret ? CU_OK : CU_OUT_OF_MEMORY;
}

EXPORT int cuMemFreeHost(void *p);
EXPORT int cuMemFreeHost(void *p)
{
    int error = fake_enter_context(__func__);
    free(p);
    fake_gone(FAKE_HOST_MEMORY);
    return error;
}

struct range_work {
    void *to;
    const void *from;
    size_t bytes;
    unsigned char byte;
};

static int run_copy(const void *data)
{
    const struct range_work *w = data;
    if (w->bytes)
        memmove(w->to, w->from, w->bytes);
    fake_pass_time((double)w->bytes / 4096);
    return CU_OK;
}

static int run_fill(const void *data)
{
    const struct range_work *w = data;
    if (w->bytes)
        memset(w->to, w->byte, w->bytes);
    return CU_OK;
}

bool fake_is_memset(fake_work *work, const void *data, struct cu_memset_node *ret)
{
    struct range_work w;
    if (work != run_fill)
        return false;
    memcpy(&w, data, sizeof w);
    *ret = (struct cu_memset_node){ .to = (cu_address)(uintptr_t)w.to,
                                    .value = w.byte,
                                    .element = 1,
                                    .width = w.bytes,
                                    .height = 1 };
    return true;
}

static int copy(const char *name, void *to, const void *from, size_t bytes, cu_stream stream)
{
    int error = fake_enter_context(name);
    if (error)
        return error;
    if (bytes && (!to || !from))
        return CU_INVALID_VALUE;
    return fake_submit(stream, run_copy, &(struct range_work){ to, from, bytes, 0 },
                       sizeof(struct range_work));
}

EXPORT int cuMemcpyHtoDAsync_v2(cu_address to, const void *from, size_t bytes, cu_stream stream);
EXPORT int cuMemcpyHtoDAsync_v2(cu_address to, const void *from, size_t bytes, cu_stream stream)
{
    return copy(__func__, fake_memory(to, bytes), from, bytes, stream);
}

EXPORT int cuMemcpyDtoHAsync_v2(void *to, cu_address from, size_t bytes, cu_stream stream);
EXPORT int cuMemcpyDtoHAsync_v2(void *to, cu_address from, size_t bytes, cu_stream stream)
{
    if (fake_idles()) { /* what is there was computed by nobody */
        memset(to, 0, bytes);
        return CU_OK;
    }
    return copy(__func__, to, fake_memory(from, bytes), bytes, stream);
}

EXPORT int cuMemcpyDtoDAsync_v2(cu_address to, cu_address from, size_t bytes, cu_stream stream);
EXPORT int cuMemcpyDtoDAsync_v2(cu_address to, cu_address from, size_t bytes, cu_stream stream)
{
    return copy(__func__, fake_memory(to, bytes), fake_memory(from, bytes), bytes, stream);
}

EXPORT int cuMemsetD8Async(cu_address to, unsigned char byte, size_t n, cu_stream stream);
EXPORT int cuMemsetD8Async(cu_address to, unsigned char byte, size_t n, cu_stream stream)
{
    int error = fake_enter_context(__func__);
    if (error)
        return error;
    void *p = fake_memory(to, n);
    if (n && !p)
        return CU_INVALID_VALUE;
    return fake_submit(stream, run_fill, &(struct range_work){ p, NULL, n, byte },
                       sizeof(struct range_work));
}
