#include "trace/align/sequence.h"

#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"

/* The longest common subsequence, by the table of all prefixes. */
static uint32_t longest(const uint32_t *a, uint32_t n, const uint32_t *b, uint32_t m)
{
    uint32_t *row = calloc((size_t)m + 1, sizeof *row);
    assert_non_null(row);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t diagonal = 0;
        for (uint32_t k = 0; k < m; k++) {
            uint32_t above = row[k + 1];
            uint32_t best = row[k] > above ? row[k] : above;
            row[k + 1] = a[i] == b[k] ? diagonal + 1 : best;
            diagonal = above;
        }
    }
    uint32_t ret = row[m];
    free(row);
    return ret;
}

/* Partners are equal and ascend; returns how many there are. */
static uint32_t check(const uint32_t *a, uint32_t n, const uint32_t *b, uint32_t m)
{
    uint32_t *partner = calloc((size_t)n + 1, sizeof *partner), found = 0, next = 0;
    assert_non_null(partner);
    assert_true(sequence_align(a, n, b, m, partner));
    for (uint32_t i = 0; i < n; i++) {
        if (partner[i] == SEQUENCE_NONE)
            continue;
        assert_true(partner[i] >= next && partner[i] < m);
        assert_int_equal(a[i], b[partner[i]]);
        next = partner[i] + 1;
        found++;
    }
    free(partner);
    return found;
}

static void test_random(void **state)
{
    (void)state;
    uint32_t a[60], b[60], seed = 7;
    for (int round = 0; round < 3000; round++) {
        uint32_t n = (seed = seed * 1664525 + 1013904223) >> 26;
        uint32_t m = (seed = seed * 1664525 + 1013904223) >> 26;
        uint32_t letters = 2 + (uint32_t)round % 9;
        n = n > 60 ? 60 : n;
        m = m > 60 ? 60 : m;
        for (uint32_t i = 0; i < n; i++)
            a[i] = ((seed = seed * 1664525 + 1013904223) >> 16) % letters;
        for (uint32_t i = 0; i < m; i++)
            b[i] = ((seed = seed * 1664525 + 1013904223) >> 16) % letters;
        assert_int_equal(check(a, n, b, m), longest(a, n, b, m));
    }
}

/* 12 equal layers, of which one loses a third: nothing else may be touched. */
static void test_layers(void **state)
{
    (void)state;
    enum { LAYERS = 12, NODES = 90 };
    uint32_t a[LAYERS * NODES], b[LAYERS * NODES], n = 0, m = 0;
    for (uint32_t layer = 0; layer < LAYERS; layer++)
        for (uint32_t i = 0; i < NODES; i++) {
            a[n++] = i % 7;
            if (layer != 5 || i < 60)
                b[m++] = i % 7;
        }
    assert_int_equal(check(a, n, b, m), m);
}

/* Nothing alike but a few letters: bounded, and still in order. */
static void test_hopeless(void **state)
{
    (void)state;
    enum { MANY = 30000 };
    uint32_t *a = calloc(2 * MANY, sizeof *a), seed = 1;
    assert_non_null(a);
    for (uint32_t i = 0; i < 2 * MANY; i++)
        a[i] = ((seed = seed * 1664525 + 1013904223) >> 12) % 4000;
    check(a, MANY, a + MANY, MANY);
    free(a);
}

static void test_empty(void **state)
{
    (void)state;
    uint32_t a[] = { 1, 2, SEQUENCE_NONE };
    assert_int_equal(check(a, 0, a, 3), 0);
    assert_int_equal(check(a, 3, a, 0), 0);
    assert_int_equal(check(a, 3, a, 3), 2);
}

static void test_fill(void **state)
{
    (void)state;
    struct sequence_pairs pairs;
    const uint32_t a[] = { 1, 2, 3, 4, 9 }, b[] = { 9, 1, 7, 3, 8 };
    const uint32_t weak_a[] = { 0, 5, 0, 6, 0 }, weak_b[] = { 5, 0, 5, 0, 6 };
    assert_true(sequence_pairs_init(&pairs, 5, 5));
    assert_true(sequence_fill(&pairs, a, b, NULL, NULL));
    assert_int_equal(pairs.of_a[0], 1);
    assert_int_equal(pairs.of_a[2], 3);
    assert_int_equal(pairs.of_a[4], SEQUENCE_NONE);
    assert_true(sequence_match(&pairs, a, b, NULL, NULL));
    assert_int_equal(pairs.of_a[4], 0);
    assert_true(pairs.moved[4]);
    assert_true(sequence_fill(&pairs, weak_a, weak_b, NULL, NULL));
    assert_int_equal(pairs.of_a[1], 2);
    assert_int_equal(pairs.of_a[3], 4);
    sequence_pairs_release(&pairs);
}

static bool attempt(void *arg)
{
    const uint32_t a[] = { 1, 2, 3, 4, 9 }, b[] = { 9, 1, 7, 3, 8 };
    struct sequence_pairs pairs;
    (void)arg;
    bool ok = sequence_pairs_init(&pairs, 5, 5) && sequence_fill(&pairs, a, b, NULL, NULL) &&
              sequence_match(&pairs, a, b, NULL, NULL);
    sequence_pairs_release(&pairs);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    check_alloc_failures(attempt, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),   cmocka_unit_test(test_layers),
        cmocka_unit_test(test_hopeless), cmocka_unit_test(test_empty),
        cmocka_unit_test(test_fill),     cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
