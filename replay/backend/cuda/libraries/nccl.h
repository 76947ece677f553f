/* Collectives by NCCL: a communicator for each process group, made by the first collective of it.
 *
 * The ranks are threads of this process that take turns (replay/backend/ranks/ranks.h). The last
 * one to come makes the calls of all ranks between ncclGroupStart() and ncclGroupEnd(), each on the
 * stream of its rank: a call outside of a group may wait for one that another rank makes only when
 * it has the turn. Nothing waits here; buffers stay until the streams are done.
 *
 * When a device is lost, the kernels of NCCL on the others would wait for it for ever. A rank that
 * waits for its stream therefore looks at the other devices of its groups meanwhile, and aborts its
 * communicators if one of them is lost.
 *
 * NCCL is used if each rank of the group has a device of its own. A run that is captured is cut at
 * its collectives, since nodes of NCCL cannot be updated for other sizes: each launch of it makes
 * them between two CUDA graphs, with the same addresses. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_NCCL_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_NCCL_H

#include "replay/backend/call/collective_args.h"
#include "replay/backend/cuda/runtime/kernel.h"

/* A rank's part of a collective: addresses of contiguous elements. */
struct nccl_problem {
    enum collective_kind kind;
    enum reduce_op op;
    uint64_t from, to;
    int64_t sent, received; /* elements */
    const struct collective_splits *splits;
};

/* Returns whether NCCL makes collectives of this dtype and reduction. */
bool nccl_supports(enum dtype dtype, bool reduces, enum reduce_op op);
/* Finds out whether NCCL makes the collectives of the call's group, which all its ranks ask at the
 * same time; *usable is the same for all of them. False: k has failed. */
bool nccl_ready(struct kernel *k, const struct collective *call, bool *usable);
/* Makes the collective: its ranks meet, and its result is queued on each stream. During a capture,
 * the launches of the captured unit do so. False: k has failed. */
bool nccl_exchange(struct kernel *k, struct collective *call, const struct nccl_problem *problem);

#endif
