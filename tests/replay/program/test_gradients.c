/* Which values of a graph require a gradient. */
#include "replay/program/gradients.h"

#include "replay/ops/layers.h"
#include "replay/program/walk.h"
#include "tests/harness.h"

static const char GRAPH[] =
    "class GraphModule(torch.nn.Module):\n"
    "    def forward(self, x: \"f32[4, 4][4, 1]cpu\", w: \"f32[4, 4][4, 1]cpu\"):\n"
    "        sin: \"f32[4, 4][4, 1]cpu\" = torch.ops.aten.sin.default(x)\n"
    "        mm: \"f32[4, 4][4, 1]cpu\" = torch.ops.aten.mm.default(x, w)\n"
    "        gt: \"b8[4, 4][4, 1]cpu\" = torch.ops.aten.gt.Scalar(mm, 0)\n"
    "        detach: \"f32[4, 4][4, 1]cpu\" = torch.ops.aten.detach.default(mm)\n"
    "        cos: \"f32[4, 4][4, 1]cpu\" = torch.ops.aten.cos.default(detach)\n"
    "        zeros_like: \"f32[4, 4][4, 1]cpu\" = torch.ops.aten.zeros_like.default(mm)\n"
    "        norm = torch.ops.aten.native_layer_norm.default(mm, [4], None, None, 1e-05)\n"
    "        getitem: \"f32[4, 4][4, 1]cpu\" = norm[0]\n"
    "        getitem_1: \"f32[4, 1][1, 1]cpu\" = norm[1]\n"
    "        add_: \"f32[4, 4][4, 1]cpu\" = torch.ops.aten.add_.Tensor(sin, mm)\n"
    "        tan: \"f32[4, 4][4, 1]cpu\" = torch.ops.aten.tan.default(sin)\n"
    "        return (tan, getitem_1)\n";

/* w requires a gradient, which no text of a graph says. */
static bool input(void *user, const struct program *program, const struct step *step,
                  struct value *ret, struct err *err)
{
    (void)user;
    (void)err;
    *ret = expected_value(program->ops, step->expected);
    struct tensor_meta meta = *ret->u.tensor.meta;
    meta.requires_grad = str_is(program->graph->nodes[step->node].name, "w");
    ret->u.tensor.meta = ops_intern(program->ops, &meta);
    return ret->u.tensor.meta;
}

static const struct step *step_named(const struct program *p, const char *name)
{
    for (uint32_t i = 0; i < p->n_steps; i++)
        if (str_is(p->graph->nodes[p->steps[i].node].name, name))
            return &p->steps[i];
    fail_msg("no node %s", name);
    return NULL;
}

static void test_notes(void **state)
{
    static const struct {
        const char *node;
        bool gradient;
    } rows[] = {
        { "sin", true /* add_ has written it */ },
        { "mm", true },
        { "gt", false },
        { "detach", false },
        { "cos", false },
        { "zeros_like", false },
        { "norm", true },
        { "getitem", true },
        { "getitem_1", false },
        { "tan", true },
    };
    struct err err = ERR_INIT;
    struct graph *graph = graph_parse(str_of(GRAPH), &err);
    struct shape_env *env = shape_env_new(NULL, &err);
    struct ops *ops = ops_new(env, &err);
    struct program *program = program_new(ops, graph, 0, NULL, NULL, &err);
    struct walker walker = { .ops = ops, .env = env, .input = input };
    (void)state;
    assert_no_err(&err);
    ops_set_autograd(ops, true);
    assert_true(walk_program(&walker, program));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (program->notes[step_named(program, rows[i].node)->node].gradient != rows[i].gradient)
            fail_msg("%s", rows[i].node);
    /* Of a call's arguments, those that require one; a detached tensor shares storage and meta. */
    struct value mm = program->first[step_named(program, "mm")->node];
    assert_true(gradients_pass(ops, program, step_named(program, "cos"), false));
    assert_false(ops_requires_gradient(ops, mm.u.tensor));
    assert_true(gradients_pass(ops, program, step_named(program, "detach"), false));
    assert_true(ops_requires_gradient(ops, mm.u.tensor) && ops_records_gradient(ops, mm.u.tensor));
    assert_true(gradients_pass(ops, program, step_named(program, "detach"), true));
    assert_true(ops_requires_gradient(ops, mm.u.tensor) && !ops_records_gradient(ops, mm.u.tensor));
    ops_forget_gradients(ops, false);
    assert_false(ops_requires_gradient(ops, mm.u.tensor));
    walker_release(&walker);
    program_free(program);
    ops_free(ops);
    shape_env_free(env);
    graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_notes) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
