#include "replay/backend/compare/perturb.h"

#include "replay/backend/values/elements.h"

bool run_perturb(struct run *run, struct tensor x, double by, struct err *err)
{
    struct arena arena = ARENA_INIT;
    struct array a;
    bool ok = run_array(run, x, &arena, &a, err);
    size_t size = dtype_size(a.dtype);
    for (size_t i = 0; ok && size && i < a.bytes / size; i++) {
        if (dense_kind_of(a.dtype) == DENSE_INT) {
            int64_t old = load_int(a.dtype, a.p, (int64_t)i);
            store_int(a.dtype, (void *)a.p, (int64_t)i, a.dtype == DTYPE_B8 ? !old : old ^ 1);
        } else {
            cdouble old = load_complex(a.dtype, a.p, (int64_t)i);
            store_complex(a.dtype, (void *)a.p, (int64_t)i, old + by * (1 + cabs(old)));
        }
    }
    ok = ok && exec_write(&run->exec, x, a.p, a.bytes, err);
    arena_release(&arena);
    return ok;
}
