/* The CPU backend, the reference that other backends are compared with. */
#include <stdlib.h>
#include <string.h>

#include "replay/backend/cpu/cpu.h"
#include "replay/backend/cpu/free_memory.h"
#include "replay/backend/cpu/kernel.h"
#include "trace/base/clock.h"

static bool cpu_probe(struct buf *found)
{
    buf_puts(found, "float64 throughout, one order of operations, bit-stable\n");
    return true;
}

static struct backend *cpu_open(struct err *err);

static void cpu_close(struct backend *backend)
{
    if (!backend)
        return;
    cpu_threads_free(((struct cpu *)backend)->threads);
    backend_log_release(&backend->log);
    free(backend);
}

static uint64_t cpu_free_memory_of(struct backend *backend)
{
    (void)backend;
    return cpu_free_memory();
}

static bool cpu_allocate(struct backend *backend, size_t bytes, struct memory *ret, struct err *err)
{
    (void)backend;
    void *p = calloc(1, bytes + 1);
    if (!p)
        return err_set(err, ERR_ENV, "cannot allocate %zu bytes of memory", bytes);
    *ret = (struct memory){ .p = p, .bytes = bytes };
    return true;
}

static void cpu_release(struct backend *backend, struct memory *memory)
{
    (void)backend;
    free(memory->p);
}

static bool cpu_read(struct backend *backend, const struct memory *from, size_t offset, void *to,
                     size_t bytes, struct err *err)
{
    (void)backend, (void)err;
    memcpy(to, (const char *)from->p + offset, bytes);
    return true;
}

static bool cpu_write(struct backend *backend, struct memory *to, size_t offset, const void *from,
                      size_t bytes, struct err *err)
{
    (void)backend, (void)err;
    memcpy((char *)to->p + offset, from, bytes);
    return true;
}

static bool cpu_call(struct backend *backend, const struct backend_call *call, struct err *err)
{
    struct kernel k = { .call = call, .err = err };
    if (!kernel_computes(&k))
        return true;
    k.row = kernel_row_find(&((struct cpu *)backend)->kernels, call->op->base);
    backend->lacks_kernel = !k.row;
    if (!k.row)
        return err_set(err, ERR_USAGE, "%.*s: backend cpu has no kernel", STR_ARG(call->op->name));
    bool logged = backend->log.on &&
                  call->caller->depth <= 1; /* calls inside another one are part of its launch */
    double start = logged ? clock_us() : 0;
    if (str_starts(call->op->base, STR("_foreach_")))
        run_foreach(&k);
    else
        k.row->run(&k);
    arena_release(&k.arena);
    struct backend_launch *launch =
        logged ? backend_log_add(&backend->log, k.row->base, call->node) : NULL;
    if (launch) {
        launch->start = start;
        launch->us = clock_us() - start;
    }
    return !k.failed || err_at(err, "%.*s", STR_ARG(call->op->name));
}

static bool cpu_has(struct backend *backend, struct str base)
{
    return kernel_row_find(&((struct cpu *)backend)->kernels, base) != NULL;
}

static bool cpu_wait(struct backend *backend, struct err *err)
{
    (void)backend, (void)err;
    return true;
}

const struct backend_kind backend_cpu = {
    .name = "cpu",
    .description = "reference: every operator straightforward, in float64",
    .on_host = true,
    .probe = cpu_probe,
    .open = cpu_open,
    .close = cpu_close,
    .free_memory = cpu_free_memory_of,
    .allocate = cpu_allocate,
    .release = cpu_release,
    .read = cpu_read,
    .write = cpu_write,
    .call = cpu_call,
    .has = cpu_has,
    .wait = cpu_wait,
};

static struct backend *cpu_open(struct err *err)
{
    struct cpu *cpu = calloc(1, sizeof *cpu);
    if (!cpu)
        return err_nomem(err), NULL;
    cpu->base.kind = &backend_cpu;
    cpu_kernels(&cpu->kernels);
    cpu->threads = cpu_threads_new();
    return &cpu->base;
}
