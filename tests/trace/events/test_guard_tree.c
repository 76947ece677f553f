#include "tests/log_make.h"
#include "trace/events/guard_tree.h"

static const char TREE[] =
    "\n"
    "TREE_GUARD_MANAGER:\n"
    "+- RootGuardManager\n"
    "| +- GuardManager: source=L['n'], accessed_by=FrameLocalsGuardAccessor(key='n'), type=int\n"
    "| | +- EQUALS_MATCH: L['n'] == 2      # return x * n  # why/p.py:64 in f (HINT: guard)\n"
    "+- LAMBDA_GUARD: 2 <= L['x'].size()[0]  # (_dynamo/utils.py:4231 in run_node)\n"
    "\n"
    "Guard latency = 89.90 us\n";

static void test_lines(void **state)
{
    (void)state;
    struct str text = STR(TREE);
    struct tree_guard guard;
    assert_true(guard_tree_next(&text, &guard));
    assert_str_is(guard.kind, "RootGuardManager");
    assert_str_is(guard.text, "");
    assert_int_equal(guard.depth, 0);
    assert_true(guard_tree_next(&text, &guard));
    assert_str_is(guard.kind, "GuardManager");
    assert_str_is(guard.source, "L['n']");
    assert_int_equal(guard.depth, 1);
    assert_true(guard_tree_next(&text, &guard));
    assert_str_is(guard.kind, "EQUALS_MATCH");
    assert_str_is(guard.source, "");
    assert_str_is(guard.code, "L['n'] == 2");
    struct tree_place place = guard_tree_place(guard.comment);
    assert_str_is(place.code, "return x * n");
    assert_str_is(place.file, "why/p.py");
    assert_str_is(place.function, "f");
    assert_int_equal(place.line, 64);
    assert_true(guard_tree_next(&text, &guard));
    assert_str_is(guard.kind, "LAMBDA_GUARD");
    place = guard_tree_place(guard.comment); /* PyTorch's own line is no user line */
    assert_int_equal(place.line, 0);
    assert_str_is(place.file, "");
    assert_false(guard_tree_next(&text, &guard));
}

static void test_odd_lines(void **state)
{
    (void)state;
    static const char *const LINES[] = { "", "+-", "+- ", "| | ", ": ", "no tree" };
    for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++) {
        struct str text = str_of(LINES[i]);
        struct tree_guard guard;
        assert_false(guard_tree_next(&text, &guard));
        assert_int_equal(guard_tree_place(str_of(LINES[i])).line, 0);
    }
    assert_int_equal(guard_tree_place(STR("a.py:99999999999 in f")).line, 0);
    struct tree_place place = guard_tree_place(STR("if rank != 1:  # not here  # d/a.py:26 in f"));
    assert_str_is(place.code, "if rank != 1:  # not here");
    assert_str_is(place.file, "d/a.py");
    assert_int_equal(place.line, 26);
    place = guard_tree_place(STR("a(  # b.py:3 in f (why) and c(  # d.py:5 in g"));
    assert_str_is(place.file, "b.py");
    assert_str_is(place.function, "f");
}

static void test_read(void **state)
{
    (void)state;
    struct log_make log = log_start();
    struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct str text;
    log_put(&log, "\"dynamo_cpp_guards_str\": {}", "+- A: first");
    log_put(&log, "\"dynamo_cpp_guards_str\": {}", TREE);
    log.context = LOG_COMPILE(0, 1, 0);
    log_put(&log, "\"dynamo_start\": {}", NULL);
    struct trace *trace = log_open(&log);
    assert_true(guard_tree_read(trace, 0, &arena, &text, &err));
    assert_true(str_contains(text, STR("Guard latency"))); /* the latest one */
    assert_true(guard_tree_read(trace, 1, &arena, &text, &err));
    assert_int_equal(text.n, 0);
    trace_close(trace);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_odd_lines),
        cmocka_unit_test(test_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
