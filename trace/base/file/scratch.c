#include "trace/base/file/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "trace/base/file/folder.h"

#define LOCK "lock"

enum { LOCK_TEXT = 80 };

static const struct kind {
    const char *prefix, *what;
    bool swept;
} kinds[] = {
    [SCRATCH_LOGS] = { "symtape-", "logs", false },
    [SCRATCH_QUESTIONS] = { "symtape-minify-", "questions", true },
    [SCRATCH_TABLES] = { "symtape-tables-", "a database", true },
};

static const struct scratch none = { .fd = -1, .parent = -1, .lock = -1 };

static void close_open(int fd)
{
    if (fd >= 0)
        close(fd);
}

void scratch_leave(struct scratch *scratch)
{
    if (!scratch->path)
        return;
    close_open(scratch->lock);
    close_open(scratch->fd);
    close_open(scratch->parent);
    free(scratch->path);
    *scratch = none;
}

/* ------------------------------------------------------------------------------------------------
 * The lock: a file that says which folder it was made for, locked as long as its run lives. A copy
 * of the folder has another number, and so is not taken for it. */

static bool lock_text(int folder, char *ret)
{
    struct stat info;
    if (fstat(folder, &info) != 0)
        return false;
    snprintf(ret, LOCK_TEXT, "symtape made %" PRIuMAX ":%" PRIuMAX "\n", (uintmax_t)info.st_dev,
             (uintmax_t)info.st_ino);
    return true;
}

/* Makes the lock file. Its text is written after it is locked: a sweep that comes first finds no
 * text and leaves it. */
static int make_lock(int folder)
{
    char text[LOCK_TEXT];
    int fd = openat(folder, LOCK, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && lock_text(folder, text);
    while (ok && flock(fd, LOCK_EX) != 0)
        ok = errno == EINTR;
    ok = ok && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (ok || fd < 0)
        return fd;
    int code = errno ? errno : ENOSPC;
    close(fd);
    errno = code;
    return -1;
}

static bool is_lock_of(int folder, int fd)
{
    struct stat info;
    char expected[LOCK_TEXT], found[LOCK_TEXT];
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || !is_ours(&info) || info.st_nlink != 1 ||
        flock(fd, LOCK_EX | LOCK_NB) != 0 || !lock_text(folder, expected))
        return false;
    ssize_t n = pread(fd, found, sizeof found, 0);
    return n == (ssize_t)strlen(expected) && memcmp(found, expected, (size_t)n) == 0;
}

/* ------------------------------------------------------------------------------------------------
 * What was left. */

static bool is_private(int folder)
{
    struct stat info;
    return fstat(folder, &info) == 0 && (info.st_mode & 07777) == 0700;
}

/* Removes a folder, the lock last, so that an interrupted removal can be continued. */
static bool remove_locked(int parent, const char *name, int folder, int lock)
{
    struct stat info;
    bool ok = folder_empty(folder, lock >= 0 ? LOCK : NULL);
    if (ok && lock >= 0)
        ok = fstat(lock, &info) == 0 && folder_unlink(folder, LOCK, &info);
    return ok && folder_remove_empty(parent, name, folder);
}

static void sweep_folder(int parent, const char *name)
{
    int folder = folder_open(parent, name), lock = -1;
    if (folder >= 0 && is_private(folder))
        lock = openat(folder, LOCK, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (lock >= 0 && is_lock_of(folder, lock))
        (void)remove_locked(parent, name, folder, lock);
    close_open(lock);
    close_open(folder);
}

static void sweep_folders(int parent, const char *prefix)
{
    int fd = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir)
        close_open(fd);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (str_starts(str_of(entry->d_name), str_of(prefix)))
            sweep_folder(parent, entry->d_name);
    if (dir)
        closedir(dir);
}

/* ------------------------------------------------------------------------------------------------
 * Making and removing. */

static const char *scratch_name(const struct scratch *scratch)
{
    return strrchr(scratch->path, '/') + 1;
}

static bool is_out_of_space(int code)
{
    return code == ENOSPC || code == EDQUOT;
}

struct str scratch_disk(const struct scratch *scratch)
{
    const char *slash = strrchr(scratch->path, '/');
    return (struct str){ scratch->path,
                         slash > scratch->path ? (size_t)(slash - scratch->path) : 1 };
}

bool scratch_errno(const struct scratch *scratch, const char *what, struct err *err)
{
    struct str disk = scratch_disk(scratch);
    if (is_out_of_space(errno))
        return err_set(err, ERR_ENV, "the disk of %.*s (TMPDIR) is full: %s", STR_ARG(disk), what);
    return err_errno(err, "%.*s: %s (TMPDIR)", STR_ARG(disk), what);
}

static bool cannot_make(const struct scratch *scratch, const struct kind *kind, struct err *err)
{
    char what[64];
    int code = errno;
    snprintf(what, sizeof what, "cannot make a folder for %s", kind->what);
    errno = code;
    return scratch_errno(scratch, what, err);
}

/* Makes a folder and opens it by its name in the folder above: it must be ours and private, or
 * it is not the one that mkdtemp() made. */
static bool make_below(struct scratch *ret, const char *above, const struct kind *kind,
                       struct err *err)
{
    if (asprintf(&ret->path, "%s/%sXXXXXX", strcmp(above, "/") == 0 ? "" : above, kind->prefix) < 0)
        return ret->path = NULL, err_nomem(err);
    if (!mkdtemp(ret->path))
        return cannot_make(ret, kind, err);
    ret->fd = folder_open(ret->parent, scratch_name(ret));
    if (ret->fd >= 0 && !is_private(ret->fd)) {
        errno = EPERM;
    } else if (ret->fd >= 0) {
        ret->lock = kind->swept ? make_lock(ret->fd) : -1;
        if (!kind->swept || ret->lock >= 0)
            return true;
    }
    cannot_make(ret, kind, err);
    if (ret->fd >= 0) {
        (void)!unlinkat(ret->fd, LOCK, 0);
        (void)folder_remove_empty(ret->parent, scratch_name(ret), ret->fd);
    }
    return false;
}

bool scratch_make(struct scratch *ret, enum scratch_kind which, struct err *err)
{
    const struct kind *kind = &kinds[which];
    const char *given = getenv("TMPDIR");
    if (!given || !*given)
        given = "/tmp";
    char *above = realpath(given, NULL); /* the program may change its working directory */
    *ret = none;
    if (!above)
        return err_errno(err, "%s: this folder cannot be used for %s (TMPDIR)", given, kind->what);
    ret->parent = open(above, O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool ok = ret->parent >= 0 ||
              err_errno(err, "%s: this folder cannot be used for %s (TMPDIR)", above, kind->what);
    if (ok && kind->swept)
        sweep_folders(ret->parent, kind->prefix);
    ok = ok && make_below(ret, above, kind, err);
    free(above);
    if (!ok) {
        close_open(ret->parent);
        close_open(ret->fd);
        free(ret->path);
        *ret = none;
    }
    return ok;
}

bool scratch_is_full(const struct scratch *scratch)
{
    enum { ROOM = 1 << 20 };
    int fd = openat(scratch->fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0)
        return is_out_of_space(errno);
    bool full = is_out_of_space(posix_fallocate(fd, 0, ROOM));
    close(fd);
    return full;
}

void scratch_reopen(struct scratch *scratch)
{
    struct stat info;
    if (fstat(scratch->fd, &info) != 0 || info.st_nlink > 0)
        return;
    int fd = folder_open(scratch->parent, scratch_name(scratch));
    if (fd < 0)
        return;
    close(scratch->fd);
    scratch->fd = fd;
}

bool scratch_remove(struct scratch *scratch)
{
    if (!scratch->path)
        return true;
    bool ok = remove_locked(scratch->parent, scratch_name(scratch), scratch->fd, scratch->lock);
    int code = errno;
    scratch_leave(scratch);
    errno = code;
    return ok;
}

/* On file systems without O_TMPFILE the file has a name for a moment. */
int scratch_file(const char *folder, struct err *err)
{
    char *path;
    int fd = open(folder, O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) {
        if (fd < 0)
            err_errno(err, "%s", folder);
        return fd;
    }
    if (asprintf(&path, "%s/symtape-XXXXXX", folder) < 0)
        return err_nomem(err), -1;
    struct stat info;
    int above = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    fd = above >= 0 ? mkostemp(path, O_CLOEXEC) : -1;
    if (fd < 0)
        err_errno(err, "%s", folder);
    else if (fstat(fd, &info) == 0)
        (void)folder_unlink(above, strrchr(path, '/') + 1, &info);
    close_open(above);
    free(path);
    return fd;
}
