/* Sizes in device memory: slots that counts are stored in and that kernels read. */
#include <stdio.h>
#include <string.h>

#include "replay/backend/cuda/device/index/sizes.h"
#include "replay/backend/cuda/runtime/cuda.h"

/* Allocates the slots when they are first used. They stay where they are until the context is
 * closed, since captured units contain their addresses. */
static bool slots_ready(struct cuda *cuda, struct err *err)
{
    return cuda->slots || (cuda_may_wait(cuda, "memory for sizes was not allocated before", err) &&
                           cuda_take(cuda, BACKEND_SLOTS * sizeof(int64_t), &cuda->slots, err));
}

void cuda_store_size(struct kernel *k, uint64_t from, bool wide, uint32_t slot)
{
    struct cuda *cuda = cuda_of(k);
    if (!k->failed && !slots_ready(cuda, k->err))
        k->failed = true;
    struct size_args a = { from, cuda->slots + slot * sizeof(int64_t), wide };
    cuda_launch(k, cuda_function(k, "sizes", "size_store", ""),
                (struct cuda_grid){ 1, 1, 1, 32, 0 }, &a, sizeof a);
}

bool cuda_read_sizes(struct backend *backend, int64_t *ret, uint32_t n, struct err *err)
{
    struct cuda *cuda = (struct cuda *)backend;
    if (!cuda->slots || n > BACKEND_SLOTS)
        return err_set(err, ERR_ENV, "there are no sizes on the device");
    return cuda_copy_to_host(cuda, ret, cuda->slots, n * sizeof *ret, err);
}

/* ---- Limits of loops ---- */

bool cuda_extent_leads(struct kernel_tensor x)
{
    const struct kernel_meta *m = x.meta;
    if (!m || !m->extent.is || !m->stride)
        return false;
    uint32_t dim = m->extent.dim;
    for (uint32_t d = 0; d < m->ndim; d++)
        if (d != dim && m->size[d] != 1 &&
            (d < dim || m->stride[d] * (m->size[d] - 1) >= m->stride[dim]))
            return false;
    return true;
}

struct cuda_live cuda_live_of(struct kernel *k, struct kernel_tensor x, int64_t each)
{
    struct cuda_live none = { 0 };
    if (k->failed || !cuda_extent_leads(x) || each <= 0)
        return none;
    return (struct cuda_live){ cuda_of(k)->slots + x.meta->extent.slot * sizeof(int64_t),
                               x.meta->extent.times * each };
}

enum { LIVE_ARGUMENTS = 4096 }; /* the limit of a kernel's */

void cuda_launch_live(struct kernel *k, const char *file, const char *name, const char *defines,
                      struct cuda_grid grid, const void *args, size_t bytes, const char *field,
                      struct cuda_live live)
{
    struct live_count count = { live.at, live.times };
    char text[1024];
    _Alignas(16) unsigned char all[LIVE_ARGUMENTS];
    size_t at = (bytes + 7) / 8 * 8;
    if (!live.at) {
        cuda_launch(k, cuda_function(k, file, name, defines), grid, args, bytes);
        return;
    }
    int n = snprintf(text, sizeof text, "%s#define LIVE_FIELD %s\n", defines, field);
    if (n < 0 || (size_t)n >= sizeof text || at + sizeof count > sizeof all) {
        kernel_fail(k, "kernel %s: too many arguments", name);
        return;
    }
    memcpy(all, args, bytes);
    memcpy(all + at, &count, sizeof count);
    cuda_launch(k, cuda_function(k, file, name, text), grid, all, at + sizeof count);
}
