/* Calls without a CUDA kernel: the CPU backend computes them on copies of the storages that they
 * read, and the storages that it writes are copied back to the device. */
#include <string.h>

#include "replay/backend/cuda/runtime/cuda.h"

extern const struct backend_kind backend_cpu;

enum { MAX_NESTING = 8 };

struct host_call {
    struct cuda *cuda;
    const struct backend_call *call;
    struct storages *copies;
    struct err *err;
};

/* ---- Storages ---- */

static bool copy_in(struct host_call *h, uint32_t storage)
{
    struct memory *from = storage_at(h->call->storages, storage);
    if (!from || storage_at(h->copies, storage))
        return true;
    if (!storage_need(h->copies, storage, from->bytes, h->err))
        return false;
    struct memory *to = storage_at(h->copies, storage);
    return cuda_copy_to_host(h->cuda, to->p, (uint64_t)(uintptr_t)from->p, from->bytes, h->err);
}

static bool copy_out(struct host_call *h, uint32_t storage)
{
    struct memory *to = storage_at(h->call->storages, storage);
    struct memory *from = storage_at(h->copies, storage);
    if (!to || !from)
        return true;
    size_t n = from->bytes < to->bytes ? from->bytes : to->bytes;
    return cuda_copy_to_device(h->cuda, (uint64_t)(uintptr_t)to->p, from->p, n, h->err);
}

static bool each_storage(struct host_call *h, const struct kernel_value *v, unsigned depth,
                         bool (*visit)(struct host_call *h, uint32_t storage))
{
    if (v->kind == KERNEL_TENSOR)
        return visit(h, v->u.tensor.storage);
    for (uint32_t i = 0; value_has_items(*v) && depth < MAX_NESTING && i < v->n; i++)
        if (!each_storage(h, &v->u.items[i], depth + 1, visit))
            return false;
    return true;
}

/* Returns whether a storage belongs to a new result, whose contents need not be copied. */
static bool new_result(struct host_call *h, uint32_t storage)
{
    struct memory *device = storage_at(h->call->storages, storage);
    if (!device || storage_at(h->copies, storage))
        return true;
    return storage_need(h->copies, storage, device->bytes, h->err);
}

static bool all_in(struct host_call *h)
{
    for (uint32_t i = 0; i < h->call->op->n_args; i++)
        if (!each_storage(h, &h->call->args[i], 0, copy_in))
            return false;
    return each_storage(h, &h->call->result, 0, new_result);
}

static bool all_out(struct host_call *h)
{
    for (uint32_t i = 0; i < h->call->op->n_args; i++)
        if (h->call->op->args[i].written && !each_storage(h, &h->call->args[i], 0, copy_out))
            return false;
    return each_storage(h, &h->call->result, 0, copy_out);
}

/* ---- One item of a list ---- */

/* Makes the call for one item: its lists become lists of one. */
static bool one_item(struct kernel *scratch, struct backend_call *call, uint32_t item,
                     struct err *err)
{
    uint32_t n = call->op->n_args;
    struct kernel_value *args = arena_array(&scratch->arena, struct kernel_value, (size_t)n + 1);
    if (!args)
        return err_nomem(err);
    for (uint32_t i = 0; i < n; i++) {
        args[i] = call->args[i];
        if (value_has_items(args[i]) && item < args[i].n)
            args[i] = value_of_items(args[i].kind, &args[i].u.items[item], 1);
    }
    call->args = args;
    if (value_has_items(call->result) && item < call->result.n)
        call->result = value_of_items(call->result.kind, &call->result.u.items[item], 1);
    return true;
}

struct backend *cuda_host(struct cuda *cuda, struct err *err)
{
    if (!cuda->host)
        cuda->host = backend_cpu.open(err);
    if (cuda->host) {
        cuda->host->threads = cuda->base.threads;
        cuda->host->rank = cuda->base.rank;
    }
    return cuda->host;
}

bool cuda_host_call(struct cuda *cuda, const struct backend_call *call, uint32_t item,
                    struct err *err)
{
    struct kernel scratch = { 0 };
    struct backend_call on_host = *call;
    struct caller *caller = call->caller;
    double start = clock_us();
    if (cuda->base.unbuilt) /* it would compute nothing with values that are not there */
        return true;
    if (!cuda_host(cuda, err) || !cuda_flush(cuda, err))
        return false;
    if (item != UINT32_MAX && !one_item(&scratch, &on_host, item, err))
        return false;
    struct host_call h = { .cuda = cuda, .call = &on_host, .err = err };
    struct caller *within = caller->kind->open_within(caller, cuda->host, &h.copies, err);
    bool ok = within != NULL;
    if (ok) {
        struct backend_call inner = on_host;
        inner.storages = h.copies;
        inner.caller = within;
        ok = all_in(&h) && cuda->host->kind->call(cuda->host, &inner, err) && all_out(&h);
        caller->kind->close_within(within, caller);
    }
    arena_release(&scratch.arena);
    cuda_log_host(cuda, cuda->base.log.on ? cuda_keep_name(cuda, call->op->base) : NULL, call->node,
                  start);
    return ok;
}
