#include "trace/base/file/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LIST = O_RDONLY | O_DIRECTORY | O_CLOEXEC };

bool is_ours(const struct stat *info)
{
    return info->st_uid == geteuid();
}

static void close_keeping_errno(int fd)
{
    int code = errno;
    if (fd >= 0)
        close(fd);
    errno = code;
}

/* ------------------------------------------------------------------------------------------------
 * Opening, writing, reading. */

/* Returns `fd` if it is open and ours; otherwise -1, and `fd` is closed. */
static int only_ours(int fd, struct stat *info)
{
    if (fd < 0)
        return -1;
    if (fstat(fd, info) == 0) {
        if (is_ours(info))
            return fd;
        errno = EPERM;
    }
    close_keeping_errno(fd);
    return -1;
}

int folder_open(int parent, const char *name)
{
    struct stat info;
    return only_ours(openat(parent, name, LIST | O_NOFOLLOW), &info);
}

int folder_make(int parent, const char *name)
{
    return mkdirat(parent, name, 0700) == 0 ? folder_open(parent, name) : -1;
}

static bool write_bytes(int fd, struct str bytes)
{
    while (bytes.n > 0) {
        ssize_t n = write(fd, bytes.p, bytes.n);
        if (n < 0 && errno != EINTR)
            return false;
        bytes = str_from(bytes, n > 0 ? (size_t)n : 0);
    }
    return true;
}

bool folder_write(int folder, const char *name, struct str bytes)
{
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    bool ok = write_bytes(fd, bytes);
    if (!ok)
        close_keeping_errno(fd);
    else
        ok = close(fd) == 0 || errno == EINTR;
    if (!ok) {
        int code = errno;
        unlinkat(folder, name, 0);
        errno = code;
    }
    return ok;
}

static bool read_to_end(int fd, size_t most, struct buf *ret)
{
    for (size_t left = most + 1;;) {
        if (!buf_reserve(ret, left < (1 << 16) ? left : (1 << 16)))
            return errno = ENOMEM, false;
        size_t room = ret->cap - ret->n;
        ssize_t n = read(fd, ret->p + ret->n, room < left ? room : left);
        if (n < 0 && errno != EINTR)
            return false;
        if (n == 0)
            return true;
        ret->n += n > 0 ? (size_t)n : 0;
        left -= n > 0 ? (size_t)n : 0;
        if (left == 0)
            return errno = EFBIG, false;
    }
}

/* Without O_NONBLOCK, opening a pipe would wait for a writer. */
bool folder_read(int folder, const char *name, size_t most, struct buf *ret)
{
    struct stat info;
    int fd = only_ours(openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), &info);
    if (fd < 0)
        return false;
    bool ok = S_ISREG(info.st_mode) && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
    if (!ok)
        errno = EPERM;
    ok = ok && read_to_end(fd, most, ret);
    close_keeping_errno(fd);
    return ok;
}

/* ------------------------------------------------------------------------------------------------
 * Removing. Nothing recurses: folders move up to where emptying began, one level a time, so that a
 * tree of any depth takes two descriptors. */

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool folder_unlink(int folder, const char *name, const struct stat *info)
{
    struct stat now;
    return fstatat(folder, name, &now, AT_SYMLINK_NOFOLLOW) == 0 && is_same_file(&now, info) &&
           unlinkat(folder, name, 0) == 0;
}

bool folder_remove_empty(int parent, const char *name, int fd)
{
    struct stat info, now;
    return fstat(fd, &info) == 0 && fstatat(parent, name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
           is_same_file(&info, &now) && unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

struct folder_emptier {
    int top;
    const char *keep;
    dev_t device;
    uint64_t moved;    /* number for the names of folders that moved up */
    bool seen, better; /* in this pass: an entry was seen; one could be removed or moved */
};

static DIR *list(int folder)
{
    int fd = openat(folder, ".", LIST);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir)
        close_keeping_errno(fd);
    return dir;
}

/* Returns the next name other than "." and ".."; NULL at the end. */
static const char *next_entry(DIR *dir)
{
    struct dirent *entry;
    while ((entry = readdir(dir)) &&
           (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0))
        continue;
    return entry ? entry->d_name : NULL;
}

/* Opens a folder, also one without permissions for its owner: its permissions are changed by its
 * descriptor, because the name might lead elsewhere by then. */
static int open_any(const struct folder_emptier *e, int parent, const char *name)
{
    struct stat info;
    char path[64];
    int fd = -1;
    int at = only_ours(openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), &info);
    if (at < 0)
        return -1;
    if (info.st_dev == e->device) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", at);
        if ((info.st_mode & S_IRWXU) != S_IRWXU)
            (void)!chmod(path, 0700);
        fd = openat(at, ".", LIST);
    }
    close(at);
    return fd;
}

static void move_up(struct folder_emptier *e, int from, const char *name)
{
    enum { NAMES_TRIED = 1000 };
    char to[40];
    int fd = open_any(e, from, name); /* a folder without permissions cannot be moved */
    for (int i = 0; fd >= 0 && i < NAMES_TRIED; i++) {
        snprintf(to, sizeof to, ".up-%" PRIu64, e->moved++);
        if (renameat(from, name, e->top, to) == 0) {
            e->better = true;
            break;
        }
    }
    if (fd >= 0)
        close(fd);
}

static void remove_entry(struct folder_emptier *e, int folder, const char *name);

static void remove_folder(struct folder_emptier *e, const char *name)
{
    int fd = open_any(e, e->top, name);
    DIR *dir = fd >= 0 ? list(fd) : NULL;
    for (const char *entry; dir && (entry = next_entry(dir));)
        remove_entry(e, fd, entry);
    if (dir)
        closedir(dir);
    e->better |= fd >= 0 && folder_remove_empty(e->top, name, fd);
    if (fd >= 0)
        close(fd);
}

static void remove_entry(struct folder_emptier *e, int folder, const char *name)
{
    struct stat info;
    if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !is_ours(&info))
        return;
    if (!S_ISDIR(info.st_mode))
        e->better |= unlinkat(folder, name, 0) == 0;
    else if (folder != e->top)
        move_up(e, folder, name);
    else
        remove_folder(e, name);
}

static bool empty_once(struct folder_emptier *e)
{
    DIR *dir = list(e->top);
    e->seen = e->better = false;
    for (const char *name; dir && (name = next_entry(dir));) {
        if (e->keep && strcmp(name, e->keep) == 0)
            continue;
        e->seen = true;
        remove_entry(e, e->top, name);
    }
    if (dir)
        closedir(dir);
    return dir != NULL;
}

bool folder_empty(int folder, const char *keep)
{
    struct stat info;
    struct folder_emptier e = { .top = folder, .keep = keep };
    if (fstat(folder, &info) != 0)
        return false;
    e.device = info.st_dev;
    bool listed;
    do
        listed = empty_once(&e);
    while (listed && e.seen && e.better);
    if (listed && e.seen)
        errno = ENOTEMPTY;
    return listed && !e.seen;
}

bool folder_remove(int parent, const char *name)
{
    struct stat info;
    struct folder_emptier any = { .top = parent };
    if (fstat(parent, &info) != 0)
        return false;
    any.device = info.st_dev;
    int fd = open_any(&any, parent, name);
    if (fd < 0)
        return false;
    bool ok = folder_empty(fd, NULL) && folder_remove_empty(parent, name, fd);
    close_keeping_errno(fd);
    return ok;
}
