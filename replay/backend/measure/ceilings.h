/* The ceilings of a backend, measured with its own operators: a copy or a sum (aten.clone or
 * aten.add, whichever has the higher bandwidth) and a matmul (aten.mm), so large that the time of a
 * launch is negligible. Profiles contain shares of these. */
#ifndef SYMTAPE_REPLAY_BACKEND_MEASURE_CEILINGS_H
#define SYMTAPE_REPLAY_BACKEND_MEASURE_CEILINGS_H

#include "replay/backend/call/backend.h"

struct ceilings {
    double bytes_per_us; /* read and written; 0: it was not measured */
    uint64_t copied;     /* bytes of the tensor */
    const char *by;      /* the operator */
    struct product_ceiling {
        enum dtype dtype;
        double flops_per_us;
        uint32_t n; /* by n */
    } products[3];  /* f32, bf16, f16; only those that were requested */
    uint32_t n_products;
};

bool ceilings_of_copy(struct backend *backend, struct ceilings *ret, struct err *err);
/* Measures the dtype's matmul, unless it was measured before. */
bool ceilings_of_product(struct backend *backend, enum dtype dtype, struct ceilings *ret,
                         struct err *err);
double product_ceiling(const struct ceilings *c, enum dtype dtype); /* 0: not measured */

#endif
