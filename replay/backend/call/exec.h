/* Running calls on a backend, one after the other.
 *
 * The operators' context must answer eagerly (ops_set_eager) with plain sizes. A call goes through
 * its rule, which says what comes out and refuses what PyTorch refuses; then its results get memory
 * and the backend fills it. Operators whose results' sizes depend on data (nonzero, unique ...) are
 * shown their arguments' values by the way of struct tensor's `data`. */
#ifndef SYMTAPE_REPLAY_BACKEND_CALL_EXEC_H
#define SYMTAPE_REPLAY_BACKEND_CALL_EXEC_H

#include "replay/backend/call/backend.h"

/* What is told by an operator's name, looked for once. */
struct op_facts {
    bool known;
    bool has_kernel; /* the backend's; true where it computes nothing */
    bool reads;      /* its rule is shown values of its arguments (value_reads.c) */
};

struct exec {
    struct ops *ops;
    struct backend *backend;
    struct storages storages;
    uint64_t seed, calls;
    uint64_t inner; /* calls that kernels made inside the last one: seeds are the same whatever a
                     * backend makes an operator of */
    uint32_t node;  /* that is being run */
    struct arena values; /* data shown to rules, until the next call from outside */
    uint32_t depth;      /* of calls that kernels make */
    bool within;         /* a call whose parts are run (replay/backend/call/nested_calls.h) */
    uint64_t parts;      /* so many were */
    vec_of(struct op_facts)
    facts; /* by operator */
    /* Numbers that are read from tensors may be invented, all inputs being so: guess is what the
     * next one is taken for, -1: what it is. On a backend that computes nothing all sizes that
     * depend on data are; there -1 is the greatest that it can be, and numbers are 1. */
    bool invents;
    int64_t guess;
    uint32_t guesses; /* so many were */
    /* Shown each call from outside when it is done, with all that it was done with. False stops. */
    bool (*watch)(void *watcher, const struct backend_call *call, struct err *err);
    void *watcher;
};

void exec_init(struct exec *exec, struct ops *ops, struct backend *backend, uint64_t seed);
void exec_release(struct exec *exec);

enum exec_outcome {
    EXEC_DONE,
    EXEC_REFUSED,     /* as PyTorch would: ops_error() */
    EXEC_UNSUPPORTED, /* no rule: ops_error() */
    EXEC_FAILED       /* err */
};
enum exec_outcome exec_call(struct exec *exec, const struct op *op, const struct value *args,
                            uint32_t n, const struct keyword *keywords, uint32_t n_keywords,
                            struct value *ret, struct err *err);

/* Memory for all tensors in it. */
bool exec_give(struct exec *exec, struct value value, struct err *err);
/* What is left of a call when its rule has answered: memory for the results, and their values. */
bool exec_run_bound(struct exec *exec, const struct op *op, const struct schema *schema,
                    const struct value *bound, struct value result, struct err *err);

struct op_facts exec_facts(struct exec *exec, const struct op *op);

/* A call without its rule, for kernels that know what comes out: `result` has memory. */
bool exec_call_into(struct exec *exec, const struct op *op, const struct value *args, uint32_t n,
                    struct value result, struct err *err);

/* Elements in contiguous order, little endian, to and from the tensor's memory, which is made where
 * it has none. bytes: numel times the dtype's size. */
bool exec_read(struct exec *exec, struct tensor x, void *to, size_t bytes, struct err *err);
bool exec_write(struct exec *exec, struct tensor x, const void *from, size_t bytes,
                struct err *err);
/* Element i of an array of that dtype: a number, or for integers and bool the bit. */
void exec_put_number(enum dtype dtype, void *p, size_t i, double number, bool bit);
/* numel times the dtype's size; false: more than there can be. */
bool tensor_bytes(const struct sym_pool *pool, const struct tensor_meta *meta, size_t *ret);

#endif
