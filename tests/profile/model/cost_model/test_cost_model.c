/* The cost model: its rows and what is unexplained are the time of the compiles. */
#include <math.h>

#include "tests/profile/made.h"

#define assert_near(actual, expected) assert_true(fabs((actual) - (expected)) < 1e-6)

static const struct profile_options ASKED = { .replay = true, .cost_model = true };

static struct log_make deep_log(const char *rows)
{
    struct log_make log = made_log();
    log.context = LOG_COMPILE(0, 0, 1);
    log_put(&log, "\"symtape_dispatches\": {\"dispatches\": 6}", rows);
    log.context = "\"rank\": 0";
    log_put(&log, "\"symtape_deep\": {\"version\": 1, \"overhead_ns\": 77, \"ended\": true}", NULL);
    return log;
}

static const char DISPATCHES[] =
    "{\"mode\": \"FakeTensorMode\", \"op\": \"aten.add.Tensor\", \"cache\": \"hit\", \"count\": 3, "
    "\"ns\": 90, \"self_ns\": 60}\n"
    "{\"mode\": \"FakeTensorMode\", \"op\": \"aten.add.Tensor\", \"cache\": \"miss\", \"count\": 1, "
    "\"ns\": 90, \"self_ns\": 40}\n"
    "{\"mode\": \"FakeTensorMode\", \"op\": \"aten.mul.Tensor\", \"cache\": \"miss\", \"count\": 2, "
    "\"ns\": 50, \"self_ns\": 50, \"depth\": 1}\n"
    "{\"mode\": \"ProxyTorchDispatchMode\", \"op\": \"aten.add.Tensor\", \"count\": 1, \"ns\": 7, "
    "\"self_ns\": 5}";

static const char COSTS[] =
    "{\"cost\": \"tree_map\", \"caller\": \"torch._x\", \"count\": 2, \"ns\": 9, "
    "\"self_ns\": 6}\n"
    "{\"cost\": \"arg_tree_leaves\", \"caller\": \"torch._y\", \"count\": 1, \"self_ns\": 4}\n"
    "{\"cost\": \"device\", \"caller\": \"torch._x\", \"count\": 5, \"self_ns\": 3}";

/* Two handlers of CALL, and an instruction that is named as a cost is. */
static const char INSTRUCTIONS[] =
    "{\"cost\": \"CALL\", \"caller\": \"torch._dynamo.symbolic_convert\", \"count\": 2, "
    "\"ns\": 90, \"self_ns\": 30}\n"
    "{\"cost\": \"device\", \"caller\": \"torch._dynamo.symbolic_convert\", \"count\": 7, "
    "\"self_ns\": 9}\n"
    "{\"cost\": \"CALL\", \"caller\": \"torch._dynamo.symbolic_convert\", \"count\": 1, "
    "\"self_ns\": 12}";

static const char ENV_CALLS[] =
    "{\"call\": \"evaluate_expr\", \"orig_expr\": \"Eq(s77, 1)\", \"ns\": 40}\n"
    "{\"call\": \"evaluate_expr\", \"orig_expr\": true, \"ns\": 2}\n"
    "{\"call\": \"some_method\", \"ns\": 1}";

static const char HUGE[] =
    "{\"mode\": \"FakeTensorMode\", \"op\": \"aten.add.Tensor\", \"cache\": \"hit\", "
    "\"count\": 18446744073709551615, \"ns\": 18446744073709551615, "
    "\"self_ns\": 18446744073709551615}\n"
    "{\"mode\": \"FakeTensor\", \"op\": \"aten.add.Tensor\", \"count\": 18446744073709551615, "
    "\"ns\": 1, \"self_ns\": 18446744073709551615}";

static const struct cost_row *row_named(const struct cost_model *m, const char *name)
{
    for (uint32_t i = 0; i < m->n_rows; i++)
        if (strcmp(m->rows[i].name, name) == 0)
            return &m->rows[i];
    return NULL;
}

static void check_sums(const struct cost_model *m)
{
    int64_t sum = m->unexplained_ns, parts = 0;
    for (uint32_t i = 0; i < m->n_rows; i++)
        sum += m->rows[i].ns;
    for (uint32_t i = 0; i < m->n_parts; i++) {
        parts += m->parts[i].ns;
        assert_int_equal(m->parts[i].ns - m->parts[i].explained_ns, m->parts[i].unexplained_ns);
    }
    assert_int_equal(sum, m->wall_ns);
    assert_int_equal(parts, m->wall_ns);
}

static void test_measured(void **state)
{
    struct log_make log = deep_log(DISPATCHES);
    struct made made = made_profile(&log, &ASKED);
    const struct cost_model *m = &made.profile->cost_model;
    (void)state;
    assert_true(m->fitted);
    assert_int_equal(m->wall_ns, made.profile->compile_ns);
    check_sums(m);
    const struct cost_row *hit = row_named(m, "FakeTensorMode: cache hit");
    assert_non_null(hit);
    assert_true(hit->measured);
    assert_int_equal(hit->count, 3);
    assert_int_equal(hit->ns, 60);
    assert_near(hit->unit.ns, 20);
    assert_int_equal(row_named(m, "FakeTensorMode: decomposition")->ns, 40);
    assert_int_equal(row_named(m, "FakeTensorMode: meta kernel")->ns, 50);
    assert_int_equal(row_named(m, "ProxyTorchDispatchMode dispatch")->ns, 5);
    made_drop(&made);
}

static void check_operator(const struct cost_operator *row, const char *name, const char *kind,
                           uint64_t count, int64_t ns)
{
    assert_true(str_is(row->name, name));
    assert_string_equal(row->kind, kind);
    assert_int_equal(row->count, count);
    assert_int_equal(row->ns, ns);
}

static void test_operators(void **state)
{
    struct log_make log = deep_log(DISPATCHES);
    struct made made = made_profile(&log, &ASKED);
    const struct cost_model *m = &made.profile->cost_model;
    (void)state;
    assert_int_equal(m->n_operators, 4);
    check_operator(&m->operators[0], "aten.add.Tensor", "FakeTensorMode: cache hit", 3, 60);
    check_operator(&m->operators[1], "aten.mul.Tensor", "FakeTensorMode: meta kernel", 2, 50);
    check_operator(&m->operators[2], "aten.add.Tensor", "FakeTensorMode: decomposition", 1, 40);
    check_operator(&m->operators[3], "aten.add.Tensor", "ProxyTorchDispatchMode dispatch", 1, 5);
    made_drop(&made);
}

static void check_inside(const struct cost_model *m, const char *name, uint64_t count, int64_t ns)
{
    uint32_t i = 0;
    while (i < m->n_inside && strcmp(m->inside[i].name, name) != 0)
        i++;
    assert_true(i < m->n_inside);
    assert_int_equal(m->inside[i].count, count);
    assert_int_equal(m->inside[i].ns, ns);
}

static void test_inside(void **state)
{
    struct log_make log = deep_log(DISPATCHES);
    (void)state;
    log.context = LOG_COMPILE(0, 0, 1);
    log_put(&log, "\"symtape_costs\": {}", COSTS);
    log_put(&log, "\"symtape_shape_env\": {\"env\": 0}", ENV_CALLS);
    struct made made = made_profile(&log, &ASKED);
    const struct cost_model *m = &made.profile->cost_model;
    assert_int_equal(m->n_inside, 5);
    assert_int_equal(m->inside[0].ns, 40); /* by time */
    check_inside(m, "pytree", 3, 10);
    check_inside(m, "FakeTensor.device", 5, 3);
    check_inside(m, "ShapeEnv.evaluate_expr, 1 to 20 characters", 1, 40);
    check_inside(m, "ShapeEnv.evaluate_expr of a constant", 1, 2);
    check_inside(m, "other methods of ShapeEnv", 1, 1);
    made_drop(&made);
}

static void check_instruction(const struct cost_instruction *row, const char *name, uint64_t count,
                              int64_t ns)
{
    assert_true(str_is(row->name, name));
    assert_int_equal(row->count, count);
    assert_int_equal(row->ns, ns);
    assert_true(row->share > 0);
}

static void test_instructions(void **state)
{
    struct log_make log = deep_log(DISPATCHES);
    (void)state;
    log.context = LOG_COMPILE(0, 0, 1);
    log_put(&log, "\"symtape_costs\": {}", INSTRUCTIONS);
    struct made made = made_profile(&log, &ASKED);
    const struct cost_model *m = &made.profile->cost_model;
    assert_int_equal(m->n_inside, 0);
    assert_int_equal(made.profile->costs.n_spots, 0); /* they are not work around operators */
    assert_int_equal(m->n_instructions, 2);
    check_instruction(&m->instructions[0], "CALL", 3, 42);
    check_instruction(&m->instructions[1], "device", 7, 9);
    made_drop(&made);
}

static void test_estimated(void **state)
{
    struct log_make log = made_log();
    struct made made = made_profile(&log, &ASKED);
    const struct cost_model *m = &made.profile->cost_model;
    int release = 0;
    (void)state;
    assert_false(m->fitted);
    assert_true(m->release > 0);
    check_sums(m);
    for (uint32_t i = 0; i < m->n_rows; i++)
        assert_false(m->rows[i].measured && m->rows[i].ns);
    assert_true(cost_unit_shipped(m->release, COST_CACHE_HIT, &release).ns > 0);
    assert_int_equal(release, m->release);
    made_drop(&made);
}

static void test_not_asked(void **state)
{
    struct log_make log = made_log();
    struct made made = made_profile(&log, NULL);
    (void)state;
    assert_int_equal(made.profile->cost_model.n_rows, 0);
    made_drop(&made);
}

static void test_huge(void **state)
{
    struct log_make log = deep_log(HUGE);
    struct made made = made_profile(&log, &ASKED);
    (void)state;
    check_sums(&made.profile->cost_model);
    made_drop(&made);
}

static bool build_once(void *user)
{
    struct trace *trace = user;
    struct err err = ERR_INIT;
    struct profile *profile = profile_build(&trace, 1, &ASKED, &err);
    bool ok = profile != NULL;
    profile_free(profile);
    return ok;
}

static void test_memory(void **state)
{
    struct log_make log = deep_log(DISPATCHES);
    struct trace *trace = log_open(&log);
    (void)state;
    check_alloc_failures(build_once, trace);
    trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_measured),  cmocka_unit_test(test_inside),
        cmocka_unit_test(test_operators), cmocka_unit_test(test_instructions),
        cmocka_unit_test(test_estimated), cmocka_unit_test(test_not_asked),
        cmocka_unit_test(test_huge),      cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
