/* Which operators a failure needs, by answers about the graphs below. */
#include "minify/search/belief.h"

#include <math.h>

#include "tests/harness.h"

#define HEAD                                \
    "class GraphModule(torch.nn.Module):\n" \
    "    def forward(self, x: \"f32[8]\", y: \"f32[8]\"):\n"
#define F32  ": \"f32[8]\" = torch.ops.aten."
#define RELU "        relu" F32 "relu.default(x)\n"
#define SIN  "        sin" F32 "sin.default(relu)\n"
#define EXP  "        exp" F32 "exp.default(sin)\n"
#define COS  "        cos" F32 "cos.default(y)\n"

static const char whole[] = HEAD RELU SIN EXP COS "        return (exp, cos)\n";
static const char only_relu[] = HEAD RELU "        return (relu,)\n";
static const char relu_sin[] = HEAD RELU SIN "        return (sin,)\n";
static const char chain[] = HEAD RELU SIN EXP "        return (exp,)\n";
static const char relu_cos[] = HEAD RELU COS "        return (relu, cos)\n";
static const char relu_exp[] =
    HEAD RELU "        exp" F32 "exp.default(relu)\n        return (exp,)\n";
static const char apart[] =
    HEAD RELU "        exp" F32 "exp.default(y)\n        return (relu, exp)\n";

static struct candidate *read_graph(const char *text)
{
    struct err err = ERR_INIT;
    struct candidate *ret = candidate_read_fx(str_of(text), NULL, &err);
    assert_no_err(&err);
    return ret;
}

static void begin(struct belief *belief)
{
    struct candidate *candidate = read_graph(whole);
    assert_true(belief_init(belief, candidate));
    candidate_free(candidate);
}

static void tell(struct belief *belief, const char *text, bool yes)
{
    struct candidate *candidate = read_graph(text);
    assert_true(belief_tell(belief, candidate, yes));
    candidate_free(candidate);
    assert_true(belief_weigh(belief));
}

static struct operator_flow *flow_of(const struct belief *belief, const char *text)
{
    struct candidate *candidate = read_graph(text);
    struct operator_flow *flow = belief_flow(belief, candidate);
    assert_non_null(flow);
    candidate_free(candidate);
    return flow;
}

static double chance_if(const struct belief *belief, const char *assumed, bool yes,
                        const char *text)
{
    struct flow_answer answer = { assumed ? flow_of(belief, assumed) : NULL, yes };
    struct operator_flow *flow = flow_of(belief, text);
    double ret = belief_chance(belief, &answer, assumed ? 1 : 0, flow, 0.5);
    free(flow);
    free(answer.flow);
    return ret;
}

static double chance(const struct belief *belief, const char *text)
{
    return chance_if(belief, NULL, false, text);
}

static void test_flow(void **state)
{
    (void)state;
    struct belief belief;
    begin(&belief);
    struct operator_flow *flow = flow_of(&belief, chain);
    assert_int_equal(flow->called, 7); /* relu, sin, exp; not cos, which is number 3 */
    assert_int_equal(flow->from[0], 0);
    assert_int_equal(flow->from[1], 1);
    assert_int_equal(flow->from[2], 3);
    assert_int_equal(flow->from[3], 0);
    free(flow);
    belief_release(&belief);
}

/* More operators make a failure more probable, until answers say which are needed. */
static void test_one(void **state)
{
    (void)state;
    struct belief belief;
    begin(&belief);
    assert_true(belief_weigh(&belief));
    double before = chance(&belief, only_relu);
    assert_true(before < chance(&belief, chain));
    assert_true(chance(&belief, whole) > 0.7);
    tell(&belief, relu_cos, true);
    assert_true(chance(&belief, only_relu) > before);
    tell(&belief, only_relu, true);
    assert_true(chance(&belief, only_relu) > 0.7);
    belief_release(&belief);
}

static void test_pairs(void **state)
{
    (void)state;
    struct belief belief;
    begin(&belief);
    tell(&belief, relu_exp, true);
    tell(&belief, only_relu, false);
    double either = chance(&belief, apart);
    tell(&belief, apart, false); /* relu has to reach exp */
    assert_true(chance(&belief, apart) < either);
    assert_true(chance(&belief, relu_exp) > 0.7);
    assert_true(chance(&belief, relu_sin) < 0.3);
    belief_release(&belief);
}

static void test_through_a_third(void **state)
{
    (void)state;
    struct belief belief;
    begin(&belief);
    tell(&belief, chain, true);
    tell(&belief, relu_sin, false);
    tell(&belief, relu_exp, false);
    tell(&belief, only_relu, false);
    tell(&belief, apart, false);
    assert_true(chance(&belief, chain) > 0.7);
    assert_true(chance(&belief, relu_exp) < 0.3);
    belief_release(&belief);
}

static void test_assumed(void **state)
{
    (void)state;
    struct belief belief;
    begin(&belief);
    assert_true(belief_weigh(&belief));
    assert_true(chance_if(&belief, only_relu, true, relu_cos) > 0.7);
    assert_true(chance_if(&belief, relu_cos, false, only_relu) < 0.3);
    belief_release(&belief);
}

/* Answers that no hypothesis explains leave what the pass expects. */
static void test_other(void **state)
{
    (void)state;
    struct belief belief;
    begin(&belief);
    for (int i = 0; i < 20; i++) {
        tell(&belief, chain, false);
        tell(&belief, relu_sin, true);
    }
    assert_true(fabs(chance(&belief, relu_cos) - 0.5) < 0.1);
    belief_release(&belief);
}

static void test_without_operators(void **state)
{
    (void)state;
    struct belief belief;
    struct candidate *empty = read_graph(HEAD "        return (x,)\n");
    assert_true(belief_init(&belief, empty));
    assert_true(belief_weigh(&belief));
    assert_true(fabs(chance(&belief, only_relu) - 0.5) < 1e-9);
    candidate_free(empty);
    belief_release(&belief);
}

static bool attempt(void *arg)
{
    const struct candidate *candidate = arg;
    struct belief belief;
    struct operator_flow *flow = NULL;
    bool good = belief_init(&belief, candidate) && belief_tell(&belief, candidate, true) &&
                belief_weigh(&belief) && (flow = belief_flow(&belief, candidate));
    free(flow);
    belief_release(&belief);
    return good;
}

static void test_alloc_failures(void **state)
{
    (void)state;
    struct candidate *candidate = read_graph(whole);
    check_alloc_failures(attempt, candidate);
    candidate_free(candidate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flow),
        cmocka_unit_test(test_one),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_through_a_third),
        cmocka_unit_test(test_assumed),
        cmocka_unit_test(test_other),
        cmocka_unit_test(test_without_operators),
        cmocka_unit_test(test_alloc_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
