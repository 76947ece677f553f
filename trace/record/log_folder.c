#include "trace/record/log_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/str.h"
#include "trace/base/vec.h"

static bool is_side_name(const char *name)
{
    return str_ends(str_of(name), STR(".deep"));
}

/* ------------------------------------------------------------------------------------------------
 * Listing it. */

typedef vec_of(char *)
path_vec;

static int by_log_name(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    bool x_is_side = is_side_name(x);
    return x_is_side != is_side_name(y) ? (x_is_side ? 1 : -1) : strverscmp(x, y);
}

static void release_paths(path_vec *paths)
{
    for (size_t i = 0; i < paths->n; i++)
        free(paths->v[i]);
    vec_release(paths);
}

/* Adds one entry of the folder if it is a log that is not empty. */
static bool add_log(int dir, const char *folder, const char *name, path_vec *paths,
                    struct log_list *list, struct err *err)
{
    struct stat stat;
    /* PyTorch gives logs this ending, by which the importer finds them, too. */
    bool is_log = str_ends(str_of(name), STR(".log"));
    if ((!is_log && !is_side_name(name)) || fstatat(dir, name, &stat, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(stat.st_mode) || stat.st_size == 0)
        return true;
    char *path;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return err_nomem(err);
    if (!vec_push(paths, path)) {
        free(path);
        return err_nomem(err);
    }
    list->n += is_log;
    list->n_sides += !is_log;
    list->bytes += is_log ? (uint64_t)stat.st_size : 0;
    return true;
}

static DIR *open_list(const struct scratch *folder)
{
    int fd = openat(folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir && fd >= 0)
        close(fd);
    return dir;
}

bool log_folder_list(const struct scratch *folder, struct log_list *ret, struct err *err)
{
    struct stat info;
    errno = 0;
    DIR *dir = fstat(folder->fd, &info) == 0 && info.st_nlink > 0 ? open_list(folder) : NULL;
    if (!dir) { /* a folder that was removed can still be open */
        errno = errno ? errno : ENOENT;
        return err_errno(err, "%s", folder->path);
    }
    path_vec paths = { 0 };
    bool ok = true;
    *ret = (struct log_list){ 0 };
    for (struct dirent *entry; ok && (errno = 0, entry = readdir(dir));)
        ok = add_log(dirfd(dir), folder->path, entry->d_name, &paths, ret, err);
    if (ok && errno != 0)
        ok = err_errno(err, "%s", folder->path);
    closedir(dir);
    if (!ok) {
        release_paths(&paths);
        *ret = (struct log_list){ 0 };
        return false;
    }
    if (paths.n > 1)
        qsort(paths.v, paths.n, sizeof *paths.v, by_log_name);
    ret->paths = paths.v;
    return true;
}

void log_list_release(struct log_list *list)
{
    for (size_t i = 0; i < list->n + list->n_sides; i++)
        free(list->paths[i]);
    free(list->paths);
    *list = (struct log_list){ 0 };
}

static char *read_first_line(int dir, const char *name)
{
    char text[PATH_MAX];
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return NULL;
    text[n] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return strdup(text);
}

char *log_folder_failure(const struct scratch *folder)
{
    DIR *dir = open_list(folder);
    char *ret = NULL;
    if (!dir)
        return NULL;
    for (struct dirent *entry; !ret && (entry = readdir(dir));)
        if (str_starts(str_of(entry->d_name), STR("deep-failed-")))
            ret = read_first_line(dirfd(dir), entry->d_name);
    closedir(dir);
    return ret;
}

char *log_folder_python(const struct scratch *folder)
{
    char *ret = read_first_line(folder->fd, "python.txt");
    if (!ret || ret[0] == '/')
        return ret;
    free(ret); /* an embedded Python has no path of a program, or the name of another program */
    return NULL;
}

static bool append_file(int dir, const char *name, struct buf *out, struct err *err)
{
    enum { MOST = 16 << 20, CHUNK = 64 << 10 };
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t n = 1;
    if (fd < 0)
        return err_errno(err, "%s", name);
    while (n > 0 && out->n < MOST && buf_reserve(out, CHUNK)) {
        n = read(fd, out->p + out->n, CHUNK);
        out->n += n > 0 ? (size_t)n : 0;
    }
    close(fd);
    if (out->failed)
        return err_nomem(err);
    return (n >= 0 && unlinkat(dir, name, 0) == 0) || err_errno(err, "%s", name);
}

bool log_folder_environment(const struct scratch *folder, struct buf *ret, struct err *err)
{
    DIR *dir = open_list(folder);
    bool ok = dir || err_errno(err, "%s", folder->path);
    for (struct dirent *entry; ok && (entry = readdir(dir));)
        if (str_starts(str_of(entry->d_name), STR("environment-")))
            ok = append_file(dirfd(dir), entry->d_name, ret, err);
    if (dir)
        closedir(dir);
    return ok;
}

/* ------------------------------------------------------------------------------------------------
 * Who still writes to it. */

static bool has_file_open(const char *process, struct str folder)
{
    char path[64], target[PATH_MAX];
    snprintf(path, sizeof path, "/proc/%.20s/fd", process);
    DIR *dir = opendir(path);
    if (!dir)
        return false;
    bool found = false;
    for (struct dirent *entry; !found && (entry = readdir(dir));) {
        ssize_t n = readlinkat(dirfd(dir), entry->d_name, target, sizeof target);
        struct str file = { target, n > 0 ? (size_t)n : 0 };
        found = str_starts(file, folder) && file.n > folder.n && file.p[folder.n] == '/';
    }
    closedir(dir);
    return found;
}

size_t log_folder_writers(const char *folder)
{
    DIR *dir = opendir("/proc");
    if (!dir)
        return 0;
    size_t n = 0;
    for (struct dirent *entry; (entry = readdir(dir));)
        if (is_digit(entry->d_name[0]) && strtol(entry->d_name, NULL, 10) != (long)getpid())
            n += has_file_open(entry->d_name, str_of(folder));
    closedir(dir);
    return n;
}
