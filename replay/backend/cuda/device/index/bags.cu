/* Embedding bags. Defines: T (of the weight), X (of indices), ACC. A thread computes one column of
 * a bag. */
#include "replay/backend/cuda/device/index/bags.h"

struct bag {
    ACC x;
    i64 count, most;
};

DEVICE void take(const struct bag_args *a, struct bag *bag, i64 j, i64 column)
{
    i64 row = (i64)LOAD(X, PTR(const X, a->indices), j);
    if (row < 0 || row >= a->rows) {
        REPORT(a->error, row);
        return;
    }
    if (row == a->padding)
        return;
    ACC x = (ACC)LOAD(T, PTR(const T, a->weight), row * a->row_step + column * a->column_step);
    if (a->scales)
        x *= (ACC)LOAD(T, PTR(const T, a->scales), j * a->scale_step);
    b8 more = a->mode != BAG_MAX || bag->count == 0 || x > bag->x;
    bag->most = more ? row : bag->most;
    bag->x = a->mode != BAG_MAX ? bag->x + x : more ? x : bag->x;
    bag->count++;
}

KERNEL(bags, struct bag_args)
{
    const i64 columns = a.width ? a.width : 1, all = a.bags * columns;
    ROLLED
    for (i64 i = (i64)BLOCK_X * THREADS + THREAD; i < all; i += (i64)GRID_X * THREADS) {
        i64 b = i / columns, column = i - b * columns;
        i64 start = (i64)LOAD(X, PTR(const X, a.offsets), b), end = a.n_indices;
        struct bag bag = { 0, 0, 0 };
        if (b + 1 < a.n_offsets)
            end = (i64)LOAD(X, PTR(const X, a.offsets), b + 1);
        start = MAX(start, 0);
        end = MIN(end, a.n_indices);
        ROLLED
        for (i64 j = start; j < end; j++) {
            if (a.width)
                take(&a, &bag, j, column);
            if (column == 0 && a.to_bag)
                STORE(X, PTR(X, a.to_bag), j, b);
        }
        if (a.mode == BAG_MEAN && bag.count)
            bag.x /= (ACC)bag.count;
        if (a.width)
            STORE(T, PTR(T, a.to), i, bag.x);
        if (a.width && a.most)
            STORE(X, PTR(X, a.most), i, bag.most);
        if (column == 0 && a.counts)
            STORE(X, PTR(X, a.counts), b, a.no_counts ? 0 : bag.count);
    }
}
