#include "cmd/shards/tape_files.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "trace/base/str.h"
#include "trace/log/source_list.h"

enum { MAX_DEPTH = 32 };

static bool is_named_as_input(struct str name)
{
    if (str_ends(name, STR(".zst")))
        name.n -= 4;
    else if (str_ends(name, STR(".gz")))
        name.n -= 3;
    return str_ends(name, STR(".log")) || str_ends(name, STR(".pt2"));
}

static bool is_tape_name(struct str name)
{
    return str_ends(name, STR(".tape"));
}

static bool add_path(struct tape_files *files, const char *path, bool found, struct err *err)
{
    struct str kept = arena_copy(&files->arena, str_of(path));
    struct tape_file file = { kept.p, found };
    files->bytes += kept.n;
    return (kept.p && vec_push(&files->paths, file)) || err_nomem(err);
}

static bool add_entry(struct tape_files *files, FTS *walk, FTSENT *entry, struct err *err)
{
    bool hidden = entry->fts_level > FTS_ROOTLEVEL && entry->fts_name[0] == '.';
    switch (entry->fts_info) {
    case FTS_D:
        if (hidden || entry->fts_level > MAX_DEPTH)
            (void)fts_set(walk, entry, FTS_SKIP);
        return true;
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS: errno = entry->fts_errno; return err_errno(err, "%s", entry->fts_path);
    case FTS_F:
        return hidden ||
               !(is_named_as_input(str_of(entry->fts_name)) ||
                 is_tape_name(str_of(entry->fts_name))) ||
               add_path(files, entry->fts_path, true, err);
    default: return true;
    }
}

static bool add_folder(struct tape_files *files, const char *folder, struct err *err)
{
    char *const roots[] = { (char *)folder, NULL };
    FTS *walk = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, NULL);
    bool ok = walk || err_errno(err, "%s", folder);
    for (FTSENT *entry; ok && (errno = 0, entry = fts_read(walk));)
        ok = add_entry(files, walk, entry, err);
    if (ok && errno != 0)
        ok = err_errno(err, "%s", folder);
    if (walk)
        (void)fts_close(walk);
    return ok;
}

/* A name without a file is added, too: opening it says what is wrong. */
bool tape_files_add(struct tape_files *files, const char *operand, struct err *err)
{
    struct stat info;
    if (strcmp(operand, "-") != 0 && stat(operand, &info) == 0 && S_ISDIR(info.st_mode))
        return add_folder(files, operand, err);
    return add_path(files, operand, false, err);
}

bool tape_file_is_recording(const struct tape_file *file, struct source_meter *meter, bool *ret,
                            struct err *err)
{
    *ret = true;
    return !file->found || is_tape_name(str_of(file->path)) ||
           source_list_takes(file->path, meter, ret, err);
}

static int by_path(const void *a, const void *b)
{
    const struct tape_file *x = a, *y = b;
    int order = strcmp(x->path, y->path);
    return order ? order : x->found - y->found;
}

void tape_files_sort(struct tape_files *files)
{
    size_t kept = 0;
    if (files->paths.n == 0)
        return;
    qsort(files->paths.v, files->paths.n, sizeof *files->paths.v, by_path);
    for (size_t i = 0; i < files->paths.n; i++)
        if (i == 0 || strcmp(files->paths.v[i].path, files->paths.v[kept - 1].path) != 0)
            files->paths.v[kept++] = files->paths.v[i];
    files->paths.n = kept;
}

void tape_files_release(struct tape_files *files)
{
    vec_release(&files->paths);
    arena_release(&files->arena);
}
