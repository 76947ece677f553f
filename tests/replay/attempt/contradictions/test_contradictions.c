/* Records that contradict each other: inputs before a replay, guards and specializations after. */
#include "replay/attempt/contradictions/contradictions.h"

#include "tests/harness.h"

static const char *const forward_text =
    "class f(torch.nn.Module):\n"
    "    def forward(self, x: \"f32[s0, 8][8, 1]cpu\"):\n"
    "        a: \"f32[s0, 8][8, 1]cpu\" = torch.ops.aten.relu.default(x)\n"
    "        b: \"f32[s0, 8][8, 1]cpu\" = torch.ops.aten.sin.default(a)\n"
    "        return (b, a)\n";
/* The strides of `a` are wrong. */
static const char *const backward_text =
    "class b(torch.nn.Module):\n"
    "    def forward(self, a: \"f32[s0, 8][9, 1]cpu\", t: \"f32[s0, 8][8, 1]cpu\"):\n"
    "        c: \"f32[s0, 8][8, 1]cpu\" = torch.ops.aten.mul.Tensor(t, t)\n"
    "        return (c,)\n";

/* The strides of the tangent are wrong; those of its output are not. */
static const char *const joint_text =
    "class j(torch.nn.Module):\n"
    "    def forward(\n"
    "        self,\n"
    "        primals_1: \"f32[s0, 8][8, 1]cpu\",  # PlainAOTInput(idx=0)\n"
    "        tangents_1: \"f32[s0, 8][9, 1]cpu\",  # "
    "TangentAOTInput(output=PlainAOTOutput(idx=0))\n"
    "    ):\n"
    "        a: \"f32[s0, 8][8, 1]cpu\" = torch.ops.aten.relu.default(primals_1)\n"
    "        return (\n"
    "            a,  # PlainAOTOutput(idx=0)\n"
    "        )\n";
static const char *const tangent_text =
    "class b(torch.nn.Module):\n"
    "    def forward(\n"
    "        self,\n"
    "        tangents_1: \"f32[s0, 8][8, 1]cpu\",  # "
    "TangentAOTInput(output=PlainAOTOutput(idx=0))\n"
    "    ):\n"
    "        c: \"f32[s0, 8][8, 1]cpu\" = torch.ops.aten.sin.default(tangents_1)\n"
    "        return (c,)\n";

enum { DESCRIPTION = 10, STORAGE = 11, SYMBOL = 12, FORWARD = 20, BACKWARD = 21 };

/* An input L['x'] of 4 rows of 8, whose first size has a symbol. */
struct world {
    int64_t size[2], stride[2];
    bool duck[2], marked[2];
    struct dim_change change[2];
    struct recorded_symbol sizes[2], strides[2], offset;
    struct inputs inputs;
    struct graph *forward, *backward;
    struct recorded_graph graphs[2];
    struct guard_list guards;
    struct symbol_table symbols;
    struct attempt_records records;
    struct contradictions found;
};

static bool world_open(struct world *w, const char *hint, struct err *err)
{
    const struct recorded_symbol nothing = { .record = TRACE_NONE };
    *w = (struct world){ .size = { 4, 8 }, .stride = { 8, 1 } };
    w->sizes[0] = (struct recorded_symbol){ STR("s0"), str_of(hint), STR("[2, int_oo]"),
                                            STR("L['x'].size()[0]"), SYMBOL };
    w->sizes[1] = w->strides[0] = w->strides[1] = w->offset = nothing;
    struct input x = { .kind = INPUT_TENSOR };
    x.tensor = (struct input_tensor){ .source = STR("L['x']"),
                                      .dtype = DTYPE_F32,
                                      .device = { DEVICE_CPU, -1 },
                                      .record = DESCRIPTION,
                                      .storage_record = STORAGE,
                                      .storage_bytes = 4 * 8 * 4,
                                      .ndim = 2,
                                      .size = w->size,
                                      .stride = w->stride,
                                      .concrete = true,
                                      .duck = w->duck,
                                      .marked = w->marked,
                                      .change = w->change,
                                      .size_symbol = w->sizes,
                                      .stride_symbol = w->strides,
                                      .offset_symbol = &w->offset };
    w->forward = graph_parse(str_of(forward_text), err);
    w->backward = w->forward ? graph_parse(str_of(backward_text), err) : NULL;
    w->graphs[0] = (struct recorded_graph){ 0, FORWARD, GRAPH_FORWARD, w->forward };
    w->graphs[1] = (struct recorded_graph){ 1, BACKWARD, GRAPH_BACKWARD, w->backward };
    w->records = (struct attempt_records){ .guards = &w->guards,
                                           .symbols = &w->symbols,
                                           .graphs = w->graphs,
                                           .n_graphs = 2,
                                           .tree = STR("") };
    return w->backward && vec_push(&w->inputs.list, x);
}

static void world_close(struct world *w)
{
    contradictions_release(&w->found);
    inputs_release(&w->inputs);
    graph_free(w->forward);
    graph_free(w->backward);
}

static struct contradiction settle_one(struct world *w)
{
    struct err err = ERR_INIT;
    assert_true(contradictions_settle(&w->found, &w->records, &w->inputs, &err));
    assert_no_err(&err);
    assert_int_equal(w->found.list.n, 1);
    return w->found.list.v[0];
}

static void open_without_graphs(struct world *w, const char *hint)
{
    struct err err = ERR_INIT;
    assert_true(world_open(w, hint, &err));
    w->records.n_graphs = 0;
}

static void hints(void **state)
{
    (void)state;
    struct world w;
    open_without_graphs(&w, "5");
    struct contradiction row = settle_one(&w);
    assert_int_equal(row.kind, CONTRADICTION_HINT);
    assert_int_equal(row.record, SYMBOL);
    assert_int_equal(row.beside, DESCRIPTION);
    assert_str_is(row.recorded, "5");
    assert_str_is(row.expected, "4");
    assert_str_is(w.sizes[0].value, "4");
    world_close(&w);
}

/* A guard and a specialization outvote the hint of a float; guards before it that are no equality
 * of a symbol and a number do not matter. */
static void hints_of_numbers(void **state)
{
    (void)state;
    struct world w;
    struct guard guards[] = { { .record = 1, .expr = STR("Eq(s0, 1) | Eq(s0, 4)") },
                              { .record = 2, .expr = STR("Eq(zf1, 1.0e-5)") } };
    struct specialization value = { .record = 3,
                                    .symbol = STR("zf1"),
                                    .value = STR("1.00000000000000e-5") };
    struct input number = { .kind = INPUT_SYMBOL,
                            .is_float = true,
                            .symbol = { STR("zf1"), STR("1.00002"), STR("[-oo, oo]"),
                                        STR("L['eps']"), SYMBOL } };
    open_without_graphs(&w, "4");
    w.guards = (struct guard_list){ .guards = guards, .n = 2 };
    w.symbols = (struct symbol_table){ .specializations = &value, .n_specializations = 1 };
    assert_true(vec_push(&w.inputs.list, number));
    struct contradiction row = settle_one(&w);
    assert_int_equal(row.kind, CONTRADICTION_HINT);
    assert_int_equal(row.record, SYMBOL);
    assert_str_is(row.recorded, "1.00002");
    assert_str_is(row.expected, "1.00000000000000e-5");
    world_close(&w);
}

static void descriptions_and_storages(void **state)
{
    (void)state;
    struct world w;
    open_without_graphs(&w, "4");
    w.size[0] = 6; /* the storage has 4 rows, as the symbol says */
    struct contradiction row = settle_one(&w);
    assert_int_equal(row.kind, CONTRADICTION_DESCRIPTION);
    assert_int_equal(row.record, DESCRIPTION);
    assert_int_equal(w.size[0], 4);
    world_close(&w);

    open_without_graphs(&w, "4");
    w.inputs.list.v[0].tensor.storage_bytes = 127;
    row = settle_one(&w);
    assert_int_equal(row.kind, CONTRADICTION_STORAGE);
    assert_int_equal(row.record, STORAGE);
    assert_str_is(row.expected, "at least 128 bytes");
    world_close(&w);
}

static void guards_of_each_call(void **state)
{
    (void)state;
    struct world w;
    open_without_graphs(&w, "4");
    w.records.tree = STR("| +- TENSOR_MATCH: check_tensor(L['x'], Tensor, DispatchKeySet(CPU), "
                         "torch.float32, device=None, requires_grad=True, size=[None, 8], "
                         "stride=[8, 1])\n");
    struct contradiction row = settle_one(&w);
    assert_int_equal(row.kind, CONTRADICTION_DESCRIPTION);
    assert_str_is(row.expected, "requires_grad=True");
    assert_true(w.inputs.list.v[0].tensor.requires_grad);
    world_close(&w);

    open_without_graphs(&w, "4");
    w.sizes[0].range = STR("[3, int_oo]");
    row = settle_one(&w);
    assert_int_equal(row.kind, CONTRADICTION_RANGE);
    assert_str_is(w.sizes[0].range, "[2, int_oo]");
    world_close(&w);
}

static void placeholders(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct world w;
    assert_true(world_open(&w, "4", &err));
    struct contradiction row = settle_one(&w);
    assert_int_equal(row.kind, CONTRADICTION_PLACEHOLDER);
    assert_int_equal(row.record, BACKWARD);
    assert_int_equal(row.beside, FORWARD);
    assert_str_is(row.name, "a");
    assert_str_is(row.recorded, "f32[s0, 8][9, 1]cpu");
    assert_str_is(row.expected, "f32[s0, 8][8, 1]cpu");
    const struct other_input *other = contradictions_find(&w.found, &w.backward->nodes[0]);
    assert_non_null(other);
    assert_ptr_equal(other->other_graph, w.forward);
    assert_str_is(other->other->name, "a");
    assert_null(contradictions_find(&w.found, &w.backward->nodes[1]));
    world_close(&w);
}

/* The joint and the backward graph disagree, and the strides of the output decide. */
static void tangents(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct world w;
    assert_true(world_open(&w, "4", &err));
    graph_free(w.forward);
    graph_free(w.backward);
    w.forward = graph_parse(str_of(joint_text), &err);
    w.backward = graph_parse(str_of(tangent_text), &err);
    assert_no_err(&err);
    w.graphs[0] = (struct recorded_graph){ 0, FORWARD, GRAPH_JOINT, w.forward };
    w.graphs[1].graph = w.backward;
    struct contradiction row = settle_one(&w);
    assert_int_equal(row.kind, CONTRADICTION_PLACEHOLDER);
    assert_int_equal(row.record, FORWARD);
    assert_int_equal(row.beside, BACKWARD);
    assert_str_is(row.name, "tangents_1");
    assert_str_is(row.recorded, "f32[s0, 8][9, 1]cpu");
    world_close(&w);
}

/* A joint graph alone: AOTAutograd gives a tangent the strides of its output, or contiguous ones.
 */
static void tangents_alone(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct world w;
    assert_true(world_open(&w, "4", &err));
    graph_free(w.forward);
    w.forward = graph_parse(str_of(joint_text), &err);
    assert_no_err(&err);
    w.graphs[0] = (struct recorded_graph){ 0, FORWARD, GRAPH_JOINT, w.forward };
    w.records.n_graphs = 1;
    struct contradiction row = settle_one(&w);
    assert_int_equal(row.kind, CONTRADICTION_PLACEHOLDER);
    assert_int_equal(row.record, FORWARD);
    assert_str_is(row.name, "tangents_1");
    assert_str_is(row.expected, "f32[s0, 8][8, 1]cpu");
    world_close(&w);
}

/* A joint graph of 4 dimensions with an output and its tangent. */
static const char *const strided_text =
    "class j(torch.nn.Module):\n"
    "    def forward(\n"
    "        self,\n"
    "        primals_1: \"f32[s0, 8][8, 1]cpu\",  # PlainAOTInput(idx=0)\n"
    "        tangents_1: \"f32[2, 3, 4, 5]%scpu\",  # "
    "TangentAOTInput(output=PlainAOTOutput(idx=0))\n"
    "    ):\n"
    "        a: \"f32[2, 3, 4, 5]%scpu\" = torch.ops.aten.relu.default(primals_1)\n"
    "        return (\n"
    "            a,  # PlainAOTOutput(idx=0)\n"
    "        )\n";

static void assert_tangent(const char *tangent, const char *output, size_t n)
{
    struct err err = ERR_INIT;
    struct world w;
    struct buf text = BUF_INIT;
    assert_true(world_open(&w, "4", &err));
    graph_free(w.forward);
    buf_printf(&text, strided_text, tangent, output);
    assert_false(text.failed);
    w.forward = graph_parse(buf_str(&text), &err);
    assert_no_err(&err);
    w.graphs[0] = (struct recorded_graph){ 0, FORWARD, GRAPH_JOINT, w.forward };
    w.records.n_graphs = 1;
    assert_true(contradictions_settle(&w.found, &w.records, &w.inputs, &err));
    assert_int_equal(w.found.list.n, n);
    world_close(&w);
    buf_release(&text);
}

static void strides_of_tangents(void **state)
{
    (void)state;
    const char *contiguous = "[60, 20, 5, 1]", *channels_last = "[60, 1, 15, 3]",
               *transposed = "[60, 20, 1, 4]", *wrong = "[60, 20, 6, 1]";
    const struct {
        const char *tangent, *output;
        size_t n;
    } cases[] = {
        { contiguous, contiguous, 0 },    { channels_last, channels_last, 0 },
        { transposed, transposed, 0 },    { contiguous, transposed, 0 },
        { channels_last, contiguous, 0 }, { contiguous, channels_last, 0 },
        { transposed, contiguous, 1 },    { wrong, contiguous, 1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_tangent(cases[i].tangent, cases[i].output, cases[i].n);
}

static void many_placeholders(void **state)
{
    (void)state;
    enum { N = 5000 };
    static struct node nodes[N + 1];
    struct contradictions c = { .arena = ARENA_INIT };
    for (int i = 0; i < N; i++)
        assert_true(
            contradictions_add_other(&c, (struct other_input){ NULL, &nodes[i], &nodes[i + 1] }));
    assert_true(contradictions_add_other(&c, (struct other_input){ NULL, &nodes[7], NULL }));
    assert_int_equal(c.others.n, N);
    for (int i = 0; i < N; i++)
        assert_ptr_equal(contradictions_find(&c, &nodes[i])->other, &nodes[i + 1]);
    assert_null(contradictions_find(&c, &nodes[N]));
    contradictions_release(&c);
}

/* ---- After the replay ---- */

struct end_world {
    struct shape_env *env;
    struct buf guard, symbol;
    struct guard guards[2];
    struct specialization specializations[2];
    struct guard_list list;
    struct symbol_table table;
    struct guard_log log;
    struct replay_state state;
    struct inputs inputs;
    struct intern conditions;
    struct contradictions found;
};

/* A symbol with the hint 8, of which the records say that it is 9, in a guard and in the first
 * specialization; the second one did not happen. */
static bool end_open(struct end_world *w, struct err *err)
{
    *w = (struct end_world){ .env = shape_env_new(NULL, err) };
    if (!w->env)
        return false;
    struct sym_pool *pool = env_pool(w->env);
    sym_id s = env_create_symbol(
        w->env, &(struct symbol_request){ .value = sym_integer(pool, 8), .source = STR("x") });
    if (s == SYM_NONE)
        return false;
    buf_put(&w->symbol, sym_name(pool, s));
    buf_printf(&w->guard, "Eq(%.*s, 9)", STR_ARG(buf_str(&w->symbol)));
    if (w->guard.failed || w->symbol.failed)
        return false;
    w->guards[0] =
        (struct guard){ .record = 3, .expr = buf_str(&w->guard), .asked_by = GUARD_BY_DYNAMO };
    w->guards[1] = (struct guard){ .record = 4, .expr = STR("Eq("), .asked_by = GUARD_BY_DYNAMO };
    w->list = (struct guard_list){ .guards = w->guards, .n = 2 };
    for (int i = 0; i < 2; i++)
        w->specializations[i] = (struct specialization){ .record = 5 + (uint32_t)i,
                                                         .symbol = buf_str(&w->symbol),
                                                         .value = i ? STR("8") : STR("9") };
    w->table =
        (struct symbol_table){ .specializations = w->specializations, .n_specializations = 2 };
    return guard_log_init(&w->log, &w->list, 0, 0, TRACE_NONE, w->env, sym_by_name, NULL);
}

static bool end_run(struct end_world *w)
{
    struct attempt_end end = { .guards = &w->list,
                               .symbols = &w->table,
                               .env = w->env,
                               .log = &w->log,
                               .inputs = &w->inputs,
                               .state = &w->state,
                               .conditions = &w->conditions,
                               .replayed = true };
    return guard_log_apply(&w->log, UINT32_MAX, true) && guard_log_gather(&w->log) &&
           contradictions_check(&w->found, &end);
}

static void end_close(struct end_world *w)
{
    contradictions_release(&w->found);
    inputs_release(&w->inputs);
    guard_log_release(&w->log);
    intern_release(&w->conditions);
    shape_env_free(w->env);
    buf_release(&w->guard);
    buf_release(&w->symbol);
}

static void guards_and_specializations(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct end_world w;
    assert_true(end_open(&w, &err));
    assert_true(end_run(&w));
    assert_int_equal(w.log.n_denied, 1);
    /* The second specialization is not named: that its guard was not applied is the reason. */
    assert_int_equal(w.found.list.n, 2);
    assert_int_equal(w.found.list.v[0].kind, CONTRADICTION_GUARD);
    assert_int_equal(w.found.list.v[0].record, 3);
    assert_int_equal(w.found.list.v[1].kind, CONTRADICTION_SPECIALIZATION);
    assert_int_equal(w.found.list.v[1].record, 5);
    assert_str_is(w.found.list.v[1].expected, "8");
    end_close(&w);

    assert_true(end_open(&w, &err));
    w.log.n_recorded = 0;
    assert_true(end_run(&w));
    assert_int_equal(w.found.list.n, 2);
    assert_str_is(w.found.list.v[1].expected, "no specialization");
    end_close(&w);
}

/* Makes one guard all that the records have. */
static bool set_guard(struct end_world *w, const char *condition)
{
    buf_clear(&w->guard);
    buf_printf(&w->guard, condition, STR_ARG(buf_str(&w->symbol)));
    w->guards[0].expr = buf_str(&w->guard);
    w->log.n_recorded = 1;
    w->table.n_specializations = 0;
    return !w->guard.failed;
}

static void open_with_guard(struct end_world *w, const char *condition)
{
    struct err err = ERR_INIT;
    assert_true(end_open(w, &err));
    assert_true(set_guard(w, condition));
}

/* A guard that is true at the hints, but not among the conditions of each call, one of which is of
 * no guard; and one that nobody asks, because it is always true. */
static void guards_beside_conditions(void **state)
{
    (void)state;
    struct end_world w;
    open_with_guard(&w, "Eq(Mod(%.*s, 4), 0)");
    assert_true(intern(&w.conditions, STR("(x % 2) == 0")) != INTERN_NONE);
    assert_true(end_run(&w));
    assert_int_equal(w.found.list.n, 1);
    assert_int_equal(w.found.list.v[0].record, 3);
    assert_str_is(w.found.list.v[0].expected, "(x % 2) == 0");
    end_close(&w);

    open_with_guard(&w, "Eq(Mod(%.*s, 4), 0)");
    assert_true(intern(&w.conditions, STR("(x % 4) == 0")) != INTERN_NONE);
    assert_true(intern(&w.conditions, STR("(y % 2) == 0")) != INTERN_NONE);
    assert_true(end_run(&w));
    assert_int_equal(w.found.list.n, 0);
    end_close(&w);

    /* The range of the size is a condition that the environment has, too. */
    open_with_guard(&w, "Eq(Mod(%.*s, 4), 0)");
    struct sym_pool *pool = env_pool(w.env);
    bool is;
    sym_id s = guard_log_parse(&w.log, buf_str(&w.symbol));
    assert_true(env_guard_bool(w.env, sym_lt(pool, s, sym_integer(pool, 100)), &is) &&
                env_guard_bool(w.env, sym_ge(pool, s, SYM_ID_TWO), &is));
    struct replay_input made = { .number = s };
    struct input x = { .kind = INPUT_SYMBOL, .symbol = { .source = STR("x") } };
    w.state.inputs = &made;
    w.state.n_inputs = 1;
    assert_true(vec_push(&w.inputs.list, x));
    assert_true(intern(&w.conditions, STR("2 <= x <= 99")) != INTERN_NONE);
    assert_true(end_run(&w));
    assert_int_equal(w.found.list.n, 0);
    end_close(&w);

    open_with_guard(&w, "Ne(Mod(%.*s, 2), 2)");
    assert_true(end_run(&w));
    assert_int_equal(w.found.list.n, 1);
    assert_str_is(w.found.list.v[0].expected, "a condition that can be false");
    end_close(&w);
}

/* ---- Memory ---- */

static bool settle(void *arg)
{
    (void)arg;
    struct err err = { 0 };
    struct world w;
    bool ok = world_open(&w, "5", &err) &&
              contradictions_settle(&w.found, &w.records, &w.inputs, &err) && w.found.list.n == 2;
    world_close(&w);
    return ok;
}

static bool check(void *arg)
{
    (void)arg;
    struct err err = { 0 };
    struct end_world w;
    bool ok = end_open(&w, &err) && end_run(&w) && !sym_short_of_memory(env_pool(w.env)) &&
              w.found.list.n == 2;
    end_close(&w);
    return ok;
}

/* The guard reaches check_tree(). */
static bool check_conditions(void *arg)
{
    (void)arg;
    struct err err = { 0 };
    struct end_world w;
    bool ok = end_open(&w, &err) && set_guard(&w, "Eq(Mod(%.*s, 4), 0)") &&
              intern(&w.conditions, STR("(x % 2) == 0")) != INTERN_NONE && end_run(&w) &&
              !sym_short_of_memory(env_pool(w.env)) && w.found.list.n == 1;
    end_close(&w);
    return ok;
}

static void memory_may_fail(void **state)
{
    (void)state;
    check_alloc_failures(settle, NULL);
    check_alloc_failures(check, NULL);
    check_alloc_failures(check_conditions, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hints),
        cmocka_unit_test(hints_of_numbers),
        cmocka_unit_test(descriptions_and_storages),
        cmocka_unit_test(guards_of_each_call),
        cmocka_unit_test(placeholders),
        cmocka_unit_test(tangents),
        cmocka_unit_test(tangents_alone),
        cmocka_unit_test(strides_of_tangents),
        cmocka_unit_test(many_placeholders),
        cmocka_unit_test(guards_and_specializations),
        cmocka_unit_test(guards_beside_conditions),
        cmocka_unit_test(memory_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
