#include "profile/calls/guards/usual_latency.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

bool usual_latencies(struct guard_latency *entries, size_t n)
{
    enum { LEAST_ENTRIES = 3, MOST_TIMES = 8 };
    double *each = calloc(n + 1, sizeof *each);
    size_t known = 0;
    if (!each)
        return false;
    for (size_t i = 0; i < n; i++)
        if (entries[i].time > 0 && entries[i].guards > 0)
            each[known++] = entries[i].time / entries[i].guards;
    if (known >= LEAST_ENTRIES) {
        qsort(each, known, sizeof *each, by_value);
        double median = (each[(known - 1) / 2] + each[known / 2]) / 2;
        for (size_t i = 0; i < n; i++)
            if (entries[i].time > MOST_TIMES * median * entries[i].guards && entries[i].guards > 0)
                entries[i].time = median * entries[i].guards;
    }
    free(each);
    return true;
}
