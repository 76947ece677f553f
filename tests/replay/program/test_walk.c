/* Exported programs, as torch.export left them and decomposed: every call as recorded. And graphs
 * that cannot be walked: they say why. */
#include <glob.h>

#include "replay/ops/layers.h"
#include "replay/program/walk.h"
#include "replay/replay.h"
#include "tests/harness.h"

static void assert_matches(const char *path)
{
    struct err err = ERR_INIT;
    struct replay_options options = REPLAY_OPTIONS_DEFAULT;
    options.all = true;
    struct trace *trace = trace_open(path, NULL, &err);
    struct replay *replay = trace ? replay_trace(trace, &options, &err) : NULL;
    assert_no_err(&err);
    assert_true(replay->totals.calls > 0);
    for (size_t i = 0; i < replay->n_differences; i++)
        printf("%s: %.*s: recorded %.*s, replayed %.*s\n", path,
               STR_ARG(replay->differences[i].node), STR_ARG(replay->differences[i].recorded),
               STR_ARG(replay->differences[i].replayed));
    assert_true(replay_all_match(replay));
    assert_int_equal(replay->others.match, replay->others.calls);
    replay_free(replay);
    trace_close(trace);
}

/* Among them attention on a CPU, whose mask may have any strides, and views whose strides
 * run_decompositions() took from the export or found again. */
static void test_exports(void **state)
{
    (void)state;
    if (!shared_path("exports"))
        skip();
    glob_t found;
    char pattern[4200];
    snprintf(pattern, sizeof pattern, "%s/*.pt2", shared_path("exports"));
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        assert_matches(found.gl_pathv[i]);
    globfree(&found);
}

/* Jobs of several ranks: collectives, DTensors, optimize_ddp's split graphs and its several backend
 * calls in one compile. */
static void test_ranks(void **state)
{
    static const char *const names[] = {
        "ddp_buckets.rank0", "ddp_print.rank0",   "fsdp_layers.rank1", "moe_a2a.rank3",
        "pipe_stages.rank0", "pipe_stages.rank1", "tp_int.rank1",      "tp_mlp.rank0",
    };
    (void)state;
    if (!shared_path("ranks"))
        skip();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[100];
        snprintf(path, sizeof path, "ranks/%s.log.zst", names[i]);
        assert_matches(shared_path(path));
    }
}

/* ---- Graphs of a text ---- */

static bool recorded_input(void *user, const struct program *program, const struct step *step,
                           struct value *ret, struct err *err)
{
    (void)user;
    (void)err;
    *ret = expected_value(program->ops, step->expected);
    return true;
}

struct outcome_counts {
    uint32_t by_outcome[OUTCOME_UNSUPPORTED + 1]; /* of the root's nodes */
};

/* Walks the graph twice; *walker has released all but its errors. */
static bool count_text(const char *text, struct walker *walker, struct outcome_counts *n)
{
    struct err err = ERR_INIT;
    struct graph *graph = graph_parse(str_of(text), &err);
    struct shape_env *env = shape_env_new(NULL, &err);
    struct ops *ops = ops_new(env, &err);
    struct program *program = program_new(ops, graph, 0, NULL, NULL, &err);
    assert_no_err(&err);
    *walker = (struct walker){ .ops = ops, .env = env, .input = recorded_input };
    bool ok = walk_program(walker, program);
    struct value result;
    ok = ok && walk_again(walker, program, &result);
    *n = (struct outcome_counts){ { 0 } };
    for (uint32_t i = 0; i < program->n_steps; i++)
        if (step_is_call(&program->steps[i]))
            n->by_outcome[program->notes[i].outcome]++;
    walker_release(walker);
    program_free(program);
    ops_free(ops);
    shape_env_free(env);
    graph_free(graph);
    return ok;
}

static bool walk_text(const char *text, struct walker *walker)
{
    struct outcome_counts ignored;
    return count_text(text, walker, &ignored);
}

/* cuda:-1 is no device, so the input has no meta, and the branch that it is passed to wants one. */
static void test_missing_tensor(void **state)
{
    struct walker walker;
    (void)state;
    assert_false(walk_text("class GraphModule(torch.nn.Module):\n"
                           "    def forward(self, p: \"b8[][]cpu\", x: \"f32[4][1]cuda:-1\"):\n"
                           "        true_0 = self.true_0\n"
                           "        cond = torch.ops.higher_order.cond(p, true_0, true_0, (x,))\n"
                           "        return (cond,)\n"
                           "    class true_0(torch.nn.Module):\n"
                           "        def forward(self, y: \"f32[4][1]cuda:0\"):\n"
                           "            sin: \"f32[4][1]cuda:0\" = torch.ops.aten.sin.default(y)\n"
                           "            return (sin,)\n",
                           &walker));
    assert_int_equal(walker.err.kind, ERR_INPUT);
    assert_string_equal(walker.err.text,
                        "true_0: input y: no tensor is passed where one was recorded");
    assert_false(walker.stopped);
}

/* A module that is a nested graph is run with the arguments of its call. */
static void test_nested_module(void **state)
{
    struct walker walker;
    struct outcome_counts n;
    (void)state;
    assert_true(count_text("class GraphModule(torch.nn.Module):\n"
                           "    def forward(self, x: \"f32[4, 2][2, 1]cpu\"):\n"
                           "        submod_0 = self.submod_0(x)\n"
                           "        a: \"f32[2, 4][1, 2]cpu\" = submod_0[0]\n"
                           "        b: \"f32[4][1]cpu\" = submod_0[1]\n"
                           "        c = self.other(x)\n"
                           "        return (a, b, c)\n"
                           "    class submod_0(torch.nn.Module):\n"
                           "        def forward(self, y: \"f32[4, 2][2, 1]cpu\"):\n"
                           "            t: \"f32[2, 4][1, 2]cpu\" = y.t()\n"
                           "            s: \"f32[4][1]cpu\" = y.sum(1)\n"
                           "            return (t, s)\n",
                           &walker, &n));
    assert_int_equal(n.by_outcome[OUTCOME_MATCH], 3);
    assert_int_equal(n.by_outcome[OUTCOME_UNSUPPORTED], 1);
}

/* What a batch receives are the tensors themselves, what it sends has no elements. */
static void test_collectives(void **state)
{
    struct walker walker;
    struct outcome_counts n;
    (void)state;
    assert_true(count_text(
        "class GraphModule(torch.nn.Module):\n"
        "    def forward(self, x: \"f32[4, 2][1, 4]cpu\"):\n"
        "        p = torch.ops._c10d_functional.batch_p2p_ops(['isend', 'irecv'], [1, 1], [0, 0], "
        "[x, x], '0')\n"
        "        a: \"f32[0][1]cpu\" = p[0]\n"
        "        b: \"f32[4, 2][1, 4]cpu\" = p[1]\n"
        "        c: \"f32[4, 2][1, 4]cpu\" = "
        "torch.distributed._functional_collectives.wait_tensor(b)\n"
        "        return (a, c)\n",
        &walker, &n));
    assert_int_equal(n.by_outcome[OUTCOME_MATCH], 4);
}

/* Beyond what is counted in: the call is refused, and the walk goes on. */
static void test_huge_integer(void **state)
{
    struct buf text = BUF_INIT;
    struct walker walker;
    (void)state;
    buf_puts(&text, "class GraphModule(torch.nn.Module):\n"
                    "    def forward(self, x: \"f32[4, 2][2, 1]cpu\"):\n"
                    "        mean: \"f32[2][1]cpu\" = torch.ops.aten.mean.dim(x, [9");
    for (int i = 0; i < 100000; i++)
        buf_putc(&text, '9');
    buf_puts(&text, "])\n        return (mean,)\n");
    buf_putc(&text, '\0');
    assert_false(text.failed);
    assert_true(walk_text(text.p, &walker));
    assert_int_equal(walker.err.kind, ERR_NONE);
    buf_release(&text);
}

static bool no_more(void *user, const struct program *program, const struct step *step,
                    struct err *err)
{
    (void)user;
    (void)program;
    (void)step;
    (void)err;
    return false;
}

/* Who asks for no more says so without an error, and none is made up. */
static void test_stopped(void **state)
{
    struct err err = ERR_INIT;
    (void)state;
    struct graph *graph = graph_parse(STR("class GraphModule(torch.nn.Module):\n"
                                          "    def forward(self, x: \"f32[4][1]cpu\"):\n"
                                          "        sin = torch.ops.aten.sin.default(x)\n"
                                          "        return (sin,)\n"),
                                      &err);
    struct shape_env *env = shape_env_new(NULL, &err);
    struct ops *ops = ops_new(env, &err);
    struct program *program = program_new(ops, graph, 0, NULL, NULL, &err);
    assert_no_err(&err);
    struct walker walker = { .ops = ops, .env = env, .input = recorded_input, .before = no_more };
    assert_false(walk_program(&walker, program));
    assert_true(walker.stopped);
    assert_false(err_is_set(&walker.err));
    walker_release(&walker);
    program_free(program);
    ops_free(ops);
    shape_env_free(env);
    graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exports),        cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_nested_module),  cmocka_unit_test(test_collectives),
        cmocka_unit_test(test_missing_tensor), cmocka_unit_test(test_huge_integer),
        cmocka_unit_test(test_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
