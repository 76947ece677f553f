#include "trace/base/intern.h"

#include "tests/harness.h"

static void test_equal_texts_share_an_id(void **state)
{
    (void)state;
    struct intern table = INTERN_INIT;
    assert_int_equal(intern_find(&table, STR("forward")), INTERN_NONE);
    assert_int_equal(intern(&table, STR("forward")), 0);
    assert_int_equal(intern(&table, STR("")), 1);
    assert_int_equal(intern(&table, str_from(STR("xforward"), 1)), 0);
    assert_int_equal(intern(&table, (struct str){ NULL, 0 }), 1);
    assert_int_equal(intern(&table, (struct str){ "a\0b", 3 }), 2);
    assert_int_equal(intern(&table, (struct str){ "a\0c", 3 }), 3);
    assert_int_equal(intern_find(&table, STR("forward")), 0);
    assert_int_equal(intern_find(&table, STR("forwar")), INTERN_NONE);
    assert_string_equal(intern_text(&table, 0).p, "forward");
    intern_release(&table);
    assert_int_equal(intern_find(&table, STR("forward")), INTERN_NONE);
}

static struct str number(char *room, int i)
{
    return (struct str){ room, (size_t)snprintf(room, 16, "node_%d", i) };
}

static void test_ids_and_texts_survive_growth(void **state)
{
    (void)state;
    enum { N = 20000 };
    struct intern table = INTERN_INIT;
    char room[16];
    for (int i = 0; i < N; i++)
        assert_int_equal(intern(&table, number(room, i)), i);
    struct str first = intern_text(&table, 0);
    for (int i = 0; i < N; i++) {
        assert_int_equal(intern(&table, number(room, i)), i);
        assert_str_eq(intern_text(&table, (uint32_t)i), number(room, i));
    }
    assert_ptr_equal(intern_text(&table, 0).p, first.p);
    assert_int_equal(table.texts.n, N);
    intern_release(&table);
}

static bool intern_many(void *arg)
{
    (void)arg;
    struct intern table = INTERN_INIT;
    char room[16];
    bool done = true;
    for (int i = 0; i < 300; i++) {
        uint32_t id = intern(&table, number(room, i));
        if (id == INTERN_NONE)
            done = false;
        else
            assert_str_eq(intern_text(&table, id), number(room, i));
        if (id != INTERN_NONE)
            assert_int_equal(intern_find(&table, number(room, i)), id);
    }
    intern_release(&table);
    return done;
}

static void test_allocation_failures(void **state)
{
    (void)state;
    check_alloc_failures(intern_many, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_texts_share_an_id),
        cmocka_unit_test(test_ids_and_texts_survive_growth),
        cmocka_unit_test(test_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
