/* The null backend computes nothing: it counts calls and the memory that they would need. Values
 * that are read are invented: every element is one. */
#include <stdlib.h>
#include <string.h>

#include "replay/backend/call/backend.h"

static bool null_probe(struct buf *found)
{
    buf_puts(found, "sizes, calls and memory; nothing is computed\n");
    return true;
}

static void null_close(struct backend *backend)
{
    if (backend)
        backend_log_release(&backend->log);
    free(backend);
}

/* Succeeds for any size and allocates nothing. */
static bool null_allocate(struct backend *backend, size_t bytes, struct memory *ret,
                          struct err *err)
{
    (void)err;
    *ret = (struct memory){ .p = backend, .bytes = bytes };
    return true;
}

static void null_release(struct backend *backend, struct memory *memory)
{
    (void)backend, (void)memory;
}

static bool null_read(struct backend *backend, const struct memory *from, size_t offset, void *to,
                      size_t bytes, struct err *err)
{
    (void)backend, (void)from, (void)offset, (void)err;
    memset(to, 1, bytes);
    return true;
}

static bool null_write(struct backend *backend, struct memory *to, size_t offset, const void *from,
                       size_t bytes, struct err *err)
{
    (void)backend, (void)to, (void)offset, (void)from, (void)bytes, (void)err;
    return true;
}

static bool null_call(struct backend *backend, const struct backend_call *call, struct err *err)
{
    (void)backend, (void)call, (void)err;
    return true;
}

static bool null_wait(struct backend *backend, struct err *err)
{
    (void)backend, (void)err;
    return true;
}

static struct backend *null_open(struct err *err);

const struct backend_kind backend_null = {
    .name = "null",
    .description = "sizes only: memory is counted, nothing is computed",
    .shapes_only = true,
    .probe = null_probe,
    .open = null_open,
    .close = null_close,
    .allocate = null_allocate,
    .release = null_release,
    .read = null_read,
    .write = null_write,
    .call = null_call,
    .wait = null_wait,
};

static struct backend *null_open(struct err *err)
{
    struct backend *backend = calloc(1, sizeof *backend);
    if (!backend)
        return err_nomem(err), NULL;
    backend->kind = &backend_null;
    return backend;
}
