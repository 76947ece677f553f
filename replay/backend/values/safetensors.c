#include "replay/backend/values/safetensors.h"

#include <stdlib.h>

#include "trace/base/arena.h"
#include "trace/base/file/file.h"
#include "trace/base/text/json.h"
#include "trace/base/text/json_write.h"
#include "trace/base/vec.h"

enum { HEADER_MAX = 100 << 20 }; /* the limit of the format */

struct tensor_entry {
    struct str name;
    struct array array;
};

struct safetensors {
    struct str bytes;
    struct buf own; /* bytes that were read; empty if they are borrowed */
    vec_of(struct tensor_entry)
    entries;
    struct arena arena;
};

static const struct {
    const char *name;
    enum dtype dtype;
} dtypes[] = {
    { "F64", DTYPE_F64 },        { "F32", DTYPE_F32 },
    { "F16", DTYPE_F16 },        { "BF16", DTYPE_BF16 },
    { "I64", DTYPE_I64 },        { "I32", DTYPE_I32 },
    { "I16", DTYPE_I16 },        { "I8", DTYPE_I8 },
    { "U8", DTYPE_U8 },          { "U16", DTYPE_U16 },
    { "U32", DTYPE_U32 },        { "U64", DTYPE_U64 },
    { "BOOL", DTYPE_B8 },        { "F8_E4M3", DTYPE_F8E4M3FN },
    { "F8_E5M2", DTYPE_F8E5M2 }, { "C64", DTYPE_C64 },
};

static enum dtype dtype_named(struct str name)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (str_is(name, dtypes[i].name))
            return dtypes[i].dtype;
    return DTYPE_NONE;
}

static bool read_tensor_sizes(const struct json *doc, json_id list, struct array *ret,
                              uint64_t *bytes)
{
    *bytes = dtype_size(ret->dtype);
    for (json_id at = json_first(doc, list); at != JSON_NONE; at = json_next(doc, at)) {
        uint64_t size;
        if (ret->ndim == TENSOR_MAX_DIM || !json_u64(doc, at, &size) || size > INT64_MAX ||
            __builtin_mul_overflow(*bytes, size, bytes))
            return false;
        ret->size[ret->ndim++] = (int64_t)size;
    }
    return true;
}

static bool read_tensor_entry(struct safetensors *file, const struct json *doc, json_id name,
                              json_id body, struct str data, struct err *err)
{
    struct tensor_entry e = { .name = json_decoded(doc, name, &file->arena) };
    json_id range = json_get(doc, body, STR("data_offsets"));
    json_id first = json_first(doc, range);
    uint64_t from, to, bytes;
    e.array.dtype = dtype_named(json_str(doc, json_get(doc, body, STR("dtype"))));
    if (!e.name.p)
        return err_nomem(err);
    if (e.array.dtype == DTYPE_NONE)
        return err_set(err, ERR_INPUT, "tensor %.*s: unknown dtype", STR_ARG(e.name));
    if (!read_tensor_sizes(doc, json_get(doc, body, STR("shape")), &e.array, &bytes) ||
        !json_u64(doc, first, &from) || !json_u64(doc, json_next(doc, first), &to) || from > to ||
        to > data.n || to - from != bytes)
        return err_set(err, ERR_INPUT, "tensor %.*s: its shape does not match its bytes",
                       STR_ARG(e.name));
    e.array.p = data.p + from;
    e.array.bytes = (size_t)bytes;
    return vec_push(&file->entries, e) || err_nomem(err);
}

static bool read_tensors(struct safetensors *file, struct err *err)
{
    uint64_t n = 0;
    struct json doc = { 0 };
    if (file->bytes.n < 8)
        return err_set(err, ERR_INPUT, "not a safetensors file: it has %zu bytes", file->bytes.n);
    for (int i = 7; i >= 0; i--)
        n = n << 8 | (unsigned char)file->bytes.p[i];
    if (n > HEADER_MAX || n > file->bytes.n - 8)
        return err_set(err, ERR_INPUT, "not a safetensors file: its header has %llu bytes",
                       (unsigned long long)n);
    struct str header = { file->bytes.p + 8, (size_t)n };
    struct str data = str_from(file->bytes, 8 + (size_t)n);
    bool ok = json_parse(&doc, header, err);
    for (json_id at = ok ? json_first(&doc, JSON_ROOT) : JSON_NONE; at != JSON_NONE && ok;) {
        json_id body = json_next(&doc, at);
        if (!str_is(json_str(&doc, at), "__metadata__"))
            ok = read_tensor_entry(file, &doc, at, body, data, err);
        at = json_next(&doc, body);
    }
    json_release(&doc);
    return ok;
}

struct safetensors *safetensors_parse(struct str bytes, struct err *err)
{
    struct safetensors *file = calloc(1, sizeof *file);
    if (!file)
        return err_nomem(err), NULL;
    file->bytes = bytes;
    if (read_tensors(file, err))
        return file;
    safetensors_close(file);
    return NULL;
}

struct safetensors *safetensors_open(const char *path, struct err *err)
{
    struct buf bytes = BUF_INIT;
    struct file file;
    if (!file_open(&file, path, err))
        return NULL;
    bool ok = file_read_buf(&file, 0, (size_t)file.size, &bytes, err);
    file_close(&file);
    struct safetensors *ret = ok ? safetensors_parse(buf_str(&bytes), err) : NULL;
    if (!ret) {
        buf_release(&bytes);
        err_at(err, "%s", path);
        return NULL;
    }
    ret->own = bytes;
    return ret;
}

void safetensors_close(struct safetensors *file)
{
    if (!file)
        return;
    buf_release(&file->own);
    vec_release(&file->entries);
    arena_release(&file->arena);
    free(file);
}

bool safetensors_find(const struct safetensors *file, struct str name, struct array *ret)
{
    for (size_t i = 0; i < file->entries.n; i++)
        if (str_eq(file->entries.v[i].name, name)) {
            *ret = file->entries.v[i].array;
            return true;
        }
    return false;
}

size_t safetensors_count(const struct safetensors *file)
{
    return file->entries.n;
}

struct str safetensors_name(const struct safetensors *file, size_t i)
{
    return file->entries.v[i].name;
}

/* ---- Writing ---- */

static const char *format_dtype_name(enum dtype dtype)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (dtypes[i].dtype == dtype)
            return dtypes[i].name;
    return NULL;
}

bool safetensors_print_header(const struct str *names, const struct array *arrays, size_t n,
                              struct buf *out, struct err *err)
{
    struct buf header = BUF_INIT;
    size_t at = 0;
    buf_putc(&header, '{');
    for (size_t i = 0; i < n; i++) {
        const char *dtype = format_dtype_name(arrays[i].dtype);
        if (!dtype) {
            buf_release(&header);
            return err_set(err, ERR_USAGE, "%.*s: safetensors files have no dtype %s",
                           STR_ARG(names[i]), dtype_python_name(arrays[i].dtype));
        }
        buf_puts(&header, i ? "," : "");
        json_quote(&header, names[i]);
        buf_printf(&header, ":{\"dtype\":\"%s\",\"shape\":[", dtype);
        for (uint32_t d = 0; d < arrays[i].ndim; d++)
            buf_printf(&header, "%s%lld", d ? "," : "", (long long)arrays[i].size[d]);
        buf_printf(&header, "],\"data_offsets\":[%zu,%zu]}", at, at + arrays[i].bytes);
        at += arrays[i].bytes;
    }
    buf_putc(&header, '}');
    for (size_t pad = (8 - header.n % 8) % 8; pad > 0;
         pad--) /* a buffer that failed does not grow */
        buf_putc(&header, ' ');
    for (int i = 0; i < 8; i++)
        buf_putc(out, (char)((uint64_t)header.n >> 8 * i & 0xff));
    buf_put(out, buf_str(&header));
    bool ok = !header.failed && !out->failed;
    buf_release(&header);
    return ok || err_nomem(err);
}

bool safetensors_print(const struct str *names, const struct array *arrays, size_t n,
                       struct buf *out, struct err *err)
{
    if (!safetensors_print_header(names, arrays, n, out, err))
        return false;
    for (size_t i = 0; i < n; i++)
        buf_put(out, (struct str){ arrays[i].p, arrays[i].bytes });
    return !out->failed || err_nomem(err);
}
