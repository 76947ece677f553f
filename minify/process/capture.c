#include "minify/process/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/file/scratch.h"
#include "trace/base/process.h"
#include "trace/base/str.h"

enum { SAID_MAX = 1 << 16 };

static bool read_back(int fd, const char *name, size_t most, struct buf *ret, struct err *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return err_errno(err, "%s", name);
    if ((uint64_t)info.st_size > most)
        return err_set(err, ERR_ENV, "%s: its output has more than %zu MiB", name, most >> 20);
    if (!buf_reserve(ret, (size_t)info.st_size + 1))
        return err_nomem(err);
    for (off_t at = 0; at < info.st_size;) {
        ssize_t n = pread(fd, ret->p + ret->n, (size_t)(info.st_size - at), at);
        if (n <= 0 && errno != EINTR)
            return err_errno(err, "%s", name);
        ret->n += n > 0 ? (size_t)n : 0;
        at += n > 0 ? n : 0;
    }
    return true;
}

static bool refuse(int said, const char *name, struct err *err)
{
    struct buf text = BUF_INIT;
    struct err ignored = { 0 };
    (void)read_back(said, name, SAID_MAX, &text, &ignored);
    struct str rest = str_trim(buf_str(&text));
    size_t start = rest.n;
    while (start > 0 && rest.p[start - 1] != '\n')
        start--;
    rest = str_from(rest, start);
    err_set(err, ERR_USAGE, "%s: %.*s", name, STR_ARG(str_first(rest, 300)));
    buf_release(&text);
    return false;
}

bool capture(const char *const *argv, size_t most, struct buf *ret, struct err *err)
{
    const char *tmp = getenv("TMPDIR");
    const char *folder = tmp && *tmp ? tmp : "/tmp";
    struct process_end end = { 0 };
    pid_t pid;
    int out = scratch_file(folder, err), said = out >= 0 ? scratch_file(folder, err) : -1;
    const struct process_file files[] = { { STDIN_FILENO, "/dev/null", O_RDONLY, -1 },
                                          { STDOUT_FILENO, NULL, 0, out },
                                          { STDERR_FILENO, NULL, 0, said } };
    bool good = said >= 0;
    int error = good ? process_start(
                           &(struct process_start){
                               .argv = argv, .environment = environ, .files = files, .n_files = 3 },
                           &pid)
                     : 0;
    errno = error;
    if (error)
        good = err_errno(err, "%s", argv[0]);
    if (good)
        good = process_reap(pid, &end) || err_errno(err, "%s", argv[0]);
    if (good)
        good =
            end.status == 0 ? read_back(out, argv[0], most, ret, err) : refuse(said, argv[0], err);
    if (out >= 0)
        close(out);
    if (said >= 0)
        close(said);
    return good;
}
