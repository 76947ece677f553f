/* Modules are shared objects; a launch runs what they export. */
#include "tests/cuda/fake.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tests/cuda/block.h"
#include "tests/cuda/fake_code.h"

enum { MAX_THREADS = 1024, SHARED = 48 << 10, MAX_SHARED = 227 << 10 };

struct CUfunc_st {
    struct CUfunc_st *next;
    char *name;
    struct CUmod_st *module;
    void (*run)(const void *args);
    fake_work *work; /* of a library's function: what it runs; NULL: a kernel's */
    uint32_t args_bytes, max_threads;
    size_t dynamic_shared; /* at most */
};

struct CUmod_st {
    void *handle;
    int file; /* open as long as the module is: the loader knows libraries by their paths */
    struct shim **shim;
    char *shared[2];
    struct CUfunc_st *functions;
};

uint32_t fake_argument_bytes(cu_function function)
{
    return function->args_bytes;
}

enum { LAST_PARAMETER = 8 }; /* bytes of it, of a library's function */

static uint32_t first_bytes(const struct CUfunc_st *f)
{
    return f->work ? f->args_bytes - LAST_PARAMETER : f->args_bytes;
}

void fake_copy_arguments(cu_function f, void *const *from, void *to)
{
    memcpy(to, from[0], first_bytes(f));
    if (f->work)
        memcpy((char *)to + first_bytes(f), from[1], LAST_PARAMETER);
}

/* Functions of libraries; the process has them as long as it runs. */
static struct CUfunc_st *library_functions;

cu_function fake_function_of(fake_work *work, size_t bytes)
{
    struct CUfunc_st *f = library_functions;
    while (f && (f->work != work || f->args_bytes != bytes))
        f = f->next;
    if (f)
        return f;
    f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    *f = (struct CUfunc_st){ .next = library_functions,
                             .work = work,
                             .args_bytes = (uint32_t)bytes,
                             .max_threads = MAX_THREADS };
    return library_functions = f;
}

EXPORT int cuFuncGetParamInfo(cu_function f, size_t i, size_t *offset, size_t *bytes);
EXPORT int cuFuncGetParamInfo(cu_function f, size_t i, size_t *offset, size_t *bytes)
{
    int error = fake_enter_context(__func__);
    if (error || i > (f->work != NULL))
        return error ? error : CU_INVALID_VALUE;
    *offset = i ? first_bytes(f) : 0;
    *bytes = i ? LAST_PARAMETER : first_bytes(f);
    return CU_OK;
}

/* An ELF file's length is in its header: images have none of their own. */
static size_t image_bytes(const void *image)
{
    ElfW(Ehdr) header;
    if (memcmp(image, ELFMAG, SELFMAG) != 0)
        return 0;
    memcpy(&header, image, sizeof header); /* it may lie anywhere */
    if (header.e_type != ET_DYN)
        return 0;
    return header.e_shoff + (size_t)header.e_shnum * header.e_shentsize;
}

static void *open_image(const void *image, size_t n, int *ret)
{
    int file = memfd_create("kernels", MFD_CLOEXEC);
    if (file < 0)
        return NULL;
    void *handle = NULL;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (write(file, image, n) == (ssize_t)n)
        handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        close(file);
    *ret = file;
    return handle;
}

/* Of this compiler and this shim? */
static bool is_ours(void *handle)
{
    const unsigned long long *of = dlsym(handle, "symtape_made_with");
    return of && *of == made_with();
}

EXPORT int cuModuleLoadDataEx(cu_module *ret, const void *image, unsigned n_options,
                              unsigned *options, void **values);
EXPORT int cuModuleLoadDataEx(cu_module *ret, const void *image, unsigned n_options,
                              unsigned *options, void **values)
{
    (void)n_options;
    (void)options;
    (void)values;
    int error = fake_enter_context(__func__);
    if (error)
        return error;
    size_t n = fake_idles() ? 1 : image_bytes(image);
    if (n == 0)
        return CU_INVALID_IMAGE;
    struct CUmod_st *module = calloc(1, sizeof *module);
    if (!module)
        return CU_OUT_OF_MEMORY;
    if (fake_idles()) {
        *ret = module;
        return CU_OK;
    }
    char *const *shared = NULL;
    if ((module->handle = open_image(image, n, &module->file)) && is_ours(module->handle)) {
        module->shim = dlsym(module->handle, "symtape_shim");
        shared = dlsym(module->handle, "symtape_shared_bounds");
    }
    if (!module->shim || !shared) {
        if (module->handle) {
            dlclose(module->handle);
            close(module->file);
        }
        free(module);
        return CU_INVALID_IMAGE;
    }
    memcpy(module->shared, shared, sizeof module->shared);
    fake_made(FAKE_MODULE);
    *ret = module;
    return CU_OK;
}

EXPORT int cuModuleUnload(cu_module module);
EXPORT int cuModuleUnload(cu_module module)
{
    int error = fake_enter_context(__func__);
    for (struct CUfunc_st *f = module->functions, *next; f; f = next) {
        next = f->next;
        free(f->name);
        free(f);
    }
    if (module->handle) {
        dlclose(module->handle);
        close(module->file);
    }
    free(module);
    fake_gone(FAKE_MODULE);
    return error;
}

EXPORT int cuModuleGetFunction(cu_function *ret, cu_module module, const char *name);
EXPORT int cuModuleGetFunction(cu_function *ret, cu_module module, const char *name)
{
    int error = fake_enter_context(__func__);
    if (error)
        return error;
    char facts_name[256];
    snprintf(facts_name, sizeof facts_name, "%s_facts", name);
    static const uint32_t idle_facts[] = { 0, MAX_THREADS };
    void *run = fake_idles() ? module : dlsym(module->handle, name);
    const uint32_t *facts = fake_idles() ? idle_facts : dlsym(module->handle, facts_name);
    if (!run || !facts)
        return NOT_FOUND;
    struct CUfunc_st *f = calloc(1, sizeof *f);
    if (!f || !(f->name = strdup(name))) {
        free(f);
        return CU_OUT_OF_MEMORY;
    }
    memcpy(&f->run, &run, sizeof run);
    f->next = module->functions;
    f->module = module;
    f->args_bytes = facts[0];
    f->max_threads = facts[1];
    f->dynamic_shared = SHARED;
    module->functions = f;
    *ret = f;
    return CU_OK;
}

EXPORT int cuFuncGetAttribute(int *ret, int attribute, cu_function f);
EXPORT int cuFuncGetAttribute(int *ret, int attribute, cu_function f)
{
    int error = fake_enter_context(__func__);
    if (error)
        return error;
    switch (attribute) {
    case 0: *ret = (int)f->max_threads; break;
    case CU_FUNCTION_SHARED: *ret = (int)(f->module->shared[1] - f->module->shared[0]); break;
    case CU_FUNCTION_LOCAL: *ret = 0; break;
    case CU_FUNCTION_REGISTERS: *ret = 32; break;
    case CU_FUNCTION_DYNAMIC_SHARED: *ret = (int)f->dynamic_shared; break;
    default: return CU_INVALID_VALUE;
    }
    return CU_OK;
}

EXPORT int cuFuncSetAttribute(cu_function f, int attribute, int value);
EXPORT int cuFuncSetAttribute(cu_function f, int attribute, int value)
{
    int error = fake_enter_context(__func__);
    if (error)
        return error;
    if (attribute != CU_FUNCTION_DYNAMIC_SHARED || value < 0 || value > MAX_SHARED)
        return CU_INVALID_VALUE;
    f->dynamic_shared = (size_t)value;
    return CU_OK;
}

EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *ret, cu_function f, int threads,
                                                       size_t shared);
EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *ret, cu_function f, int threads,
                                                       size_t shared)
{
    int error = fake_enter_context(__func__);
    if (error)
        return error;
    if (threads <= 0)
        return CU_INVALID_VALUE;
    (void)shared;
    *ret = (uint32_t)threads > f->max_threads ? 0 : 2048 / threads;
    return CU_OK;
}

/* Who did it, for the one who reads the test's output. */
static void tell(const struct CUfunc_st *f, const struct block_failure *failure)
{
    Dl_info info;
    fprintf(stderr, "fake CUDA: kernel %s, %s", f->name, failure->text);
    if (failure->at && dladdr(failure->at, &info))
        fprintf(stderr, ", in %s at +0x%zx", info.dli_sname ? info.dli_sname : "?",
                (size_t)((char *)failure->at - (char *)info.dli_fbase));
    fputc('\n', stderr);
}

static void trace(const struct CUfunc_st *f, const unsigned *grid, unsigned threads)
{
    const char *path = getenv("SYMTAPE_FAKE_TRACE");
    FILE *file = path && *path ? fopen(path, "a") : NULL;
    if (!file)
        return;
    fprintf(file, "%s %u %u %u %u\n", f->name, grid[0], grid[1], grid[2], threads);
    fclose(file);
}

static double host_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* A launch that was checked; its arguments follow it. */
struct kernel_work {
    cu_function f;
    unsigned grid[3], threads, shared;
};

static int run_kernel(const void *data)
{
    const struct kernel_work *w = data;
    const struct CUfunc_st *f = w->f;
    void *args = aligned_alloc(64, (f->args_bytes + 63) / 64 * 64);
    if (!args)
        return CU_OUT_OF_MEMORY;
    memcpy(args, w + 1, f->args_bytes);
    struct block_launch launch = {
        .run = f->run,
        .args = args,
        .shim = f->module->shim,
        .threads = w->threads,
        .grid = { w->grid[0], w->grid[1], w->grid[2] },
        .dynamic_shared = w->shared,
        .shared = { f->module->shared[0], f->module->shared[1] },
    };
    struct block_failure failure;
    double start = host_us();
    trace(f, w->grid, w->threads);
    if (!block_run(&launch, &failure)) {
        tell(f, &failure);
        fake_break(failure.error);
    }
    free(args);
    fake_pass_time(1 + host_us() - start);
    return CU_OK;
}

EXPORT int cuLaunchKernel(cu_function f, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                          unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                          cu_stream stream, void **arguments, void **extra);
EXPORT int cuLaunchKernel(cu_function f, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                          unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                          cu_stream stream, void **arguments, void **extra)
{
    if (fake_idles())
        return CU_OK;
    int error = fake_enter_context(__func__);
    if (error || (error = fake_launched()))
        return error;
    if (grid_x == 0 || grid_y == 0 || grid_z == 0 || block_x == 0 || block_y != 1 || block_z != 1 ||
        grid_x > INT32_MAX || grid_y > 65535 || grid_z > 65535 || block_x > MAX_THREADS || extra ||
        !arguments || shared > f->dynamic_shared)
        return CU_INVALID_VALUE; /* how much static memory a kernel may have, its compiler knows */
    if (block_x > f->max_threads)
        return LAUNCH_OUT_OF_RESOURCES;
    struct kernel_work *work = calloc(1, sizeof *work + f->args_bytes);
    if (!work)
        return CU_OUT_OF_MEMORY;
    *work = (struct kernel_work){ f, { grid_x, grid_y, grid_z }, block_x, shared };
    fake_copy_arguments(f, arguments, work + 1);
    error = f->work ? fake_submit(stream, f->work, work + 1, f->args_bytes)
                    : fake_submit(stream, run_kernel, work, sizeof *work + f->args_bytes);
    free(work);
    return error;
}
