#include "trace/base/arena.h"

#include "tests/harness.h"

static bool is_zero(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i])
            return false;
    return true;
}

/* Objects of many sizes and alignments: aligned, zeroed, none inside another. */
static void test_objects_are_apart_aligned_and_zero(void **state)
{
    (void)state;
    enum { N = 3000 };
    static char *objects[N];
    static size_t sizes[N];
    struct arena arena = ARENA_INIT;
    size_t total = 0;
    for (size_t i = 0; i < N; i++) {
        size_t align = (size_t)1 << i % 5;
        sizes[i] = (i * i) % 613 + (i % 500 == 0) * 300000;
        objects[i] = arena_alloc(&arena, sizes[i], align);
        assert_non_null(objects[i]);
        assert_int_equal((uintptr_t)objects[i] % align, 0);
        assert_true(is_zero(objects[i], sizes[i]));
        memset(objects[i], (int)(i % 251 + 1), sizes[i]);
        total += sizes[i];
    }
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal((unsigned char)objects[i][k], i % 251 + 1);
    assert_int_equal(arena.bytes, total);
    arena_release(&arena);
    assert_int_equal(arena.bytes, 0);
}

/* Filled as before, the same memory is handed out again, zeroed. */
static void test_reset_keeps_the_memory(void **state)
{
    (void)state;
    struct arena arena = ARENA_INIT;
    char *first = NULL;
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 1000; i++) {
            char *p = arena_alloc(&arena, 100, 8);
            assert_non_null(p);
            assert_true(is_zero(p, 100));
            memset(p, 1, 100);
            if (i == 0 && round == 2)
                first = p;
#if !defined(__SANITIZE_ADDRESS__)
            if (i == 0 && round == 3)
                assert_ptr_equal(p, first);
#endif
        }
        arena_reset(&arena);
        assert_int_equal(arena.bytes, 0);
    }
    (void)first;
    arena_release(&arena);
    arena_reset(&arena);
}

static void test_typed_and_arrays(void **state)
{
    (void)state;
    struct arena arena = ARENA_INIT;
    arena_alloc(&arena, 1, 1);
    uint64_t *one = arena_new(&arena, uint64_t);
    uint64_t *many = arena_array(&arena, uint64_t, 100);
    assert_int_equal((uintptr_t)one % alignof(uint64_t), 0);
    many[99] = *one + 1;
    assert_int_equal(many[99], 1);
    arena_release(&arena);
}

static void test_sizes_that_cannot_be_are_refused(void **state)
{
    (void)state;
    struct arena arena = ARENA_INIT;
    assert_null(arena_array(&arena, uint64_t, SIZE_MAX / 4));
    assert_null(arena_alloc(&arena, SIZE_MAX, 1));
    assert_null(arena_alloc(&arena, SIZE_MAX - 8, 1));
    assert_null(arena_copy(&arena, (struct str){ "", SIZE_MAX }).p);
    assert_non_null(arena_alloc(&arena, 8, 8));
    arena_release(&arena);
}

static void test_copies_are_terminated(void **state)
{
    (void)state;
    struct arena arena = ARENA_INIT;
    struct str copy = arena_copy(&arena, str_first(STR("s77, 64"), 3));
    assert_string_equal(copy.p, "s77");
    struct str empty = arena_copy(&arena, (struct str){ NULL, 0 });
    assert_non_null(empty.p);
    assert_string_equal(empty.p, "");
    arena_release(&arena);
}

static bool fill(void *arg)
{
    (void)arg;
    struct arena arena = ARENA_INIT;
    bool done = true;
    for (size_t i = 0; i < 200; i++) {
        char *p = arena_alloc(&arena, 1000, 8);
        if (p)
            p[999] = 1;
        done = p && done;
    }
    arena_release(&arena);
    return done;
}

static void test_stays_usable_when_memory_runs_out(void **state)
{
    (void)state;
    check_alloc_failures(fill, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_objects_are_apart_aligned_and_zero),
        cmocka_unit_test(test_reset_keeps_the_memory),
        cmocka_unit_test(test_typed_and_arrays),
        cmocka_unit_test(test_sizes_that_cannot_be_are_refused),
        cmocka_unit_test(test_copies_are_terminated),
        cmocka_unit_test(test_stays_usable_when_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
