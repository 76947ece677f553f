/* The manual of backends: what runs recorded graphs for real.
 *
 *     struct backend *backend = backend_find(STR("cpu"))->open(&err);
 *     exec_init(&exec, ops, backend, seed);                        replay/backend/run/exec.h
 *     ... exec_call() for each call ...
 *     exec_release(&exec);
 *     backend->kind->close(backend);
 *
 * The operators' rules say what a call gives: its results' sizes, strides and dtypes, and whose
 * storage they share, so a view is nothing to be done and an in-place call writes where its
 * argument lies. A backend is asked for what remains: memory, and the values of the results. It is
 * given the call with numbers for sizes (kernel_value.h), its arguments in the schema's order, and
 * its results' memory. Backends know neither rules nor symbols, and this header includes none of
 * them.
 *
 * One thread at a time. */
#ifndef SYMTAPE_REPLAY_BACKEND_CALL_BACKEND_H
#define SYMTAPE_REPLAY_BACKEND_CALL_BACKEND_H

#include "replay/backend/call/kernel_value.h"
#include "replay/backend/call/storages.h"
#include "trace/base/buf.h"

struct backend;
struct caller;

enum { BACKEND_MAX_ARGS = 64 };

/* What a backend knows of an operator: parts of its schema. */
struct backend_parameter {
    struct str name;
    bool written; /* Tensor(a!) */
};
struct backend_op {
    struct str name, base, overload; /* "aten.add_.Tensor", "add_", "Tensor" */
    uint32_t n_args, n_positional;   /* the first n_positional may be given without a name */
    bool returns_tensors;            /* some result is a tensor, or some argument is written */
    const struct backend_parameter *args;
};

/* A call as it is to be run. Its arguments were bound once, by the caller. */
struct backend_call {
    const struct backend_op *op;
    const struct kernel_value *args; /* op->n_args, defaults filled in */
    struct kernel_value result;      /* its storages have memory */
    struct storages *storages;
    struct caller *caller;
    uint64_t seed; /* of random operators: one a call */
    uint32_t node; /* of the graph that is run, for the log and for errors */
};

/* The caller of a backend, for kernels that are made of other operators
 * (replay/backend/run/exec.h). */
struct caller_kind {
    /* An operator by its name, with positional arguments, run on the caller's backend. Its rule
     * says what comes out. False: err. */
    bool (*call)(struct caller *caller, const char *name, const struct kernel_value *args,
                 uint32_t n, struct kernel_value *ret, struct err *err);
    /* The same without the rule: `result` is what would come out, and has memory. */
    bool (*call_into)(struct caller *caller, const char *name, const struct kernel_value *args,
                      uint32_t n, struct kernel_value result, struct err *err);
    /* x's dtype and bits under another layout. NULL: out of memory. */
    const struct kernel_meta *(*view)(struct caller *caller, const struct kernel_meta *x,
                                      const int64_t *size, const int64_t *stride, uint32_t ndim,
                                      int64_t offset);
    /* A caller whose calls run on another backend, with storages of its own, for a call within one
     * of this caller's: seeds of random operators are the same. NULL: out of memory. close() ends
     * it. */
    struct caller *(*open_within)(struct caller *caller, struct backend *backend,
                                  struct storages **storages, struct err *err);
    void (*close_within)(struct caller *within, struct caller *caller);
};

struct caller {
    const struct caller_kind *kind;
    struct backend *backend;
    uint64_t calls; /* from outside, until now: the number of the one that is being run */
    uint32_t depth; /* of calls that kernels make: 1 in a call from outside */
};

struct backend_kind {
    const char *name, *description;
    bool shapes_only; /* nothing is computed, and what is read is invented */
    bool queues;      /* call() returns before it is done */
    bool on_host; /* calls are done when they return, so to read a value in between costs nothing */
    bool has_tf32; /* it takes struct backend's `tf32` */
    /* What was found (driver, device, libraries, versions), one a line; false: it cannot be used
     * here, and `found` ends with why. */
    bool (*probe)(struct buf *found);
    struct backend *(*open)(struct err *err);
    void (*close)(struct backend *backend); /* NULL is fine */
    /* Bytes that can still be had; 0: not known. NULL: never known. */
    uint64_t (*free_memory)(struct backend *backend);
    /* ERR_ENV where there is not so much: the text says how much was asked for. */
    bool (*allocate)(struct backend *backend, size_t bytes, struct memory *ret, struct err *err);
    void (*release)(struct backend *backend, struct memory *memory);
    bool (*read)(struct backend *backend, const struct memory *from, size_t offset, void *to,
                 size_t bytes, struct err *err);
    bool (*write)(struct backend *backend, struct memory *to, size_t offset, const void *from,
                  size_t bytes, struct err *err);
    /* What the rule of the call, of which there is no result yet, would find in the values of its
     * argument x (struct tensor's `counted`), so that they need not be read. *known stays false
     * where the backend does not count that. NULL: never. */
    bool (*count)(struct backend *backend, const struct backend_call *call, struct kernel_tensor x,
                  int64_t *ret, bool *known, struct err *err);
    /* False: ERR_USAGE, the values make it impossible (an index out of range), or there is no
     * kernel; ERR_ENV. */
    bool (*call)(struct backend *backend, const struct backend_call *call, struct err *err);
    /* Is there a kernel for operators of that base name ("add_")? Where there is none, an
     * operator's values are those of the calls that its rule makes
     * (replay/backend/run/nested_calls.h). NULL: nothing is computed. */
    bool (*has)(struct backend *backend, struct str base);
    /* All calls are done; an error of one of them that came late names its node. */
    bool (*wait)(struct backend *backend, struct err *err);
};

/* One launch: a kernel, a routine of a library, or a call that the CPU runs. A fused kernel stands
 * for several nodes. */
struct backend_launch {
    const char *what;             /* the kernel's name; owned by the backend, until close() */
    uint32_t first_node, n_nodes; /* in backend_log.nodes */
    double start, us;             /* since the log was switched on; filled in by wait() */
    uint64_t bytes, flops;        /* read and written; 0: not known */
    bool on_host;                 /* no kernel of the backend: computed by the CPU's */
};

/* What was launched, for profiles. Times are taken only while it is on. */
struct backend_log {
    bool on;
    vec_of(struct backend_launch)
    launches;
    vec_of(uint32_t)
    nodes;
    /* What is done once, counted always: */
    uint64_t compiled, compile_ns; /* kernels compiled, not found in a cache */
    uint64_t opened, open_ns;      /* libraries */
    uint64_t loaded, load_ns;      /* kernels given to the device */
    uint64_t planned, plan_ns;     /* calls of libraries prepared for their sizes */
    uint64_t tried, try_ns;        /* plans of libraries that were timed to choose among them */
};

struct backend {
    const struct backend_kind *kind;
    unsigned threads; /* of the host, at most, from the first call on; 0: as many as processors */
    /* Set by who opened it: matmuls and convolutions of f32 may use TF32 inputs, where
     * the backend has that (torch.backends.cuda.matmul.allow_tf32,
     * torch.backends.cudnn.allow_tf32). */
    bool tf32;
    bool lacks_kernel; /* the call that failed was one of an operator that it has none of */
    /* The error that wait(), read() or a call ended with is that of an earlier call, of this node.
     */
    bool late;
    uint32_t late_node;
    struct backend_log log;
    struct err
        without; /* what it goes without though it is there, and why; who opened it tells it */
};

/* Adds one of the node; the caller fills in times. NULL: memory ran out, or the log is off. */
struct backend_launch *backend_log_add(struct backend_log *log, const char *what, uint32_t node);
void backend_log_release(struct backend_log *log);

extern const struct backend_kind *const backend_kinds[];  /* NULL ends it */
const struct backend_kind *backend_find(struct str name); /* NULL: there is none of that name */

#endif
