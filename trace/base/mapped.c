#include "trace/base/mapped.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

bool map_file(const char *path, struct str *ret, struct err *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) {
        err_errno(err, "%s", path);
        if (fd >= 0)
            close(fd);
        return false;
    }
    void *p = st.st_size > 0 ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
                             : MAP_FAILED;
    if (p == MAP_FAILED && st.st_size > 0)
        err_errno(err, "%s", path);
    else if (p == MAP_FAILED)
        err_set(err, ERR_ENV, "%s: an empty file", path);
    close(fd);
    *ret = p == MAP_FAILED ? (struct str){ 0 } : (struct str){ p, (size_t)st.st_size };
    return p != MAP_FAILED;
}

void unmap_file(struct str bytes)
{
    if (bytes.p)
        munmap((void *)bytes.p, bytes.n);
}
