#include "trace/base/vec.h"

#include <stdint.h>

bool vec_grow(void **v, size_t *cap, size_t n, size_t extra, size_t size)
{
    size_t want, bytes;
    if (__builtin_add_overflow(n, extra, &want))
        return false;
    size_t twice = *cap > SIZE_MAX / 2 ? SIZE_MAX : *cap * 2;
    want = want < twice ? twice : want;
    want = want < 8 ? 8 : want;
    if (__builtin_mul_overflow(want, size, &bytes))
        return false;
    void *grown = realloc(*v, bytes);
    if (!grown)
        return false;
    *v = grown;
    *cap = want;
    return true;
}
