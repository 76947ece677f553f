/* The arguments of collectives, for kernels of all backends: what ranks must agree on
 * (replay/backend/ranks/ranks.h), the reduction, and who sends how much to whom.
 *
 * The operators are those of torch/csrc/distributed/c10d/Functional.cpp. */
#ifndef SYMTAPE_REPLAY_BACKEND_CALL_COLLECTIVE_ARGS_H
#define SYMTAPE_REPLAY_BACKEND_CALL_COLLECTIVE_ARGS_H

#include "replay/backend/call/kernel.h"
#include "replay/backend/ranks/ranks.h"

/* The parameters of rows of collectives. */
enum collective_kind {
    COLLECTIVE_NONE, /* wait_tensor, which sends nothing */
    COLLECTIVE_REDUCE,
    COLLECTIVE_SCATTER,
    COLLECTIVE_GATHER,
    COLLECTIVE_BROADCAST,
    COLLECTIVE_EXCHANGE
};

/* to_reduce_op() of Functional.cpp. */
enum reduce_op {
    REDUCE_SUM,
    REDUCE_AVG,
    REDUCE_PRODUCT,
    REDUCE_MIN,
    REDUCE_MAX,
    REDUCE_BAND,
    REDUCE_BOR,
    REDUCE_BXOR,
    REDUCE_OPS
};

/* Elements that a rank of an all_to_all sends to each rank of the group, and receives from it. */
struct collective_splits {
    int64_t sends[RANKS_MAX], sends_at[RANKS_MAX];
    int64_t receives[RANKS_MAX], receives_at[RANKS_MAX];
};

/* Returns input i of the call: its first argument, or an item of it; .meta NULL: there is none. */
struct kernel_tensor collective_input(const struct kernel *k, uint32_t i);
/* Reads a call whose backend has a rank. *op is set if it reduces, *splits for COLLECTIVE_EXCHANGE.
 * False: k has failed, for sizes do not fit the group, the dtypes of input and result differ, or
 * nothing here makes that reduction. */
bool collective_read(struct kernel *k, struct kernel_tensor from, struct kernel_tensor to,
                     struct collective *ret, enum reduce_op *op, struct collective_splits *splits);
/* Checks that each rank receives as much as the other one sends. */
bool collective_splits_match(const struct collective_splits *const *splits, uint32_t n,
                             struct err *err);

#endif
