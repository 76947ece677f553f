/* Functions of compiled kernels by their text, name and defines; they are loaded at first use. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/backend/cuda/runtime/cuda.h"
#include "trace/base/clock.h"
#include "trace/base/hash.h"

enum { BUCKETS = 1024 };

/* A module contains all kernels of one program. */
struct module {
    struct module *next;
    struct cubin_key key;
    cu_module module;
};

struct function_entry {
    struct function_entry *next;
    uint64_t hash;
    struct str file, name,
        defines; /* for a generated text, `file` is empty and `defines` is the text */
    struct cuda_function function;
};

/* A function that later calls may need. */
struct put_off {
    struct put_off *next;
    uint64_t hash;
    struct str file, name, defines; /* as in struct function_entry, with an end */
};

struct cuda_modules {
    struct arena arena;
    struct module *modules;
    struct put_off *put_off;
    struct function_entry *buckets[BUCKETS];
    struct cuda_function placeholder; /* stands for each function that is still to be compiled */
};

void cuda_modules_close(struct cuda *cuda)
{
    cuda_builds_close(cuda);
    if (!cuda->modules)
        return;
    for (struct module *m = cuda->modules->modules; m; m = m->next)
        cuda->driver.module_unload(m->module);
    arena_release(&cuda->modules->arena);
    free(cuda->modules);
    cuda->modules = NULL;
}

/* Opens the compiler once; without it, kernels in the cache still run. */
bool cuda_need_compiler(struct cuda *cuda, struct err *err)
{
    if (!cuda->compiler.library.handle && !err_is_set(&cuda->no_compiler)) {
        uint64_t start = clock_ns();
        if (!compiler_open(&cuda->compiler, cuda->driver_version / 1000, &cuda->no_compiler))
            cuda->compiler.library.handle = NULL;
        cuda->base.log.opened += cuda->compiler.library.handle != NULL;
        cuda->base.log.open_ns += clock_ns() - start;
    }
    return cuda->compiler.library.handle != NULL ||
           err_set(err, cuda->no_compiler.kind, "%s", cuda->no_compiler.text);
}

static struct str defines_of(const struct program_text *program)
{
    return program->file ? str_of(program->defines ? program->defines : "") : program->text;
}

static uint64_t hash_of(const struct program_text *program)
{
    const struct str file = str_of(program->file ? program->file : "");
    return hash_mix(hash_str(defines_of(program)),
                    hash_mix(hash_str(file), hash_str(str_of(program->name))));
}

/* Returns the entry of the function in the list, which it is added to. NULL: out of memory. */
static struct put_off *put_off(struct cuda *cuda, const struct program_text *program)
{
    struct cuda_modules *modules = cuda->modules;
    const uint64_t hash = hash_of(program);
    struct put_off *p = modules->put_off;
    while (p && p->hash != hash)
        p = p->next;
    if (p)
        return p;
    p = arena_new(&modules->arena, struct put_off);
    if (!p)
        return NULL;
    p->hash = hash;
    p->file = arena_copy(&modules->arena, str_of(program->file ? program->file : ""));
    p->name = arena_copy(&modules->arena, str_of(program->name));
    p->defines = arena_copy(&modules->arena, defines_of(program));
    if (!p->file.p || !p->name.p || !p->defines.p)
        return NULL;
    p->next = modules->put_off;
    modules->put_off = p;
    return p;
}

/* ---- Loading ---- */

static bool compile(struct cuda *cuda, const struct program_text *program, struct str source,
                    struct buf *ret, struct err *err)
{
    uint64_t start = clock_ns();
    bool ok = compiler_run(&cuda->compiler, program, source, cuda->architecture, ret, err);
    cuda->base.log.compiled += ok;
    cuda->base.log.compile_ns += clock_ns() - start;
    return ok;
}

static bool load_module(struct cuda *cuda, const struct program_text *program, struct str code,
                        cu_module *ret, struct err *err)
{
    char log[600] = "";
    unsigned options[] = { CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_BYTES };
    void *values[] = { log, (void *)(uintptr_t)(sizeof log - 1) };
    uint64_t start = clock_ns();
    int rc = cuda->driver.module_load(ret, code.p, 2, options, values);
    cuda->base.log.loaded += rc == CU_OK;
    cuda->base.log.load_ns += clock_ns() - start;
    if (rc == CU_OK)
        return true;
    if (cuda_is_fatal(rc)) /* an earlier kernel's error, not this program's */
        return cuda_check(cuda, rc, err, "loading kernel %s", program->name);
    bool older = rc == CU_NO_BINARY || rc == CU_INVALID_PTX || rc == CU_UNSUPPORTED_PTX;
    return cuda_check(
        cuda, rc, err,
        "kernel %s, compiled for sm_%d by NVRTC %d.%d, cannot be loaded by the driver (for CUDA "
        "%d.%d)%s%s%.200s",
        program->name, cuda->architecture, cuda->compiler.major, cuda->compiler.minor,
        cuda->driver_version / 1000, cuda->driver_version % 1000 / 10,
        older ? ", which may be older than NVRTC; $SYMTAPE_CUDA_LIB can name the folder of "
                "another NVRTC"
              : "",
        *log ? ": " : "", log);
}

/* Loads the module from the cache on disk or from the compiler; if the driver refuses the cached
 * one, it is compiled again. False without an error: the call goes on without it. */
static bool make_module(struct cuda *cuda, const struct program_text *program, struct str source,
                        struct cubin_key key, cu_module *ret, struct err *err)
{
    char folder[1200];
    struct buf code = BUF_INIT;
    struct err why = { 0 };
    bool cache = cubin_cache_folder(folder, sizeof folder);
    bool have = cuda_need_compiler(cuda, &why);
    bool ok = cache &&
              cubin_cache_read(folder, key, have ? cuda->compiler.major : -1, cuda->compiler.minor,
                               &code) &&
              load_module(cuda, program, buf_str(&code), ret, &why);
    if (!ok && !have)
        err_set(err, why.kind, "kernel %s: %s", program->name, why.text);
    if (!ok && have && cuda_usable(cuda, err) &&
        !cuda_goes_without(cuda, program, hash_of(program), source, key)) {
        buf_clear(&code);
        ok = (cuda_end_build(cuda, key, &code) || compile(cuda, program, source, &code, err)) &&
             load_module(cuda, program, buf_str(&code), ret, err);
        if (ok && cache)
            cubin_cache_write(folder, key, cuda->compiler.major, cuda->compiler.minor,
                              buf_str(&code));
    }
    buf_release(&code);
    return ok;
}

static struct module *known_module(const struct cuda *cuda, struct cubin_key key)
{
    struct module *m = cuda->modules->modules;
    while (m && (m->key.high != key.high || m->key.low != key.low))
        m = m->next;
    return m;
}

static void add_module(struct cuda *cuda, struct module *m, struct cubin_key key)
{
    m->key = key;
    m->next = cuda->modules->modules;
    cuda->modules->modules = m;
}

/* NULL without an error: the call goes on without it. */
static struct module *module_of(struct cuda *cuda, const struct program_text *program,
                                struct err *err)
{
    struct buf source = BUF_INIT;
    struct module *found = NULL;
    if (program_source(program, &source, err)) {
        struct cubin_key key = program_key(buf_str(&source), cuda->architecture);
        buf_putc(&source, '\0');
        found = known_module(cuda, key);
        struct module *m =
            found || source.failed ? NULL : arena_new(&cuda->modules->arena, struct module);
        struct str text = { source.p, source.n ? source.n - 1 : 0 };
        if (m && make_module(cuda, program, text, key, &m->module, err)) {
            add_module(cuda, m, key);
            found = m;
        } else if (!found && !m) {
            err_nomem(err);
        }
    }
    buf_release(&source);
    return found;
}

static bool find_function(struct cuda *cuda, const struct module *module, const char *name,
                          struct cuda_function *ret, struct err *err)
{
    const struct driver *d = &cuda->driver;
    if (!cuda_check(cuda, d->module_function(&ret->f, module->module, name), err, "kernel %s",
                    name))
        return false;
    size_t offset;
    if (d->function_parameter &&
        d->function_parameter(ret->f, 0, &offset, &ret->arguments) != CU_OK)
        ret->arguments = 0;
    return cuda_check(cuda, d->function_attribute(&ret->registers, CU_FUNCTION_REGISTERS, ret->f),
                      err, "kernel %s", name) &&
           cuda_check(cuda, d->function_attribute(&ret->local, CU_FUNCTION_LOCAL, ret->f), err,
                      "kernel %s", name) &&
           cuda_check(cuda, d->function_attribute(&ret->shared, CU_FUNCTION_SHARED, ret->f), err,
                      "kernel %s", name);
}

static struct function_entry *entry_new(struct cuda *cuda, const struct program_text *program,
                                        struct str defines, uint64_t hash)
{
    struct arena *arena = &cuda->modules->arena;
    struct function_entry *e = arena_new(arena, struct function_entry);
    if (!e)
        return NULL;
    e->hash = hash;
    e->file = arena_copy(arena, str_of(program->file ? program->file : ""));
    e->name = str_of(
        cuda_keep_name(cuda, str_of(program->name))); /* logs use it until the backend is closed */
    e->defines = arena_copy(arena, defines);
    e->function.name = e->name.p;
    return e->file.p && e->name.p && e->defines.p ? e : NULL;
}

/* NULL: it was not needed yet. */
static struct function_entry *known_function(const struct cuda *cuda,
                                             const struct program_text *program, uint64_t hash)
{
    const struct str file = str_of(program->file ? program->file : "");
    for (struct function_entry *e = cuda->modules->buckets[hash % BUCKETS]; e; e = e->next)
        if (e->hash == hash && str_eq(e->file, file) && str_eq(e->name, str_of(program->name)) &&
            str_eq(e->defines, defines_of(program)))
            return e;
    return NULL;
}

static struct cuda_function *
function_of_program(struct cuda *cuda, const struct program_text *program, struct err *err)
{
    const uint64_t hash = hash_of(program);
    if (!cuda_usable(cuda, err))
        return NULL;
    if (!cuda->modules && !(cuda->modules = calloc(1, sizeof *cuda->modules)))
        return err_nomem(err), NULL;
    struct function_entry **bucket = &cuda->modules->buckets[hash % BUCKETS];
    struct function_entry *e = known_function(cuda, program, hash);
    if (e)
        return &e->function;
    if (cuda->base.unbuilt && cuda_is_being_built(cuda, hash))
        return &cuda->modules->placeholder;
    struct module *module = module_of(cuda, program, err);
    if (!module && !err_is_set(err) && cuda->base.unbuilt)
        return &cuda->modules->placeholder;
    e = module ? entry_new(cuda, program, defines_of(program), hash) : NULL;
    if (module && !e)
        err_nomem(err);
    if (!e || !find_function(cuda, module, program->name, &e->function, err))
        return NULL;
    /* by default, a launch may use 48 KiB including static memory */
    int most = 48 << 10;
    e->function.shared_allowed =
        e->function.shared < most ? (uint32_t)(most - e->function.shared) : 0;
    e->next = *bucket;
    *bucket = e;
    return &e->function;
}

/* Writes the name of a text, "FILE.cu", for each launch: snprintf() would take longer than the
 * rest. False: it is too long. */
static bool name_of_text(const char *file, char ret[64])
{
    static const char end[] = ".cu";
    const size_t n = strlen(file);
    if (n + sizeof end > 64)
        return false;
    memcpy(ret, file, n);
    memcpy(ret + n, end, sizeof end);
    return true;
}

struct cuda_function *cuda_compile_file(struct cuda *cuda, const char *file, const char *name,
                                        const char *defines, struct err *err)
{
    char with_end[64];
    bool fits = name_of_text(file, with_end);
    struct program_text program = { .file = with_end, .name = name, .defines = defines };
    if (!fits)
        err_set(err, ERR_ENV, "kernel %s: there is no source text %s", name, file);
    return fits ? function_of_program(cuda, &program, err) : NULL;
}

struct cuda_function *cuda_function(struct kernel *k, const char *file, const char *name,
                                    const char *defines)
{
    struct cuda_function *f = NULL;
    if (!k->failed)
        f = cuda_compile_file(cuda_of(k), file, name, defines, k->err);
    k->failed |= !f;
    return f;
}

struct cuda_function *cuda_function_of_text(struct kernel *k, const char *name, struct str text)
{
    struct cuda_function *f = k->failed ? NULL : cuda_compile_text(cuda_of(k), name, text, k->err);
    k->failed |= !f;
    return f;
}

struct cuda_function *cuda_compile_text(struct cuda *cuda, const char *name, struct str text,
                                        struct err *err)
{
    return function_of_program(cuda, &(struct program_text){ .name = name, .text = text }, err);
}

bool cuda_function_first_use(struct cuda_function *f)
{
    const bool ret = f && !f->seen;
    if (ret)
        f->seen = f->f != NULL; /* not one that stands for others */
    return ret;
}

/* ---- Functions that were put off ---- */

void cuda_put_off(struct cuda *cuda, const struct program_text *program)
{
    if (cuda->modules && !known_function(cuda, program, hash_of(program)))
        put_off(cuda, program);
}

void cuda_function_later(struct kernel *k, const char *file, const char *name, const char *defines)
{
    char with_end[64];
    if (!k->failed && name_of_text(file, with_end))
        cuda_put_off(cuda_of(k), &(struct program_text){ with_end, name, defines, { 0 } });
}

static struct program_text program_of(const struct put_off *p)
{
    return p->file.n ? (struct program_text){ p->file.p, p->name.p, p->defines.p, { 0 } }
                     : (struct program_text){ NULL, p->name.p, NULL, p->defines };
}

/* Returns whether the program has to be compiled: it is not loaded, not in the cache on disk, and
 * none of the n jobs before. */
static bool must_compile(struct cuda *cuda, const struct compile_job *jobs, size_t n)
{
    const struct compile_job *job = &jobs[n];
    char folder[1200];
    struct buf code = BUF_INIT;
    bool found = known_module(cuda, job->key) != NULL;
    for (size_t i = 0; i < n && !found; i++)
        found = jobs[i].key.high == job->key.high && jobs[i].key.low == job->key.low;
    found = found ||
            (cubin_cache_folder(folder, sizeof folder) &&
             cubin_cache_read(folder, job->key, cuda->compiler.major, cuda->compiler.minor, &code));
    buf_release(&code);
    return !found;
}

/* Adds the job of a function unless there is nothing to compile. */
static bool add_job(struct cuda *cuda, const struct put_off *p, struct compile_job *jobs, size_t n)
{
    struct err ignored = { 0 };
    struct compile_job *job = &jobs[n];
    *job = (struct compile_job){ .program = program_of(p),
                                 .architecture = cuda->architecture,
                                 .source = BUF_INIT,
                                 .code = BUF_INIT };
    if (program_source(&job->program, &job->source, &ignored)) {
        job->key = program_key(buf_str(&job->source), cuda->architecture);
        buf_putc(&job->source, '\0');
        if (!job->source.failed && must_compile(cuda, jobs, n))
            return true;
    }
    buf_release(&job->source);
    return false;
}

/* Loads what was compiled and stores it on disk. */
static void keep_code(struct cuda *cuda, const struct program_text *program, struct cubin_key key,
                      struct str code)
{
    struct err ignored = { 0 };
    char folder[1200];
    struct module *m = arena_new(&cuda->modules->arena, struct module);
    if (!m || !load_module(cuda, program, code, &m->module, &ignored))
        return;
    add_module(cuda, m, key);
    if (cubin_cache_folder(folder, sizeof folder))
        cubin_cache_write(folder, key, cuda->compiler.major, cuda->compiler.minor, code);
}

static void finish_job(struct cuda *cuda, struct compile_job *job)
{
    cuda->base.log.compiled += job->compiled;
    if (job->compiled)
        keep_code(cuda, &job->program, job->key, buf_str(&job->code));
    buf_release(&job->source);
    buf_release(&job->code);
}

/* Compiles the programs of the functions that are in no cache, several at a time. */
static void compile_together(struct cuda *cuda, const struct put_off *list)
{
    struct err ignored = { 0 };
    size_t n = 0, most = 0;
    for (const struct put_off *p = list; p; p = p->next)
        most++;
    struct compile_job *jobs = most ? calloc(most, sizeof *jobs) : NULL;
    if (!jobs || !cuda_need_compiler(cuda, &ignored)) { /* each is compiled where it is needed */
        free(jobs);
        return;
    }
    for (const struct put_off *p = list; p; p = p->next)
        n += add_job(cuda, p, jobs, n);
    uint64_t start = clock_ns();
    compiler_run_all(
        &cuda->compiler, jobs, n,
        &(struct compile_options){ .threads = cuda->base.threads, .worker = cuda->base.worker });
    cuda->base.log.compile_ns += clock_ns() - start;
    for (size_t i = 0; i < n; i++)
        finish_job(cuda, &jobs[i]);
    free(jobs);
}

void cuda_compile_put_off(struct cuda *cuda)
{
    struct err ignored = { 0 }; /* a call that needs the function fails with it */
    if (!cuda->modules || !cuda_usable(cuda, &ignored))
        return;
    struct put_off *p = cuda->modules->put_off;
    cuda->modules->put_off = NULL;
    compile_together(cuda, p);
    for (; p && cuda_usable(cuda, &ignored); p = p->next, ignored = (struct err){ 0 }) {
        const struct program_text program = program_of(p);
        function_of_program(cuda, &program, &ignored);
    }
}
