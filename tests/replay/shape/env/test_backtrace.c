/* Native stacks: equal stacks are one number, callers are in them by name when printed. */
#include "replay/shape/env/backtrace.h"
#include "replay/shape/env/env.h"
#include "tests/harness.h"

#define KEPT __attribute__((noinline))

KEPT static uint32_t inner(struct backtraces *table, int depth)
{
    uint32_t id = depth ? inner(table, depth - 1) : backtrace_capture(table);
    __asm__ volatile("" ::: "memory"); /* no tail call */
    return id;
}

static void equal_stacks_are_one(void **state)
{
    (void)state;
    struct backtraces table = { 0 };
    uint32_t seen[2], other = 0;
    volatile int twice = 2; /* one place that calls, not two of an unrolled loop */
    for (int i = 0; i < twice; i++)
        seen[i] = inner(&table, 3);
    other = inner(&table, 5);
    assert_int_not_equal(seen[0], BACKTRACE_NONE);
    assert_int_equal(seen[0], seen[1]);
    assert_int_not_equal(seen[0], other);
    assert_true(backtrace_depth(&table, seen[0]) >= 1);
    size_t frames = table.frames.n;
    for (int i = 0; i < 100; i++)
        inner(&table, 5);
    assert_true(table.frames.n <= frames + BACKTRACE_MAX);
    backtraces_release(&table);
}

static void printed_when_asked(void **state)
{
    (void)state;
    struct backtraces table = { 0 };
    struct buf text = BUF_INIT;
    uint32_t id = inner(&table, 0);
    backtrace_print(&table, id, &text);
    buf_putc(&text, '\0');
    assert_false(text.failed);
    assert_non_null(strstr(text.p, "test_replay_shape_env_backtrace"));
    buf_clear(&text);
    backtrace_print(&table, BACKTRACE_NONE, &text);
    assert_int_equal(text.n, 0);
    buf_release(&text);
    backtraces_release(&table);
}

static void guards_know_where_they_came_from(void **state)
{
    (void)state;
    struct err err = { 0 };
    struct shape_env *env = shape_env_new(NULL, &err);
    assert_non_null(env);
    struct sym_pool *pool = env_pool(env);
    sym_id s = env_create_symbol(env, &(struct symbol_request){ .value = sym_integer(pool, 8),
                                                                .source = STR("L['x'].size()[0]"),
                                                                .positive = true });
    bool yes;
    env_set_origin(env, (struct env_origin){ .graph = 1, .node = 7, .rule = "aten.view" });
    assert_true(env_guard_bool(env, sym_gt(pool, s, sym_integer(pool, 4)), &yes) && yes);
    const struct env_guard *guard = env_guard_at(env, 0);
    assert_int_equal(guard->origin.node, 7);
    struct buf text = BUF_INIT;
    backtrace_print(env_backtraces(env), guard->backtrace, &text);
    assert_true(guard->backtrace == BACKTRACE_NONE || text.n > 0);
    buf_release(&text);
    shape_env_free(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_stacks_are_one),
        cmocka_unit_test(printed_when_asked),
        cmocka_unit_test(guards_know_where_they_came_from),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
