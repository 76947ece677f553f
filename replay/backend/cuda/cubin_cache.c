#include "replay/backend/cuda/cubin_cache.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "replay/backend/cuda/matching.h"
#include "trace/base/hash.h"
#include "trace/base/mapped.h"
#include "trace/base/output.h"

static const char magic[] = "symtape cubin 1\n";

bool cubin_cache_folder(char *ret, size_t n)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && *cache == '/')
        return (size_t)snprintf(ret, n, "%s/symtape/cubin", cache) < n;
    return home && *home && (size_t)snprintf(ret, n, "%s/.cache/symtape/cubin", home) < n;
}

bool cubin_cache_make_folder(const char *path)
{
    char part[1200];
    size_t n = strlen(path);
    if (n >= sizeof part)
        return false;
    memcpy(part, path, n + 1);
    for (size_t i = 1; i <= n; i++) {
        char c = part[i];
        if (c != '/' && c != '\0')
            continue;
        part[i] = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return false;
        part[i] = c;
    }
    return true;
}

static bool file_name(const char *folder, struct cubin_key key, const char *version, char *ret,
                      size_t n)
{
    return (size_t)snprintf(ret, n, "%s/%016" PRIx64 "%016" PRIx64 "-%s", folder, key.high, key.low,
                            version) < n;
}

static bool read_whole(const char *path, struct cubin_key key, struct buf *ret)
{
    struct err ignored = { 0 };
    struct str file;
    if (!map_file(path, &file, &ignored))
        return false;
    struct bytes in = bytes_of(file);
    bool ok = str_eq(bytes_take(&in, 16), str_of(magic)) && bytes_le64(&in) == key.high &&
              bytes_le64(&in) == key.low;
    uint64_t n = bytes_le64(&in), check = bytes_le64(&in);
    struct str cubin = bytes_take(&in, n);
    ok = ok && !in.failed && bytes_left(&in) == 0 && n > 0 && hash_str(cubin) == check;
    if (ok)
        buf_put(ret, cubin);
    unmap_file(file);
    return ok && !ret->failed;
}

bool cubin_cache_read(const char *folder, struct cubin_key key, int major, int minor,
                      struct buf *ret)
{
    char version[48], path[1400];
    bool ok = false;
    snprintf(version, sizeof version, "%d.%d", major, minor);
    if (!file_name(folder, key, version, path, sizeof path))
        return false;
    if (major >= 0)
        return read_whole(path, key, ret);
    snprintf(version, sizeof version, "%016" PRIx64 "%016" PRIx64, key.high, key.low);
    snprintf(path, sizeof path, "%s-*", version);
    struct matching found = matching_find(folder, path);
    for (int i = found.n; i-- > 0 && !ok;)
        ok = (size_t)snprintf(path, sizeof path, "%s/%s", folder, found.names[i]->d_name) <
                 sizeof path &&
             read_whole(path, key, ret);
    matching_release(&found);
    return ok;
}

bool cubin_cache_write(const char *folder, struct cubin_key key, int major, int minor,
                       struct str cubin)
{
    struct err ignored = { 0 };
    struct buf file = BUF_INIT;
    char version[32], path[1400];
    snprintf(version, sizeof version, "%d.%d", major, minor);
    if (!file_name(folder, key, version, path, sizeof path) || !cubin_cache_make_folder(folder))
        return false;
    buf_puts(&file, magic);
    buf_le64(&file, key.high);
    buf_le64(&file, key.low);
    buf_le64(&file, cubin.n);
    buf_le64(&file, hash_str(cubin));
    buf_put(&file, cubin);
    struct output *out = file.failed ? NULL : output_open(path, OUTPUT_REPLACE, &ignored);
    bool ok = out && output_write(out, buf_str(&file), &ignored);
    if (ok)
        ok = output_commit(out, &ignored);
    else
        output_abort(out);
    buf_release(&file);
    return ok;
}
