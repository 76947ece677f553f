#include "trace/base/vec.h"

#include "tests/harness.h"

struct pair {
    int a, b;
};

static void test_push_keeps_order(void **state)
{
    (void)state;
    vec_of(struct pair)
    pairs = { 0 };
    for (int i = 0; i < 1000; i++)
        assert_true(vec_push(&pairs, (struct pair){ .a = i, .b = -i }));
    assert_int_equal(pairs.n, 1000);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(pairs.v[i].a, i);
        assert_int_equal(pairs.v[i].b, -i);
    }
    vec_release(&pairs);
    assert_null(pairs.v);
    assert_int_equal(pairs.n + pairs.cap, 0);
}

static void test_reserve_makes_room_once(void **state)
{
    (void)state;
    vec_of(int)
    numbers = { 0 };
    assert_true(vec_reserve(&numbers, 100));
    int *before = numbers.v;
    for (int i = 0; i < 100; i++)
        assert_true(vec_push(&numbers, i));
    assert_ptr_equal(numbers.v, before);
    vec_release(&numbers);
}

static void test_sizes_that_cannot_be_are_refused(void **state)
{
    (void)state;
    vec_of(struct pair)
    pairs = { 0 };
    assert_true(vec_push(&pairs, (struct pair){ 1, 2 }));
    assert_false(vec_reserve(&pairs, SIZE_MAX));
    assert_false(vec_reserve(&pairs, SIZE_MAX / sizeof(struct pair)));
    assert_int_equal(pairs.n, 1);
    assert_int_equal(pairs.v[0].b, 2);
    vec_release(&pairs);
}

static bool push_many(void *arg)
{
    (void)arg;
    vec_of(int)
    numbers = { 0 };
    bool done = true;
    for (int i = 0; i < 100 && done; i++) {
        size_t before = numbers.n;
        done = vec_push(&numbers, i);
        assert_int_equal(numbers.n, before + done);
    }
    for (size_t i = 0; i < numbers.n; i++)
        assert_int_equal(numbers.v[i], i);
    vec_release(&numbers);
    return done;
}

static void test_failed_push_changes_nothing(void **state)
{
    (void)state;
    check_alloc_failures(push_many, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_push_keeps_order),
        cmocka_unit_test(test_reserve_makes_room_once),
        cmocka_unit_test(test_sizes_that_cannot_be_are_refused),
        cmocka_unit_test(test_failed_push_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
