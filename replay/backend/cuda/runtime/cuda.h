/* The open CUDA backend: one device, its primary context, one stream.
 *
 * replay/backend/cuda/cuda_backend.c   the vtable: what is found, opening, calls
 * context.c        the context and what is in it; made anew when a kernel broke it
 * library.c        NVIDIA's libraries, opened when needed
 * memory_pool.c           device memory
 * memory.c         tensors' addresses, room for a call, copies from and to the host
 * compile.c        kernels' text to machine code, which cubin_cache.c keeps on disk
 * modules.c        machine code to functions
 * launch.c         launches, and the log of them
 * failures.c       return codes, words in which kernels tell of bad indices, a lost device
 * layout.c         tensors as kernels see them
 * data_counts.c          what was counted before a call whose sizes depend on it
 * host_call.c      calls without a kernel, computed by the CPU backend
 *
 * Kernel families use replay/backend/cuda/runtime/kernel.h; this header is for them that hold work
 * back or call other libraries. */
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

struct cuda_function {
    const char *name; /* until the backend is closed */
    cu_function f;
    int registers, local, shared; /* a thread's, bytes a thread's, static bytes a block's */
    uint32_t shared_allowed;      /* dynamic bytes that a launch may ask for by now */
};

/* A launch with an event in front of it and one behind. */
struct cuda_timed {
    bool on;
    size_t launch; /* in the log */
    cu_event start, end;
};

/* What belongs to the call that is being run; calls of calls have their own. */
struct cuda_call {
    struct cuda_call *outer;
    const struct backend_call *call;
    bool declined, launched;
    uint64_t bytes, flops; /* of the next launch */
    const uint32_t *nodes; /* that the next launch stands for; NULL: the call's own */
    uint32_t n_nodes;
    uint64_t error_word;     /* 0: none asked for yet */
    struct cuda_timed timed; /* between cuda_library_begin() and _end() */
    size_t first_workspace;  /* of cuda->workspaces */
};

/* What was counted for the call that comes. */
struct cuda_kept_found {
    cuda_find_fn *find;
    uint32_t storage;
    const struct kernel_meta *meta;
    uint64_t call; /* its number: of exec.calls */
    struct cuda_found found;
};

struct cuda_data_counts {
    vec_of(struct cuda_kept_found)
    kept;
    vec_of(uint64_t)
    workspaces; /* memory that they have */
};

/* Work that a family holds back, to launch it as one kernel. It is flushed before anything else is
 * launched, read or written; a family that sets this is told when memory is given back. */
struct cuda_held {
    bool (*flush)(struct cuda *cuda, struct err *err);
    /* True: the family gives it back itself, by cuda_give_back(), when it has flushed. */
    bool (*keeps)(struct cuda *cuda, const struct memory *memory);
    void (*close)(struct cuda *cuda);
    void *user;
};

/* Two words in device memory for each call that checks indices: whether one was bad, and which. */
enum { CUDA_ERROR_WORDS = 4096 };

struct cuda_failures {
    uint64_t device; /* i64[CUDA_ERROR_WORDS][2] */
    int64_t *host;   /* the same, page-locked */
    uint32_t *nodes;
    const char **what;     /* operators' names */
    uint32_t n;            /* given out since they were looked at */
    struct err lost;       /* set: the context is beyond use; why */
    uint32_t last_node;    /* of the last launch */
    const char *last_what; /* NULL: none yet */
};

/* Page-locked memory that uploads go through, so that nobody waits for them. */
struct cuda_staging {
    char *p;
    size_t at;
};

struct cuda {
    struct backend base;
    struct driver driver;
    struct library library;
    struct compiler compiler;
    struct err no_compiler; /* why there is none; ERR_NONE and no handle: not looked for yet */
    int driver_version;     /* 13000: 13.0 */
    int device;
    int architecture; /* 90 */
    int multiprocessors, threads_per_multiprocessor;
    int shared_max;   /* bytes a block can ask for */
    bool wide;        /* kernels index in 64 bits whatever the sizes: $SYMTAPE_CUDA_WIDE */
    int compute_mode; /* 0 shared, 2 prohibited, 3 one process at a time */
    size_t device_memory;
    char device_name[128];
    cu_context context;
    cu_stream stream;
    struct pool pool;
    struct cuda_modules *modules;
    struct cuda_times *times;
    struct cuda_staging staging;
    struct cuda_failures failures;
    struct cuda_held held;
    bool flushing;
    size_t lent; /* memory that the vtable gave out, by pieces */
    struct cuda_call *now;
    struct cuda_data_counts data_counts;
    vec_of(uint64_t)
    workspaces; /* of the calls that are being run, the innermost last */
    struct kernel_table kernels;
    struct backend *host; /* the CPU's, for calls without a kernel */
    struct intern names;
    void *library_state[LIBRARIES]; /* of the families that use cuBLASLt and cuDNN ... */
    void (*library_close[LIBRARIES])(struct cuda *cuda); /* ... called before the context goes */
};

/* --- replay/backend/cuda/cuda_backend.c --- */

/* Everything held back is launched. */
bool cuda_flush(struct cuda *cuda, struct err *err);
/* The row, and where it declines or is none, the CPU. */
bool cuda_run_call(struct cuda *cuda, const struct backend_call *call, struct err *err);

void cuda_begin_call(struct cuda *cuda, struct cuda_call *now, const struct backend_call *call);
void cuda_end_call(struct cuda *cuda); /* gives its workspaces back */

/* --- data_counts.c --- */

/* The vtable's. */
bool cuda_count(struct backend *backend, const struct backend_call *call, struct kernel_tensor x,
                int64_t *ret, bool *known, struct err *err);
void cuda_founds_forget(struct cuda *cuda);
void cuda_founds_close(struct cuda *cuda);

/* --- context.c --- */

bool cuda_context_open(struct cuda *cuda, struct err *err);
void cuda_context_close(struct cuda *cuda);
/* True: there is one to be used. Where it was lost, and nobody holds memory of it any more, it is
 * made anew; functions, handles and addresses of the old one are gone then. */
bool cuda_context_ready(struct cuda *cuda, struct err *err);

/* --- failures.c --- */

bool cuda_failures_open(struct cuda *cuda, struct err *err);
void cuda_failures_close(struct cuda *cuda);
/* True: rc is CU_OK. Otherwise ERR_ENV with what was done and the driver's words; what no context
 * survives is kept, and every later call fails with it until the context is made anew. */
bool cuda_check(struct cuda *cuda, int rc, struct err *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool cuda_usable(struct cuda *cuda, struct err *err); /* false: the device was lost before */
/* Waits for the stream, then looks at the error words and at the times of launches. */
bool cuda_settle(struct cuda *cuda, struct err *err);
bool cuda_is_fatal(int rc);

/* --- memory.c --- */

enum { CUDA_STAGING = 1 << 20 };

bool cuda_memory_open(struct cuda *cuda, struct err *err);
void cuda_memory_close(struct cuda *cuda);
bool cuda_take(struct cuda *cuda, size_t bytes, uint64_t *ret, struct err *err);
void cuda_give_back(struct cuda *cuda, uint64_t address);
/* Onto the stream; `from` may be gone when they return. */
bool cuda_copy_to_device(struct cuda *cuda, uint64_t to, const void *from, size_t bytes,
                         struct err *err);
/* Waits; finds what went wrong before. */
bool cuda_copy_to_host(struct cuda *cuda, void *to, uint64_t from, size_t bytes, struct err *err);

/* --- modules.c --- */

struct cuda_function *cuda_compile_text(struct cuda *cuda, const char *name, struct str text,
                                        struct err *err);
/* The kernel `name` of device/FILE.cu. */
struct cuda_function *cuda_compile_file(struct cuda *cuda, const char *file, const char *name,
                                        const char *defines, struct err *err);
void cuda_modules_close(struct cuda *cuda);
bool cuda_need_compiler(struct cuda *cuda, struct err *err);

/* --- launch.c --- */

/* A launch outside of a call, of work that was held back; `nodes` are what it stands for. */
struct cuda_work {
    const uint32_t *nodes;
    uint32_t n_nodes;
    uint64_t bytes, flops; /* read and written; computed */
};
bool cuda_launch_work(struct cuda *cuda, struct cuda_function *f, struct cuda_grid grid,
                      const void *args, struct cuda_work work, struct err *err);
/* Times of launches that are done; after a wait. */
bool cuda_times_resolve(struct cuda *cuda, struct err *err);
void cuda_times_close(struct cuda *cuda);
/* A launch of the host's, from `start` (clock_us()) until now. */
void cuda_log_host(struct cuda *cuda, const char *what, uint32_t node, double start);
const char *cuda_keep_name(struct cuda *cuda, struct str name); /* until close; NULL: no memory */

/* --- host_call.c --- */

struct backend *cuda_host(struct cuda *cuda, struct err *err); /* opened when it is first needed */
/* item: of a _foreach_ operator, the only one to compute; UINT32_MAX: the whole call. */
bool cuda_host_call(struct cuda *cuda, const struct backend_call *call, uint32_t item,
                    struct err *err);

#endif
