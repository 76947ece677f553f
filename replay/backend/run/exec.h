/* The execution of calls on a backend, one after the other. It connects rules and backends.
 *
 * The operators' context must be eager (ops_set_eager) and have sizes that are numbers. The
 * arguments of a call are bound to the operator's schema once. The rule determines the results and
 * refuses what PyTorch refuses; then memory is allocated for the results, arguments and results are
 * converted to numbers (concrete.h), and the backend computes the values. Rules of operators whose
 * results' sizes depend on data (nonzero, unique ...) read their arguments' values from struct
 * tensor's `data` (value_reads.h). */
#ifndef SYMTAPE_REPLAY_BACKEND_RUN_EXEC_H
#define SYMTAPE_REPLAY_BACKEND_RUN_EXEC_H

#include "replay/backend/run/concrete.h"

/* The properties of an operator that exec_call() needs, looked up once. */
struct op_properties {
    bool known;
    bool has_kernel;             /* the backend has a kernel, or computes nothing */
    bool reads;                  /* the rule reads values of its arguments (value_reads.h) */
    bool unfilled;               /* exec_leaves_unfilled() */
    const struct backend_op *op; /* NULL: not called yet */
};

#define EXEC_NO_STORAGE UINT32_MAX

struct exec {
    struct caller caller; /* the part that backends see */
    struct ops *ops;
    struct storages storages;
    struct concrete concrete;
    struct device_sizes sizes;
    uint64_t seed;
    uint64_t inner;      /* calls that kernels made inside the last one; they take no seeds, so that
                            random numbers do not depend on the operators that a backend calls */
    uint32_t node;       /* the one that is being run */
    uint32_t open;       /* calls that are being run, nested in each other */
    struct arena values; /* data that rules read, until the next call from outside */
    /* The storage that nothing uses but the call that is being run; EXEC_NO_STORAGE: not known. A
     * wait_tensor of it takes its memory over, as PyTorch's returns its argument. */
    uint32_t last_used;
    bool within;     /* in a call whose nested calls are run (nested_calls.h) */
    uint64_t nested; /* how many nested calls were run */
    vec_of(struct op_properties)
    properties; /* by operator */
    /* Numbers that are read from tensors may be invented, since all inputs are random. guess is the
     * number that replaces the next one; -1: it is read. A backend that computes nothing invents
     * all sizes that depend on data; there, -1 stands for the largest possible size, and for the
     * number 1. */
    bool invents;
    int64_t guess;
    uint32_t guesses; /* how many numbers were replaced */
    /* Called after each call from outside, with its arguments and results. False stops the run. */
    bool (*watch)(void *watcher, const struct backend_call *call, struct err *err);
    void *watcher;
};

void exec_init(struct exec *exec, struct ops *ops, struct backend *backend, uint64_t seed);
void exec_release(struct exec *exec);

enum exec_outcome {
    EXEC_DONE,
    EXEC_REFUSED,     /* as PyTorch would refuse it: ops_error() */
    EXEC_UNSUPPORTED, /* no rule: ops_error() */
    EXEC_FAILED       /* err */
};
enum exec_outcome exec_call(struct exec *exec, const struct op *op, const struct value *args,
                            uint32_t n, const struct keyword *keywords, uint32_t n_keywords,
                            struct value *ret, struct err *err);

/* Begins an operation of several calls, such as a Python function: its lists and the values that
 * were read live until the next operation from outside begins. exec_call() calls it itself. */
void exec_begin(struct exec *exec);
void exec_end(struct exec *exec);

/* Allocates memory for all tensors in the value. */
bool exec_give(struct exec *exec, struct value value, struct err *err);
/* Does the rest of a call after its rule: allocates the results and computes their values. */
bool exec_run_bound(struct exec *exec, const struct op *op, const struct schema *schema,
                    const struct value *bound, struct value result, struct err *err);
/* Makes the backend's call of bound arguments, for queries before it is run. *args: schema->n_args.
 * False: out of memory. */
bool exec_backend_call(struct exec *exec, const struct op *op, const struct schema *schema,
                       const struct value *bound, struct kernel_value *args,
                       struct backend_call *ret, struct err *err);

/* Returns whether operators of that base name return memory that they do not write. */
bool exec_leaves_unfilled(struct str base);

struct op_properties exec_properties(struct exec *exec, const struct op *op);

/* Computes the bytes from the start of the storage to the end of the tensor. False: ERR_USAGE, a
 * size is not a number, or there are no strides; ERR_ENV, more than 2^63. */
bool exec_reach(struct exec *exec, const struct tensor_meta *meta, size_t *ret, struct err *err);

/* Read and write the elements in contiguous order, little endian; memory is allocated if the tensor
 * has none. bytes: numel times the dtype's size. */
bool exec_read(struct exec *exec, struct tensor x, void *to, size_t bytes, struct err *err);
bool exec_write(struct exec *exec, struct tensor x, const void *from, size_t bytes,
                struct err *err);
/* Sets element i of an array of that dtype: to `number`, or to `bit` for integers and bool. */
void exec_put_number(enum dtype dtype, void *p, size_t i, double number, bool bit);

#endif
