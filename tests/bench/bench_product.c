/* GFLOP/s of the CPU backend's products of float64 matrices, the median of several: on one thread
 * and on all.
 *
 * usage: bench_product [M N INNER]...; default: a few sizes of transformers */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "replay/backend/cpu/cpu.h"
#include "replay/backend/cpu/linalg/matmul.h"

enum { ROUNDS = 7 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double rate(struct kernel *k, int64_t m, int64_t n, int64_t inner)
{
    double seconds[ROUNDS], *a = calloc((size_t)(m * inner + 1), 8),
                            *b = calloc((size_t)(inner * n + 1), 8),
                            *c = calloc((size_t)(m * n + 1), 8);
    if (!a || !b || !c)
        exit(4);
    for (int64_t i = 0; i < m * inner; i++)
        a[i] = (double)(i % 17) - 8;
    for (int64_t i = 0; i < inner * n; i++)
        b[i] = (double)(i % 13) - 6;
    for (int i = 0; i < ROUNDS; i++) {
        double start = now();
        multiply_batches(k, a, b, c, 1, m, n, inner);
        seconds[i] = now() - start;
    }
    free(a);
    free(b);
    free(c);
    qsort(seconds, ROUNDS, sizeof *seconds, compare_doubles);
    return 2e-9 * (double)m * (double)n * (double)inner / seconds[ROUNDS / 2];
}

static double rate_on(unsigned threads, int64_t m, int64_t n, int64_t inner)
{
    struct err err = { .kind = ERR_NONE };
    struct backend *backend = backend_find(STR("cpu"))->open(&err);
    if (!backend)
        exit(4);
    backend->threads = threads;
    struct caller caller = { .backend = backend };
    struct backend_call call = { .caller = &caller };
    struct kernel k = { .call = &call, .err = &err };
    double ret = rate(&k, m, n, inner);
    backend->kind->close(backend);
    return ret;
}

int main(int argc, char **argv)
{
    static const char *const usual[] = { "",    "256", "768", "768", "256", "3072", "768",
                                         "512", "512", "512", "64",  "64",  "64" };
    int n = argc > 3 ? argc : (int)(sizeof usual / sizeof *usual);
    for (int i = 1; i + 2 < n; i += 3) {
        int64_t size[3];
        for (int j = 0; j < 3; j++)
            size[j] = strtoll(argc > 3 ? argv[i + j] : usual[i + j], NULL, 10);
        printf("%lld %lld %lld %.2f %.2f\n", (long long)size[0], (long long)size[1],
               (long long)size[2], rate_on(1, size[0], size[1], size[2]),
               rate_on(0, size[0], size[1], size[2]));
    }
    return 0;
}
