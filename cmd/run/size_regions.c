#include "cmd/run/size_regions.h"

#include <stdlib.h>
#include <string.h>

/* The ranks of a grid's sizes: point p has rank[p * n_symbols + i] among the sizes of symbol i. */
struct ranks {
    const struct size_grid *grid;
    const uint32_t *outcomes;
    uint32_t *rank;
    size_t *order; /* points, by their ranks */
    bool *taken;   /* by point */
};

static const uint32_t *point_ranks(const struct ranks *r, size_t point)
{
    return r->rank + point * r->grid->n_symbols;
}

static int compare_ranks(const uint32_t *a, const uint32_t *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

static int compare_points(const void *a, const void *b, void *user)
{
    const struct ranks *r = user;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    int order = compare_ranks(point_ranks(r, x), point_ranks(r, y), r->grid->n_symbols);
    return order ? order : (x > y) - (x < y);
}

struct sized_point {
    int64_t value;
    size_t point;
};

static int compare_sizes(const void *a, const void *b)
{
    const struct sized_point *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

static bool rank_points(struct ranks *r, struct err *err)
{
    const struct size_grid *g = r->grid;
    struct sized_point *keys = calloc(g->n + 1, sizeof *keys);
    r->rank = calloc(g->n * g->n_symbols + 1, sizeof *r->rank);
    r->order = calloc(g->n + 1, sizeof *r->order);
    r->taken = calloc(g->n + 1, sizeof *r->taken);
    bool ok = (keys && r->rank && r->order && r->taken) || err_nomem(err);
    for (size_t i = 0; ok && i < g->n_symbols; i++) {
        uint32_t rank = 0;
        for (size_t p = 0; p < g->n; p++)
            keys[p] = (struct sized_point){ size_grid_row(g, p)[i], p };
        qsort(keys, g->n, sizeof *keys, compare_sizes);
        for (size_t p = 0; p < g->n; p++) {
            rank += p && keys[p].value != keys[p - 1].value;
            r->rank[keys[p].point * g->n_symbols + i] = rank;
        }
    }
    for (size_t p = 0; ok && p < g->n; p++)
        r->order[p] = p;
    if (ok)
        qsort_r(r->order, g->n, sizeof *r->order, compare_points, r);
    free(keys);
    return ok;
}

/* Finds the first point with these ranks. Returns false if there is none. */
static bool point_at(const struct ranks *r, const uint32_t *want, size_t *ret)
{
    size_t low = 0, high = r->grid->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_ranks(point_ranks(r, r->order[middle]), want, r->grid->n_symbols) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == r->grid->n || compare_ranks(point_ranks(r, r->order[low]), want, r->grid->n_symbols))
        return false;
    *ret = r->order[low];
    return true;
}

/* Walks the points between low and high. With `take` they are added to that region. Without it,
 * returns whether all of them can be added. */
static bool walk_box(struct ranks *r, const uint32_t *low, const uint32_t *high, uint32_t outcome,
                     struct size_region *take)
{
    uint32_t at[GRID_SYMBOLS];
    size_t n = r->grid->n_symbols, point;
    memcpy(at, low, n * sizeof *at);
    for (;;) {
        if (!point_at(r, at, &point) ||
            (!take && (r->taken[point] || r->outcomes[point] != outcome)))
            return false;
        if (take) {
            r->taken[point] = true;
            take->last = point;
            take->n++;
        }
        size_t i = n;
        while (i-- > 0) {
            if (at[i]++ < high[i])
                break;
            at[i] = low[i];
        }
        if (i == SIZE_MAX)
            return true;
    }
}

static void grow_box(struct ranks *r, size_t first, struct size_region *ret)
{
    uint32_t low[GRID_SYMBOLS], high[GRID_SYMBOLS], slab[GRID_SYMBOLS];
    size_t n = r->grid->n_symbols;
    memcpy(low, point_ranks(r, first), n * sizeof *low);
    memcpy(high, low, n * sizeof *high);
    for (size_t i = n; i-- > 0;)
        for (;;) {
            memcpy(slab, low, n * sizeof *slab);
            slab[i] = ++high[i];
            if (walk_box(r, slab, high, r->outcomes[first], NULL))
                continue;
            high[i]--;
            break;
        }
    *ret = (struct size_region){ .outcome = r->outcomes[first], .first = first };
    walk_box(r, low, high, ret->outcome, ret);
}

bool size_regions_find(const struct size_grid *grid, const uint32_t *outcomes,
                       struct size_regions *ret, struct err *err)
{
    struct ranks r = { .grid = grid, .outcomes = outcomes };
    bool ok = rank_points(&r, err);
    *ret = (struct size_regions){ 0 };
    for (size_t i = 0; ok && i < grid->n; i++) {
        struct size_region region;
        size_t point = r.order[i];
        bool again = i && !compare_ranks(point_ranks(&r, point), point_ranks(&r, r.order[i - 1]),
                                         grid->n_symbols);
        if (r.taken[point] || again)
            continue;
        grow_box(&r, point, &region);
        ok = vec_push(&ret->list, region) || err_nomem(err);
    }
    free(r.rank);
    free(r.order);
    free(r.taken);
    return ok;
}

void size_regions_release(struct size_regions *regions)
{
    vec_release(&regions->list);
}

static void find_bounds(const struct size_grid *grid, size_t symbol, int64_t *min, int64_t *max)
{
    *min = INT64_MAX;
    *max = INT64_MIN;
    for (size_t p = 0; p < grid->n; p++) {
        int64_t x = size_grid_row(grid, p)[symbol];
        *min = x < *min ? x : *min;
        *max = x > *max ? x : *max;
    }
}

void size_region_print(const struct size_grid *grid, const struct size_region *region,
                       struct buf *out)
{
    bool any = false;
    for (size_t i = 0; i < grid->n_symbols; i++) {
        int64_t low = size_grid_row(grid, region->first)[i], min, max;
        int64_t high = size_grid_row(grid, region->last)[i];
        find_bounds(grid, i, &min, &max);
        if ((low == min && high == max && min != max) || low == GRID_ANY)
            continue;
        buf_puts(out, any ? ", " : "");
        buf_put(out, grid->symbols[i]);
        if (low == high)
            buf_printf(out, "=%lld", (long long)low);
        else
            buf_printf(out, " in %lld..%lld", (long long)low, (long long)high);
        any = true;
    }
    if (!any)
        buf_puts(out, grid->n > 1 ? "all sizes" : "the recorded sizes");
}
