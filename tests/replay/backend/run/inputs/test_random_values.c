/* Random values depend on their place only. */
#include "replay/backend/run/inputs/random_values.h"

#include <stdlib.h>

#include "tests/harness.h"

enum { N = 2 * (1 << 18) + 3 }; /* parts of three threads */

static void *values_of(enum dtype dtype, uint32_t threads)
{
    void *ret = calloc(N, dtype_size(dtype));
    assert_non_null(ret);
    random_fill(&(struct random_values){ .dtype = dtype,
                                         .p = ret,
                                         .n = N,
                                         .row = 1,
                                         .need = { .kind = NEED_NOTHING, .number = -1 },
                                         .seed = 7,
                                         .threads = threads });
    return ret;
}

static void test_threads(void **state)
{
    (void)state;
    static const char none[3 * sizeof(float)];
    static const enum dtype dtypes[] = { DTYPE_F32, DTYPE_BF16 };
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        const size_t bytes = dtype_size(dtypes[i]);
        char *one = values_of(dtypes[i], 1), *four = values_of(dtypes[i], 4);
        assert_memory_equal(one, four, N * bytes);
        assert_memory_not_equal(one + (N - 3) * bytes, none, 3 * bytes); /* up to the end */
        free(one);
        free(four);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
