/* Recorded failures: each ends at the known core, or at less, still dynamic. */
#include "minify/minify.h"
#include "minify/oracle/oracle_shape.h"

#include "tests/harness.h"

struct run {
    struct trace *trace;
    struct candidate *whole;
    struct oracle *oracle;
    struct minify_result result;
};

static void load(struct run *run, const char *below, const char *part)
{
    struct err err = ERR_INIT;
    struct selector selector;
    const char *path = shared_path(below);
    if (!path)
        skip();
    run->trace = trace_open(path, NULL, &err);
    assert_no_err(&err);
    assert_true(selector_parse_part(&selector, str_of(part), &err));
    run->whole = candidate_load(run->trace, &selector, NULL, &err);
    assert_no_err(&err);
}

static void minify(struct run *run, enum shape_question question, const char *what,
                   const char *inject)
{
    struct err err = ERR_INIT;
    struct minify_options options = MINIFY_OPTIONS_DEFAULT;
    struct shape_options how = { .question = question,
                                 .what = str_of(what),
                                 .inject = str_of(inject) };
    options.oracle = run->oracle = oracle_shape(&how, run->whole, &err);
    assert_no_err(&err);
    assert_true(minify_run(run->whole, &options, &run->result, &err));
    assert_no_err(&err);
    assert_int_equal(run->result.end, MINIFY_DONE);
    assert_true(run->result.minimal);
    assert_true(run->result.best->n_symbols > 0);
}

static void end(struct run *run)
{
    run->oracle->free(run->oracle);
    minify_result_release(&run->result);
    candidate_free(run->whole);
    trace_close(run->trace);
}

/* A bias of fixed length makes the marked size a number: one call is left. */
static void test_constraint_specialized(void **state)
{
    (void)state;
    struct run run;
    load(&run, "failures/constraint_specialized.log.zst", "0/0:forward");
    minify(&run, SHAPE_SPECIALIZES, "s27", "");
    assert_int_equal(run.result.after.part[SIZE_CALLS], 1);
    assert_int_equal(run.result.best->n_symbols, 1);
    assert_true(run.result.best->symbols[0].marked);
    assert_true(run.result.calls <= 10);
    end(&run);
}

/* The user's own branch: nothing but the guard and its size is left. */
static void test_mod_guard(void **state)
{
    (void)state;
    struct run run;
    load(&run, "failures/mod_guard.log.zst", "0/0:dynamo");
    minify(&run, SHAPE_GUARD, "Ne(Mod(s27, 7), 0)", "");
    assert_int_equal(run.result.after.part[SIZE_CALLS], 0);
    assert_int_equal(run.result.best->n_guards, 1);
    assert_int_equal(run.result.best->n_symbols, 1);
    end(&run);
}

/* One that a call asks for. */
static void test_kernel_guard(void **state)
{
    (void)state;
    struct run run;
    load(&run, "failures/mod_guard.log.zst", "0/0:dynamo");
    minify(&run, SHAPE_GUARD, "Ne(64*s77*(s27 - (Mod(s27, 7)) + 7), 0)", "");
    assert_int_equal(run.result.after.part[SIZE_CALLS], 1);
    end(&run);
}

static void test_backward_mismatch(void **state)
{
    (void)state;
    struct run run;
    load(&run, "failures/backward_guard.log.zst", "0/0:backward");
    minify(&run, SHAPE_EXPECT, "", "aten.native_layer_norm_backward=size");
    assert_int_equal(run.result.after.part[SIZE_CALLS], 1);
    assert_str_is(run.result.first.signature.kind, "mismatch");
    end(&run);
}

/* Half of the guards that the calls of the graph ask for. */
static void test_cost(void **state)
{
    (void)state;
    struct run run;
    load(&run, "traces/hrnet_w18.train.aot_eager.log.zst", "0/0:forward");
    minify(&run, SHAPE_COST, "guards>=20", "");
    assert_true(run.result.after.part[SIZE_CALLS] <= 20);
    end(&run);
}

static void test_other_failures(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct run run;
    struct minify_options options = MINIFY_OPTIONS_DEFAULT;
    load(&run, "failures/constraint_specialized.log.zst", "0/0:forward");
    struct shape_options how = { .question = SHAPE_EXPECT,
                                 .what = STR("nothing says this"),
                                 .inject = STR("aten.native_layer_norm=refuse") };
    options.oracle = run.oracle = oracle_shape(&how, run.whole, &err);
    assert_no_err(&err);
    assert_true(minify_run(run.whole, &options, &run.result, &err));
    assert_int_equal(run.result.end, MINIFY_NOT_REPRODUCED);
    assert_int_equal(run.result.first.verdict, VERDICT_OTHER);
    assert_str_is(run.result.first.text, "RuntimeError: injected");
    end(&run);
}

static void test_questions(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct run run;
    static const struct {
        enum shape_question question;
        const char *what, *inject, *why;
    } bad[] = {
        { SHAPE_EXPECT, "(", "", "--error" },
        { SHAPE_GUARD, "Eq(s1,", "", "--guard" },
        { SHAPE_SPECIALIZES, "s99", "", "no symbol s99" },
        { SHAPE_COST, "guards", "", "--cost" },
        { SHAPE_COST, "sums>=3", "", "--cost" },
        { SHAPE_EXPECT, "", "aten.add=wrong", "neither flip-equality" },
        { SHAPE_EXPECT, "", "flip-equality:0", "of at least 1" },
    };
    load(&run, "failures/constraint_specialized.log.zst", "0/0:forward");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct shape_options how = { .question = bad[i].question,
                                     .what = str_of(bad[i].what),
                                     .inject = str_of(bad[i].inject) };
        assert_null(oracle_shape(&how, run.whole, &err));
        assert_err(&err, ERR_USAGE, bad[i].why);
    }
    candidate_free(run.whole);
    trace_close(run.trace);
}

int main(void)
{
    require_shared();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constraint_specialized),
        cmocka_unit_test(test_mod_guard),
        cmocka_unit_test(test_kernel_guard),
        cmocka_unit_test(test_backward_mismatch),
        cmocka_unit_test(test_cost),
        cmocka_unit_test(test_other_failures),
        cmocka_unit_test(test_questions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
