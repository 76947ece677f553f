/* The parts of a gradient that the formula of cat() makes and no node of the graph is. */
#include "replay/ops/layers.h"
#include "replay/program/traced.h"
#include "replay/program/walk.h"
#include "tests/harness.h"

#define GRAPH(parts)                                                                                 \
    "class joint_helper(torch.nn.Module):\n"                                                         \
    "    def forward(self, primals_1: \"f32[(s0//2), 8][8, 1]cpu\", "                                \
    "primals_2: \"f32[(s0//2), 1][1, 1]cpu\", tangents_1: \"f32[(s0//2), 9][9, 1]cpu\"):\n"          \
    "        cat: \"f32[(s0//2), 9][9, 1]cpu\" = torch.ops.aten.cat.default([primals_1, "            \
    "primals_2], -1)\n"                                                                              \
    "        mul: \"f32[(s0//2), 9][9, 1]cpu\" = torch.ops.aten.mul.Tensor(tangents_1, cat)\n" parts \
    "        return (cat, slice_1)\n"
#define FIRST \
    "        slice_1: \"f32[(s0//2), 8][9, 1]cpu\" = torch.ops.aten.slice.Tensor(mul, 1, 0, 8)\n"
#define SECOND \
    "        slice_1: \"f32[(s0//2), 1][9, 1]cpu\" = torch.ops.aten.slice.Tensor(mul, 1, 8, 9)\n"

#define NO_PART \
    "        slice_1: \"f32[(s0//2), 8][9, 1]cpu\" = torch.ops.aten.slice.Tensor(mul, 0, 0, 8)\n"

struct traced_walk {
    struct traced traced;
    struct ops *ops;
    bool unused;
};

static bool input(void *user, const struct program *program, const struct step *step,
                  struct value *ret, struct err *err)
{
    (void)user;
    (void)err;
    *ret = expected_value(program->ops, step->expected);
    return ret->kind == VALUE_TENSOR;
}

static bool after(void *user, const struct program *program, const struct step *step,
                  struct value result, struct err *err)
{
    struct traced_walk *walk = user;
    (void)err;
    traced_evaluate_view(&walk->traced, walk->ops, program, step, result);
    return (!walk->unused ||
            traced_evaluate_unused(&walk->traced, walk->ops, program, step, result)) &&
           traced_evaluate(&walk->traced, walk->ops, result);
}

/* Returns whether walking a graph adds a guard of this text. */
static bool adds(const char *text, bool unused, const char *guard)
{
    struct err err = ERR_INIT;
    struct graph *graph = graph_parse(str_of(text), &err);
    struct shape_env *env = shape_env_new(NULL, &err);
    struct ops *ops = ops_new(env, &err);
    struct traced_walk walk = { .ops = ops, .unused = unused };
    assert_no_err(&err);
    env_adopt_symbol(env, STR("s0"), sym_integer(env_pool(env), 8),
                     (struct sym_range){ SYM_ID_TWO, SYM_ID_INT_OO }, STR(""));
    struct program *program = program_new(ops, graph, 0, NULL, NULL, &err);
    struct walker walker = {
        .ops = ops, .env = env, .user = &walk, .input = input, .after = after
    };
    assert_no_err(&err);
    assert_true(walk_program(&walker, program));
    bool ret = false;
    for (uint32_t i = 0; i < env_n_guards(env); i++) {
        struct buf buf = BUF_INIT;
        sym_print(env_pool(env), env_guard_at(env, i)->expr, &buf);
        ret |= str_is(buf_str(&buf), guard);
        buf_release(&buf);
    }
    traced_release(&walk.traced);
    walker_release(&walker);
    program_free(program);
    ops_free(ops);
    shape_env_free(env);
    graph_free(graph);
    return ret;
}

static void test_parts(void **state)
{
    (void)state;
    const char *of_second = "((s0//2)) >= 2"; /* whether it has fewer than two elements */
    assert_false(adds(GRAPH(FIRST), false, of_second));
    assert_true(adds(GRAPH(FIRST), true, of_second));
    assert_true(adds(GRAPH(SECOND), true, of_second));
    assert_false(adds(GRAPH(NO_PART), true, of_second));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_parts) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
