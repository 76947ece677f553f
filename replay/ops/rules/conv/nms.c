#include "replay/ops/rules/conv/nms.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Sorts positions by descending scores. The bottom-up merge sort is stable. */
static void sort_by_score(const double *scores, int64_t n, int64_t *order, int64_t *spare)
{
    for (int64_t i = 0; i < n; i++)
        order[i] = i;
    for (int64_t run = 1; run < n; run *= 2) {
        for (int64_t low = 0; low < n; low += 2 * run) {
            int64_t middle = low + run < n ? low + run : n,
                    high = middle + run < n ? middle + run : n;
            for (int64_t i = low, j = middle, to = low; to < high; to++) {
                bool second = i == middle || (j < high && scores[order[j]] > scores[order[i]]);
                spare[to] = order[second ? j++ : i++];
            }
        }
        memcpy(order, spare, (size_t)n * sizeof *order);
    }
}

static double box_area(const double *box)
{
    return (box[2] - box[0]) * (box[3] - box[1]);
}

/* Returns the intersection over union of two boxes. */
static double intersection_over_union(const double *a, const double *b)
{
    double width = fmax(0, fmin(a[2], b[2]) - fmax(a[0], b[0]));
    double height = fmax(0, fmin(a[3], b[3]) - fmax(a[1], b[1]));
    return width * height / (box_area(a) + box_area(b) - width * height);
}

int64_t nms_keep(const double *boxes, const double *scores, int64_t n, double threshold,
                 int64_t *order, int64_t *kept)
{
    int64_t count = 0;
    sort_by_score(scores, n, order, order + n);
    for (int64_t i = 0; i < n; i++) {
        bool covered = false;
        for (int64_t j = 0; j < count && !covered; j++)
            covered =
                intersection_over_union(boxes + 4 * kept[j], boxes + 4 * order[i]) > threshold;
        if (!covered)
            kept[count++] = order[i];
    }
    return count;
}
