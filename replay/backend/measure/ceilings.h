/* What a backend reaches at most, measured with its own operators: a copy or a sum (aten.clone,
 * aten.add, the one that moves more in the same time) and a product
 * of matrices (aten.mm), so large that their launches do not count. Shares of these are told in
 * profiles. */
#ifndef SYMTAPE_REPLAY_BACKEND_MEASURE_CEILINGS_H
#define SYMTAPE_REPLAY_BACKEND_MEASURE_CEILINGS_H

#include "replay/backend/call/backend.h"

struct ceilings {
    double bytes_per_us; /* read and written; 0: it could not be measured */
    uint64_t copied;     /* bytes of the tensor */
    const char *by;      /* the operator */
    struct product_ceiling {
        enum dtype dtype;
        double flops_per_us;
        uint32_t n; /* by n */
    } products[3];  /* f32, bf16, f16; only those that were asked for */
    uint32_t n_products;
};

bool ceilings_of_copy(struct backend *backend, struct ceilings *ret, struct err *err);
/* Adds one, unless it is there. */
bool ceilings_of_product(struct backend *backend, enum dtype dtype, struct ceilings *ret,
                         struct err *err);
double product_ceiling(const struct ceilings *c, enum dtype dtype); /* 0: there is none */

#endif
