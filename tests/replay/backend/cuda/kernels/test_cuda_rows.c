/* Calls of every family of the CUDA backend beside the CPU's. */
#include "tests/replay/backend/cuda/cuda_calls.h"

static const struct call calls[] = {
#define CASE(inputs, call, results) { inputs, call, results },
#include "tests/replay/backend/cuda/kernels/cuda_index_rows.def"
#include "tests/replay/backend/cuda/kernels/cuda_rows.def"
#undef CASE
};

static void test_rows(void **state)
{
    (void)state;
    test_calls(calls, sizeof calls / sizeof *calls);
}

static void test_wide(void **state)
{
    (void)state;
    test_calls_wide(calls, sizeof calls / sizeof *calls);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_rows), cmocka_unit_test(test_wide) };
    return run_calls(tests, 2);
}
