/* Products by blocks are those of three plain loops, bit by bit, on any number of threads. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay/backend/cpu/cpu.h"
#include "replay/backend/cpu/linalg/matmul.h"
#include "tests/harness.h"

static double value_at(uint64_t i)
{
    i = (i + 1) * UINT64_C(0x9E3779B97F4A7C15);
    i ^= i >> 31;
    return ldexp((double)(int64_t)(i * UINT64_C(0xD6E8FEB86659FD93)), (int)(i % 40) - 70);
}

static double *values(size_t n, uint64_t seed)
{
    double *ret = malloc((n + 1) * sizeof *ret);
    assert_non_null(ret);
    for (size_t i = 0; i < n; i++)
        ret[i] = value_at(seed * 1000003 + i);
    return ret;
}

struct sizes {
    int64_t batch, m, n, inner;
};

static void plainly(const double *a, const double *b, double *c, struct sizes s)
{
    for (int64_t i = 0; i < s.batch * s.m; i++)
        for (int64_t j = 0; j < s.n; j++) {
            const double *row = a + i * s.inner, *from = b + i / s.m * s.inner * s.n + j;
            volatile double sum = 0, product; /* no FMA here either */
            for (int64_t l = 0; l < s.inner; l++) {
                product = row[l] * from[l * s.n];
                sum = sum + product;
            }
            c[i * s.n + j] += sum;
        }
}

static void check(struct kernel *k, struct sizes s)
{
    size_t n = (size_t)(s.batch * s.m * s.n);
    double *a = values((size_t)(s.batch * s.m * s.inner), 1);
    double *b = values((size_t)(s.batch * s.inner * s.n), 2);
    double *expected = values(n, 3), *got = values(n, 3);
    plainly(a, b, expected, s);
    multiply_batches(k, a, b, got, s.batch, s.m, s.n, s.inner);
    assert_memory_equal(got, expected, n * sizeof *got);
    free(a);
    free(b);
    free(expected);
    free(got);
}

static void test_bits(void **state)
{
    static const struct sizes all[] = {
        { 1, 1, 1, 1 },       { 1, 3, 5, 0 },      { 0, 3, 5, 2 },    { 1, 8, 16, 256 },
        { 1, 9, 17, 257 },    { 3, 7, 15, 33 },    { 2, 130, 1, 65 }, { 1, 1, 200, 70 },
        { 1, 129, 129, 513 }, { 2, 200, 70, 300 }, { 4, 64, 64, 64 },
    };
    (void)state;
    for (unsigned threads = 1; threads <= 8; threads *= 2) {
        struct err err = ERR_INIT;
        struct backend *backend = backend_find(STR("cpu"))->open(&err);
        assert_no_err(&err);
        backend->threads = threads;
        struct caller caller = { .backend = backend };
        struct backend_call call = { .caller = &caller };
        struct kernel k = { .call = &call, .err = &err };
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            check(&k, all[i]);
        backend->kind->close(backend);
    }
}

/* Each piece once. */
static void mark(void *user, int64_t piece)
{
    ((unsigned char *)user)[piece]++;
}

static void test_pieces(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct backend *backend = backend_find(STR("cpu"))->open(&err);
    assert_no_err(&err);
    backend->threads = 4;
    struct caller caller = { .backend = backend };
    struct backend_call call = { .caller = &caller };
    struct kernel k = { .call = &call, .err = &err };
    for (int64_t n = 0; n < 300; n++) {
        unsigned char done[300] = { 0 };
        cpu_parallel(&k, n, mark, done);
        for (int64_t i = 0; i < 300; i++)
            assert_int_equal(done[i], i < n);
    }
    backend->kind->close(backend);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_pieces),
    };
    return cmocka_run_group_tests_name("products by blocks", tests, NULL, NULL);
}
