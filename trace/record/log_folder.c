#include "trace/record/log_folder.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/str.h"
#include "trace/base/vec.h"

/* ------------------------------------------------------------------------------------------------
 * Making it. */

/* As the importer finds logs in a folder: by the ending that PyTorch gives them. */
static bool is_log_name(const char *name)
{
    return str_ends(str_of(name), STR(".log"));
}

static bool is_side_name(const char *name)
{
    return str_ends(str_of(name), STR(".deep"));
}

static char *temporary_folder(struct err *err)
{
    const char *given = getenv("TMPDIR");
    if (!given || !*given)
        given = "/tmp";
    char *absolute = realpath(given, NULL);
    if (!absolute)
        err_errno(err, "%s: no folder for logs (TMPDIR)", given);
    return absolute;
}

char *log_folder_make(struct err *err)
{
    char *parent = temporary_folder(err);
    if (!parent)
        return NULL;
    char *folder = NULL;
    if (asprintf(&folder, "%s/symtape-XXXXXX", parent) < 0) {
        folder = NULL;
        err_nomem(err);
    } else if (!mkdtemp(folder)) {
        err_errno(err, "%s: cannot make a folder for logs (TMPDIR)", parent);
        free(folder);
        folder = NULL;
    }
    free(parent);
    return folder;
}

/* ------------------------------------------------------------------------------------------------
 * Listing it. */

typedef vec_of(char *) path_vec;

static int by_name(const void *a, const void *b)
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

/* Adds one entry of the folder if it is a log that holds something. */
static bool add_log(int dir, const char *folder, const char *name, path_vec *paths,
                    struct log_list *list, struct err *err)
{
    struct stat stat;
    bool is_log = is_log_name(name);
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

bool log_folder_list(const char *folder, struct log_list *ret, struct err *err)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return err_errno(err, "%s", folder);
    path_vec paths = { 0 };
    bool ok = true;
    *ret = (struct log_list){ 0 };
    for (struct dirent *entry; ok && (errno = 0, entry = readdir(dir));)
        ok = add_log(dirfd(dir), folder, entry->d_name, &paths, ret, err);
    if (ok && errno != 0)
        ok = err_errno(err, "%s", folder);
    closedir(dir);
    if (!ok) {
        release_paths(&paths);
        *ret = (struct log_list){ 0 };
        return false;
    }
    if (paths.n > 1)
        qsort(paths.v, paths.n, sizeof *paths.v, by_name);
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

static char *first_line(int dir, const char *name)
{
    char text[512];
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

char *log_folder_failure(const char *folder)
{
    DIR *dir = opendir(folder);
    char *ret = NULL;
    if (!dir)
        return NULL;
    for (struct dirent *entry; !ret && (entry = readdir(dir));)
        if (str_starts(str_of(entry->d_name), STR("deep-failed-")))
            ret = first_line(dirfd(dir), entry->d_name);
    closedir(dir);
    return ret;
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
        if (isdigit((unsigned char)entry->d_name[0]) &&
            strtol(entry->d_name, NULL, 10) != (long)getpid())
            n += has_file_open(entry->d_name, str_of(folder));
    closedir(dir);
    return n;
}

/* ------------------------------------------------------------------------------------------------
 * Removing it. */

static int remove_entry(const char *path, const struct stat *stat, int kind, struct FTW *place)
{
    (void)stat, (void)kind, (void)place;
    return remove(path);
}

bool log_folder_remove(const char *folder, struct err *err)
{
    enum { OPEN_FOLDERS = 8 };
    if (nftw(folder, remove_entry, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS) != 0)
        return err_errno(err, "%s: cannot remove the logs", folder);
    return true;
}
