#include "trace/log/source_list.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "trace/base/buf.h"
#include "trace/log/deep/deep_file.h"
#include "trace/log/source.h"

enum { LOOK_AT = 64 * 1024, MAX_DEPTH = 1 };

struct source_entry {
    const char *path;
    unsigned depth;
    dev_t device;
    ino_t inode;
};

struct folder {
    vec_of(struct source_entry)
    entries;
    size_t n_passed_over;
    struct arena *arena;
    struct source_meter *meter;
    char *look; /* LOOK_AT bytes */
};

enum name_says { NAME_NOTHING, NAME_LOG, NAME_DEDICATED_LOG, NAME_PT2, NAME_SIDE_FILE };

static enum name_says kind_by_name(struct str name)
{
    struct str stem = name;
    if (str_ends(name, STR(".pt2")))
        return NAME_PT2;
    if (str_ends(name, STR(".deep")))
        return NAME_SIDE_FILE;
    if (str_ends(stem, STR(".zst")))
        stem.n -= 4;
    else if (str_ends(stem, STR(".gz")))
        stem.n -= 3;
    if (!str_ends(stem, STR(".log")))
        return NAME_NOTHING;
    return str_starts(stem, STR("dedicated_log_torch_trace")) ? NAME_DEDICATED_LOG : NAME_LOG;
}

/* Returns whether a header line stands at the start of any line. */
static bool has_header_line(struct str text)
{
    while (text.n > 0) {
        if (source_kind_of(text) == SOURCE_LOG)
            return true;
        text = str_from(text, str_find_char(text, '\n') + 1);
    }
    return false;
}

/* Returns whether the file looks like a log. It is true for unreadable files as well: they stay
 * in the list, and opening them reports the error. */
static bool looks_like_log(const struct folder *folder, const char *path)
{
    struct err ignored = { 0 };
    struct source *source = source_open(path, &ignored);
    struct str text = { folder->look, 0 };
    size_t n = 1;
    if (source)
        source_set_window_meter(source, folder->meter);
    while (source && n > 0 && text.n < LOOK_AT &&
           source_read(source, folder->look + text.n, LOOK_AT - text.n, &n, &ignored))
        text.n += n;
    source_close(source);
    return has_header_line(text) || err_is_set(&ignored);
}

static bool looks_like_zip(const char *path)
{
    struct err ignored = { 0 };
    struct source *source = source_open(path, &ignored);
    bool zip = !source || source->kind == SOURCE_ZIP;
    source_close(source);
    return zip;
}

static bool is_listed_file(const struct folder *folder, enum name_says name, const char *path)
{
    return name == NAME_DEDICATED_LOG || (name == NAME_LOG && looks_like_log(folder, path)) ||
           (name == NAME_PT2 && looks_like_zip(path)) ||
           (name == NAME_SIDE_FILE && deep_file_is(path));
}

static bool read_folder(struct folder *folder, const char *path, unsigned depth, struct err *err);

static bool take_file(struct folder *folder, const char *path, unsigned depth,
                      const struct stat *info, struct err *err)
{
    enum name_says name = kind_by_name(str_basename(str_of(path)));
    struct source_entry entry = { path, depth, info->st_dev, info->st_ino };
    if (name == NAME_NOTHING)
        return true;
    if (is_listed_file(folder, name, path))
        return vec_push(&folder->entries, entry) || err_nomem(err);
    folder->n_passed_over++;
    return true;
}

static bool take_entry(struct folder *folder, const char *parent, const char *name, unsigned depth,
                       struct err *err)
{
    struct buf path = BUF_INIT;
    struct stat info;
    buf_printf(&path, "%s%s%s", parent, str_ends(str_of(parent), STR("/")) ? "" : "/", name);
    struct str kept = path.failed ? (struct str){ 0 } : arena_copy(folder->arena, buf_str(&path));
    buf_release(&path);
    if (!kept.p)
        return err_nomem(err);
    if (stat(kept.p, &info) != 0)
        return true; /* a dangling link, or a file that was removed meanwhile */
    if (S_ISREG(info.st_mode))
        return take_file(folder, kept.p, depth, &info, err);
    if (S_ISDIR(info.st_mode) && depth < MAX_DEPTH && name[0] != '.')
        return read_folder(folder, kept.p, depth + 1, err);
    return true;
}

static bool read_folder(struct folder *folder, const char *path, unsigned depth, struct err *err)
{
    DIR *dir = opendir(path);
    bool good = true;
    if (!dir)
        return err_errno(err, "%s", path);
    for (struct dirent *e; good && (errno = 0, e = readdir(dir));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            good = take_entry(folder, path, e->d_name, depth, err);
    if (good && errno != 0)
        good = err_errno(err, "%s", path);
    closedir(dir);
    return good;
}

static int by_path(const void *a, const void *b)
{
    return strverscmp(((const struct source_entry *)a)->path,
                      ((const struct source_entry *)b)->path);
}

static int by_file(const void *a, const void *b)
{
    const struct source_entry *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    if (x->inode != y->inode)
        return x->inode < y->inode ? -1 : 1;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    return by_path(a, b);
}

/* Sorts the entries. A file with several names keeps the first name among those that are least
 * deep. */
static void sort_entries(struct folder *folder)
{
    struct source_entry *v = folder->entries.v;
    size_t kept = 0;
    if (folder->entries.n == 0)
        return;
    qsort(v, folder->entries.n, sizeof *v, by_file);
    for (size_t i = 0; i < folder->entries.n; i++)
        if (i == 0 || v[i].device != v[kept - 1].device || v[i].inode != v[kept - 1].inode)
            v[kept++] = v[i];
    folder->entries.n = kept;
    qsort(v, kept, sizeof *v, by_path);
}

static bool add_entries(struct source_list *list, const struct folder *folder, const char *input,
                        struct err *err)
{
    if (folder->entries.n == 0)
        return err_set(err, ERR_INPUT,
                       "%s: a folder without logs (*.log, *.log.zst, *.log.gz) or .pt2 files",
                       input);
    if (!vec_reserve(&list->paths, folder->entries.n))
        return err_nomem(err);
    for (size_t i = 0; i < folder->entries.n; i++)
        list->paths.v[list->paths.n++] = folder->entries.v[i].path;
    list->n_passed_over += folder->n_passed_over;
    return true;
}

static bool add_folder(struct source_list *list, const char *input, struct err *err)
{
    struct folder folder = { .arena = &list->arena, .meter = list->meter, .look = malloc(LOOK_AT) };
    bool good = folder.look ? read_folder(&folder, input, 0, err) : err_nomem(err);
    if (good) {
        sort_entries(&folder);
        good = add_entries(list, &folder, input, err);
    }
    vec_release(&folder.entries);
    free(folder.look);
    return good;
}

bool source_list_add(struct source_list *list, const char *input, struct err *err)
{
    struct stat info;
    if (strcmp(input, "-") != 0 && stat(input, &info) == 0 && S_ISDIR(info.st_mode))
        return add_folder(list, input, err);
    struct str path = arena_copy(&list->arena, str_of(input));
    return (path.p && vec_push(&list->paths, path.p)) || err_nomem(err);
}

void source_list_release(struct source_list *list)
{
    vec_release(&list->paths);
    arena_release(&list->arena);
    list->n_passed_over = 0;
}

bool source_list_takes(const char *path, struct source_meter *meter, bool *ret, struct err *err)
{
    struct folder folder = { .meter = meter, .look = malloc(LOOK_AT) };
    if (!folder.look)
        return err_nomem(err);
    *ret = is_listed_file(&folder, kind_by_name(str_basename(str_of(path))), path);
    free(folder.look);
    return true;
}
