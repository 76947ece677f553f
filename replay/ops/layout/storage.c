/* The size of a storage, and the conditions that C++ evaluates when a tensor uses a part of one:
 * computeStorageNbytes of aten/src/ATen/EmptyTensor.cpp, checkInBoundsForStorage of
 * aten/src/ATen/native/Resize.h. */
#include "replay/ops/layout/storage.h"
#include "replay/ops/dispatch/context.h"

void storage_note(struct ops *ops, uint32_t storage, sym_id bytes)
{
    while (ops->storage_bytes.n <= storage)
        if (!vec_push(&ops->storage_bytes, SYM_NONE)) {
            ops->short_of_memory = true; /* then it is not known, and nothing is evaluated */
            return;
        }
    ops->storage_bytes.v[storage] = bytes;
}

sym_id storage_bytes(const struct ops *ops, uint32_t storage)
{
    return storage < ops->storage_bytes.n ? ops->storage_bytes.v[storage] : SYM_NONE;
}

sym_id storage_of_input(struct sym_pool *pool, const struct tensor_meta *meta)
{
    sym_id elements = SYM_ID_ONE, span = SYM_ID_ONE, expected = SYM_ID_ONE;
    bool contiguous = true;
    for (uint32_t i = meta->ndim; i-- > 0;) {
        contiguous = contiguous && (meta->stride[i] == elements || meta->stride[i] == expected);
        elements = sym_mul(pool, elements, meta->size[i]);
        expected = sym_mul(pool, expected, sym_max(pool, meta->size[i], SYM_ID_ONE));
        sym_id steps = sym_sub(pool, meta->size[i], SYM_ID_ONE);
        span = sym_add(pool, span, sym_mul(pool, meta->stride[i], steps));
    }
    if (contiguous) { /* multiplies in PyTorch's order */
        span = SYM_ID_ONE;
        for (uint32_t i = 0; i < meta->ndim; i++)
            span = sym_mul(pool, span, meta->size[i]);
    }
    return sym_mul(pool, sym_add(pool, meta->offset, span),
                   sym_integer(pool, dtype_size(meta->dtype)));
}

/* Returns 1 + the offset of the last element, or 0 without elements. */
static sym_id element_extent(struct call *c, const sym_id *sizes, const sym_id *strides, uint32_t n)
{
    sym_id size = SYM_ID_ONE;
    for (uint32_t i = 0; i < n && !c->failed; i++) {
        if (guard_or_false(c, eq(c, sizes[i], SYM_ID_ZERO)))
            return SYM_ID_ZERO;
        size = add(c, size, mul(c, strides[i], sub(c, sizes[i], SYM_ID_ONE)));
    }
    return size;
}

sym_id strided_bytes(struct call *c, enum dtype dtype, const sym_id *sizes, const sym_id *strides,
                     uint32_t n)
{
    return mul(c, num(c, dtype_size(dtype)), element_extent(c, sizes, strides, n));
}

sym_id contiguous_bytes(struct call *c, enum dtype dtype, const sym_id *sizes, uint32_t n)
{
    return mul(c, num(c, dtype_size(dtype)), product(c, sizes, n));
}

/* Returns whether a condition is false. If PyTorch found that, the memory is one not known here. */
static bool surely_false(struct call *c, sym_id condition)
{
    return condition == SYM_ID_FALSE || env_hint(c->env, condition) == SYM_ID_FALSE;
}

void check_in_bounds(struct call *c, struct tensor x, enum dtype dtype, const sym_id *sizes,
                     const sym_id *strides, uint32_t n, sym_id offset)
{
    sym_id bytes = c->failed || !x.meta ? SYM_NONE : storage_bytes(c->ops, x.storage);
    if (bytes == SYM_NONE || !c->symbolic)
        return;
    sym_id size = num(c, dtype_size(dtype)), elements = element_extent(c, sizes, strides, n);
    sym_id empty = eq(c, mul(c, size, elements), SYM_ID_ZERO);
    if (c->failed || guard_or_false(c, empty) || c->failed)
        return;
    sym_id fits = le(c, mul(c, size, add(c, offset, elements)), bytes);
    if (!surely_false(c, fits))
        check(c, sym_or(c->pool, empty, fits), "RuntimeError",
              "setStorage: sizes %s, strides %s, storage offset %s, and itemsize %u requiring a "
              "storage size of %s are out of bounds for storage of size %s",
              sizes_text(c, sizes, n), sizes_text(c, strides, n), sym_text(c, offset),
              dtype_size(dtype), sym_text(c, mul(c, size, add(c, offset, elements))),
              sym_text(c, bytes));
}
