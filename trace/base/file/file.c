#include "trace/base/file/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static bool check_regular(struct file *file, const char *path, struct err *err)
{
    struct stat st;
    if (fstat(file->fd, &st) != 0)
        return err_errno(err, "%s", path);
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_ENV, "%s: not a regular file", path);
    if (st.st_size <= 0)
        return err_set(err, ERR_ENV, "%s: the file is empty", path);
    file->size = (uint64_t)st.st_size;
    return true;
}

bool file_open(struct file *file, const char *path, struct err *err)
{
    *file = (struct file){ .fd = open(path, O_RDONLY | O_CLOEXEC) };
    if (file->fd < 0)
        return err_errno(err, "%s", path);
    if (check_regular(file, path, err))
        return true;
    file_close(file);
    return false;
}

void file_close(struct file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    *file = FILE_NONE;
}

bool file_read(const struct file *file, uint64_t offset, void *to, size_t n, struct err *err)
{
    enum { MOST = 1 << 30 }; /* a system call transfers at most 2 GiB */
    for (size_t done = 0; done < n;) {
        size_t most = n - done < MOST ? n - done : MOST;
        ssize_t got = pread(file->fd, (char *)to + done, most, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_errno(err, "offset %llu", (unsigned long long)(offset + done));
        if (got == 0)
            return err_set(err, ERR_ENV,
                           "offset %llu: the file ends here; it was truncated while it was read",
                           (unsigned long long)(offset + done));
        done += (size_t)got;
    }
    return true;
}

bool file_read_buf(const struct file *file, uint64_t offset, size_t n, struct buf *to,
                   struct err *err)
{
    buf_clear(to);
    if (!buf_reserve(to, n))
        return err_nomem(err);
    if (!file_read(file, offset, to->p, n, err))
        return false;
    to->n = n;
    return true;
}
