/* Stores a count as an i64. */
#include "replay/backend/cuda/device/index/sizes.h"

KERNEL(size_store, struct size_args)
{
    i64 n = 0;
    if (THREAD != 0)
        return;
    if (a.from && a.wide)
        n = PTR(const u64, a.from)[1] ? -1 : PTR(const i64, a.from)[0];
    else if (a.from)
        n = *PTR(const u32, a.from);
    *PTR(i64, a.to) = n;
}
