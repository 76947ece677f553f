#include "minify/remote/command_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_BYTES_MAX = 64 << 20 };

/* Programs and data that each machine has of its own. */
static bool is_of_system(const char *path)
{
    static const char *const folders[] = { "/usr/", "/bin/", "/sbin/", "/lib",
                                           "/opt/", "/dev/", "/proc/", "/sys/" };
    char *whole = realpath(path, NULL);
    bool ret = !whole;
    for (size_t i = 0; whole && i < sizeof folders / sizeof *folders; i++)
        ret |= str_starts(str_of(whole), str_of(folders[i]));
    free(whole);
    return ret;
}

static bool read_bytes(int fd, const char *path, struct buf *ret, struct err *err)
{
    for (;;) {
        if (!buf_reserve(ret, 1 << 16))
            return err_nomem(err);
        ssize_t n = read(fd, ret->p + ret->n, 1 << 16);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(err, "%s", path);
        if (n == 0)
            return true;
        ret->n += (size_t)n;
        if (ret->n > FILE_BYTES_MAX)
            return err_set(err, ERR_USAGE, "%s: a file that is sent to workers may have 64 MiB",
                           path);
    }
}

bool command_file_bytes(const char *path, struct buf *ret, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_errno(err, "%s", path);
    bool good = read_bytes(fd, path, ret, err);
    close(fd);
    return good;
}

/* Names a file in the job's folder: its number keeps two of one name apart, and its ending is what
 * programs look at. */
static void name_file(struct command_file *file, size_t number, const char *path)
{
    const char *slash = strrchr(path, '/');
    struct str base = str_of(slash ? slash + 1 : path);
    size_t skip = base.n > 40 ? base.n - 40 : 0;
    snprintf(file->name, sizeof file->name, "%zu-%.*s", number, STR_ARG(str_from(base, skip)));
    for (char *c = file->name; *c; c++)
        if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
            *c = '_';
}

static bool read_word(struct command_file *file, size_t number, const char *path, struct err *err)
{
    struct stat info;
    bool bare = number == 0 && !strchr(path, '/'); /* a program of PATH */
    if (bare || stat(path, &info) != 0 || !S_ISREG(info.st_mode) || is_of_system(path))
        return true;
    if (!command_file_bytes(path, &file->bytes, err))
        return false;
    file->program = info.st_mode & S_IXUSR;
    name_file(file, number, path);
    return true;
}

bool command_files_read(struct command_files *files, const struct command_line *command,
                        struct err *err)
{
    for (size_t i = 0; i < command->words.n; i++) {
        const struct command_file none = { .name = "" };
        if (!vec_push(&files->list, none))
            return err_nomem(err);
        if (!read_word(&files->list.v[i], i, command->words.v[i], err))
            return false;
    }
    return true;
}

void command_files_add(const struct command_files *files, const struct command_line *command,
                       struct job *job)
{
    for (size_t i = 0; i < command->words.n; i++) {
        const struct command_file *file = i < files->list.n ? &files->list.v[i] : NULL;
        if (!file || !file->name[0]) {
            job_add_word(job, JOB_TEXT, str_of(command->words.v[i]));
            continue;
        }
        uint32_t number = (uint32_t)job->files.n;
        job_add_file(job, str_of(file->name), buf_str(&file->bytes), file->program);
        job_add_word(job, number, STR(""));
    }
}

void command_files_release(struct command_files *files)
{
    for (size_t i = 0; i < files->list.n; i++)
        buf_release(&files->list.v[i].bytes);
    vec_release(&files->list);
}
