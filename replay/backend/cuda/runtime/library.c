#include "replay/backend/cuda/runtime/library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "replay/backend/cuda/runtime/matching.h"

enum { MAX_NAMES = 4 };

/* The sonames by major version, newest first, and how the name of the file is written if the
 * version is part of it. */
static const struct {
    const char *name, *stem;
    int majors[MAX_NAMES]; /* ends with 0; -1: the .so without a version */
    const char *hint,
        *version; /* version: the function that returns it; NULL: there is none of that kind */
} libraries[LIBRARIES] = {
    [LIBRARY_DRIVER] = { "driver",
                         "libcuda.so",
                         { 1 },
                         "it comes with the driver of an NVIDIA GPU",
                         NULL },
    [LIBRARY_NVRTC] = { "NVRTC",
                        "libnvrtc.so",
                        { 13, 12, -1 },
                        "it is in the CUDA toolkit and in the wheel nvidia-cuda-nvrtc",
                        NULL },
    [LIBRARY_CUBLASLT] = { "cuBLASLt",
                           "libcublasLt.so",
                           { 13, 12, -1 },
                           "it is in the CUDA toolkit and in the wheel nvidia-cublas",
                           "cublasLtGetVersion" },
    [LIBRARY_CUDNN] = { "cuDNN",
                        "libcudnn.so",
                        { 9 },
                        "it is in the wheel nvidia-cudnn",
                        "cudnnGetVersion" },
    [LIBRARY_NCCL] = { "NCCL",
                       "libnccl.so",
                       { 2 },
                       "it is in the wheel nvidia-nccl",
                       "ncclGetVersion" },
};

const char *library_name(enum library_id id)
{
    return libraries[id].name;
}

/* ---- Directories ---- */

static void append_folder(struct buf *ret, const char *path)
{
    struct stat s;
    if (stat(path, &s) != 0 || !S_ISDIR(s.st_mode) || strchr(path, '\n'))
        return;
    buf_puts(ret, path);
    buf_putc(ret, '\n');
}

/* Appends the paths that match a pattern. A part with "*" matches any name; newer versions, which
 * sort after older ones, come first. */
static void put_pattern(struct buf *ret, const char *pattern)
{
    char folder[1200], part[256], path[1200];
    const char *star = strchr(pattern, '*');
    if (!star) {
        append_folder(ret, pattern);
        return;
    }
    const char *from = star, *end = strchrnul(star, '/');
    while (from > pattern && from[-1] != '/')
        from--;
    if (from == pattern || (size_t)(from - pattern) > sizeof folder ||
        (size_t)(end - from) >= sizeof part)
        return;
    snprintf(folder, sizeof folder, "%.*s", (int)(from - 1 - pattern), pattern);
    snprintf(part, sizeof part, "%.*s", (int)(end - from), from);
    struct name_matches found = matching_find(AT_FDCWD, folder, part);
    for (int i = found.n; i-- > 0;)
        if ((size_t)snprintf(path, sizeof path, "%s/%s%s", folder, found.names[i]->d_name, end) <
                sizeof path &&
            !strchr(found.names[i]->d_name, '*'))
            put_pattern(ret, path); /* has one "*" less */
    matching_release(&found);
}

/* Appends the paths `below` a directory from an environment variable; "*" in `below` matches any
 * name. */
static void append_below(struct buf *ret, const char *variable, const char *below)
{
    const char *root = getenv(variable);
    char pattern[1200];
    if (root && *root && !strpbrk(root, "*?[\\") &&
        (size_t)snprintf(pattern, sizeof pattern, "%s/%s", root, below) < sizeof pattern)
        put_pattern(ret, pattern);
}

static void put_listed(struct buf *ret, const char *variable)
{
    struct str rest = str_of(getenv(variable));
    while (rest.n) {
        char path[1024];
        size_t n = str_find_char(rest, ':');
        if (n && n < sizeof path) {
            memcpy(path, rest.p, n);
            path[n] = '\0';
            append_folder(ret, path);
        }
        rest = str_from(rest, n + 1);
    }
}

static void put_usual(struct buf *ret)
{
    static const struct {
        const char *variable, *below;
    } named[] = {
        { "CUDA_HOME", "lib64" },
        { "CUDA_PATH", "lib64" },
        { "VIRTUAL_ENV", "lib/python3*/site-packages/nvidia/*/lib" },
        { "CONDA_PREFIX", "lib" },
        { "CONDA_PREFIX", "lib/python3*/site-packages/nvidia/*/lib" },
        { "HOME", ".local/lib/python3*/site-packages/nvidia/*/lib" },
    };
    static const char *const fixed[] = {
        "/usr/local/cuda/lib64",
        "/usr/local/cuda-*/lib64",
        "/usr/local/nvidia/lib64",
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/usr/lib64",
        "/usr/lib/wsl/lib",
        "/opt/cuda/lib64",
        "/run/opengl-driver/lib",
        "/usr/local/lib/python3*/*-packages/nvidia/*/lib",
        "/usr/lib/python3*/*-packages/nvidia/*/lib",
    };
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        append_below(ret, named[i].variable, named[i].below);
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        put_pattern(ret, fixed[i]);
}

void library_folders(struct buf *ret)
{
    put_listed(ret, "SYMTAPE_CUDA_LIB");
    put_usual(ret);
}

/* ---- Opening ---- */

struct library_search {
    struct cuda_library *ret;
    char name[64];
    char why[400]; /* the error of a file that exists and could not be opened */
};

static void note_path(struct cuda_library *library, const char *otherwise)
{
    struct link_map *map = NULL;
    const char *path = otherwise;
    if (dlinfo(library->handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name && *map->l_name)
        path = map->l_name;
    snprintf(library->path, sizeof library->path, "%s", path);
}

static bool try_open(struct library_search *s, const char *path)
{
    s->ret->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (s->ret->handle)
        return note_path(s->ret, path), true;
    const char *why = dlerror();
    if (strchr(path, '/') && !*s->why)
        snprintf(s->why, sizeof s->why, "%s", why ? why : path);
    return false;
}

/* NVRTC opens its builtins library by its soname, which the loader may not find. An open library
 * with that soname is used. */
static void open_builtins(const char *folder)
{
    char path[1200];
    struct name_matches found = matching_find(AT_FDCWD, folder, "libnvrtc-builtins.so.*");
    if (found.n &&
        (size_t)snprintf(path, sizeof path, "%s/%s", folder, found.names[0]->d_name) < sizeof path)
        dlopen(path, RTLD_LAZY | RTLD_GLOBAL | RTLD_NODELETE);
    matching_release(&found);
}

static bool try_folder(struct library_search *s, struct str folder)
{
    char path[1200], at[1024];
    struct stat st;
    if (folder.n >= sizeof at)
        return false;
    snprintf(at, sizeof at, "%.*s", STR_ARG(folder));
    snprintf(path, sizeof path, "%s/%s", at, s->name);
    if (stat(path, &st) != 0)
        return false;
    if (s->ret->id == LIBRARY_NVRTC)
        open_builtins(at);
    return try_open(s, path);
}

static bool try_folders(struct library_search *s, struct str folders)
{
    while (folders.n) {
        size_t n = str_find_char(folders, '\n');
        if (try_folder(s, str_first(folders, n)))
            return true;
        folders = str_from(folders, n + 1);
    }
    return false;
}

static void soname(enum library_id id, int major, char *ret, size_t n)
{
    if (major < 0)
        snprintf(ret, n, "%s", libraries[id].stem);
    else
        snprintf(ret, n, "%s.%d", libraries[id].stem, major);
}

/* Searches the user's directories for all sonames, then all places for one soname after the
 * other. */
static bool find_library(struct library_search *s, const int *majors, size_t n,
                         const struct buf *named, const struct buf *usual)
{
    for (size_t i = 0; i < n; i++) {
        soname(s->ret->id, majors[i], s->name, sizeof s->name);
        if (try_folders(s, buf_str(named)))
            return true;
    }
    for (size_t i = 0; i < n; i++) {
        soname(s->ret->id, majors[i], s->name, sizeof s->name);
        if (try_open(s, s->name) || try_folders(s, buf_str(usual)))
            return true;
    }
    return false;
}

/* Puts the wanted version, if it is known, before the others. */
static size_t order_majors(enum library_id id, int wanted, int *ret)
{
    const int *majors = libraries[id].majors;
    size_t n = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < MAX_NAMES && majors[i]; i++)
            if ((majors[i] == wanted) == (pass == 0))
                ret[n++] = majors[i];
    return n;
}

static bool not_found(const struct library_search *s, enum library_id id, int major,
                      struct err *err)
{
    char name[64];
    if (*s->why)
        return err_set(err, ERR_ENV, "%s: %s", libraries[id].name, s->why);
    soname(id, major, name, sizeof name);
    return err_set(err, ERR_ENV, "%s: %s is not found: %s; $SYMTAPE_CUDA_LIB can name its folder",
                   libraries[id].name, name, libraries[id].hint);
}

/* Returns whether $SYMTAPE_CUDA_WITHOUT contains the library; its names are separated by ',':
 * "cublaslt,cudnn". */
static bool switched_off(enum library_id id)
{
    struct str rest = str_of(getenv("SYMTAPE_CUDA_WITHOUT"));
    size_t length = strlen(libraries[id].name);
    while (rest.n) {
        size_t n = str_find_char(rest, ',');
        if (n == length && strncasecmp(rest.p, libraries[id].name, n) == 0)
            return true;
        rest = str_from(rest, n + 1);
    }
    return false;
}

bool library_open(enum library_id id, int major, struct cuda_library *ret, struct err *err)
{
    struct library_search s = { .ret = ret };
    struct buf named = BUF_INIT, usual = BUF_INIT;
    int majors[MAX_NAMES];
    size_t n = order_majors(id, major, majors);
    *ret = (struct cuda_library){ .id = id };
    if (switched_off(id))
        return err_set(err, ERR_ENV, "%s: $SYMTAPE_CUDA_WITHOUT switches it off",
                       libraries[id].name);
    put_listed(&named, "SYMTAPE_CUDA_LIB");
    put_usual(&usual);
    bool ok = !named.failed && !usual.failed;
    if (!ok)
        err_nomem(err);
    else
        ok = find_library(&s, majors, n, &named, &usual) || not_found(&s, id, majors[0], err);
    buf_release(&named);
    buf_release(&usual);
    return ok;
}

bool library_open_file(enum library_id id, const char *path, struct cuda_library *ret,
                       struct err *err)
{
    struct library_search s = { .ret = ret };
    const char *slash = strrchr(path, '/');
    char folder[1024];
    *ret = (struct cuda_library){ .id = id };
    if (id == LIBRARY_NVRTC && slash && (size_t)(slash - path) < sizeof folder) {
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
        open_builtins(folder);
    }
    return try_open(&s, path) ||
           err_set(err, ERR_ENV, "%s: %s", libraries[id].name, *s.why ? s.why : path);
}

bool library_load(const struct cuda_library *library, const struct library_symbol *symbols,
                  size_t n, void *table, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        void *p = dlsym(library->handle, symbols[i].name);
        if (!p && symbols[i].needed)
            return err_set(err, ERR_ENV, "%s: %s has no %s: it is too old",
                           library_name(library->id), library->path, symbols[i].name);
        memcpy((char *)table + symbols[i].offset, &p, sizeof p);
    }
    return true;
}

size_t library_version(const struct cuda_library *library)
{
    const char *name = libraries[library->id].version;
    void *p = name && library->handle ? dlsym(library->handle, name) : NULL;
    size_t (*version)(void) = NULL;
    int (*version_to)(int *ret) = NULL;
    int ret = 0;
    if (library->id == LIBRARY_NCCL) {
        memcpy(&version_to, &p, sizeof p);
        return version_to && version_to(&ret) == 0 && ret > 0 ? (size_t)ret : 0;
    }
    memcpy(&version, &p, sizeof p);
    return version ? version() : 0;
}
