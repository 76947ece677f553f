/* The reader of safetensors: what it accepts lies within the bytes, and is written back as it was.
 */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "replay/backend/values/safetensors.h"

static void check_array(struct str bytes, const struct array *x)
{
    const char *p = x->p;
    size_t n = dtype_size(x->dtype);
    FUZZ_CHECK(p >= bytes.p && p + x->bytes <= bytes.p + bytes.n);
    for (uint32_t d = 0; d < x->ndim; d++)
        n *= (size_t)x->size[d];
    FUZZ_CHECK(n == x->bytes);
}

static void write_back(const struct safetensors *file, const struct array *arrays,
                       struct str *names, size_t n)
{
    struct err err = { .kind = ERR_NONE };
    struct buf out = BUF_INIT;
    struct array again;
    for (size_t i = 0; i < n; i++)
        names[i] = safetensors_name(file, i);
    if (safetensors_print(names, arrays, n, &out, &err)) {
        struct safetensors *second = safetensors_parse(buf_str(&out), &err);
        FUZZ_CHECK(second && safetensors_count(second) == n);
        /* A name that is no UTF-8 is written as one that is. */
        if (n && safetensors_find(second, names[0], &again))
            FUZZ_CHECK(again.bytes != arrays[0].bytes ||
                       memcmp(again.p, arrays[0].p, again.bytes) == 0);
        safetensors_close(second);
    }
    buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err err = { .kind = ERR_NONE };
    struct str bytes = { (const char *)data, n };
    struct safetensors *file = safetensors_parse(bytes, &err);
    FUZZ_CHECK((file != NULL) != err_is_set(&err));
    if (!file)
        return 0;
    size_t count = safetensors_count(file);
    struct array *arrays = calloc(count + 1, sizeof *arrays);
    struct str *names = calloc(count + 1, sizeof *names);
    for (size_t i = 0; arrays && i < count; i++) {
        FUZZ_CHECK(safetensors_find(file, safetensors_name(file, i), &arrays[i]));
        check_array(bytes, &arrays[i]);
    }
    if (arrays && names)
        write_back(file, arrays, names, count);
    free(names);
    free(arrays);
    safetensors_close(file);
    return 0;
}
