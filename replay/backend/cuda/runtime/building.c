/* Programs that are compiled while calls go on without them (struct backend's `repeats` and
 * `unbuilt`). The calls that are made again wait for them. */
#include <string.h>

#include "replay/backend/cuda/runtime/cuda.h"

struct pending_build {
    struct pending_build *next;
    uint64_t hash;          /* of the program's parts */
    struct compile_job job; /* with the source; the names of the program are in the arena */
};

/* Ends its threads and their processes, if it has any. Waits for the programs that are being
 * compiled; others are not compiled. */
static void drop_pool(struct cuda *cuda)
{
    compile_pool_free(cuda->builds.pool);
    cuda->builds.pool = NULL;
}

static void release_pending(struct cuda_builds *builds)
{
    for (struct pending_build *b = builds->pending; b; b = b->next) {
        buf_release(&b->job.source);
        buf_release(&b->job.code);
    }
    builds->pending = NULL;
    arena_release(&builds->arena);
}

void cuda_builds_close(struct cuda *cuda)
{
    drop_pool(cuda);
    release_pending(&cuda->builds);
}

static struct pending_build **find_build(struct cuda *cuda, struct cubin_key key)
{
    struct pending_build **at = &cuda->builds.pending;
    while (*at && ((*at)->job.key.high != key.high || (*at)->job.key.low != key.low))
        at = &(*at)->next;
    return at;
}

bool cuda_is_being_built(const struct cuda *cuda, uint64_t hash)
{
    const struct pending_build *b = cuda->builds.pending;
    while (b && b->hash != hash)
        b = b->next;
    return b != NULL;
}

/* Copies what the job needs of the program. False: out of memory. */
static bool keep_program(struct cuda *cuda, const struct program_text *program, struct str source,
                         struct compile_job *job)
{
    struct arena *arena = &cuda->builds.arena;
    struct str name = arena_copy(arena, str_of(program->name));
    struct str file = program->file ? arena_copy(arena, str_of(program->file)) : (struct str){ 0 };
    job->program = (struct program_text){ .file = file.p, .name = name.p };
    job->architecture = cuda->architecture;
    job->source = BUF_INIT;
    job->code = BUF_INIT;
    buf_put(&job->source, source);
    buf_putc(&job->source, '\0');
    return name.p && (file.p || !program->file) && !job->source.failed;
}

static bool need_pool(struct cuda *cuda)
{
    const struct compile_options how = { .threads = cuda->base.threads,
                                         .worker = cuda->base.worker };
    if (!cuda->builds.pool)
        cuda->builds.pool = compile_pool_new(&cuda->compiler, &how);
    return cuda->builds.pool != NULL;
}

void cuda_prepare_building(struct cuda *cuda)
{
    struct err ignored = { 0 };
    char folder[1200];
    if (cuda->base.worker && cubin_cache_folder(folder, sizeof folder) &&
        cubin_cache_is_empty(folder) && cuda_need_compiler(cuda, &ignored) && need_pool(cuda))
        compile_pool_start(cuda->builds.pool);
}

/* Begins to compile the program. False: out of memory. */
static bool begin_build(struct cuda *cuda, const struct program_text *program, uint64_t hash,
                        struct str source, struct cubin_key key)
{
    struct pending_build *b = arena_new(&cuda->builds.arena, struct pending_build);
    if (!b || !need_pool(cuda))
        return false;
    b->hash = hash;
    b->job.key = key;
    if (!keep_program(cuda, program, source, &b->job)) {
        buf_release(&b->job.source);
        return false;
    }
    b->next = cuda->builds.pending;
    cuda->builds.pending = b;
    compile_pool_add(cuda->builds.pool, &b->job, 1);
    return true;
}

bool cuda_goes_without(struct cuda *cuda, const struct program_text *program, uint64_t hash,
                       struct str source, struct cubin_key key)
{
    const bool begun = *find_build(cuda, key) != NULL;
    if (!cuda->base.repeats || (begun && !cuda->base.unbuilt) ||
        (!begun && !begin_build(cuda, program, hash, source, key)))
        return false;
    cuda->base.unbuilt = true;
    return true;
}

bool cuda_end_build(struct cuda *cuda, struct cubin_key key, struct buf *ret)
{
    struct pending_build **at = find_build(cuda, key), *b = *at;
    if (!b)
        return false;
    compile_pool_wait(cuda->builds.pool, &b->job);
    cuda->base.log.compile_ns += compile_pool_take_ns(cuda->builds.pool);
    cuda->base.log.compiled += b->job.compiled;
    *at = b->next;
    if (!cuda->builds.pending)
        drop_pool(cuda);
    buf_release(&b->job.source);
    buf_release(b->job.compiled ? ret : &b->job.code);
    if (b->job.compiled)
        *ret = b->job.code;
    return b->job.compiled;
}

/* Stores on disk what was compiled for calls that did not ask for it when they were made again. */
static void store_build(struct cuda *cuda, const struct compile_job *job)
{
    char folder[1200];
    if (!job->done || !job->compiled)
        return;
    cuda->base.log.compiled++;
    if (cubin_cache_folder(folder, sizeof folder))
        cubin_cache_write(folder, job->key, cuda->compiler.major, cuda->compiler.minor,
                          buf_str(&job->code));
}

/* Ends the pool, whose threads use the programs until then, and stores what it compiled. */
static void end_builds(struct cuda *cuda)
{
    if (cuda->builds.pool)
        cuda->base.log.compile_ns += compile_pool_take_ns(cuda->builds.pool);
    drop_pool(cuda);
    for (const struct pending_build *b = cuda->builds.pending; b; b = b->next)
        store_build(cuda, &b->job);
    release_pending(&cuda->builds);
}

bool cuda_end_unbuilt(struct backend *backend)
{
    struct cuda *cuda = (struct cuda *)backend;
    const bool unbuilt = backend->unbuilt;
    backend->unbuilt = false;
    if (!unbuilt || !cuda->builds.pending)
        end_builds(cuda);
    return unbuilt;
}
