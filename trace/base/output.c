#include "trace/base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_SIZE = 256 * 1024, MAX_LEFTOVERS = 100 };

struct output {
    char *target;    /* as given, or where a symbolic link leads */
    char *temporary; /* NULL when the target is written straight */
    int fd;
    bool owns_fd; /* false for standard output */
    enum output_mode mode;
    uint64_t offset;
    struct err failure; /* the first; sticky */
    size_t used;
    char buffer[BUFFER_SIZE];
};

static void output_free(struct output *output)
{
    if (output->owns_fd)
        close(output->fd);
    free(output->target);
    free(output->temporary);
    free(output);
}

static const char *name_of(const struct output *output)
{
    return output->target ? output->target : "standard output";
}

static bool fail_errno(struct output *output)
{
    return err_errno(&output->failure, "%s", name_of(output));
}

static bool copy_failure(const struct output *output, struct err *err)
{
    return err_set(err, output->failure.kind, "%s", output->failure.text);
}

/* PID keeps runs apart, a number after it the leftovers of a killed run that had the same PID. */
static bool create_temporary(struct output *output)
{
    for (int leftover = 0; leftover < MAX_LEFTOVERS; leftover++) {
        char suffix[64];
        snprintf(suffix, sizeof suffix, leftover ? ".tmp-%ld.%d" : ".tmp-%ld", (long)getpid(),
                 leftover);
        free(output->temporary);
        if (asprintf(&output->temporary, "%s%s", output->target, suffix) < 0) {
            output->temporary = NULL;
            return err_nomem(&output->failure);
        }
        output->fd = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (output->fd >= 0)
            return output->owns_fd = true;
        if (errno != EEXIST)
            return fail_errno(output);
    }
    return fail_errno(output);
}

static bool open_straight(struct output *output)
{
    output->fd = open(output->target, O_WRONLY | O_CLOEXEC);
    output->owns_fd = output->fd >= 0;
    return output->owns_fd || fail_errno(output);
}

static bool refuse_existing(struct output *output)
{
    return err_set(&output->failure, ERR_USAGE, "%s: exists already", output->target);
}

/* `path` is copied, or resolved when it is a symbolic link that leads somewhere. */
static bool name_target(struct output *output, const char *path)
{
    struct stat info;
    if (lstat(path, &info) == 0 && S_ISLNK(info.st_mode))
        output->target = realpath(path, NULL);
    if (!output->target)
        output->target = strdup(path);
    return output->target || err_nomem(&output->failure);
}

static bool open_target(struct output *output, const char *path)
{
    struct stat info;
    if (strcmp(path, "-") == 0) {
        output->fd = STDOUT_FILENO;
        return true;
    }
    if (!name_target(output, path))
        return false;
    if (stat(output->target, &info) != 0)
        return errno == ENOENT ? create_temporary(output) : fail_errno(output);
    if (S_ISDIR(info.st_mode)) {
        errno = EISDIR;
        return fail_errno(output);
    }
    if (!S_ISREG(info.st_mode))
        return open_straight(output);
    if (output->mode == OUTPUT_NEW)
        return refuse_existing(output);
    if (!create_temporary(output))
        return false;
    (void)!fchmod(output->fd, info.st_mode & 07777); /* best effort: another owner's file */
    return true;
}

struct output *output_open(const char *path, enum output_mode mode, struct err *err)
{
    struct output *output = malloc(sizeof *output);
    if (!output) {
        err_nomem(err);
        return NULL;
    }
    memset(output, 0, offsetof(struct output, buffer));
    output->fd = -1;
    output->mode = mode;
    if (open_target(output, path))
        return output;
    copy_failure(output, err);
    output_free(output);
    return NULL;
}

static bool write_out(struct output *output, const char *p, size_t n)
{
    while (n > 0) {
        ssize_t wrote = write(output->fd, p, n < (1u << 30) ? n : (1u << 30));
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return fail_errno(output);
        p += wrote;
        n -= (size_t)wrote;
    }
    return true;
}

static bool empty_buffer(struct output *output)
{
    size_t used = output->used;
    output->used = 0;
    return write_out(output, output->buffer, used);
}

bool output_write(struct output *output, struct str bytes, struct err *err)
{
    if (err_is_set(&output->failure))
        return copy_failure(output, err);
    output->offset += bytes.n;
    if (bytes.n > BUFFER_SIZE - output->used && !empty_buffer(output))
        return copy_failure(output, err);
    if (bytes.n >= BUFFER_SIZE)
        return write_out(output, bytes.p, bytes.n) || copy_failure(output, err);
    if (bytes.n > 0)
        memcpy(output->buffer + output->used, bytes.p, bytes.n);
    output->used += bytes.n;
    return true;
}

uint64_t output_offset(const struct output *output)
{
    return output->offset;
}

bool output_flush(struct output *output, struct err *err)
{
    if (!err_is_set(&output->failure) && empty_buffer(output))
        return true;
    return copy_failure(output, err);
}

/* Some file systems have no fsync; that is no reason to lose the file. */
static bool sync_file(struct output *output)
{
    return fsync(output->fd) == 0 || errno == EINVAL || errno == ENOTSUP || fail_errno(output);
}

/* Best effort: some file systems cannot sync a folder, and the file is whole all the same. */
static void sync_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        (void)!fsync(fd);
        close(fd);
    }
    free(folder);
}

static bool rename_temporary(struct output *output)
{
    int moved = -1;
    if (output->mode == OUTPUT_REPLACE) {
        moved = rename(output->temporary, output->target);
    } else {
        moved = renameat2(AT_FDCWD, output->temporary, AT_FDCWD, output->target, RENAME_NOREPLACE);
        if (moved != 0 && (errno == EINVAL || errno == ENOSYS)) { /* the file system cannot */
            moved = link(output->temporary, output->target);
            if (moved == 0)
                unlink(output->temporary);
        }
    }
    if (moved != 0)
        return errno == EEXIST ? refuse_existing(output) : fail_errno(output);
    free(output->temporary);
    output->temporary = NULL;
    return true;
}

/* Some file systems tell of a full disk only here. */
static bool close_file(struct output *output)
{
    output->owns_fd = false;
    return close(output->fd) == 0 || errno == EINTR || fail_errno(output);
}

static bool make_durable(struct output *output)
{
    if (err_is_set(&output->failure) || !empty_buffer(output))
        return false;
    if (!output->owns_fd)
        return true;
    if (!output->temporary)
        return close_file(output);
    if (!sync_file(output) || !close_file(output) || !rename_temporary(output))
        return false;
    sync_folder_of(output->target);
    return true;
}

bool output_commit(struct output *output, struct err *err)
{
    bool good = make_durable(output) || copy_failure(output, err);
    output_abort(output); /* nothing is left to take back when all went well */
    return good;
}

void output_abort(struct output *output)
{
    if (!output)
        return;
    if (output->temporary)
        unlink(output->temporary);
    output_free(output);
}
