#include "trace/base/file/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "trace/base/file/folder.h"
#include "trace/base/text/printable.h"

enum { BUFFER_SIZE = 256 * 1024, MAX_LEFTOVERS = 100 };

struct output {
    char *target; /* as given, or where a symbolic link leads */
    int folder; /* folder of the target; -1 when the target is written directly, as the next two */
    char *temporary; /* name of the temporary in the folder */
    int lock;        /* lock on the temporary, until it is renamed or removed */
    int fd;
    bool owns_fd; /* false for standard output */
    enum output_mode mode;
    uint64_t offset;
    struct err failure; /* the first failure; sticky */
    bool fresh;         /* of output_commit_all(): nothing had the name before */
    bool swapped;       /* of the same: the file that had the name has the temporary's now */
    bool terminal;      /* the target is a terminal, see show() */
    struct printable_rest rest;
    size_t used;
    char buffer[BUFFER_SIZE];
};

static void output_free(struct output *output)
{
    if (output->owns_fd)
        close(output->fd);
    if (output->lock >= 0)
        close(output->lock);
    if (output->folder >= 0)
        close(output->folder);
    free(output->target);
    free(output->temporary);
    free(output);
}

static bool fail_errno(struct output *output)
{
    return err_errno(&output->failure, "%s", output->target ? output->target : "standard output");
}

static bool copy_failure(const struct output *output, struct err *err)
{
    return err_copy(err, &output->failure);
}

/* Returns the target's name in its folder. */
static const char *target_base(const struct output *output)
{
    const char *slash = strrchr(output->target, '/');
    return slash ? slash + 1 : output->target;
}

/* ------------------------------------------------------------------------------------------------
 * Temporaries that killed runs left. A writer holds its temporary locked from before the first byte
 * until it has its name, so what can be locked has no writer any more. */

static const char *past_digits(const char *text)
{
    while (is_digit(*text))
        text++;
    return text;
}

/* Returns whether a name is TARGET.tmp-PID or TARGET.tmp-PID.NUMBER. */
static bool is_temporary_of(const char *target, const char *name)
{
    static const char mark[] = ".tmp-";
    size_t n = strlen(target);
    if (strncmp(name, target, n) != 0 || strncmp(name + n, mark, strlen(mark)) != 0)
        return false;
    const char *pid = name + n + strlen(mark), *end = past_digits(pid);
    if (end > pid && end[0] == '.' && is_digit(end[1]))
        end = past_digits(end + 1);
    return end > pid && *end == '\0';
}

static bool is_left(const struct stat *info)
{
    return S_ISREG(info->st_mode) && is_ours(info) && info->st_nlink == 1;
}

/* Removes one temporary. It is opened for writing, because locks over a network need that. */
static void sweep_temporary(int folder, const char *name)
{
    enum { CAREFULLY = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC };
    struct stat info;
    if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !is_left(&info))
        return;
    int fd = openat(folder, name, O_RDWR | CAREFULLY);
    if (fd < 0)
        fd = openat(folder, name, O_RDONLY | CAREFULLY);
    if (fd < 0)
        return;
    if (fstat(fd, &info) == 0 && is_left(&info) && flock(fd, LOCK_EX | LOCK_NB) == 0)
        (void)folder_unlink(folder, name, &info);
    close(fd);
}

static void sweep_temporaries(const struct output *output)
{
    int fd = openat(output->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir && fd >= 0)
        close(fd);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (is_temporary_of(target_base(output), entry->d_name))
            sweep_temporary(output->folder, entry->d_name);
    if (dir)
        closedir(dir);
}

/* ------------------------------------------------------------------------------------------------
 * Opening. */

/* Locks the temporary. It returns false if another process took it for a left-over before it was
 * locked, or locked it. On a file system without locks nothing is swept, either. */
static bool lock_temporary(struct output *output)
{
    struct stat info;
    bool locked = flock(output->fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    bool known = fstat(output->fd, &info) == 0;
    if (known && locked && info.st_nlink > 0)
        return true;
    if (known)
        (void)folder_unlink(output->folder, output->temporary, &info);
    close(output->fd);
    output->fd = -1;
    return false;
}

/* Keeps the lock beyond output->fd, which is closed before the rename, since closing reports a
 * full disk. */
static bool keep_lock(struct output *output)
{
    output->owns_fd = true;
    output->lock = fcntl(output->fd, F_DUPFD_CLOEXEC, 0);
    if (output->lock >= 0)
        return true;
    fail_errno(output);
    (void)!unlinkat(output->folder, output->temporary, 0);
    return false;
}

/* Creates the temporary: its name has the PID, which distinguishes runs, and then a number,
 * which distinguishes it from left-overs of a killed run with the same PID. */
static bool create_temporary(struct output *output, mode_t mode)
{
    sweep_temporaries(output);
    for (int leftover = 0; leftover < MAX_LEFTOVERS; leftover++) {
        char suffix[64];
        snprintf(suffix, sizeof suffix, leftover ? ".tmp-%ld.%d" : ".tmp-%ld", (long)getpid(),
                 leftover);
        free(output->temporary);
        if (asprintf(&output->temporary, "%s%s", target_base(output), suffix) < 0) {
            output->temporary = NULL;
            return err_nomem(&output->failure);
        }
        output->fd = openat(output->folder, output->temporary,
                            O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (output->fd >= 0 && lock_temporary(output))
            return keep_lock(output);
        if (output->fd < 0 && errno != EEXIST)
            break;
        errno = EEXIST;
    }
    fail_errno(output);
    free(output->temporary); /* another process owns it, so it is not removed */
    output->temporary = NULL;
    return false;
}

static bool open_straight(struct output *output)
{
    output->fd = open(output->target, O_WRONLY | O_CLOEXEC);
    output->owns_fd = output->fd >= 0;
    output->terminal = output->owns_fd && isatty(output->fd);
    return output->owns_fd || fail_errno(output);
}

static bool refuse_existing(struct output *output)
{
    return err_set(&output->failure, ERR_USAGE, "%s exists already; --overwrite replaces it",
                   output->target);
}

/* Copies `path`, or resolves it when it is a symbolic link with a target. */
static bool name_target(struct output *output, const char *path)
{
    struct stat info;
    if (lstat(path, &info) == 0 && S_ISLNK(info.st_mode))
        output->target = realpath(path, NULL);
    if (!output->target)
        output->target = strdup(path);
    return output->target || err_nomem(&output->failure);
}

static bool open_folder(struct output *output)
{
    size_t n = (size_t)(target_base(output) - output->target);
    char *path = n ? strndup(output->target, n) : strdup(".");
    if (!path)
        return err_nomem(&output->failure);
    output->folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int code = errno;
    free(path);
    errno = code;
    return output->folder >= 0 || fail_errno(output);
}

static bool open_target(struct output *output, const char *path)
{
    struct stat info;
    if (strcmp(path, "-") == 0) {
        output->fd = STDOUT_FILENO;
        output->terminal = isatty(output->fd);
        return true;
    }
    if (!name_target(output, path))
        return false;
    if (stat(output->target, &info) != 0)
        return errno == ENOENT ? open_folder(output) && create_temporary(output, 0666)
                               : fail_errno(output);
    if (S_ISDIR(info.st_mode)) {
        errno = EISDIR;
        return fail_errno(output);
    }
    if (!S_ISREG(info.st_mode))
        return open_straight(output);
    if (output->mode == OUTPUT_NEW)
        return refuse_existing(output);
    if (!open_folder(output) || !create_temporary(output, 0666))
        return false;
    (void)!fchmod(output->fd, info.st_mode & 07777); /* best effort: another owner's file */
    return true;
}

static struct output *output_new(enum output_mode mode, struct err *err)
{
    struct output *output = malloc(sizeof *output);
    if (!output) {
        err_nomem(err);
        return NULL;
    }
    memset(output, 0, offsetof(struct output, buffer));
    output->fd = output->lock = output->folder = -1;
    output->mode = mode;
    return output;
}

static struct output *finish_open(struct output *output, bool good, struct err *err)
{
    if (good)
        return output;
    copy_failure(output, err);
    output_free(output);
    return NULL;
}

struct output *output_open(const char *path, enum output_mode mode, struct err *err)
{
    struct output *output = output_new(mode, err);
    return output ? finish_open(output, open_target(output, path), err) : NULL;
}

struct output *output_open_in(int folder, const char *name, struct err *err)
{
    struct output *output = output_new(OUTPUT_REPLACE, err);
    if (!output)
        return NULL;
    output->target = strdup(name);
    output->folder = fcntl(folder, F_DUPFD_CLOEXEC, 0);
    bool good = output->target || err_nomem(&output->failure);
    good = good && (output->folder >= 0 || fail_errno(output));
    return finish_open(output, good && create_temporary(output, 0600), err);
}

static bool write_buffered(struct output *output, const char *p, size_t n)
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
    return write_buffered(output, output->buffer, used);
}

static bool write_or_show(struct output *output, struct str bytes)
{
    if (bytes.n > BUFFER_SIZE - output->used && !empty_buffer(output))
        return false;
    if (bytes.n >= BUFFER_SIZE)
        return write_buffered(output, bytes.p, bytes.n);
    if (bytes.n > 0)
        memcpy(output->buffer + output->used, bytes.p, bytes.n);
    output->used += bytes.n;
    return true;
}

/* Writes bytes to a terminal and escapes those that would control it. No bytes mean the end. */
static bool show_on_terminal(struct output *output, struct str bytes)
{
    struct buf text = BUF_INIT;
    printable_piece(&output->rest, &text, bytes);
    bool good = text.failed ? err_nomem(&output->failure) : write_or_show(output, buf_str(&text));
    buf_release(&text);
    return good;
}

bool output_write(struct output *output, struct str bytes, struct err *err)
{
    if (err_is_set(&output->failure))
        return copy_failure(output, err);
    output->offset += bytes.n;
    bool good = output->terminal && bytes.n ? show_on_terminal(output, bytes)
                                            : write_or_show(output, bytes);
    return good || copy_failure(output, err);
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

/* Syncs the file. A file system without fsync is no reason to lose the file. */
static bool sync_file(struct output *output)
{
    return output->mode == OUTPUT_UNSYNCED || fsync(output->fd) == 0 || errno == EINVAL ||
           errno == ENOTSUP || fail_errno(output);
}

/* Syncs the folder as far as possible: some file systems cannot, and the file is complete
 * anyway. */
static void sync_folder(const struct output *output)
{
    int fd = output->mode == OUTPUT_UNSYNCED
                 ? -1
                 : openat(output->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)!fsync(fd);
        close(fd);
    }
}

static bool rename_temporary(struct output *output)
{
    const int folder = output->folder;
    const char *name = target_base(output);
    unsigned flags = output->mode == OUTPUT_NEW ? RENAME_NOREPLACE : 0;
    int moved = renameat2(folder, output->temporary, folder, name, flags);
    if (moved != 0 && flags &&
        (errno == EINVAL || errno == ENOSYS)) { /* the file system does not support it */
        moved = linkat(folder, output->temporary, folder, name, 0);
        if (moved == 0)
            unlinkat(folder, output->temporary, 0);
    }
    if (moved != 0)
        return errno == EEXIST ? refuse_existing(output) : fail_errno(output);
    free(output->temporary);
    output->temporary = NULL;
    return true;
}

/* Closes the file, which is when some file systems report a full disk. */
static bool close_file(struct output *output)
{
    output->owns_fd = false;
    return close(output->fd) == 0 || errno == EINTR || fail_errno(output);
}

/* Writes, syncs and closes the file: all but its name. */
static bool complete_file(struct output *output)
{
    if (err_is_set(&output->failure) || (output->terminal && !show_on_terminal(output, STR(""))) ||
        !empty_buffer(output))
        return false;
    if (!output->owns_fd)
        return true;
    return (!output->temporary || sync_file(output)) && close_file(output);
}

static bool make_durable(struct output *output)
{
    if (!complete_file(output))
        return false;
    if (!output->temporary)
        return true;
    if (!rename_temporary(output))
        return false;
    sync_folder(output);
    return true;
}

bool output_commit(struct output *output, struct err *err)
{
    bool good = make_durable(output) || copy_failure(output, err);
    output_abort(output); /* after success nothing is left to undo */
    return good;
}

/* ------------------------------------------------------------------------------------------------
 * Several at once. The file that an output replaces stays under the temporary's name until all
 * have theirs. */

static bool swap_names(const struct output *output)
{
    return renameat2(output->folder, output->temporary, output->folder, target_base(output),
                     RENAME_EXCHANGE) == 0;
}

/* A file system that cannot swap names replaces the old file at once. */
static bool take_name(struct output *output)
{
    struct stat info;
    if (!output->temporary)
        return true;
    bool there = fstatat(output->folder, target_base(output), &info, AT_SYMLINK_NOFOLLOW) == 0;
    output->fresh = !there && errno == ENOENT;
    output->swapped =
        there && output->mode == OUTPUT_REPLACE && S_ISREG(info.st_mode) && swap_names(output);
    return output->swapped || rename_temporary(output);
}

/* Makes the name lead to what it led to before. The new file is aborted next. */
static void give_name_back(struct output *output)
{
    struct stat info;
    if (output->swapped)
        (void)!swap_names(output);
    else if (output->fresh && fstat(output->lock, &info) == 0)
        (void)folder_unlink(output->folder, target_base(output), &info);
}

static void forget_old(struct output *output)
{
    if (output->swapped) {
        (void)!unlinkat(output->folder, output->temporary, 0);
        free(output->temporary);
        output->temporary = NULL;
    }
    if (output->folder >= 0)
        sync_folder(output);
}

bool output_commit_all(struct output *const *outputs, size_t n, struct err *err)
{
    size_t named = 0;
    bool good = true;
    for (size_t i = 0; good && i < n; i++)
        good = complete_file(outputs[i]) || copy_failure(outputs[i], err);
    while (good && named < n) {
        good = take_name(outputs[named]) || copy_failure(outputs[named], err);
        named += good;
    }
    for (size_t i = 0; i < n; i++) {
        if (i < named && good)
            forget_old(outputs[i]);
        else if (i < named)
            give_name_back(outputs[i]);
        output_abort(outputs[i]);
    }
    return good;
}

void output_abort(struct output *output)
{
    if (!output)
        return;
    struct stat info;
    if (output->temporary && fstat(output->lock, &info) == 0)
        (void)folder_unlink(output->folder, output->temporary, &info);
    output_free(output);
}
