/* The CUDA backend: opening, memory and calls.
 *
 * A call of a graph reaches a launch in this order:
 *
 *     run_call_step()   run/run.c: the interpreter is at a call of the graph
 *     exec_call()       run/exec.c: binds arguments, evaluates the rule
 *     exec_run_bound()  run/exec.c: allocates the results, converts sizes to numbers
 *     run_backend()     run/exec.c: passes the call to the backend
 *     cuda_call()       here: finds the operator's row in `rows` (cuda_kernels.def, composite.def
 *                       and pointwise.def)
 *     run_kernel_row()  here: calls the row's function; if that declines, cuda_host_call()
 *                       (runtime/host_call.c) computes the call on the CPU
 *     cuda_FUNCTION()   kernels/FAMILY/: chooses a kernel and its defines by the call's sizes
 *     cuda_function()   runtime/modules.c: loads the kernel from the cache, or compiles it
 *     cuda_launch()     runtime/launch.c: launches pending work (cuda_flush()), then this kernel
 *
 * cuda_launch_work() of runtime/launch.c launches it, or adds it to a batch (runtime/batches.c),
 * which is launched when it is full, or before anything else uses the stream.
 *
 * Pointwise operators differ in the last three steps: cuda_point() (pointwise/pointwise.c) adds the
 * call to a pending group, and cuda_flush() launches a generated kernel for each group. Matmuls,
 * convolutions and attention that a library supports are launched by the library, between
 * cuda_library_begin() and cuda_library_end() of launch.c; the kernels of a matmul that
 * libraries/product_nodes.c captured are added to a batch by cuda_launch_node(). Nothing waits for
 * the device until a value is read (cuda_read()) or the run ends (cuda_wait()). */
#include "replay/backend/cuda/runtime/cuda.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "replay/backend/call/collective_args.h"
#include "replay/backend/pointwise/pointwise_ops.h"

static const struct library_symbol symbols[] = {
#define SYMBOL(needed, member, symbol, parameters) \
    { symbol, offsetof(struct driver, member), needed },
#include "replay/backend/cuda/runtime/driver.def"
#undef SYMBOL
};

static const struct kernel_row rows[] = {
#define CUDA_KERNEL(base, run, param) { base, cuda_##run, param },
#include "replay/backend/cuda/cuda_kernels.def"
#undef CUDA_KERNEL
#define BACKEND_COMPOSITE(base, run, param) { base, composite_##run, param },
#include "replay/backend/call/composite.def"
#undef BACKEND_COMPOSITE
#define POINT(base, ...) { #base, cuda_point, POINT_##base },
#include "replay/backend/pointwise/pointwise.def"
#undef POINT
};

_Static_assert(sizeof rows / sizeof *rows <= KERNEL_MOST_ROWS, "a slot for each row");

extern const struct backend_kind backend_cuda;

enum { OLDEST_DRIVER = 12000 };

struct cuda *cuda_of(const struct kernel *k)
{
    return (struct cuda *)k->call->caller->backend;
}

/* ---- The device ---- */

/* Turns the return code of a driver that does not start into an explanation. */
static bool does_not_start(struct cuda *cuda, int rc, struct err *err)
{
    int major = cuda->driver_version / 1000, minor = cuda->driver_version % 1000 / 10;
    switch (rc) {
    case CU_STUB_LIBRARY:
        return err_set(err, ERR_ENV, "driver: %s is a stub for linking, and no driver is installed",
                       cuda->library.path);
    case CU_NO_DEVICE:
        return err_set(err, ERR_ENV,
                       "there is no CUDA device: the driver (for CUDA %d.%d) "
                       "finds none%s",
                       major, minor,
                       getenv("CUDA_VISIBLE_DEVICES") ? ", and $CUDA_VISIBLE_DEVICES is set" : "");
    case CU_SYSTEM_NOT_READY:
        return err_set(err, ERR_ENV,
                       "the driver (for CUDA %d.%d) says that the system is not ready: on machines "
                       "with NVSwitch nvidia-fabricmanager has to run",
                       major, minor);
    case CU_SYSTEM_MISMATCH:
        return err_set(
            err, ERR_ENV,
            "%s (for CUDA %d.%d) has another version than the driver in the kernel, which was "
            "updated and not loaded since; restart the machine",
            cuda->library.path, major, minor);
    case CU_COMPAT_NOT_SUPPORTED:
        return err_set(err, ERR_ENV,
                       "%s (for CUDA %d.%d) is of CUDA's compatibility package, which this GPU "
                       "does not support; remove its directory from LD_LIBRARY_PATH",
                       cuda->library.path, major, minor);
    default: return cuda_check(cuda, rc, err, "starting the driver");
    }
}

/* Checks the version first: an old driver lacks symbols, and its version explains more than a
 * symbol's name. */
static bool find_driver(struct cuda *cuda, struct err *err)
{
    static const struct library_symbol version = { "cuDriverGetVersion",
                                                   offsetof(struct driver, version), true };
    if (!library_open(LIBRARY_DRIVER, 0, &cuda->library, err) ||
        !library_load(&cuda->library, &version, 1, &cuda->driver, err))
        return false;
    if (cuda->driver.version(&cuda->driver_version) == CU_OK &&
        cuda->driver_version < OLDEST_DRIVER)
        return err_set(
            err, ERR_ENV, "the driver is too old: %s is for CUDA %d.%d, and 12.0 is needed",
            cuda->library.path, cuda->driver_version / 1000, cuda->driver_version % 1000 / 10);
    return library_load(&cuda->library, symbols, sizeof symbols / sizeof *symbols, &cuda->driver,
                        err);
}

static bool start_driver(struct cuda *cuda, struct err *err)
{
    int rc = cuda->driver.init(0);
    return rc == CU_OK || does_not_start(cuda, rc, err);
}

static bool open_driver(struct cuda *cuda, struct err *err)
{
    return find_driver(cuda, err) && start_driver(cuda, err);
}

static bool device_attribute(struct cuda *cuda, int which, int *ret, struct err *err)
{
    return cuda_check(cuda, cuda->driver.device_attribute(ret, which, cuda->device), err,
                      "device: attribute %d", which);
}

static bool describe_device(struct cuda *cuda, struct err *err)
{
    const struct driver *d = &cuda->driver;
    int n = 0, major = 0, minor = 0;
    if (!cuda_check(cuda, d->device_count(&n), err, "counting devices"))
        return false;
    if (n == 0)
        return err_set(err, ERR_ENV, "there is no CUDA device: the driver finds none");
    if (cuda->ordinal >= n)
        return err_set(err, ERR_ENV, "there is no device %d: the driver finds %d", cuda->ordinal,
                       n);
    if (!cuda_check(cuda, d->device_get(&cuda->device, cuda->ordinal), err, "device %d",
                    cuda->ordinal) ||
        !cuda_check(cuda,
                    d->device_name(cuda->device_name, sizeof cuda->device_name - 1, cuda->device),
                    err, "device %d: name", cuda->ordinal) ||
        !cuda_check(cuda, d->device_memory(&cuda->device_memory, cuda->device), err,
                    "device %d: memory", cuda->ordinal) ||
        !device_attribute(cuda, CU_CAPABILITY_MAJOR, &major, err) ||
        !device_attribute(cuda, CU_CAPABILITY_MINOR, &minor, err) ||
        !device_attribute(cuda, CU_MULTIPROCESSORS, &cuda->multiprocessors, err) ||
        !device_attribute(cuda, CU_THREADS_PER_MULTIPROCESSOR, &cuda->threads_per_multiprocessor,
                          err) ||
        !device_attribute(cuda, CU_SHARED_PER_BLOCK_MAX, &cuda->shared_max, err) ||
        !device_attribute(cuda, CU_COMPUTE_MODE, &cuda->compute_mode, err))
        return false;
    cuda->architecture = major * 10 + minor;
    return true;
}

/* ---- Opening ---- */

static void cuda_close(struct backend *backend)
{
    struct cuda *cuda = (struct cuda *)backend;
    if (!cuda)
        return;
    cuda_context_close(cuda);
    cuda_counts_close(cuda);
    if (cuda->host)
        cuda->host->kind->close(cuda->host);
    backend_log_release(&cuda->base.log);
    intern_release(&cuda->names);
    vec_release(&cuda->workspaces);
    free(cuda);
}

/* Processes that compile are started first: the driver needs as long as they do. */
static bool start(struct cuda *cuda, bool prepares, struct err *err)
{
    if (!find_driver(cuda, err))
        return false;
    if (prepares)
        cuda_prepare_building(cuda);
    return start_driver(cuda, err) && describe_device(cuda, err) && cuda_context_open(cuda, err);
}

static struct backend *cuda_open_on(const struct backend_setup *setup, struct err *err)
{
    struct cuda *cuda = calloc(1, sizeof *cuda);
    if (!cuda)
        return err_nomem(err), NULL;
    cuda->base.kind = &backend_cuda;
    cuda->base.threads = setup->threads;
    cuda->base.worker = setup->worker;
    cuda->ordinal = setup->device < INT_MAX ? (int)setup->device : INT_MAX;
    kernel_table_make(&cuda->kernels, rows, sizeof rows / sizeof *rows);
    const char *wide = getenv("SYMTAPE_CUDA_WIDE");
    cuda->wide = wide && *wide && strcmp(wide, "0") != 0;
    if (start(cuda, setup->prepares, err)) {
        (void)cubin_cache_refused(&cuda->base.without);
        return &cuda->base;
    }
    err_at(err, "backend cuda");
    cuda_close(&cuda->base);
    return NULL;
}

static struct backend *cuda_open(struct err *err)
{
    return cuda_open_on(&(struct backend_setup){ 0 }, err);
}

static bool cuda_devices(uint32_t *ret, struct err *err)
{
    struct cuda *cuda = calloc(1, sizeof *cuda);
    int n = 0;
    if (!cuda)
        return err_nomem(err);
    bool ok = open_driver(cuda, err) &&
              cuda_check(cuda, cuda->driver.device_count(&n), err, "counting devices");
    *ret = (uint32_t)n;
    free(cuda);
    return ok || err_at(err, "backend cuda");
}

/* ---- What is found ---- */

static void append_error(struct buf *found, const struct err *err)
{
    buf_printf(found, "%s\n", err->text);
}

static void probe_library(struct buf *found, enum library_id id)
{
    struct cuda_library library;
    struct err err = { 0 };
    if (!library_open(id, 0, &library, &err)) {
        append_error(found, &err);
        return;
    }
    size_t v = library_version(&library);
    size_t major = v >= 10000 ? v / 10000 : v / 1000; /* 90100 is 9.1.0 of cuDNN, 9000 is 9.0.0 */
    size_t minor = v >= 10000 ? v / 100 % 100 : v / 100 % 10;
    buf_printf(found, "%s %zu.%zu.%zu: %s\n", library_name(id), major, minor, v % 100,
               library.path);
}

static void probe_compiler(struct cuda *cuda, struct buf *found)
{
    struct err err = { 0 };
    if (!cuda_need_compiler(cuda, &err))
        append_error(found, &err);
    else
        buf_printf(found, "NVRTC %d.%d: %s\n", cuda->compiler.major, cuda->compiler.minor,
                   cuda->compiler.library.path);
}

static bool probe_device(struct cuda *cuda, struct buf *found)
{
    struct err err = { 0 };
    bool driver = open_driver(cuda, &err);
    if (cuda->driver_version)
        buf_printf(found, "driver for CUDA %d.%d: %s\n", cuda->driver_version / 1000,
                   cuda->driver_version % 1000 / 10, cuda->library.path);
    if (!driver || !describe_device(cuda, &err)) {
        append_error(found, &err);
        return false;
    }
    buf_printf(found, "%s: compute capability %d.%d, %d multiprocessors, %zu MiB%s\n",
               cuda->device_name, cuda->architecture / 10, cuda->architecture % 10,
               cuda->multiprocessors, cuda->device_memory >> 20,
               cuda->compute_mode == 3   ? ", for one process at a time"
               : cuda->compute_mode == 2 ? ", computing is prohibited"
                                         : "");
    return cuda->compute_mode != 2;
}

static bool cuda_probe(struct buf *found)
{
    struct cuda *cuda = calloc(1, sizeof *cuda);
    if (!cuda)
        return false;
    struct buf device = BUF_INIT;
    bool usable = probe_device(cuda, &device);
    if (usable)
        buf_put(found, buf_str(&device));
    probe_compiler(cuda, found);
    probe_library(found, LIBRARY_CUBLASLT);
    probe_library(found, LIBRARY_CUDNN);
    probe_library(found, LIBRARY_NCCL);
    if (!usable) /* the reason comes last */
        buf_put(found, buf_str(&device));
    buf_release(&device);
    free(cuda);
    return usable;
}

/* ---- Memory ---- */

static struct cuda *cuda_backend_of(struct backend *backend)
{
    return (struct cuda *)backend;
}

/* Returns the device's free memory and the free memory of the pool. */
static uint64_t cuda_free_memory_of(struct backend *backend)
{
    struct cuda *cuda = cuda_backend_of(backend);
    struct err ignored = { 0 };
    size_t left, total;
    if (!cuda_context_ready(cuda, &ignored) || cuda->driver.memory_info(&left, &total) != CU_OK)
        return 0;
    left += cuda->pool.reserved - cuda->pool.bytes;
    return left ? left : 1;
}

static bool cuda_allocate(struct backend *backend, size_t bytes, struct memory *ret,
                          struct err *err)
{
    uint64_t address;
    if (!cuda_context_ready(cuda_backend_of(backend), err) ||
        !cuda_take(cuda_backend_of(backend), bytes, &address, err))
        return false;
    cuda_backend_of(backend)->lent++;
    *ret = (struct memory){ .p = (void *)(uintptr_t)address, .bytes = bytes };
    return true;
}

static void cuda_release(struct backend *backend, struct memory *memory)
{
    struct cuda *cuda = cuda_backend_of(backend);
    cuda->lent--;
    if (!cuda->pending.keeps || !cuda->pending.keeps(cuda, memory))
        cuda_give_back(cuda, (uint64_t)(uintptr_t)memory->p);
}

static bool cuda_read(struct backend *backend, const struct memory *from, size_t offset, void *to,
                      size_t bytes, struct err *err)
{
    return cuda_copy_to_host(cuda_backend_of(backend), to, (uint64_t)(uintptr_t)from->p + offset,
                             bytes, err);
}

static bool cuda_write(struct backend *backend, struct memory *to, size_t offset, const void *from,
                       size_t bytes, struct err *err)
{
    return cuda_flush(cuda_backend_of(backend), err) &&
           cuda_copy_to_device(cuda_backend_of(backend), (uint64_t)(uintptr_t)to->p + offset, from,
                               bytes, err);
}

bool cuda_flush(struct cuda *cuda, struct err *err)
{
    if (!cuda->pending.flush || cuda->flushing)
        return true;
    cuda->flushing = true;
    bool ok = cuda->pending.flush(cuda, err);
    cuda->flushing = false;
    return ok;
}

/* ---- Calls ---- */

void cuda_begin_call(struct cuda *cuda, struct cuda_call *now, const struct backend_call *call)
{
    *now = (struct cuda_call){ .outer = cuda->now,
                               .call = call,
                               .first_workspace = cuda->workspaces.n };
    cuda->now = now;
}

void cuda_end_call(struct cuda *cuda)
{
    struct cuda_call *now = cuda->now;
    cuda_workspaces_release(cuda, now->first_workspace);
    cuda->now = now->outer;
}

static bool writes_arguments(const struct backend_call *call)
{
    for (uint32_t i = 0; i < call->op->n_args; i++)
        if (call->op->args[i].written)
            return true;
    return false;
}

/* What was launched for results only is computed again by the CPU. */
void cuda_decline(struct kernel *k)
{
    cuda_of(k)->now->declined = true;
    if (cuda_of(k)->now->launched && writes_arguments(k->call))
        kernel_fail(k, "its kernel does not support this case, and found it too late to use "
                       "another one: an argument may be changed already");
    k->failed = true; /* functions that the kernel calls from now on do nothing */
}

/* Runs one kernel, or the CPU's if it declines. */
static bool run_kernel_row(struct cuda *cuda, struct kernel *k, uint32_t item)
{
    struct cuda_call now;
    bool declined = true;
    if (k->row) {
        cuda_begin_call(cuda, &now, k->call);
        k->row->run(k);
        declined = now.declined && !err_is_set(k->err);
        cuda_end_call(cuda);
        if (declined)
            k->failed = false;
    }
    if (declined && cuda_has_extents(k->call)) {
        cuda->base.wants_sizes = !writes_arguments(k->call);
        return err_set(
            k->err, ERR_USAGE,
            "no kernel of the device computes this case, and the size is not known to the "
            "host; run it without --device-sizes");
    }
    return declined ? cuda_host_call(cuda, k->call, item, k->err) : !k->failed;
}

/* Runs a _foreach_ operator item by item, since the CPU may have to compute some of them. */
static bool run_items(struct cuda *cuda, struct kernel *k)
{
    uint32_t n = foreach_items(k->call);
    bool ok = true;
    k->foreach = true;
    for (k->item = 0; ok && k->item < n; k->item++)
        ok = run_kernel_row(cuda, k, k->item);
    return ok;
}

static bool cuda_call(struct backend *backend, const struct backend_call *call, struct err *err)
{
    struct cuda *cuda = cuda_backend_of(backend);
    struct kernel k = { .call = call, .err = err };
    if (!kernel_computes(&k))
        return true;
    k.row = kernel_row_find(&cuda->kernels, call->op->base);
    bool foreach = k.row && str_starts(call->op->base, STR("_foreach_"));
    bool ok = cuda_usable(cuda, err) &&
              (foreach ? run_items(cuda, &k) : run_kernel_row(cuda, &k, UINT32_MAX));
    arena_release(&k.arena);
    if (!cuda->now)
        cuda_counts_forget(cuda);
    /* An error of the device already contains its kernel, which may belong to an earlier call. */
    return ok || (err->kind != ERR_ENV && err_at(err, "%.*s", STR_ARG(call->op->name)));
}

static bool cuda_has(struct backend *backend, struct str base)
{
    struct err ignored = { 0 };
    struct backend *host = cuda_host(cuda_backend_of(backend), &ignored);
    return kernel_row_find(&cuda_backend_of(backend)->kernels, base) || !host ||
           host->kind->has(host, base);
}

static bool cuda_wait(struct backend *backend, struct err *err)
{
    return cuda_context_ready(cuda_backend_of(backend), err) &&
           cuda_settle(cuda_backend_of(backend), err);
}

static bool cuda_refine(struct backend *backend)
{
    struct cuda *cuda = cuda_backend_of(backend);
    struct err ignored = { 0 };
    const uint64_t taken = cuda->pool.taken, budget = cuda->base.pool.budget;
    bool changed = false;
    if (cuda->capture || !cuda_usable(cuda, &ignored))
        return false;
    cuda->base.pool.budget = 1; /* trials take no more than they need */
    for (size_t i = 0; i < LIBRARIES; i++)
        if (cuda->library_refine[i] && cuda->library_refine[i](cuda))
            changed = true;
    cuda_compile_put_off(cuda);
    cuda->base.pool.budget = budget;
    if (cuda->pool.taken > taken) /* workspaces of trials, which runs do not need */
        memory_pool_trim(&cuda->pool);
    return changed;
}

const struct backend_kind backend_cuda = {
    .name = "cuda",
    .description = "an NVIDIA GPU: kernels compiled at first use, cuBLASLt, cuDNN",
    .queues = true,
    .has_tf32 = true,
    .probe = cuda_probe,
    .open = cuda_open,
    .open_on = cuda_open_on,
    .devices = cuda_devices,
    .close = cuda_close,
    .free_memory = cuda_free_memory_of,
    .allocate = cuda_allocate,
    .release = cuda_release,
    .read = cuda_read,
    .write = cuda_write,
    .count = cuda_count,
    .takes_extents = cuda_takes_extents,
    .read_sizes = cuda_read_sizes,
    .call = cuda_call,
    .has = cuda_has,
    .wait = cuda_wait,
    .capture_begin = cuda_capture_begin,
    .capture_end = cuda_capture_end,
    .launch = cuda_launch_captured,
    .drop = cuda_drop_captured,
    .end_unbuilt = cuda_end_unbuilt,
    .refine = cuda_refine,
    .trim = cuda_trim,
};
