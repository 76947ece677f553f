#include "profile/calls/dynamic/compile_estimate.h"
#include "tests/harness.h"

/* A code object with these compiles; those with 's' have symbols. */
static struct code_calls make(const char *symbols, const double *seconds)
{
    static const struct str IDS[] = { { "0/0", 3 }, { "0/1", 3 }, { "0/2", 3 }, { "0/3", 3 } };
    struct code_calls code = { 0 };
    for (size_t i = 0; symbols[i]; i++) {
        struct known_entry entry = { .compile = IDS[i],
                                     .seconds = seconds[i],
                                     .any_symbol = symbols[i] == 's' };
        assert_true(vec_push(&code.entries, entry));
    }
    return code;
}

/* The estimate for the call of the first entry, if it is to have symbols and is like another one.
 */
static double merged(const char *symbols, const double *seconds, size_t like)
{
    struct code_calls code = make(symbols, seconds);
    const struct compile_question question = { .recorded = seconds[0],
                                               .was = &code.entries.v[0],
                                               .like = &code.entries.v[like],
                                               .symbols = true };
    double ret = compile_estimate(&code, &question);
    vec_release(&code.entries);
    return ret;
}

static void assert_seconds(double is, double expected)
{
    assert_true(is > expected - 1e-9 && is < expected + 1e-9);
}

/* 3 s once and 1 s as a static one; symbols take 2 s once and 2 s each time. */
static void test_merged(void **state)
{
    (void)state;
    assert_seconds(merged("-s-", (double[]){ 4, 4, 1 }, 1), 7);
    /* A later compile with symbols does not have what they take once; it is not known then. */
    assert_seconds(merged("-s-s", (double[]){ 4, 4, 1, 2 }, 1), 5);
    /* No compile has symbols: half of what was done once, and 1.3 times the rest. */
    assert_seconds(merged("--", (double[]){ 4, 1 }, 1), 4 + 1.5 + 0.3);
    assert_seconds(merged("-", (double[]){ 4 }, 0), 4 * 1.3);
    /* once = 2, later = 2: the second one takes 0.5 * 2 + 1.3 * 2. */
    assert_seconds(merged("-s", (double[]){ 4, 3.6 }, 1), 4 + 3.6 - 2);
    /* Half of what one with symbols takes is not done once, however little it is. */
    assert_seconds(merged("-s", (double[]){ 4, 0.1 }, 1), 4 + 0.1 - 0.5 * 0.1 / 1.3);
    /* What cannot be: it takes no less than the recorded one. */
    assert_seconds(merged("-s-", (double[]){ 1, 1, 5 }, 1), 1);
}

static void test_others(void **state)
{
    (void)state;
    const double seconds[] = { 4, 3, 1 };
    struct code_calls code = make("-s-", seconds);
    const struct known_entry *v = code.entries.v;
    const struct {
        struct compile_question compile;
        double seconds;
    } CASES[] = {
        { { .recorded = 4, .was = &v[0], .like = &v[0] }, 4 },                  /* as recorded */
        { { .recorded = 3, .was = &v[1], .like = &v[1], .symbols = true }, 3 }, /* it had symbols */
        { { .recorded = 2, .like = &v[1], .symbols = true }, 2 },               /* it failed */
        { { .like = &v[0] }, 3 }, /* not the first compile of the process */
        { { .like = &v[2] }, 1 },
        { { .symbols = true }, 0 },
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        assert_seconds(compile_estimate(&code, &CASES[i].compile), CASES[i].seconds);
    vec_release(&code.entries);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_merged),
                                        cmocka_unit_test(test_others) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
