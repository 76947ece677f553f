#include "replay/ops/layout/layout.h"

bool broadcast_fast(struct call *c, const sym_id *a, uint32_t n_a, const sym_id *b, uint32_t n_b,
                    sym_id *ret, uint32_t *n)
{
    uint32_t ndim = n_a > n_b ? n_a : n_b;
    sym_id one = num(c, 1);
    *n = ndim;
    for (uint32_t i = ndim; i-- > 0 && !c->failed;) {
        uint32_t back = ndim - i;
        sym_id size_a = back <= n_a ? a[n_a - back] : one;
        sym_id size_b = back <= n_b ? b[n_b - back] : one;
        bool one_a = guard_or_false(c, eq(c, size_a, one));
        sym_id same = py_eq(c, size_a, size_b);
        if (!one_a && !guard_or_false(c, eq(c, size_b, one)) && same != SYM_ID_TRUE &&
            !check(c, same, "RuntimeError",
                   "The size of tensor a (%s) must match the size of tensor b (%s) at "
                   "non-singleton dimension %u)",
                   sym_text(c, size_a), sym_text(c, size_b), i))
            return false;
        /* Evaluated again, because the check may have added a guard that decides it. */
        ret[i] = guard_or_false(c, eq(c, size_a, one)) ? size_b : size_a;
    }
    return !c->failed;
}

/* Broadcasts one shape into the common one, innermost dimension first. */
static bool broadcast_into(struct call *c, const struct tensor_meta *meta, uint32_t index,
                           sym_id *common, uint32_t ndim)
{
    sym_id one = num(c, 1);
    for (uint32_t back = 1; back <= meta->ndim && !c->failed; back++) {
        sym_id size = meta->size[meta->ndim - back], *have = &common[ndim - back];
        if (guard_or_false(c, py_eq(c, size, *have)))
            continue;
        if (guard_or_false(c, eq(c, *have, one))) {
            if (guard_bool(c, lt(c, size, num(c, 0))))
                return refuse(c, "ValueError",
                              "Attempting to broadcast a dimension with negative length!");
            *have = size;
        }
        if (guard_or_false(c, eq(c, size, one)))
            continue;
        if (!check(
                c, eq(c, *have, size), "RuntimeError",
                "Attempting to broadcast a dimension of length %s at %d! Mismatching argument "
                "at index %u had torch.Size(%s); but expected shape should be broadcastable to %s",
                sym_text(c, size), -(int)back, index, sizes_text(c, meta->size, meta->ndim),
                sizes_text(c, common, ndim)))
            return false;
    }
    return !c->failed;
}

bool broadcast_shapes(struct call *c, const struct tensor *x, uint32_t n, sym_id *ret,
                      uint32_t *ndim)
{
    *ndim = 0;
    for (uint32_t i = 0; i < n; i++)
        if (x[i].meta && x[i].meta->ndim > *ndim)
            *ndim = x[i].meta->ndim;
    for (uint32_t i = 0; i < *ndim; i++)
        ret[i] = num(c, 1);
    uint32_t index = 0;
    for (uint32_t i = 0; i < n; i++)
        if (x[i].meta && !broadcast_into(c, x[i].meta, index++, ret, *ndim))
            return false;
    return true;
}
