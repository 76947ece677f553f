/* Collectives between ranks that have devices of their own, by NCCL; the host computes others. */
#include "replay/backend/cuda/libraries/nccl.h"
#include "replay/backend/cuda/runtime/cuda.h"

static bool is_contiguous(struct kernel_tensor x)
{
    int64_t step = 1;
    for (uint32_t i = x.meta->ndim; i-- > 0; step *= x.meta->size[i])
        if (x.meta->size[i] != 1 && x.meta->stride[i] != step)
            return false;
    return true;
}

static int64_t elements_of(struct kernel_tensor x)
{
    int64_t ret = 1;
    for (uint32_t i = 0; i < x.meta->ndim; i++)
        ret *= x.meta->size[i];
    return ret;
}

/* Returns whether NCCL made it; otherwise nothing was done, or k has failed. */
static bool exchange(struct kernel *k, struct kernel_tensor from, struct kernel_tensor to)
{
    struct collective call;
    struct collective_splits splits = { .sends = { 0 } };
    struct nccl_problem problem = { .kind = (enum collective_kind)k->row->param,
                                    .splits = &splits };
    bool usable;
    if (!collective_read(k, from, to, &call, &problem.op, &splits) ||
        !nccl_supports(call.dtype, call.reduce.n > 0, problem.op) || !is_contiguous(to) ||
        !nccl_ready(k, &call, &usable) || !usable)
        return false;
    problem.sent = elements_of(from);
    problem.received = elements_of(to);
    problem.from = cuda_contiguous(k, from);
    problem.to = cuda_address(k, to);
    return !k->failed && nccl_exchange(k, &call, &problem);
}

/* Of a list, the items before one that the host must compute are computed again. */
void cuda_collective(struct kernel *k)
{
    if (k->row->param == COLLECTIVE_NONE) {
        copy_elements(k, collective_input(k, 0), result(k, 0));
        return;
    }
    if (!cuda_of(k)->base.rank) {
        cuda_decline(k);
        return;
    }
    for (uint32_t i = 0; i < n_results(k) && !k->failed; i++) {
        struct kernel_tensor to = result(k, i), from = collective_input(k, i);
        if (from.meta && to.meta && !exchange(k, from, to) && !k->failed)
            cuda_decline(k);
    }
}
