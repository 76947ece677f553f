/* The log of a bisection over versions. Of commits it is what `git bisect log` prints:
 *
 *     # symtape bisect 1, suite 91ab...
 *     git bisect start
 *     git bisect good 27c0...
 *     git bisect bad 5e12...
 *     # again: good 27c0...
 *
 * Of releases all lines are comments: "# good 2.9.1". Each line is written at once; an incomplete
 * last line of a run that was killed is removed. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/bisect/versions.h"

#define HEAD "# symtape bisect 1, suite "
enum { LOG_BYTES_MAX = 64 << 20 };

struct logged {
    struct str name;
    bool again;
    enum bisect_answer answer;
};

struct version_log {
    int fd;
    bool commits;
    pthread_mutex_t lock;
    vec_of(struct logged)
    list;
    struct arena arena;
    const char *path;
};

static const char *const words[] = {
    [BISECT_GOOD] = "good", [BISECT_BAD] = "bad", [BISECT_SKIP] = "skip"
};

static bool remember(struct version_log *log, struct str name, bool again,
                     enum bisect_answer answer)
{
    struct logged logged = { arena_copy(&log->arena, name), again, answer };
    return logged.name.p && vec_push(&log->list, logged);
}

static bool read_line(struct version_log *log, struct str line)
{
    static const struct {
        const char *before;
        bool again;
    } forms[] = { { "git bisect ", false }, { "# again: ", true }, { "# ", false } };
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        if (!str_starts(line, str_of(forms[f].before)))
            continue;
        struct str rest = str_from(line, strlen(forms[f].before));
        size_t space = str_find_char(rest, ' ');
        for (size_t w = 0; w < sizeof words / sizeof *words; w++)
            if (str_is(str_first(rest, space), words[w]) && space < rest.n)
                return remember(log, str_from(rest, space + 1), forms[f].again,
                                (enum bisect_answer)w);
        return true;
    }
    return true;
}

static bool read_all(struct version_log *log, struct buf *text, struct err *err)
{
    for (;;) {
        if (!buf_reserve(text, 1 << 16))
            return err_nomem(err);
        ssize_t n = read(log->fd, text->p + text->n, 1 << 16);
        if (n < 0 && errno != EINTR)
            return err_errno(err, "%s", log->path);
        if (n == 0)
            return true;
        text->n += n > 0 ? (size_t)n : 0;
        if (text->n > LOG_BYTES_MAX)
            return err_set(err, ERR_INPUT, "%s: too long for a log of a bisection", log->path);
    }
}

static bool write_line(struct version_log *log, const struct buf *line, struct err *err)
{
    if (line->failed)
        return err_nomem(err);
    return write(log->fd, line->p, line->n) == (ssize_t)line->n || err_errno(err, "%s", log->path);
}

static bool begin_log(struct version_log *log, struct str id, struct err *err)
{
    struct buf text = BUF_INIT;
    buf_printf(&text, HEAD "%.*s\n%s", STR_ARG(id), log->commits ? "git bisect start\n" : "");
    bool good = (ftruncate(log->fd, 0) == 0 && lseek(log->fd, 0, SEEK_SET) == 0) ||
                err_errno(err, "%s", log->path);
    good = good && write_line(log, &text, err);
    buf_release(&text);
    return good;
}

static bool use_log(struct version_log *log, struct str text, struct err *err)
{
    size_t end = text.n;
    while (end > 0 && text.p[end - 1] != '\n')
        end--;
    if (ftruncate(log->fd, (off_t)end) != 0 || lseek(log->fd, (off_t)end, SEEK_SET) < 0)
        return err_errno(err, "%s", log->path);
    for (text = str_first(text, end); text.n;) {
        struct str line = str_first(text, str_find_char(text, '\n'));
        text = str_from(text, line.n + 1);
        if (!read_line(log, line))
            return err_nomem(err);
    }
    return true;
}

static bool start_log(struct version_log *log, struct str id, bool overwrite, struct err *err)
{
    struct buf text = BUF_INIT;
    if (flock(log->fd, LOCK_EX | LOCK_NB) != 0)
        return err_set(err, ERR_USAGE, "%s: another run uses this log", log->path);
    bool good = read_all(log, &text, err);
    struct str first = str_first(buf_str(&text), str_find_char(buf_str(&text), '\n'));
    bool ours = str_starts(first, STR(HEAD)) && str_eq(str_from(first, strlen(HEAD)), id);
    if (good && (text.n == 0 || overwrite))
        good = begin_log(log, id, err);
    else if (good && !ours)
        good =
            err_set(err, ERR_USAGE,
                    "%s: a log of another suite, range or --repeat; --overwrite replaces it, and "
                    "--log names another file",
                    log->path);
    else if (good)
        good = use_log(log, buf_str(&text), err);
    buf_release(&text);
    return good;
}

struct version_log *version_log_open(const char *path, struct str id, bool overwrite, bool commits,
                                     struct err *err)
{
    struct version_log *log = calloc(1, sizeof *log);
    if (!log) {
        err_nomem(err);
        return NULL;
    }
    log->path = path;
    log->commits = commits;
    pthread_mutex_init(&log->lock, NULL);
    log->fd = open(path, O_RDWR | O_CLOEXEC | O_CREAT, 0666);
    if (log->fd < 0)
        err_errno(err, "%s", path);
    if (log->fd >= 0 && start_log(log, id, overwrite, err))
        return log;
    version_log_close(log);
    return NULL;
}

bool version_log_find(struct version_log *log, struct str name, bool again, enum bisect_answer *ret)
{
    bool found = false;
    pthread_mutex_lock(&log->lock);
    for (size_t i = 0; i < log->list.n && !found; i++) {
        found = log->list.v[i].again == again && str_eq(log->list.v[i].name, name);
        if (found)
            *ret = log->list.v[i].answer;
    }
    pthread_mutex_unlock(&log->lock);
    return found;
}

bool version_log_add(struct version_log *log, struct str name, bool again,
                     enum bisect_answer answer, struct err *err)
{
    struct buf line = BUF_INIT;
    buf_printf(&line, "%s%s %.*s\n",
               again          ? "# again: "
               : log->commits ? "git bisect "
                              : "# ",
               words[answer], STR_ARG(name));
    pthread_mutex_lock(&log->lock);
    bool good =
        (remember(log, name, again, answer) || err_nomem(err)) && write_line(log, &line, err);
    pthread_mutex_unlock(&log->lock);
    buf_release(&line);
    return good;
}

void version_log_close(struct version_log *log)
{
    if (!log)
        return;
    if (log->fd >= 0)
        close(log->fd);
    pthread_mutex_destroy(&log->lock);
    vec_release(&log->list);
    arena_release(&log->arena);
    free(log);
}
