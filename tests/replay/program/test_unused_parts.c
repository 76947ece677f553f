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

#define SLICE_OF_USER \
    "        slice_1: \"f32[(s0//2), 3][9, 1]cpu\" = torch.ops.aten.slice.Tensor(mul, 1, 2, 5)\n"
#define FIRST_AND_OF_USER \
    FIRST                 \
    "        slice_2: \"f32[(s0//2), 3][9, 1]cpu\" = torch.ops.aten.slice.Tensor(mul, 1, 2, 5)\n"
#define NO_PART \
    "        slice_1: \"f32[(s0//2), 8][9, 1]cpu\" = torch.ops.aten.slice.Tensor(mul, 0, 0, 8)\n"

/* Two results of equal sizes, whose parts have other sizes. */
#define TWO_CATS                                                                                       \
    "class joint_helper(torch.nn.Module):\n"                                                           \
    "    def forward(self, primals_1: \"f32[(s0//2), 8][8, 1]cpu\", "                                  \
    "primals_2: \"f32[(s0//2), 1][1, 1]cpu\", primals_3: \"f32[(s0//2), 7][7, 1]cpu\", "               \
    "primals_4: \"f32[(s0//2), 2][2, 1]cpu\", tangents_1: \"f32[(s0//2), 9][9, 1]cpu\"):\n"            \
    "        cat: \"f32[(s0//2), 9][9, 1]cpu\" = torch.ops.aten.cat.default([primals_1, "              \
    "primals_2], 1)\n"                                                                                 \
    "        cat_1: \"f32[(s0//2), 9][9, 1]cpu\" = torch.ops.aten.cat.default([primals_3, "            \
    "primals_4], 1)\n"                                                                                 \
    "        mul: \"f32[(s0//2), 9][9, 1]cpu\" = torch.ops.aten.mul.Tensor(tangents_1, cat_1)\n" FIRST \
    "        return (cat, cat_1, slice_1)\n"

/* An empty tensor of one dimension among tensors of two, and of one. */
#define EMPTY_AMONG_TWO                                                                              \
    "class joint_helper(torch.nn.Module):\n"                                                         \
    "    def forward(self, primals_1: \"f32[(s0//2), 8][8, 1]cpu\", "                                \
    "primals_2: \"f32[(s0//2), 1][1, 1]cpu\", primals_3: \"f32[0][1]cpu\", "                         \
    "tangents_1: \"f32[(s0//2), 9][9, 1]cpu\"):\n"                                                   \
    "        cat: \"f32[(s0//2), 9][9, 1]cpu\" = torch.ops.aten.cat.default([primals_3, "            \
    "primals_1, primals_2], 1)\n"                                                                    \
    "        mul: \"f32[(s0//2), 9][9, 1]cpu\" = torch.ops.aten.mul.Tensor(tangents_1, cat)\n" FIRST \
    "        return (cat, slice_1)\n"
#define OF_ONE(first, end)                                                                     \
    "class joint_helper(torch.nn.Module):\n"                                                   \
    "    def forward(self, primals_1: \"f32[" first "][1]cpu\", primals_2: \"f32[3][1]cpu\", " \
    "primals_3: \"f32[((s0//2)) - 1][1]cpu\", "                                                \
    "tangents_1: \"f32[((s0//2)) - 1 + " end "][1]cpu\"):\n"                                   \
    "        cat: \"f32[((s0//2)) - 1 + " end "][1]cpu\" = torch.ops.aten.cat.default("        \
    "[primals_1, primals_2, primals_3])\n"                                                     \
    "        mul: \"f32[((s0//2)) - 1 + " end "][1]cpu\" = torch.ops.aten.mul.Tensor("         \
    "tangents_1, cat)\n"                                                                       \
    "        slice_1: \"f32[3][1]cpu\" = torch.ops.aten.slice.Tensor(mul, 0, " first ", " end  \
    ")\n"                                                                                      \
    "        return (cat, slice_1)\n"

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

/* A slice that a program takes itself is no part, though the result of a cat() has the sizes. */
static void test_slices_of_users(void **state)
{
    (void)state;
    const char *of_second = "((s0//2)) >= 2";
    assert_false(adds(GRAPH(SLICE_OF_USER), true, of_second));
    assert_false(adds(GRAPH(FIRST_AND_OF_USER), true, of_second));
}

/* The parts are those of the cat() that has the slice, also where the result of a later one has
 * the same sizes. */
static void test_two_cats(void **state)
{
    (void)state;
    assert_false(adds(TWO_CATS, false, "((s0//2)) >= 2"));
    assert_true(adds(TWO_CATS, true, "((s0//2)) >= 2"));
}

static void test_one_dimension(void **state)
{
    (void)state;
    assert_true(adds(EMPTY_AMONG_TWO, true, "((s0//2)) >= 2"));
    assert_false(adds(OF_ONE("0", "3"), false, "((s0//2)) - 1 >= 2"));
    assert_true(adds(OF_ONE("0", "3"), true, "((s0//2)) - 1 >= 2"));
    assert_true(adds(OF_ONE("2", "5"), true, "((s0//2)) - 1 >= 2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_parts),
                                        cmocka_unit_test(test_slices_of_users),
                                        cmocka_unit_test(test_two_cats),
                                        cmocka_unit_test(test_one_dimension) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
