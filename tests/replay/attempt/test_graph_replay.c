/* One graph by itself: symbols, guards, plain integers, faults. */
#include "replay/attempt/graph_replay.h"

#include "tests/harness.h"

static const char *const text =
    "class f(torch.nn.Module):\n"
    "    def forward(self, x: \"f32[s0, 4][4, 1]cpu\", y: \"f32[s1, 4][4, 1]cpu\"):\n"
    "        a: \"f32[s0, 4][4, 1]cpu\" = torch.ops.aten.add.Tensor(x, y)\n"
    "        b: \"f32[s0, 4][4, 1]cpu\" = torch.ops.aten.relu.default(a)\n"
    "        return (b,)\n";

static const struct graph_replay_symbol symbols[] = {
    { { "s0", sizeof "s0" - 1 },
      { "L['x'].size()[0]", sizeof "L['x'].size()[0]" - 1 },
      true,
      false,
      true,
      8,
      0,
      2,
      INT64_MAX },
    { { "s1", sizeof "s1" - 1 },
      { "L['y'].size()[0]", sizeof "L['y'].size()[0]" - 1 },
      true,
      false,
      true,
      8,
      0,
      2,
      INT64_MAX },
};

struct world {
    struct graph *graph;
    struct graph_replay *single;
    struct graph_replay_input what;
};

static void open_world(struct world *w)
{
    struct err err = ERR_INIT;
    w->graph = graph_parse(str_of(text), &err);
    w->single = graph_replay_new(NULL, &err);
    assert_no_err(&err);
    w->what = (struct graph_replay_input){ .graph = w->graph,
                                           .kind = GRAPH_FORWARD,
                                           .symbols = symbols,
                                           .n_symbols = 2,
                                           .by_hint = true };
}

static void walk(struct world *w)
{
    struct err err = ERR_INIT;
    assert_true(graph_replay_walk(w->single, &w->what, &err));
    graph_replay_finish(w->single);
    assert_no_err(&err);
}

static void close_world(struct world *w)
{
    graph_replay_free(w->single);
    graph_free(w->graph);
}

/* The add asks whether the sizes are equal; a fact that says so leaves it nothing to ask. */
static void test_guards_and_facts(void **state)
{
    (void)state;
    struct world w;
    struct graph_replay_guard fact = { STR("Eq(s0, s1)"), false, 0 };
    open_world(&w);
    walk(&w);
    assert_int_equal(w.single->program->notes[2].outcome, OUTCOME_MATCH);
    assert_int_equal(env_n_guards(w.single->env), 1);
    assert_int_equal(w.single->given_guards, 0);
    w.what.guards = &fact;
    w.what.n_guards = 1;
    walk(&w);
    assert_int_equal(env_n_guards(w.single->env), 1);
    assert_int_equal(w.single->given_guards, 1);
    close_world(&w);
}

static void test_integers(void **state)
{
    (void)state;
    struct world w;
    open_world(&w);
    w.what.concrete = true;
    walk(&w);
    assert_int_equal(w.single->program->notes[3].outcome, OUTCOME_MATCH);
    assert_int_equal(env_n_guards(w.single->env), 0);
    assert_true(graph_replay_storage(w.single, 2) != graph_replay_storage(w.single, 0));
    close_world(&w);
}

static void test_unanswerable_fact(void **state)
{
    (void)state;
    struct world w;
    struct graph_replay_guard fact = { STR("u0 > 8"), false, UINT32_MAX };
    static const struct graph_replay_symbol unbacked[] = {
        { { "u0", sizeof "u0" - 1 },
          { "", sizeof "" - 1 },
          false,
          false,
          false,
          0,
          0,
          INT64_MIN,
          INT64_MAX },
    };
    open_world(&w);
    w.what.symbols = unbacked;
    w.what.n_symbols = 1;
    w.what.guards = &fact;
    w.what.n_guards = 1;
    walk(&w);
    assert_true(str_find(w.single->guard_error, STR("u0 > 8")) < w.single->guard_error.n);
    close_world(&w);
}

static enum outcome outcome_with(const char *fault, node_id node)
{
    struct err err = ERR_INIT;
    struct injection injection;
    struct world w;
    assert_true(injection_parse(&injection, str_of(fault), &err));
    open_world(&w);
    w.what.inject = &injection;
    walk(&w);
    enum outcome ret = w.single->program->notes[node].outcome;
    close_world(&w);
    return ret;
}

static void test_faults(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct injection injection;
    assert_int_equal(outcome_with("aten.relu=size", 3), OUTCOME_MISMATCH);
    assert_int_equal(outcome_with("aten.relu=dtype", 3), OUTCOME_MISMATCH);
    assert_int_equal(outcome_with("aten.relu.default=strides", 3), OUTCOME_MISMATCH);
    assert_int_equal(outcome_with("aten.relu=refuse", 3), OUTCOME_REFUSED);
    assert_int_equal(outcome_with("aten.relu=refuse", 2), OUTCOME_MATCH);
    assert_int_equal(outcome_with("aten.rel=refuse", 3), OUTCOME_MATCH);
    assert_false(injection_parse(&injection, STR("aten.relu"), &err));
    assert_err(&err, ERR_USAGE, "neither flip-equality");
    assert_false(injection_parse(&injection, STR("flip-equality:x"), &err));
    assert_err(&err, ERR_USAGE, "of at least 1");
}

/* The guard says the opposite of what holds. */
static void test_flip(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct injection injection;
    struct buf guard = BUF_INIT;
    struct world w;
    assert_true(injection_parse(&injection, STR("flip-equality:1"), &err));
    open_world(&w);
    w.what.inject = &injection;
    walk(&w);
    assert_true(env_n_guards(w.single->env) > 0);
    sym_print(env_pool(w.single->env), env_guard_at(w.single->env, 0)->expr, &guard);
    assert_str_is(buf_str(&guard), "Ne(s0, s1)");
    buf_release(&guard);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_guards_and_facts),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_unanswerable_fact),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_flip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
