#include "replay/backend/cuda/runtime/cubin_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replay/backend/cuda/runtime/matching.h"
#include "trace/base/file/folder.h"
#include "trace/base/file/output.h"
#include "trace/base/sha256.h"

static const char magic[] = "symtape cubin 2\n";

enum { NAME = 80, LARGEST = 256 << 20 };

bool cubin_cache_folder(char *ret, size_t n)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && *cache == '/')
        return (size_t)snprintf(ret, n, "%s/symtape/cubin", cache) < n;
    return home && *home && (size_t)snprintf(ret, n, "%s/.cache/symtape/cubin", home) < n;
}

static bool make_folders(const char *path)
{
    char part[1200];
    size_t n = strlen(path);
    if (n >= sizeof part)
        return errno = ENAMETOOLONG, false;
    memcpy(part, path, n + 1);
    for (size_t i = 1; i <= n; i++) {
        char c = part[i];
        if (c != '/' && c != '\0')
            continue;
        part[i] = '\0';
        if (mkdir(part, 0700) != 0 && errno != EEXIST)
            return false;
        part[i] = c;
    }
    return true;
}

/* ERR_USAGE: the directory exists and must not be used. */
static bool check_owner(const char *path, const struct stat *info, struct err *err)
{
    const char *why = S_ISLNK(info->st_mode)                ? "is a symbolic link"
                      : !S_ISDIR(info->st_mode)             ? "is not a folder"
                      : !is_ours(info)                      ? "belongs to another user"
                      : info->st_mode & (S_IWGRP | S_IWOTH) ? "can be written to by others"
                                                            : NULL;
    return !why || err_set(err, ERR_USAGE,
                           "%s %s: compiled kernels are neither read from there "
                           "nor kept there",
                           path, why);
}

int cubin_cache_open(const char *path, bool make, struct err *err)
{
    struct stat info;
    if (make && !make_folders(path))
        return err_errno(err, "%s", path), -1;
    if (lstat(path, &info) != 0)
        return err_errno(err, "%s", path), -1;
    if (!check_owner(path, &info, err))
        return -1;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0)
        err_errno(err, "%s", path);
    else if (check_owner(path, &info,
                         err)) /* another process may have replaced it since it was opened */
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

bool cubin_cache_refused(struct err *why)
{
    char path[1200];
    struct err err = { 0 };
    int fd = cubin_cache_folder(path, sizeof path) ? cubin_cache_open(path, false, &err) : -1;
    if (fd >= 0)
        close(fd);
    if (err.kind == ERR_USAGE)
        *why = err;
    return err.kind == ERR_USAGE;
}

static void cubin_name(struct cubin_key key, const char *version, char ret[NAME])
{
    snprintf(ret, NAME, "%016" PRIx64 "%016" PRIx64 "-%.40s", key.high, key.low, version);
}

/* Checks the file and returns the contents after its name. */
static bool check_file(struct str file, const char *name, struct str *ret)
{
    unsigned char hash[SHA256_BYTES];
    if (file.n < sizeof hash)
        return false;
    struct str signed_part = str_first(file, file.n - sizeof hash);
    sha256(signed_part, hash);
    bool ok = memcmp(hash, file.p + signed_part.n, sizeof hash) == 0;
    struct bytes in = bytes_of(signed_part);
    ok = ok && str_eq(bytes_take(&in, strlen(magic)), str_of(magic));
    ok = ok && str_eq(bytes_take(&in, bytes_le64(&in)), str_of(name));
    *ret = bytes_take(&in, bytes_left(&in));
    return ok && !in.failed && ret->n > 0;
}

static bool read_cubin(int folder, const char *name, struct buf *ret)
{
    struct buf file = BUF_INIT;
    struct str cubin;
    bool ok = folder_read(folder, name, LARGEST, &file) && check_file(buf_str(&file), name, &cubin);
    if (ok)
        buf_put(ret, cubin);
    buf_release(&file);
    return ok && !ret->failed;
}

static bool read_any(int folder, struct cubin_key key, struct buf *ret)
{
    char pattern[NAME];
    bool ok = false;
    cubin_name(key, "*", pattern);
    struct name_matches found = matching_find(folder, ".", pattern);
    for (int i = found.n; i-- > 0 && !ok;)
        ok = read_cubin(folder, found.names[i]->d_name, ret);
    matching_release(&found);
    return ok;
}

bool cubin_cache_read(const char *folder, struct cubin_key key, int major, int minor,
                      struct buf *ret)
{
    struct err ignored = { 0 };
    char version[48], name[NAME];
    int fd = cubin_cache_open(folder, false, &ignored);
    if (fd < 0)
        return false;
    snprintf(version, sizeof version, "%d.%d", major, minor);
    cubin_name(key, version, name);
    bool ok = major >= 0 ? read_cubin(fd, name, ret) : read_any(fd, key, ret);
    close(fd);
    return ok;
}

bool cubin_cache_is_empty(const char *folder)
{
    struct err ignored = { 0 };
    int fd = cubin_cache_open(folder, false, &ignored);
    struct name_matches found = { 0 };
    if (fd >= 0) {
        found = matching_find(fd, ".", "*-*");
        close(fd);
    }
    const bool empty = found.n == 0;
    matching_release(&found);
    return empty;
}

static bool print_file(const char *name, struct str cubin, struct buf *file)
{
    unsigned char hash[SHA256_BYTES];
    buf_puts(file, magic);
    buf_le64(file, strlen(name));
    buf_puts(file, name);
    buf_put(file, cubin);
    if (file->failed)
        return false;
    sha256(buf_str(file), hash);
    buf_put(file, (struct str){ (const char *)hash, sizeof hash });
    return !file->failed;
}

bool cubin_cache_keep(int folder, const char *name, struct str bytes)
{
    struct err ignored = { 0 };
    struct output *out = output_open_in(folder, name, &ignored);
    if (out && output_write(out, bytes, &ignored))
        return output_commit(out, &ignored);
    output_abort(out);
    return false;
}

bool cubin_cache_write(const char *folder, struct cubin_key key, int major, int minor,
                       struct str cubin)
{
    struct err ignored = { 0 };
    struct buf file = BUF_INIT;
    char version[32], name[NAME];
    int fd = cubin_cache_open(folder, true, &ignored);
    if (fd < 0)
        return false;
    snprintf(version, sizeof version, "%d.%d", major, minor);
    cubin_name(key, version, name);
    bool ok = print_file(name, cubin, &file) && cubin_cache_keep(fd, name, buf_str(&file));
    buf_release(&file);
    close(fd);
    return ok;
}
