/* Sizes that stay on the device.
 *
 * Operators whose results' sizes depend on data (nonzero, masked_select, unique ...) count on the
 * device. With device sizes, the host does not read the count: the rule gives the result a symbol,
 * the backend stores the count in a slot of device memory, and memory and grids are made for the
 * greatest value that the symbol can have. Kernels read the slot, and threads beyond it do
 * nothing. device_sizes_learn() reads all slots at once: at the end of a run, or before a call that
 * needs a number (struct host_need), since its kernel, or a library, takes sizes from the host.
 *
 * A tensor has at most one such dimension, whose size is a symbol or a multiple of one. Its strides
 * and its offset are numbers, those of the greatest size; so elements stay where they are when the
 * size becomes known, and only the size in the meta changes. */
#ifndef SYMTAPE_REPLAY_BACKEND_RUN_SIZES_DEVICE_SIZES_H
#define SYMTAPE_REPLAY_BACKEND_RUN_SIZES_DEVICE_SIZES_H

#include "replay/backend/call/backend.h"
#include "replay/ops/dispatch/ops.h"

struct exec;

struct device_size {
    sym_id symbol;
    uint32_t node;  /* whose call counts it */
    int64_t most;   /* the greatest value, for which memory is allocated; -1: there is no bound, so
                     * the host learns the size at once, and this is its value then */
    int64_t value;  /* once it is known */
    uint64_t bytes; /* of the tensors that were allocated for it, for each unit of the size */
    bool known;
};

/* A call before which the host had to learn sizes. */
struct host_need {
    uint32_t node;
    struct str op;
    const char *why;
};

struct device_assert {
    uint32_t node;
    sym_id condition;
};

struct device_sizes {
    bool on;
    vec_of(struct device_size)
    all; /* by slot */
    vec_of(struct host_need)
    needs;
    vec_of(struct device_assert)
    asserts;        /* conditions of such sizes, which are checked when these are known */
    uint32_t reads; /* how often the host waited for slots */
    /* Returns the greatest value that was recorded for a size that this node makes; -1: none. */
    int64_t (*most)(void *user, uint32_t node);
    void *user;
};

void device_sizes_release(struct device_sizes *sizes);
/* Forgets all sizes, before the next run. */
void device_sizes_reset(struct device_sizes *sizes);
/* Forgets their values only, before calls that were captured are launched again. */
void device_sizes_begin(struct device_sizes *sizes);

/* A size expression that the device knows. */
struct device_extent {
    uint32_t slot;
    int64_t times, most; /* the size is times * slot's value; most: at its greatest value */
};
/* False: it is none. */
bool device_extent_of(const struct device_sizes *sizes, const struct sym_pool *pool, sym_id size,
                      struct device_extent *ret);

/* Replaces sizes in the value that are known by now. *left: it has others. False: out of memory. */
bool device_sizes_resolve(struct exec *exec, struct value *value, bool *left);
/* Does the same with n values. */
bool device_sizes_resolve_all(struct exec *exec, struct value *values, uint32_t n, bool *left);
/* Waits for the device and reads all slots. `op`: the operator that needs them, and why; an empty
 * one: the run is over. Fails if an assert of them is false. */
bool device_sizes_learn(struct exec *exec, struct str op, const char *why, struct err *err);
/* Prepares the result of a rule: its new symbols belong to `slot` (BACKEND_NO_SLOT: nothing was
 * counted), and its strides become numbers. *needs: the reason why the sizes have to be learnt
 * before the call; NULL: none. False: out of memory. */
bool device_sizes_take(struct exec *exec, uint32_t slot, struct value *result, const char **needs);
/* Returns the slot for the next size; BACKEND_NO_SLOT: there is none. */
uint32_t device_sizes_slot(const struct device_sizes *sizes);
/* Returns whether the operator checks a condition of sizes, and notes that for later. */
bool device_sizes_defer(struct exec *exec, struct str base, const struct value *bound,
                        bool *deferred);

#endif
