/* The manual of backends: a backend runs recorded graphs for real.
 *
 *     struct backend *backend = backend_find(STR("cpu"))->open(&err);
 *     exec_init(&exec, ops, backend, seed);                        replay/backend/run/exec.h
 *     ... exec_call() for each call ...
 *     exec_release(&exec);
 *     backend->kind->close(backend);
 *
 * The operators' rules compute the sizes, strides and dtypes of a call's results and which storage
 * they share, so a view needs no work, and an in-place call writes to the memory of its argument. A
 * backend allocates memory and computes the values of the results. It is given the call with
 * numbers for sizes (kernel_value.h), its arguments in the schema's order, and the memory of its
 * results. Backends know neither rules nor symbols, and this header includes none of them.
 *
 * A backend is used by one thread at a time. */
#ifndef SYMTAPE_REPLAY_BACKEND_CALL_BACKEND_H
#define SYMTAPE_REPLAY_BACKEND_CALL_BACKEND_H

#include "replay/backend/call/kernel_value.h"
#include "replay/backend/call/storages.h"
#include "trace/base/buf.h"

struct backend;
struct caller;
struct captured;
struct rank;

enum { BACKEND_MAX_ARGS = 64, BACKEND_SLOTS = 256 };
#define BACKEND_NO_SLOT UINT32_MAX

/* The parts of an operator's schema that backends need. */
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

/* A call that a backend runs. The caller has bound its arguments once. */
struct backend_call {
    const struct backend_op *op;
    const struct kernel_value *args; /* op->n_args, defaults filled in */
    struct kernel_value result;      /* its storages have memory */
    struct storages *storages;
    struct caller *caller;
    uint64_t seed; /* of random operators: each call has its own */
    uint32_t node; /* of the graph that is run, for the log and for error messages */
};

/* The caller of a backend, for kernels that are made of other operators
 * (replay/backend/run/exec.h). */
struct caller_kind {
    /* Runs the operator of that name, with positional arguments, on the caller's backend. The
     * operator's rule determines the result. Returns false and sets err on failure. */
    bool (*call)(struct caller *caller, const char *name, const struct kernel_value *args,
                 uint32_t n, struct kernel_value *ret, struct err *err);
    /* Does the same without the rule: `result` has the sizes and the memory of the result. */
    bool (*call_into)(struct caller *caller, const char *name, const struct kernel_value *args,
                      uint32_t n, struct kernel_value result, struct err *err);
    /* Returns x's dtype and bits under another layout; NULL: out of memory. */
    const struct kernel_meta *(*view)(struct caller *caller, const struct kernel_meta *x,
                                      const int64_t *size, const int64_t *stride, uint32_t ndim,
                                      int64_t offset);
    /* Returns a caller whose calls run on another backend, with storages of its own, for a call
     * inside one of this caller's. Both use the same seeds for random operators. close() frees it.
     * NULL: out of memory. */
    struct caller *(*open_within)(struct caller *caller, struct backend *backend,
                                  struct storages **storages, struct err *err);
    void (*close_within)(struct caller *within, struct caller *caller);
};

struct caller {
    const struct caller_kind *kind;
    struct backend *backend;
    uint64_t calls; /* calls from outside until now, which is the number of the current one */
    uint32_t depth; /* nesting of calls that kernels make: 1 in a call from outside */
};

/* What a backend is opened with. */
struct backend_setup {
    uint32_t device;    /* from 0 on */
    unsigned threads;   /* limit of threads of the host, from the first call on; 0: as many as
                           processors */
    const char *worker; /* a symtape whose processes may compile kernels; NULL: none */
    bool prepares;      /* they are started at once if no kernel is compiled yet, since calls that
                           can be made again follow (struct backend's `repeats`) */
};

struct backend_kind {
    const char *name, *description;
    bool shapes_only; /* nothing is computed, and values that are read are invented */
    bool queues;      /* call() returns before it is done */
    bool on_host;     /* calls are done when they return, so that reading a value in between costs
                         nothing */
    bool has_tf32;    /* struct backend's `tf32` has an effect */
    /* Appends what was found (driver, device, libraries, versions), one per line. Returns false if
     * the backend cannot be used here; then `found` ends with the reason. */
    bool (*probe)(struct buf *found);
    struct backend *(*open)(struct err *err);
    /* Opens the backend on one of several devices; *n gets how many there are. open() uses device
     * 0. NULL: the backend has no devices. */
    struct backend *(*open_on)(const struct backend_setup *setup, struct err *err);
    bool (*devices)(uint32_t *n, struct err *err);
    void (*close)(struct backend *backend); /* NULL is fine */
    /* Returns the bytes that can still be allocated; 0: unknown. NULL: it is never known. */
    uint64_t (*free_memory)(struct backend *backend);
    /* ERR_ENV: there is not enough memory; the text contains the size of the request. */
    bool (*allocate)(struct backend *backend, size_t bytes, struct memory *ret, struct err *err);
    void (*release)(struct backend *backend, struct memory *memory);
    bool (*read)(struct backend *backend, const struct memory *from, size_t offset, void *to,
                 size_t bytes, struct err *err);
    bool (*write)(struct backend *backend, struct memory *to, size_t offset, const void *from,
                  size_t bytes, struct err *err);
    /* Counts, without reading them, the values of the argument x that the rule of this call needs
     * (struct tensor's `counted`); the call has no result yet. *known stays false if the backend
     * cannot count them. slot: BACKEND_NO_SLOT, or where the count stays on the device, so that
     * nothing is waited for and *ret is not set. NULL: it never can. */
    bool (*count)(struct backend *backend, const struct backend_call *call, struct kernel_tensor x,
                  uint32_t slot, int64_t *ret, bool *known, struct err *err);
    /* Returns whether the call computes its result if sizes of its arguments are known to the
     * device only (struct kernel_extent); the call has no result yet. NULL: none does, and counts
     * have no slots. */
    bool (*takes_extents)(struct backend *backend, const struct backend_call *call);
    /* Waits, and reads the first n slots. */
    bool (*read_sizes)(struct backend *backend, int64_t *ret, uint32_t n, struct err *err);
    /* Runs the call. False: ERR_USAGE, the values make it impossible (an index out of range) or
     * there is no kernel; ERR_ENV. */
    bool (*call)(struct backend *backend, const struct backend_call *call, struct err *err);
    /* Returns whether there is a kernel for operators of that base name ("add_"). An operator
     * without one gets its values from the calls that its rule makes
     * (replay/backend/run/nested_calls.h). NULL: the backend computes nothing. */
    bool (*has)(struct backend *backend, struct str base);
    /* Waits until all calls are done. A late error of one of them contains its node. */
    bool (*wait)(struct backend *backend, struct err *err);
    /* Calls between capture_begin() and capture_end() are not run: what they would launch becomes
     * one unit, which launch() runs any number of times, as wait() then waits for it. It works on
     * the memory of its capture, which stays allocated until drop(), also the memory that was
     * released in between. A call that cannot be captured fails; then capture_end() fails, too,
     * with the reason, and nothing was run. NULL: the backend has no such unit. */
    bool (*capture_begin)(struct backend *backend, struct err *err);
    struct captured *(*capture_end)(struct backend *backend, struct err *err); /* NULL: err */
    bool (*launch)(struct backend *backend, struct captured *captured, struct err *err);
    void (*drop)(struct backend *backend, struct captured *captured); /* NULL is fine */
    /* Clears `unbuilt`, at the end of the calls of a run, and returns whether it was set: then
     * values since that time are not computed, and the calls must be made again from the first one
     * on; they wait for the kernels that are being compiled. If it was not set, the processes that
     * compile beside calls are ended, after the programs that they are compiling. NULL: calls
     * compile nothing. */
    bool (*end_unbuilt)(struct backend *backend);
    /* Does what calls put off, since it takes long: makes choices, and compiles the kernels that
     * other sizes need. It is called between runs. Returns whether later calls may compute other
     * bits than before. NULL: the backend puts nothing off. */
    bool (*refine)(struct backend *backend);
    /* Gives memory that is not used back to the device until no more than the budget is left, and
     * brings `pool` up to date, whose peak begins anew. NULL: the backend has no pool. */
    void (*trim)(struct backend *backend);
};

/* The memory that a backend keeps for later calls. */
struct backend_pool {
    uint64_t budget;          /* set by the code that opened the backend; 0: any */
    uint64_t kept, peak;      /* bytes from the device: now, and the most since the last trim() */
    uint64_t taken, returned; /* bytes, in total */
};

/* One launch: a kernel, a routine of a library, or a call that the CPU runs. A fused kernel stands
 * for several nodes. */
struct backend_launch {
    const char *what;             /* the kernel's name; owned by the backend, until close() */
    uint32_t first_node, n_nodes; /* in backend_log.nodes */
    double start, us;             /* since the log was switched on; set by wait() */
    uint64_t bytes, flops;        /* read and written; 0: unknown */
    bool on_host;                 /* computed by the CPU's kernel, since the backend has none */
};

/* The launches of a run, for profiles. Times are measured only while `on` is set. */
struct backend_log {
    bool on;
    vec_of(struct backend_launch)
    launches;
    vec_of(uint32_t)
    nodes;
    /* Work that is done once; it is always counted: */
    uint64_t compiled, compile_ns; /* kernels compiled, not found in a cache */
    uint64_t opened, open_ns;      /* libraries */
    uint64_t loaded, load_ns;      /* kernels loaded on the device */
    uint64_t planned, plan_ns;     /* calls of libraries prepared for their sizes */
    uint64_t recalled;      /* those of them whose plan was chosen before, or at other sizes */
    uint64_t updated;       /* captured units that an executable graph of another size computes */
    uint64_t batched;       /* kernels that were launched together with others */
    uint64_t pieces;        /* graphs of the last captured unit, which is cut at collectives */
    uint64_t cuts;          /* these collectives */
    uint64_t tried, try_ns; /* plans of libraries that refine() made, or timed to choose one */
};

enum backend_dry_run { DRY_RUN_NONE, DRY_RUN_FIRST, DRY_RUN_SECOND };

struct backend {
    const struct backend_kind *kind;
    struct rank *rank; /* set by the code that opened the backend: the rank that it runs for, which
                          meets others in collectives (replay/backend/ranks/ranks.h); NULL: a
                          collective has one rank, which receives what it sends */
    /* Set by the code that opened the backend, as in struct backend_setup: */
    unsigned threads;
    const char *worker;
    /* Set by the code that opened the backend: matmuls and convolutions of f32 may use TF32 inputs,
     * if the backend has them (torch.backends.cuda.matmul.allow_tf32,
     * torch.backends.cudnn.allow_tf32). */
    bool tf32;
    /* Set for a run that refine() follows: its calls do without plans of libraries that are slow to
     * make, where a kernel of the backend's own computes the same. */
    bool puts_off;
    /* Set by the caller during calls that it can make again: those whose kernel is not compiled
     * yet do not wait for it. */
    bool repeats;
    /* Set by the caller during a dry run: calls whose inputs have memory, and no values. In the
     * first one, calls learn which kernels they need, and do not open libraries that take longer
     * than that; in a second one, they do it while the kernels are compiled. `unbuilt` is set. */
    enum backend_dry_run dry_run;
    /* Set by the caller with the first dry run of this backend, and never cleared. */
    bool dry_run_made;
    /* Set by calls of the first dry run that did not open a library, and never cleared. */
    bool puts_off_libraries;
    /* Set by a call that did not wait for its kernel, and by the caller with `dry_run`; cleared by
     * end_unbuilt(). While it is set, nothing is launched, and values cannot be read. */
    bool unbuilt;
    bool lacks_kernel; /* the call that failed has an operator without a kernel */
    bool wants_sizes;  /* the call that failed can be made if its sizes are known to the host; its
                          arguments are what they were */
    /* The error of wait(), read() or a call belongs to an earlier call, of this node. */
    bool late;
    uint32_t late_node;
    struct backend_log log;
    struct backend_pool pool;
    struct err without; /* what exists but is not used, and why; the code that opened the backend
                           reports it */
};

/* Adds a launch of the node; the caller sets the times. NULL: out of memory, or the log is off. */
struct backend_launch *backend_log_add(struct backend_log *log, const char *what, uint32_t node);
void backend_log_release(struct backend_log *log);

extern const struct backend_kind *const backend_kinds[];  /* ends with NULL */
const struct backend_kind *backend_find(struct str name); /* NULL: there is none of that name */

#endif
