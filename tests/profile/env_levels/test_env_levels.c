#include <string.h>

#include "profile/env_levels/env_levels.h"
#include "tests/harness.h"
#include "tests/trace/tape/log_make.h"

#define FRAME(name, file, code) \
    "{\"line\": 5, \"name\": \"" name "\", \"filename\": " #file ", \"loc\": \"" code "\"}"
#define USER    "[" FRAME("f", 0, "x + y") "]"
#define TRACE   FRAME("f", 0, "f(x)") ", " FRAME("run_node", 2, "run()")
#define BACKEND TRACE ", " FRAME("call_user_compiler", 2, "compile()")
#define LAZY    FRAME("f", 0, "f(x)") ", " FRAME("bw_compiler", 3, "compile()")
#define ASKS    FRAME("evaluate_expr", 1, "return self._inner()")

#define SYMBOL(name)                                                                          \
    "\"create_symbol\": {\"symbol\": \"" name "\", \"val\": \"4\", \"vr\": \"[2, int_oo]\", " \
    "\"source\": \"L['x'].size()[0]\", \"user_stack\": " USER ", \"stack\": [" TRACE          \
    "]}, " COMPILE
#define GUARD(expr, stage, kind)                                                                  \
    "\"guard_added_fast\": {\"expr\": \"" expr "\", \"user_stack\": " USER ", \"stack\": [" stage \
    ", " ASKS ", " FRAME("inner", 1, "self._log_guard(\\\"" kind "\\\", g)") "]}, " COMPILE
/* That follows from a guard at `stage`. */
#define SPECIAL(name, value, stage)                                                        \
    "\"symbolic_shape_specialization\": {\"symbol\": \"" name "\", \"sources\": [\"y\"], " \
    "\"value\": \"" value "\", \"reason\": \"solve\", \"stack\": [" stage ", " ASKS        \
    ", " FRAME("inner", 1, "self._maybe_guard_rel(g)") "], \"user_stack\": " USER "}, " COMPILE

/* An attempt with a condition of each effect, before and after the freeze. */
static struct buf whole_log(void)
{
    struct buf log = BUF_INIT;
    log_line(&log, "\"str\": [\"/home/u/model.py\", 0]");
    log_line(&log, "\"str\": [\"/x/torch/fx/experimental/symbolic_shapes.py\", 1]");
    log_line(&log, "\"str\": [\"/x/torch/_dynamo/output_graph.py\", 2]");
    log_line(&log, "\"str\": [\"/x/torch/_inductor/compile_fx.py\", 3]");
    log_line(&log, SYMBOL("s0"));
    log_line(&log, SYMBOL("s1"));
    log_line(&log, SYMBOL("s2"));
    log_line(&log, GUARD("Eq(s0, 4)", TRACE, "eval"));
    log_line(&log, SPECIAL("s0", "4", TRACE));
    log_line(&log, GUARD("Eq(s1*s2, 16)", TRACE, "eval"));
    log_line(&log, GUARD("s1 < 9", TRACE, "eval [guard suppressed]"));
    log_line(&log, GUARD("s1 <= 7", BACKEND, "runtime_assert"));
    log_line(&log, GUARD("s2 < 8", BACKEND, "eval"));
    log_payload(&log, "\"dynamo_cpp_guards_str\": {}, " COMPILE, STR("\nTREE_GUARD_MANAGER:"));
    log_line(&log, GUARD("Eq(s1, 4)", LAZY, "eval"));
    log_line(&log, SPECIAL("s1", "4", LAZY));
    log_line(&log, GUARD("s2 < 6", LAZY, "eval"));
    /* This follows from no condition. */
    log_line(&log, SPECIAL("s2", "4", TRACE));
    return log;
}

static struct env_levels *levels_of(struct trace *trace)
{
    struct err err = ERR_INIT;
    struct env_levels *ret = env_levels_make(trace, &SELECTOR_ALL, &err);
    assert_non_null(ret);
    return ret;
}

static void check_level(const struct env_level *level, enum env_stage stage, bool frozen,
                        uint32_t n_open, uint64_t replaced)
{
    assert_int_equal(level->attempt, 0);
    assert_int_equal(level->stage, stage);
    assert_int_equal(level->frozen, frozen);
    assert_int_equal(level->n_symbols, 3);
    assert_int_equal(level->n_open, n_open);
    assert_int_equal(level->replaced, replaced);
    uint32_t open = 0;
    for (uint32_t i = 0; i < level->n_symbols; i++)
        open += env_level_may_replace(level, &level->symbols[i]);
    assert_int_equal(open, n_open);
}

static void test_levels(void **state)
{
    (void)state;
    struct buf log = whole_log();
    struct trace *trace = open_text(buf_str(&log));
    struct env_levels *levels = levels_of(trace);
    assert_int_equal(levels->n_levels, 4);
    const struct env_level *l = levels->levels;
    check_level(&l[0], ENV_STAGE_TRACE, false, 3, 1);
    assert_int_equal(l[0].guarded, 1);
    assert_int_equal(l[0].equalities, 1);
    assert_int_equal(l[0].suppressed, 1);
    check_level(&l[1], ENV_STAGE_BACKEND, false, 2, 0);
    assert_int_equal(l[1].guarded, 1);
    assert_int_equal(l[1].equalities, 0);
    assert_int_equal(l[1].asserted, 1);
    check_level(&l[2], ENV_STAGE_TRACE, true, 2, 1);
    check_level(&l[3], ENV_STAGE_BACKWARD, true, 1, 1);
    assert_int_equal(l[3].guarded, 0);
    assert_int_equal(l[3].ignored, 1);
    env_levels_free(levels);
    env_levels_free(NULL);
    trace_close(trace);
    buf_release(&log);
}

static void test_conditions(void **state)
{
    (void)state;
    static const struct {
        const char *expr, *symbol;
        enum env_stage stage;
        enum env_effect effect;
        bool frozen;
    } rows[] = {
        { "Eq(s0, 4)", "s0", ENV_STAGE_TRACE, ENV_EFFECT_REPLACED, false },
        { "Eq(s1*s2, 16)", NULL, ENV_STAGE_TRACE, ENV_EFFECT_GUARDED, false },
        { "s1 < 9", NULL, ENV_STAGE_TRACE, ENV_EFFECT_SUPPRESSED, false },
        { "s1 <= 7", NULL, ENV_STAGE_BACKEND, ENV_EFFECT_ASSERTED, false },
        { "s2 < 8", NULL, ENV_STAGE_BACKEND, ENV_EFFECT_GUARDED, false },
        { "Eq(s1, 4)", "s1", ENV_STAGE_BACKWARD, ENV_EFFECT_REPLACED, true },
        { "s2 < 6", NULL, ENV_STAGE_BACKWARD, ENV_EFFECT_IGNORED, true },
        { "", "s2", ENV_STAGE_TRACE, ENV_EFFECT_REPLACED, true },
    };
    enum { N = sizeof rows / sizeof *rows };
    struct buf log = whole_log();
    struct trace *trace = open_text(buf_str(&log));
    struct env_levels *levels = levels_of(trace);
    assert_int_equal(levels->n_conditions, N);
    for (uint32_t i = 0; i < N; i++) {
        const struct env_condition *c = &levels->conditions[i];
        assert_str_is(c->expr, rows[i].expr);
        assert_int_equal(c->stage, rows[i].stage);
        assert_int_equal(c->effect, rows[i].effect);
        assert_int_equal(c->frozen, rows[i].frozen);
        assert_int_equal(c->is_guard, rows[i].expr[0] != '\0');
        assert_int_equal(c->n_replaced, rows[i].symbol != NULL);
        if (!c->n_replaced)
            continue;
        assert_str_is(c->replaced[0].symbol, rows[i].symbol);
        assert_str_is(c->replaced[0].value, "4");
        assert_true(c->replaced[0].recorded);
    }
    env_levels_free(levels);
    trace_close(trace);
    buf_release(&log);
}

/* What belongs to no compile is one attempt; without stacks it is Dynamo's. */
static void test_no_compile(void **state)
{
    (void)state;
    struct trace *trace =
        open_text(STR(PREFIX "{\"guard_added_fast\": {\"expr\": \"Eq(s0, 2)\"}}\n" PREFIX
                             "{\"symbolic_shape_specialization\": {\"symbol\": \"s0\"}}\n" PREFIX
                             "{\"symbolic_shape_specialization\": []}\n"));
    struct env_levels *levels = levels_of(trace);
    assert_int_equal(levels->n_levels, 1);
    assert_int_equal(levels->levels[0].attempt, TRACE_NONE);
    assert_int_equal(levels->levels[0].stage, ENV_STAGE_TRACE);
    assert_int_equal(levels->levels[0].n_symbols, 0);
    assert_int_equal(levels->conditions[0].effect, ENV_EFFECT_REPLACED);
    assert_int_equal(levels->conditions[0].n_replaced, 2);
    env_levels_free(levels);
    trace_close(trace);
    trace = open_text(STR(PREFIX "{\"a\": 1}\n"));
    levels = levels_of(trace);
    assert_int_equal(levels->n_levels + levels->n_conditions, 0);
    env_levels_free(levels);
    trace_close(trace);
}

static bool attempt(void *arg)
{
    struct err err = ERR_INIT;
    struct trace *trace = trace_open(arg, NULL, &err);
    struct env_levels *levels = trace ? env_levels_make(trace, &SELECTOR_ALL, &err) : NULL;
    bool ok = levels != NULL;
    assert_true(ok || err_is_set(&err));
    env_levels_free(levels);
    trace_close(trace);
    return ok;
}

static void test_failures(void **state)
{
    (void)state;
    struct buf log = whole_log();
    const char *path = temp_path("levels.log");
    put_file(path, buf_str(&log));
    check_alloc_failures(attempt, (void *)(uintptr_t)path);
    buf_release(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_no_compile),
        cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
