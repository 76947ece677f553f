/* Inputs of AOTAutograd's graphs and the inputs of Dynamo's graph that they were made of. */
#include "replay/attempt/aot_inputs.h"

#include "replay/ops/layers.h"
#include "replay/program/traced.h"
#include "replay/program/walk.h"
#include "tests/harness.h"

/* L_y_ is the same tensor as L_x_, so that AOTAutograd leaves it out. */
static const char dynamo_text[] =
    "class GraphModule(torch.nn.Module):\n"
    "    def forward(self, L_x_: \"f32[s77][1]cpu\", L_y_: \"f32[s77][1]cpu\", "
    "L_n_: \"Sym(s27)\", L_w_: \"f32[s77, 4][4, 1]cpu\"):\n"
    "        sin: \"f32[s77][1]cpu\" = L_x_.sin()\n"
    "        mul: \"f32[s77, 4][4, 1]cpu\" = L_w_ * L_n_\n"
    "        return (sin, mul)\n";
static const char joint_text[] =
    "class joint_helper(torch.nn.Module):\n"
    "    def forward(\n"
    "        self,\n"
    "        primals_1: \"f32[s77][1]cpu\",  # PlainAOTInput(idx=0)\n"
    "        primals_3: \"Sym(16)\",  # PlainAOTInput(idx=2)\n"
    "        primals_4: \"f32[s77, 4][4, 1]cpu\",  # PlainAOTInput(idx=3)\n"
    "        tangents_1: \"f32[s77, 4][4, 1]cpu\",  "
    "# TangentAOTInput(output=PlainAOTOutput(idx=1))\n"
    "    ):\n"
    "        mul: \"f32[s77, 4][4, 1]cpu\" = torch.ops.aten.mul.Tensor(tangents_1, 16)\n"
    "        return (mul,)\n";

static struct graph *parse(const char *text)
{
    struct err err = ERR_INIT;
    struct graph *graph = graph_parse(str_of(text), &err);
    assert_no_err(&err);
    return graph;
}

static void test_index(void **state)
{
    (void)state;
    const struct str plain = STR("PlainAOTInput(idx=");
    uint64_t index = 0;
    assert_true(aot_index(STR("PlainAOTInput(idx=3)"), plain, &index));
    assert_int_equal(index, 3);
    assert_false(aot_index(STR("PlainAOTInput(idx=)"), plain, &index));
    assert_false(aot_index(STR("PlainAOTInput(idx=x)"), plain, &index));
    assert_false(aot_index(STR("PlainAOTInput(id"), plain, &index));
    assert_false(aot_index(STR("SubclassGetAttrAOTInput(base=PlainAOTInput(idx=3), attr='a')"),
                           plain, &index));
    assert_false(aot_index(STR(""), plain, &index));
}

static bool attempt_set(void *user)
{
    struct graph *const *graphs = user;
    struct aot_inputs inputs = { .dynamo = NULL };
    bool ok = aot_inputs_set(&inputs, graphs[0], graphs[1]);
    aot_inputs_release(&inputs);
    return ok;
}

static void test_duplicates(void **state)
{
    (void)state;
    struct graph *graphs[] = { parse(dynamo_text), parse(joint_text) };
    struct aot_inputs inputs = { .dynamo = NULL };
    static const node_id expected[] = { 0, 2, 3, 5 };
    assert_true(aot_inputs_set(&inputs, graphs[0], graphs[1]));
    for (node_id i = 0; i < 4; i++) {
        assert_int_equal(aot_inputs_find(&inputs, i), expected[i]);
        assert_int_equal(aot_inputs_origins(&inputs)[i], expected[i]);
    }
    assert_int_equal(aot_inputs_find(&inputs, 4), NODE_NONE);
    assert_int_equal(aot_inputs_find(&inputs, 1000), NODE_NONE);
    assert_true(aot_inputs_set(&inputs, NULL, graphs[1]));
    assert_null(aot_inputs_origins(&inputs));
    aot_inputs_release(&inputs);
    check_alloc_failures(attempt_set, graphs);
    graph_free(graphs[0]);
    graph_free(graphs[1]);
}

static bool recorded_input(void *user, const struct program *program, const struct step *step,
                           struct value *ret, struct err *err)
{
    (void)user;
    (void)err;
    *ret = expected_value(program->ops, step->expected);
    return true;
}

/* A symbol that AOTAutograd specialized is found behind an input that it left out: then the layouts
 * of Dynamo's results are evaluated early. */
static void test_lost_symbol(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct graph *dynamo = parse(dynamo_text), *joint = parse(joint_text);
    struct shape_env *env = shape_env_new(NULL, &err);
    struct ops *ops = ops_new(env, &err);
    struct program *program = program_new(ops, dynamo, 0, NULL, NULL, &err);
    assert_no_err(&err);
    struct walker walker = { .ops = ops, .env = env, .input = recorded_input };
    assert_true(walk_program(&walker, program));
    struct aot_inputs inputs = { .dynamo = NULL };
    struct traced traced = { .decomposes = false };
    bool early = true;
    assert_true(aot_inputs_set(&inputs, dynamo, joint));
    assert_true(traced_evaluate_metadata(&traced, ops, program, joint, NULL));
    assert_true(traced_was_early(&traced, ops, program->steps[4].expected, &early));
    assert_false(early);
    assert_true(
        traced_evaluate_metadata(&traced, ops, program, joint, aot_inputs_origins(&inputs)));
    assert_true(traced_was_early(&traced, ops, program->steps[4].expected, &early));
    assert_true(early);
    assert_true(traced_was_early(&traced, ops, program->steps[2].expected, &early));
    assert_false(early);
    traced_release(&traced);
    aot_inputs_release(&inputs);
    walker_release(&walker);
    program_free(program);
    ops_free(ops);
    shape_env_free(env);
    graph_free(dynamo);
    graph_free(joint);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_index),
        cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_lost_symbol),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
