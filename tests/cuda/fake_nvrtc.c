/* A libnvrtc.so.13 that compiles kernels for the host: the text with shim.h in place of the
 * device's words, by a C compiler, to a shared object, which stands for the cubin (fake_modules.c).
 * What C does not define traps. SYMTAPE_FAKE_FAIL as in fake.h; it counts for itself. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cuda/fake_code.h"

#define EXPORT __attribute__((visibility("default")))

enum {
    OK,
    OUT_OF_MEMORY,
    CREATION_FAILURE,
    INVALID_INPUT,
    INVALID_PROGRAM,
    INVALID_OPTION,
    COMPILATION
};

enum { IDLE_MINOR = 99 };

extern char **environ;

struct header {
    char *name, *text;
};
struct program {
    char *text, *name, *log, *object;
    size_t log_bytes, object_bytes;
    int n_headers;
    struct header *headers;
};

/* Programs are compiled by several threads. */
static int injected(const char *name)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct {
        const char *name;
        unsigned long long n;
    } calls[32];
    unsigned long long n = 0, at;
    int error;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < sizeof calls / sizeof *calls && n == 0; i++) {
        if (!calls[i].name)
            calls[i].name = name;
        if (strcmp(calls[i].name, name) == 0)
            n = ++calls[i].n;
    }
    pthread_mutex_unlock(&lock);
    const char *rule = getenv("SYMTAPE_FAKE_FAIL");
    for (; rule && *rule; rule = strchr(rule, ',') ? strchr(rule, ',') + 1 : NULL)
        if (strncmp(rule, name, strlen(name)) == 0 &&
            sscanf(rule + strlen(name), ":%llu:%d", &at, &error) == 2 && (at == 0 || at == n))
            return error;
    return OK;
}

/* fake.h */
static bool idles(void)
{
    const char *text = getenv("SYMTAPE_FAKE_IDLE");
    return text && *text && strcmp(text, "0") != 0;
}

EXPORT int nvrtcVersion(int *major, int *minor);
EXPORT int nvrtcVersion(int *major, int *minor)
{
    *major = 13;
    *minor = idles() ? IDLE_MINOR : 0; /* what it gives is not to be taken for code */
    return injected(__func__);
}

static void release(struct program *program)
{
    for (int i = 0; program->headers && i < program->n_headers; i++) {
        free(program->headers[i].name);
        free(program->headers[i].text);
    }
    free(program->headers);
    free(program->text);
    free(program->name);
    free(program->log);
    free(program->object);
    free(program);
}

EXPORT int nvrtcCreateProgram(struct program **ret, const char *text, const char *name,
                              int n_headers, const char *const *headers, const char *const *names);
EXPORT int nvrtcCreateProgram(struct program **ret, const char *text, const char *name,
                              int n_headers, const char *const *headers, const char *const *names)
{
    int error = injected(__func__);
    if (error)
        return error;
    if (!text || n_headers < 0)
        return INVALID_INPUT;
    struct program *program = calloc(1, sizeof *program);
    if (!program)
        return OUT_OF_MEMORY;
    program->n_headers = n_headers;
    program->text = strdup(text);
    program->name = strdup(name ? name : "default_program");
    program->log = strdup("");
    program->headers = calloc((size_t)n_headers + 1, sizeof *program->headers);
    bool whole = program->text && program->name && program->log && program->headers;
    for (int i = 0; whole && i < n_headers; i++)
        whole = (program->headers[i].name = strdup(names[i])) &&
                (program->headers[i].text = strdup(headers[i]));
    if (!whole)
        return release(program), OUT_OF_MEMORY;
    *ret = program;
    return OK;
}

EXPORT int nvrtcDestroyProgram(struct program **program);
EXPORT int nvrtcDestroyProgram(struct program **program)
{
    int error = injected(__func__);
    if (!program || !*program)
        return INVALID_PROGRAM;
    release(*program);
    *program = NULL;
    return error;
}

/* --- Files --- */

static bool write_text(const char *folder, const char *name, const char *first, const char *text)
{
    char path[4096];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
        return false;
    for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = 0;
        if (mkdir(path, 0700) != 0 && errno != EEXIST)
            return false;
    }
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    bool ok = fputs(first, file) >= 0 && fputs(text, file) >= 0;
    return fclose(file) == 0 && ok;
}

static char *read_whole(const char *folder, const char *name, size_t *n)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    long bytes = ftell(file);
    rewind(file);
    char *text = bytes >= 0 ? malloc((size_t)bytes + 1) : NULL;
    if (text) {
        *n = fread(text, 1, (size_t)bytes, file);
        text[*n] = 0;
    }
    fclose(file);
    return text;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *at)
{
    (void)info;
    (void)kind;
    (void)at;
    return remove(path);
}

/* --- Compiling --- */

static bool run_compiler(const char *folder, const char *const *options, int n_options)
{
    char log[4096], source[4096], object[4096], include[4096];
    snprintf(log, sizeof log, "%s/log", folder);
    snprintf(source, sizeof source, "%s/text.c", folder);
    snprintf(object, sizeof object, "%s/text.so", folder);
    snprintf(include, sizeof include, "-I%s", folder);
    const char *args[64] = {
        kernel_compiler(),
        "-std=gnu17",
        "-shared",
        "-fPIC",
        "-O1",
        "-g1",
        "-fwrapv",
        "-fno-strict-aliasing",
        "-ffp-contract=off",
        "-fno-omit-frame-pointer",
        "-Werror=implicit-function-declaration",
        "-Werror=incompatible-pointer-types",
        "-Werror=int-conversion",
        "-Werror=return-type",
        "-Wno-attributes",
        "-Wno-unknown-pragmas",
        "-fsanitize=alignment,bounds,integer-divide-by-zero,shift-exponent,null",
        FAKE_TRAP,
        "-include",
        FAKE_ROOT "/tests/cuda/shim_state.h",
        "-DSYMTAPE_SHIM=\"" FAKE_ROOT "/tests/cuda/shim.h\"",
        include,
        SANITIZER source,
        "-o",
        object,
        "-lm",
    };
    int n = 0;
    while (args[n])
        n++;
    for (int i = 0; i < n_options && n < 62; i++)
        if (strncmp(options[i], "-D", 2) == 0)
            args[n++] = options[i];
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return false;
    posix_spawn_file_actions_addopen(&actions, 2, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    pid_t pid;
    int status = -1;
    bool ok = posix_spawnp(&pid, args[0], &actions, NULL, (char *const *)args, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    while (ok && waitpid(pid, &status, 0) < 0)
        ok = errno == EINTR;
    return ok && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* SYMTAPE_FAKE_PROGRAMS: name and options, then the text, in a file named by their hash. */
static bool collect(const struct program *program, const char *const *options, int n_options)
{
    const char *folder = getenv("SYMTAPE_FAKE_PROGRAMS");
    char first[1024], name[64], path[4096], from[4096];
    int n = snprintf(first, sizeof first, "// %s", program->name);
    for (int i = 0; i < n_options && n < (int)sizeof first; i++)
        n += snprintf(first + n, sizeof first - (size_t)n, " %s", options[i]);
    if (n < (int)sizeof first)
        n += snprintf(first + n, sizeof first - (size_t)n, "\n");
    if (!folder || !*folder || n >= (int)sizeof first)
        return !folder || !*folder;
    unsigned long long hash = hash_bytes(0xcbf29ce484222325u, first, (size_t)n);
    hash = hash_bytes(hash, program->text, strlen(program->text));
    snprintf(path, sizeof path, "%s/%016llx.cu", folder, hash);
    snprintf(name, sizeof name, "%016llx.cu.%d", hash, (int)getpid());
    snprintf(from, sizeof from, "%s/%s", folder, name);
    return write_text(folder, name, first, program->text) && rename(from, path) == 0;
}

static int compile(struct program *program, const char *folder, const char *const *options, int n)
{
    char first[512];
    snprintf(first, sizeof first,
             "const unsigned long long symtape_made_with = %lluu;\n#line 1 \"%s\"\n", made_with(),
             program->name);
    bool ok = write_text(folder, "text.c", first, program->text);
    for (int i = 0; ok && i < program->n_headers; i++)
        ok = write_text(folder, program->headers[i].name, "", program->headers[i].text);
    if (!ok)
        return CREATION_FAILURE;
    ok = run_compiler(folder, options, n);
    size_t log_bytes;
    char *log = read_whole(folder, "log", &log_bytes);
    if (log) {
        free(program->log);
        program->log = log;
    }
    free(program->object);
    program->object = ok ? read_whole(folder, "text.so", &program->object_bytes) : NULL;
    return program->object ? OK : COMPILATION;
}

EXPORT int nvrtcCompileProgram(struct program *program, int n_options, const char *const *options);
EXPORT int nvrtcCompileProgram(struct program *program, int n_options, const char *const *options)
{
    int error = injected(__func__);
    if (error)
        return error;
    for (int i = 0; i < n_options; i++)
        if (options[i][0] != '-')
            return INVALID_OPTION;
    if (!collect(program, options, n_options))
        return CREATION_FAILURE;
    if (idles()) {
        program->object = strdup("idle");
        program->object_bytes = 4;
        return program->object ? OK : OUT_OF_MEMORY;
    }
    const char *keep = getenv("SYMTAPE_FAKE_KEEP"), *tmp = getenv("TMPDIR");
    char folder[2048];
    snprintf(folder, sizeof folder, "%s/symtape-kernel-XXXXXX", keep ? keep : tmp ? tmp : "/tmp");
    if (!mkdtemp(folder))
        return CREATION_FAILURE;
    error = compile(program, folder, options, n_options);
    if (!keep)
        nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return error;
}

EXPORT int nvrtcGetProgramLogSize(struct program *program, size_t *ret);
EXPORT int nvrtcGetProgramLogSize(struct program *program, size_t *ret)
{
    *ret = strlen(program->log) + 1;
    return injected(__func__);
}

EXPORT int nvrtcGetProgramLog(struct program *program, char *ret);
EXPORT int nvrtcGetProgramLog(struct program *program, char *ret)
{
    memcpy(ret, program->log, strlen(program->log) + 1);
    return injected(__func__);
}

EXPORT int nvrtcGetCUBINSize(struct program *program, size_t *ret);
EXPORT int nvrtcGetCUBINSize(struct program *program, size_t *ret)
{
    *ret = program->object_bytes;
    return injected(__func__);
}

EXPORT int nvrtcGetCUBIN(struct program *program, char *ret);
EXPORT int nvrtcGetCUBIN(struct program *program, char *ret)
{
    if (!program->object)
        return INVALID_PROGRAM;
    memcpy(ret, program->object, program->object_bytes);
    return injected(__func__);
}

static const char no_ptx[] = "// compiled for the host\n";

EXPORT int nvrtcGetPTXSize(struct program *program, size_t *ret);
EXPORT int nvrtcGetPTXSize(struct program *program, size_t *ret)
{
    (void)program;
    *ret = sizeof no_ptx;
    return injected(__func__);
}

EXPORT int nvrtcGetPTX(struct program *program, char *ret);
EXPORT int nvrtcGetPTX(struct program *program, char *ret)
{
    (void)program;
    memcpy(ret, no_ptx, sizeof no_ptx);
    return injected(__func__);
}

EXPORT int nvrtcGetNumSupportedArchs(int *ret);
EXPORT int nvrtcGetNumSupportedArchs(int *ret)
{
    *ret = 2;
    return OK;
}

EXPORT int nvrtcGetSupportedArchs(int *ret);
EXPORT int nvrtcGetSupportedArchs(int *ret)
{
    ret[0] = 80;
    ret[1] = 90;
    return OK;
}

EXPORT const char *nvrtcGetErrorString(int error);
EXPORT const char *nvrtcGetErrorString(int error)
{
    static const char *const texts[] = {
        "NVRTC_SUCCESS",
        "NVRTC_ERROR_OUT_OF_MEMORY",
        "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
        "NVRTC_ERROR_INVALID_INPUT",
        "NVRTC_ERROR_INVALID_PROGRAM",
        "NVRTC_ERROR_INVALID_OPTION",
        "NVRTC_ERROR_COMPILATION",
    };
    return error >= 0 && error <= COMPILATION ? texts[error] : "NVRTC_ERROR unknown";
}
