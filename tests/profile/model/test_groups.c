/* Costs by operator, line, stack and module. */
#include "profile/report/report.h"
#include "profile/viewers/viewers.h"
#include "tests/profile/made.h"

#define BY_ALL                 \
    {                          \
        true, true, true, true \
    }

static const struct profile_group *group_of(const struct profile *p, enum profile_by by,
                                            const char *name)
{
    for (uint32_t i = 0; i < p->groups[by].n_rows; i++)
        if (str_is(p->groups[by].rows[i].name, name))
            return &p->groups[by].rows[i];
    fail_msg("no group %s", name);
    return NULL;
}

static struct made grouped(struct log_make *log)
{
    return made_profile(log, &(struct profile_options){ .replay = true, .by = BY_ALL });
}

static void test_ops(void **state)
{
    (void)state;
    struct log_make log = made_log();
    struct made made = grouped(&log);
    const struct profile_group *g = group_of(made.profile, PROFILE_OP, "aten.add.Tensor");
    assert_int_equal(g->aten_calls, 2);
    assert_true(g->dispatches > 0);
    g = group_of(made.profile, PROFILE_OP, "torch.relu");
    assert_int_equal(g->dynamo_calls, 1);
    made_drop(&made);
}

static void test_lines_and_stacks(void **state)
{
    (void)state;
    struct log_make log = made_log();
    struct made made = grouped(&log);
    const struct profile_groups *lines = &made.profile->groups[PROFILE_LINE];
    assert_int_equal(lines->n_rows, 1);
    assert_int_equal(lines->rows[0].n_frames, 1);
    assert_int_equal(lines->rows[0].frames[0].line, 12);
    assert_int_equal(lines->rows[0].guards, 3);
    const struct profile_groups *stacks = &made.profile->groups[PROFILE_STACK];
    assert_int_equal(stacks->n_rows, 1); /* PyTorch's own frame is left out */
    assert_int_equal(stacks->rows[0].n_frames, 1);
    assert_str_is(stacks->rows[0].frames[0].function, "forward");
    assert_int_equal(stacks->rows[0].guards, 3);
    assert_int_equal(lines->rows[0].estimated_ns, made.profile->lines.lines[0].estimated_ns);
    assert_int_equal(stacks->rows[0].estimated_ns, 0); /* the log does not show it */
    made_drop(&made);
}

static const char DEEP_ROWS[] =
    "{\"stack\": 0, \"frames\": [[\"/u/zoo/main.py\", 3, \"main\", \"f(x)\"], "
    "[\"/u/zoo/model.py\", 12, \"forward\", \"x = self.bn(x)\"]]}\n"
    "{\"mode\": \"FakeTensorMode\", \"op\": \"aten.add.Tensor\", \"depth\": 0, \"stack\": 0, "
    "\"count\": 3, \"ns\": 9000000, \"self_ns\": 6000000}\n";

static void test_deep_stacks(void **state)
{
    (void)state;
    struct log_make log = made_log();
    log_put(&log, "\"symtape_dispatches\": {\"dispatches\": 3}", DEEP_ROWS);
    struct made made = grouped(&log);
    const struct profile_groups *stacks = &made.profile->groups[PROFILE_STACK];
    assert_int_equal(stacks->n_rows, 2);
    assert_int_equal(stacks->rows[0].self_ns, 6000000); /* real time comes first */
    assert_int_equal(stacks->rows[0].real_dispatches, 3);
    assert_int_equal(stacks->rows[0].n_frames, 2);
    assert_int_equal(stacks->rows[0].frames[0].line, 3); /* the outermost */
    struct buf text = BUF_INIT;
    assert_true(viewer_folded(made.profile, STACK_VIEWS, &text, &(struct err){ 0 }));
    assert_true(str_find(buf_str(&text),
                         STR("main (zoo/main.py:3);forward (zoo/model.py:12) 6000\n")) < text.n);
    buf_release(&text);
    made_drop(&made);
}

/* ---- Modules ---- */

#define P(name) "L_self_modules_" name "_parameters_weight_"
#define T       ": \"f32[3, 3][3, 1]cpu\""

static const char DYNAMO[] = "class GraphModule(torch.nn.Module):\n"
                             "    def forward(self, L_x_" T ", " P("block_modules_0") T
    ", " P("block_modules_1") T ", " P("head") T
    "):\n"
    "        l_x_ = L_x_\n"
    "        l_self_0 = " P(
        "block_modules_0") "\n"
                           "        l_self_1 = " P(
                               "block_modules_1") "\n"
                                                  "        l_self_2 = " P(
                                                      "head") "\n"
                                                              "        a" T
                                                              " = torch.mm(l_x_, l_self_0)\n"
                                                              "        b" T
                                                              " = torch.relu(a)\n" /* between
                                                                                      block.0 and
                                                                                      block.1 */
                                                              "        c" T
                                                              " = torch.mm(b, l_self_1)\n"
                                                              "        d" T
                                                              " = torch.relu(c)\n" /* between
                                                                                      block.1 and
                                                                                      head */
                                                              "        e" T
                                                              " = torch.mm(d, l_self_2)\n"
                                                              "        f" T
                                                              " = torch.relu(e)\n" /* after head */
                                                              "        return (f,)\n"
                                                              "        \n";

static const char FORWARD[] = "class GraphModule(torch.nn.Module):\n"
                              "    def forward(\n"
                              "        self,\n"
                              "        primals_1" T ",  # PlainAOTInput(idx=2)\n"
                              "        primals_2" T ",  # ParamAOTInput(target='head.weight')\n"
                              "        primals_3" T ",  # PlainAOTInput(idx=0)\n"
                              "    ):\n"
                              "        mm" T " = torch.ops.aten.mm.default(primals_3, primals_1)\n"
                              "        mm_1" T " = torch.ops.aten.mm.default(mm, primals_2)\n"
                              "        return (mm_1, primals_1)\n"
                              "        \n";

static const char BACKWARD[] = "class GraphModule(torch.nn.Module):\n"
                               "    def forward(self, primals_1" T ", tangents_1" T "):\n"
                               "        t" T " = torch.ops.aten.t.default(primals_1)\n"
                               "        return (t,)\n"
                               "        \n";

static struct log_make module_log(void)
{
    struct log_make log = log_start();
    log_put(&log, "\"dynamo_output_graph\": {}", DYNAMO);
    log_put(&log, "\"aot_forward_graph\": {}", FORWARD);
    log_put(&log, "\"aot_backward_graph\": {}", BACKWARD);
    return log;
}

static void test_modules(void **state)
{
    (void)state;
    struct log_make log = module_log();
    struct made made = grouped(&log);
    const struct profile_group *g = group_of(made.profile, PROFILE_MODULE, "block.0");
    assert_int_equal(g->dynamo_calls, 1);
    g = group_of(made.profile, PROFILE_MODULE, "block");
    assert_int_equal(g->dynamo_calls, 1);
    assert_int_equal(g->total_dynamo_calls, 3);
    g = group_of(made.profile, PROFILE_MODULE, "head");
    assert_int_equal(g->dynamo_calls, 2);
    assert_int_equal(g->aten_calls, 1); /* told by its target */
    g = group_of(made.profile, PROFILE_MODULE, "");
    assert_int_equal(g->dynamo_calls, 1); /* neither block's nor head's */
    assert_int_equal(g->total_dynamo_calls, 6);
    assert_int_equal(g->total_aten_calls, 3);
    g = group_of(made.profile, PROFILE_MODULE, "block.1");
    assert_int_equal(g->aten_calls, 2); /* by number in forward, by name in backward */
    struct buf text = BUF_INIT;
    assert_true(viewer_folded(made.profile, STACK_VIEWS, &text, &(struct err){ 0 }));
    assert_true(str_find(buf_str(&text), STR("(model);block;1 2\n")) < text.n);
    buf_clear(&text);
    report_text(made.profile, &(struct report_options){ 0 }, &text);
    assert_true(str_find(buf_str(&text), STR("By module\n")) < text.n);
    assert_true(str_find(buf_str(&text), STR("(the model)\n")) < text.n);
    assert_true(str_find(buf_str(&text), STR("Caches")) == text.n); /* nothing else */
    buf_release(&text);
    made_drop(&made);
}

static bool build_once(void *arg)
{
    struct err err = ERR_INIT;
    struct trace *trace = arg;
    struct profile_options options = { .replay = true, .by = BY_ALL };
    struct profile *profile = profile_build(&trace, 1, &options, &err);
    struct buf text = BUF_INIT;
    bool ok = profile != NULL;
    if (ok) {
        report_text(profile, &(struct report_options){ 0 }, &text);
        report_json(profile, &(struct report_options){ 0 }, &text);
        ok = viewer_folded(profile, STACK_VIEWS, &text, &err) && !text.failed;
    }
    buf_release(&text);
    profile_free(profile);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    struct log_make log = module_log();
    made_strings(&log);
    made_guard(&log, "Ne(s0, 1)", "eval");
    log_put(&log, "\"symtape_dispatches\": {\"dispatches\": 3}", DEEP_ROWS);
    struct trace *trace = log_open(&log);
    check_alloc_failures(build_once, trace);
    trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ops),         cmocka_unit_test(test_lines_and_stacks),
        cmocka_unit_test(test_deep_stacks), cmocka_unit_test(test_modules),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
