/* roi_align. Defines: T, ACC (f32, f64), I (i32 or i64). Positions are computed in float64, as in
 * the reference. */
#include "replay/backend/cuda/device/conv/regions.h"

struct region {
    i64 image;
    i32 grid[2];
    f64 start[2], bin[2]; /* y, x */
};

DEVICE struct region region_of(const struct regions_args *a, I row)
{
    struct region r;
    f64 v[REGION_NUMBERS], offset = a->aligned ? 0.5 : 0;
    UNROLL
    for (i32 i = 0; i < REGION_NUMBERS; i++)
        v[i] = (f64)LOAD(T, PTR(const T, a->rois),
                         row * (I)a->roi_stride[0] + i * (I)a->roi_stride[1]);
    r.image = (i64)v[0];
    UNROLL
    for (i32 d = 0; d < 2; d++) {
        r.start[d] = v[2 - d] * a->scale - offset;
        f64 size = v[4 - d] * a->scale - offset - r.start[d];
        size = a->aligned ? size : fmax(size, 1.0);
        r.bin[d] = size / (f64)a->pooled[d];
        r.grid[d] = (i32)(a->ratio > 0 ? a->ratio : (i64)ceil(r.bin[d]));
    }
    return r;
}

DEVICE ACC places_of(const struct region *r)
{
    return (ACC)MAX((i64)r->grid[0] * r->grid[1], 1);
}

/* A position between two pixels of one dimension. */
struct between {
    I low, high;
    f64 rest; /* the fraction of the way from low to high */
    i32 inside;
};

DEVICE struct between between_of(const struct region *r, i32 d, I bin, i32 j, I n)
{
    struct between b = { 0, 0, 0, 0 };
    f64 at = r->start[d] + ((f64)bin + ((f64)j + 0.5) / (f64)r->grid[d]) * r->bin[d];
    if (at < -1 || at > (f64)n)
        return b;
    at = fmax(at, 0.0);
    b.inside = 1;
    b.low = (I)at;
    b.high = b.low + 1;
    b.rest = at - (f64)b.low;
    if (b.low >= n - 1) {
        b.low = b.high = n - 1;
        b.rest = 0;
    }
    return b;
}

KERNEL(roi_align, struct regions_args)
{
    const i64 size[PLANE_DIMS] = { 1, a.pooled[0], a.pooled[1] };
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < a.n; i += (i64)GRID_X * THREADS) {
        struct element e = element_of((I)i, (I)a.channels, size);
        struct region r = region_of(&a, e.batch);
        if (r.image < 0 || r.image >= a.n_images) {
            REPORT(a.error, r.image);
            continue;
        }
        const I plane = (I)r.image * (I)a.image_stride[0] + e.channel * (I)a.image_stride[1];
        const T *image = PTR(const T, a.images);
        ACC sum = 0;
        ROLLED
        for (i32 u = 0; u < r.grid[0]; u++) {
            struct between y = between_of(&r, 0, e.at[1], u, (I)a.size[0]);
            ROLLED
            for (i32 v = 0; v < r.grid[1] && y.inside; v++) {
                struct between x = between_of(&r, 1, e.at[2], v, (I)a.size[1]);
                if (!x.inside)
                    continue;
                ACC p[4] = {
                    (ACC)LOAD(T, image, plane + place_in(a.image_stride, 0, y.low, x.low)),
                    (ACC)LOAD(T, image, plane + place_in(a.image_stride, 0, y.low, x.high)),
                    (ACC)LOAD(T, image, plane + place_in(a.image_stride, 0, y.high, x.low)),
                    (ACC)LOAD(T, image, plane + place_in(a.image_stride, 0, y.high, x.high)),
                };
                ACC up = (ACC)(1 - y.rest), left = (ACC)(1 - x.rest);
                ACC down = (ACC)y.rest, right = (ACC)x.rest;
                sum +=
                    up * left * p[0] + up * right * p[1] + down * left * p[2] + down * right * p[3];
            }
        }
        STORE(T, PTR(T, a.bins),
              plane_of(&e, a.bin_stride) + place_in(a.bin_stride, 0, e.at[1], e.at[2]),
              sum / places_of(&r));
    }
}

/* Returns the weight of pixel `at` in a bin, in one dimension. */
DEVICE ACC taken(const struct region *r, i32 d, I bin, I at, I n)
{
    f64 sum = 0;
    ROLLED
    for (i32 j = 0; j < r->grid[d]; j++) {
        struct between b = between_of(r, d, bin, j, n);
        if (b.inside && b.low == at)
            sum += 1 - b.rest;
        if (b.inside && b.high == at)
            sum += b.rest;
    }
    return (ACC)sum;
}

/* Returns the bins that may use pixel `at`: those within a pixel of it; outermost pixels also
 * replace those outside. */
DEVICE void bins_near(const struct regions_args *a, const struct region *r, i32 d, I at, I *from,
                      I *to)
{
    I last = (I)a->pooled[d] - 1;
    *from = 0;
    *to = last;
    if (!(r->bin[d] > 0))
        return;
    f64 low = ((f64)at - 1 - (at == 0) - r->start[d]) / r->bin[d] - 1;
    f64 high = ((f64)at + 1 + (at == (I)a->size[d] - 1) - r->start[d]) / r->bin[d] + 1;
    if (low > 0)
        *from = low > (f64)last ? last + 1 : (I)low;
    if (high < (f64)last)
        *to = high < 0 ? -1 : (I)high;
}

DEVICE ACC gradient_from(const struct regions_args *a, I row, const struct element *e)
{
    struct region r = region_of(a, row);
    ACC sum = 0;
    I from[2], to[2];
    if (r.image < 0 || r.image >= a->n_images)
        REPORT(a->error, r.image);
    if (r.image != e->batch)
        return 0;
    bins_near(a, &r, 0, e->at[1], &from[0], &to[0]);
    bins_near(a, &r, 1, e->at[2], &from[1], &to[1]);
    ROLLED
    for (I y = from[0]; y <= to[0]; y++) {
        ACC by_y = taken(&r, 0, y, e->at[1], (I)a->size[0]);
        ROLLED
        for (I x = from[1]; x <= to[1] && by_y != 0; x++) {
            ACC by_x = taken(&r, 1, x, e->at[2], (I)a->size[1]);
            if (by_x != 0)
                sum += by_y * by_x *
                       (ACC)LOAD(T, PTR(const T, a->bins),
                                 row * (I)a->bin_stride[0] + e->channel * (I)a->bin_stride[1] +
                                     place_in(a->bin_stride, 0, y, x));
        }
    }
    return sum / places_of(&r);
}

/* Each pixel sums its part of every bin's gradient, in the regions' order. */
KERNEL(roi_align_backward, struct regions_args)
{
    const i64 size[PLANE_DIMS] = { 1, a.size[0], a.size[1] };
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < a.n; i += (i64)GRID_X * THREADS) {
        struct element e = element_of((I)i, (I)a.channels, size);
        ACC sum = 0;
        ROLLED
        for (I row = 0; row < (I)a.regions; row++)
            sum += gradient_from(&a, row, &e);
        STORE(T, PTR(T, a.images),
              plane_of(&e, a.image_stride) + place_in(a.image_stride, 0, e.at[1], e.at[2]), sum);
    }
}
