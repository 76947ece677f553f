#include "trace/base/hash_index.h"

#include "tests/harness.h"

static uint32_t count_rows(const struct hash_index *index, uint32_t hash, uint32_t *last)
{
    uint32_t n = 0;
    for (size_t at = hash_index_start(index, hash); hash_index_next(index, hash, &at, last);)
        n++;
    return n;
}

static void test_rows_are_found(void **state)
{
    (void)state;
    enum { ROWS = 1000 };
    struct hash_index index = HASH_INDEX_INIT;
    uint32_t row;
    assert_int_equal(count_rows(&index, 5, &row), 0);
    for (uint32_t i = 0; i < ROWS; i++) {
        assert_true(hash_index_reserve(&index, 1));
        hash_index_add(&index, i * 64, i);
    }
    assert_int_equal(index.n, ROWS);
    assert_true(index.n_slots >= 2 * ROWS);
    for (uint32_t i = 0; i < ROWS; i++) {
        assert_int_equal(count_rows(&index, i * 64, &row), 1);
        assert_int_equal(row, i);
    }
    assert_int_equal(count_rows(&index, 63, &row), 0);
    hash_index_clear(&index);
    assert_int_equal(count_rows(&index, 64, &row), 0);
    hash_index_release(&index);
}

static void test_equal_hashes(void **state)
{
    (void)state;
    struct hash_index index = HASH_INDEX_INIT;
    uint32_t row;
    assert_true(hash_index_reserve(&index, 3));
    for (uint32_t i = 0; i < 3; i++)
        hash_index_add(&index, 7, i);
    hash_index_add(&index, 8, 9);
    assert_int_equal(count_rows(&index, 7, &row), 3);
    hash_index_replace(&index, 7, 2, 4);
    assert_int_equal(count_rows(&index, 7, &row), 3);
    assert_int_equal(row, 4);
    assert_int_equal(count_rows(&index, 8, &row), 1);
    hash_index_release(&index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_found),
        cmocka_unit_test(test_equal_hashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
