#include <stdlib.h>
#include <string.h>

#include "replay/backend/cuda/runtime/cuda.h"

/* ---- The memory pool ---- */

static bool allocate_chunk(void *user, size_t bytes, uint64_t *ret)
{
    struct cuda *cuda = user;
    cu_address p = 0;
    struct err ignored = { 0 };
    int rc = cuda->driver.allocate(&p, bytes);
    if (cuda_is_fatal(rc))
        cuda_check(cuda, rc, &ignored, "%zu bytes of device memory", bytes);
    *ret = p;
    return rc == CU_OK;
}

static void release_chunk(void *user, uint64_t address)
{
    struct cuda *cuda = user;
    cuda_batch_end(cuda, NULL); /* it may use the chunk */
    cuda->driver.release(address);
}

void cuda_pool_init(struct cuda *cuda, struct memory_pool *pool)
{
    memory_pool_init(pool, (struct memory_pool_source){ allocate_chunk, release_chunk, cuda });
}

static bool take_chunk(void *user, size_t bytes, uint64_t *ret)
{
    struct cuda *cuda = user;
    return memory_pool_get(&cuda->pool, bytes, ret) == MEMORY_POOL_DONE;
}

static void give_chunk_back(void *user, uint64_t address)
{
    struct cuda *cuda = user;
    memory_pool_put(&cuda->pool, address);
}

void cuda_subpool_init(struct cuda *cuda, struct memory_pool *pool)
{
    memory_pool_init(pool, (struct memory_pool_source){ take_chunk, give_chunk_back, cuda });
    pool->keeps_chunks = true;
}

bool cuda_staging_open(struct cuda *cuda, struct err *err)
{
    void *p = NULL;
    if (!cuda_check(cuda, cuda->driver.allocate_host(&p, CUDA_STAGING), err,
                    "%d bytes of page-locked memory", CUDA_STAGING))
        return false;
    cuda->staging = (struct cuda_upload_buffer){ .p = p };
    return true;
}

bool cuda_memory_open(struct cuda *cuda, struct err *err)
{
    cuda_pool_init(cuda, &cuda->pool);
    return cuda_staging_open(cuda, err);
}

void cuda_memory_close(struct cuda *cuda)
{
    if (cuda->staging.p)
        cuda->driver.release_host(cuda->staging.p);
    cuda->staging = (struct cuda_upload_buffer){ 0 };
    if (cuda->pool.source.put)
        memory_pool_release(&cuda->pool);
}

static bool too_much(struct cuda *cuda, size_t bytes, struct err *err)
{
    size_t left = 0, total = 0;
    if (cuda->driver.memory_info(&left, &total) != CU_OK)
        total = cuda->device_memory;
    return err_set(
        err, ERR_ENV,
        "cannot allocate %zu bytes of device memory: %zu of the device's %zu bytes are free, "
        "and this run uses %zu",
        bytes, left, total, cuda->pool.bytes);
}

bool cuda_take(struct cuda *cuda, size_t bytes, uint64_t *ret, struct err *err)
{
    if (!cuda_usable(cuda, err))
        return false;
    cuda_pool(cuda)->budget = cuda->pool.budget = cuda->base.pool.budget;
    int outcome = memory_pool_get(cuda_pool(cuda), bytes, ret);
    if (outcome != MEMORY_POOL_DONE &&
        cuda->pending.flush) { /* pending work keeps the memory that it reads */
        if (!cuda_flush(cuda, err))
            return false;
        outcome = memory_pool_get(cuda_pool(cuda), bytes, ret);
    }
    switch (outcome) {
    case MEMORY_POOL_DONE: return true;
    case MEMORY_POOL_NO_MEMORY: return err_nomem(err);
    default: return cuda_usable(cuda, err) && too_much(cuda, bytes, err);
    }
}

void cuda_give_back(struct cuda *cuda, uint64_t address)
{
    /* the first block of a captured unit's chunk has the address of the chunk in the pool */
    if (!cuda_give_back_captured(cuda, address))
        memory_pool_put(&cuda->pool, address);
}

void cuda_trim(struct backend *backend)
{
    struct cuda *cuda = (struct cuda *)backend;
    struct memory_pool *pool = &cuda->pool;
    struct err ignored = { 0 };
    pool->budget = backend->pool.budget;
    if (!cuda->capture && cuda_usable(cuda, &ignored) && cuda_flush(cuda, &ignored))
        memory_pool_keep_budget(pool);
    backend->pool.kept = pool->reserved;
    backend->pool.peak = pool->reserved_peak;
    backend->pool.taken = pool->taken;
    backend->pool.returned = pool->returned;
    pool->reserved_peak = pool->reserved;
}

bool cuda_scratch(struct cuda *cuda, struct cuda_scratch *scratch, size_t bytes, uint64_t alignment,
                  uint64_t *ret)
{
    struct err ignored = { 0 };
    const uint64_t from = alignment < MEMORY_POOL_ALIGNMENT ? alignment : 0;
    if (bytes > SIZE_MAX - from || !vec_reserve(&scratch->addresses, 1) ||
        !cuda_take(cuda, bytes + (size_t)from, ret, &ignored))
        return false;
    scratch->addresses.v[scratch->addresses.n++] = *ret;
    *ret += from;
    return true;
}

void cuda_scratch_release(struct cuda *cuda, struct cuda_scratch *scratch)
{
    for (size_t i = 0; i < scratch->addresses.n; i++)
        cuda_give_back(cuda, scratch->addresses.v[i]);
    vec_release(&scratch->addresses);
}

/* ---- Copies ---- */

bool cuda_copy_to_device(struct cuda *cuda, uint64_t to, const void *from, size_t bytes,
                         struct err *err)
{
    struct cuda_upload_buffer *s = &cuda->staging;
    bool staged = bytes <= CUDA_STAGING;
    if (bytes == 0)
        return true;
    if (!cuda_usable(cuda, err) || !cuda_batch_end(cuda, err) ||
        (staged && bytes > CUDA_STAGING - s->at && !cuda_settle(cuda, err)))
        return false;
    if (staged) {
        memcpy(s->p + s->at, from, bytes);
        from = s->p + s->at;
        s->at += (bytes + 15) / 16 * 16;
    }
    return cuda_check(cuda, cuda->driver.copy_to_device(to, from, bytes, cuda->stream), err,
                      "copying %zu bytes to the device", bytes) &&
           (staged || cuda_settle(cuda, err));
}

/* A copy behind a collective would block until the collective ends, which another rank's loss may
 * prevent; cuda_settle() looks at the ranks while it waits. */
static bool wait_for_ranks(struct cuda *cuda, struct err *err)
{
    return !cuda->may_end || cuda_settle(cuda, err);
}

bool cuda_copy_to_host(struct cuda *cuda, void *to, uint64_t from, size_t bytes, struct err *err)
{
    if (bytes == 0)
        return true;
    return cuda_usable(cuda, err) && cuda_flush(cuda, err) &&
           cuda_may_wait(cuda, "the host reads values", err) && wait_for_ranks(cuda, err) &&
           cuda_batch_end(cuda, err) &&
           cuda_check(cuda, cuda->driver.copy_to_host(to, from, bytes, cuda->stream), err,
                      "copying %zu bytes from the device", bytes) &&
           cuda_settle(cuda, err);
}

/* ---- For kernels ---- */

uint64_t cuda_address(struct kernel *k, struct kernel_tensor x)
{
    struct cuda *cuda = cuda_of(k);
    struct memory *m = x.meta ? storage_at(k->call->storages, x.storage) : NULL;
    if (k->failed || !x.meta)
        return 0;
    if (!cuda_flush(cuda, k->err)) {
        k->failed = true;
        return 0;
    }
    if (!x.meta->addressable) {
        kernel_fail(k, "a tensor whose strides are not numbers");
        return 0;
    }
    if (x.meta->reach == 0)
        return 0;
    if (!m || m->bytes < x.meta->reach) {
        kernel_fail(k, "a tensor that has no values yet");
        return 0;
    }
    return (uint64_t)(uintptr_t)m->p + (uint64_t)x.meta->offset * dtype_size(x.meta->dtype);
}

static uint64_t take_workspace(struct cuda *cuda, size_t bytes, struct err *err)
{
    uint64_t address;
    if (!cuda_take(cuda, bytes, &address, err))
        return 0;
    if (!vec_push(&cuda->workspaces, address)) {
        cuda_give_back(cuda, address);
        err_nomem(err);
        return 0;
    }
    return address;
}

uint64_t cuda_workspace(struct kernel *k, size_t bytes)
{
    const uint64_t ret = k->failed ? 0 : take_workspace(cuda_of(k), bytes, k->err);
    k->failed |= ret == 0;
    return ret;
}

uint64_t cuda_workspace_optional(struct kernel *k, size_t bytes)
{
    struct cuda *cuda = cuda_of(k);
    struct err ignored = { 0 };
    if (k->failed || !cuda_flush(cuda, k->err)) {
        k->failed = true;
        return 0;
    }
    const uint64_t ret = take_workspace(cuda, bytes, &ignored);
    k->failed = !ret && !cuda_usable(cuda, k->err);
    return ret;
}

size_t cuda_workspaces(const struct kernel *k)
{
    return cuda_of(k)->workspaces.n;
}

void cuda_workspaces_give_back(struct kernel *k, size_t n)
{
    cuda_workspaces_release(cuda_of(k), n);
}

void cuda_workspaces_release(struct cuda *cuda, size_t n)
{
    for (size_t i = n; i < cuda->workspaces.n; i++)
        cuda_give_back(cuda, cuda->workspaces.v[i]);
    cuda->workspaces.n = n;
}

bool cuda_upload(struct kernel *k, uint64_t to, const void *from, size_t bytes)
{
    if (!k->failed && !(cuda_flush(cuda_of(k), k->err) &&
                        cuda_copy_to_device(cuda_of(k), to, from, bytes, k->err)))
        k->failed = true;
    return !k->failed;
}

bool cuda_download(struct kernel *k, void *to, uint64_t from, size_t bytes)
{
    if (!k->failed && !cuda_copy_to_host(cuda_of(k), to, from, bytes, k->err))
        k->failed = true;
    return !k->failed;
}
