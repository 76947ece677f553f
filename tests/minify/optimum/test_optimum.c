/* How near minify comes to the optimum: failures planted in graphs of at most 11 calls, beside an
 * exhaustive search.
 *
 *     test_minify_optimum              the sample that tests run
 *     test_minify_optimum N [MOST]     N failures, printed; graphs with more than MOST candidates
 * are left out */
#include <stdio.h>
#include <stdlib.h>

#include "minify/minify.h"
#include "minify/oracle/oracle_ops.h"
#include "tests/minify/optimum/exhaustive.h"

#include "tests/harness.h"

enum { SAMPLE = 16, SAMPLE_MOST = 3000, MOST = 200000 };

struct comparison {
    struct exhaustive best;
    struct cand_size size;
    uint64_t asked;
    bool minimal;
};

static void compare(const struct planted *planted, size_t most, struct comparison *ret)
{
    struct err err = ERR_INIT;
    struct minify_options options = MINIFY_OPTIONS_DEFAULT;
    struct minify_result result;
    struct planted_oracle oracle;
    struct oracle *ops = oracle_ops(str_of(planted->what), &err);
    assert_no_err(&err);
    planted_oracle_init(&oracle, planted, ops);
    options.oracle = &oracle.oracle;
    assert_true(minify_run(planted->whole, &options, &result, &err));
    assert_int_equal(result.end, MINIFY_DONE);
    assert_true(planted_holds(planted, ops, result.best));
    ret->size = result.after;
    ret->asked = result.calls;
    ret->minimal = result.minimal;
    minify_result_release(&result);
    ops->free(ops);
    assert_true(exhaustive_run(planted, most, &ret->best));
}

static bool has_fewest_calls(const struct comparison *c)
{
    return c->size.part[SIZE_CALLS] <= c->best.calls;
}

static bool is_optimum(const struct comparison *c)
{
    return has_fewest_calls(c) && c->size.part[SIZE_GUARDS] <= c->best.guards &&
           c->size.part[SIZE_SYMBOLS] <= c->best.symbols;
}

static void print_comparison(const struct planted *planted, const struct comparison *c,
                             uint64_t seed)
{
    printf(
        "%3u %-9s %-45s %2u -> %u calls, %u guards, %u symbols in %2u; optimum %u, %u, %u of %zu%s%s\n",
        (unsigned)seed, planted_kind_names[planted->kind], planted->what,
        (unsigned)candidate_size(planted->whole).part[SIZE_CALLS],
        (unsigned)c->size.part[SIZE_CALLS], (unsigned)c->size.part[SIZE_GUARDS],
        (unsigned)c->size.part[SIZE_SYMBOLS], (unsigned)c->asked, (unsigned)c->best.calls,
        (unsigned)c->best.guards, (unsigned)c->best.symbols, c->best.candidates,
        c->best.whole ? "" : ", not all", !c->best.whole || is_optimum(c) ? "" : "  ***");
}

/* Compares n failures, of all kinds in turn. */
static void compare_all(uint64_t n, size_t most, bool print, unsigned *whole, unsigned *fewest,
                        unsigned *optimum)
{
    *whole = *fewest = *optimum = 0;
    for (uint64_t seed = 0; seed < n; seed++) {
        struct planted planted;
        struct comparison c;
        assert_true(planted_make((enum planted_kind)(seed % PLANTED_KINDS), seed, &planted));
        compare(&planted, most, &c);
        assert_true(c.minimal);
        if (print)
            print_comparison(&planted, &c, seed);
        *whole += c.best.whole;
        *fewest += c.best.whole && has_fewest_calls(&c);
        *optimum += c.best.whole && is_optimum(&c);
        planted_release(&planted);
    }
}

static void test_sample(void **state)
{
    unsigned whole, fewest, optimum;
    (void)state;
    compare_all(SAMPLE, SAMPLE_MOST, false, &whole, &fewest, &optimum);
    assert_int_equal(whole, SAMPLE);
    assert_int_equal(fewest, SAMPLE);
    assert_int_equal(optimum, SAMPLE);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_sample) };
    if (argc < 2)
        return cmocka_run_group_tests(tests, NULL, NULL);
    unsigned whole, fewest, optimum;
    uint64_t n = strtoull(argv[1], NULL, 10);
    compare_all(n, argc > 2 ? strtoull(argv[2], NULL, 10) : MOST, true, &whole, &fewest, &optimum);
    printf(
        "%u of %u failures were searched exhaustively: minify has the fewest calls in %u, and the "
        "fewest guards and symbols, too, in %u\n",
        whole, (unsigned)n, fewest, optimum);
    return 0;
}
