/* A library to preload that makes one call fail, or that call and every later one.
 *
 *     SYMTAPE_FAIL=KIND:N[+][:ERRNO]    the N-th call of this kind fails; with '+' all later ones
 * too SYMTAPE_FAIL_IN=NAME              only in programs of this name (not in valgrind's launcher)
 *     SYMTAPE_FAIL_REPORT=FILE          at exit, "KIND CALLS FAILED" for each kind is written there
 *
 * Kinds: alloc (malloc, calloc, realloc), open, read, write, sync (fsync, fdatasync), rename,
 * truncate, map (mmap). ERRNO is a number, EIO by default. Calls that the C library makes inside
 * itself (stdio's own writes) do not come here; /dev/full and RLIMIT_FSIZE serve for those. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { ALLOC, OPEN, READ, WRITE, SYNC, RENAME, TRUNCATE, MAP, KINDS };

static const char *const kind_names[KINDS] = {
    "alloc", "open", "read", "write", "sync", "rename", "truncate", "map",
};

static atomic_ulong calls[KINDS], failures[KINDS];
static struct {
    enum kind kind;
    unsigned long at; /* 0: nothing fails */
    bool onwards;
    int error;
} plan;
static bool ready; /* before that (the dynamic linker at work) nothing fails or counts */

__attribute__((constructor)) static void read_plan(void)
{
    const char *program = getenv("SYMTAPE_FAIL_IN");
    const char *text = getenv("SYMTAPE_FAIL");
    if (program && strcmp(program, program_invocation_short_name) != 0)
        return;
    const char *colon = text ? strchr(text, ':') : NULL;
    for (enum kind k = 0; colon && k < KINDS; k++)
        if (strlen(kind_names[k]) == (size_t)(colon - text) &&
            strncmp(text, kind_names[k], (size_t)(colon - text)) == 0)
            plan.kind = k;
    if (colon) {
        char *end;
        plan.at = strtoul(colon + 1, &end, 10);
        plan.onwards = *end == '+';
        end += plan.onwards;
        plan.error = *end == ':' ? (int)strtol(end + 1, NULL, 10) : EIO;
    }
    ready = true;
}

/* Without stdio, and without the calls that are made to fail. */
__attribute__((destructor)) static void write_report(void)
{
    const char *path = getenv("SYMTAPE_FAIL_REPORT");
    char text[512];
    int n = 0;
    if (!path || !ready)
        return;
    for (enum kind k = 0; k < KINDS; k++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s %lu %lu\n", kind_names[k], calls[k],
                      failures[k]);
    long fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd >= 0 && syscall(SYS_write, fd, text, (size_t)n) == n)
        syscall(SYS_close, fd);
}

static bool is_to_fail(enum kind kind)
{
    if (!ready)
        return false;
    unsigned long n = ++calls[kind];
    if (plan.at == 0 || kind != plan.kind || n < plan.at || (n > plan.at && !plan.onwards))
        return false;
    failures[kind]++;
    errno = kind == ALLOC || kind == MAP ? ENOMEM : plan.error;
    return true;
}

/* dlsym() itself may allocate before the real calloc is known; that comes from here. */
static char early[4096];
static size_t early_used;

static void *early_alloc(size_t size)
{
    size = (size + 15) & ~(size_t)15;
    if (size > sizeof early - early_used)
        return NULL;
    early_used += size;
    return early + early_used - size;
}

static bool is_early(const void *p)
{
    return (const char *)p >= early && (const char *)p < early + sizeof early;
}

/* The next definition of a function, looked up once. ISO C has no cast from void * to a function
 * pointer, hence the copy. */
#define REAL(name)                             \
    static __typeof__(&name) real;             \
    if (!real) {                               \
        void *found = dlsym(RTLD_NEXT, #name); \
        memcpy(&real, &found, sizeof real);    \
    }

void *malloc(size_t size)
{
    REAL(malloc)
    return is_to_fail(ALLOC) ? NULL : real(size);
}

void *calloc(size_t count, size_t size)
{
    static bool looking;
    if (looking)
        return early_alloc(count * size);
    looking = true;
    REAL(calloc)
    looking = false;
    return is_to_fail(ALLOC) ? NULL : real(count, size);
}

void *realloc(void *old, size_t size)
{
    REAL(realloc)
    return is_to_fail(ALLOC) ? NULL : real(old, size);
}

void free(void *p)
{
    REAL(free)
    if (!is_early(p))
        real(p);
}

static mode_t mode_of(int flags, va_list args)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
    REAL(open)
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_of(flags, args);
    va_end(args);
    return is_to_fail(OPEN) ? -1 : real(path, flags, mode);
}

int openat(int dir, const char *path, int flags, ...)
{
    REAL(openat)
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_of(flags, args);
    va_end(args);
    return is_to_fail(OPEN) ? -1 : real(dir, path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
    REAL(fopen)
    return is_to_fail(OPEN) ? NULL : real(path, mode);
}

ssize_t read(int fd, void *to, size_t n)
{
    REAL(read)
    return is_to_fail(READ) ? -1 : real(fd, to, n);
}

ssize_t pread(int fd, void *to, size_t n, off_t at)
{
    REAL(pread)
    return is_to_fail(READ) ? -1 : real(fd, to, n, at);
}

ssize_t write(int fd, const void *from, size_t n)
{
    REAL(write)
    /* A program that may not even say what went wrong cannot be judged by what it says. */
    return fd != STDERR_FILENO && is_to_fail(WRITE) ? -1 : real(fd, from, n);
}

ssize_t pwrite(int fd, const void *from, size_t n, off_t at)
{
    REAL(pwrite)
    return is_to_fail(WRITE) ? -1 : real(fd, from, n, at);
}

ssize_t writev(int fd, const struct iovec *parts, int n)
{
    REAL(writev)
    return is_to_fail(WRITE) ? -1 : real(fd, parts, n);
}

int fsync(int fd)
{
    REAL(fsync)
    return is_to_fail(SYNC) ? -1 : real(fd);
}

int fdatasync(int fd)
{
    REAL(fdatasync)
    return is_to_fail(SYNC) ? -1 : real(fd);
}

int rename(const char *from, const char *to)
{
    REAL(rename)
    return is_to_fail(RENAME) ? -1 : real(from, to);
}

int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
    REAL(renameat2)
    return is_to_fail(RENAME) ? -1 : real(from_dir, from, to_dir, to, flags);
}

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
    REAL(linkat)
    return is_to_fail(RENAME) ? -1 : real(from_dir, from, to_dir, to, flags);
}

int ftruncate(int fd, off_t size)
{
    REAL(ftruncate)
    return is_to_fail(TRUNCATE) ? -1 : real(fd, size);
}

void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
    REAL(mmap)
    return is_to_fail(MAP) ? MAP_FAILED : real(at, n, protection, flags, fd, offset);
}
