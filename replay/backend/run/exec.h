/* Running calls on a backend, one after the other: the door between rules and backends.
 *
 * The operators' context must answer eagerly (ops_set_eager) with sizes that are numbers. The
 * arguments of a call are bound to the operator's schema once. The rule says what comes out and
 * refuses what PyTorch refuses; then the results get memory, arguments and results become numbers
 * (concrete.h), and the backend fills the memory. Rules of operators whose results' sizes depend on
 * data (nonzero, unique ...) read their arguments' values from struct tensor's `data`
 * (value_reads.h). */
#ifndef SYMTAPE_REPLAY_BACKEND_RUN_EXEC_H
#define SYMTAPE_REPLAY_BACKEND_RUN_EXEC_H

#include "replay/backend/run/concrete.h"

/* What an operator's name says, looked up once. */
struct op_properties {
    bool known;
    bool has_kernel;             /* the backend's; true where it computes nothing */
    bool reads;                  /* its rule reads values of its arguments (value_reads.h) */
    const struct backend_op *op; /* NULL: not called yet */
};

struct exec {
    struct caller caller; /* what backends see of this */
    struct ops *ops;
    struct storages storages;
    struct concrete concrete;
    uint64_t seed;
    uint64_t inner; /* calls that kernels made inside the last one: seeds are the same whatever a
                     * backend makes an operator of */
    uint32_t node;  /* that is being run */
    uint32_t open;  /* calls that are being run, within each other */
    struct arena values; /* data that rules read, until the next call from outside */
    bool within;         /* a call whose nested calls are run (nested_calls.h) */
    uint64_t nested;     /* so many were */
    vec_of(struct op_properties)
    properties; /* by operator */
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

/* Around what is made of several calls, such as a Python function: lists and read values of all of
 * them live until the next one from outside begins. exec_call() does it for itself. */
void exec_begin(struct exec *exec);
void exec_end(struct exec *exec);

/* Memory for all tensors in it. */
bool exec_give(struct exec *exec, struct value value, struct err *err);
/* What is left of a call when its rule has answered: memory for the results, and their values. */
bool exec_run_bound(struct exec *exec, const struct op *op, const struct schema *schema,
                    const struct value *bound, struct value result, struct err *err);
/* The backend's call of bound arguments, for what is asked before it is run. *args: schema->n_args.
 * False: out of memory. */
bool exec_backend_call(struct exec *exec, const struct op *op, const struct schema *schema,
                       const struct value *bound, struct kernel_value *args,
                       struct backend_call *ret, struct err *err);

struct op_properties exec_properties(struct exec *exec, const struct op *op);

/* Bytes that the tensor reaches from the start of its storage. False: ERR_USAGE, a size without a
 * number, or no strides; ERR_ENV, more than 2^63. */
bool exec_reach(struct exec *exec, const struct tensor_meta *meta, size_t *ret, struct err *err);

/* Elements in contiguous order, little endian, to and from the tensor's memory, which is made where
 * it has none. bytes: numel times the dtype's size. */
bool exec_read(struct exec *exec, struct tensor x, void *to, size_t bytes, struct err *err);
bool exec_write(struct exec *exec, struct tensor x, const void *from, size_t bytes,
                struct err *err);
/* Element i of an array of that dtype: a number, or for integers and bool the bit. */
void exec_put_number(enum dtype dtype, void *p, size_t i, double number, bool bit);

#endif
