#include "replay/backend/values/elements.h"

#include <math.h>
#include <string.h>

#include "tests/harness.h"

static uint64_t bits_of(enum dtype dtype, double x)
{
    uint64_t bits = 0;
    store_real(dtype, &bits, 0, x);
    return bits;
}

/* Rounded to nearest, ties to even; beyond the greatest as PyTorch has it. */
static void test_small_floats(void **state)
{
    (void)state;
    assert_int_equal(bits_of(DTYPE_F16, 1), 0x3c00);
    assert_int_equal(bits_of(DTYPE_F16, -0.0), 0x8000);
    assert_int_equal(bits_of(DTYPE_F16, 65504), 0x7bff);
    assert_int_equal(bits_of(DTYPE_F16, 65519.9), 0x7bff);
    assert_int_equal(bits_of(DTYPE_F16, 65520), 0x7c00);
    assert_int_equal(bits_of(DTYPE_F16, 0x1p-24), 1);
    assert_int_equal(bits_of(DTYPE_F16, 0x1p-25), 0);
    assert_int_equal(bits_of(DTYPE_F16, 0x1.8p-25), 1);
    assert_int_equal(bits_of(DTYPE_F16, 1 + 0x1p-11), 0x3c00);
    assert_int_equal(bits_of(DTYPE_F16, 1 + 0x3p-11), 0x3c02);
    assert_int_equal(bits_of(DTYPE_BF16, 1 + 0x1p-8), 0x3f80);
    assert_int_equal(bits_of(DTYPE_BF16, 1 + 0x1p-8 + 0x1p-40), 0x3f81);
    assert_int_equal(bits_of(DTYPE_BF16, INFINITY), 0x7f80);
    assert_int_equal(bits_of(DTYPE_F8E4M3FN, 448), 0x7e);
    assert_int_equal(bits_of(DTYPE_F8E4M3FN, NAN), 0x7f);
    assert_int_equal(bits_of(DTYPE_F8E5M2, 57344), 0x7b);
}

/* Every value of two bytes, and of one, comes back as it was. */
static void test_round_trip(void **state)
{
    (void)state;
    static const enum dtype dtypes[] = { DTYPE_F16,    DTYPE_BF16,       DTYPE_F8E4M3FN,
                                         DTYPE_F8E5M2, DTYPE_F8E4M3FNUZ, DTYPE_F8E5M2FNUZ };
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        for (uint32_t bits = 0; bits < 1u << 8 * dtype_size(dtypes[d]); bits++) {
            double x = load_real(dtypes[d], &bits, 0);
            if (!isnan(x) && bits_of(dtypes[d], x) != bits)
                fail_msg("%s: %x is %a, and that is %llx", dtype_short_name(dtypes[d]), bits, x,
                         (unsigned long long)bits_of(dtypes[d], x));
        }
}

static void test_integers(void **state)
{
    (void)state;
    unsigned char p[16] = { 0 };
    store_int(DTYPE_I8, p, 3, -1);
    assert_int_equal(p[3], 0xff);
    assert_int_equal(load_int(DTYPE_I8, p, 3), -1);
    assert_int_equal(load_int(DTYPE_U8, p, 3), 255);
    store_int(DTYPE_B8, p, 0, 256);
    assert_int_equal(p[0], 1);
    store_real(DTYPE_I32, p, 1, -3.9);
    assert_int_equal(load_int(DTYPE_I32, p, 1), -3);
    assert_int_equal(load_complex(DTYPE_I32, p, 1) == -3, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_floats),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
