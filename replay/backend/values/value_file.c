#include "replay/backend/values/value_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "replay/backend/values/safetensors.h"
#include "trace/base/file/output.h"
#include "trace/base/file/scratch.h"
#include "trace/base/intern.h"
#include "trace/base/vec.h"

enum { IN_MEMORY = 32 << 20, PIECE = 1 << 20, ALIGN = 8 };

struct stored_array {
    struct array array; /* p is set when the file is sealed */
    uint64_t at;
};

struct value_file {
    char *folder;
    int fd; /* -1: everything is in memory */
    struct buf unwritten;
    uint64_t written;
    vec_of(struct stored_array)
    places;
    struct intern names; /* their numbers are indices of `places` */
    const char *all;     /* the file's contents once it is sealed */
    void *mapped;
};

struct value_file *value_file_new(const char *folder, struct err *err)
{
    struct value_file *file = calloc(1, sizeof *file);
    const char *tmp = getenv("TMPDIR");
    if (!file)
        return err_nomem(err), NULL;
    file->fd = -1;
    file->folder = strdup(folder ? folder : tmp && *tmp ? tmp : "/var/tmp");
    if (file->folder)
        return file;
    value_file_free(file);
    err_nomem(err);
    return NULL;
}

void value_file_free(struct value_file *file)
{
    if (!file)
        return;
    if (file->mapped)
        munmap(file->mapped, file->written);
    if (file->fd >= 0)
        close(file->fd);
    buf_release(&file->unwritten);
    vec_release(&file->places);
    intern_release(&file->names);
    free(file->folder);
    free(file);
}

static bool append_bytes(struct value_file *file, const char *p, size_t n, struct err *err)
{
    while (n) {
        ssize_t done = write(file->fd, p, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return err_errno(err, "cannot write values to a temporary file in %s, after %llu bytes",
                             file->folder, (unsigned long long)file->written);
        p += done;
        n -= (size_t)done;
        file->written += (uint64_t)done;
    }
    return true;
}

static bool spill(struct value_file *file, struct err *err)
{
    if (file->fd < 0 && (file->fd = scratch_file(file->folder, err)) < 0)
        return false;
    bool ok = append_bytes(file, file->unwritten.p, file->unwritten.n, err);
    buf_clear(&file->unwritten);
    return ok;
}

/* Writes the array at a multiple of 8, as readers expect. The gaps are no part of the format and
 * are left out when the file is written. */
static bool append_array(struct value_file *file, const struct array *array, struct err *err)
{
    static const char zeros[ALIGN];
    size_t gap = (ALIGN - array->bytes % ALIGN) % ALIGN;
    if (array->bytes > IN_MEMORY) {
        return spill(file, err) && append_bytes(file, array->p, array->bytes, err) &&
               append_bytes(file, zeros, gap, err);
    }
    if (array->bytes)
        buf_put(&file->unwritten, (struct str){ array->p, array->bytes });
    buf_put(&file->unwritten, (struct str){ zeros, gap });
    if (file->unwritten.failed)
        return err_nomem(err);
    return file->unwritten.n < IN_MEMORY || spill(file, err);
}

bool value_file_add(struct value_file *file, struct str name, const struct array *array,
                    struct err *err)
{
    struct stored_array place = { *array, file->written + file->unwritten.n };
    if (intern_find(&file->names, name) != INTERN_NONE)
        return true;
    place.array.p = NULL;
    if (!vec_push(&file->places, place) || intern(&file->names, name) == INTERN_NONE)
        return err_nomem(err);
    return append_array(file, array, err);
}

bool value_file_seal(struct value_file *file, struct err *err)
{
    if (file->fd < 0) {
        file->all = file->unwritten.p;
    } else {
        if (!spill(file, err))
            return false;
        file->mapped = mmap(NULL, file->written, PROT_READ, MAP_PRIVATE, file->fd, 0);
        if (file->mapped == MAP_FAILED) {
            file->mapped = NULL;
            return err_errno(err, "cannot map the temporary file of values in %s", file->folder);
        }
        file->all = file->mapped;
    }
    for (size_t i = 0; i < file->places.n; i++)
        file->places.v[i].array.p = file->all ? file->all + file->places.v[i].at : "";
    return true;
}

bool value_file_find(const struct value_file *file, struct str name, struct array *ret)
{
    uint32_t i = intern_find(&file->names, name);
    if (i == INTERN_NONE)
        return false;
    *ret = file->places.v[i].array;
    return true;
}

size_t value_file_count(const struct value_file *file)
{
    return file->places.n;
}

static bool write_arrays(const struct value_file *file, struct output *to, struct err *err)
{
    for (size_t i = 0; i < file->places.n; i++) {
        struct str rest = { file->places.v[i].array.p, file->places.v[i].array.bytes };
        for (; rest.n; rest = str_from(rest, PIECE))
            if (!output_write(to, str_first(rest, PIECE), err))
                return false;
    }
    return true;
}

bool value_file_write(const struct value_file *file, const char *path, struct err *err)
{
    size_t n = file->places.n;
    struct array *arrays = calloc(n + 1, sizeof *arrays);
    struct buf header = BUF_INIT;
    struct output *to = NULL;
    if (!arrays)
        return err_nomem(err);
    for (size_t i = 0; i < n; i++)
        arrays[i] = file->places.v[i].array;
    bool ok = safetensors_print_header(file->names.texts.v, arrays, n, &header, err);
    ok = ok && (to = output_open(path, OUTPUT_REPLACE, err)) != NULL;
    ok = ok && output_write(to, buf_str(&header), err) && write_arrays(file, to, err);
    if (ok)
        ok = output_commit(to, err);
    else
        output_abort(to);
    buf_release(&header);
    free(arrays);
    return ok;
}
