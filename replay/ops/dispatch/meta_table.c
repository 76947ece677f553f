#include "replay/ops/dispatch/context.h"
#include "trace/base/hash.h"

static uint64_t meta_hash(const struct tensor_meta *meta)
{
    uint64_t h = hash_mix(meta->dtype, meta->layout);
    h = hash_mix(h, (uint64_t)meta->device.type << 32 | (uint32_t)meta->device.index);
    h = hash_mix(h, (uint64_t)meta->offset << 32 | meta->ndim);
    h = hash_mix(h, (unsigned)meta->requires_grad | (unsigned)meta->conj << 1 |
                        (unsigned)meta->neg << 2);
    for (uint32_t i = 0; i < meta->ndim; i++)
        h = hash_mix(h, (uint64_t)meta->size[i] << 32 | (meta->stride ? meta->stride[i] : 0));
    return h;
}

static bool same_ids(const sym_id *a, const sym_id *b, uint32_t n)
{
    if (n && (!a || !b))
        return a == b;
    for (uint32_t i = 0; i < n; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

static bool is_same_meta(const struct tensor_meta *a, const struct tensor_meta *b)
{
    return a->dtype == b->dtype && a->layout == b->layout && a->ndim == b->ndim &&
           a->offset == b->offset && a->requires_grad == b->requires_grad && a->conj == b->conj &&
           a->neg == b->neg && device_equal(a->device, b->device) &&
           same_ids(a->size, b->size, a->ndim) && same_ids(a->stride, b->stride, a->ndim);
}

/* Copies sizes or strides; sparse tensors have no strides, for which this returns NULL. */
static const sym_id *copy_ids(struct arena *arena, const sym_id *ids, uint32_t n, bool *ok)
{
    if (!ids && n)
        return NULL;
    sym_id *copy = arena_array(arena, sym_id, n ? n : 1);
    *ok = *ok && copy;
    if (copy && n)
        memcpy(copy, ids, n * sizeof *ids);
    return copy;
}

static bool is_symbolic_meta(const struct sym_pool *pool, const struct tensor_meta *meta)
{
    bool numbers = sym_is_number(pool, meta->offset);
    for (uint32_t i = 0; i < meta->ndim; i++)
        numbers = numbers && sym_is_number(pool, meta->size[i]) &&
                  (!meta->stride || sym_is_number(pool, meta->stride[i]));
    return !numbers;
}

static const struct tensor_meta *meta_copy(struct meta_table *table, const struct sym_pool *pool,
                                           const struct tensor_meta *meta)
{
    struct tensor_meta *copy = arena_new(&table->arena, struct tensor_meta);
    if (!copy)
        return NULL;
    bool ok = true;
    *copy = *meta;
    copy->id = (uint32_t)table->metas.n;
    copy->size = copy_ids(&table->arena, meta->size, meta->ndim, &ok);
    copy->stride = copy_ids(&table->arena, meta->stride, meta->ndim, &ok);
    if (!ok || !vec_reserve(&table->metas, 1) || !vec_reserve(&table->symbolic, 1))
        return NULL;
    table->metas.v[table->metas.n++] = copy;
    table->max_ndim = meta->ndim > table->max_ndim ? meta->ndim : table->max_ndim;
    table->symbolic.v[table->symbolic.n++] = is_symbolic_meta(pool, meta);
    return copy;
}

const struct tensor_meta *meta_intern(struct meta_table *table, const struct sym_pool *pool,
                                      const struct tensor_meta *meta)
{
    uint32_t hash = (uint32_t)meta_hash(meta), id;
    for (size_t at = hash_index_start(&table->index, hash);
         hash_index_next(&table->index, hash, &at, &id);)
        if (is_same_meta(table->metas.v[id], meta))
            return table->metas.v[id];
    if (!hash_index_reserve(&table->index, 1))
        return NULL;
    const struct tensor_meta *copy = meta_copy(table, pool, meta);
    if (copy)
        hash_index_add(&table->index, hash, copy->id);
    return copy;
}

void meta_table_release(struct meta_table *table)
{
    arena_release(&table->arena);
    vec_release(&table->metas);
    vec_release(&table->symbolic);
    hash_index_release(&table->index);
}
