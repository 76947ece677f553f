/* Writes at indices. Entries with the same position are combined in an order that depends only on
 * their number and positions, so that every run gives the same bits. Sums are computed in float64
 * (int64).
 *
 * An entry is the data of one index: a row if rows are added. Few entries need one launch, in which
 * every block has all keys (positions) in shared memory and a warp searches them for its own key.
 * If there are many, keys are sorted with their entries' numbers, chunks of the sorted entries are
 * combined, and then the runs of one key that extend over several chunks. If the last entry of a
 * key determines the value, nothing is sorted: the greatest number wins. */
#include <stdio.h>
#include <string.h>

#include "replay/backend/cuda/device/index/combine.h"
#include "replay/backend/cuda/kernels/index/scatter.h"
#include "replay/backend/cuda/kernels/index/sort_keys.h"
#include "replay/backend/cuda/runtime/cuda.h"

static int64_t divisor_of_both(int64_t a, int64_t b)
{
    for (; b; a %= b) {
        int64_t swapped = a;
        a = b;
        b = swapped;
        if (!b)
            break;
    }
    return a < 0 ? -a : a;
}

/* Returns a number that divides all positions. */
static int64_t unit_of(const struct indexed_access *ix)
{
    int64_t unit = 0;
    for (uint32_t d = 0; d < ix->set.ndim; d++)
        unit = divisor_of_both(unit, ix->set.stride[INDEXED_X][d]);
    for (uint32_t i = 0; i < ix->n_tensors; i++)
        unit = divisor_of_both(unit, ix->step[i]);
    return unit ? unit : 1;
}

/* Removes the last dimension if it has no index: an entry moves it as a whole, and no other entry
 * moves a part of it. */
static int64_t take_inner(struct scattered *s, struct combine_args *args)
{
    struct strided_set *set = &s->ix.set;
    uint32_t last = set->ndim - 1;
    bool inner = set->ndim > 0 && !s->overlaps;
    for (uint32_t i = INDEXED_MASK; i < set->n_tensors && inner; i++)
        inner = set->stride[i][last] == 0;
    if (!inner)
        return 1;
    args->to_inner = set->stride[INDEXED_X][last];
    args->value_inner = set->stride[INDEXED_ENTRIES][last];
    int64_t n = set->size[last];
    set->n = n ? set->n / n : 0;
    set->ndim--;
    return n;
}

static unsigned bits_of_count(int64_t n)
{
    unsigned bits = 0;
    for (; n; n >>= 1)
        bits++;
    return bits;
}

/* Computes the key of each entry, in a workspace; false: there is nothing to do, or it failed. */
static bool write_keys(struct kernel *k, const struct indexed_access *ix, struct combine_args *args)
{
    struct index_args keys;
    if (!index_give(k, ix, &keys))
        return false;
    keys.to = args->keys = cuda_workspace(k, (size_t)args->n * sizeof(uint32_t));
    keys.order = args->order = cuda_workspace(k, (size_t)args->n * sizeof(uint32_t));
    keys.unit = args->unit;
    keys.limit = args->limit;
    char defines[128];
    snprintf(defines, sizeof defines, "#define T u32\n#define I %s\n#define DIMS %d\n",
             strided_index(&ix->set, tensor_extent(ix->x)), strided_dims(&ix->set));
    struct cuda_function *f = cuda_function(k, "index", "index_keys", defines);
    cuda_launch(k, f, (struct cuda_grid){ cuda_blocks(k, args->n, 1024), 1, 1, 256, 0 }, &keys,
                sizeof keys);
    return !k->failed;
}

/* Chooses the types of the kernel; false: it does not support the dtype. Bits are copied if nothing
 * is combined or converted. */
static bool types_of(const struct scattered *s, const char **to, const char **value,
                     const char **sum)
{
    enum dtype x = s->ix.x.meta->dtype, v = s->values.meta->dtype;
    if (s->how == COMBINE_SET && x == v) {
        *to = *value = dtype_size(x) <= 8 ? cuda_bits_type((uint32_t)dtype_size(x)) : NULL;
        *sum = "i64";
        return *to != NULL;
    }
    *to = cuda_type(x);
    *value = cuda_type(v);
    *sum = dense_kind_of(x) == DENSE_INT ? "i64" : "f64";
    return *to && *value && dense_kind_of(x) != DENSE_COMPLEX && dense_kind_of(v) != DENSE_COMPLEX;
}

/* Programs that other numbers of entries need are compiled later. */
static struct cuda_function *combine_function(struct kernel *k, const struct scattered *s,
                                              const char *name, bool many)
{
    const char *to, *value, *sum;
    char defines[256], text[288];
    types_of(s, &to, &value, &sum);
    int64_t reach = tensor_extent(s->values), of_x = tensor_extent(s->ix.x);
    snprintf(defines, sizeof defines,
             "#define T %s\n#define V %s\n#define ACC %s\n#define IS_INT %d\n#define HOW %d\n"
             "#define I %s\n#define DIMS %d\n",
             to, value, sum, !strcmp(sum, "i64"), (int)s->how,
             strided_index(&s->ix.set, reach > of_x ? reach : of_x), strided_dims(&s->ix.set));
    snprintf(text, sizeof text, "%s#define MANY %d\n", defines, !many);
    cuda_function_later(k, "combine",
                        many                    ? "combine_small"
                        : s->how != COMBINE_SET ? "combine_chunks"
                                                : "combine_set",
                        text);
    snprintf(text, sizeof text, "%s#define MANY %d\n", defines, many);
    return cuda_function(k, "combine", name, text);
}

static void give_values(const struct scattered *s, struct combine_args *args)
{
    args->ndim = s->ix.set.ndim;
    strided_give_sizes(&s->ix.set, args->size);
    strided_give(&s->ix.set, INDEXED_ENTRIES, args->value_stride);
    for (args->columns = 1; args->columns < args->inner && args->columns < 32;)
        args->columns *= 2;
}

static void set_combine_traffic(struct kernel *k, const struct scattered *s,
                                const struct combine_args *args)
{
    cuda_traffic(k, 2 * (uint64_t)(args->n * args->inner) * dtype_size(s->values.meta->dtype), 0);
}

/* ---- Few entries ---- */

enum { MOST_LOOKS = 1 << 22 }; /* limit of the comparisons of a warp's keys in one launch */

static bool is_small(const struct combine_args *args)
{
    int64_t tiles = (args->inner + 31) / 32;
    return args->n <= COMBINE_SMALL && tiles <= MOST_LOOKS &&
           args->n * (args->n / 32 + 1) * tiles <= MOST_LOOKS;
}

/* index NULL: the keys are in memory. */
static void combine_small(struct kernel *k, const struct scattered *s, struct combine_args *args,
                          const struct indexed_access *index)
{
    struct combine_small_args small = { .index = { .n = 0 } };
    give_values(s, args);
    if (index && !index_give(k, index, &small.index))
        return;
    small.index.unit = args->unit;
    small.index.limit = args->limit;
    small.c = *args;
    int64_t warps = args->n * ((args->inner + args->columns - 1) / args->columns);
    int64_t blocks = (warps + 7) / 8, most = 4 * (int64_t)cuda_multiprocessors(k);
    set_combine_traffic(k, s, args);
    cuda_launch(
        k, combine_function(k, s, "combine_small", false),
        (struct cuda_grid){ (uint32_t)(blocks < most ? blocks : most), 1, 1, COMBINE_THREADS, 0 },
        &small, sizeof small);
}

/* ---- Many ---- */

/* Combines entries sorted by their keys, in which those with equal keys are adjacent. */
static void combine_sorted(struct kernel *k, const struct scattered *s, struct combine_args *args)
{
    int64_t chunks = (args->n + COMBINE_CHUNK - 1) / COMBINE_CHUNK;
    if (!cuda_sort_keys(k, &args->keys, &args->order, args->n, bits_of_count(args->limit), false))
        return;
    give_values(s, args);
    args->partial = cuda_workspace(k, (size_t)(chunks * 2 * args->inner) * sizeof(double));
    set_combine_traffic(k, s, args);
    cuda_launch(k, combine_function(k, s, "combine_chunks", true),
                (struct cuda_grid){ cuda_blocks(k, chunks * args->inner, 256), 1, 1, 256, 0 }, args,
                sizeof *args);
    int64_t tiles = (args->inner + args->columns - 1) / args->columns;
    struct cuda_grid grid = { cuda_blocks(k, chunks - 1, 1), (uint32_t)(tiles < 64 ? tiles : 64), 1,
                              COMBINE_THREADS, 0 };
    if (chunks > 1)
        cuda_launch(k, combine_function(k, s, "combine_joins", true), grid, args, sizeof *args);
}

static void set_last(struct kernel *k, const struct scattered *s, struct combine_args *args)
{
    args->winner = cuda_workspace(k, (size_t)args->limit * sizeof(uint32_t));
    struct cuda_grid grid = { cuda_blocks(k, args->limit, 1024), 1, 1, 256, 0 };
    cuda_launch(k, combine_function(k, s, "combine_clear", true), grid, args, sizeof *args);
    grid.x = cuda_blocks(k, args->n, 1024);
    cuda_launch(k, combine_function(k, s, "combine_winners", true), grid, args, sizeof *args);
    grid.x = cuda_blocks(k, args->n * args->inner, 1024);
    give_values(s, args);
    set_combine_traffic(k, s, args);
    cuda_launch(k, combine_function(k, s, "combine_set", true), grid, args, sizeof *args);
}

/* Entries beyond a size that only the device knows, the first one of an index, have no key. */
static void limit_entries(struct kernel *k, struct indexed_access *ix)
{
    for (uint32_t i = 0; i < ix->n_tensors && !ix->live.at; i++) {
        const struct kernel_meta *m = ix->tensor[i].meta;
        int64_t most = m && m->extent.is ? m->size[m->extent.dim] : 0;
        if (most)
            ix->live = cuda_live_of(k, ix->tensor[i], ix->set.n / most);
    }
}

void scatter_entries(struct kernel *k, struct scattered *s)
{
    const char *to, *value, *sum;
    struct combine_args args = { .alpha = s->alpha, .include_self = s->include_self };
    if (k->failed || !s->ix.x.meta || !s->values.meta)
        return;
    if (!types_of(s, &to, &value, &sum) || !is_stored_real(s->ix.x) || !is_stored_real(s->values)) {
        cuda_decline(k);
        return;
    }
    index_entries(k, &s->ix, s->values);
    strided_merge(&s->ix.set);
    args.inner = take_inner(s, &args);
    args.n = s->ix.set.n;
    limit_entries(k, &s->ix);
    if (!s->ix.live.at && cuda_has_extents(k->call)) {
        cuda_decline(k);
        return;
    }
    args.unit = unit_of(&s->ix);
    args.limit = tensor_extent(s->ix.x) / args.unit + 1;
    if (args.n >= UINT32_MAX || args.limit >= UINT32_MAX || !strided_fits(k, &s->ix.set)) {
        cuda_decline(k);
        return;
    }
    args.to = cuda_address(k, s->ix.x);
    args.values = cuda_address(k, s->values);
    if (k->failed || args.n == 0 || args.inner == 0)
        return;
    if (is_small(&args))
        combine_small(k, s, &args, &s->ix);
    else if (!write_keys(k, &s->ix, &args))
        return;
    else if (s->how == COMBINE_SET)
        set_last(k, s, &args);
    else
        combine_sorted(k, s, &args);
}

bool keyed_workspace(struct kernel *k, struct keyed_entries *keyed)
{
    int64_t n = keyed->set->n, limit = tensor_extent(keyed->to);
    if (n >= UINT32_MAX || limit >= UINT32_MAX || !strided_fits(k, keyed->set)) {
        cuda_decline(k);
        return false;
    }
    keyed->limit = limit;
    keyed->keys = cuda_workspace(k, (size_t)n * sizeof(uint32_t));
    keyed->order = cuda_workspace(k, (size_t)n * sizeof(uint32_t));
    return !k->failed;
}

void keyed_add(struct kernel *k, struct keyed_entries *keyed)
{
    struct scattered s = { .values = keyed->values, .how = COMBINE_ADD, .include_self = true };
    struct combine_args args = { .to = cuda_address(k, keyed->to),
                                 .values = cuda_address(k, keyed->values),
                                 .keys = keyed->keys,
                                 .order = keyed->order,
                                 .n = keyed->set->n,
                                 .inner = 1,
                                 .unit = 1,
                                 .limit = keyed->limit,
                                 .alpha = 1,
                                 .include_self = true };
    s.ix.x = keyed->to;
    s.ix.set = *keyed->set;
    if (k->failed || args.n == 0)
        return;
    if (is_small(&args))
        combine_small(k, &s, &args, NULL);
    else
        combine_sorted(k, &s, &args);
}
