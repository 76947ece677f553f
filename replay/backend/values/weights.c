#include "replay/backend/values/weights.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/file/file.h"
#include "trace/recorded_pt2.h"

struct weights {
    struct recorded_pt2 archive;
    struct file file;
    struct str path;
    struct arena arena;
};

struct weights *weights_open(struct trace *trace, uint32_t recording, struct err *err)
{
    if (trace->recordings[recording].kind != RECORDING_PT2)
        return NULL;
    struct weights *w = calloc(1, sizeof *w);
    if (!w)
        return err_nomem(err), NULL;
    w->file = FILE_NONE;
    struct err gone = { .kind = ERR_NONE };
    w->path = arena_copy(&w->arena, trace->recordings[recording].source);
    if (w->path.p && file_open(&w->file, w->path.p, &gone)) {
        if (recorded_pt2_open(&w->archive, trace, recording, err))
            return w;
        file_close(&w->file);
    }
    arena_release(&w->arena);
    free(w);
    return NULL;
}

void weights_close(struct weights *w)
{
    if (!w)
        return;
    recorded_pt2_close(&w->archive);
    file_close(&w->file);
    arena_release(&w->arena);
    free(w);
}

static const struct pt2_weight *find_weight(const struct weights *w, struct str fqn)
{
    for (uint32_t m = 0; m < w->archive.pt2.n_models; m++)
        for (uint32_t i = 0; i < w->archive.pt2.models[m].n_weights; i++)
            if (str_eq(w->archive.pt2.models[m].weights[i].fqn, fqn))
                return &w->archive.pt2.models[m].weights[i];
    return NULL;
}

static bool is_weight_contiguous(const struct pt2_weight *weight)
{
    uint64_t stride = 1;
    for (uint32_t d = weight->n_sizes; d-- > 0; stride *= (uint64_t)weight->sizes[d])
        if (weight->sizes[d] != 1 && (uint64_t)weight->strides[d] != stride)
            return false;
    return true;
}

/* Copies the elements in contiguous order from the storage's bytes. */
static bool gather_elements(const struct pt2_weight *weight, const char *from, char *to, size_t n,
                            struct err *err)
{
    size_t size = dtype_size(weight->dtype);
    for (size_t i = 0; i < n; i++) {
        size_t rest = i;
        int64_t place = weight->storage_offset;
        for (uint32_t d = weight->n_sizes; d-- > 0; rest /= (size_t)weight->sizes[d])
            place += (int64_t)(rest % (size_t)weight->sizes[d]) * weight->strides[d];
        if (place < 0 || ((uint64_t)place + 1) * size > weight->bytes)
            return err_set(err, ERR_INPUT, "it extends beyond its storage");
        memcpy(to + i * size, from + (size_t)place * size, size);
    }
    return true;
}

/* Copies the elements of a weight that lie within its storage (pt2_weight.readable). */
static bool read_elements(struct weights *w, const struct pt2_weight *weight, struct array *ret,
                          struct err *err)
{
    size_t size = dtype_size(weight->dtype), n = ret->bytes / size;
    struct buf storage = BUF_INIT;
    char *to = arena_bytes(&w->arena, ret->bytes + 1);
    if (!to)
        return err_nomem(err);
    bool ok = is_weight_contiguous(weight)
                  ? file_read(&w->file, weight->offset + (uint64_t)weight->storage_offset * size,
                              to, ret->bytes, err)
                  : file_read_buf(&w->file, weight->offset, weight->bytes, &storage, err) &&
                        gather_elements(weight, storage.p, to, n, err);
    buf_release(&storage);
    ret->p = to;
    return ok || err_at(err, "%.*s: weight %.*s", STR_ARG(w->path), STR_ARG(weight->fqn));
}

bool weights_find(struct weights *w, struct str fqn, struct array *ret, struct err *err)
{
    const struct pt2_weight *weight = find_weight(w, fqn);
    if (!weight || !weight->readable || !weight->has_meta || weight->offset > w->file.size ||
        weight->bytes > w->file.size - weight->offset || weight->n_sizes > TENSOR_MAX_DIM)
        return true;
    *ret = (struct array){ .dtype = weight->dtype,
                           .ndim = weight->n_sizes,
                           .bytes = dtype_size(weight->dtype) };
    for (uint32_t d = 0; d < ret->ndim; d++) {
        ret->size[d] = weight->sizes[d];
        if (weight->sizes[d] < 0 ||
            __builtin_mul_overflow(ret->bytes, (size_t)weight->sizes[d], &ret->bytes))
            return err_set(err, ERR_INPUT, "weight %.*s is too large", STR_ARG(fqn));
    }
    return read_elements(w, weight, ret, err);
}
