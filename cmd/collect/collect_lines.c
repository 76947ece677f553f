/* Writes the tables of each input as JSON lines: FOLDER/tape=KEY, a partition for Spark and
 * DuckDB. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/collect/collect.h"
#include "trace/base/file/folder.h"

/* Complete folders are synced, so many at once, before they get their names. */
enum { BATCH = 64 };

#define PARTIAL ".partial-"

struct lines_target {
    int folder;
    const char *path;
    struct corpus_tape complete[BATCH];
    size_t n_complete;
    char name[sizeof "tape=" + 2 * SHA256_BYTES];
    char hidden[sizeof PARTIAL + 2 * SHA256_BYTES + 24]; /* this process's, until it is complete */
};

static void set_names(struct lines_target *target, const struct corpus_tape *tape)
{
    char hex[2 * SHA256_BYTES + 1];
    for (size_t i = 0; i < SHA256_BYTES; i++)
        snprintf(hex + 2 * i, 3, "%02x", tape->key[i]);
    snprintf(target->name, sizeof target->name, "tape=%s", hex);
    snprintf(target->hidden, sizeof target->hidden, PARTIAL "%s-%ld", hex, (long)getpid());
}

static bool write_tape_line(int folder, const struct corpus_tape *tape, struct err *err)
{
    struct buf line = BUF_INIT;
    struct json_writer w = json_writer_of(&line);
    struct output *output = output_open_in(folder, "tapes.jsonl", err);
    json_open_object(&w, NULL);
    json_put_str(&w, "name", tape->name);
    json_put_str_or_null(&w, "model", tape->model);
    json_put_str_or_null(&w, "revision", tape->revision);
    json_put_u64(&w, "bytes", tape->bytes);
    json_close(&w);
    buf_putc(&line, '\n');
    bool ok = output && (line.failed ? err_nomem(err) : output_write(output, buf_str(&line), err));
    if (output && ok)
        ok = output_commit(output, err);
    else
        output_abort(output);
    buf_release(&line);
    return ok;
}

static struct table_sink *begin_lines(void *user, const struct corpus_tape *tape, struct err *err)
{
    struct lines_target *target = user;
    struct table_sink *sink = NULL;
    char *path = NULL;
    set_names(target, tape);
    if (asprintf(&path, "%s/%s", target->path, target->hidden) < 0) {
        err_nomem(err);
        return NULL;
    }
    if (mkdirat(target->folder, target->hidden, 0777) != 0 && errno != EEXIST)
        err_errno(err, "%s", path);
    int folder = err_is_set(err) ? -1 : folder_open(target->folder, target->hidden);
    if (folder < 0)
        err_errno(err, "%s", path);
    else if (write_tape_line(folder, tape, err))
        sink = jsonl_sink_open(path, OUTPUT_UNSYNCED, err);
    if (folder >= 0)
        close(folder);
    free(path);
    return sink;
}

/* Another process may have made the same folder meanwhile: it has the same files, and may have
 * removed the hidden one. */
static bool is_there(const struct lines_target *target)
{
    struct stat info;
    return fstatat(target->folder, target->name, &info, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool show_folder(struct lines_target *target, const struct corpus_tape *tape,
                        struct err *err)
{
    set_names(target, tape);
    if (renameat(target->folder, target->hidden, target->folder, target->name) == 0)
        return true;
    int why = errno;
    if (!is_there(target)) {
        errno = why;
        return err_errno(err, "%s/%s", target->path, target->name);
    }
    (void)folder_remove(target->folder, target->hidden);
    return true;
}

static bool show_folders(struct lines_target *target, struct err *err)
{
    bool ok = target->n_complete == 0 || syncfs(target->folder) == 0 ||
              err_errno(err, "%s", target->path);
    for (size_t i = 0; ok && i < target->n_complete; i++)
        ok = show_folder(target, &target->complete[i], err);
    target->n_complete = 0;
    return ok;
}

/* Removes the hidden folders of tapes that are there: those of processes that were killed, or that
 * will find that they are late. */
static void remove_partial(struct lines_target *target)
{
    const struct str start = STR(PARTIAL);
    int folder = openat(target->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = folder >= 0 ? fdopendir(folder) : NULL;
    if (!dir && folder >= 0)
        close(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        struct str name = str_of(entry->d_name);
        if (!str_starts(name, start))
            continue;
        snprintf(target->name, sizeof target->name, "tape=%.*s", 2 * SHA256_BYTES,
                 name.p + start.n);
        if (is_there(target))
            (void)folder_remove(target->folder, entry->d_name);
    }
    if (dir)
        closedir(dir);
}

static bool write_input(struct collect *c, struct collect_input *input, struct lines_target *target,
                        struct err *err)
{
    set_names(target, &input->tape);
    if (is_there(target)) {
        c->n_present++;
        return true;
    }
    switch (collect_rows(c, input, &(struct collect_target){ begin_lines, target }, err)) {
    case COLLECT_ADDED:
        c->n_added++;
        target->complete[target->n_complete++] = input->tape;
        return target->n_complete < BATCH || show_folders(target, err);
    case COLLECT_HALF: (void)folder_remove(target->folder, target->hidden); return true;
    case COLLECT_SKIPPED: return true;
    default:
        if (!is_there(target))
            return false;
        err_clear(err);
        c->n_present++;
        return true;
    }
}

bool collect_write_lines(struct collect *c, const char *folder, struct err *err)
{
    struct lines_target target = { .path = folder };
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return err_errno(err, "%s", folder);
    target.folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = target.folder >= 0 || err_errno(err, "%s", folder);
    for (size_t i = 0; ok && i < c->inputs.n; i++) {
        ok = write_input(c, &c->inputs.v[i], &target, err);
        out_progress(c->cmd->out, "%zu of %zu tapes", i + 1, c->inputs.n);
    }
    ok = ok && show_folders(&target, err);
    if (ok)
        remove_partial(&target);
    out_progress_end(c->cmd->out);
    if (target.folder >= 0)
        close(target.folder);
    return ok;
}
