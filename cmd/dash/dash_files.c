#include "cmd/dash/dash_files.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#include "trace/base/buf.h"

static const struct {
    struct str ending;
    enum dash_file_kind kind;
} ENDINGS[] = {
    { { ".csv", 4 }, DASH_FILE_RESULTS },    { { ".jsonl", 6 }, DASH_FILE_RESULTS },
    { { ".ndjson", 7 }, DASH_FILE_RESULTS }, { { ".tape", 5 }, DASH_FILE_TAPE },
    { { ".log", 4 }, DASH_FILE_TAPE },       { { ".pt2", 4 }, DASH_FILE_TAPE },
};

enum dash_file_kind dash_file_kind(struct str path)
{
    static const struct str PACKED[] = { { ".zst", 4 }, { ".gz", 3 } };
    if (str_is(str_basename(path), "point.json"))
        return DASH_FILE_FACTS;
    for (size_t i = 0; i < sizeof PACKED / sizeof *PACKED; i++)
        if (str_ends(path, PACKED[i]))
            path.n -= PACKED[i].n;
    for (size_t i = 0; i < sizeof ENDINGS / sizeof *ENDINGS; i++)
        if (str_ends(path, ENDINGS[i].ending))
            return ENDINGS[i].kind;
    return DASH_FILE_OTHER;
}

bool dash_files_add(const char *path, enum dash_file_kind kind, struct dash_files *files,
                    struct err *err)
{
    struct str kept = arena_copy(&files->arena, str_of(path));
    return (kept.p && vec_push(&files->list, (struct dash_file){ kept.p, kind })) || err_nomem(err);
}

static bool add_entry(const char *path, unsigned depth, struct dash_files *files, struct err *err)
{
    struct stat info;
    enum dash_file_kind kind = dash_file_kind(str_of(path));
    if (lstat(path, &info) != 0)
        return true; /* removed meanwhile */
    if (S_ISDIR(info.st_mode))
        return depth == 0 || dash_files_of_folder(path, depth - 1, files, err);
    if (kind == DASH_FILE_OTHER || stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return true;
    return dash_files_add(path, kind, files, err);
}

static bool add_entries(DIR *dir, const char *folder, unsigned depth, struct dash_files *files,
                        struct err *err)
{
    struct buf path = BUF_INIT;
    bool ok = true;
    for (struct dirent *entry; ok && (errno = 0, entry = readdir(dir));) {
        if (entry->d_name[0] == '.')
            continue;
        buf_clear(&path);
        buf_printf(&path, "%s%s%s", folder, str_ends(str_of(folder), STR("/")) ? "" : "/",
                   entry->d_name);
        buf_putc(&path, '\0');
        ok = path.failed ? err_nomem(err) : add_entry(path.p, depth, files, err);
    }
    if (ok && errno != 0)
        ok = err_errno(err, "%s", folder);
    buf_release(&path);
    return ok;
}

bool dash_files_of_folder(const char *folder, unsigned depth, struct dash_files *files,
                          struct err *err)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return err_errno(err, "%s", folder);
    bool ok = add_entries(dir, folder, depth, files, err);
    closedir(dir);
    return ok;
}

static int compare_files(const void *a, const void *b)
{
    const struct dash_file *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return strverscmp(x->path, y->path);
}

void dash_files_sort(struct dash_files *files)
{
    if (files->list.n)
        qsort(files->list.v, files->list.n, sizeof *files->list.v, compare_files);
}

void dash_files_release(struct dash_files *files)
{
    vec_release(&files->list);
    arena_release(&files->arena);
}
