#include "trace/record/deep_install.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/base/file/folder.h"

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

static bool write_lines(int folder, const char *name, const char *const *lines)
{
    struct buf text = BUF_INIT;
    for (; *lines; lines++)
        buf_puts(&text, *lines);
    errno = ENOMEM;
    bool ok = !text.failed && folder_write(folder, name, buf_str(&text));
    buf_release(&text);
    return ok;
}

/* Writes a file. `name` may be FOLDER/FILE; the folder is made with its first file. */
static bool write_below(int python, const char *name, const char *const *lines)
{
    char folder[NAME_MAX + 1];
    const char *slash = strchr(name, '/');
    if (!slash)
        return write_lines(python, name, lines);
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - name), name);
    int fd = folder_make(python, folder);
    if (fd < 0 && errno == EEXIST)
        fd = folder_open(python, folder);
    if (fd < 0)
        return false;
    bool ok = write_below(fd, slash + 1, lines);
    int code = errno;
    close(fd);
    errno = code;
    return ok;
}

bool deep_install(const struct scratch *folder, struct err *err)
{
    int python = folder_make(folder->fd, "python");
    bool ok = python >= 0;
    for (const struct deep_python_file *file = deep_python_files; ok && file->name; file++)
        ok = write_below(python, file->name, file->lines);
    if (!ok)
        scratch_errno(folder, "cannot write the deep recorder", err);
    if (python >= 0)
        close(python);
    return ok;
}

/* ------------------------------------------------------------------------------------------------
 * The C part. */

/* Where it may be, relative to the program: beside it in a build; in a prefix; where Python's
 * installers put the module symtape, with and without a prefix. */
static const char *const library_places[] = {
    "symtape_deep.so",
    "../lib/symtape/symtape_deep.so",
    "../lib*/*/symtape/symtape_deep.so",
    "../lib*/python3*/*-packages/symtape/symtape_deep.abi3.so",
    "../symtape/symtape_deep.abi3.so",
};

/* Returns the first file that FOLDER/PATTERN matches; NULL if there is none. */
static char *file_if_found(const char *folder, const char *pattern)
{
    glob_t found = { 0 };
    char *path, *absolute = NULL;
    if (asprintf(&path, "%s/%s", folder, pattern) < 0)
        return NULL;
    if (glob(path, 0, NULL, &found) == 0 && access(found.gl_pathv[0], R_OK) == 0)
        absolute = realpath(found.gl_pathv[0], NULL);
    globfree(&found);
    free(path);
    return absolute;
}

char *deep_library(struct err *err)
{
    char program[PATH_MAX] = "";
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    char *slash = n > 0 ? strrchr(program, '/') : NULL;
    char *path = NULL;
    if (slash)
        *slash = '\0';
    for (size_t i = 0; slash && !path && i < sizeof library_places / sizeof *library_places; i++)
        path = file_if_found(program, library_places[i]);
    if (!path)
        path = file_if_found(SYMTAPE_DEEP_LIBDIR, library_places[0]);
    if (!path)
        err_set(err, ERR_ENV,
                "--deep: symtape_deep.so is neither beside symtape nor in " SYMTAPE_DEEP_LIBDIR
                " (was it built? it needs Python's headers)");
    return path;
}
