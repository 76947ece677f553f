#include "replay/backend/values/samples.h"

#include <stdio.h>
#include <string.h>

#include "trace/base/hash.h"

static uint64_t array_elements(const struct array *whole)
{
    size_t size = dtype_size(whole->dtype);
    return size ? whole->bytes / size : 0;
}

int64_t samples_step(const struct array *whole, uint64_t most)
{
    uint64_t n = array_elements(whole);
    return most == 0 || n <= most ? 1 : (int64_t)((n + most - 1) / most);
}

uint64_t samples_hash(const struct array *whole)
{
    return hash_str((struct str){ whole->p, whole->bytes });
}

bool samples_take(const struct array *whole, int64_t step, struct arena *arena, struct array *ret,
                  struct err *err)
{
    size_t size = dtype_size(whole->dtype);
    uint64_t n = array_elements(whole), taken = (n + (uint64_t)step - 1) / (uint64_t)step;
    char *p = arena_bytes(arena, taken * size + 1);
    if (!p)
        return err_nomem(err);
    for (uint64_t i = 0; i < taken; i++)
        memcpy(p + i * size, (const char *)whole->p + i * (uint64_t)step * size, size);
    *ret = (struct array){
        .dtype = whole->dtype, .ndim = 1, .size = { (int64_t)taken }, .p = p, .bytes = taken * size
    };
    return true;
}

static bool add_sample_part(struct value_file *file, struct str name, const char *part,
                            const struct array *array, struct err *err)
{
    char text[600];
    snprintf(text, sizeof text, "%.*s#%s", STR_ARG(name), part);
    return value_file_add(file, str_of(text), array, err);
}

bool samples_add(struct value_file *file, struct str name, const struct array *whole, uint64_t most,
                 struct arena *arena, struct err *err)
{
    int64_t step = samples_step(whole, most), layout[TENSOR_MAX_DIM + 1] = { step };
    uint64_t hash = 0;
    struct array samples;
    if (step == 1)
        return value_file_add(file, name, whole, err);
    memcpy(layout + 1, whole->size, whole->ndim * sizeof *layout);
    hash = samples_hash(whole);
    const struct array l = { .dtype = DTYPE_I64,
                             .ndim = 1,
                             .size = { whole->ndim + 1 },
                             .p = layout,
                             .bytes = (whole->ndim + 1) * sizeof *layout };
    const struct array h = {
        .dtype = DTYPE_U64, .ndim = 1, .size = { 1 }, .p = &hash, .bytes = sizeof hash
    };
    return samples_take(whole, step, arena, &samples, err) &&
           add_sample_part(file, name, "samples", &samples, err) &&
           add_sample_part(file, name, "layout", &l, err) &&
           add_sample_part(file, name, "hash", &h, err);
}

int64_t samples_layout_step(const struct array *layout, const struct array *whole)
{
    int64_t sizes[TENSOR_MAX_DIM + 1];
    if (layout->dtype != DTYPE_I64 || layout->bytes != (whole->ndim + 1) * sizeof *sizes)
        return 0;
    memcpy(sizes, layout->p, layout->bytes);
    if (sizes[0] < 1 || memcmp(sizes + 1, whole->size, whole->ndim * sizeof *sizes) != 0)
        return 0;
    return sizes[0];
}
