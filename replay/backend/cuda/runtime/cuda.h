/* The open CUDA backend: one device, its primary context, one stream.
 *
 * replay/backend/cuda/README.md describes how a call reaches a launch; README.md of this folder
 * lists the files. Kernels include replay/backend/cuda/runtime/kernel.h; this header is for the
 * code that collects pending work or calls other libraries. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_RUNTIME_CUDA_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_RUNTIME_CUDA_H

#include "replay/backend/call/backend.h"
#include "replay/backend/cuda/runtime/compile.h"
#include "replay/backend/cuda/runtime/data_counts.h"
#include "replay/backend/cuda/runtime/kernel.h"
#include "replay/backend/cuda/runtime/library.h"
#include "replay/backend/cuda/runtime/memory_pool.h"
#include "trace/base/clock.h"
#include "trace/base/intern.h"

struct cuda_modules; /* modules.c */
struct cuda_times;   /* launch.c */
struct captured;     /* capture.c */
struct cuda_batches; /* batches.c */

struct cuda_function {
    const char *name; /* owned by the backend, until it is closed */
    cu_function f;    /* NULL: it is not compiled yet (struct backend's `unbuilt`) */
    int registers, local,
        shared; /* registers and local bytes of a thread, static shared bytes of a block */
    uint32_t shared_allowed; /* dynamic bytes that a launch may use now */
    bool seen;               /* cuda_function_first_use() was asked */
    size_t arguments;        /* bytes of the only parameter; 0: not known */
};

/* A launch of a kernel as a node of a CUDA graph. */
enum { CUDA_NODE_PARAMETERS = 32 };
struct cuda_node {
    cu_function f;
    uint32_t grid[3], block[3], shared;
    uint32_t n_parameters, at[CUDA_NODE_PARAMETERS]; /* their offsets in the arguments */
    const void *arguments;
    size_t bytes;
};

/* The parameters of a function: offset of each, and where it ends. */
struct cuda_signature {
    cu_function f;
    uint32_t n, at[CUDA_NODE_PARAMETERS], ends[CUDA_NODE_PARAMETERS];
};

/* A launch with an event before it and one after it. */
struct cuda_timed {
    bool on;
    size_t launch; /* its index in the log */
    cu_event start, end;
};

/* The state of the call that is being run. A call that a kernel makes has its own, linked by
 * `outer`. */
struct cuda_call {
    struct cuda_call *outer;
    const struct backend_call *call;
    bool declined, launched;
    uint64_t bytes, flops; /* of the next launch */
    const uint32_t *nodes; /* the nodes that the next launch computes; NULL: the call's own */
    uint32_t n_nodes;
    uint64_t error_word;     /* 0: not allocated yet */
    struct cuda_timed timed; /* used between cuda_library_begin() and _end() */
    size_t first_workspace;  /* index in cuda->workspaces */
};

/* A count that was computed before the call that needs it. */
struct cuda_stored_count {
    cuda_find_fn *find;
    uint32_t storage;
    const struct kernel_meta *meta;
    uint64_t call; /* the call's number, as in exec.calls */
    struct cuda_count_result found;
};

struct cuda_data_counts {
    vec_of(struct cuda_stored_count)
    kept;
    vec_of(uint64_t)
    workspaces; /* device memory that it uses */
};

/* Work that is collected, to be launched as one kernel. flush() runs before anything else is
 * launched, read or written. */
struct cuda_pending {
    bool (*flush)(struct cuda *cuda, struct err *err);
    /* Called when memory is freed. True: it is still needed; cuda_give_back() frees it after the
     * flush. */
    bool (*keeps)(struct cuda *cuda, const struct memory *memory);
    void (*close)(struct cuda *cuda);
    void *user;
};

/* Each call that checks indices has two words in device memory: whether an index was out of range,
 * and which. */
enum { CUDA_ERROR_WORDS = 4096 };

struct cuda_failures {
    uint64_t device; /* i64[CUDA_ERROR_WORDS][2] */
    int64_t *host;   /* the host's copy, page-locked */
    uint32_t *nodes;
    const char **what;  /* names of the operators */
    uint32_t n;         /* words in use since the last check */
    struct err lost;    /* set: the context is unusable, for this reason */
    bool gone;          /* a new context failed, too: it is not created again */
    int fatal;          /* the last code that breaks a context; CU_OK: none since it was opened */
    uint32_t last_node; /* of the last launch */
    const char *last_what; /* NULL: nothing was launched */
};

/* A CUDA graph that can be launched. */
struct cuda_executable {
    cu_exec exec;
    uint64_t topology; /* graphs with another one cannot update it */
    bool single_use;   /* the topology is not known */
};

/* Those that no captured unit uses; the one that was used last is the last one. */
enum { CUDA_IDLE_EXECUTABLES = 8 };
struct cuda_executables {
    struct cuda_executable idle[CUDA_IDLE_EXECUTABLES];
    uint32_t n;
};

/* Page-locked memory for uploads, which are then asynchronous. */
struct cuda_upload_buffer {
    char *p;
    size_t at;
};

/* Programs that are compiled while calls go on. */
struct cuda_builds {
    struct arena arena;
    struct pending_build *pending;
    struct compile_pool *pool; /* NULL: there is none */
};

struct cuda {
    struct backend base;
    struct driver driver;
    struct cuda_library library;
    struct compiler compiler;
    struct err no_compiler; /* the reason why there is none; ERR_NONE without a handle: it was not
                               opened yet */
    int driver_version;     /* 13000: 13.0 */
    int ordinal;            /* among the devices of the driver */
    int device;
    int architecture; /* 90 */
    int multiprocessors, threads_per_multiprocessor;
    int shared_max;   /* the limit of shared bytes of a block */
    bool wide;        /* kernels always use 64-bit indices: $SYMTAPE_CUDA_WIDE */
    int compute_mode; /* 0 shared, 2 prohibited, 3 one process at a time */
    size_t device_memory;
    char device_name[128];
    cu_context context;
    cu_stream stream;
    struct memory_pool pool;
    struct captured *capture;  /* that is being made; NULL: calls are run */
    struct captured *captured; /* those that exist */
    struct cuda_executables executables;
    struct cuda_batches *batches; /* NULL: launches are made one by one */
    vec_of(struct cuda_signature)
    signatures; /* of functions of libraries */
    struct cuda_modules *modules;
    struct cuda_builds builds;
    struct cuda_times *times;
    struct cuda_upload_buffer staging;
    struct cuda_failures failures;
    uint64_t slots; /* i64[BACKEND_SLOTS] of device memory: sizes; 0: not used yet */
    struct cuda_pending pending;
    bool flushing;
    size_t lent; /* number of allocations that the vtable has handed out */
    struct cuda_call *now;
    struct cuda_data_counts data_counts;
    vec_of(uint64_t)
    workspaces; /* of the calls that are being run; the innermost call's are last */
    struct kernel_table kernels;
    /* Set while the stream may wait for devices of other ranks: returns whether it can end. If not,
     * what waited was ended, `ended` says why, and every later wait fails with that. */
    bool (*may_end)(struct cuda *cuda);
    struct err ended;
    struct backend *host; /* the CPU backend, for calls without a kernel */
    struct intern names;
    void *library_state[LIBRARIES]; /* the states of cuBLASLt and cuDNN ... */
    void (*library_close[LIBRARIES])(
        struct cuda *cuda); /* ... the functions that close them before the context ... */
    bool (*library_refine[LIBRARIES])(
        struct cuda *cuda); /* ... and those that do the backend's `refine`; NULL: not open */
};

/* --- replay/backend/cuda/cuda_backend.c --- */

/* Launches all pending work. */
bool cuda_flush(struct cuda *cuda, struct err *err);
/* Runs the row of the operator, or the CPU backend if there is none or it declines. */
bool cuda_run_call(struct cuda *cuda, const struct backend_call *call, struct err *err);

void cuda_begin_call(struct cuda *cuda, struct cuda_call *now, const struct backend_call *call);
void cuda_end_call(struct cuda *cuda); /* frees its workspaces */

/* --- data_counts.c --- */

/* The backend's `count`. */
bool cuda_count(struct backend *backend, const struct backend_call *call, struct kernel_tensor x,
                uint32_t slot, int64_t *ret, bool *known, struct err *err);

/* --- extents.c, device_sizes.c --- */

/* The backend's `takes_extents` and `read_sizes`. */
bool cuda_takes_extents(struct backend *backend, const struct backend_call *call);
bool cuda_read_sizes(struct backend *backend, int64_t *ret, uint32_t n, struct err *err);
/* Launches the copy of a count (device/index/sizes.h) to a slot. */
void cuda_store_size(struct kernel *k, uint64_t from, bool wide, uint32_t slot);
/* Returns whether an argument or a result has a size that only the device knows. */
bool cuda_has_extents(const struct backend_call *call);
/* --- data_counts.c --- */

void cuda_counts_forget(struct cuda *cuda);
void cuda_counts_close(struct cuda *cuda);

/* --- context.c --- */

bool cuda_context_open(struct cuda *cuda, struct err *err);
void cuda_context_close(struct cuda *cuda);
/* Returns whether there is a usable context. A lost one is created again once none of its memory is
 * in use; then functions, handles and addresses of the old one are invalid. If the new one fails at
 * once, too, the driver does not give this process its device back: this and every later call fail
 * with an error that says so, and the driver is not asked again. */
bool cuda_context_ready(struct cuda *cuda, struct err *err);

/* --- failures.c --- */

bool cuda_failures_open(struct cuda *cuda, struct err *err);
void cuda_failures_close(struct cuda *cuda);
/* Returns whether rc is CU_OK. Otherwise sets ERR_ENV with the action and the driver's text. An
 * error that breaks the context is stored, and every later call fails with it until the context is
 * created again. */
bool cuda_check(struct cuda *cuda, int rc, struct err *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool cuda_usable(struct cuda *cuda, struct err *err); /* false: the device was lost before */
/* Writes the driver's name of a code and its number to `ret`, and returns it. */
enum { CUDA_ERROR_NAME = 100 };
const char *cuda_error_name(struct cuda *cuda, int rc, char ret[CUDA_ERROR_NAME]);
/* Waits for the stream, and returns the driver's code. A stream that waits for the lost device of
 * another rank ends, too. */
int cuda_wait_for_stream(struct cuda *cuda);
/* Waits for the stream, then checks the error words and reads the times of launches. */
bool cuda_settle(struct cuda *cuda, struct err *err);
bool cuda_is_fatal(int rc);

/* --- capture.c --- */

/* The functions of the backend's vtable. */
bool cuda_capture_begin(struct backend *backend, struct err *err);
struct captured *cuda_capture_end(struct backend *backend, struct err *err);
bool cuda_launch_captured(struct backend *backend, struct captured *captured, struct err *err);
void cuda_drop_captured(struct backend *backend, struct captured *captured);
/* What a launch of a captured unit does between two of its graphs. */
typedef bool cuda_between_fn(struct cuda *cuda, void *data, struct err *err);
/* During a capture: each launch of the unit calls `run` at this place, after what was captured
 * until now was launched. `data` is allocated with malloc(), and freed with the unit, or on
 * failure. */
bool cuda_capture_cut(struct cuda *cuda, cuda_between_fn *run, void *data, struct err *err);
/* Returns whether the host may wait for the device. It cannot in a capture: then this sets err, and
 * the capture fails with that reason. Neither can it where work was not launched (struct backend's
 * `unbuilt`). */
bool cuda_may_wait(struct cuda *cuda, const char *reason, struct err *err);
/* Returns the pool that memory is allocated from now: the capture's, or the backend's. */
struct memory_pool *cuda_pool(struct cuda *cuda);
/* Frees the address in the pool of a captured unit. False: it is in none. */
bool cuda_give_back_captured(struct cuda *cuda, uint64_t address);
/* Destroys all captured units before their context is closed; their owners drop them later. */
void cuda_captured_close(struct cuda *cuda);

/* --- executables.c --- */

/* Makes the graph executable: in an idle executable graph with the same topology, or in a new one.
 */
bool cuda_executable_make(struct cuda *cuda, cu_graph graph, struct cuda_executable *ret,
                          struct err *err);
/* A launch of it may be running. It becomes idle; the one that has been idle for the longest time
 * is destroyed if there are too many. */
void cuda_executable_give_back(struct cuda *cuda, struct cuda_executable executable);
void cuda_executables_close(struct cuda *cuda); /* destroys the idle ones */

/* --- batches.c --- */

/* Launches are pending until there are so many, or until something else uses the stream. */
enum { CUDA_BATCH = 16 };

bool cuda_batches_open(struct cuda *cuda, struct err *err);
void cuda_batches_close(struct cuda *cuda); /* before the functions of its launches are unloaded */
/* Returns whether launches are batched: in runs call by call whose launches are not timed. */
bool cuda_batches_on(const struct cuda *cuda);
/* Adds a launch; the node's arguments are copied. `what` names it in errors, and is owned by the
 * backend. */
bool cuda_batch_add(struct cuda *cuda, const struct cuda_node *node, const char *what,
                    uint32_t graph_node, struct err *err);
/* Makes the pending launches, before anything else uses the stream or memory is given back to the
 * driver. err NULL: a failure is reported by the next call that has one. */
bool cuda_batch_end(struct cuda *cuda, struct err *err);
void cuda_batches_waited(struct cuda *cuda); /* the stream was waited for */

/* --- device_memory.c --- */

enum { CUDA_STAGING = 1 << 20 };

bool cuda_memory_open(struct cuda *cuda, struct err *err);
void cuda_memory_close(struct cuda *cuda);
/* Makes an empty pool whose chunks are allocated by the driver. */
void cuda_pool_init(struct cuda *cuda, struct memory_pool *pool);
/* Makes an empty pool whose chunks are blocks of the backend's. */
void cuda_subpool_init(struct cuda *cuda, struct memory_pool *pool);
bool cuda_staging_open(struct cuda *cuda, struct err *err);
bool cuda_take(struct cuda *cuda, size_t bytes, uint64_t *ret, struct err *err);
void cuda_give_back(struct cuda *cuda, uint64_t address);
void cuda_workspaces_release(struct cuda *cuda, size_t n); /* gives back all but the first n */
void cuda_trim(struct backend *backend);                   /* struct backend_kind's `trim` */
/* Memory that is given back together. */
struct cuda_scratch {
    vec_of(uint64_t)
    addresses;
};
/* Adds memory with an address that is a multiple of `alignment`, a power of two, but not of twice
 * as many up to 256; 0: any. */
bool cuda_scratch(struct cuda *cuda, struct cuda_scratch *scratch, size_t bytes, uint64_t alignment,
                  uint64_t *ret);
void cuda_scratch_release(struct cuda *cuda, struct cuda_scratch *scratch);
/* Copies on the stream; `from` is no longer needed when it returns. */
bool cuda_copy_to_device(struct cuda *cuda, uint64_t to, const void *from, size_t bytes,
                         struct err *err);
/* Copies and waits; reports errors of earlier calls. */
bool cuda_copy_to_host(struct cuda *cuda, void *to, uint64_t from, size_t bytes, struct err *err);

/* --- modules.c --- */

struct cuda_function *cuda_compile_text(struct cuda *cuda, const char *name, struct str text,
                                        struct err *err);
/* Returns the kernel `name` of device/FILE.cu. */
struct cuda_function *cuda_compile_file(struct cuda *cuda, const char *file, const char *name,
                                        const char *defines, struct err *err);
/* Notes a function that calls of other sizes may need, unless memory is short; and compiles or
 * loads all that were noted, between runs. */
void cuda_put_off(struct cuda *cuda, const struct program_text *program);
void cuda_compile_put_off(struct cuda *cuda);
void cuda_modules_close(struct cuda *cuda);
bool cuda_need_compiler(struct cuda *cuda, struct err *err);

/* --- building.c --- */

/* Starts the processes that compile before the first kernel is needed, if none was ever compiled.
 */
void cuda_prepare_building(struct cuda *cuda);
/* Returns whether the call goes on without the program, which is being compiled. Calls that are
 * made again wait for it. hash: of the program's parts. */
bool cuda_goes_without(struct cuda *cuda, const struct program_text *program, uint64_t hash,
                       struct str source, struct cubin_key key);
/* Returns whether a program of that hash is being compiled, which spares making its source. */
bool cuda_is_being_built(const struct cuda *cuda, uint64_t hash);
/* Waits for the program if it is being compiled, and returns its code in place of what `ret` has.
 * False: it is not, or does not compile. */
bool cuda_end_build(struct cuda *cuda, struct cubin_key key, struct buf *ret);
/* The backend's `end_unbuilt`. */
bool cuda_end_unbuilt(struct backend *backend);
void cuda_builds_close(struct cuda *cuda);

/* --- launch.c --- */

/* The description of a launch: the nodes that it computes, for the log and for errors. */
struct cuda_work {
    const uint32_t *nodes;
    uint32_t n_nodes;
    uint64_t bytes, flops; /* read and written; computed */
};
bool cuda_launch_work(struct cuda *cuda, struct cuda_function *f, struct cuda_grid grid,
                      const void *args, struct cuda_work work, struct err *err);
/* Launches a node of a batch, which is a part of the call; only if cuda_batches_on(). */
void cuda_launch_node(struct kernel *k, const struct cuda_node *node, const char *what);
/* Reads the times of completed launches, after a wait. */
bool cuda_times_resolve(struct cuda *cuda, struct err *err);
void cuda_times_close(struct cuda *cuda);
/* Logs a call of the CPU backend, from `start` (clock_us()) until now. */
void cuda_log_host(struct cuda *cuda, const char *what, uint32_t node, double start);
const char *cuda_keep_name(struct cuda *cuda,
                           struct str name); /* valid until close; NULL: out of memory */

/* --- host_call.c --- */

struct backend *cuda_host(struct cuda *cuda, struct err *err); /* opened when it is first needed */
/* Runs the call on the CPU backend. item: the only item of a _foreach_ operator to compute;
 * UINT32_MAX: the whole call. */
bool cuda_host_call(struct cuda *cuda, const struct backend_call *call, uint32_t item,
                    struct err *err);

#endif
