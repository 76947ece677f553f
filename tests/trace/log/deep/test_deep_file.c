#include "tests/trace/log/side_make.h"
#include "trace/log/deep/deep_file.h"

static void read_made(struct deep_file *file, struct buf *side)
{
    struct err err = ERR_INIT;
    assert_true(deep_file_read(file, buf_str(side), &err));
    assert_no_err(&err);
    buf_release(side);
}

static void test_ids(void **state)
{
    (void)state;
    struct deep_file file;
    struct buf side = side_compile(7);
    side_event(&side, DEEP_END, "4", N(1));
    read_made(&file, &side);
    assert_int_equal(file.header.pid, 7);
    assert_int_equal(file.header.lost, 2);
    assert_true(file.ended);
    assert_str_is(deep_string(&file, 1), "aten.add.Tensor");
    assert_str_is(deep_string(&file, 0), "");
    assert_str_is(deep_string(&file, 99), "");
    assert_int_equal(deep_context(&file, 1)->autograd, -1);
    assert_int_equal(deep_context(&file, 1)->frame, 0);
    assert_int_equal(deep_context(&file, 9)->frame, -1);
    assert_str_is(deep_value(&file, 3)->json, "null");
    assert_str_is(deep_frame(&file, 1)->code, "y = x + 1");
    assert_int_equal(file.passed_over, 0);
    deep_file_release(&file);
}

/* A traceback and captured frames of the same place are one stack. */
static void test_equal_stacks(void **state)
{
    (void)state;
    struct deep_file file;
    struct buf side = side_compile(7);
    read_made(&file, &side);
    uint32_t number = deep_stack_number(&file, 1);
    assert_int_equal(number, 0);
    assert_int_equal(deep_stack_number(&file, 2), number);
    assert_int_equal(deep_stack_number(&file, 0), UINT32_MAX);
    assert_int_equal(deep_stack_number(&file, 3), UINT32_MAX);
    assert_str_is(intern_text(&file.stack_texts, number), "[[\"/a/m.py\",3,\"f\",\"y = x + 1\"]]");
    deep_file_release(&file);
}

/* Code object and offset become a line, by the table that was written with the code. */
static void test_code(void **state)
{
    (void)state;
    struct deep_file file;
    struct buf side = side_start(1);
    side_event(&side, DEEP_STRING, "4s", N(1), "/a/b.py");
    side_event(&side, DEEP_STRING, "4s", N(2), "C.run");
    size_t at = side.n;
    side_event(&side, DEEP_CODE, "444444444s", N(1), N(1), N(2), N(16), N(0), N(10), N(6), N(12),
               N(10), "def run():\n    a()\n    b()\n");
    /* The table is a text of 16 bytes: its length is the third number. */
    assert_int_equal(side.n - at, 80);
    side_event(&side, DEEP_FRAME, "444444", N(1), N(0), N(1), N(4), N(0), N(0));
    side_event(&side, DEEP_FRAME, "444444", N(2), N(0), N(1), N(90), N(0), N(0));
    side_event(&side, DEEP_FRAME, "444444", N(3), N(0), N(8), N(90), N(0), N(0));
    read_made(&file, &side);
    assert_int_equal(deep_frame(&file, 1)->line, 10);
    assert_str_is(deep_frame(&file, 1)->code, "def run():");
    assert_int_equal(deep_frame(&file, 2)->line, 12);
    assert_str_is(deep_frame(&file, 2)->code, "b()");
    assert_str_is(deep_frame(&file, 2)->function, "C.run");
    assert_int_equal(deep_frame(&file, 3)->line, 0);
    assert_str_is(deep_frame(&file, 3)->file, "");
    deep_file_release(&file);
}

static void test_restarted(void **state)
{
    (void)state;
    struct deep_file file;
    struct buf side = side_compile(7);
    side_event(&side, DEEP_CONTEXT, "488888", N(2), N(-1), N(0), N(0), N(1), N(9));
    side_event(&side, DEEP_CONTEXT, "488888", N(3), N(-1), N(0), N(1), N(0), N(9));
    read_made(&file, &side);
    assert_true(deep_context(&file, 1)->followed);
    assert_false(deep_context(&file, 2)->followed);
    assert_false(deep_context(&file, 3)->followed);
    deep_file_release(&file);
}

/* Cut at any byte it reads up to the last whole event; what lies is passed over. */
static void test_damage(void **state)
{
    (void)state;
    struct buf side = side_compile(7);
    struct deep_file whole;
    struct err err = ERR_INIT;
    assert_true(deep_file_read(&whole, buf_str(&side), &err));
    uint64_t last = 0;
    for (size_t n = 0; n <= side.n; n++) {
        struct deep_file file;
        struct err why = ERR_INIT;
        bool ok = deep_file_read(&file, str_first(buf_str(&side), n), &why);
        assert_int_equal(ok, n >= sizeof(struct deep_header));
        assert_true(ok || why.kind == ERR_INPUT);
        assert_true(!ok || (file.events >= last && file.events <= whole.events));
        last = ok ? file.events : last;
        deep_file_release(&file);
    }
    assert_int_equal(last, whole.events);
    deep_file_release(&whole);

    struct deep_event event;
    struct deep_file file;
    side_event(&side, (enum deep_event_type)999, "4", N(1)); /* no such type */
    side_event(&side, DEEP_DISPATCH, "4", N(1));             /* too short */
    side_event(&side, DEEP_STRING, "4s", N(50), "an id out of turn");
    side_event(&side, DEEP_STACK, "444", N(3), N(3), N(99)); /* its own caller */
    read_made(&file, &side);
    assert_int_equal(file.passed_over, 3);
    assert_int_equal(deep_stack_number(&file, 3), 0);
    for (deep_file_rewind(&file); deep_file_next(&file, &event);)
        assert_int_not_equal(event.type, DEEP_DISPATCH);
    deep_file_release(&file);
}

static void test_no_side_file(void **state)
{
    (void)state;
    struct deep_file file;
    struct err err = ERR_INIT;
    assert_false(deep_file_is("/nonexistent"));
    assert_false(deep_file_open(&file, "/nonexistent", &err));
    assert_int_equal(err.kind, ERR_ENV);
    deep_file_release(&file);
    err = (struct err){ 0 };
    struct buf side = side_start(1);
    side.p[8] = 9; /* version */
    assert_false(deep_file_read(&file, buf_str(&side), &err));
    assert_int_equal(err.kind, ERR_INPUT);
    assert_non_null(strstr(err.text, "version 9"));
    deep_file_release(&file);
    buf_release(&side);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ids),    cmocka_unit_test(test_equal_stacks),
        cmocka_unit_test(test_code),   cmocka_unit_test(test_restarted),
        cmocka_unit_test(test_damage), cmocka_unit_test(test_no_side_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
