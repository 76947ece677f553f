/* The numeric oracle: verdicts, and allocations that fail. */
#include "minify/oracle/oracle_backends.h"

#include "tests/harness.h"

static const char graph_text[] =
    "class GraphModule(torch.nn.Module):\n"
    "    def forward(self, arg0_1: \"f32[4][1]cpu\"):\n"
    "        tanh: \"f32[4][1]cpu\" = torch.ops.aten.tanh.default(arg0_1);  arg0_1 = None\n"
    "        return (tanh,)\n";

static struct candidate *candidate;

static struct answer ask(const char *inject, struct err *err)
{
    const struct backends_options options = { .tested = STR("cpu"),
                                              .reference = STR("cpu"),
                                              .inject = str_of(inject) };
    struct answer answer = { .verdict = VERDICT_BROKEN };
    struct oracle *oracle = oracle_backends(&options, candidate, err);
    if (!oracle) {
        answer.err = *err;
        return answer;
    }
    oracle->ask(oracle, candidate, &(struct oracle_question){ .timeout = 60 }, &answer);
    oracle->free(oracle);
    return answer;
}

static void verdicts(void **state)
{
    struct err err = ERR_INIT;
    (void)state;
    struct answer answer = ask("aten.tanh=1e-1", &err);
    assert_no_err(&err);
    assert_int_equal(answer.verdict, VERDICT_INTERESTING);
    assert_str_is(answer.signature.op, "aten.tanh.default");
    answer_release(&answer);
    answer = ask("aten.sin=1e-1", &err);
    assert_int_equal(answer.verdict, VERDICT_BORING);
    answer_release(&answer);
    answer = ask("aten.tanh", &err);
    assert_err(&err, ERR_USAGE, "takes OPERATOR=EPS");
}

/* A failed allocation must not look like a property of the candidate, except that of a tensor's
 * memory: such a candidate is too large. */
static bool attempt(void *arg)
{
    struct err err = ERR_INIT;
    (void)arg;
    struct answer answer = ask("aten.tanh=1e-1", &err);
    bool found = answer.verdict == VERDICT_INTERESTING;
    if (answer.verdict == VERDICT_UNRESOLVED)
        assert_true(str_find(answer.text, STR("bytes of memory")) < answer.text.n);
    else if (!found)
        assert_int_equal(answer.verdict, VERDICT_BROKEN);
    if (answer.verdict == VERDICT_BROKEN)
        assert_int_equal(answer.err.kind, ERR_ENV);
    answer_release(&answer);
    return found;
}

static void allocations(void **state)
{
    (void)state;
    check_alloc_failures(attempt, NULL);
}

static int setup(void **state)
{
    struct err err = ERR_INIT;
    (void)state;
    candidate = candidate_read_fx(STR(graph_text), &(struct candidate_options){ 0 }, &err);
    return candidate ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    candidate_free(candidate);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts),
        cmocka_unit_test(allocations),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
