#include "profile/advice/padded_calls.h"
#include "tests/harness.h"

#define CALL(n, a, b)                                                                          \
    "{\"call\": " #n ", \"function\": \"f\", \"args\": [{\"source\": \"L['a']\", "             \
    "\"size\": [" #a ", 4], \"stride\": [4, 1], \"dtype\": \"torch.float32\"}, "               \
    "{\"source\": \"L['b'].x\", \"size\": [" #b ", 4], \"stride\": [4, 1], \"dtype\": "        \
    "\"torch.float32\"}, {\"source\": \"L['m']\", \"size\": [" #a ", 2], \"stride\": [2, 1], " \
    "\"dtype\": \"torch.float32\"}]}\n"

static const char CALLS[] = CALL(0, 3, 5) CALL(1, 6, 6) CALL(2, 9, 2);

static const struct tensor_value *tensor_of(const struct call_log *log, size_t call,
                                            const char *source)
{
    uint32_t id = intern_find(&log->sources, str_of(source));
    for (uint32_t i = 0; i < log->calls.v[call].n_values; i++)
        if (log->calls.v[call].values[i].source == id)
            return log->calls.v[call].values[i].value.tensor;
    fail_msg("no %s", source);
    return NULL;
}

static bool begin(struct held_calls *held, struct call_log *log, const char *condition)
{
    struct call_plan plan = { 0 };
    const struct call_hold hold = { .kind = HOLD_CONDITION,
                                    .frame = -1,
                                    .condition = str_of(condition) };
    bool ok = vec_push(&plan.holds, hold) && held_calls_begin(held, log, &plan);
    call_plan_release(&plan);
    return ok;
}

static void check(const char *condition, const int64_t (*sizes)[3])
{
    struct call_log log = { 0 };
    struct held_calls held = { 0 };
    struct err err = ERR_INIT;
    assert_true(call_log_read(&log, STR(CALLS), &err));
    assert_true(begin(&held, &log, condition));
    for (size_t i = 0; i < log.calls.n; i++) {
        assert_int_equal(tensor_of(&log, i, "L['a']")->sizes[0], sizes[i][0]);
        assert_int_equal(tensor_of(&log, i, "L['b'].x")->sizes[0], sizes[i][1]);
        assert_int_equal(tensor_of(&log, i, "L['a']")->strides[0], 4);
        assert_int_equal(tensor_of(&log, i, "L['m']")->sizes[0], sizes[i][2]);
    }
    held_calls_end(&held, &log);
    assert_int_equal(tensor_of(&log, 0, "L['a']")->sizes[0], 3);
    assert_int_equal(tensor_of(&log, 2, "L['b'].x")->sizes[0], 2);
    call_log_release(&log);
}

/* L['m'] follows the size of `a`, unless it may go with `b` as well. */
static void test_conditions(void **state)
{
    (void)state;
    check("a.size()[0] == b.x.size()[0]",
          (const int64_t[][3]){ { 5, 5, 5 }, { 6, 6, 6 }, { 9, 9, 9 } });
    check("a.size()[0] != b.x.size()[0]",
          (const int64_t[][3]){ { 3, 5, 3 }, { 7, 6, 6 }, { 9, 2, 9 } });
    check("b.x.size()[0] >= 2*a.size()[0]",
          (const int64_t[][3]){ { 3, 6, 3 }, { 6, 12, 6 }, { 9, 18, 9 } });
    check("(a.size()[0] % 4) == 0",
          (const int64_t[][3]){ { 4, 5, 4 }, { 8, 8, 8 }, { 12, 2, 12 } });
    /* What cannot be read, or never holds, changes nothing. */
    check("a.size()[0] ==", (const int64_t[][3]){ { 3, 5, 3 }, { 6, 6, 6 }, { 9, 2, 9 } });
    check("a.size()[0] < 0", (const int64_t[][3]){ { 3, 5, 3 }, { 6, 6, 6 }, { 9, 2, 9 } });
    check("c.size()[0] > 7", (const int64_t[][3]){ { 3, 5, 3 }, { 6, 6, 6 }, { 9, 2, 9 } });
    assert_true(padded_condition_is_read(STR("a.size()[0] > 2")));
    assert_false(padded_condition_is_read(STR("a.size()[0] + b.x.size()[0] + ...")));
    assert_false(padded_condition_is_read(STR("n > 2")));
}

static bool attempt(void *user)
{
    struct held_calls held = { 0 };
    bool ok = begin(&held, user, "a.size()[0] == b.x.size()[0]");
    if (ok)
        held_calls_end(&held, user);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    struct call_log log = { 0 };
    struct err err = ERR_INIT;
    assert_true(call_log_read(&log, STR(CALLS), &err));
    check_alloc_failures(attempt, &log);
    assert_int_equal(tensor_of(&log, 0, "L['a']")->sizes[0], 3);
    call_log_release(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
