#include "minify/check_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/str.h"

#define PREFIX "symtape-minify-"

static int remove_entry(const char *path, const struct stat *stat, int kind, struct FTW *place)
{
    (void)stat, (void)place;
    if (kind == FTW_DNR) /* closed against its owner: the second walk gets in */
        (void)!chmod(path, 0700);
    (void)!remove(path);
    return 0;
}

void folder_remove(const char *path)
{
    enum { OPEN_FOLDERS = 8 };
    for (int walk = 0; walk < 2 && access(path, F_OK) == 0; walk++)
        nftw(path, remove_entry, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}

/* The lock of a folder: -1 when somebody holds it, or there is none (yet). */
static int take_lock(const char *folder, int flags)
{
    char *path;
    if (asprintf(&path, "%s/lock", folder) < 0)
        return -1;
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
    free(path);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static void remove_if_left(const char *folder)
{
    int lock = take_lock(folder, 0);
    if (lock < 0)
        return;
    folder_remove(folder);
    close(lock);
}

static void remove_left(const char *tmp)
{
    DIR *dir = opendir(tmp);
    struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        char *path;
        if (!str_starts(str_of(entry->d_name), STR(PREFIX)) ||
            asprintf(&path, "%s/%s", tmp, entry->d_name) < 0)
            continue;
        remove_if_left(path);
        free(path);
    }
    if (dir)
        closedir(dir);
}

bool check_folder_make(struct check_folder *folder, struct err *err)
{
    const char *tmp = getenv("TMPDIR");
    char *path = NULL;
    *folder = (struct check_folder){ .lock = -1 };
    tmp = tmp && *tmp ? tmp : "/tmp";
    remove_left(tmp);
    if (asprintf(&path, "%s/" PREFIX "XXXXXX", tmp) < 0)
        return err_nomem(err);
    if (!mkdtemp(path) || !(folder->path = realpath(path, NULL)))
        err_errno(err, "%s", path);
    else if ((folder->lock = take_lock(folder->path, O_CREAT)) < 0)
        err_errno(err, "%s/lock", path);
    free(path);
    return folder->lock >= 0;
}

void check_folder_release(struct check_folder *folder)
{
    if (!folder->path)
        return;
    folder_remove(folder->path);
    if (folder->lock >= 0)
        close(folder->lock);
    free(folder->path);
    *folder = (struct check_folder){ .lock = -1 };
}
