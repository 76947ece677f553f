#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/backend/cuda/runtime/cuda.h"
#include "replay/backend/ranks/ranks.h"

bool cuda_failures_open(struct cuda *cuda, struct err *err)
{
    struct cuda_failures *f = &cuda->failures;
    size_t bytes = (size_t)CUDA_ERROR_WORDS * 2 * sizeof *f->host;
    void *host = NULL;
    f->nodes = calloc(CUDA_ERROR_WORDS, sizeof *f->nodes);
    f->what = calloc(CUDA_ERROR_WORDS, sizeof *f->what);
    if (!f->nodes || !f->what)
        return err_nomem(err);
    if (!cuda_check(cuda, cuda->driver.allocate_host(&host, bytes), err,
                    "%zu bytes of page-locked memory", bytes))
        return false;
    f->host = host;
    return cuda_take(cuda, bytes, &f->device, err) &&
           cuda_check(cuda, cuda->driver.fill_bytes(f->device, 0, bytes, cuda->stream), err,
                      "clearing memory");
}

void cuda_failures_close(struct cuda *cuda)
{
    struct cuda_failures *f = &cuda->failures;
    if (f->host)
        cuda->driver.release_host(f->host);
    free(f->nodes);
    free(f->what);
    *f = (struct cuda_failures){ 0 };
}

/* ---- Return codes ---- */

bool cuda_is_fatal(int rc)
{
    static const int codes[] = { CU_DEINITIALIZED,
                                 CU_DEVICE_UNAVAILABLE,
                                 CU_ECC_UNCORRECTABLE,
                                 CU_NVLINK_UNCORRECTABLE,
                                 CU_CONTAINED,
                                 CU_ILLEGAL_ADDRESS,
                                 CU_LAUNCH_TIMEOUT,
                                 CU_CONTEXT_DESTROYED,
                                 CU_ASSERT,
                                 CU_UNKNOWN };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (rc == codes[i])
            return true;
    return rc >= CU_HARDWARE_STACK && rc <= CU_LAUNCH_FAILED;
}

bool cuda_usable(struct cuda *cuda, struct err *err)
{
    const struct err *lost = &cuda->failures.lost;
    return !err_is_set(lost) || err_copy(err, lost);
}

/* Stores the error that broke the context. It may belong to an earlier call; the last kernel that
 * was launched is the best guess. */
static void lose(struct cuda *cuda, const struct err *why)
{
    struct cuda_failures *f = &cuda->failures;
    if (err_is_set(&f->lost))
        return;
    err_set(&f->lost, ERR_ENV, "%s; everything that this run had on the device is lost%s%s%s",
            why->text, f->last_what ? "; the last kernel launched was " : "",
            f->last_what ? f->last_what : "",
            f->last_what ? " (CUDA_LAUNCH_BLOCKING=1 shows which one it is)" : "");
    if (f->last_what) {
        cuda->base.late = true;
        cuda->base.late_node = f->last_node;
    }
}

const char *cuda_error_name(struct cuda *cuda, int rc, char ret[CUDA_ERROR_NAME])
{
    const char *name = NULL;
    if (cuda->driver.error_name(rc, &name) != CU_OK || !name)
        name = "an unknown error";
    snprintf(ret, CUDA_ERROR_NAME, "%s %d", name, rc);
    return ret;
}

bool cuda_check(struct cuda *cuda, int rc, struct err *err, const char *format, ...)
{
    const char *text = NULL;
    char name[CUDA_ERROR_NAME];
    struct err why = { 0 };
    char what[300];
    va_list args;
    if (rc == CU_OK)
        return true;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (cuda->driver.error_text(rc, &text) != CU_OK || !text)
        text = "";
    err_set(&why, ERR_ENV, "%s: %s%s%s", what, cuda_error_name(cuda, rc, name), *text ? ": " : "",
            text);
    if (cuda_is_fatal(rc))
        cuda->failures.fatal = rc;
    if (!cuda_is_fatal(rc) || !cuda->context)
        return err_copy(err, &why);
    lose(cuda, &why);
    return cuda_usable(cuda, err);
}

/* ---- Error words ---- */

uint64_t cuda_error_word(struct kernel *k)
{
    struct cuda *cuda = cuda_of(k);
    struct cuda_failures *f = &cuda->failures;
    if (cuda->now->error_word || k->failed)
        return cuda->now->error_word;
    if (f->n == CUDA_ERROR_WORDS && !cuda_settle(cuda, k->err)) {
        k->failed = true;
        return 0;
    }
    f->nodes[f->n] = k->call->node;
    f->what[f->n] = cuda_keep_name(cuda, k->call->op->name);
    cuda->now->error_word = f->device + (uint64_t)f->n++ * 2 * sizeof *f->host;
    return cuda->now->error_word;
}

static bool look_at_words(struct cuda *cuda, uint32_t n, struct err *err)
{
    struct cuda_failures *f = &cuda->failures;
    for (uint32_t i = 0; i < n; i++) {
        if (!f->host[2 * (size_t)i])
            continue;
        cuda->base.late = true;
        cuda->base.late_node = f->nodes[i];
        /* clears all words, also those of other calls */
        cuda_check(
            cuda,
            cuda->driver.fill_bytes(f->device, 0, (size_t)n * 2 * sizeof *f->host, cuda->stream),
            err, "clearing memory");
        return err_set(err, ERR_USAGE, "%s: index %lld is out of range",
                       f->what[i] ? f->what[i] : "an operator",
                       (long long)f->host[2 * (size_t)i + 1]);
    }
    return true;
}

/* How often a stream is queried before the ranks that it may wait for are looked at. */
enum { QUERIES = 4096 };

int cuda_wait_for_stream(struct cuda *cuda)
{
    const struct driver *d = &cuda->driver;
    cuda_batch_end(cuda, NULL);
    if (!cuda->may_end || !d->stream_query)
        return d->stream_wait(cuda->stream);
    for (;;) {
        for (int i = 0; i < QUERIES; i++) {
            int rc = d->stream_query(cuda->stream);
            if (rc != CU_NOT_READY)
                return rc;
        }
        if (!cuda->may_end(cuda))
            return d->stream_wait(cuda->stream);
    }
}

bool cuda_settle(struct cuda *cuda, struct err *err)
{
    struct cuda_failures *f = &cuda->failures;
    uint32_t n = f->n;
    if (!cuda_usable(cuda, err) || !cuda_flush(cuda, err) ||
        !cuda_may_wait(cuda, "the host waits for the device", err) || !cuda_batch_end(cuda, err))
        return false;
    n = f->n;
    if (n && !cuda_check(cuda,
                         cuda->driver.copy_to_host(f->host, f->device,
                                                   (size_t)n * 2 * sizeof *f->host, cuda->stream),
                         err, "reading the errors of kernels"))
        return false;
    rank_yield(cuda->base.rank);
    if (!cuda_check(cuda, cuda_wait_for_stream(cuda), err, "waiting for the device"))
        return false;
    cuda_batches_waited(cuda);
    cuda->staging.at = 0;
    f->n = 0;
    if (err_is_set(&cuda->ended))
        return err_copy(err, &cuda->ended);
    return look_at_words(cuda, n, err) && cuda_times_resolve(cuda, err);
}
