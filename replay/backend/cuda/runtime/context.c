/* The device's primary context and its contents. An invalid access by a kernel breaks the context;
 * it is created again once no memory of the old one is in use, so that the next run works.
 *
 * Drivers need not allow that. Driver 580 on an H200 answers CUDA_ERROR_ILLEGAL_ADDRESS to every
 * call of the process from then on, also after the context was released, reset or created again.
 * Whether a new context works is therefore found by waiting for a command in it. */
#include "replay/backend/cuda/runtime/cuda.h"

static bool is_busy(const struct cuda *cuda, struct err *err)
{
    return err_set(err, ERR_ENV, "device %s is busy%s", cuda->device_name,
                   cuda->compute_mode == 3   ? ": its mode allows one process at a time, and "
                                               "another has it"
                   : cuda->compute_mode == 2 ? ": its mode allows no process to compute on it"
                                             : " or cannot be used");
}

static bool retain(struct cuda *cuda, struct err *err)
{
    const struct driver *d = &cuda->driver;
    cu_context context = NULL;
    int rc = d->context_retain(&context, cuda->device);
    if (rc == CU_DEVICE_UNAVAILABLE)
        return is_busy(cuda, err);
    if (rc == CU_OUT_OF_MEMORY)
        return err_set(err, ERR_ENV,
                       "device %s has no memory left for a context; other "
                       "processes use it",
                       cuda->device_name);
    if (!cuda_check(cuda, rc, err, "device %s: its context", cuda->device_name))
        return false;
    cuda->context = context;
    return cuda_check(cuda, d->context_use(context), err, "using the context") &&
           cuda_check(cuda, d->stream_create(&cuda->stream, CU_STREAM_NON_BLOCKING), err,
                      "making a stream");
}

/* Waits for the commands that opening it queued: until then a broken context may seem to work. */
static bool probe(struct cuda *cuda, struct err *err)
{
    return cuda_check(cuda, cuda_wait_for_stream(cuda), err, "waiting for a new context");
}

bool cuda_context_open(struct cuda *cuda, struct err *err)
{
    struct err why = { 0 };
    cuda->failures.fatal = CU_OK;
    if (retain(cuda, &why) && cuda_memory_open(cuda, &why) && cuda_failures_open(cuda, &why) &&
        cuda_batches_open(cuda, &why) && probe(cuda, &why))
        return true;
    if (cuda->failures.fatal == CU_OK) {
        *err = why;
        return false;
    }
    char name[CUDA_ERROR_NAME];
    return err_set(err, ERR_ENV,
                   "the driver does not let this process use device %s: a new context fails at "
                   "once with %s; run symtape again",
                   cuda->device_name, cuda_error_name(cuda, cuda->failures.fatal, name));
}

/* Closes the context. The contents of a broken one cannot be destroyed and are freed by its reset:
 * other code of the process (the libraries' runtime) retains the primary context, too, so that
 * releasing it does not end it. */
void cuda_context_close(struct cuda *cuda)
{
    bool lost = err_is_set(&cuda->failures.lost);
    if (cuda->pending.close)
        cuda->pending.close(cuda);
    cuda_captured_close(cuda);
    if (cuda->stream)
        cuda_wait_for_stream(cuda);
    cuda_batches_close(cuda);
    vec_release(&cuda->signatures);
    for (size_t i = 0; i < LIBRARIES; i++) {
        if (cuda->library_close[i])
            cuda->library_close[i](cuda);
        cuda->library_refine[i] = NULL;
        cuda->library_close[i] = NULL; /* so that it is opened again when it is needed */
    }
    cuda_counts_forget(cuda);
    cuda_times_close(cuda);
    cuda_modules_close(cuda);
    cuda_failures_close(cuda);
    cuda->slots = 0;
    cuda_memory_close(cuda);
    if (cuda->stream)
        cuda->driver.stream_destroy(cuda->stream);
    if (cuda->context && lost && cuda->driver.context_reset)
        cuda->driver.context_reset(cuda->device);
    if (cuda->context)
        cuda->driver.context_release(cuda->device);
    cuda->stream = NULL;
    cuda->context = NULL;
}

/* Creates the context again. A device that is busy is tried again by the next run; one on which a
 * new context fails at once does not come back. */
static bool remake(struct cuda *cuda, struct err *err)
{
    struct err lost = cuda->failures.lost, why = { 0 };
    cuda_context_close(cuda);
    cuda->base.late = false;
    if (cuda_context_open(cuda, &why))
        return true;
    bool gone = cuda->failures.fatal != CU_OK;
    err_set(err, ERR_ENV, "the device was lost (%.400s), and a new context cannot be made: %s",
            lost.text, why.text);
    cuda_context_close(cuda);
    cuda->failures.lost = gone ? *err : lost;
    cuda->failures.gone = gone;
    return false;
}

bool cuda_context_ready(struct cuda *cuda, struct err *err)
{
    const struct cuda_failures *f = &cuda->failures;
    if (!err_is_set(&f->lost) || f->gone || cuda->lent)
        return cuda_usable(cuda, err);
    return remake(cuda, err);
}
