#include "trace/record/deep_install.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/buf.h"

#define LIBRARY "symtape_deep.so"

const char *const deep_levels[] = { "counts", "graphs", "all", NULL };

bool deep_level_is(const char *level)
{
    for (const char *const *known = deep_levels; *known; known++)
        if (strcmp(*known, level) == 0)
            return true;
    return false;
}

/* ------------------------------------------------------------------------------------------------
 * The Python part. */

static bool write_all(int fd, struct str text)
{
    while (text.n > 0) {
        ssize_t n = write(fd, text.p, text.n);
        if (n < 0 && errno != EINTR)
            return false;
        text = str_from(text, n > 0 ? (size_t)n : 0);
    }
    return true;
}

/* One open file at a time, its text put together first. */
static bool write_file(const char *path, const char *const *lines, struct err *err)
{
    struct buf text = BUF_INIT;
    for (; *lines; lines++)
        buf_puts(&text, *lines);
    int fd = text.failed ? -1 : open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && write_all(fd, buf_str(&text));
    if (fd >= 0 && close(fd) != 0)
        ok = false;
    if (text.failed)
        err_nomem(err);
    else if (!ok)
        err_errno(err, "%s: cannot write the deep recorder", path);
    buf_release(&text);
    return ok;
}

/* The folders of a path below `from`, which ends in a slash. */
static bool make_folders(char *path, char *from, struct err *err)
{
    for (char *slash = strchr(from, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool ok = mkdir(path, 0700) == 0 || errno == EEXIST;
        if (!ok)
            err_errno(err, "%s: cannot write the deep recorder", path);
        *slash = '/';
        if (!ok)
            return false;
    }
    return true;
}

bool deep_install(const char *folder, struct err *err)
{
    bool ok = true;
    for (const struct deep_python_file *file = deep_python_files; ok && file->name; file++) {
        char *path;
        if (asprintf(&path, "%s/python/%s", folder, file->name) < 0)
            return err_nomem(err);
        ok = make_folders(path, path + strlen(folder) + 1, err) &&
             write_file(path, file->lines, err);
        free(path);
    }
    return ok;
}

/* ------------------------------------------------------------------------------------------------
 * The C part. */

/* FOLDER/NAME if it is there. */
static char *found(const char *folder, const char *name)
{
    char *path, *absolute;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return NULL;
    absolute = access(path, R_OK) == 0 ? realpath(path, NULL) : NULL;
    free(path);
    return absolute;
}

char *deep_library(struct err *err)
{
    char program[PATH_MAX] = "";
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    char *slash = n > 0 ? strrchr(program, '/') : NULL;
    char *path = NULL;
    if (slash) {
        *slash = '\0';
        path = found(program, LIBRARY);
        if (!path)
            path = found(program, "../lib/symtape/" LIBRARY);
    }
    if (!path)
        path = found(SYMTAPE_DEEP_LIBDIR, LIBRARY);
    if (!path)
        err_set(err, ERR_ENV, "--deep: " LIBRARY " is neither beside symtape nor in " SYMTAPE_DEEP_LIBDIR
                " (was it built? it needs Python's headers)");
    return path;
}
