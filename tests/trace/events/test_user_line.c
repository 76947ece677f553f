#include "trace/events/user_line.h"

#include "tests/log_make.h"
#include "trace/events/symbols.h"

static void test_own_files(void **state)
{
    (void)state;
    assert_true(
        torch_is_own_file(STR("/env/lib/python3.12/site-packages/torch/nn/modules/conv.py")));
    assert_true(torch_is_own_file(STR("/env/torch/_dynamo/eval_frame.py")));
    assert_true(torch_is_own_file(STR("/home/torch/project/torch/functional.py")));
    assert_true(
        torch_is_own_file(STR("/usr/lib/python3/dist-packages/torch/of_a_later_version.py")));
    assert_false(torch_is_own_file(STR("/home/u/torch/project/model.py")));
    assert_false(torch_is_own_file(STR("/home/u/torch/train.py")));
    assert_false(torch_is_own_file(STR("/home/u/torch/nnx/train.py")));
    assert_false(torch_is_own_file(STR("/env/timm/models/hrnet.py")));
    assert_false(torch_is_own_file(STR("/env/site-packages/torchvision/nn/x.py")));
    assert_false(torch_is_own_file(STR("torch/nn/x.py"))); /* no path of an installation */
    assert_false(torch_is_own_file(STR("/env/torch/")));
    assert_false(torch_is_own_file(STR("")));
}

static void test_own_names(void **state)
{
    (void)state;
    assert_true(torch_is_own(STR("nn")));
    assert_true(torch_is_own(STR("__init__.py")));
    assert_true(torch_is_own(STR("storage.py")));
    assert_false(torch_is_own(STR("storage")));
    assert_false(torch_is_own(STR("nn.py")));
    assert_false(torch_is_own(STR("")));
}

#define MODEL "{\"line\": 12, \"name\": \"forward\", \"filename\": 1, \"loc\": \"x = self.bn(x)\"}"
#define TORCH "{\"line\": 194, \"name\": \"forward\", \"filename\": 2, \"loc\": \"return F.bn(\"}"
#define MAIN  "{\"line\": 3, \"name\": \"main\", \"filename\": 1, \"loc\": \"m(x)\"}"

static void put_symbol(struct log_make *log, const char *stack)
{
    struct buf meta = BUF_INIT;
    buf_printf(&meta, "\"create_symbol\": {\"symbol\": \"s0\", \"user_stack\": [%s]}", stack);
    buf_putc(&meta, '\0');
    log_put(log, meta.p, NULL);
    buf_release(&meta);
}

/* Line of the user's frame of the i-th symbol, 0 when there is none. */
static uint32_t line_of(struct trace *trace, uint32_t i)
{
    struct err err = ERR_INIT;
    const struct symbol_table *symbols = trace_symbols(trace, &err);
    assert_non_null(symbols);
    assert_true(i < symbols->n_symbols);
    stack_id line = user_line(trace, 0, symbols->symbols[i].user_stack);
    return line ? stack_frame(trace, 0, line).line : 0;
}

static void test_the_innermost_frame_that_is_not_torchs(void **state)
{
    (void)state;
    struct log_make log = log_start();
    log_put(&log, "\"str\": [\"/u/zoo/model.py\", 1]", NULL);
    log_put(&log, "\"str\": [\"/env/torch/nn/modules/batchnorm.py\", 2]", NULL);
    put_symbol(&log, MAIN ", " MODEL ", " TORCH);
    put_symbol(&log, MAIN ", " TORCH ", " TORCH);
    put_symbol(&log, MAIN ", " TORCH ", " MODEL);
    put_symbol(&log, TORCH);
    put_symbol(&log, "");
    struct trace *trace = log_open(&log);
    assert_int_equal(line_of(trace, 0), 12);
    assert_int_equal(line_of(trace, 1), 3);
    assert_int_equal(line_of(trace, 2), 12);
    assert_int_equal(line_of(trace, 3), 194); /* nobody else's */
    assert_int_equal(line_of(trace, 4), 0);
    trace_close(trace);
}

static void check_resumes(const char *function, bool expected, const char *name)
{
    struct str found;
    assert_int_equal(function_resumes(str_of(function), &found), expected);
    assert_true(str_is(found, name));
}

static void test_resumed_functions(void **state)
{
    (void)state;
    check_resumes("torch_dynamo_resume_in_f_at_5", true, "f");
    check_resumes("torch_dynamo_resume_in_look_at_me_at_5", true, "look_at_me");
    check_resumes("torch_dynamo_resume_in_<lambda>_at_12", true, "<lambda>");
    check_resumes("torch_dynamo_resume_in_", true, "");
    check_resumes("torch_dynamo_resume_in_f", true, "f");
    check_resumes("<resume in f>", true, "f");
    check_resumes("<resume in ", true, "");
    check_resumes("f", false, "f");
    check_resumes("", false, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_files),
        cmocka_unit_test(test_own_names),
        cmocka_unit_test(test_the_innermost_frame_that_is_not_torchs),
        cmocka_unit_test(test_resumed_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
