#include "trace/base/vec.h"

#include <stdint.h>

/* Larger arrays grow by a quarter: the system moves pages of that many bytes without copying
 * them, and unused memory counts for limits. */
enum { LARGE = 8 << 20 };

bool vec_grow(void **v, size_t *cap, size_t n, size_t extra, size_t size)
{
    size_t want, bytes;
    if (__builtin_add_overflow(n, extra, &want))
        return false;
    size_t more = *cap > LARGE / size ? *cap / 4 : *cap;
    size_t most = *cap > SIZE_MAX - more ? SIZE_MAX : *cap + more;
    want = want < most ? most : want;
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
